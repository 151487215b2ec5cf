//! The tables that a snapshot is collected in while it is decoded.
//!
//! The decoder fills them through [`Sink`](oomscope_pickle::Sink) (`sink.rs`). Dicts become records as soon as they are
//! complete (`resolve.rs`, `records.rs`), lists become stacks or ranges of rows (`lists.rs`), and at the end all
//! of it becomes a snapshot (`finish.rs`).

use super::containers::{Dicts, Lists, OpenStack, RecordList};
use super::dimensions::Dimensions;
use super::extent::Extent;
use super::keys::Key;
use super::later::LaterActions;
use super::loose::LooseValues;
use super::notes::Notes;
use super::pools::PoolIds;
use super::preview::Preview;
use super::shapes::Shapes;
use super::string_keys::StringKeys;
use foldhash::HashSet;
use oomscope_model::{
    Action, ActionNames, Annotation, Block, Bytes, EventTable, FrameId, FrameTable, SegmentTable, StackId,
    StackTable, StrId, StringTable,
};
use oomscope_pickle::Handle;
use std::sync::Arc;

/// Bytes of the pickle for each event that room is made for. Denser traces were not seen: an event has at least six
/// keys with values, and a list for its stack.
const BYTES_PER_EVENT: usize = 80;

/// Events of a list after which the others can be decoded in pieces: they have shown keys, actions and most frames.
const EVENTS_BEFORE_PIECES: usize = 4096;

/// Bytes of the largest pickle that room is made for in advance. Tables of larger ones grow as they are filled.
const MAX_ROOM_BYTES: u64 = 4 << 30;

/// A block before it is known which segment it belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRow {
    /// `None` in files before torch 2.1: blocks follow one another.
    pub(super) addr: Option<u64>,
    pub(super) block: Block,
}

/// An entry of a block's `history` (torch before 2.1).
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryRow {
    pub(super) real_size: Bytes,
    pub(super) stack: StackId,
}

/// Collects a snapshot from the decoder.
#[derive(Debug, Default)]
pub struct Builder {
    // Tables of the model.
    pub(super) strings: StringTable,
    pub(super) frames: FrameTable,
    pub(super) stacks: StackTable,
    pub(super) actions: ActionNames,
    pub(super) events: EventTable,
    pub(super) segments: SegmentTable,
    pub(super) annotations: Vec<Annotation>,
    // Records that others take over.
    pub(super) blocks: Vec<BlockRow>,
    /// The segments that state other sums than those of their blocks, by row.
    pub(super) miscounted: HashSet<u32>,
    pub(super) history: Vec<HistoryRow>,
    // The pickle's containers, by their handles.
    pub(super) dicts: Dicts,
    pub(super) lists: Lists,
    pub(super) loose: LooseValues,
    pub(super) record_lists: Vec<RecordList>,
    /// Ranges of rows that all of them have, which a list takes for each item that does not follow the one before.
    pub(super) record_ranges: usize,
    pub(super) pools: PoolIds,
    pub(super) dimensions: Dimensions,
    // Answers that are looked up again.
    pub(super) keys: StringKeys,
    pub(super) shapes: Shapes,
    pub(super) action_of_string: Vec<Option<Action>>,
    /// Loose lists that hold something else than frames.
    pub(super) not_stacks: HashSet<u32>,
    /// Dicts that are being resolved, one inside the other.
    pub(super) resolving: u32,
    /// Frames of the stack that is being put together. It is kept for its room.
    pub(super) frame_scratch: Vec<FrameId>,
    /// The latest stack, if it may get more frames.
    pub(super) open_stack: Option<OpenStack>,
    // Pieces that are decoded apart.
    /// In the builder of a piece: what it knows from the fork.
    pub(super) known: Option<Extent>,
    /// In the builder of a piece: what it had when the last piece was taken from it.
    pub(super) taken: Extent,
    /// Events of a list after which the others can be decoded in pieces.
    pub(super) events_before_pieces: usize,
    /// Names of actions that are memo entries of other pieces.
    pub(super) later_actions: LaterActions,
    /// Of a piece: room for the containers of the next one.
    pub(super) spent: (Dicts, Lists),
    /// What builders of pieces know, too.
    pub(super) shared: Option<Extent>,
    /// Whether some of that was changed since.
    pub(super) has_changed_shared: bool,
    /// Oddities of the file.
    pub(super) notes: Notes,
    /// What whoever watches the load can see; none in the builder of a piece.
    pub(super) preview: Option<Arc<Preview>>,
}

impl Builder {
    /// A builder that shows how far it is, with room for what a pickle of `expected_bytes` can hold. Room that is not used
    /// costs no memory.
    pub fn new(preview: Arc<Preview>, expected_bytes: Option<u64>) -> Self {
        let mut builder =
            Self { preview: Some(preview), events_before_pieces: EVENTS_BEFORE_PIECES, ..Self::default() };
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

    /// The key that a string spells, if it is one.
    #[inline]
    pub(super) fn key(&self, string: Handle) -> Option<Key> {
        self.keys.get(string)
    }
}
