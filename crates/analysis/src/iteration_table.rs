//! The iterations of a device as a table: where each lies, its phases, its peak, and the memory that it left behind.

use super::attribution::{Iteration, Phase, Phases};
use oomscope_model::{Bytes, Moment, Timeline};

/// One iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationRow {
    /// Its number from 0; `None` where the recording starts too late to know.
    pub number: Option<u32>,
    /// Its place among those that begin within the recording, from 0.
    pub of_recording: u32,
    /// Its first event, and the one after its last.
    pub events: [u32; 2],
    /// Its phases in order, each with its first event and the one after its last.
    pub phases: Vec<(Phase, [u32; 2])>,
    /// The first moment in it at which most bytes are active.
    pub peak: Moment,
    /// Active bytes then.
    pub peak_bytes: Bytes,
    /// The phase of the peak.
    pub peak_phase: Phase,
    /// How many bytes more are active at its end than at its start.
    pub growth_bytes: Bytes,
    /// Bytes that were allocated in it and are live at its end.
    pub left_bytes: Bytes,
    /// Bytes that were allocated in it and are live after the last event.
    pub kept_bytes: Bytes,
}

/// All iterations, in order. Takes one pass over the allocations.
pub fn iteration_table(timeline: &Timeline, phases: &Phases) -> Vec<IterationRow> {
    let list = &phases.iterations.list;
    let left = left_behind(timeline, list);
    let mut spans = PhaseSpans { all: phases.spans(timeline.events.len() as u32).collect(), at: 0 };
    let rows = list.iter().zip(0u32..).zip(left).map(|((iteration, at), [left_bytes, kept_bytes])| {
        let events = [iteration.start.0, iteration.end.0];
        IterationRow {
            number: phases.iterations.first_number.map(|first| first.saturating_add(at)),
            of_recording: at,
            events,
            phases: spans.within(events),
            peak: iteration.peak,
            peak_bytes: iteration.peak_bytes,
            peak_phase: phases.of_event_before(iteration.peak),
            growth_bytes: iteration.growth_bytes(),
            left_bytes,
            kept_bytes,
        }
    });
    rows.collect()
}

/// Of each iteration, the bytes that were allocated in it and are live at its end, and those that are after the last event.
fn left_behind(timeline: &Timeline, list: &[Iteration]) -> Vec<[Bytes; 2]> {
    let mut left = vec![[Bytes::ZERO; 2]; list.len()];
    let lifetimes = &timeline.lifetimes;
    let mut at = 0;
    // Allocations and iterations are both in order of time, so one walk meets each iteration once.
    for id in lifetimes.ids().skip(lifetimes.initial_count()) {
        let start = lifetimes.start(id);
        while list.get(at).is_some_and(|iteration| iteration.end < start) {
            at += 1;
        }
        let Some(iteration) = list.get(at) else { break };
        let end = lifetimes.end(id);
        // Most are gone by then, and their size is not needed.
        if start.0 <= iteration.start.0 || end.is_some_and(|end| end <= iteration.end) {
            continue;
        }
        let size = timeline.size(id);
        left[at][0] += size;
        if end.is_none() {
            left[at][1] += size;
        }
    }
    left
}

/// Phases, from which those of one iteration after the other are taken.
struct PhaseSpans {
    all: Vec<(Phase, [u32; 2])>,
    /// The first that may reach into the next iteration.
    at: usize,
}

impl PhaseSpans {
    /// The parts of phases that lie within a range of events; ranges ascend from call to call.
    fn within(&mut self, [from, to]: [u32; 2]) -> Vec<(Phase, [u32; 2])> {
        while self.all.get(self.at).is_some_and(|(_, span)| span[1] <= from) {
            self.at += 1;
        }
        let spans = self.all[self.at..].iter().take_while(|(_, span)| span[0] < to);
        let cut = spans.map(|&(phase, span)| (phase, [span[0].max(from), span[1].min(to)]));
        cut.filter(|(_, span)| span[0] < span[1]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attribution, UserRules};
    use oomscope_fixtures::programs::{Program, train};
    use oomscope_model::Recording;
    use proptest::prelude::*;

    fn trained(iterations: usize, late: Option<usize>, has_stacks: bool) -> Recording {
        let program = Program::timed();
        let mut program = if has_stacks { program } else { program.without_stacks() };
        train(&mut program, iterations, late);
        program.finish()
    }

    proptest! {
        #[test]
        fn rows_are_those_of_a_plain_reading(
            iterations in 1usize..6,
            late in prop::option::of(0usize..5),
            has_stacks in any::<bool>(),
        ) {
            let recording = trained(iterations, late, has_stacks);
            let phases = Attribution::of(&recording, &UserRules::default()).phases;
            let rows = iteration_table(&recording, &phases);
            prop_assert_eq!(rows.len(), phases.iterations.list.len());
            for (row, iteration) in rows.iter().zip(&phases.iterations.list) {
                let [from, to] = row.events;
                prop_assert_eq!((from, to), (iteration.start.0, iteration.end.0));
                let made = |a: &oomscope_model::Allocation| a.alloc_event().is_some_and(|e| (from..to).contains(&e.0));
                let all: Vec<_> = recording.ids().map(|id| recording.allocation(id)).filter(made).collect();
                let live_at = |moment: Moment| -> Bytes {
                    let live = all.iter().filter(|a| a.start <= moment && a.end.is_none_or(|end| moment < end));
                    live.map(|a| a.size).sum()
                };
                prop_assert_eq!(row.left_bytes, live_at(Moment(to)));
                prop_assert_eq!(row.kept_bytes, live_at(recording.end()));
                let active = (from + 1..=to).map(|m| recording.active.at(Moment(m)));
                prop_assert_eq!(Some(row.peak_bytes), active.max());
                prop_assert_eq!(row.peak_bytes, recording.active.at(row.peak));
                let by_event: Vec<Phase> = row.phases.iter().flat_map(|(phase, [a, b])| (*a..*b).map(|_| *phase)).collect();
                let expected: Vec<Phase> = (from..to)
                    .map(|event| phases.phases.iter().rfind(|start| start.event.0 <= event).expect("a phase").phase)
                    .collect();
                prop_assert_eq!(by_event.get((row.peak.0 - 1 - from) as usize), Some(&row.peak_phase));
                prop_assert_eq!(by_event, expected);
                prop_assert!(row.phases.windows(2).all(|pair| pair[0].1[1] == pair[1].1[0]));
            }
        }
    }

    #[test]
    fn an_iteration_leaves_its_state_behind() {
        let recording = trained(3, None, true);
        let phases = Attribution::of(&recording, &UserRules::default()).phases;
        let rows = iteration_table(&recording, &phases);
        let state: i64 = 2 * oomscope_fixtures::programs::SIZES.iter().sum::<i64>();
        // State stays, and the batch until the next one is there.
        let left: Vec<(i64, i64)> = rows.iter().map(|row| (row.left_bytes.0, row.kept_bytes.0)).collect();
        assert_eq!(left[..2], [(state + 4096, state), (4096, 0)]);
        assert_eq!(rows[2].left_bytes, rows[2].kept_bytes);
        let phases: Vec<Phase> = rows[1].phases.iter().map(|(phase, _)| *phase).collect();
        assert_eq!(phases, [Phase::Data, Phase::Forward, Phase::Backward, Phase::Optimizer, Phase::Eval]);
        assert_eq!(rows[1].number, Some(1));
    }
}
