//! How long values would live if no graph kept them: as long as Python does.
//!
//! Stacks show in which function a value is made and when that function ends. Its locals go with it; what its last operation
//! made is returned to its caller. Names are not recorded. So within a module's function a value is taken to be gone once
//! two newer ones were made: `x = f(x)` needs two, and `x = x + f(g(x))` three.

use crate::scene::Scene;
use foldhash::HashSet;
use oomscope_model::{AllocId, EventIx, FrameId, Moment, StackId};
use oomscope_program::{CallFrames, CallStack, Dependence, FrameKind, Running};
use oomscope_simulator::Point;
use std::ops::Range;

/// A function holds at most this many values; see above.
const HELD_VALUES: usize = 2;

/// A function that only calls others, each with what the one before returned, holds one.
const HELD_BY_CALLER: usize = 1;

/// What one operation made, or one function returned.
type Value = Vec<AllocId>;

/// A running function and its values, oldest first.
#[derive(Debug, Default)]
struct Function {
    held: Vec<Value>,
    /// The stack of the newest value, if it was made here.
    newest: Option<StackId>,
    /// How many calls of modules it lies within.
    modules: usize,
    /// How many values it holds at most.
    most_held: usize,
    is_loss: bool,
}

/// The ends of what some events make, if no graph keeps it; what may stay as long as recorded is left out.
pub(super) fn without_graph(scene: &Scene<'_>, events: &Range<u32>) -> Vec<(AllocId, Point)> {
    WithoutGraph::ends(scene, events, None)
}

/// The same, where it is known of some that nothing but a graph keeps them in the end: no function has put them away.
pub(super) fn without_graph_alone(
    scene: &Scene<'_>,
    events: &Range<u32>,
    kept_by_graph: &HashSet<AllocId>,
) -> Vec<(AllocId, Point)> {
    WithoutGraph::ends(scene, events, Some(kept_by_graph))
}

/// The functions that make something themselves, by their numbers.
fn making(scene: &Scene<'_>, frames: &CallFrames, events: &Range<u32>) -> HashSet<u32> {
    let snapshot = scene.run.recording.snapshot();
    let innermost = |id| frames.path(snapshot, scene.run.recording.stack(id)).last();
    scene.run.made_in(events).filter_map(innermost).map(|frame| frames.get(frame).function).collect()
}

/// Finds the ends of values.
struct WithoutGraph<'a> {
    frames: &'a CallFrames,
    /// What nothing but a graph keeps in the end, where that is known.
    kept_by_graph: Option<&'a HashSet<AllocId>>,
    /// The functions that make something themselves.
    making: HashSet<u32>,
    running: CallStack<Function>,
    ends: Vec<(AllocId, Point)>,
}

impl<'a> WithoutGraph<'a> {
    /// The allocations of some events that would be gone, and when; those that may stay as long as recorded are left out.
    fn ends(
        scene: &'a Scene<'_>,
        events: &Range<u32>,
        kept_by_graph: Option<&'a HashSet<AllocId>>,
    ) -> Vec<(AllocId, Point)> {
        let lifetimes = &scene.run.recording.lifetimes;
        let frames = &scene.computation().frames;
        let is_value = |id| scene.computation().dependence(id) != Dependence::Workspace;
        // Asked only where it is known what a graph keeps: it takes a look at all frames.
        let making = kept_by_graph.map(|_| making(scene, frames, events)).unwrap_or_default();
        let mut finder =
            Self { frames, kept_by_graph, making, running: CallStack::default(), ends: Vec::new() };
        let mut path = Vec::new();
        let ids = lifetimes.started_between(Moment(events.start), Moment(events.end));
        // The next stack after the events tells which functions are over by then.
        let next = lifetimes.first_after(Moment(events.end));
        let stack = |id| scene.run.recording.snapshot().first_alike(scene.run.recording.stack(id));
        let with_event = |id| Some((id, lifetimes.start(id).event()?, stack(id)));
        for (id, made, stack) in ids.chain(next).filter_map(with_event) {
            if (stack == StackId::EMPTY || !is_value(id)) && made.0 < events.end {
                continue;
            }
            path.clear();
            path.extend(frames.path(scene.run.recording.snapshot(), stack));
            if events.end <= made.0 {
                finder.end_all_but(stack, &path, Point::before(made, 0));
            } else {
                finder.add(id, made, stack, &path);
            }
        }
        finder.ends
    }

