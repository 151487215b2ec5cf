//! The `oomscope` program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    oomscope::cli::run()
}
