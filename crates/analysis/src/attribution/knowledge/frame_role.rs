//! The role of a frame, by its file and function.

use super::distributed;
use super::megatron;
use super::role::Role;
use crate::stacks::language::is_python;
use crate::stacks::site::is_recorder;

/// The role of a frame.
pub(crate) fn frame_role(file: &str, name: &str) -> Role {
    let file = file.replace('\\', "/");
    if is_start(name) && file.rsplit('.').next() != Some("py") {
        return Role::Start;
    }
    if !is_python(&file) {
        return cpp_role(name);
    }
    // Some versions write `Module._call_impl`, some `_call_impl`.
    let plain = name.rsplit('.').next().unwrap_or(name);
    if let Some(inner) = path_in_torch(&file) {
        return torch_role(inner, plain);
    }
    library_role(&file, name, plain)
}

/// The path of a file within the torch package, if it is in it. Folders are separated by slashes.
pub fn path_in_torch(file: &str) -> Option<&str> {
    let inner = |marker: &str| file.rfind(marker).map(|at| &file[at + marker.len()..]);
    inner("-packages/torch/").or_else(|| {
        // In an editable installation, or in a path that was cut, the package has no folder for packages around it.
        let inner = inner("/torch/").or_else(|| file.strip_prefix("torch/"))?;
        const PARTS: [&str; 10] = [
            "nn/",
            "optim/",
            "autograd/",
            "utils/",
            "distributed/",
            "amp/",
            "cuda/",
            "_",
            "fx/",
            "functional.py",
        ];
        PARTS.iter().any(|part| inner.starts_with(part)).then_some(inner)
    })
}

/// Whether a file is of torch's compiler, which calls what it made of a model through functions that are called `forward`, too.
/// Folders are separated by slashes.
pub(crate) fn is_of_compiler(file: &str) -> bool {
    const FOLDERS: [&str; 4] = ["_dynamo/", "_functorch/", "_inductor/", "fx/"];
    path_in_torch(file).is_some_and(|inner| FOLDERS.iter().any(|folder| inner.starts_with(folder)))
}

fn torch_role(inner: &str, name: &str) -> Role {
    match inner {
        "nn/modules/module.py" => match name {
            "_call_impl" | "_wrapped_call_impl" | "__call__" | "_slow_forward" => Role::Call,
            "_apply"
            | "convert"
            | "to"
            | "cuda"
            | "half"
            | "bfloat16"
            | "float"
            | "double"
            | "to_empty"
            | "load_state_dict"
            | "_load_from_state_dict"
            | "load" => Role::Load,
            _ => Role::Neutral,
        },
        "nn/parameter.py" | "nn/modules/lazy.py" | "nn/init.py" => Role::Load,
        "nn/parallel/distributed.py" => match name {
            "forward" | "_run_ddp_forward" => Role::Neutral,
            _ => Role::Comm,
        },
        "nn/functional.py" => Role::Functional,
        "nn/utils/clip_grad.py" => Role::BetweenSteps,
        "optim/optimizer.py" => match name {
            "zero_grad" => Role::ZeroGrad,
            "load_state_dict" | "_process_value_according_to_param_policy" => Role::State,
            _ => Role::Step,
        },
        "optim/lr_scheduler.py" | "optim/swa_utils.py" => Role::Neutral,
        "autograd/graph.py" if name == "_engine_run_backward" => Role::Backward,
        "_tensor.py" if name == "__deepcopy__" => Role::CopyTensor,
        "utils/checkpoint.py" => Role::Checkpoint,
        "utils/_contextlib.py" if name.starts_with("enable_grad") => Role::EnableGrad,
        "utils/_contextlib.py" => Role::NoGrad,
        "serialization.py" => Role::Restore,
        "_functorch/eager_transforms.py" | "_functorch/vmap.py" => Role::Transform,
        _ => torch_folder_role(inner, name),
    }
}

