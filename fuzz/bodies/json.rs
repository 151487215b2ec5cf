//! Any bytes as JSON: as the whole file, and as a list of events.

use super::questions;
use oomscope_snapshot::Builder;
use oomscope_snapshot::json;
use std::sync::Arc;

pub(crate) fn body(bytes: &[u8]) {
    read(bytes);
    read(&[b"{\"segments\": [], \"device_traces\": [[", bytes].concat());
}

fn read(bytes: &[u8]) {
    let mut builder = Builder::default();
    match json::decode(bytes, &mut builder) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(decoded) => match builder.finish(decoded) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(snapshot) => questions::ask(&Arc::new(snapshot)),
        },
    }
}
