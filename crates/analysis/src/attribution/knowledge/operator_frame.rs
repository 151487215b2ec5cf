//! What a single frame says of the operator that runs in it.
//!
//! Frames of compiled code name operators as PyTorch calls them. Frames of Python name the function that calls one, which for
//! most of torch is the same to a reader: `layer_norm` of `torch/nn/functional.py`.

use super::frame_code::FrameCode;
use super::frame_role::{frame_role, path_in_torch};
use super::role::Role;
use crate::stacks::SiteFrame;
use crate::stacks::language::is_python;
use crate::stacks::native_frame::{called_operator, graph_node};
use crate::stacks::site::{Owner, owner};

/// The folder of installed packages, and of torch among them.
const PACKAGES: &str = "-packages/";

/// Parts of the names of files that `torch.compile` generates.
const GENERATED: [&str; 2] = ["torchinductor_", "fx_generated_"];

/// Files and folders of torch that hand calls on and compute nothing: the dispatch of operators from Python, what takes
/// function calls over, the devices of constructors, and the code around compiled and traced code.
const HANDS_ON: [&str; 12] = [
    "_compile.py",
    "_dynamo/",
    "_jit_internal.py",
    "_library/",
    "_ops.py",
    "autograd/function.py",
    "fx/",
    "overrides.py",
    "utils/_contextlib.py",
    "utils/_device.py",
    "utils/_pytree.py",
    "utils/_python_dispatch.py",
];

/// What a frame says of the operator that runs in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum OperatorFrame {
    /// Compiled code calls an operator.
    Operator,
    /// Compiled code runs a node of the autograd graph.
    Node,
    /// The autograd engine runs.
    Engine,
    /// A Python function of torch or of another package runs.
    Function,
    /// Python code of the program runs.
    Own,
    /// Code that `torch.compile` generated runs.
    Generated,
    /// Nothing: the frame hands a call on, or is not known.
    Nothing,
}

impl OperatorFrame {
    /// What a frame says.
    pub(crate) fn of(frame: &SiteFrame) -> Self {
        let file = frame.file.replace('\\', "/");
        if !is_python(&file) {
            return Self::of_compiled(frame);
        }
        if GENERATED.iter().any(|part| file.contains(part)) {
            return Self::Generated;
        }
        if let Some(inner) = path_in_torch(&file) {
            return Self::of_torch(&file, inner, &frame.name);
        }
        match owner(frame) {
            Owner::User => Self::Own,
            Owner::Package => Self::Function,
            Owner::Runtime => Self::Nothing,
        }
    }

    fn of_compiled(frame: &SiteFrame) -> Self {
        if called_operator(&frame.name).is_some() {
            Self::Operator
        } else if graph_node(&frame.name).is_some() {
            Self::Node
        } else if frame_role(&frame.file, &frame.name) == Role::Engine {
            Self::Engine
        } else {
            Self::Nothing
        }
    }

    fn of_torch(file: &str, inner: &str, name: &str) -> Self {
        let code = FrameCode { file, function: name };
        match frame_role(file, name) {
            Role::Backward => Self::Engine,
            Role::Call => Self::Nothing,
            _ if code.runs_compiled_graph() || inner.starts_with("_inductor/") => Self::Generated,
            _ if HANDS_ON.iter().any(|start| inner.starts_with(start)) => Self::Nothing,
            // The decorator of the operators of tensors.
            _ if inner == "_tensor.py" && code.plain_function() == "wrapped" => Self::Nothing,
            _ => Self::Function,
        }
    }

