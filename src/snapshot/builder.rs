//! The sink that the decoder fills: rows for records, small states for everything else.

use super::containers::{DictState, Dicts, ListState, Lists, LooseValues, RecordList};
use super::fields::Shape;
use super::keys::{Key, RecordKind};
use super::notes::Notes;
use super::records::pool_key;
use crate::model::{
    Action, ActionNames, Annotation, EventTable, FrameId, FrameTable, PoolKey, SegmentTable, StackId,
    StackTable, StrId, StringTable,
};
use crate::pickle::{ErrorKind, Handle, Kind, Sink, Value, View};
use foldhash::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of distinct text that are kept.
const MAX_TEXT_BYTES: usize = 1 << 30;

/// The deepest stack that is kept, in frames.
const MAX_STACK_FRAMES: usize = 1 << 16;

/// Lists are written in batches of this many items by Python's pickler.
const BATCH_ITEMS: usize = 1000;

/// Traces have at most one event in this many bytes.
const BYTES_PER_EVENT: usize = 80;

/// Size of the largest pickle that room is made for in advance.
const MAX_ROOM_BYTES: u64 = 4 << 30;

/// Shapes of dicts that are remembered.
const MAX_SHAPES: usize = 64;

/// How deep records that came pair by pair may lie inside each other. Events hold stacks, stacks
/// hold frames, and that is all.
const MAX_RESOLVING: u32 = 8;

/// In [`Builder::key_of_string`]: a string that is no key.
const NO_KEY: u8 = u8::MAX;

/// The handle of every tuple that is no pool's id.
const OTHER_TUPLE: Handle = Handle(Handle::LIMIT - 1);

/// A block before it is known which segment it belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRow {
    /// `None` in files before torch 2.1: blocks follow one another.
    pub(super) addr: Option<u64>,
    pub(super) block: crate::model::Block,
}

/// An entry of a block's `history` (torch before 2.1).
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryRow {
    pub(super) real_size: i64,
    pub(super) stack: StackId,
}

/// Collects a snapshot from the decoder.
#[derive(Debug, Default)]
pub struct Builder {
    pub(super) strings: StringTable,
    pub(super) frames: FrameTable,
    pub(super) stacks: StackTable,
    pub(super) actions: ActionNames,
    pub(super) events: EventTable,
    pub(super) blocks: Vec<BlockRow>,
    pub(super) history: Vec<HistoryRow>,
    pub(super) segments: SegmentTable,
    pub(super) annotations: Vec<Annotation>,
    pub(super) dicts: Dicts,
    pub(super) lists: Lists,
    pub(super) loose: LooseValues,
    pub(super) record_lists: Vec<RecordList>,
    /// Tuples of two ints: the ids of pools.
    pub(super) tuples: Vec<PoolKey>,
    pub(super) notes: Notes,
    pub(super) action_of_string: Vec<Option<Action>>,
    /// The key that each string spells, or [`NO_KEY`].
    key_of_string: Vec<u8>,
    shapes: Vec<Shape>,
    latest_shape: usize,
    /// Loose lists that hold something else than frames.
    not_stacks: HashSet<u32>,
    /// Dicts that are being resolved, one inside the other.
    resolving: u32,
    pool_tuples: HashMap<PoolKey, Handle>,
    last_pool: Option<(PoolKey, Handle)>,
    frame_scratch: Vec<FrameId>,
    progress: Option<Arc<AtomicU64>>,
}

impl Builder {
    /// A builder that reports the number of events read so far, with room for what a pickle of
    /// `expected_bytes` can hold. Room that is not used costs no memory.
    pub fn new(events: Arc<AtomicU64>, expected_bytes: Option<u64>) -> Self {
        let mut builder = Self { progress: Some(events), ..Self::default() };
        let bytes = expected_bytes.unwrap_or(0).min(MAX_ROOM_BYTES) as usize;
        builder.events.reserve(bytes / BYTES_PER_EVENT);
        builder.dicts.reserve(bytes / BYTES_PER_EVENT);
        builder.lists.reserve(bytes / BYTES_PER_EVENT);
        builder
    }

    /// The string of a handle that the decoder was given for one.
    #[inline]
    pub(super) fn str_id(handle: Handle) -> StrId {
        StrId(handle.0)
    }

    #[inline]
    pub(super) fn key(&self, handle: Handle) -> Option<Key> {
        match self.key_of_string[handle.0 as usize] {
            NO_KEY => None,
            index => Some(Key::from_index(usize::from(index))),
        }
    }

