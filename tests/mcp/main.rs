//! `oomscope mcp` as clients use it: the built program over standard input and output, asked by the client of the
//! official SDK, and by hand where a client would not send such requests.
//!
//! Needs the feature `mcp-test`, which brings the client: `cargo test --features mcp-test --test mcp`.
#![forbid(unsafe_code)]

mod by_hand;
mod refusals;
mod server;
mod tools;
