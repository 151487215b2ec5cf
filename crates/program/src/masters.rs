//! Copies of a model's weights in float32 that an optimizer updates, where the model has them in two bytes.

use super::run::Run;
use super::share::MOST;
use oomscope_analysis::BlockTensors;
use oomscope_model::{AllocId, CensusIx, Moment, TensorRole};
use std::collections::BTreeMap;

/// The weights that an optimizer has for itself, and what they are copies of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterWeights {
    /// Their blocks, in their order.
    pub blocks: Vec<AllocId>,
    /// The optimizer of the first.
    pub optimizer: CensusIx,
    /// The module that has what they are copies of.
    pub model: CensusIx,
    /// Whether it is the only one of which they may be copies.
    pub is_only: bool,
    /// What the paths of these have in common, as `model.layers`; empty if that is nothing.
    pub path: String,
}

/// Parameters that an optimizer alone has, in float32, of the shapes of parameters that a model has in two bytes: all of them, or none.
pub(super) fn find(run: &Run<'_>, moment: Moment) -> Option<MasterWeights> {
    let census = &run.recording.snapshot().census;
    if census.tensors().is_empty() {
        return None;
    }
    let mut masters: Vec<(AllocId, CensusIx)> = Vec::new();
    let mut wanted: BTreeMap<&[i64], usize> = BTreeMap::new();
    let mut halves: BTreeMap<CensusIx, BTreeMap<&[i64], Vec<CensusIx>>> = BTreeMap::new();
    for id in run.recording.lifetimes.live_at(moment) {
        for tensor in BlockTensors::at_end(run.recording, id).tensors {
            let (Some(role), Some(owner), Some(name)) = (tensor.role, tensor.owner, tensor.name) else {
                continue;
            };
            let shape = census.dimensions(tensor.whole.unwrap_or(tensor.shape));
            match (role, census.text(tensor.dtype)) {
                // A shard is what a model has, while its modules have the whole.
                (TensorRole::OptimizerParameter, _) if tensor.whole.is_some() => return None,
                (TensorRole::OptimizerParameter, "float32") => {
                    masters.push((id, owner));
                    *wanted.entry(shape).or_default() += 1;
                }
                (TensorRole::Parameter, "float16" | "bfloat16") => {
                    halves.entry(owner).or_default().entry(shape).or_default().push(name);
                }
                _ => {}
            }
        }
    }
    let &(_, optimizer) = masters.first()?;
    let has_all = |of: &BTreeMap<&[i64], Vec<CensusIx>>| {
        let has = |(shape, names): (&&[i64], &Vec<CensusIx>)| {
            wanted.get(shape).is_some_and(|&count| count <= names.len())
        };
        let all = of.values().map(Vec::len).sum::<usize>();
        // One vector may have the shape of anything.
        of.iter().filter(|&(shape, names)| has((shape, names))).count() == wanted.len()
            && MOST.is_reached(masters.len(), all)
    };
    let mut models = halves.iter().filter(|(_, of)| has_all(of));
    let (&model, of) = models.next()?;
    let is_only = models.next().is_none();
    let names = wanted.iter().flat_map(|(shape, &count)| of[shape].iter().take(count));
    let path = common_path(names.map(|&name| census.text(name)));
    let blocks = masters.into_iter().map(|(id, _)| id).collect();
    Some(MasterWeights { blocks, optimizer, model, is_only, path })
}

/// The modules that some paths of parameters have in common.
fn common_path<'t>(names: impl Iterator<Item = &'t str>) -> String {
    let around = |name: &'t str| name.rsplit_once('.').map_or("", |(around, _)| around);
    let mut common: Option<Vec<&str>> = None;
    for name in names {
        let parts: Vec<&str> = around(name).split('.').collect();
        let same = |known: Vec<&'t str>| {
            let same = known.iter().zip(&parts).take_while(|(a, b)| a == b).count();
            known[..same].to_vec()
        };
        common = Some(common.map_or_else(|| parts.clone(), same));
    }
    common.unwrap_or_default().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_modules_around_all_in_common() {
        let of = |names: &[&'static str]| common_path(names.iter().copied());
        assert_eq!(of(&["model.layers.0.q.weight", "model.layers.1.q.weight"]), "model.layers");
        assert_eq!(of(&["model.layers.0.q.weight", "head.weight"]), "");
        assert_eq!(of(&["weight"]), "");
        assert_eq!(of(&[]), "");
    }
}