    /// Turn pairs into the record that they describe, if they describe one.
    #[inline]
    fn build_record(&mut self, pairs: &[Value]) -> Result<Option<DictState>, ErrorKind> {
        if !self.shapes.get(self.latest_shape).is_some_and(|shape| shape.fits(pairs)) {
            self.find_shape(pairs);
        }
        let Some(shape) = self.shapes.get(self.latest_shape) else { return Ok(None) };
        let Some(kind) = shape.kind else { return Ok(None) };
        let fields = shape.fields(pairs);
        if !shape.is_plain() {
            self.note_keys(self.latest_shape, kind);
        }
        self.record(kind, &fields).map(Some)
    }

    /// Count the keys of a shape that its kind of record does not have.
    #[cold]
    fn note_keys(&mut self, shape: usize, kind: RecordKind) {
        let shape = &self.shapes[shape];
        shape.misplaced.iter().for_each(|&key| self.notes.misplaced_key(kind, key));
        shape.unknown.iter().for_each(|&key| self.notes.unknown_key(kind.name(), key));
    }

    /// Make the shape of a dict the latest one.
    fn find_shape(&mut self, pairs: &[Value]) {
        if let Some(known) = self.shapes.iter().position(|shape| shape.fits(pairs)) {
            self.latest_shape = known;
            return;
        }
        let shape = Shape::new(pairs, |name| self.key(name));
        if self.shapes.len() < MAX_SHAPES {
            self.latest_shape = self.shapes.len();
            self.shapes.push(shape);
        } else {
            // A file with this many shapes is odd; the last place serves all others.
            self.latest_shape = MAX_SHAPES - 1;
            self.shapes[MAX_SHAPES - 1] = shape;
        }
    }

    /// Decide what a dict is now that something uses it, if its pairs came one by one.
    pub(super) fn resolve_dict(&mut self, dict: Handle) -> Result<DictState, ErrorKind> {
        let state = self.dicts.get(dict);
        let DictState::Loose(container) = state else { return Ok(state) };
        // Large dicts are no records; looking at one again and again would take forever.
        if MAX_RESOLVING <= self.resolving || 2 * Shape::MAX_PAIRS < self.loose.get(container).len() {
            return Ok(state);
        }
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
        Ok(state)
    }

    /// The stack that a `frames` value holds. `Err` if it is something else.
    pub(super) fn stack(&mut self, value: Value) -> Result<Result<StackId, ()>, ErrorKind> {
        let Some(list) = value.handle(Kind::List) else { return Ok(Err(())) };
        match self.lists.get(list) {
            ListState::Fresh => Ok(Ok(StackId::EMPTY)),
            ListState::Stack(id) => Ok(Ok(id)),
            ListState::Records(_) => Ok(Err(())),
            ListState::Loose(container) if self.not_stacks.contains(&container) => Ok(Err(())),
            ListState::Loose(container) => {
                let items = self.loose.take(container);
                // A list that holds itself finds itself empty.
                self.lists.set(list, ListState::Stack(StackId::EMPTY));
                if !self.collect_frames(&items)? {
                    self.not_stacks.insert(container);
                    self.loose.put_back(container, items);
                    self.lists.set(list, ListState::Loose(container));
                    return Ok(Err(()));
                }
                self.loose.free(container);
                let id = self.stacks.intern(&self.frame_scratch);
                self.lists.set(list, ListState::Stack(id));
                Ok(Ok(id))
            }
        }
    }

    /// Put the frames that `items` are into the scratch stack. Returns whether all of them are.
    fn collect_frames(&mut self, items: &[Value]) -> Result<bool, ErrorKind> {
        self.frame_scratch.clear();
        for &item in items {
            let state = match item.view() {
                View::Ref(Kind::Dict, dict) => self.resolve_dict(dict)?,
                // Forward traces are lists of lines rather than of frames.
                View::Ref(Kind::Str, line) => DictState::Frame(self.line_frame(Self::str_id(line))),
                _ => return Ok(false),
            };
            let DictState::Frame(id) = state else { return Ok(false) };
            self.frame_scratch.push(id);
        }
        if MAX_STACK_FRAMES < self.frame_scratch.len() {
            self.notes.skipped(
                "frames beyond the 65536th of a stack",
                (self.frame_scratch.len() - MAX_STACK_FRAMES) as u64,
            );
            self.frame_scratch.truncate(MAX_STACK_FRAMES);
        }
        Ok(true)
    }

