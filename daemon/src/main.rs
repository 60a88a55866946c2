//! The daemon's entry point; everything else is in the library, where tests reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    sluiced::run()
}
