//! Claims about persistence: who sticks to what, until when, and what is shown of it.

mod bench;
mod groups;
mod keys;
mod limit;
mod model;
mod random;
mod states;
mod time;