    /// First items of a list.
    fn start_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        let first = match items.first().and_then(|item| item.handle(Kind::Dict)) {
            Some(dict) => self.resolve_dict(dict)?,
            None => DictState::Fresh,
        };
        match first {
            DictState::Frame(_) if 1 < items.len() && self.collect_frames(items)? => {
                let id = self.stacks.intern(&self.frame_scratch);
                self.lists.set(list, ListState::Stack(id));
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

    /// Keep the items of a list; lists of events are kept in any case.
    fn extend_loose_list(&mut self, container: u32, items: &[Value]) {
        let is_needed = self.has_traces(items);
        self.loose.extend(container, items, is_needed);
    }

    /// Whether some items are lists of records.
    fn has_traces(&self, items: &[Value]) -> bool {
        let mut lists = items.iter().filter_map(|item| item.handle(Kind::List));
        lists.any(|list| matches!(self.lists.get(list), ListState::Records(_)))
    }

    /// Keep the pairs of a dict; those of the snapshot itself are kept in any case.
    fn extend_loose_dict(&mut self, container: u32, pairs: &[Value]) {
        let is_needed = self.has_root_key(pairs);
        self.loose.extend(container, pairs, is_needed);
    }

    /// Whether a dict with these pairs is the snapshot itself, or a part of it.
    fn has_root_key(&self, pairs: &[Value]) -> bool {
        let mut keys = pairs.iter().step_by(2).filter_map(|key| self.key(key.handle(Kind::Str)?));
        keys.any(Key::is_of_snapshot)
    }

    fn push_records(&mut self, at: u32, items: &[Value]) -> Result<(), ErrorKind> {
        let mut foreign = 0;
        let kind = self.record_lists[at as usize].kind;
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
        self.notes.skipped("items that do not fit the list they are in", foreign);
        if let (RecordKind::Event, Some(progress)) = (kind, &self.progress) {
            progress.store(self.events.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// More frames for a list that was taken for complete: stacks of over a thousand frames come in
    /// batches.
    fn grow_stack(&mut self, list: Handle, id: StackId, items: &[Value]) -> Result<(), ErrorKind> {
        let before = self.stacks.frames(id).to_vec();
        let is_batch = before.len().is_multiple_of(BATCH_ITEMS) && before.len() < MAX_STACK_FRAMES;
        if !is_batch || !self.collect_frames(items)? {
            self.notes.skipped("frames added to a stack that was complete", items.len() as u64);
            return Ok(());
        }
        let all = [before, std::mem::take(&mut self.frame_scratch)].concat();
        let id = self.stacks.intern(&all);
        self.lists.set(list, ListState::Stack(id));
        Ok(())
    }
}

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
            self.key_of_string.push(Key::parse(text).map_or(NO_KEY, |key| key as u8));
        }
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
        let Some(pool) = pool_key(items) else { return Ok(OTHER_TUPLE) };
        if let Some((last, handle)) = self.last_pool
            && last == pool
        {
            return Ok(handle);
        }
        let tuples = &mut self.tuples;
        let handle = *self.pool_tuples.entry(pool).or_insert_with(|| {
            tuples.push(pool);
            Handle(tuples.len() as u32 - 1)
        });
        self.last_pool = Some((pool, handle));
        Ok(handle)
    }

    fn extend_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        if items.is_empty() {
            return Ok(());
        }
        match self.lists.get(list) {
            ListState::Fresh => self.start_list(list, items),
            ListState::Records(at) => self.push_records(at, items),
            ListState::Stack(id) => self.grow_stack(list, id, items),
            ListState::Loose(container) => {
                self.extend_loose_list(container, items);
                Ok(())
            }
        }
    }

    #[inline]
    fn update_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
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
                self.notes.skipped("keys set on a record that was complete", pairs.len() as u64 / 2);
            }
        }
        Ok(())
    }

    fn shape(&mut self, keys: &[Value]) -> Option<u32> {
        let pairs: Vec<Value> = keys.iter().flat_map(|&key| [key, Value::NONE]).collect();
        self.find_shape(&pairs);
        let is_lasting = self.latest_shape + 1 < MAX_SHAPES;
        let is_record = self.shapes.get(self.latest_shape).is_some_and(|shape| shape.kind.is_some());
        (is_lasting && is_record).then_some(self.latest_shape as u32)
    }

    fn update_dict_shaped(&mut self, dict: Handle, shape: u32, values: &[Value]) -> Result<(), ErrorKind> {
        let known = &self.shapes[shape as usize];
        let Some(kind) = known.kind else { return Ok(()) };
        let fields = known.fields_of_values(values);
        if !known.is_plain() {
            self.note_keys(shape as usize, kind);
        }
        let record = self.record(kind, &fields)?;
        self.dicts.set(dict, record);
        Ok(())
    }

    fn extend_set(&mut self, _set: Handle, _items: &[Value]) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        self.tables_bytes()
    }

    fn list_contents(&self, list: Handle) -> Option<u32> {
        match self.lists.get(list) {
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
        // What is not whole has no meaning yet, and is last.
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
        // Part of a record is no record; of the snapshot itself, every part is welcome.
        if self.has_root_key(pairs) { self.update_dict(dict, pairs) } else { Ok(()) }
    }
}

/// Handles that the memo can hold.
#[inline]
fn handle(id: u32) -> Result<Handle, ErrorKind> {
    if id < Handle::LIMIT - 1 {
        Ok(Handle(id))
    } else {
        Err(ErrorKind::Limit { what: "containers", limit: u64::from(Handle::LIMIT) })
    }
}
