//! The models that the program said it has, and which of them are trained.

use super::masters;
use super::run::Run;
use oomscope_analysis::BlockTensors;
use oomscope_model::{AllocId, Census, CensusIx, Moment, SaturatingSum as _, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of paths that are those of modules around a model: of DDP and averages, of `torch.compile`, of FSDP.
const WRAPPERS: [&str; 3] = ["module", "_orig_mod", "_fsdp_wrapped_module"];

/// An outermost module with its parameters and buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModel<'a> {
    /// The module.
    pub owner: CensusIx,
    /// Its class, or that of the model within a wrapper.
    pub class: &'a str,
    /// Its blocks, in their order.
    pub blocks: Vec<AllocId>,
    /// Their bytes.
    pub bytes: u64,
    /// Whether an optimizer has one of its parameters, or master weights of them, or one of them has a gradient.
    pub is_trained: bool,
    /// Whether none of its parameters may have a gradient.
    pub is_frozen: bool,
    /// The paths of its parameters within wrappers, with their shapes.
    parameters: BTreeSet<(String, &'a [i64])>,
}

/// What makes two models alike.
type Likeness<'m, 'a> = (&'a str, &'m BTreeSet<(String, &'a [i64])>);

impl<'a> NamedModel<'a> {
    fn likeness(&self) -> Likeness<'_, 'a> {
        (self.class, &self.parameters)
    }
}

/// Of several models, those that are like one that is trained, and are not.
pub fn copies_of_trained<'m, 'a>(models: &'m [NamedModel<'a>]) -> impl Iterator<Item = &'m NamedModel<'a>> {
    let trained = models.iter().filter(|model| model.is_trained);
    let trained: BTreeSet<Likeness<'m, 'a>> = trained.map(NamedModel::likeness).collect();
    models.iter().filter(move |model| !model.is_trained && trained.contains(&model.likeness()))
}

/// The models whose weights are live at a moment, as the program said; none where it is not known what its optimizers train: not said,
/// or some have parameters that are no model's.
pub(super) fn find<'a>(run: &Run<'a>, moment: Moment) -> Vec<NamedModel<'a>> {
    let census = &run.recording.snapshot().census;
    if census.tensors().is_empty() || census.missing().tensors {
        return Vec::new();
    }
    let masters = masters::find(run, moment);
    let has_others =
        census.tensors().iter().any(|tensor| tensor.role == Some(TensorRole::OptimizerParameter));
    if has_others && !masters.as_ref().is_some_and(|masters| masters.is_only) {
        return Vec::new();
    }
    let (classes, trained) = (inner_classes(census), census.trained_owners());
    let of_masters = masters.map(|masters| masters.model);
    let mut found: BTreeMap<CensusIx, NamedModel<'a>> = BTreeMap::new();
    for id in run.recording.lifetimes.live_at(moment) {
        for tensor in BlockTensors::at_end(run.recording, id).tensors {
            let said = |owner: &CensusIx| census.owner(*owner).is_trained.is_some();
            let is_parameter = tensor.role == Some(TensorRole::Parameter);
            let Some(owner) = tensor.owner.filter(said) else { continue };
            if !is_parameter && tensor.role != Some(TensorRole::Buffer) {
                continue;
            }
            let model = found.entry(owner).or_insert_with(|| NamedModel {
                owner,
                class: classes
                    .get(&owner)
                    .map_or_else(|| census.text(census.owner(owner).class), |&(_, class)| class),
                blocks: Vec::new(),
                bytes: 0,
                is_trained: trained.contains(&owner) || of_masters == Some(owner),
                is_frozen: true,
                parameters: BTreeSet::new(),
            });
            if let Some(name) = tensor.name.filter(|_| is_parameter) {
                let shape = census.dimensions(tensor.whole.unwrap_or(tensor.shape));
                model.parameters.insert((within_wrappers(census.text(name)), shape));
            }
            model.is_frozen &= !tensor.requires_grad;
            if model.blocks.last() != Some(&id) {
                model.blocks.push(id);
            }
        }
    }
    // What has no parameter is no model: a queue, a metric, a cache.
    let mut models: Vec<NamedModel<'a>> = found.into_values().collect();
    models.retain(|model| !model.parameters.is_empty());
    for model in &mut models {
        model.bytes = model.blocks.iter().map(|&id| run.bytes(id)).saturating_sum();
    }
    models
}

