//! The meaning of single frames: files and functions of PyTorch and the libraries around it, and names that programs give.

mod distributed;
mod frame_role;
mod name_hint;
mod optimizer;
mod role;

pub(in crate::analysis) use frame_role::frame_role;
pub use frame_role::{is_compiled_code, path_in_torch};
pub(in crate::analysis) use name_hint::{NameHint, name_hint};
pub(in crate::analysis) use optimizer::Optimizer;
pub(in crate::analysis) use role::Role;
