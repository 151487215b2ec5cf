//! The types of numbers that the program itself says its tensors have.

use super::run::Run;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::{BlockTensors, Category};
use oomscope_model::{AllocId, Census, NamedTensor, SaturatingSum as _, StackId, TensorRole};

/// Squares with shorter sides may be anything, such as scores of experts.
const LEAST_PLACES: i64 = 32;

/// The kind of numbers in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Floating point, with so many bytes each.
    Float(u64),
    /// Whole numbers, truth values, packed ones: no conversion of a model touches them.
    Other,
}

impl Numbers {
    /// Those of a type of torch's, such as `bfloat16`; `None` of one that is not known.
    fn of_dtype(dtype: &str) -> Option<Self> {
        Some(match dtype {
            "float64" | "double" => Self::Float(8),
            "float32" | "float" => Self::Float(4),
            "float16" | "bfloat16" | "half" => Self::Float(2),
            _ if dtype.starts_with("float8") => Self::Float(1),
            _ if ["int", "uint", "bool", "quint", "qint", "bits", "complex"]
                .iter()
                .any(|kind| dtype.starts_with(kind)) =>
            {
                Self::Other
            }
            _ => return None,
        })
    }
}

/// What is known of the blocks of a device.
#[derive(Debug, Default)]
pub(super) struct DeclaredTypes {
    by_block: HashMap<AllocId, Numbers>,
    /// The same for all blocks of a line and a size, where those that are known agree.
    by_request: HashMap<(StackId, u64), Option<Numbers>>,
    /// Lines and sizes that make scores of attention.
    pub(super) scores: HashSet<(StackId, u64)>,
    /// Bytes of parameters.
    pub(super) parameters: Widths,
    /// Bytes of tensors that operations made for a backward.
    pub(super) computed: Widths,
}

/// Bytes by the kind of their numbers.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Widths {
    pub(super) four: u64,
    pub(super) two: u64,
    pub(super) other: u64,
}

impl Widths {
    fn add(&mut self, numbers: Numbers, bytes: u64) {
        let of = match numbers {
            Numbers::Float(4 | 8) => &mut self.four,
            Numbers::Float(2) => &mut self.two,
            Numbers::Float(_) | Numbers::Other => &mut self.other,
        };
        *of = of.saturating_add(bytes);
    }

    /// All of them.
    pub(super) fn bytes(self) -> u64 {
        [self.four, self.two, self.other].into_iter().saturating_sum()
    }
}

impl DeclaredTypes {
    /// Those of a recording; of a block with tensors of several kinds, nothing.
    pub(super) fn of(run: &Run<'_>) -> Self {
        let mut out = Self::default();
        let census = &run.recording.snapshot().census;
        if census.tensors().is_empty() {
            return out;
        }
        let lifetimes = &run.recording.lifetimes;
        for id in run.recording.ids().filter(|&id| lifetimes.end(id).is_none()) {
            let tensors = BlockTensors::at_end(run.recording, id).tensors;
            let mut kinds = tensors.iter().map(|tensor| Numbers::of_dtype(census.text(tensor.dtype)));
            let Some(Some(numbers)) = kinds.next() else { continue };
            if kinds.any(|kind| kind != Some(numbers)) {
                continue;
            }
            out.by_block.insert(id, numbers);
            let bytes = run.bytes(id);
            if run.category(id) == Category::Parameter {
                out.parameters.add(numbers, bytes);
            }
            let is_saved = |tensor: &NamedTensor| tensor.role == Some(TensorRole::Saved);
            let is_computed = |tensor: &NamedTensor| {
                is_saved(tensor) || (tensor.role.is_none() && tensor.grad_fn.is_some())
            };
            if tensors.iter().any(is_computed) {
                out.computed.add(numbers, bytes);
            }
            let request = (run.recording.stack(id), bytes);
            if request.0 != StackId::EMPTY {
                let known = out.by_request.entry(request).or_insert(Some(numbers));
                *known = known.filter(|&known| known == numbers);
                if tensors.iter().any(|tensor| is_saved(tensor) && is_of_scores(census, tensor)) {
                    out.scores.insert(request);
                }
            }
        }
        out
    }

    /// The numbers in a block.
    pub(super) fn get(&self, run: &Run<'_>, id: AllocId) -> Option<Numbers> {
        if self.by_block.is_empty() {
            return None;
        }
        let of_request = || self.by_request.get(&(run.recording.stack(id), run.bytes(id))).copied().flatten();
        let later = || self.by_block.get(&run.attribution.categories.named_later(id)?).copied();
        self.by_block.get(&id).copied().or_else(later).or_else(of_request)
    }
}

/// Whether a tensor that was saved for a backward holds the weights with which each of some places attends to each other.
fn is_of_scores(census: &Census, tensor: &NamedTensor) -> bool {
    let by_softmax = tensor.key.is_some_and(|key| census.text(key).contains("Softmax"));
    match census.dimensions(tensor.shape) {
        [_, .., queries, keys] => by_softmax && queries == keys && LEAST_PLACES <= *queries,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_their_names() {
        for (dtype, numbers) in [
            ("float32", Some(Numbers::Float(4))),
            ("bfloat16", Some(Numbers::Float(2))),
            ("float8_e4m3fn", Some(Numbers::Float(1))),
            ("int64", Some(Numbers::Other)),
            ("uint8", Some(Numbers::Other)),
            ("bool", Some(Numbers::Other)),
            ("#3f2a", None),
        ] {
            assert_eq!(Numbers::of_dtype(dtype), numbers, "{dtype}");
        }
    }
}
