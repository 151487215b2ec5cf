//! Any bytes as a file, through the threads that read and decode: a model or a typed error.

use super::questions;
use oomscope_snapshot::load::{LoadError, Progress, load_from};
use std::sync::Arc;

pub(crate) fn body(bytes: &[u8]) {
    match load_from(bytes, "fuzz", &Progress::default()) {
        Err(LoadError::Internal { message, .. }) => panic!("{message}"),
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(snapshot) => questions::ask(&Arc::new(snapshot)),
    }
}
