//! The relay against a model of two sockets with edge-triggered events, and case by case.

mod cases;
mod model;
