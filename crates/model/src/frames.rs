//! Stack frames.

use super::{FrameId, StrId};
use foldhash::HashMap;

/// One frame of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The source file, or the library of a C++ frame.
    pub file: StrId,
    /// The line, from 1; 0 if it is unknown.
    pub line: i64,
    /// The function.
    pub name: StrId,
    /// Details of code that `torch.compile` generated: an index into the table's
    /// [`fx`](FrameTable::fx) records.
    pub fx: Option<u32>,
}

/// Fields that torch adds to frames in FX-generated code (`augment_with_fx_traces=True`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FxInfo {
    /// `fx_node_op`: the node's operation, e.g. `call_function`.
    pub op: Option<StrId>,
    /// `fx_node_name`: the node's name, e.g. `relu_1`.
    pub name: Option<StrId>,
    /// `fx_node_target`: the function that the node calls.
    pub target: Option<StrId>,
    /// `fx_original_trace`: the model's own source lines.
    pub trace: Option<StrId>,
}

/// Every distinct frame once.
#[derive(Debug, Default, Clone)]
pub struct FrameTable {
    frames: Vec<Frame>,
    fx: Vec<FxInfo>,
    lookup: HashMap<Frame, FrameId>,
    fx_lookup: HashMap<FxInfo, u32>,
}

impl FrameTable {
    /// The id of `frame` with `fx` attached, added if it is new.
    pub fn intern(&mut self, frame: Frame, fx: Option<FxInfo>) -> FrameId {
        let fx = fx.map(|info| {
            *self.fx_lookup.entry(info).or_insert_with(|| {
                self.fx.push(info);
                self.fx.len() as u32 - 1
            })
        });
        let frame = Frame { fx, ..frame };
        *self.lookup.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            FrameId(self.frames.len() as u32 - 1)
        })
    }

    /// The frame of an id.
    #[inline]
    pub fn get(&self, id: FrameId) -> Frame {
        self.frames[id.index()]
    }

    /// The FX fields of a frame; `None` for a frame of ordinary code.
    pub fn fx(&self, frame: Frame) -> Option<FxInfo> {
        frame.fx.map(|i| self.fx[i as usize])
    }

    /// Every distinct frame.
    pub fn all(&self) -> &[Frame] {
        &self.frames
    }

    /// Number of distinct frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// True if there is no frame at all.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// True if any frame carries FX fields.
    pub fn has_fx(&self) -> bool {
        !self.fx.is_empty()
    }
}
