//! Any bytes as a pickle, decoded as a whole on one thread: the fastest way into the decoder and the builder.

use super::questions;
use oomscope_pickle as pickle;
use oomscope_snapshot::Builder;
use std::sync::Arc;

pub(crate) fn body(bytes: &[u8]) {
    let mut builder = Builder::default();
    match pickle::decode(bytes, &mut builder, None) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(decoded) => match builder.finish(decoded) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(snapshot) => questions::ask(&Arc::new(snapshot)),
        },
    }
}
