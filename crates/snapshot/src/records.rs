//! Records: the fields of a dict become a row of a table.

use super::builder::{BlockRow, Builder, HistoryRow};
use super::containers::{DictState, ListState};
use super::fields::{Fields, Mismatch};
use super::keys::{Key, RecordKind};
use super::pools::pool_key;
use oomscope_model::{
    Action, Annotation, Block, BlockState, Bytes, DeviceId, Event, Frame, FrameId, FxInfo, PoolKey, Segment,
    StackId, StrId,
};
use oomscope_pickle::{ErrorKind, Handle, Kind, Value, View};

/// The largest size that is taken as it is: 256 TiB, a thousand times any device, so that sums of thirty thousand of
/// them do not overflow.
const MAX_SIZE_BYTES: Bytes = Bytes(1 << 48);

impl Builder {
    /// Store the fields as a row of their kind.
    #[inline]
    pub(super) fn record(&mut self, kind: RecordKind, fields: &Fields<'_>) -> Result<DictState, ErrorKind> {
        let is_of_piece = self.known.is_some();
        if is_of_piece && !matches!(kind, RecordKind::Event | RecordKind::Frame) {
            return Err(ErrorKind::NotAlone);
        }
        let row = match kind {
            RecordKind::Event => {
                let event = self.event(fields)?;
                if is_of_piece && self.notes.has_oddities() {
                    return Err(ErrorKind::NotAlone);
                }
                self.events.push(&event);
                self.events.len()
            }
            RecordKind::Frame => return Ok(DictState::Frame(self.frame(fields))),
            RecordKind::Block => {
                let row = self.block(fields)?;
                self.blocks.push(row);
                self.blocks.len()
            }
            RecordKind::Segment => {
                let segment = self.segment(fields)?;
                self.segments.segments.push(segment);
                self.segments.segments.len()
            }
            RecordKind::History => {
                let stack = self.stack_field(fields, kind, Key::Frames)?;
                let real_size = self.size_field(fields, kind, Key::RealSize).unwrap_or_default();
                self.history.push(HistoryRow { real_size, stack });
                self.history.len()
            }
            RecordKind::Annotation => {
                let annotation = self.annotation(fields);
                self.annotations.push(annotation);
                self.annotations.len()
            }
        };
        u32::try_from(row)
            .ok()
            .filter(|&row| row <= Handle::LIMIT)
            .map(|row| DictState::Record(kind, row - 1))
            .ok_or(ErrorKind::Limit { what: "records", limit: u64::from(Handle::LIMIT) })
    }

    fn event(&mut self, fields: &Fields<'_>) -> Result<Event, ErrorKind> {
        let kind = RecordKind::Event;
        let stack = self.stack_field(fields, kind, Key::Frames)?;
        let event = Event {
            action: self.action(fields),
            addr: self.checked(kind, fields.address(Key::Addr)),
            size: self.size_field(fields, kind, Key::Size).unwrap_or_default(),
            time_us: self.checked(kind, fields.int(Key::TimeUs)),
            stream: self.stream_field(fields, kind),
            stack,
            pool: self.pool_field(fields, kind, Key::PoolId),
            compile_context: None,
            user_metadata: None,
            internal_metadata: None,
            category: None,
            forward_stack: StackId::EMPTY,
            device_free: None,
        };
        if fields.is_labelled { self.labels(fields, event) } else { Ok(event) }
    }

    /// Add the fields that few recordings have.
    fn labels(&mut self, fields: &Fields<'_>, event: Event) -> Result<Event, ErrorKind> {
        let kind = RecordKind::Event;
        Ok(Event {
            compile_context: self.str_field(fields, kind, Key::CompileContext),
            user_metadata: self.str_field(fields, kind, Key::UserMetadata),
            internal_metadata: self.str_field(fields, kind, Key::InternalMetadata),
            category: self.str_field(fields, kind, Key::Category),
            forward_stack: self.stack_field(fields, kind, Key::ForwardFrames)?,
            device_free: self.size_field(fields, kind, Key::DeviceFree),
            ..event
        })
    }

    /// The action, looked up once per spelling.
    fn action(&mut self, fields: &Fields<'_>) -> Action {
        let name = fields.get(Key::Action);
        if let Some(View::Later(entry)) = name.map(Value::view)
            && let Some(action) = self.later_actions.action(entry)
        {
            return action;
        }
        let Some(name) = name.and_then(|value| value.handle(Kind::Str)) else {
            self.notes.mismatch(RecordKind::Event, Key::Action);
            let unnamed = self.empty_string();
            return self.actions.action(unnamed, &self.strings);
        };
        let i = name.0 as usize;
        if let Some(&Some(action)) = self.action_of_string.get(i) {
            return action;
        }
        let action = self.actions.action(Self::str_id(name), &self.strings);
        if self.action_of_string.len() <= i {
            self.action_of_string.resize(i + 1, None);
        }
        self.action_of_string[i] = Some(action);
        action
    }

