//! Which virtual server serves a flow: health, backups, spillover; and which of its services may.

mod backup;
mod bandwidth;
mod bench;
mod health;
mod hold;
mod keep;
mod order;
mod random;
mod spillover;
