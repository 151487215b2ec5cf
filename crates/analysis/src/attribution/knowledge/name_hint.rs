//! Hints from the names that programs give to their functions.

/// A hint from a function's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameHint {
    None,
    /// An object is made.
    Init,
    /// A module's forward.
    Forward,
    /// A loop that evaluates or generates.
    Eval,
    /// Maybe an evaluation: training has such functions, too, and so do models.
    MayEval,
    /// A loop that trains.
    Train,
    /// Parameters are perturbed for a second backward, whose step follows.
    Perturb,
    /// An optimizer calls this function within its step.
    Closure,
    /// torch makes a device the current one for constructors.
    SetDevice,
    /// An optimizer of the program's own changes parameters.
    Step,
    /// A batch is made or fetched.
    Batch,
    /// Weights are made or loaded.
    Weights,
    /// Weights are initialised.
    InitWeights,
    /// A loop that trains or evaluates, in a library around torch; whether it evaluates, if its name says that.
    Library(Option<bool>),
}

/// Libraries with loops of their own.
const LOOPS: [&str; 6] = ["transformers", "accelerate", "trl", "lightning", "pytorch_lightning", "diffusers"];

/// The file in which torch makes a device the current one for constructors.
const DEVICES: &str = "torch/utils/_device.py";

/// Names of the methods of iterators, and of functions that make batches.
const BATCHES: [&str; 5] = ["__iter__", "__next__", "collate_fn", "prefetch", "preload"];

/// First and last words of the names of functions that make batches: `get_batch`, `load_train_data`.
const MAKES_BATCHES: [&str; 12] = [
    "get", "next", "load", "make", "fetch", "sample", "draw", "create", "build", "prepare", "generate",
    "random",
];
const BATCH: [&str; 6] = ["batch", "batches", "minibatch", "data", "dataset", "inputs"];

/// Parts of the names of functions that evaluate or infer.
const EVALUATES: [&str; 6] = ["eval", "valid", "infer", "predict", "generate", "test"];

/// Whether a function is named after evaluation or inference. Functions that train may call it, and models may have such functions.
pub fn is_named_after_evaluation(function: &str) -> bool {
    let function = function.to_ascii_lowercase();
    EVALUATES.iter().any(|word| function.contains(word))
}

/// The hint of a frame. Of installed packages only those with loops of their own, and the devices of torch, give any.
pub(crate) fn name_hint(file: &str, name: &str) -> NameHint {
    let Some((_, inner)) = file.rsplit_once("-packages/") else { return plain_hint(file, name) };
    let package = inner.split(['/', '\\']).next().unwrap_or_default();
    if !LOOPS.contains(&package) {
        return if inner.ends_with(DEVICES) { NameHint::SetDevice } else { NameHint::None };
    }
    NameHint::Library(match plain_hint(file, name) {
        NameHint::Eval => Some(true),
        NameHint::Train => Some(false),
        _ => None,
    })
}

fn makes_batches(name: &str) -> bool {
    let name = name.trim_matches('_');
    let Some((first, rest)) = name.split_once('_') else { return false };
    let last = rest.rsplit('_').next().unwrap_or(rest);
    MAKES_BATCHES.contains(&first) && BATCH.contains(&last)
}

fn plain_hint(file: &str, name: &str) -> NameHint {
    let name = name.rsplit('.').next().unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if name == "__init__" {
        NameHint::Init
    } else if file.ends_with(DEVICES) {
        NameHint::SetDevice
    } else if BATCHES.contains(&lower.as_str()) || makes_batches(&lower) {
        NameHint::Batch
    } else if lower == "forward" {
        NameHint::Forward
    } else if matches!(lower.as_str(), "first_step" | "ascent_step") || lower.contains("perturb") {
        NameHint::Perturb
    } else if has(&["closure"]) {
        NameHint::Closure
    } else if has(&["train", "fit"]) {
        NameHint::Train
    } else if has(&["eval", "valid", "inference", "generate", "test_"]) && !has(&["action"]) {
        NameHint::Eval
    } else if has(&["eval", "infer", "predict", "sample", "decode", "encode"]) {
        NameHint::MayEval
    } else if lower == "step" || lower.ends_with("_step") || has(&["optim", "adam", "sgd", "momentum"]) {
        NameHint::Step
    } else if has(&["weight", "param"]) && has(&["init", "make", "create", "build", "new"]) {
        NameHint::InitWeights
    } else if has(&["weight"])
        || (lower.trim_start_matches('_').starts_with("load") && !has(&["data", "batch"]))
    {
        NameHint::Weights
    } else {
        NameHint::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_libraries_are_told_from_other_code() {
        let file = "/env/lib/python3.11/site-packages/transformers/trainer.py";
        assert_eq!(name_hint(file, "evaluation_loop"), NameHint::Library(Some(true)));
        assert_eq!(name_hint(file, "training_step"), NameHint::Library(Some(false)));
        assert_eq!(name_hint(file, "wrapper"), NameHint::Library(None));
        assert_eq!(name_hint("/home/me/train.py", "evaluate"), NameHint::Eval);
        assert_eq!(name_hint("/home/me/train.py", "Net.encode"), NameHint::MayEval);
        assert_eq!(name_hint("/home/me/ppo.py", "Agent.evaluate_actions"), NameHint::MayEval);
        assert_eq!(name_hint("/home/me/train.py", "Net.forward"), NameHint::Forward);
        assert_eq!(name_hint("/home/me/model.py", "init_all_weights"), NameHint::InitWeights);
        assert_eq!(name_hint("/home/me/model.py", "make_params"), NameHint::InitWeights);
        assert_eq!(name_hint("/home/me/model.py", "class_weights"), NameHint::Weights);
        assert_eq!(name_hint("/home/me/model.py", "_load_shard"), NameHint::Weights);
        assert_eq!(name_hint("/home/me/data.py", "load_batch"), NameHint::Batch);
        assert_eq!(name_hint("/home/me/data.py", "Prefetcher.__next__"), NameHint::Batch);
        assert_eq!(name_hint("/home/me/data.py", "_make_toy_batch"), NameHint::Batch);
        assert_eq!(name_hint("/home/me/train.py", "train_on_batch"), NameHint::Train);
        assert_eq!(name_hint("/home/me/train.py", "process_batch"), NameHint::None);
        assert_eq!(name_hint("/home/me/muon.py", "Muon.step"), NameHint::Step);
        assert_eq!(name_hint("/home/me/train.py", "train_step"), NameHint::Train);
    }
}
