//! The lines of the program that answer for its memory.

use super::frames::{CallFrames, FrameKind};
use super::run::Run;
use foldhash::HashMap;
use oomscope_analysis::{FrameCode, Owner, SiteFrame, owner};
use oomscope_model::{AllocId, FrameId, OwnCode, StackId};
use std::cmp::Reverse;

/// Whose code every frame of a file is.
#[derive(Debug)]
pub(super) struct Sites(Vec<Owner>);

impl Sites {
    pub(super) fn of(run: &Run<'_>) -> Self {
        let own = &run.recording.snapshot().assumed.own_code;
        Self(run.per_frame(|code| owner_of(code, own)))
    }

    /// The innermost line of the user's own code that made most bytes of some allocations, else of a package.
    pub(super) fn line(&self, run: &Run<'_>, ids: &[AllocId]) -> Option<FrameId> {
        with_most(run, ids, |stack| {
            self.last(run.recording.snapshot().stacks.frames(stack).iter().rev().copied())
        })
    }

    /// The line that calls the outermost module which made most bytes of some allocations.
    pub(super) fn call(&self, run: &Run<'_>, frames: &CallFrames, ids: &[AllocId]) -> Option<FrameId> {
        let is_outside = |frame: &FrameId| frames.get(*frame).kind != FrameKind::Call;
        with_most(run, ids, |stack| {
            self.last(frames.path(run.recording.snapshot(), stack).take_while(is_outside))
        })
    }

    /// The innermost line on the way to all of some allocations.
    pub(super) fn way(&self, run: &Run<'_>, ids: impl Iterator<Item = AllocId>) -> Option<FrameId> {
        let mut stacks = ids.map(|id| run.recording.snapshot().stacks.frames(run.recording.stack(id)));
        let mut way: Vec<FrameId> = stacks.next()?.iter().rev().copied().collect();
        for stack in stacks.filter(|stack| !stack.is_empty()) {
            let same = way.iter().zip(stack.iter().rev()).take_while(|(one, other)| one == other).count();
            way.truncate(same);
        }
        self.last(way.into_iter())
    }

    /// The frames of a stack that are the user's own, outermost first.
    pub(super) fn own_path<'a>(
        &'a self,
        run: &'a Run<'_>,
        stack: StackId,
    ) -> impl Iterator<Item = FrameId> + 'a {
        let frames = run.recording.snapshot().stacks.frames(stack).iter().rev().copied();
        frames.filter(|frame| self.0.get(frame.index()) == Some(&Owner::User))
    }

    /// Of frames, outermost first, the last of the user's own or, without one, of a package.
    fn last(&self, frames: impl Iterator<Item = FrameId>) -> Option<FrameId> {
        let (mut own, mut packages) = (None, None);
        for frame in frames {
            match self.0.get(frame.index()) {
                Some(Owner::User) => own = Some(frame),
                Some(Owner::Package) => packages = Some(frame),
                Some(Owner::Runtime) | None => {}
            }
        }
        own.or(packages)
    }
}

/// Whose code a frame is.
pub(super) fn owner_of(code: FrameCode<'_>, own: &OwnCode) -> Owner {
    let is_own = own.has(code.file);
    owner(&SiteFrame { file: code.file.to_owned(), line: 0, name: code.function.to_owned(), is_own })
}

/// The line with most bytes of some allocations, as their stacks have it.
fn with_most(run: &Run<'_>, ids: &[AllocId], line: impl Fn(StackId) -> Option<FrameId>) -> Option<FrameId> {
    let mut lines: HashMap<StackId, Option<FrameId>> = HashMap::default();
    let mut by_line: HashMap<FrameId, u64> = HashMap::default();
    for &id in ids {
        let stack = run.recording.stack(id);
        if let Some(line) = *lines.entry(stack).or_insert_with(|| line(stack)) {
            let bytes = by_line.entry(line).or_default();
            *bytes = bytes.saturating_add(run.bytes(id));
        }
    }
    by_line.into_iter().max_by_key(|&(line, bytes)| (bytes, Reverse(line))).map(|(line, _)| line)
}

#[cfg(test)]
mod tests {
    use crate::{Run, Workload};
    use oomscope_analysis::{Attribution, UserRules, frame_line, site_frame};
    use oomscope_fixtures::programs::Program;
    use oomscope_model::{AllocId, FrameId};

    const CALL: &str = "torch/nn/modules/module.py _call_impl";
    const LINEAR: &str = "torch/nn/modules/linear.py forward";
    const MODEL: &str = "/home/me/model.py:20 forward";
    const MAIN: &str = "/home/me/train.py:90 <module>";

    #[test]
    fn lines_are_those_of_the_program() {
        let mut program = Program::default();
        program.alloc(512, &[LINEAR, CALL, MODEL, CALL, MAIN]);
        program.alloc(2048, &["/home/me/model.py:21 forward", CALL, MAIN]);
        program.alloc(4096, &["/lib/python3.12/site-packages/timm/vit.py:7 forward", CALL, LINEAR]);
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        let text =
            |frame: Option<FrameId>| frame.map(|frame| frame_line(&site_frame(recording.snapshot(), frame)));
        let ids = [AllocId(0), AllocId(1), AllocId(2)];
        assert_eq!(text(workload.line(&ids[..1])).as_deref(), Some("model.py:20 forward"));
        assert_eq!(text(workload.line(&ids[..2])).as_deref(), Some("model.py:21 forward"));
        assert_eq!(text(workload.line(&ids)).as_deref(), Some("vit.py:7 forward"));
        assert_eq!(text(workload.call(&ids[..2])).as_deref(), Some("train.py:90 <module>"));
        assert_eq!(text(workload.way(ids[..2].iter().copied())).as_deref(), Some("train.py:90 <module>"));
        assert_eq!(text(workload.call(&ids[2..])), None);
    }
}
