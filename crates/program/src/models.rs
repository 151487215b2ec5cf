//! The models that the program said it has, and which of them are trained.

use super::masters;
use super::run::Run;
use oomscope_analysis::BlockTensors;
use oomscope_model::{AllocId, CensusIx, Moment, SaturatingSum as _, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

/// An outermost module with its parameters and buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModel {
    /// The module.
    pub owner: CensusIx,
    /// Its blocks, in their order.
    pub blocks: Vec<AllocId>,
    /// Their bytes.
    pub bytes: u64,
    /// Whether an optimizer has one of its parameters, or master weights of them, or one of them has a gradient.
    pub is_trained: bool,
    paths: BTreeSet<CensusIx>,
}

impl NamedModel {
    /// The paths of its parameters.
    pub fn paths(&self) -> &BTreeSet<CensusIx> {
        &self.paths
    }
}

/// Of several models, those that have the paths of one that is trained, and are not.
pub fn copies_of_trained(models: &[NamedModel]) -> impl Iterator<Item = &NamedModel> {
    let trained: BTreeSet<&BTreeSet<CensusIx>> =
        models.iter().filter(|model| model.is_trained).map(NamedModel::paths).collect();
    models.iter().filter(move |model| !model.is_trained && trained.contains(model.paths()))
}

/// The models whose weights are live at a moment, as the program said; none where it did not say which are trained.
pub(super) fn find(run: &Run<'_>, moment: Moment) -> Vec<NamedModel> {
    let census = &run.recording.snapshot().census;
    let mut found: BTreeMap<CensusIx, NamedModel> = BTreeMap::new();
    let mut with_gradients: BTreeSet<CensusIx> = BTreeSet::new();
    if census.tensors().is_empty() {
        return Vec::new();
    }
    for id in run.recording.lifetimes.live_at(moment) {
        for tensor in BlockTensors::at_end(run.recording, id).tensors {
            let Some(owner) = tensor.owner.filter(|&owner| census.owner(owner).is_trained.is_some()) else {
                continue;
            };
            match tensor.role {
                Some(TensorRole::Gradient) => _ = with_gradients.insert(owner),
                Some(TensorRole::Parameter | TensorRole::Buffer) => {
                    let model = found.entry(owner).or_insert_with(|| NamedModel {
                        owner,
                        blocks: Vec::new(),
                        bytes: 0,
                        is_trained: census.owner(owner).is_trained == Some(true),
                        paths: BTreeSet::new(),
                    });
                    model.paths.extend(tensor.name);
                    if model.blocks.last() != Some(&id) {
                        model.blocks.push(id);
                    }
                }
                _ => {}
            }
        }
    }
    let of_masters = masters::find(run, moment).filter(|found| found.is_only).map(|found| found.model);
    let mut models: Vec<NamedModel> = found.into_values().collect();
    for model in &mut models {
        model.is_trained |= with_gradients.contains(&model.owner) || of_masters == Some(model.owner);
        model.bytes = model.blocks.iter().map(|&id| run.bytes(id)).saturating_sum();
    }
    models
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

    /// The models of a program, those that are copies, and master weights.
    fn found(program: Program) -> (Vec<NamedModel>, Vec<CensusIx>, Option<MasterWeights>) {
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        let models = workload.named_models(recording.end());
        let copies = copies_of_trained(&models).map(|model| model.owner).collect();
        (models, copies, workload.master_weights(recording.end()))
    }

    #[test]
    fn a_copy_has_the_paths_of_a_model_that_is_trained() {
        let (mut program, mut names) = (Program::default(), Names::default());
        let [net, average, teacher] = [("Net", true), ("Net", false), ("Teacher", false)]
            .map(|(class, is_trained)| names.module(class, is_trained));
        for (owner, path) in [(net, "a.weight"), (average, "a.weight"), (teacher, "b.weight")] {
            names.tensor(program.alloc(4096, LOAD), (Parameter, owner), path, FLOAT);
        }
        program.name(names.finish());
        let (models, copies, masters) = found(program);
        assert_eq!(
            models.iter().map(|model| (model.owner, model.is_trained, model.bytes)).collect::<Vec<_>>(),
            [(net, true, 4096), (average, false, 4096), (teacher, false, 4096)]
        );
        assert_eq!((copies, masters), (vec![average], None));
    }

    /// A model of half precision, and one more if wanted, with an optimizer's own parameters of some shape.
    fn with_masters(models: usize, shape: &[i64]) -> (Vec<NamedModel>, Option<MasterWeights>) {
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
        assert!(models[0].is_trained);
        let (models, masters) = with_masters(2, &[8, 4]);
        assert_eq!(masters.map(|masters| masters.is_only), Some(false));
        assert!(!models.iter().any(|model| model.is_trained));
        assert_eq!(with_masters(1, &[4, 8]).1, None);
    }
}
