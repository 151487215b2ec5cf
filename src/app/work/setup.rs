//! The settings of a window from its start to its end.

use super::worker::WorkMode;
use crate::analysis::UserRules;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a window from its start to its end.
#[derive(Debug, Clone)]
pub(in crate::app) struct Setup {
    /// The place where work is done.
    pub(in crate::app) mode: WorkMode,
    /// The user's own rules for categories.
    pub(in crate::app) rules: Arc<UserRules>,
    /// The file that they come from.
    pub(in crate::app) rules_file: Option<PathBuf>,
    /// The folder of the window's own files; `None` if it has none.
    pub(in crate::app) settings_folder: Option<PathBuf>,
}

impl Setup {
    /// Without rules and settings.
    pub(in crate::app) fn new(mode: WorkMode) -> Self {
        Self { mode, rules: Arc::default(), rules_file: None, settings_folder: None }
    }
}
