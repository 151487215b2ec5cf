//! Values of containers that mean nothing yet, or nothing at all.

use oomscope_pickle::{Handle, Value};

/// The most values that are kept, over all loose containers: 64 MB. Those of a snapshot itself are few; this bounds
/// what other pickles can take.
const MAX_LOOSE_VALUES: usize = 4_000_000;

/// Containers whose values are kept as they are, up to a limit over all of them.
#[derive(Debug, Default, Clone)]
pub(super) struct LooseValues {
    containers: Vec<Vec<Value>>,
    /// Containers that can be used again.
    free: Vec<u32>,
    total: usize,
    /// Values beyond the limit.
    pub(super) dropped: u64,
}

impl LooseValues {
    /// Stands for every container beyond the limit: it keeps nothing.
    const FULL: u32 = Handle::LIMIT - 2;

    /// A new container. What is needed gets one beyond the limit, too.
    pub(super) fn add(&mut self, is_needed: bool) -> u32 {
        if let Some(container) = self.free.pop() {
            return container;
        }
        if MAX_LOOSE_VALUES <= self.containers.len() && !is_needed {
            return Self::FULL;
        }
        self.containers.push(Vec::new());
        self.containers.len() as u32 - 1
    }

    /// Keep more values. What is needed is kept beyond the limit, too.
    pub(super) fn extend(&mut self, container: u32, values: &[Value], is_needed: bool) {
        let is_full = MAX_LOOSE_VALUES < self.total + values.len() && !is_needed;
        match self.containers.get_mut(container as usize) {
            Some(kept) if !is_full => {
                self.total += values.len();
                kept.extend_from_slice(values);
            }
            _ => self.dropped += values.len() as u64,
        }
    }

    /// Number of values that are kept.
    pub(super) fn len(&self) -> usize {
        self.total
    }

    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.containers) + self.total * size_of::<Value>()
    }

    pub(super) fn get(&self, container: u32) -> &[Value] {
        self.containers.get(container as usize).map_or(&[], Vec::as_slice)
    }

    /// The values of a container, which is then either freed or given them back.
    pub(super) fn take(&mut self, container: u32) -> Vec<Value> {
        let values = self.containers.get_mut(container as usize).map(std::mem::take).unwrap_or_default();
        self.total -= values.len();
        values
    }

    /// Undo [`Self::take`].
    pub(super) fn put_back(&mut self, container: u32, values: Vec<Value>) {
        if let Some(kept) = self.containers.get_mut(container as usize) {
            self.total += values.len();
            *kept = values;
        }
    }

    /// Nobody refers to the container any more.
    pub(super) fn free(&mut self, container: u32) {
        if container != Self::FULL {
            self.free.push(container);
        }
    }
}
