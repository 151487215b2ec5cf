//! What panels and keys ask of the whole window.

use crate::app::export::Choice;
use std::path::PathBuf;

/// A request to the whole window, carried out after everything is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Command {
    /// Ask for files.
    OpenDialog,
    /// Open a file in a new tab.
    OpenFile(PathBuf),
    /// Load the file of a tab again.
    Reload(usize),
    /// Load the file that is shown again.
    ReloadCurrent,
    /// Close a tab.
    Close(usize),
    /// Close the tab that is shown.
    CloseCurrent,
    /// Show a tab.
    Show(usize),
    /// Show the tab some tabs further, around the ends.
    ShowNext(isize),
    /// Forget which files were opened.
    ForgetRecent,
    /// Show or hide the help.
    Help,
    /// Do not show the notice any more.
    DismissNotice,
    /// Export what is shown as a picture.
    Export(Choice),
    /// Arrange the panes as they were at first.
    ResetLayout,
}
