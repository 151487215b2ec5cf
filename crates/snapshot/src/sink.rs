//! The decoder's end of the builder: each value goes to the part that understands it.

use super::builder::Builder;
use super::containers::{DictState, ListState};
use super::pools::OTHER_TUPLE;
use super::shapes::Shapes;
use oomscope_model::StackId;
use oomscope_pickle::{ErrorKind, Handle, Kind, Sink, SinkMark, Value, View};

/// The most bytes of distinct text that are kept: far more than paths and names of any program.
const MAX_TEXT_BYTES: usize = 1 << 30;

impl Sink for Builder {
    fn string(&mut self, text: &[u8]) -> Result<Handle, ErrorKind> {
        let (id, is_new) = self.strings.intern(text);
        if is_new {
            if MAX_TEXT_BYTES < self.strings.text_bytes() {
                return Err(ErrorKind::Limit {
                    what: "bytes of distinct text",
                    limit: MAX_TEXT_BYTES as u64,
                });
            }
            self.keys.push(text);
        }
        debug_assert_eq!(self.keys.len(), self.strings.len(), "every string is interned here");
        Ok(Handle(id.0))
    }

    fn bytes(&mut self, _bytes: &[u8]) -> Result<Handle, ErrorKind> {
        self.notes.skipped("bytes objects, which snapshots do not have", 1);
        Ok(Handle(0))
    }

    #[inline]
    fn list(&mut self) -> Result<Handle, ErrorKind> {
        handle(self.lists.add())
    }

    #[inline]
    fn dict(&mut self) -> Result<Handle, ErrorKind> {
        handle(self.dicts.add())
    }

    fn set(&mut self) -> Result<Handle, ErrorKind> {
        self.notes.skipped("sets, which snapshots do not have", 1);
        Ok(Handle(0))
    }

    fn tuple(&mut self, items: &[Value]) -> Result<Handle, ErrorKind> {
        let pool = self.pools.add(items);
        if pool == OTHER_TUPLE { Ok(self.dimensions.add(items).unwrap_or(pool)) } else { Ok(pool) }
    }

    fn extend_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        if items.is_empty() {
            return Ok(());
        }
        if self.is_known_list(list) {
            return Err(ErrorKind::NotAlone);
        }
        match self.lists.get(list) {
            ListState::Fresh => self.start_list(list, items),
            ListState::Records(at) => self.push_records(at, items),
            ListState::Stack(id) => self.grow_stack(list, id, items),
            ListState::Loose(container) => {
                self.note_change(list);
                self.extend_loose_list(container, items);
                Ok(())
            }
        }
    }

    #[inline]
    fn update_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
        debug_assert!(pairs.len().is_multiple_of(2), "keys alternate with values");
        if self.has_later_key(pairs) || self.is_known_dict(dict) {
            return Err(ErrorKind::NotAlone);
        }
        let state = self.dicts.get(dict);
        // A single pair may be one of many that come one by one, as protocol 0 writes them.
        if state == DictState::Fresh
            && 2 < pairs.len()
            && let Some(record) = self.build_record(pairs)?
        {
            self.dicts.set(dict, record);
            return Ok(());
        }
        match state {
            DictState::Fresh => {
                let container = self.loose.add(self.has_root_key(pairs));
                self.extend_loose_dict(container, pairs);
                self.dicts.set(dict, DictState::Loose(container));
            }
            DictState::Loose(container) => self.extend_loose_dict(container, pairs),
            DictState::Frame(_) | DictState::Record(..) => {
                self.notes.lost("keys set on a record that was complete", pairs.len() as u64 / 2);
            }
        }
        Ok(())
    }

    fn shape(&mut self, keys: &[Value]) -> Option<u32> {
        if self.known.is_some() && keys.iter().any(|key| matches!(key.view(), View::Later(_))) {
            return None;
        }
        let pairs: Vec<Value> = keys.iter().flat_map(|&key| [key, Value::NONE]).collect();
        let index = self.shapes.of(&pairs, &self.keys);
        let is_record = self.shapes.get(index).kind.is_some();
        (Shapes::is_lasting(index) && is_record).then_some(index as u32)
    }

    fn update_dict_shaped(&mut self, dict: Handle, shape: u32, values: &[Value]) -> Result<(), ErrorKind> {
        debug_assert_eq!(self.dicts.get(dict), DictState::Fresh, "only new dicts are filled by shape");
        let known = self.shapes.get(shape as usize);
        let Some(kind) = known.kind else { return Ok(()) };
        let (fields, is_plain) = (known.fields_of_values(values), known.is_plain());
        let record = self.record(kind, &fields)?;
        if !is_plain {
            self.note_keys(shape as usize, kind);
        }
        self.dicts.set(dict, record);
        Ok(())
    }

    fn extend_set(&mut self, _set: Handle, _items: &[Value]) -> Result<(), ErrorKind> {
        Ok(())
    }

    #[inline]
    fn place(&self) -> SinkMark {
        [self.dicts.len() as u64, self.lists.len() as u64, self.events.len() as u64, self.notes.total()]
    }

    fn held_bytes(&self) -> usize {
        self.tables_bytes()
    }

    fn list_contents(&self, list: Handle) -> Option<u32> {
        match self.lists.get(list) {
            // It may get more frames, so that its first bytes do not say what it is.
            ListState::Stack(_) if self.open_stack.is_some_and(|open| open.is_of(list)) => None,
            ListState::Stack(id) => Some(id.0),
            _ => None,
        }
    }

    #[inline]
    fn repeat_list(&mut self, contents: u32) -> Result<Handle, ErrorKind> {
        let list = self.list()?;
        self.lists.set(list, ListState::Stack(StackId(contents)));
        Ok(list)
    }

    fn interrupted_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        // Only the last item can be incomplete: a dict that is still being filled describes no record yet.
        let is_open = |dict| matches!(self.dicts.get(dict), DictState::Fresh | DictState::Loose(_));
        let whole = match items {
            [rest @ .., last] if last.handle(Kind::Dict).is_some_and(is_open) => rest,
            all => all,
        };
        self.extend_list(list, whole)?;
        if let ListState::Records(at) = self.lists.get(list) {
            self.record_lists[at as usize].is_interrupted = true;
        }
        Ok(())
    }

    fn interrupted_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
        // A record with missing fields would give wrong figures. The snapshot's own dict is used as far as it goes.
        if self.has_root_key(pairs) { self.update_dict(dict, pairs) } else { Ok(()) }
    }
}

/// In the builder of a piece, the containers from before the fork stay as they are, and keys must be known.
impl Builder {
    #[inline]
    fn is_known_list(&self, list: Handle) -> bool {
        self.known.is_some_and(|known| (list.0 as usize) < known.lists)
    }

    #[inline]
    fn is_known_dict(&self, dict: Handle) -> bool {
        self.known.is_some_and(|known| (dict.0 as usize) < known.dicts)
    }

    #[inline]
    fn has_later_key(&self, pairs: &[Value]) -> bool {
        self.known.is_some() && pairs.iter().step_by(2).any(|key| matches!(key.view(), View::Later(_)))
    }
}

/// The handle of a container, if the memo can hold it. The topmost handle stands for tuples without meaning.
#[inline]
fn handle(id: u32) -> Result<Handle, ErrorKind> {
    if id < Handle::LIMIT - 1 {
        Ok(Handle(id))
    } else {
        Err(ErrorKind::Limit { what: "containers", limit: u64::from(Handle::LIMIT) })
    }
}
