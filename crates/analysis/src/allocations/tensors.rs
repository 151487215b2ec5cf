//! The tensors that an allocation may have held, of those that a recorder noted.

use oomscope_model::{Allocation, Bytes, DeviceId, RecordedTensor, Snapshot};

/// A shape and type that fit an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittingTensor {
    /// The type of its elements, as `float32`.
    pub dtype: String,
    /// Its dimensions.
    pub shape: Vec<i64>,
    /// The operator that returned the first tensor of this shape and type, as `aten.mm.default`.
    pub operator: String,
}

impl FittingTensor {
    /// `float32 [8, 128] by aten.mm.default`.
    pub fn text(&self) -> String {
        format!("{} {:?} by {}", self.dtype, self.shape, self.operator)
    }
}

/// The most that are found: a program that reshapes in more ways tells nothing.
const MAX_FOUND: usize = 16;

/// Shapes and types noted at the allocation's address with exactly its bytes, in the order in which they were noted.
///
/// Notes have no time, and an address is used again. So one is only inferred, and of several each may be it.
pub fn fitting_tensors(snapshot: &Snapshot, device: DeviceId, allocation: &Allocation) -> Vec<FittingTensor> {
    let text = |id| snapshot.strings.name(id).into_owned();
    let mut found: Vec<FittingTensor> = Vec::new();
    for tensor in snapshot.tensors.at(device, allocation.addr) {
        let shape = snapshot.tensors.dimensions(tensor.shape);
        if found.len() == MAX_FOUND {
            break;
        }
        if tensor_bytes(snapshot, tensor) != Some(allocation.size) {
            continue;
        }
        let dtype = text(tensor.dtype).trim_start_matches("torch.").to_owned();
        if !found.iter().any(|known| known.dtype == dtype && known.shape == shape) {
            found.push(FittingTensor { dtype, shape: shape.to_vec(), operator: text(tensor.operator) });
        }
    }
    found
}

/// The tensors in a line, for people. `None` if none fits.
pub fn tensors_text(tensors: &[FittingTensor]) -> Option<String> {
    match tensors {
        [] => None,
        [one] => Some(format!("≈ {}, as no other noted here has these bytes", one.text())),
        several => {
            let texts: Vec<String> = several.iter().map(FittingTensor::text).collect();
            Some(format!("≈ one of {}", texts.join("; ")))
        }
    }
}

fn tensor_bytes(snapshot: &Snapshot, tensor: &RecordedTensor) -> Option<Bytes> {
    let element_bytes = element_bytes(&snapshot.strings.name(tensor.dtype))?;
    let dimensions = snapshot.tensors.dimensions(tensor.shape);
    dimensions.iter().try_fold(element_bytes, |bytes, &dimension| bytes.checked_mul(dimension))
}

/// Bytes of an element (`c10/core/ScalarType.h`). `None` for types that this version does not know.
fn element_bytes(dtype: &str) -> Option<Bytes> {
    let name = dtype.strip_prefix("torch.")?;
    Some(match name {
        "bool" | "uint8" | "int8" | "quint8" | "qint8" => Bytes(1),
        "float16" | "bfloat16" | "half" | "int16" | "uint16" => Bytes(2),
        "float32" | "int32" | "uint32" | "complex32" | "qint32" => Bytes(4),
        "float64" | "int64" | "uint64" | "complex64" => Bytes(8),
        "complex128" => Bytes(16),
        _ if name.starts_with("float8_") => Bytes(1),
        _ => return None,
    })
}