    fn frame(&mut self, fields: &Fields<'_>) -> FrameId {
        let kind = RecordKind::Frame;
        let unnamed = |builder: &mut Self, key| {
            builder.str_field(fields, kind, key).unwrap_or_else(|| builder.empty_string())
        };
        let fx = [Key::FxNodeOp, Key::FxNodeName, Key::FxNodeTarget, Key::FxOriginalTrace]
            .map(|key| self.str_field(fields, kind, key));
        let [op, name, target, trace] = fx;
        let fx = fx.iter().any(Option::is_some).then_some(FxInfo { op, name, target, trace });
        let frame = Frame {
            file: unnamed(self, Key::Filename),
            line: self.checked(kind, fields.int(Key::Line)).unwrap_or(0),
            name: unnamed(self, Key::Name),
            fx: None,
        };
        self.frames.intern(frame, fx)
    }

    /// A frame that is only a line of text.
    pub(super) fn line_frame(&mut self, line: StrId) -> FrameId {
        let file = self.empty_string();
        self.frames.intern(Frame { file, line: 0, name: line, fx: None }, None)
    }

    fn block(&mut self, fields: &Fields<'_>) -> Result<BlockRow, ErrorKind> {
        let kind = RecordKind::Block;
        let history = self.first_history(fields);
        let size = self.size_field(fields, kind, Key::Size).unwrap_or_default();
        let requested = match history {
            Some(entry) => entry.real_size,
            None => self.size_field(fields, kind, Key::RequestedSize).unwrap_or(size),
        };
        let stack = match (fields.get(Key::Frames), history) {
            (None, Some(entry)) => entry.stack,
            _ => self.stack_field(fields, kind, Key::Frames)?,
        };
        let addr = self.checked(kind, fields.address(Key::Address));
        let state = self.str_field(fields, kind, Key::State);
        let state = match state.map(|id| self.strings.name_bytes(id)) {
            Some(b"active_allocated") => BlockState::Allocated,
            Some(b"active_awaiting_free" | b"active_pending_free") => BlockState::AwaitingFree,
            Some(b"inactive") => BlockState::Inactive,
            _ => {
                self.notes.lost("blocks in a state that is not known, counted as inactive", 1);
                BlockState::Inactive
            }
        };
        Ok(BlockRow { addr, block: Block { addr: 0, size, requested, state, stack } })
    }

    /// The latest entry of a legacy block's history.
    fn first_history(&mut self, fields: &Fields<'_>) -> Option<HistoryRow> {
        let records = match self.lists.get(fields.list(Key::History)?) {
            ListState::Records(at) => Some(&self.record_lists[at as usize]),
            ListState::Fresh => return None,
            ListState::Loose(_) | ListState::Stack(_) => None,
        };
        let first =
            records.filter(|list| list.kind == RecordKind::History).and_then(|list| list.iter().next());
        if first.is_none() {
            self.notes.mismatch(RecordKind::Block, Key::History);
        }
        first.map(|first| self.history[first as usize])
    }

    fn segment(&mut self, fields: &Fields<'_>) -> Result<Segment, ErrorKind> {
        let kind = RecordKind::Segment;
        let stack = self.stack_field(fields, kind, Key::Frames)?;
        let addr = self.checked(kind, fields.address(Key::Address)).unwrap_or(0);
        let start = self.segments.blocks.len();
        self.adopt_blocks(fields, addr);
        if !self.has_stated_sums(fields, start) {
            self.miscounted.insert(self.segments.segments.len() as u32);
        }
        Ok(Segment {
            device: DeviceId(self.checked(kind, fields.int(Key::Device)).unwrap_or(0)),
            addr,
            size: self.size_field(fields, kind, Key::TotalSize).unwrap_or_default(),
            stream: self.stream_field(fields, kind),
            pool: self.pool_field(fields, kind, Key::SegmentPoolId),
            kind: self.str_field(fields, kind, Key::SegmentType),
            is_expandable: fields.get(Key::IsExpandable).map(Value::view) == Some(View::Bool(true)),
            stack,
            blocks: start..self.segments.blocks.len(),
        })
    }

    /// Give the blocks of the current segment their addresses and places.
    fn adopt_blocks(&mut self, fields: &Fields<'_>, segment_addr: u64) {
        let list = fields.list(Key::Blocks);
        let rows = match list.map(|list| self.lists.get(list)) {
            Some(ListState::Fresh) => return,
            Some(ListState::Records(at)) => Some(&self.record_lists[at as usize]),
            _ => None,
        };
        let Some(rows) = rows.filter(|rows| rows.kind == RecordKind::Block) else {
            return self.notes.mismatch(RecordKind::Segment, Key::Blocks);
        };
        // Segments that share a list of blocks would multiply them.
        if 2 * self.blocks.len() < self.segments.blocks.len() + rows.len() {
            return self.notes.lost("segments whose blocks are those of other segments", 1);
        }
        let mut next = segment_addr;
        for row in rows.iter() {
            let BlockRow { addr, block } = self.blocks[row as usize];
            let addr = addr.unwrap_or(next);
            next = addr.saturating_add(block.size.unsigned_abs());
            self.segments.blocks.push(Block { addr, ..block });
        }
    }

