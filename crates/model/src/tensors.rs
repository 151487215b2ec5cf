//! Tensors that a recorder noted beside the events: their shapes and types, by address and without times.

use super::{DeviceId, StrId};
use foldhash::HashSet;

/// A list of dimensions, in a [`RecordedTensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShapeId(pub u32);

/// A tensor that an operator returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordedTensor {
    /// The device; `None` where one list was written for all of them.
    pub device: Option<DeviceId>,
    /// Its first byte.
    pub addr: u64,
    /// The operator, such as `aten.mm.default`.
    pub operator: StrId,
    /// The type of its elements, such as `torch.float32`.
    pub dtype: StrId,
    /// Its dimensions.
    pub shape: ShapeId,
}

/// The tensors of a recording, by address; those of one address in the order in which they were noted, each once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RecordedTensors {
    tensors: Vec<RecordedTensor>,
    shapes: Vec<Box<[i64]>>,
}

impl RecordedTensors {
    /// Tensors in the order in which they were noted, with the dimensions that their shapes number.
    pub fn new(mut tensors: Vec<RecordedTensor>, shapes: Vec<Box<[i64]>>) -> Self {
        let mut seen = HashSet::default();
        tensors.retain(|tensor| (tensor.shape.0 as usize) < shapes.len() && seen.insert(*tensor));
        tensors.sort_by_key(|tensor| tensor.addr);
        Self { tensors, shapes }
    }

    /// All of them, by address.
    pub fn tensors(&self) -> &[RecordedTensor] {
        &self.tensors
    }

    /// Tensors at an address of a device, at whatever time.
    pub fn at(&self, device: DeviceId, addr: u64) -> impl Iterator<Item = &RecordedTensor> {
        let from = self.tensors.partition_point(|tensor| tensor.addr < addr);
        let here = self.tensors[from..].iter().take_while(move |tensor| tensor.addr == addr);
        here.filter(move |tensor| tensor.device.is_none_or(|of| of == device))
    }

    /// The dimensions of a shape.
    pub fn dimensions(&self, shape: ShapeId) -> &[i64] {
        &self.shapes[shape.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_tensors_in_order_and_each_once() {
        let note = |device: Option<i64>, addr, operator, shape| RecordedTensor {
            device: device.map(DeviceId),
            addr,
            operator: StrId(operator),
            dtype: StrId(9),
            shape: ShapeId(shape),
        };
        let noted = vec![
            note(None, 64, 2, 0),
            note(None, 32, 1, 1),
            note(None, 64, 1, 1),
            note(None, 64, 2, 0),
            note(Some(1), 64, 3, 0),
            note(None, 64, 1, 7),
        ];
        let tensors = RecordedTensors::new(noted, vec![[4, 8].into(), [].into()]);
        let at = |device, addr| -> Vec<u32> {
            tensors.at(DeviceId(device), addr).map(|tensor| tensor.operator.0).collect()
        };
        assert_eq!([at(0, 64), at(1, 64), at(0, 32), at(0, 1)], [vec![2, 1], vec![2, 1, 3], vec![1], vec![]]);
        assert_eq!(tensors.dimensions(ShapeId(0)), [4, 8]);
    }
}
