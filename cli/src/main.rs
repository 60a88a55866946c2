//! The shell of Sluice: commands typed, given as words or read from a file.
mod args;
mod escape;
mod history;
mod json;
mod output;
mod render;
mod session;
fn main() {}
