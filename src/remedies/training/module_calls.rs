//! Calls of modules in a stretch of a program, as the stacks of its allocations show them.

use super::call_stack::{CallStack, WentOn};
use super::frames::{CallFrames, FrameKind};
use crate::model::{AllocId, FrameId, StackId};
use crate::remedies::scene::Scene;
use foldhash::HashMap;
use std::ops::Range;

/// One call of a module.
#[derive(Debug, Clone)]
pub(in crate::remedies) struct ModuleCall {
    /// The call that it is a part of.
    pub(in crate::remedies) parent: Option<usize>,
    /// The allocations between its start and its end.
    pub(in crate::remedies) ids: Range<u32>,
    /// A line of its code; calls of one class have lines in common.
    line: FrameId,
    /// The line that calls it.
    pub(in crate::remedies) caller: FrameId,
}

/// Calls of modules, in the order in which they begin.
#[derive(Debug, Default)]
pub(in crate::remedies) struct ModuleCalls {
    pub(in crate::remedies) list: Vec<ModuleCall>,
    classes: Lines,
}

impl ModuleCalls {
    /// Read the calls from consecutive allocations.
    pub(super) fn of(scene: &Scene<'_>, frames: &CallFrames, ids: &[AllocId]) -> Self {
        let mut tracker = Tracker { frames, running: CallStack::new(), calls: Self::default() };
        let mut path = Vec::new();
        for &id in ids {
            let stack = scene.timeline.stack(id);
            if stack != StackId::EMPTY {
                path.clear();
                path.extend(frames.path(scene.snapshot, stack));
                tracker.add(id, stack, &path);
            }
        }
        let mut calls = tracker.calls;
        calls.join_parts(scene);
        calls
    }

    /// Join what is one call: where consecutive calls from one line repeat a sequence of stacks, one round of it is one call.
    /// A function may go back to the stack with which it began, such as `self.b(relu(self.a(x)))` on one line.
    fn join_parts(&mut self, scene: &Scene<'_>) {
        let mut first = 0;
        let mut latest: HashMap<Option<usize>, usize> = HashMap::default();
        let mut runs: Vec<Vec<usize>> = Vec::new();
        while first < self.list.len() {
            let call = &self.list[first];
            let (class, parent, caller, start) =
                (self.class(first), call.parent, call.caller, call.ids.start);
            let before = latest.get(&parent).and_then(|&run| Some((run, *runs.get(run)?.last()?)));
            let goes_on = before.filter(|&(_, before)| {
                let other = &self.list[before];
                self.class(before) == class && other.caller == caller && other.ids.end == start
            });
            if let Some((run, _)) = goes_on {
                runs[run].push(first);
            } else {
                latest.insert(parent, runs.len());
                runs.push(vec![first]);
            }
            first += 1;
        }
        let mut whole_of: HashMap<usize, usize> = HashMap::default();
        for run in runs.iter().filter(|run| 2 < run.len()) {
            self.join_run(scene, run, &mut whole_of);
        }
        for call in &mut self.list {
            call.parent = call.parent.map(|parent| whole_of.get(&parent).copied().unwrap_or(parent));
        }
    }

    /// Join the parts of each call of a run, and note the call that each part belongs to. A part is no call any more.
    fn join_run(&mut self, scene: &Scene<'_>, run: &[usize], whole_of: &mut HashMap<usize, usize>) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let (start, end) = (self.list[first].ids.start, self.list[last].ids.end);
        let stacks: Vec<StackId> = (start..end).map(|id| scene.timeline.stack(AllocId(id))).collect();
        let period = period(&stacks);
        let rounds = stacks.len() / period;
        if !stacks.len().is_multiple_of(period) || rounds == run.len() || rounds == 1 {
            return;
        }
        let mut whole = first;
        for &part in run {
            let ids = self.list[part].ids.clone();
            if ((ids.start - start) as usize).is_multiple_of(period) {
                whole = part;
            } else {
                self.list[whole].ids.end = ids.end;
                self.list[part].ids.end = ids.start;
                whole_of.insert(part, whole);
            }
        }
    }
}

impl ModuleCalls {
    /// The class of a call: a number that calls of one function have in common.
    pub(in crate::remedies) fn class(&self, call: usize) -> u32 {
        self.list.get(call).map_or(u32::MAX, |call| self.classes.root(call.line).0)
    }
}