fn torch_folder_role(inner: &str, name: &str) -> Role {
    if let Some(rest) = inner.strip_prefix("optim/") {
        let sets_up = name.contains("init") || name.contains("state");
        return match name {
            _ if sets_up => Role::State,
            _ if name.starts_with("_multi_tensor_") && !rest.ends_with("sgd.py") => Role::Foreach,
            _ => Role::Step,
        };
    }
    if inner.starts_with("nn/modules/") || inner.starts_with("nn/utils/") || inner.starts_with("ao/nn/") {
        let makes = matches!(name, "__init__" | "reset_parameters" | "_reset_parameters" | "_apply")
            || name == "flatten_parameters";
        return if makes { Role::Load } else { Role::Neutral };
    }
    if inner.starts_with("utils/data/") {
        return Role::Data;
    }
    if inner.starts_with("amp/") || inner.starts_with("cuda/amp/") {
        return if inner.ends_with("grad_scaler.py") { Role::BetweenSteps } else { Role::Neutral };
    }
    if let Some(inner) = inner.strip_prefix("distributed/") {
        return distributed::distributed_role(inner, name);
    }
    Role::Neutral
}

/// The role of a frame of a library around PyTorch, of the interpreter, or of the program itself.
fn library_role(file: &str, name: &str, plain: &str) -> Role {
    let base = file.rsplit('/').next().unwrap_or(file);
    if is_root(file, base, name) {
        return Role::Root;
    }
    if base == "copy.py" {
        return match name {
            "_deepcopy_dict" => Role::CopyDict,
            "_reconstruct" => Role::CopyObject,
            _ => Role::Neutral,
        };
    }
    if let Some(inner) = megatron::path_in_megatron(file) {
        return megatron::megatron_role(inner, plain).unwrap_or(Role::Neutral);
    }
    if let Some(at) = file.rfind("-packages/") {
        return package_role(&file[at + "-packages/".len()..], plain);
    }
    if file.contains("/lib/python3") || file.starts_with("<frozen") || is_recorder(file) {
        return Role::Neutral;
    }
    match is_cache(base, name) {
        // It sees operators.
        _ if plain.starts_with("__torch_") => Role::Neutral,
        true => Role::Cache,
        false => Role::Own,
    }
}

fn is_root(file: &str, base: &str, name: &str) -> bool {
    name == "<module>"
        || (base == "threading.py" && name.starts_with("_bootstrap"))
        || (file.contains("runpy") && name.starts_with("_run"))
}

/// Whether a file or function has a name that key/value caches have.
fn is_cache(base: &str, name: &str) -> bool {
    let words = |text: &str| {
        let text = text.to_ascii_lowercase();
        (text.contains("cache") && !text.contains("recache") && !text.contains("lru"))
            && ["kv", "key", "past", "update", "append", "attn", "cache.py", "cache_utils"]
                .iter()
                .any(|word| text.contains(word))
    };
    words(base) || words(name)
}

fn package_role(inner: &str, name: &str) -> Role {
    let (package, rest) = inner.split_once('/').unwrap_or((inner, ""));
    let base = rest.rsplit('/').next().unwrap_or(rest);
    let loads = ["modeling_utils.py", "core_model_loading.py", "modeling.py", "integrations/accelerate.py"];
    let makes = matches!(name, "reset_lora_parameters" | "update_layer" | "_init_weights");
    match package {
        "safetensors" => Role::Restore,
        "transformers" | "accelerate" | "diffusers" | "peft" | "timm" => {
            let brings = ["_prepare_input", "send_to_device", "prepare_inputs"];
            if brings.iter().any(|word| name.contains(word)) {
                Role::Data
            } else if is_cache(base, name) {
                Role::Cache
            } else if makes
                || (loads.iter().any(|file| rest.ends_with(file)) && name.contains("load"))
                || name.contains("set_module_tensor")
            {
                Role::Load
            } else if rest.contains("optim") && name == "step" {
                Role::Step
            } else {
                Role::Neutral
            }
        }
        "lightning" | "pytorch_lightning" | "lightning_fabric"
            if name.contains("to_device") || name.contains("move_data") =>
        {
            Role::Data
        }
        "bitsandbytes" | "apex" | "deepspeed" | "torchao" if rest.contains("optim") => {
            if name.contains("init") || name.contains("state") { Role::State } else { Role::Step }
        }
        "deepspeed" if rest.contains("comm") => Role::Comm,
        _ => Role::Neutral,
    }
}

/// Whether a process starts in a function, whatever its file is called.
fn is_start(name: &str) -> bool {
    matches!(name, "_start" | "__libc_start_main" | "Py_BytesMain")
}

