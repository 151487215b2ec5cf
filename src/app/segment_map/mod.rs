//! The segment map: every segment at the cursor, to scale.

pub(in crate::app) mod bar;
pub(in crate::app) mod input;
pub(in crate::app) mod maps;
pub(in crate::app) mod panel;
pub(in crate::app) mod picture;
pub(in crate::app) mod state;
pub(in crate::app) mod text;
