//! Files: tabs, loading, lists of files, changes on the disk, the start page and dialogs.

pub(in crate::app) mod devices;
pub(in crate::app) mod dialogs;
pub(in crate::app) mod document;
pub(in crate::app) mod file_page;
pub(in crate::app) mod folder;
pub(in crate::app) mod glances;
pub(in crate::app) mod load_page;
mod loading;
pub(in crate::app) mod names;
pub(in crate::app) mod open_file;
mod preview;
pub(in crate::app) mod recent;
pub(in crate::app) mod reload;
mod rules_offer;
pub(in crate::app) mod samples;
mod snapshot_row;
pub(in crate::app) mod start_page;
pub(in crate::app) mod tab_strip;
pub(in crate::app) mod tabs;
pub(in crate::app) mod watch;
