//! Tuples of ints that are no pool's id: dimensions of tensors.

use foldhash::HashMap;
use oomscope_model::ShapeId;
use oomscope_pickle::{Handle, Value, View};

/// The handle of the first list of dimensions: beyond those of pools, which are few.
const FIRST: u32 = Handle::LIMIT / 2;

/// The most different lists that are kept. Programs have hundreds; it bounds memory.
const MAX_LISTS: usize = 1 << 20;

/// The most dimensions that torch allows (`c10/util/DimVector.h` has room for any number; kernels take 64 at most).
const MAX_DIMENSIONS: usize = 64;

/// Lists of ints, each of them once.
#[derive(Debug, Default, Clone)]
pub(super) struct Dimensions {
    lists: Vec<Box<[i64]>>,
    ids: HashMap<Box<[i64]>, ShapeId>,
}

impl Dimensions {
    /// The handle of a tuple with these items; `None` if they are no dimensions, or beyond what is kept.
    pub(super) fn add(&mut self, items: &[Value]) -> Option<Handle> {
        self.intern(items).map(|ShapeId(id)| Handle(FIRST + id))
    }

    /// The shape with these dimensions.
    pub(super) fn intern(&mut self, items: &[Value]) -> Option<ShapeId> {
        if MAX_DIMENSIONS < items.len() {
            return None;
        }
        let int = |item: &Value| match item.view() {
            View::Int(value) => Some(value),
            _ => None,
        };
        let list: Box<[i64]> = items.iter().map(int).collect::<Option<_>>()?;
        if let Some(&id) = self.ids.get(&list) {
            return Some(id);
        }
        if self.lists.len() == MAX_LISTS {
            return None;
        }
        let id = ShapeId(self.lists.len() as u32);
        self.lists.push(list.clone());
        self.ids.insert(list, id);
        Some(id)
    }

    /// The shape that a tuple is.
    pub(super) fn get(&self, Handle(tuple): Handle) -> Option<ShapeId> {
        let id = tuple.checked_sub(FIRST)?;
        ((id as usize) < self.lists.len()).then_some(ShapeId(id))
    }

    /// Number of different lists.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    pub(super) fn held_bytes(&self) -> usize {
        /// Of a list, its entry and its copy in the map, without its items.
        const LIST_BYTES: usize = 2 * size_of::<Box<[i64]>>() + 16;
        self.lists.iter().map(|list| LIST_BYTES + 2 * size_of_val(&**list)).sum()
    }

    pub(super) fn into_lists(self) -> Vec<Box<[i64]>> {
        self.lists
    }
}
