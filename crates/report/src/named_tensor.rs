//! Tensors that the program named, as records and as text.

use oomscope_analysis::{named_tensors, tensor_name, tensor_text};
use oomscope_model::{AllocId, Census, CensusIx, NamedTensor, Recording, TensorRole};
use oomscope_units as units;
use serde::Serialize;

/// As many tensors of a block are told: views of one storage may be many.
const MAX_TOLD: usize = 8;

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
    fn of(census: &'a Census, tensor: &NamedTensor) -> Self {
        let text = |at: CensusIx| census.text(at);
        Self {
            name: tensor_name(census, tensor),
            role: tensor.role.map(TensorRole::key),
            owner: tensor.owner.map(|at| text(census.owner(at).class)),
            dtype: text(tensor.dtype),
            shape: census.dimensions(tensor.shape),
            grad_fn: tensor.grad_fn.map(text),
            saved_by: tensor.key.filter(|_| tensor.role == Some(TensorRole::Saved)).map(text),
            holder: tensor.holder.map(|at| census.holder(at)).map(|holder| HolderRecord {
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
pub(super) fn named_records(recording: &Recording, id: AllocId) -> Vec<NamedRecord<'_>> {
    let census = &recording.snapshot().census;
    let told = named_tensors(recording, id).iter().take(MAX_TOLD);
    told.map(|tensor| NamedRecord::of(census, tensor)).collect()
}

/// The tensors in a block in a line: `blocks.0.weight, parameter of GPT, float32 [768, 256]`. `None` where the program named none.
pub fn named_text(recording: &Recording, id: AllocId) -> Option<String> {
    let census = &recording.snapshot().census;
    let all = named_tensors(recording, id);
    let told: Vec<String> = all.iter().take(MAX_TOLD).map(|tensor| tensor_text(census, tensor)).collect();
    let more = all.len().saturating_sub(MAX_TOLD);
    let more = (more != 0).then(|| format!("{} more", units::count(more as u64)));
    let text = told.into_iter().chain(more).collect::<Vec<_>>().join("; ");
    (!all.is_empty()).then(|| units::printable(&text))
}

/// The first name of a block: what tables have room for.
pub fn first_name(recording: &Recording, id: AllocId) -> Option<String> {
    let census = &recording.snapshot().census;
    let name = named_tensors(recording, id).iter().find_map(|tensor| tensor_name(census, tensor))?;
    Some(units::printable(&name))
}
