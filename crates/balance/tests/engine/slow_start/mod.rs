//! Slow start of new services: its tables, its rules one by one, and what holds for random loads.

mod cases;
mod limits;
mod load;
mod rules;
mod settings;
mod tables;
