//! Files: tabs, loading, lists of files, changes on the disk, the start page and dialogs.

pub(crate) mod devices;
pub(crate) mod dialogs;
pub(crate) mod document;
pub(crate) mod file_page;
pub(crate) mod folder;
pub(crate) mod glances;
pub(crate) mod load_page;
mod loading;
pub(crate) mod names;
pub(crate) mod open_file;
mod preview;
pub(crate) mod recent;
pub(crate) mod reload;
mod rules_offer;
pub(crate) mod samples;
mod snapshot_row;
pub(crate) mod start_page;
pub(crate) mod tab_strip;
pub(crate) mod tabs;
pub(crate) mod watch;
