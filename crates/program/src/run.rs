//! A recorded run, with what everything that looks at its program asks about it.

use super::share::MOST;
use oomscope_analysis::{Attribution, Basis, Category, FrameCode, TorchOperation, by_function, printable};
use oomscope_model::{AllocId, Frame, FrameId, Moment, Recording, StackId};
use std::ops::Range;

/// One device of a file, with what its allocations are for.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The device.
    pub recording: &'a Recording,
    /// Categories, phases and iterations.
    pub attribution: &'a Attribution,
}

impl<'a> Run<'a> {
    /// What an allocation is for.
    #[inline]
    pub fn category(&self, id: AllocId) -> Category {
        self.attribution.categories.get(id)
    }

    /// Whether most bytes of some allocations have an inferred category.
    pub fn are_inferred(&self, ids: &[AllocId]) -> bool {
        let bytes = |id: &AllocId| i128::from(self.recording.size(*id).or_zero());
        let is_inferred = |id: &&AllocId| self.attribution.categories.basis(**id) == Basis::Inferred;
        let all: i128 = ids.iter().map(bytes).sum();
        let inferred: i128 = ids.iter().filter(is_inferred).map(bytes).sum();
        MOST.is_exceeded(inferred, all)
    }

    /// The allocations of a category, in their order.
    pub fn of_category(&self, category: Category) -> Vec<AllocId> {
        self.recording.ids().filter(|&id| self.category(id) == category).collect()
    }

    /// Requested bytes of an allocation.
    #[inline]
    pub fn bytes(&self, id: AllocId) -> u64 {
        self.recording.size(id).as_u64()
    }

    /// The most bytes of some allocations that are in use at once.
    pub fn most_at_once(&self, ids: &[AllocId]) -> u64 {
        let lifetimes = &self.recording.lifetimes;
        let starts = ids.iter().map(|&id| (lifetimes.start(id), 1, self.bytes(id)));
        let ends = ids.iter().filter_map(|&id| Some((lifetimes.end(id)?, 0, self.bytes(id))));
        let mut changes: Vec<(Moment, u8, u64)> = starts.chain(ends).collect();
        // Starts are in order, and ends of a pass are mostly in one or the other, which a stable sort makes use of.
        changes.sort();
        let (mut now, mut most) = (0u64, 0u64);
        for (_, is_start, bytes) in changes {
            now = if is_start == 1 { now.saturating_add(bytes) } else { now.saturating_sub(bytes) };
            most = most.max(now);
        }
        most
    }

    /// The allocations that some events make.
    pub fn made_in(&self, events: &Range<u32>) -> impl Iterator<Item = AllocId> + use<'a> {
        self.recording.lifetimes.started_between(Moment(events.start), Moment(events.end))
    }

    /// Whether some frame of the file has a property.
    pub fn has_frame(&self, has: impl Fn(FrameCode<'_>) -> bool + Send + Sync) -> bool {
        self.per_frame(has).contains(&true)
    }

    /// The stacks of the file that have a frame with a property.
    pub fn stacks_with(&self, has: impl Fn(FrameCode<'_>) -> bool + Send + Sync) -> StackSet {
        self.stacks_with_before(has, |_| false)
    }

    /// The stacks of the file that have a frame of such operations.
    pub fn stacks_of_operations(&self, is_wanted: impl Fn(TorchOperation) -> bool + Send + Sync) -> StackSet {
        self.stacks_with(|code| is_wanted(code.operation()))
    }

    /// The stacks of the file that have a frame with a property, and none with another further in.
    pub fn stacks_with_before(
        &self,
        has: impl Fn(FrameCode<'_>) -> bool + Send + Sync,
        ends: impl Fn(FrameCode<'_>) -> bool + Send + Sync,
    ) -> StackSet {
        let frames = self.per_frame(|code| if has(code) { Some(true) } else { ends(code).then_some(false) });
        if !frames.contains(&Some(true)) {
            // Most files have no such code, and need not be read stack by stack.
            return StackSet(Vec::new());
        }
        let told = |stack: StackId| {
            let mut told = self.frames_of(stack).iter().filter_map(|frame| *frames.get(frame.index())?);
            told.next().unwrap_or(false)
        };
        StackSet(self.stack_ids().map(told).collect())
    }

    /// Of each stack, the innermost frame with a property.
    pub fn first_frames(&self, has: impl Fn(FrameCode<'_>) -> bool + Send + Sync) -> Vec<Option<FrameId>> {
        let frames = self.per_frame(has);
        let has = |frame: &FrameId| frames.get(frame.index()).copied().unwrap_or(false);
        self.stack_ids().map(|stack| self.frames_of(stack).iter().copied().find(has)).collect()
    }

    /// Something about each frame of the file, asked once for each file and function.
    pub(super) fn per_frame<T: Copy + Send + Sync>(
        &self,
        ask: impl Fn(FrameCode<'_>) -> T + Send + Sync,
    ) -> Vec<T> {
        by_function(self.recording.snapshot(), |Frame { file, name, .. }| {
            let text = |id| printable(self.recording.snapshot(), id);
            ask(FrameCode { file: &text(file).replace('\\', "/"), function: &text(name) })
        })
    }

    fn stack_ids(&self) -> impl Iterator<Item = StackId> + use<> {
        (0..self.recording.snapshot().stacks.len() as u32).map(StackId)
    }

    fn frames_of(&self, stack: StackId) -> &[FrameId] {
        self.recording.snapshot().stacks.frames(stack)
    }
}

/// A set of stacks.
#[derive(Debug)]
pub struct StackSet(Vec<bool>);

impl StackSet {
    /// Whether a stack is in the set.
    pub fn has(&self, stack: StackId) -> bool {
        self.0.get(stack.index()).copied().unwrap_or(false)
    }
}