/// The length of the shortest sequence that, repeated, gives another; the last round may be cut.
fn period(all: &[StackId]) -> usize {
    // How much of the start of the sequence ends at each place.
    let mut matching = vec![0; all.len()];
    let mut length = 0;
    for at in 1..all.len() {
        while length != 0 && all[at] != all[length] {
            length = matching[length - 1];
        }
        length += usize::from(all[at] == all[length]);
        matching[at] = length;
    }
    all.len() - matching.last().copied().unwrap_or(0)
}

/// Lines that belong to one function.
#[derive(Debug, Default)]
struct Lines(HashMap<FrameId, FrameId>);

impl Lines {
    fn root(&self, mut line: FrameId) -> FrameId {
        while let Some(&next) = self.0.get(&line) {
            line = next;
        }
        line
    }

    fn join(&mut self, a: FrameId, b: FrameId) {
        let (a, b) = (self.root(a), self.root(b));
        // The lowest number is the root, so that chains cannot be circles.
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}

struct Tracker<'a> {
    frames: &'a CallFrames,
    /// The running functions, each with the call of a module that it is.
    running: CallStack<Option<usize>>,
    calls: ModuleCalls,
}

impl Tracker<'_> {
    fn add(&mut self, id: AllocId, stack: StackId, path: &[FrameId]) {
        let (kept, went_on) = self.running.going_on(self.frames, stack, path);
        if let Some(WentOn { depth, from }) = went_on
            && self.running.running()[depth].about.is_some()
        {
            self.calls.classes.join(from, path[depth]);
        }
        while self.running.end_beyond(kept).is_some() {}
        self.enter(id, stack, path);
        self.running.note(stack);
        for call in self.running.running().iter().filter_map(|running| running.about) {
            self.calls.list[call].ids.end = id.0 + 1;
        }
    }

    /// Begin the functions of a path that do not run yet.
    fn enter(&mut self, id: AllocId, stack: StackId, path: &[FrameId]) {
        let mut parent = self.running.running().iter().rev().find_map(|running| running.about);
        let is_module = self.modules(path);
        for (depth, &line) in path.iter().enumerate().skip(self.running.running().len()) {
            let call = is_module[depth].then(|| {
                let caller = self.caller(path, depth);
                self.calls.list.push(ModuleCall { parent, ids: id.0..id.0 + 1, line, caller });
                self.calls.list.len() - 1
            });
            parent = call.or(parent);
            self.running.begin(line, stack, call);
        }
    }

    /// The line that calls the module whose code is at some depth.
    fn caller(&self, path: &[FrameId], depth: usize) -> FrameId {
        let is_call = |&&frame: &&FrameId| self.frames.get(frame).kind == FrameKind::Call;
        let mut outer = path[..depth].iter().rev().skip_while(|frame| !is_call(frame)).skip_while(is_call);
        outer.next().copied().unwrap_or(path[depth])
    }

    /// Whether each frame of a path is the code of a module: the first `forward` that `Module.__call__` leads to, past what may
    /// be wrapped around it; without a `forward`, the frame that it calls.
    fn modules(&self, path: &[FrameId]) -> Vec<bool> {
        let mut out = vec![false; path.len()];
        // The place of the frame that the last call leads to, and whether only plain frames followed it.
        let (mut called, mut is_plain) = (None, false);
        for (depth, &frame) in path.iter().enumerate() {
            match self.frames.get(frame).kind {
                FrameKind::Call => (called, is_plain) = (Some(depth + 1), true),
                FrameKind::Plain => out[depth] = called == Some(depth),
                FrameKind::Forward | FrameKind::Container => {
                    if let Some(first) = called {
                        out[first] = false;
                    }
                    out[depth] = std::mem::take(&mut is_plain);
                }
                FrameKind::Compiled => is_plain = false,
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_is_found() {
        let of = |all: &[u32]| period(&all.iter().map(|&id| StackId(id)).collect::<Vec<_>>());
        assert_eq!(of(&[1, 2, 1, 3, 1, 2, 1, 3]), 4);
        assert_eq!(of(&[1, 1, 1]), 1);
        assert_eq!(of(&[1, 2, 3]), 3);
        assert_eq!(of(&[1, 2, 1]), 2);
    }
}
