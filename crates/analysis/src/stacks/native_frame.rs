//! Frames of compiled code: their short names, and their rank among the frames that may name a stack.
//!
//! PyTorch records them with `_record_memory_history(stacks="all")`, the default. Stacks of a backward
//! pass have no others, since its thread runs no Python.

use super::site_frame::SiteFrame;

/// PyTorch's text for an unknown name.
const UNKNOWN: &str = "??";

/// Namespaces that tell a reader nothing.
const PREFIXES: [&str; 3] = ["torch::autograd::generated::", "torch::autograd::", "at::_ops::"];

/// Starts of functions of the recorder, of the allocator, and of code that makes tensors of any kind.
const NOISE: [&str; 9] = [
    "torch::unwind::",
    "torch::CapturedTraceback::",
    "torch::cuda::",
    "c10::",
    "at::detail::",
    "at::empty",
    "at::native::empty",
    "at::_ops::empty",
    "at::TensorBase",
];

/// True if a frame is an address in a library, so that its line is not one of a source file.
pub(super) fn is_in_library(frame: &SiteFrame) -> bool {
    is_library(&frame.file)
}

/// True if a file is a library of compiled code, or unknown.
pub(super) fn is_library(file: &str) -> bool {
    let extension = std::path::Path::new(file).extension();
    let is_one = |wanted: &&str| extension.is_some_and(|found| found.eq_ignore_ascii_case(wanted));
    file == UNKNOWN || file.contains(".so.") || ["so", "dll", "dylib"].iter().any(is_one)
}

/// A function's name without its arguments and without [`PREFIXES`].
pub(super) fn short_name(name: &str) -> &str {
    let name = without_arguments(name);
    PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// The part of a name before the parenthesis that opens the arguments.
fn without_arguments(name: &str) -> &str {
    let mut depth = 0i32;
    let mut last = b' ';
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' | b'{' => depth += 1,
            // The `>` of an arrow closes nothing.
            b'>' | b'}' if last != b'-' => depth -= 1,
            b'(' if depth <= 0 && at != 0 => {
                let (before, from) = name.split_at(at);
                if !from.starts_with("(anonymous namespace)") && !before.ends_with("operator") {
                    return before;
                }
            }
            _ => {}
        }
        last = byte;
    }
    name
}

/// The rank of a frame of compiled code as the name of a stack; lower is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NativeRank {
    /// A node of the autograd graph, such as `AddmmBackward0`.
    Node,
    /// An operator.
    Operator,
    /// Anything else that has a name.
    Named,
    /// The recorder, the allocator, or nothing.
    Noise,
}

/// The rank of a frame of compiled code by its name.
pub(super) fn native_rank(name: &str) -> NativeRank {
    if name.is_empty() || name == UNKNOWN || NOISE.iter().any(|prefix| name.starts_with(prefix)) {
        return NativeRank::Noise;
    }
    let function = without_arguments(name);
    let is_node = function.contains("Backward") || function.contains("AccumulateGrad");
    if is_node && function.ends_with("::apply") {
        NativeRank::Node
    } else if name.starts_with("at::_ops::") {
        NativeRank::Operator
    } else {
        NativeRank::Named
    }
}

/// The operator that a function of compiled code calls: `linear` of `at::_ops::linear::call`. A redispatch calls the same again.
pub(crate) fn called_operator(name: &str) -> Option<&str> {
    without_arguments(name).strip_prefix("at::_ops::")?.strip_suffix("::call")
}

/// The node of the autograd graph that a function of compiled code runs: `AddmmBackward0`.
pub(crate) fn graph_node(name: &str) -> Option<&str> {
    if native_rank(name) == NativeRank::Node { short_name(name).strip_suffix("::apply") } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_arguments_and_nothing_else() {
        let node = "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)";
        assert_eq!(short_name(node), "MmBackward0::apply");
        assert_eq!(short_name("at::_ops::mm::call(at::Tensor const&)"), "mm::call");
        assert_eq!(short_name("f<void (*)(int)>(char)"), "f<void (*)(int)>");
        assert_eq!(short_name("at::(anonymous namespace)::g(int)"), "at::(anonymous namespace)::g");
        assert_eq!(short_name("(anonymous namespace)::g(int)"), "(anonymous namespace)::g");
        assert_eq!(short_name("h::{lambda(int)#1}::operator()(int) const"), "h::{lambda(int)#1}::operator()");
        for odd in ["", "(", "??", "a<(", "a>(b", "at::_ops::", "é(ß)"] {
            assert!(odd.ends_with(short_name(odd)) || odd.starts_with(short_name(odd)), "{odd}");
        }
    }

    #[test]
    fn nodes_of_the_graph_say_most_and_the_recorder_nothing() {
        let rank = native_rank;
        assert_eq!(rank("torch::unwind::unwind()"), NativeRank::Noise);
        assert_eq!(rank("at::_ops::empty_memory_format::call(int)"), NativeRank::Noise);
        assert_eq!(rank("at::_ops::mm::call(at::Tensor const&)"), NativeRank::Operator);
        assert_eq!(rank("torch::autograd::generated::MmBackward0::apply(int)"), NativeRank::Node);
        assert_eq!(rank("torch::autograd::AccumulateGrad::apply(int)"), NativeRank::Node);
        assert_eq!(rank("MyBackward::prepare(int)"), NativeRank::Named);
    }

    #[test]
    fn operators_and_nodes_have_the_names_that_torch_gave_them() {
        assert_eq!(called_operator("at::_ops::linear::call(at::Tensor const&)"), Some("linear"));
        assert_eq!(called_operator("at::_ops::linear::redispatch(c10::DispatchKeySet)"), None);
        assert_eq!(called_operator("at::native::linear(at::Tensor const&)"), None);
        let node = "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)";
        assert_eq!(graph_node(node), Some("AddmmBackward0"));
        assert_eq!(graph_node("torch::autograd::AccumulateGrad::apply(int)"), Some("AccumulateGrad"));
        assert_eq!(graph_node("torch::autograd::Engine::thread_main(int)"), None);
    }
}
