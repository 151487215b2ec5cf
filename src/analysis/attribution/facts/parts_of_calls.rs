//! Models that a function of the program's own puts together: it embeds tokens, calls a layer again and again, and then a
//! head. Each of its calls but the first is a part of one call.

use super::activities::{Activities, Activity};
use super::calls::Call;
use super::frees::free_event;
use crate::model::{AllocId, Moment, Timeline};
use foldhash::{HashMap, HashSet};
use std::ops::Range;

/// A function that calls modules.
#[derive(Default)]
struct Caller {
    /// Its lines that call, each with how often it does, in the order of their first calls.
    lines: Vec<(u32, usize)>,
    /// The code of the modules that it calls.
    modules: HashSet<u32>,
}

impl Caller {
    fn of(calls: &[Call]) -> HashMap<u32, Self> {
        let mut out: HashMap<u32, Self> = HashMap::default();
        for call in calls {
            let caller = out.entry(call.calling_code).or_default();
            caller.modules.insert(call.module_code);
            match caller.lines.iter_mut().find(|(line, _)| *line == call.caller) {
                Some((_, count)) => *count += 1,
                None => caller.lines.push((call.caller, 1)),
            }
        }
        out.retain(|_, caller| 1 < caller.modules.len() && 1 < caller.lines.len());
        out
    }

    /// The line that calls once each time that the function runs: the first one that does not call more often than most.
    fn line_of_run(&self) -> Option<u32> {
        let mut counts: Vec<usize> = self.lines.iter().map(|&(_, count)| count).collect();
        counts.sort_unstable();
        let usual = *counts.get(counts.len().checked_sub(1)? / 2)?;
        self.lines.iter().find(|&&(_, count)| count <= usual).map(|&(line, _)| line)
    }
}

/// A run of a function that calls modules.
#[derive(Default)]
struct Run {
    /// Whether the line has called that calls once a run.
    has_passed: bool,
    /// Whether it is under way.
    has_begun: bool,
    /// The sizes of what its calls have returned.
    sizes: HashSet<i64>,
    /// How often something of another size was made between two calls.
    foreign: usize,
    /// Of each line, how often that was when it called last.
    foreign_at_line: HashMap<u32, usize>,
}

/// Mark the calls that go on with what the same function has begun. A function runs anew when its first line calls again
/// after the line that calls once a run. Calls of an inner line are layers if nothing is ever made in between but sums with
/// what they return: a loop that decodes makes something else. What was given new data is no part of anything, unless these
/// are such sums.
pub(super) fn mark_parts(
    calls: &mut [Call],
    has_new_data: &[bool],
    timeline: &Timeline,
    activities: &Activities,
) {
    let callers = Caller::of(calls);
    if callers.is_empty() {
        return;
    }
    let mut runs: HashMap<u32, Run> = HashMap::default();
    let mut last_end = 0;
    // Inner lines that are loops of their own.
    let mut loops: HashSet<u32> = HashSet::default();
    for (call, &is_fed) in calls.iter_mut().zip(has_new_data) {
        let before = Moment(std::mem::replace(&mut last_end, call.end))..Moment(call.start);
        let Some(caller) = callers.get(&call.calling_code) else { continue };
        let is_first_line = caller.lines.first().is_some_and(|&(line, _)| line == call.caller);
        let run = runs.entry(call.calling_code).or_default();
        let is_foreign = |(id, made): (AllocId, u32)| {
            activities.at(made) == Activity::Main && !run.sizes.contains(&timeline.size(id))
        };
        let has_foreign = allocated_between(timeline, before).any(is_foreign);
        run.foreign += usize::from(has_foreign);
        let is_new = !run.has_begun || (run.has_passed && is_first_line);
        let is_other_turn = run.foreign_at_line.get(&call.caller).is_some_and(|&at| at < run.foreign);
        call.is_part = !is_new && !(is_fed && has_foreign);
        if is_other_turn && !is_new {
            loops.insert(call.caller);
        }
        if is_new {
            *run = Run { has_begun: true, ..Run::default() };
        }
        run.has_passed |= caller.line_of_run() == Some(call.caller);
        run.sizes.extend(sizes_returned(timeline, call));
        run.foreign_at_line.insert(call.caller, run.foreign);
    }
    for call in calls.iter_mut().filter(|call| loops.contains(&call.caller)) {
        call.is_part = false;
    }
}

/// The sizes of what outlives a call.
fn sizes_returned(timeline: &Timeline, call: &Call) -> impl Iterator<Item = i64> {
    let end = call.end;
    let stays = move |id| free_event(&timeline.lifetimes, id).is_none_or(|freed| end <= freed.0);
    let made = allocated_between(timeline, Moment(call.start)..Moment(end));
    made.filter(move |&(id, _)| stays(id)).map(|(id, _)| timeline.size(id))
}

/// The allocations of a stretch, each with its event.
fn allocated_between(timeline: &Timeline, stretch: Range<Moment>) -> impl Iterator<Item = (AllocId, u32)> {
    let lifetimes = &timeline.lifetimes;
    let made = lifetimes.started_between(stretch.start, stretch.end);
    made.filter_map(|id| Some((id, lifetimes.start(id).event()?.0)))
}