/// A path without the modules around a model.
fn within_wrappers(path: &str) -> String {
    path.split('.').filter(|part| !WRAPPERS.contains(part)).collect::<Vec<_>>().join(".")
}

/// Of outermost modules that are wrappers, the length of the path to the model in them, and its class.
fn inner_classes(census: &Census) -> BTreeMap<CensusIx, (usize, &str)> {
    let mut out: BTreeMap<CensusIx, (usize, &str)> = BTreeMap::new();
    for module in census.modules() {
        let path = census.text(module.path);
        if !path.is_empty() && path.split('.').all(|part| WRAPPERS.contains(&part)) {
            let found = (path.len(), census.text(census.class_of(module).name));
            let known = out.entry(module.owner).or_insert(found);
            *known = found.max(*known);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MasterWeights, Run, Workload};
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_fixtures::census::Names;
    use oomscope_fixtures::programs::{LOAD, Program};
    use oomscope_model::TensorRole::{OptimizerParameter, Parameter};

    const FLOAT: (&str, &[i64]) = ("float32", &[8, 4]);
    const HALF: (&str, &[i64]) = ("bfloat16", &[8, 4]);

    /// The module, whether it is trained, and its bytes.
    type Said = (CensusIx, bool, u64);

    /// The models of a program, those that are copies, and master weights.
    fn found(program: Program) -> (Vec<Said>, Vec<CensusIx>, Option<MasterWeights>) {
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        let models = workload.named_models(recording.end());
        let copies = copies_of_trained(&models).map(|model| model.owner).collect();
        let models = models.iter().map(|model| (model.owner, model.is_trained, model.bytes)).collect();
        (models, copies, workload.master_weights(recording.end()))
    }

    #[test]
    fn a_copy_has_the_class_paths_and_shapes_of_a_model_that_is_trained() {
        let (mut program, mut names) = (Program::default(), Names::default());
        let [net, average, other, wide] = [("Net", true), ("Net", false), ("Linear", false), ("Net", false)]
            .map(|(class, is_trained)| names.module(class, is_trained));
        let wider: (&str, &[i64]) = ("float32", &[16, 4]);
        for (owner, path, kind) in [
            (net, "a.weight", FLOAT),
            // As `AveragedModel` has it; one of another class, and a wider one.
            (average, "module.a.weight", FLOAT),
            (other, "a.weight", FLOAT),
            (wide, "a.weight", wider),
        ] {
            names.tensor(program.alloc(4096, LOAD), (Parameter, owner), path, kind);
        }
        let queue = names.module("Queue", false);
        names.tensor(program.alloc(4096, LOAD), (TensorRole::Buffer, queue), "queue", FLOAT);
        program.name(names.finish());
        let (models, copies, masters) = found(program);
        assert_eq!(
            models,
            [(net, true, 4096), (average, false, 4096), (other, false, 4096), (wide, false, 4096)]
        );
        assert_eq!((copies, masters), (vec![average], None));
    }

    /// A model of half precision, and one more if wanted, with an optimizer's own parameters of some shape.
    fn with_masters(models: usize, shape: &[i64]) -> (Vec<Said>, Option<MasterWeights>) {
        let (mut program, mut names) = (Program::default(), Names::default());
        for _ in 0..models {
            let net = names.module("Net", false);
            for path in ["layers.0.q.weight", "layers.1.q.weight"] {
                names.tensor(program.alloc(4096, LOAD), (Parameter, net), path, HALF);
            }
        }
        let adam = names.optimizer("AdamW");
        for at in 0..2 {
            let name = format!("0.{at}");
            names.tensor(program.alloc(8192, LOAD), (OptimizerParameter, adam), &name, ("float32", shape));
        }
        program.name(names.finish());
        let (models, _, masters) = found(program);
        (models, masters)
    }

    #[test]
    fn master_weights_tell_what_is_trained_where_only_one_model_fits() {
        let (models, masters) = with_masters(1, &[8, 4]);
        let masters = masters.expect("they have the shapes of the weights");
        assert_eq!((masters.path.as_str(), masters.blocks.len(), masters.is_only), ("layers", 2, true));
        assert!(models[0].1);
        let (models, masters) = with_masters(2, &[8, 4]);
        assert_eq!(masters.map(|masters| masters.is_only), Some(false));
        assert_eq!(models, [], "which of them is trained is not known");
        assert_eq!(with_masters(1, &[4, 8]).1, None);
    }
}
