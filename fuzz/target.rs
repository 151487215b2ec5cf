//! Every fuzz target: the body in `bodies` that has the name of the binary.
#![no_main]

mod bodies;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| bodies::run(env!("CARGO_BIN_NAME"), bytes));
