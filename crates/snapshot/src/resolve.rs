//! Dicts: once its pairs are known, a dict becomes the record that its keys describe.

use super::builder::Builder;
use super::containers::DictState;
use super::fields::Shape;
use super::keys::{Key, RecordKind};
use oomscope_pickle::{ErrorKind, Handle, Kind, Value};

/// How deep dicts that came pair by pair may be resolved inside each other. Events hold stacks and stacks hold frames,
/// which is two; deeper nesting is made to exhaust the call stack.
const MAX_RESOLVING: u32 = 8;

impl Builder {
    /// Turn pairs into the record that they describe, if they describe one.
    #[inline]
    pub(super) fn build_record(&mut self, pairs: &[Value]) -> Result<Option<DictState>, ErrorKind> {
        let index = self.shapes.of(pairs, &self.keys);
        let shape = self.shapes.get(index);
        let Some(kind) = shape.kind else { return Ok(None) };
        let fields = shape.fields(pairs);
        let is_plain = shape.is_plain();
        let record = self.record(kind, &fields)?;
        if !is_plain {
            self.note_keys(index, kind);
        }
        Ok(Some(record))
    }

    /// Count the keys of a shape that its kind of record does not have.
    #[cold]
    pub(super) fn note_keys(&mut self, shape: usize, kind: RecordKind) {
        let shape = self.shapes.get(shape);
        shape.misplaced.iter().for_each(|&key| self.notes.misplaced_key(kind, key));
        shape.unknown.iter().for_each(|&key| self.notes.unknown_key(kind.name(), key));
    }

    /// Decide what a dict is now that something uses it, if its pairs came one by one.
    #[inline]
    pub(super) fn resolve_dict(&mut self, dict: Handle) -> Result<DictState, ErrorKind> {
        match self.dicts.get(dict) {
            DictState::Loose(container) => self.resolve_loose(dict, container),
            state => Ok(state),
        }
    }

    fn resolve_loose(&mut self, dict: Handle, container: u32) -> Result<DictState, ErrorKind> {
        let loose = DictState::Loose(container);
        // Large dicts are no records; looking at one again and again would take forever.
        if MAX_RESOLVING <= self.resolving || 2 * Shape::MAX_PAIRS < self.loose.get(container).len() {
            return Ok(loose);
        }
        // While the pairs are away, a dict that holds itself finds itself empty.
        let pairs = self.loose.take(container);
        self.resolving += 1;
        let record = self.build_record(&pairs);
        self.resolving -= 1;
        if let Some(state) = record? {
            self.loose.free(container);
            self.dicts.set(dict, state);
            return Ok(state);
        }
        self.loose.put_back(container, pairs);
        Ok(loose)
    }

    /// Keep the pairs of a dict; those of the snapshot itself are kept in any case.
    pub(super) fn extend_loose_dict(&mut self, container: u32, pairs: &[Value]) {
        let is_needed = self.has_root_key(pairs);
        self.loose.extend(container, pairs, is_needed);
    }

    /// Whether pairs belong to the dict of the snapshot itself.
    pub(super) fn has_root_key(&self, pairs: &[Value]) -> bool {
        let mut keys = pairs.iter().step_by(2).filter_map(|key| self.key(key.handle(Kind::Str)?));
        keys.any(Key::is_of_snapshot)
    }
}
