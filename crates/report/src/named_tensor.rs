//! Tensors that the program named, as records and as text.

use oomscope_analysis::{Basis, BlockTensors, Categories, tensor_name, tensor_text};
use oomscope_model::{AllocId, Census, CensusIx, NamedTensor, Recording, TensorRole};
use oomscope_units as units;
use serde::Serialize;

/// As many tensors of a block are told in words: views of one storage may be many.
const MAX_TOLD: usize = 8;

/// The same in JSON: a bucket of DDP has dozens of gradients.
const MAX_RECORDS: usize = 100;

/// A tensor that the program named.
#[derive(Debug, Serialize)]
pub(super) struct NamedRecord<'a> {
    name: Option<String>,
    role: Option<&'static str>,
    /// The class of the module or optimizer that has it.
    owner: Option<&'a str>,
    dtype: &'a str,
    shape: &'a [i64],
    grad_fn: Option<&'a str>,
    /// The operation that saved it.
    saved_by: Option<&'a str>,
    holder: Option<HolderRecord<'a>>,
    /// Whether the program said so, or it follows from what the block is in a later iteration.
    basis: &'static str,
}

/// The variable that leads to a tensor.
#[derive(Debug, Serialize)]
struct HolderRecord<'a> {
    variable: &'a str,
    example: &'a str,
    function: &'a str,
    file: &'a str,
    line: u32,
}

impl<'a> NamedRecord<'a> {
    fn of(census: &'a Census, tensor: &NamedTensor, basis: Basis) -> Self {
        let text = |at: CensusIx| census.text(at);
        Self {
            name: tensor_name(census, tensor),
            role: tensor.role.map(TensorRole::key),
            owner: tensor.owner.map(|at| text(census.owner(at).class)),
            dtype: text(tensor.dtype),
            shape: census.dimensions(tensor.shape),
            grad_fn: tensor.grad_fn.map(text),
            saved_by: tensor.key.filter(|_| tensor.role == Some(TensorRole::Saved)).map(text),
            basis: basis.key(),
            holder: census.holder_of(tensor).map(|at| census.holder(at)).map(|holder| HolderRecord {
                variable: text(holder.variable),
                example: text(holder.example),
                function: text(holder.function),
                file: text(holder.file),
                line: holder.line,
            }),
        }
    }
}

/// The tensors in a block, those with a role first.
pub(super) fn named_records<'r>(
    recording: &'r Recording,
    categories: &Categories,
    id: AllocId,
) -> Vec<NamedRecord<'r>> {
    let census = &recording.snapshot().census;
    let BlockTensors { tensors, is_inferred } = BlockTensors::of(recording, categories, id);
    let basis = if is_inferred { Basis::Inferred } else { Basis::Declared };
    tensors.iter().take(MAX_RECORDS).map(|tensor| NamedRecord::of(census, tensor, basis)).collect()
}

/// The tensors in a block in a line: `blocks.0.weight, parameter of GPT, float32 [768, 256]`. `None` where the program named none.
pub fn named_text(recording: &Recording, categories: &Categories, id: AllocId) -> Option<String> {
    let census = &recording.snapshot().census;
    let BlockTensors { tensors, is_inferred } = BlockTensors::of(recording, categories, id);
    let told: Vec<String> = tensors.iter().take(MAX_TOLD).map(|tensor| tensor_text(census, tensor)).collect();
    let more = tensors.len().saturating_sub(MAX_TOLD);
    let more = (more != 0).then(|| format!("{} more", units::count(more as u64)));
    let text = told.into_iter().chain(more).collect::<Vec<_>>().join("; ");
    let text = if is_inferred { format!("≈ {text} in a later iteration") } else { text };
    (!tensors.is_empty()).then(|| units::printable(&text))
}

/// The first name that the program gave to what is in a block.
pub(super) fn first_name(recording: &Recording, categories: &Categories, id: AllocId) -> Option<String> {
    let census = &recording.snapshot().census;
    let found = BlockTensors::of(recording, categories, id);
    let mut declared = found.tensors.iter().filter(|_| !found.is_inferred);
    Some(units::printable(&declared.find_map(|tensor| tensor_name(census, tensor))?))
}

/// What lists have room for: a name, or else the variable that holds it.
pub(super) fn tensor_label(recording: &Recording, categories: &Categories, id: AllocId) -> Option<String> {
    BlockTensors::of(recording, categories, id).label(recording)
}