    /// End the functions that do not go on with a stack. Without one, those of modules end.
    fn end_all_but(&mut self, stack: StackId, path: &[FrameId], at: Point) {
        let kept = match stack {
            StackId::EMPTY => {
                let is_outside = |running: &Running<Function>| running.about.modules == 0;
                self.running.running().iter().take_while(|&running| is_outside(running)).count()
            }
            stack => self.running.going_on(self.frames, stack, path),
        };
        while let Some(over) = self.running.end_beyond(kept) {
            self.end(over.about, at);
        }
    }

    fn add(&mut self, id: AllocId, made: EventIx, stack: StackId, path: &[FrameId]) {
        self.end_all_but(stack, path, Point::before(made, 0));
        let outer = self.running.running().last().map_or(0, |running| running.about.modules);
        let mut modules = outer;
        for &line in path.iter().skip(self.running.running().len()) {
            let frame = self.frames.get(line);
            modules += usize::from(frame.kind == FrameKind::Call);
            let is_loss = frame.operation.is_loss();
            let most_held = self.most_held(frame.function);
            let about = Function { modules, most_held, is_loss, ..Function::default() };
            self.running.begin(line, stack, about);
        }
        self.running.note(stack);
        if let Some(running) = self.running.running_mut().last_mut() {
            let function = &mut running.about;
            match function.held.last_mut() {
                Some(value) if function.newest == Some(stack) => value.push(id),
                _ => function.held.push(vec![id]),
            }
            function.newest = Some(stack);
        }
        self.drop_old(Point::after(made, 0));
    }

    /// A function is over: its caller has what it returns.
    fn end(&mut self, function: Function, at: Point) {
        let Function { mut held, modules, is_loss, .. } = function;
        let mut returned = held.pop().unwrap_or_default();
        let is_outermost =
            self.running.running().last().is_none_or(|caller| caller.about.modules == 0) && modules != 0;
        if is_loss {
            let loss = returned.pop();
            held.push(returned);
            returned = loss.into_iter().collect();
        }
        // A model may return any of the values it holds at its end.
        let is_gone = |id: &AllocId| !is_outermost || is_loss || self.is_kept_by_graph(*id);
        let gone: Vec<AllocId> = held.into_iter().flatten().filter(is_gone).collect();
        self.ends.extend(gone.into_iter().map(|id| (id, at)));
        if let Some(caller) = self.running.running_mut().last_mut()
            && !returned.is_empty()
        {
            caller.about.held.push(returned);
            caller.about.newest = None;
        }
        self.drop_old(at);
    }

    /// Drop what the innermost function of a module holds no longer. Other functions may have put away what they made before, but
    /// those that compute a loss keep nothing beyond it.
    fn drop_old(&mut self, at: Point) {
        let Some(running) = self.running.running_mut().last_mut() else { return };
        let Function { held, modules, most_held, is_loss, .. } = &mut running.about;
        if held.len() <= *most_held || (*modules == 0 && *is_loss) {
            return;
        }
        let (old, is_of_module) = (held.remove(0), *modules != 0);
        let gone: Vec<AllocId> =
            old.into_iter().filter(|&id| is_of_module || self.is_kept_by_graph(id)).collect();
        self.ends.extend(gone.into_iter().map(|id| (id, at)));
    }

    fn is_kept_by_graph(&self, id: AllocId) -> bool {
        self.kept_by_graph.is_some_and(|kept| kept.contains(&id))
    }

    /// How many values a function holds at most.
    fn most_held(&self, function: u32) -> usize {
        let only_calls = self.kept_by_graph.is_some() && !self.making.contains(&function);
        if only_calls { HELD_BY_CALLER } else { HELD_VALUES }
    }
}
