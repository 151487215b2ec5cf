//! A label for each block whose tensor the program named: its name, or else the variable that holds it.

use crate::Categories;
use crate::named::{holder_text, named_tensors, tensor_name};
use crate::stacks::site_label;
use foldhash::HashMap;
use oomscope_model::{AllocId, NamedTensor, Recording, TensorRole};
use oomscope_units as units;

/// The tensors of a block as the program named them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockTensors<'a> {
    /// Those in it, those with a role first.
    pub tensors: &'a [NamedTensor],
    /// Whether they are those of the block that it is in a later iteration.
    pub is_inferred: bool,
}

impl<'a> BlockTensors<'a> {
    /// Those of a block: at the end of the recording, or those that it is in a later iteration.
    pub fn of(recording: &'a Recording, categories: &Categories, id: AllocId) -> Self {
        match categories.named_later(id) {
            Some(later) => Self { tensors: named_tensors(recording, later), is_inferred: true },
            None => Self::at_end(recording, id),
        }
    }

    /// Those of a block at the end of the recording.
    pub fn at_end(recording: &'a Recording, id: AllocId) -> Self {
        Self { tensors: named_tensors(recording, id), is_inferred: false }
    }

    /// What lists have room for: a name, or else the variable that holds it; marked where it is inferred.
    pub fn label(self, recording: &Recording) -> Option<String> {
        let census = &recording.snapshot().census;
        let name = || {
            let (name, tensor) =
                self.tensors.iter().find_map(|tensor| Some((tensor_name(census, tensor)?, tensor)))?;
            // A place in a group is no name by itself.
            let is_place = tensor.role == Some(TensorRole::OptimizerParameter);
            Some(if is_place { format!("parameter {name}") } else { name })
        };
        let holder = || {
            let holder = self.tensors.iter().find_map(|tensor| census.holder_of(tensor))?;
            Some(holder_text(census, census.holder(holder)))
        };
        let label = units::printable(&name().or_else(holder)?);
        Some(if self.is_inferred { format!("≈ {label}") } else { label })
    }
}

/// The labels of all blocks that have one, in alphabetical order.
#[derive(Debug, Default)]
pub struct TensorLabels {
    texts: Vec<String>,
    places: HashMap<AllocId, u32>,
}

impl TensorLabels {
    /// Those of a device. Takes about a microsecond for each.
    pub fn of(recording: &Recording, categories: &Categories) -> Self {
        if recording.snapshot().census.tensors().is_empty() {
            return Self::default();
        }
        // A block of many tensors may be the later one of many.
        let mut of_later: HashMap<AllocId, Option<String>> = HashMap::default();
        let mut all: Vec<(String, AllocId)> = Vec::new();
        for id in recording.ids() {
            let of = |id| BlockTensors::of(recording, categories, id).label(recording);
            let label = match categories.named_later(id) {
                Some(later) => of_later.entry(later).or_insert_with(|| of(id)).clone(),
                None if recording.lifetimes.end(id).is_none() => of(id),
                None => None,
            };
            all.extend(label.map(|label| (label, id)));
        }
        all.sort_unstable();
        let mut out = Self::default();
        for (text, id) in all {
            if out.texts.last() != Some(&text) {
                out.texts.push(text);
            }
            out.places.insert(id, out.texts.len() as u32);
        }
        out
    }

    /// The label of a block.
    pub fn get(&self, id: AllocId) -> Option<&str> {
        let place = *self.places.get(&id)?;
        self.texts.get(place as usize - 1).map(String::as_str)
    }

    /// Its place in alphabetical order; those without a label come last.
    pub(crate) fn rank(&self, id: AllocId) -> u64 {
        self.places.get(&id).map_or(u64::MAX, |&place| u64::from(place))
    }
}

/// The tensor of an allocation, where it has a label, and the line of code that made it.
pub fn tensor_and_site(recording: &Recording, tensors: Option<&TensorLabels>, id: AllocId) -> String {
    let site = site_label(recording.snapshot(), recording.stack(id));
    match tensors.and_then(|tensors| tensors.get(id)) {
        Some(tensor) => format!("{tensor} · {site}"),
        None => site,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocationSorter, Attribution, OrderBy, UserRules};
    use oomscope_fixtures::programs::{DATA, LOAD, Program};
    use oomscope_model::{Bytes, Census, CensusIx, DeviceId, TensorHolder};

    fn tensor(addr: u64, role: Option<TensorRole>, holder: Option<CensusIx>) -> NamedTensor {
        NamedTensor {
            role,
            name: role.map(|_| CensusIx(1)),
            holder,
            ..NamedTensor::new(DeviceId(0), addr, Bytes(1))
        }
    }

    #[test]
    fn blocks_are_called_by_a_name_or_by_the_variable_that_holds_them() {
        let mut program = Program::default();
        let [unnamed, named, held] = [DATA, LOAD, DATA].map(|stack| program.alloc(4096, stack));
        let texts = ["float32", "b.weight", "a", "fit", "train.py"].map(str::to_owned).to_vec();
        let [variable, function, file] = [2, 3, 4].map(CensusIx);
        let holders =
            vec![TensorHolder { variable, example: variable, function, file, line: 7, collection: None }];
        let tensors = vec![
            tensor(named, Some(TensorRole::Parameter), Some(CensusIx(0))),
            tensor(held, None, Some(CensusIx(0))),
        ];
        program.name(Census::new(tensors, texts, vec![vec![1]], Vec::new(), holders));
        let recording = program.finish();
        let categories = Attribution::of(&recording, &UserRules::default()).categories;
        let labels = TensorLabels::of(&recording, &categories);
        let of = |addr: u64| recording.ids().find(|&id| recording.addr(id) == addr);
        let label = |addr| of(addr).and_then(|id| labels.get(id));
        assert_eq!(
            [unnamed, named, held].map(label),
            [None, Some("b.weight"), Some("a in fit (train.py:7)")]
        );
        let sorted = AllocationSorter::new(&recording).with_tensors(&labels).all(OrderBy::Tensor);
        assert_eq!(sorted, [held, named, unnamed].map(|addr| of(addr).expect("it is there")));
        let site = tensor_and_site(&recording, Some(&labels), sorted[1]);
        assert!(site.starts_with("b.weight · "), "{site}");
        assert_eq!(tensor_and_site(&recording, None, sorted[1]), site["b.weight · ".len()..]);
    }
}
