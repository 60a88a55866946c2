//! The interactive shell.
fn main() {}
