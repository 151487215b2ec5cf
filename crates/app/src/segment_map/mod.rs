//! The segment map: every segment at the cursor, to scale.

pub(crate) mod bar;
pub(crate) mod input;
pub(crate) mod maps;
pub(crate) mod panel;
pub(crate) mod picture;
pub(crate) mod state;
pub(crate) mod text;