fn cpp_role(name: &str) -> Role {
    let has = |word| name.contains(word);
    if has("Workspace") && (has("cuda") || has("Blas") || has("cudnn")) {
        Role::Workspace
    } else if has("autograd::Engine::") {
        Role::Engine
    } else if has("torch::optim::") {
        if has("zero_grad") { Role::ZeroGrad } else { Role::Step }
    } else if has("c10d::Reducer") || has("ProcessGroup") || has("ncclAll") {
        Role::Comm
    } else if has("torch::data::") {
        Role::Data
    } else if has("torch::nn::Module::to") || has("Impl::reset(") || has("torch::nn::init::") {
        Role::Load
    } else if has("Impl::forward(") || has("torch::jit::InterpreterState") || has("torch::jit::GraphExecutor")
    {
        Role::Call
    } else if has("torch::jit::") && has("mport") {
        Role::Load
    } else if name == "main" {
        Role::Start
    } else {
        Role::Compiled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(frame: &str) -> Role {
        let (file, name) = frame.split_once(' ').expect("a file and a function");
        frame_role(file, name)
    }

    #[test]
    fn torch_is_known_wherever_it_lies() {
        for place in
            ["/env/lib/python3.11/site-packages/torch/", "/src/torch/", "C:\\env\\site-packages\\torch\\"]
        {
            let role = |frame: &str| of(&format!("{place}{frame}"));
            assert_eq!(role("nn/modules/module.py _call_impl"), Role::Call);
            assert_eq!(role("nn/modules/module.py Module._call_impl"), Role::Call);
            assert_eq!(role("nn/modules/module.py _apply"), Role::Load);
            assert_eq!(role("nn/modules/linear.py __init__"), Role::Load);
            assert_eq!(role("nn/modules/linear.py forward"), Role::Neutral);
            assert_eq!(role("optim/adamw.py _init_group"), Role::State);
            assert_eq!(role("optim/adamw.py _multi_tensor_adamw"), Role::Foreach);
            assert_eq!(role("optim/optimizer.py wrapper"), Role::Step);
            assert_eq!(role("optim/optimizer.py zero_grad"), Role::ZeroGrad);
            assert_eq!(role("optim/lr_scheduler.py wrapper"), Role::Neutral);
            assert_eq!(role("autograd/graph.py _engine_run_backward"), Role::Backward);
        }
    }

    #[test]
    fn the_programs_own_code_is_not_torch() {
        assert_eq!(of("/home/torch/train.py step"), Role::Own);
        assert_eq!(of("/home/me/model.py forward"), Role::Own);
        assert_eq!(of("/home/me/model.py <module>"), Role::Root);
        assert_eq!(of("/home/me/kv_cache.py update"), Role::Cache);
        assert_eq!(of("/home/me/model.py KVCache.append"), Role::Cache);
        assert_eq!(of("/home/me/lru_cache.py update"), Role::Own);
        assert_eq!(of("<eval_with_key>.7 forward"), Role::Own);
        assert_eq!(of("/home/me/oomscope/_run.py run"), Role::Neutral);
        assert_eq!(of("/home/me/oomscope/train.py run"), Role::Own);
    }

    #[test]
    fn compiled_code_is_read_by_its_symbols() {
        let of = |name| frame_role("/env/torch/lib/libtorch_cpu.so", name);
        assert_eq!(of("torch::autograd::Engine::thread_main(std::shared_ptr<int> const&)"), Role::Engine);
        assert_eq!(of("at::cuda::allocateCUDABlasWorkspace(unsigned long)"), Role::Workspace);
        assert_eq!(of("torch::optim::Adam::step(std::function<at::Tensor ()>)"), Role::Step);
        assert_eq!(of("torch::nn::LinearImpl::forward(at::Tensor const&)"), Role::Call);
        assert_eq!(of("??"), Role::Compiled);
        assert_eq!(frame_role("/lib/libc.so.6", "__libc_start_main"), Role::Start);
        assert_eq!(frame_role("/opt/env/bin/python3.11", "_start"), Role::Start);
        assert_eq!(frame_role("/opt/env/bin/python3.11", "_PyEval_EvalFrameDefault"), Role::Compiled);
        assert_eq!(frame_role("/home/me/train.py", "_start"), Role::Own);
        assert_eq!(frame_role("Objects/methodobject.c", "cfunction_call"), Role::Compiled);
    }
}
