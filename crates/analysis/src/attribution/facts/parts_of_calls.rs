//! Models that a function of the program's own puts together: it embeds tokens, calls a layer again and again, and then a
//! head. Each of its calls but the first is a part of one call.

use super::activities::{Activities, Activity, made_between};
use super::calls::Call;
use super::frees::free_event;
use foldhash::{HashMap, HashSet};
use oomscope_model::{AllocId, Bytes, EventIx, Timeline};

/// A function that calls modules.
#[derive(Default)]
struct Caller {
    /// How often each of its lines calls, in the order of their first calls.
    counts: Vec<usize>,
    /// The place of each line in that order.
    lines: HashMap<u32, usize>,
    /// The code of the modules that it calls.
    modules: HashSet<u32>,
    /// The line that calls once each time that the function runs: the first that does not call more often than most.
    once: usize,
}

impl Caller {
    fn of(calls: &[Call]) -> HashMap<u32, Self> {
        let mut out: HashMap<u32, Self> = HashMap::default();
        for call in calls {
            let caller = out.entry(call.calling_code).or_default();
            caller.modules.insert(call.module_code);
            let line = *caller.lines.entry(call.caller).or_insert(caller.counts.len());
            match caller.counts.get_mut(line) {
                Some(count) => *count += 1,
                None => caller.counts.push(1),
            }
        }
        let several =
            out.into_iter().filter(|(_, caller)| 1 < caller.modules.len() && 1 < caller.lines.len());
        several.map(|(code, caller)| (code, Self { once: caller.line_of_run(), ..caller })).collect()
    }

    fn line_of_run(&self) -> usize {
        let mut sorted = self.counts.clone();
        sorted.sort_unstable();
        let usual = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default();
        self.counts.iter().position(|&count| count <= usual).unwrap_or_default()
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
    sizes: HashSet<Bytes>,
    /// How often something of another size was made between two calls.
    foreign: usize,
    /// Of each line, how often that was when it called last.
    foreign_at_line: HashMap<u32, usize>,
}

/// The first events of the calls that go on with what the same function has begun. A function runs anew when its first line calls again
/// after the line that calls once a run. Calls of an inner line are layers if nothing is ever made in between but sums with
/// what they return: a loop that decodes makes something else. What was given new data is no part of anything, unless these
/// are such sums.
pub(super) fn parts_of_calls(
    calls: &[Call],
    has_new_data: &[bool],
    timeline: &Timeline,
    activities: &Activities,
) -> HashSet<u32> {
    let callers = Caller::of(calls);
    let mut runs: HashMap<u32, Run> = HashMap::default();
    let mut last_end = 0;
    // Inner lines that are loops of their own.
    let mut loops: HashSet<u32> = HashSet::default();
    let mut parts: Vec<&Call> = Vec::new();
    for (call, &is_fed) in calls.iter().zip(has_new_data) {
        let before = std::mem::replace(&mut last_end, call.end);
        let Some(caller) = callers.get(&call.calling_code) else { continue };
        let line = caller.lines.get(&call.caller).copied();
        let is_first_line = line == Some(0);
        let run = runs.entry(call.calling_code).or_default();
        let is_foreign = |(id, made): (AllocId, EventIx)| {
            activities.at(made.0) == Activity::Main && !run.sizes.contains(&timeline.size(id))
        };
        let has_foreign = made_between(timeline, before, call.start).any(is_foreign);
        run.foreign += usize::from(has_foreign);
        let is_new = !run.has_begun || (run.has_passed && is_first_line);
        let is_other_turn = run.foreign_at_line.get(&call.caller).is_some_and(|&at| at < run.foreign);
        if !(is_new || is_fed && has_foreign) {
            parts.push(call);
        }
        if is_other_turn && !is_new {
            loops.insert(call.caller);
        }
        if is_new {
            *run = Run { has_begun: true, ..Run::default() };
        }
        run.has_passed |= line == Some(caller.once);
        run.sizes.extend(sizes_returned(timeline, call));
        run.foreign_at_line.insert(call.caller, run.foreign);
    }
    parts.retain(|call| !loops.contains(&call.caller));
    parts.into_iter().map(|call| call.start).collect()
}

/// The sizes of what outlives a call.
fn sizes_returned(timeline: &Timeline, call: &Call) -> impl Iterator<Item = Bytes> {
    let end = call.end;
    let stays = move |id| free_event(&timeline.lifetimes, id).is_none_or(|freed| end <= freed.0);
    let made = made_between(timeline, call.start, end);
    made.filter(move |&(id, _)| stays(id)).map(|(id, _)| timeline.size(id))
}