    /// The name that such a frame gives: of an operator, of a node, or of a function with its file as it lies in its package.
    /// Two programs have the same name for the same, wherever packages are installed.
    pub(crate) fn name(self, frame: &SiteFrame) -> String {
        match self {
            Self::Operator => called_operator(&frame.name).unwrap_or(&frame.name).to_owned(),
            Self::Node => graph_node(&frame.name).unwrap_or(&frame.name).to_owned(),
            _ => {
                let file = frame.file.replace('\\', "/");
                let code = FrameCode { file: &file, function: &frame.name };
                let inner = file.rfind(PACKAGES).map_or(&*file, |at| &file[at + PACKAGES.len()..]);
                let place =
                    path_in_torch(&file).map_or_else(|| inner.to_owned(), |inner| format!("torch/{inner}"));
                format!("{place} {}", code.plain_function())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> SiteFrame {
        let (file, name) = text.split_once(' ').expect("a file and a function");
        SiteFrame { file: file.to_owned(), line: 3, name: name.to_owned(), is_own: false }
    }

    fn of(text: &str) -> OperatorFrame {
        OperatorFrame::of(&frame(text))
    }

    #[test]
    fn a_function_of_torch_has_one_name_wherever_torch_lies() {
        for place in
            ["/env/lib/python3.11/site-packages/torch/", "/src/torch/", "C:\\env\\site-packages\\torch\\"]
        {
            let at = |text: &str| frame(&format!("{place}{text}"));
            let function = at("nn/functional.py layer_norm");
            assert_eq!(OperatorFrame::of(&function), OperatorFrame::Function);
            assert_eq!(OperatorFrame::Function.name(&function), "torch/nn/functional.py layer_norm");
            for hands_on in [
                "nn/modules/module.py Module._call_impl",
                "utils/_contextlib.py decorate_context",
                "utils/_device.py __torch_function__",
                "_tensor.py wrapped",
                "_dynamo/eval_frame.py _fn",
            ] {
                assert_eq!(OperatorFrame::of(&at(hands_on)), OperatorFrame::Nothing, "{hands_on}");
            }
            for names in
                ["nn/modules/module.py convert", "optim/adamw.py _multi_tensor_adamw", "_tensor.py __rsub__"]
            {
                assert_eq!(OperatorFrame::of(&at(names)), OperatorFrame::Function, "{names}");
            }
            assert_eq!(
                OperatorFrame::of(&at("autograd/graph.py _engine_run_backward")),
                OperatorFrame::Engine
            );
        }
    }

    #[test]
    fn packages_are_told_from_the_program() {
        assert_eq!(of("/home/me/model.py forward"), OperatorFrame::Own);
        assert_eq!(of("<ipython-input-3-8a1b> <module>"), OperatorFrame::Own);
        assert_eq!(of("/usr/lib/python3.11/copy.py deepcopy"), OperatorFrame::Nothing);
        assert_eq!(of("<frozen runpy> _run_code"), OperatorFrame::Nothing);
        assert_eq!(of("/me/oomscope/python/oomscope/_run.py run"), OperatorFrame::Nothing);
        let flash =
            frame("/env/lib/python3.11/site-packages/flash_attn/flash_attn_interface.py FlashAttn.forward");
        assert_eq!(OperatorFrame::of(&flash), OperatorFrame::Function);
        assert_eq!(OperatorFrame::Function.name(&flash), "flash_attn/flash_attn_interface.py forward");
        for generated in
            ["/tmp/torchinductor_me/ab/cab.py call", "/src/torch/_functorch/_aot_autograd/wrap.py f"]
        {
            assert_eq!(of(generated), OperatorFrame::Generated, "{generated}");
        }
    }

    #[test]
    fn compiled_code_names_operators_and_nodes() {
        let of = |name: &str| of(&format!("/env/torch/lib/libtorch_cpu.so {name}"));
        assert_eq!(of("at::_ops::linear::call(at::Tensor const&)"), OperatorFrame::Operator);
        assert_eq!(of("at::_ops::linear::redispatch(c10::DispatchKeySet)"), OperatorFrame::Nothing);
        assert_eq!(of("torch::autograd::generated::MmBackward0::apply(int)"), OperatorFrame::Node);
        assert_eq!(of("torch::autograd::Engine::thread_main(int)"), OperatorFrame::Engine);
        assert_eq!(of("??"), OperatorFrame::Nothing);
    }
}
