//! The roles of frames in `torch.distributed`.

use super::role::Role;

/// The role of a frame by its path within `torch/distributed/`.
pub(crate) fn distributed_role(inner: &str, name: &str) -> Role {
    if inner.starts_with("optim/") {
        return Role::Step;
    }
    if inner.starts_with("fsdp/") {
        return fsdp_role(inner, name);
    }
    let is = |folder| inner.starts_with(folder);
    match inner {
        // These bring the arguments of a model to its device, or make storages that others fill.
        "utils.py" => match name {
            "_recursive_to" | "to_map" | "_to_kwargs" | "_cast_forward_inputs" => Role::Data,
            "_alloc_storage" => Role::Neutral,
            _ => Role::Comm,
        },
        // These collectives return tensors of their own, so their caller decides.
        "_functional_collectives.py" | "nn/functional.py" => Role::Neutral,
        _ if is("checkpoint/") => Role::Restore,
        _ if is("tensor/") || is("_composable/") || is("algorithms/_checkpoint/") => Role::Neutral,
        _ => Role::Comm,
    }
}

/// The role of a frame in either generation of FSDP: shards of parameters stay, parameters are gathered from them for a
/// moment, and buffers lie between the two.
fn fsdp_role(inner: &str, name: &str) -> Role {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let unshards = name.ends_with("_all_gather_outputs") || name == "_alloc_padded_unsharded_flat_param";
    match name {
        "forward" => Role::Neutral,
        _ if unshards || name == "init_unsharded_param" => Role::Unshard,
        "unshard" | "_unshard" | "wait_for_unshard" => Role::Comm,
        _ if has(&["gather", "reduce", "_alloc_padded", "bucket"]) => Role::Comm,
        _ if has(&["init", "shard_param", "flatten_tensors"]) || inner.ends_with("_init_utils.py") => {
            Role::Load
        }
        _ => Role::Neutral,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_gathered_parameters_and_buffers_are_told_apart() {
        let file = "fsdp/_fully_shard/_fsdp_param.py";
        assert_eq!(distributed_role(file, "_init_sharded_param"), Role::Load);
        assert_eq!(distributed_role(file, "alloc_all_gather_outputs"), Role::Unshard);
        assert_eq!(
            distributed_role("fsdp/_flat_param.py", "_alloc_padded_unsharded_flat_param"),
            Role::Unshard
        );
        assert_eq!(
            distributed_role("fsdp/_fully_shard/_fsdp_collectives.py", "foreach_all_gather"),
            Role::Comm
        );
        assert_eq!(distributed_role("fsdp/_fully_shard/_fsdp_collectives.py", "foreach_reduce"), Role::Comm);
        assert_eq!(distributed_role("fsdp/fully_sharded_data_parallel.py", "forward"), Role::Neutral);
    }

    #[test]
    fn who_calls_a_functional_collective_decides() {
        assert_eq!(distributed_role("_functional_collectives.py", "all_reduce"), Role::Neutral);
        assert_eq!(distributed_role("tensor/_redistribute.py", "redistribute_local_tensor"), Role::Neutral);
        assert_eq!(distributed_role("distributed_c10d.py", "all_gather"), Role::Comm);
        assert_eq!(distributed_role("optim/zero_redundancy_optimizer.py", "step"), Role::Step);
        assert_eq!(distributed_role("utils.py", "_recursive_to"), Role::Data);
    }
}
