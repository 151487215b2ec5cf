//! The events of a piece become events of the whole.

use super::names::Names;
use super::rows::Rows;
use crate::builder::Builder;
use crate::containers::{DictState, ListState};
use crate::keys::RecordKind;
use crate::later;
use oomscope_model::{Action, Context, EventTable, Frame, FrameId, StackId};
use oomscope_pickle::{ErrorKind, Handle, Kind, Value};

impl Builder {
    /// Whether `list` is one of events, those on the stack included, and nothing was changed that pieces know.
    pub(super) fn takes_events(&self, list: Handle, waiting: &[Value]) -> bool {
        let is_event = |value: &Value| {
            let dict = value.handle(Kind::Dict).map(|dict| self.dicts.get(dict));
            matches!(dict, Some(DictState::Record(RecordKind::Event, _)))
        };
        let is_of_events = match self.lists.get(list) {
            ListState::Fresh => !waiting.is_empty(),
            ListState::Records(at) => self.record_lists[at as usize].kind == RecordKind::Event,
            ListState::Loose(_) | ListState::Stack(_) => false,
        };
        !self.has_changed_shared && is_of_events && waiting.iter().all(is_event)
    }

    /// Take a piece over, with its events at the end of a list that [`takes_events`](Self::takes_events).
    pub(super) fn take_events_over(
        &mut self,
        list: Handle,
        rows: &mut Rows,
        names: &mut Names,
        memo: impl Fn(u32) -> Option<Value>,
    ) -> Result<(), ErrorKind> {
        let (first, count) = (self.events.len(), rows.events.len());
        if Handle::LIMIT as usize <= first + count {
            return Err(ErrorKind::NotAlone);
        }
        let mut events = std::mem::take(&mut rows.events);
        self.take_containers_over(rows, names, &memo)
            .and_then(|()| self.rename_events(&mut events, rows, names, &memo))
            .ok_or(ErrorKind::NotAlone)?;
        self.events.append(&events);
        rows.events = events;
        self.notes.add(&rows.notes, |key| names.string(key, rows, &memo));
        if rows.appended != 0 {
            let ListState::Records(at) = self.lists.get(list) else { return Err(ErrorKind::NotAlone) };
            let appended = first as u32..first as u32 + rows.appended;
            self.record_lists[at as usize].extend(appended.clone());
            self.show_rows(at, appended);
        }
        Ok(())
    }

    /// Give frames, dicts, stacks and lists their ids, in the order in which each needs those before it.
    fn take_containers_over(
        &mut self,
        rows: &Rows,
        names: &mut Names,
        memo: &impl Fn(u32) -> Option<Value>,
    ) -> Option<()> {
        for &(frame, fx) in &rows.frames {
            let text = |id| names.string(id, rows, memo);
            let fx = fx.map_or(Some(None), |fx| names.fx(fx, rows, memo).map(Some))?;
            let Frame { file, line, name, fx: _ } = frame;
            let frame = Frame { file: text(file)?, line, name: text(name)?, fx: None };
            let id = self.frames.intern(frame, fx);
            names.frames.push(id);
        }
        let first = self.events.len() as u32;
        self.dicts.append(&rows.dicts, 0, |state| {
            Some(match state {
                DictState::Frame(id) => DictState::Frame(names.frame(id, rows)?),
                DictState::Record(kind, row) => DictState::Record(kind, first + row),
                _ => state,
            })
        })?;
        let mut frames = rows.stack_frames.iter();
        for &len in &rows.stack_lens {
            let stack = frames.by_ref().take(len).map(|&id| match later::index(id.0) {
                Some(entry) => self.frame_of(memo(entry)?),
                None => names.frame(id, rows),
            });
            let stack: Vec<FrameId> = stack.collect::<Option<_>>()?;
            let id = self.stacks.intern(&stack);
            names.stacks.push(id);
        }
        // The first list is that of the events, which are in `list`.
        self.lists.append(&rows.lists, 1, |state| {
            Some(match state {
                ListState::Stack(id) => ListState::Stack(names.stack(id, rows)?),
                _ => state,
            })
        })
    }

    fn frame_of(&self, value: Value) -> Option<FrameId> {
        match self.dicts.get(value.handle(Kind::Dict)?) {
            DictState::Frame(id) => Some(id),
            _ => None,
        }
    }

    fn rename_events(
        &mut self,
        events: &mut EventTable,
        rows: &Rows,
        names: &Names,
        memo: &impl Fn(u32) -> Option<Value>,
    ) -> Option<()> {
        events.rename_actions(|action| match action {
            Action::Other(code) if rows.known.actions <= usize::from(code) => {
                let name = names.action_name(action, rows, memo)?;
                Some(self.actions.action(name, &self.strings))
            }
            known => Some(known),
        })?;
        let lists = &self.lists;
        let stack = |id: StackId| match later::index(id.0) {
            None => names.stack(id, rows),
            Some(entry) => match lists.get(memo(entry)?.handle(Kind::List)?) {
                ListState::Stack(id) => Some(id),
                ListState::Fresh => Some(StackId::EMPTY),
                ListState::Loose(_) | ListState::Records(_) => None,
            },
        };
        events.rename_stacks(stack)?;
        events.rename_contexts(|context| {
            let text = |id: Option<_>| id.map_or(Some(None), |id| names.string(id, rows, memo).map(Some));
            // Whatever is added has to be translated here, or be the same everywhere.
            let Context {
                stream,
                pool,
                compile_context,
                user_metadata,
                internal_metadata,
                category,
                forward_stack,
            } = context;
            Some(Context {
                stream,
                pool,
                compile_context: text(compile_context)?,
                user_metadata: text(user_metadata)?,
                internal_metadata: text(internal_metadata)?,
                category: text(category)?,
                forward_stack: stack(forward_stack)?,
            })
        })
    }
}
