//! Requests of tabs, pages and keys to the whole window.

use crate::export::ExportChoice;
use crate::rules::RuleChange;
use crate::text_size::TextSize;
use eframe::egui::ThemePreference;
use oomscope_report::notes::Place;
use oomscope_snapshot::load::Input;
use std::path::PathBuf;

/// What the system's dialog asks for: none of them takes both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Files,
    Folders,
}

/// A request to the whole window, carried out after everything is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Ask for files.
    OpenDialog,
    /// Ask with the system's dialog, in a folder.
    SystemDialog(PathBuf, Wanted),
    /// Open a file in a new tab.
    OpenFile(PathBuf),
    /// Open a file in a new tab at a place.
    OpenAt(PathBuf, Place),
    /// Open two files and compare them, the second one with the first.
    Compare([PathBuf; 2]),
    /// Open a snapshot that is a part of the program.
    OpenSample(Input),
    /// Load the file of a tab again.
    Reload(usize),
    /// Load the file of a tab with this much memory, in bytes, where it needs more than files may take.
    AllowMemory(usize, u64),
    /// Copy the command that opens a tab's file as it is shown.
    CopyLink(usize),
    /// Close a tab.
    Close(usize),
    /// Close all tabs but one.
    CloseOthers(usize),
    /// Show a tab.
    Show(usize),
    /// Show the tab some tabs further, around the ends.
    ShowNext(isize),
    /// Forget which files were opened.
    ForgetRecent,
    /// Show or hide the search for commands.
    SearchCommands,
    /// Open the menu of settings.
    Settings,
    /// Use another theme.
    Theme(ThemePreference),
    /// Change the size of text.
    TextSize(TextSize),
    /// Show or hide the help.
    Help,
    /// Do not show the notice any more.
    DismissNotice,
    /// Export the current view as a picture, or the report: ask where to.
    Export(ExportChoice),
    /// Copy the current view as a picture to the clipboard.
    CopyPicture(ExportChoice),
    /// Apply the rules of a file to the snapshot that is shown.
    UseRules(PathBuf),
    /// Say what a line of code of the file that is shown allocates, or take that back.
    ChangeRule(RuleChange),
    /// Arrange the panes as they were at first.
    ResetLayout,
}
