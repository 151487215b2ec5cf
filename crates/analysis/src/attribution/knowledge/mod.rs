//! The meaning of single frames: files and functions of PyTorch and the libraries around it, and names that programs give.

mod distributed;
mod frame_code;
mod frame_role;
mod megatron;
mod name_hint;
mod operator_frame;
mod optimizer;
mod role;
mod torch_operation;

pub use frame_code::FrameCode;
pub use frame_role::path_in_torch;
pub(crate) use frame_role::{frame_role, is_of_compiler};
pub use name_hint::is_named_after_evaluation;
pub(crate) use name_hint::{NameHint, name_hint};
pub(crate) use operator_frame::OperatorFrame;
pub(crate) use optimizer::Optimizer;
pub(crate) use role::Role;
pub use torch_operation::TorchOperation;
