//! What the code of single frames is, as far as anybody asks beyond the categories of memory.

use super::frame_role::path_in_torch;
use super::torch_operation::TorchOperation;

/// The code of a frame.
#[derive(Debug, Clone, Copy)]
pub struct FrameCode<'t> {
    /// Its file. Folders are separated by slashes.
    pub file: &'t str,
    /// Its function, which some versions of torch record with its class.
    pub function: &'t str,
}

/// What names of functions and files of fused attention have in them: PyTorch's own, its kernels, and those of flash-attn,
/// xFormers and transformers.
const FUSED_ATTENTION: [&str; 6] = [
    "scaled_dot_product",
    "sdpa_attention",
    "flash_att",
    "flashatt",
    "efficient_attention",
    "memory_efficient",
];

/// Models of transformers whose attention computes softmax in fp32 whatever their own type is, by words of their files.
const FP32_SOFTMAX: [&str; 20] = [
    "llama",
    "mistral",
    "mixtral",
    "ministral",
    "qwen",
    "gemma",
    "olmo",
    "cohere",
    "granite",
    "deepseek",
    "glm",
    "gpt_neox",
    "phi",
    "opt",
    "clip",
    "siglip",
    "bloom",
    "smollm",
    "stablelm",
    "starcoder",
];

impl<'t> FrameCode<'t> {
    /// The name of the function without its class.
    pub fn plain_function(self) -> &'t str {
        self.function.rsplit('.').next().unwrap_or(self.function)
    }

    /// The name of the file without its folders.
    fn base(self) -> &'t str {
        self.file.rsplit('/').next().unwrap_or(self.file)
    }

    /// What it computes.
    pub fn operation(self) -> TorchOperation {
        TorchOperation::of(self.file, self.function)
    }

    /// Whether it is the class of all modules, which calls their `forward`.
    pub fn is_module_class(self) -> bool {
        self.file.ends_with("torch/nn/modules/module.py")
    }

    /// Whether it calls a module's `forward`.
    pub fn calls_module(self) -> bool {
        self.is_module_class() && self.plain_function() == "_call_impl"
    }

    /// Whether it is a container, which only calls its modules.
    pub fn is_container(self) -> bool {
        self.file.ends_with("torch/nn/modules/container.py")
    }

    /// Whether it is a module or a function of `torch.nn`.
    pub fn is_of_torch_nn(self) -> bool {
        self.file.contains("torch/nn/")
    }

    /// Whether it is of `torch.optim`.
    pub fn is_of_torch_optim(self) -> bool {
        self.file.contains("torch/optim/")
    }

    /// The file of the optimizer of torch that it is, without folders; `None` for the base class, and for anything else.
    pub fn torch_optimizer(self) -> Option<&'t str> {
        let (_, name) = self.file.rsplit_once("torch/optim/")?;
        (name.rsplit('/').next() != Some("optimizer.py")).then_some(name)
    }

    /// Whether it is a function of Adam; with decoupled weight decay, it had functions of its own in earlier versions.
    pub fn is_of_adam(self, function: &str) -> bool {
        let is_adam = self.torch_optimizer().is_some_and(|name| name.starts_with("adam"));
        is_adam && (self.function == function || self.function.strip_suffix('w') == Some(function))
    }

    /// Whether it is the optimizer of Lightning, whose step calls a closure that clears gradients between forward and backward.
    pub fn is_optimizer_of_lightning(self) -> bool {
        self.file.ends_with("lightning/pytorch/core/optimizer.py")
            || self.file.ends_with("pytorch_lightning/core/optimizer.py")
    }

    /// Whether it is what an optimizer's step calls, but no part of the step: a closure, and what that runs.
    pub fn is_within_closure(self) -> bool {
        ["torch/nn/", "torch/autograd/", "torch/_tensor.py"].iter().any(|part| self.file.contains(part))
            || ["closure", "forward", "backward", "training_step"].contains(&self.function)
    }

    /// Whether it runs a function under `no_grad` or `inference_mode`, which decorates it.
    pub fn runs_without_gradients(self) -> bool {
        ["torch/utils/_contextlib.py", "torch/autograd/grad_mode.py"]
            .iter()
            .any(|file| self.file.ends_with(file))
    }

    /// Whether it is named after training.
    pub fn is_named_after_training(self) -> bool {
        self.plain_function().to_ascii_lowercase().contains("train")
    }

    /// Whether it adds adapters to a model, which are trained alone.
    pub fn adds_adapters(self) -> bool {
        let function = self.function.to_ascii_lowercase();
        self.file.contains("/peft/") || function.split(['.', '_']).any(|word| word.starts_with("lora"))
    }

    /// Whether it is the entry of activation checkpointing.
    pub fn checkpoints(self) -> bool {
        self.function == "checkpoint" && self.in_torch() == Some("utils/checkpoint.py")
    }

    /// Whether autograd sends what it keeps to the host there, or takes it back.
    pub fn saves_on_host(self) -> bool {
        self.in_torch() == Some("autograd/graph.py")
            && ["pack_to_cpu", "unpack_from_cpu"].contains(&self.plain_function())
    }

    /// Whether it runs what `torch.compile` has compiled.
    pub fn runs_compiled(self) -> bool {
        self.runs_compiled_graph()
            || (self.in_torch() == Some("_dynamo/eval_frame.py")
                && self.plain_function() == "compile_wrapper")
    }

    /// Whether it runs a forward or a backward that `torch.compile` has put together, with what it keeps from one to the other.
    pub fn runs_compiled_graph(self) -> bool {
        self.in_torch().is_some_and(|path| {
            path.starts_with("_functorch/_aot_autograd/") || path == "_functorch/aot_autograd.py"
        })
    }

    /// Whether `torch.load` reads tensors from a file.
    pub fn restores(self) -> bool {
        self.function == "load" && self.in_torch() == Some("serialization.py")
    }

    /// Whether a thread of Python starts in it.
    pub fn starts_thread(self) -> bool {
        self.plain_function() == "_bootstrap" && self.base() == "threading.py"
    }

    /// Whether it is fused attention.
    pub fn is_fused_attention(self) -> bool {
        let [file, function] = [self.base(), self.function].map(str::to_ascii_lowercase);
        FUSED_ATTENTION.iter().any(|word| function.contains(word) || file.contains(word))
    }

    /// Whether it is a model of transformers.
    pub fn is_of_transformers_model(self) -> bool {
        self.file.contains("/transformers/models/")
    }

    /// Whether it is a model of transformers whose attention computes softmax in fp32.
    pub fn has_fp32_softmax(self) -> bool {
        self.is_of_transformers_model() && FP32_SOFTMAX.iter().any(|word| self.base().contains(word))
    }

    /// Whether it is a loss of transformers, which computes in fp32 whatever the type of the logits.
    pub fn upcasts_logits(self) -> bool {
        self.file.ends_with("transformers/loss/loss_utils.py")
    }

    /// Whether it is a layer of transformers, which is checkpointed only while its model trains.
    pub fn is_checkpointed_in_training_only(self) -> bool {
        self.file.ends_with("transformers/modeling_layers.py")
    }

    /// Whether it is of accelerate.
    pub fn is_of_accelerate(self) -> bool {
        self.file.contains("/accelerate/")
    }

    fn in_torch(self) -> Option<&'t str> {
        path_in_torch(self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::FrameCode;

    #[test]
    fn lightning_is_known_by_both_of_its_names() {
        let is_of = |file: &str| FrameCode { file, function: "step" }.is_optimizer_of_lightning();
        assert!(is_of("/env/site-packages/lightning/pytorch/core/optimizer.py"));
        assert!(is_of("/env/site-packages/pytorch_lightning/core/optimizer.py"));
        assert!(!is_of("/env/site-packages/torch/optim/optimizer.py"));
    }

    #[test]
    fn adapters_are_named_in_words() {
        let adds = |file: &str, function: &str| FrameCode { file, function }.adds_adapters();
        assert!(adds("/env/site-packages/peft/tuners/layer.py", "update_layer"));
        assert!(adds("/home/me/model.py", "inject_lora") && adds("/home/me/model.py", "LoRALinear.__init__"));
        assert!(!adds("/home/me/agent.py", "exploration_policy"));
    }
}
