//! Lists: a list of frames becomes a stack, a list of records a range of rows; others keep their values.

use super::builder::Builder;
use super::containers::{DictState, ListState, RecordList};
use super::later;
use oomscope_model::StackId;
use oomscope_pickle::{ErrorKind, Handle, Kind, Value, View};

impl Builder {
    /// The stack that a `frames` value holds; `None` if it holds something else.
    pub(super) fn stack(&mut self, value: Value) -> Result<Option<StackId>, ErrorKind> {
        if let View::Later(entry) = value.view() {
            return Ok(Some(later::stack(entry)));
        }
        let Some(list) = value.handle(Kind::List) else { return Ok(None) };
        self.open_stack = None;
        let container = match self.lists.get(list) {
            ListState::Fresh => return Ok(Some(StackId::EMPTY)),
            ListState::Stack(id) => return Ok(Some(id)),
            ListState::Records(_) => return Ok(None),
            // Many events may refer to the same odd list: it is looked at once.
            ListState::Loose(container) if self.not_stacks.contains(&container) => return Ok(None),
            ListState::Loose(container) => container,
        };
        let items = self.loose.take(container);
        // A list that holds itself finds itself empty.
        self.lists.set(list, ListState::Stack(StackId::EMPTY));
        if !self.collect_frames(&items)? {
            self.not_stacks.insert(container);
            self.loose.put_back(container, items);
            self.lists.set(list, ListState::Loose(container));
            return Ok(None);
        }
        self.loose.free(container);
        let id = self.stacks.intern(&self.frame_scratch);
        self.lists.set(list, ListState::Stack(id));
        Ok(Some(id))
    }

    /// Collect the frames among `items` in the scratch stack. Returns whether all items are frames.
    pub(super) fn collect_frames(&mut self, items: &[Value]) -> Result<bool, ErrorKind> {
        self.frame_scratch.clear();
        // Resolving a dict can come back here and clear the scratch: if the dict is an event with a stack of its own.
        // Then it is no frame, and this call ends.
        for &item in items {
            let state = match item.view() {
                View::Later(entry) => DictState::Frame(later::frame(entry)),
                View::Ref(Kind::Dict, dict) => self.resolve_dict(dict)?,
                // Forward traces are lists of lines rather than of frames.
                View::Ref(Kind::Str, line) => DictState::Frame(self.line_frame(Self::str_id(line))),
                _ => return Ok(false),
            };
            let DictState::Frame(id) = state else { return Ok(false) };
            self.frame_scratch.push(id);
        }
        self.limit_frames();
        Ok(true)
    }

    /// Decide by its first items what a list is.
    pub(super) fn start_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        let first = match items.first().map(|item| item.view()) {
            Some(View::Ref(Kind::Dict, dict)) => self.resolve_dict(dict)?,
            Some(View::Later(entry)) => DictState::Frame(later::frame(entry)),
            _ => DictState::Fresh,
        };
        match first {
            DictState::Frame(_) if 1 < items.len() && self.collect_frames(items)? => {
                self.become_stack(list);
                Ok(())
            }
            DictState::Record(kind, _) => {
                self.record_lists.push(RecordList::new(kind));
                let at = self.record_lists.len() as u32 - 1;
                self.lists.set(list, ListState::Records(at));
                self.push_records(at, items)
            }
            _ => {
                let container = self.loose.add(self.has_traces(items));
                self.extend_loose_list(container, items);
                self.lists.set(list, ListState::Loose(container));
                Ok(())
            }
        }
    }

    /// Keep the items of a list that is neither a stack nor records; lists of events are kept in any case.
    pub(super) fn extend_loose_list(&mut self, container: u32, items: &[Value]) {
        let is_needed = self.has_traces(items);
        self.loose.extend(container, items, is_needed);
    }

    /// Whether some items are lists of records, as in `device_traces`.
    fn has_traces(&self, items: &[Value]) -> bool {
        let mut lists = items.iter().filter_map(|item| item.handle(Kind::List));
        lists.any(|list| matches!(self.lists.get(list), ListState::Records(_)))
    }

    /// Append records to a list of records; a record of another kind is left out.
    pub(super) fn push_records(&mut self, at: u32, items: &[Value]) -> Result<(), ErrorKind> {
        let mut foreign = 0;
        let RecordList { kind, ref rows, .. } = self.record_lists[at as usize];
        let ranges = rows.len();
        for &item in items {
            let state = match item.handle(Kind::Dict) {
                Some(dict) => self.resolve_dict(dict)?,
                None => DictState::Fresh,
            };
            match state {
                DictState::Record(k, row) if k == kind => self.record_lists[at as usize].push(row),
                _ => foreign += 1,
            }
        }
        self.record_ranges += self.record_lists[at as usize].rows.len() - ranges;
        self.notes.lost("items that do not fit the list they are in", foreign);
        self.show(at, items);
        Ok(())
    }

    /// A list is changed after it was complete, which the builders of pieces may know as it was.
    pub(super) fn note_change(&mut self, list: Handle) {
        self.has_changed_shared |= self.shared.is_some_and(|shared| (list.0 as usize) < shared.lists);
    }
}