    /// Whether the sums that a segment states are those of its blocks, from `start` on.
    fn has_stated_sums(&self, fields: &Fields<'_>, start: usize) -> bool {
        let blocks = &self.segments.blocks[start..];
        let sum = |keep: fn(&Block) -> bool, bytes: fn(&Block) -> Bytes| {
            blocks.iter().filter(|block| keep(block)).map(bytes).sum::<Bytes>()
        };
        let is_allocated = |block: &Block| block.state == BlockState::Allocated;
        // torch counts what pinned memory of the host was requested for also while it is cached.
        let is_host = fields.int(Key::Device).ok().flatten() == Some(DeviceId::HOST.0);
        let is_requested = if is_host { |_: &Block| true } else { Block::is_active };
        let sums = [
            (Key::AllocatedSize, sum(is_allocated, |block| block.size)),
            (Key::ActiveSize, sum(Block::is_active, |block| block.size)),
            (Key::RequestedSize, sum(is_requested, |block| block.requested)),
        ];
        let is_stated =
            |(key, sum): (Key, Bytes)| fields.int(key).ok().flatten().is_none_or(|stated| stated == sum);
        sums.into_iter().all(is_stated)
    }

    fn annotation(&mut self, fields: &Fields<'_>) -> Annotation {
        let kind = RecordKind::Annotation;
        let stage = self.str_field(fields, kind, Key::Stage);
        let name = self.str_field(fields, kind, Key::Name);
        Annotation {
            is_start: stage.is_some_and(|id| self.strings.is(id, b"START")),
            name: name.unwrap_or_else(|| self.empty_string()),
            device: self.checked(kind, fields.int(Key::Device)).map(DeviceId),
            time_us: self.checked(kind, fields.int(Key::TimeUs)),
        }
    }

    fn empty_string(&mut self) -> StrId {
        // Through the sink's own method, which keeps the table of keys in step.
        oomscope_pickle::Sink::string(self, b"").map_or(StrId(0), Self::str_id)
    }

    #[inline]
    fn stack_field(&mut self, fields: &Fields<'_>, kind: RecordKind, key: Key) -> Result<StackId, ErrorKind> {
        let Some(value) = fields.get(key) else { return Ok(StackId::EMPTY) };
        let stack = match fields.list(key).map(|list| self.lists.get(list)) {
            Some(ListState::Stack(id)) => {
                self.open_stack = None;
                Some(id)
            }
            _ => self.stack(value)?,
        };
        Ok(stack.unwrap_or_else(|| {
            self.notes.mismatch(kind, key);
            StackId::EMPTY
        }))
    }

    /// A size in bytes, from 0 to [`MAX_SIZE_BYTES`].
    #[inline]
    fn size_field(&mut self, fields: &Fields<'_>, kind: RecordKind, key: Key) -> Option<Bytes> {
        let size = Bytes(self.checked(kind, fields.int(key))?);
        if (Bytes::ZERO..=MAX_SIZE_BYTES).contains(&size) {
            Some(size)
        } else {
            self.notes.lost("sizes below zero or above 256 TiB, counted as zero", 1);
            Some(Bytes::ZERO)
        }
    }

    /// A stream: its number, or the address of its handle.
    #[inline]
    fn stream_field(&mut self, fields: &Fields<'_>, kind: RecordKind) -> Option<i64> {
        self.checked(kind, fields.address(Key::Stream)).map(u64::cast_signed)
    }

    #[inline]
    fn str_field(&mut self, fields: &Fields<'_>, kind: RecordKind, key: Key) -> Option<StrId> {
        self.checked(kind, fields.str(key)).map(Self::str_id)
    }

    #[inline]
    fn pool_field(&mut self, fields: &Fields<'_>, kind: RecordKind, key: Key) -> Option<PoolKey> {
        let pool = match fields.get(key)?.view() {
            View::Ref(Kind::Tuple, tuple) => self.pools.get(tuple),
            View::Ref(Kind::List, list) => match self.lists.get(list) {
                ListState::Loose(container) => pool_key(self.loose.get(container)),
                _ => None,
            },
            _ => None,
        };
        if pool.is_none() {
            self.notes.mismatch(kind, key);
        }
        pool
    }

    #[inline]
    fn checked<T>(&mut self, kind: RecordKind, field: Result<Option<T>, Mismatch>) -> Option<T> {
        field.unwrap_or_else(|Mismatch(key)| {
            self.notes.mismatch(kind, key);
            None
        })
    }
}
