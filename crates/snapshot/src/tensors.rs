//! `shape_data`: for each device, or once for all, a dict of addresses with lists of operator, shape and type.

use super::builder::Builder;
use super::containers::{DictState, ListState};
use oomscope_model::{DeviceId, RecordedTensor, RecordedTensors, ShapeId, StrId};
use oomscope_pickle::{Kind, Value, View};

/// The note about what is beyond that.
const REPEATED: &str = "parts of shape_data that are those of other addresses";

/// Take some of what is left; false if that is less.
fn take(left: &mut usize, n: usize) -> bool {
    let rest = left.checked_sub(n);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

impl Builder {
    /// The tensors that were noted.
    pub(super) fn recorded_tensors(&mut self, value: Value) -> RecordedTensors {
        let dicts = self.items(value).to_vec();
        let mut tensors = Vec::new();
        // Devices and addresses that share their lists would multiply them. Twice as many values as there are is more than any
        // honest file uses.
        let mut values_left = 2 * self.loose.len();
        for (device, &dict) in (0..).map(DeviceId).zip(&dicts) {
            let device = (dicts.len() != 1).then_some(device);
            let pairs = self.pairs(dict);
            if !take(&mut values_left, pairs.len()) {
                self.notes.skipped(REPEATED, 1);
                break;
            }
            for pair in pairs.to_vec().chunks_exact(2) {
                let Some(addr) = self.hex(pair[0]) else { continue };
                if !take(&mut values_left, self.items(pair[1]).len()) {
                    self.notes.skipped(REPEATED, 1);
                    break;
                }
                for item in self.items(pair[1]).to_vec() {
                    let Some((operator, shape, dtype)) = self.noted(item) else { continue };
                    tensors.push(RecordedTensor { device, addr, operator, dtype, shape });
                }
            }
        }
        RecordedTensors::new(tensors, std::mem::take(&mut self.dimensions).into_lists())
    }

    fn items(&self, value: Value) -> &[Value] {
        match value.handle(Kind::List).map(|list| self.lists.get(list)) {
            Some(ListState::Loose(container)) => self.loose.get(container),
            _ => &[],
        }
    }

    fn pairs(&self, value: Value) -> &[Value] {
        match value.handle(Kind::Dict).map(|dict| self.dicts.get(dict)) {
            Some(DictState::Loose(container)) => self.loose.get(container),
            _ => &[],
        }
    }

    /// The address that a text spells, as Python's `hex` does.
    fn hex(&self, value: Value) -> Option<u64> {
        let text = self.strings.name(Self::str_id(value.handle(Kind::Str)?));
        u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
    }

    fn noted(&mut self, item: Value) -> Option<(StrId, ShapeId, StrId)> {
        let &[operator, shape, dtype] = self.items(item) else { return None };
        let [operator, dtype] = [operator.handle(Kind::Str)?, dtype.handle(Kind::Str)?].map(Self::str_id);
        Some((operator, self.dimensions_of(shape)?, dtype))
    }

    /// A shape: a tuple, or in JSON a list. Two dimensions look as a pool's id does.
    fn dimensions_of(&mut self, value: Value) -> Option<ShapeId> {
        match value.view() {
            View::Ref(Kind::Tuple, tuple) => match self.pools.get(tuple) {
                Some(pair) => self.dimensions.intern(&[Value::int(pair.0), Value::int(pair.1)]),
                None => self.dimensions.get(tuple),
            },
            View::Ref(Kind::List, _) => {
                let items = self.items(value).to_vec();
                self.dimensions.intern(&items)
            }
            _ => None,
        }
    }
}
