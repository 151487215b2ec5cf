//! The settings of a window from its start to its end.

use super::worker::WorkMode;
use oomscope_analysis::UserRules;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a window from its start to its end.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The place where work is done.
    pub(crate) mode: WorkMode,
    /// The user's own rules for categories.
    pub(crate) rules: Arc<UserRules>,
    /// The file that they come from.
    pub(crate) rules_file: Option<PathBuf>,
    /// The folder of the window's own files; `None` if it has none.
    pub(crate) settings_folder: Option<PathBuf>,
}

impl Setup {
    /// Without rules and settings.
    pub(crate) fn new(mode: WorkMode) -> Self {
        Self { mode, rules: Arc::default(), rules_file: None, settings_folder: None }
    }
}
