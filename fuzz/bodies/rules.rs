//! Any text as a file of rules: refused, or applied to every stack.

use super::made_up;
use oomscope_analysis::{Attribution, UserRules};
use oomscope_model::Recording;
use std::sync::OnceLock;

pub(crate) fn body(bytes: &[u8]) {
    static RECORDING: OnceLock<Recording> = OnceLock::new();
    let recording = RECORDING.get_or_init(made_up::ordinary);
    match UserRules::parse(&String::from_utf8_lossy(bytes)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(rules) => {
            Attribution::of(recording, &rules);
        }
    }
}
