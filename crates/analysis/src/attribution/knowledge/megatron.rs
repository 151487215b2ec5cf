//! The roles of frames in Megatron-Core, wherever it lies: as a package, or as the repository that trainings start from.

use super::role::Role;

/// The role of a frame by its path within `megatron/core/`; `None` where the part of the library has none of its own.
pub(super) fn megatron_role(inner: &str, name: &str) -> Option<Role> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if inner.starts_with("optimizer/") {
        return Some(match name {
            "zero_grad" => Role::ZeroGrad,
            "_copy_model_grads_to_main_grads" | "copy_group_grads" => Role::GradientCopy,
            _ if has(&["init", "build", "get_megatron"]) => Role::MainParameters,
            _ if has(&["state"]) => Role::State,
            _ if has(&["clip", "norm", "scale"]) => Role::BetweenSteps,
            _ => Role::Step,
        });
    }
    let is_buffer = inner == "distributed/param_and_grad_buffer.py" && name == "__init__";
    match inner.split('/').next() {
        Some("distributed") if is_buffer => Some(Role::FlatBuffer),
        Some("distributed") if has(&["gather", "reduce", "sync", "broadcast"]) => Some(Role::Comm),
        _ => None,
    }
}

/// The path of a file within `megatron/core/`, if it is in it.
pub(super) fn path_in_megatron(file: &str) -> Option<&str> {
    const CORE: &str = "megatron/core/";
    let at = file.rfind(CORE)?;
    Some(&file[at + CORE.len()..])
}

#[cfg(test)]
mod tests {
    use super::super::frame_role;
    use super::*;

    #[test]
    fn buffers_copies_of_gradients_and_main_parameters_are_told_apart() {
        for place in ["/env/lib/python3.11/site-packages/", "/workspace/Megatron-LM/"] {
            let of = |file: &str, name: &str| frame_role(&format!("{place}megatron/core/{file}"), name);
            assert_eq!(of("distributed/param_and_grad_buffer.py", "__init__"), Role::FlatBuffer);
            assert_eq!(of("distributed/param_and_grad_buffer.py", "start_grad_sync"), Role::Comm);
            assert_eq!(
                of("optimizer/distrib_optimizer.py", "_build_model_and_main_param_groups"),
                Role::MainParameters
            );
            assert_eq!(of("optimizer/distrib_optimizer.py", "copy_group_grads"), Role::GradientCopy);
            assert_eq!(of("optimizer/optimizer.py", "step_with_ready_grads"), Role::Step);
        }
    }
}
