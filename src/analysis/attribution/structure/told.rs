//! Steps and phases that a program attached to its events: `user_metadata` such as
//! `{"step": 3, "phase": "forward"}`.

use super::{Phase, PhaseStart};
use crate::model::{Context, EventIx, Snapshot, Timeline};

/// What programs call the number of an iteration.
const STEP_KEYS: [&str; 5] = ["step", "global_step", "iteration", "iter", "train_step"];

/// Fewer do not tell how a run is structured.
const MIN_STEPS: usize = 2;

/// What the metadata of an event say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Said {
    step: Option<u32>,
    phase: Option<Phase>,
}

impl Said {
    fn of(snapshot: &Snapshot, context: &Context) -> Self {
        context.user_metadata.map_or_else(Self::default, |id| Self::in_text(&snapshot.strings.get(id)))
    }

    fn in_text(text: &str) -> Self {
        let step = STEP_KEYS.into_iter().find_map(|key| value(text, key)?.parse().ok());
        let named = |name: &str| Phase::ALL.into_iter().find(|phase| phase.key() == name);
        let phase = value(text, "phase").and_then(named).filter(|&phase| phase != Phase::Unknown);
        Self { step, phase }
    }
}

/// The value of a key in a text of keys and values, such as JSON or Python's way to print a dict.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (at, _) = text.match_indices(key).find(|&(at, _)| {
        let after = text[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
        !text[..at].ends_with(is_word) && after.starts_with([':', '='])
    })?;
    let value = text[at + key.len()..].trim_start_matches(['"', '\'', ' ', ':', '=']);
    Some(value.split(['"', '\'', ',', '}', ';', ' ']).next().unwrap_or_default())
}

/// What a program said in the course of a recording.
pub(super) struct Told {
    /// By the context of an event.
    said: Vec<Said>,
}

impl Told {
    /// `None` where it said nothing.
    pub(super) fn of(snapshot: &Snapshot, timeline: &Timeline) -> Option<Self> {
        let contexts = timeline.events.contexts().iter();
        let said: Vec<Said> = contexts.map(|context| Said::of(snapshot, context)).collect();
        said.iter().any(|said| *said != Said::default()).then_some(Self { said })
    }

    fn at(&self, timeline: &Timeline, event: EventIx) -> Said {
        self.said.get(timeline.events.context_index(event)).copied().unwrap_or_default()
    }

    /// The first event of every step, and the number of the first step, where they count up by one.
    pub(super) fn starts(&self, timeline: &Timeline) -> Option<(Vec<EventIx>, u32)> {
        let mut steps: Vec<(u32, EventIx)> = Vec::new();
        for event in timeline.events.indices() {
            let Some(step) = self.at(timeline, event).step else { continue };
            match steps.last() {
                Some(&(last, _)) if last == step => {}
                Some(&(last, _)) if last.checked_add(1) != Some(step) => return None,
                _ => steps.push((step, event)),
            }
        }
        let first = steps.first()?.0;
        (MIN_STEPS <= steps.len()).then(|| (steps.into_iter().map(|step| step.1).collect(), first))
    }

    /// Phases and their events. One is not over where nothing is said for a while in the same step.
    fn ranges(&self, timeline: &Timeline) -> Vec<(Phase, [u32; 2])> {
        let mut ranges: Vec<(Phase, [u32; 2])> = Vec::new();
        let mut step = None;
        for event in timeline.events.indices() {
            let said = self.at(timeline, event);
            let Some(phase) = said.phase else { continue };
            let goes_on = said.step.is_some() && said.step == step;
            match ranges.last_mut() {
                Some((last, range)) if *last == phase && (goes_on || range[1] == event.0) => {
                    range[1] = event.0 + 1;
                }
                _ => ranges.push((phase, [event.0, event.0 + 1])),
            }
            step = said.step;
        }
        ranges
    }

    /// Put what was said in the place of what was found. An event of which nothing is said, as another
    /// thread's, is in the phase of its neighbours where they agree. Returns the ranges of events.
    pub(super) fn put_into(&self, timeline: &Timeline, phases: &mut Vec<PhaseStart>) -> Vec<[u32; 2]> {
        let ranges = self.ranges(timeline);
        let found = std::mem::take(phases);
        let mut said = ranges.iter().peekable();
        let mut enter = |event: u32, phase| {
            if phases.last().is_none_or(|last: &PhaseStart| last.phase != phase) {
                phases.push(PhaseStart { event: EventIx(event), phase });
            }
        };
        for (at, start) in found.iter().enumerate() {
            let end = found.get(at + 1).map_or(u32::MAX, |next| next.event.0);
            let mut from = start.event.0;
            while let Some(&&(phase, [first, last])) = said.peek().filter(|said| said.1[0] < end) {
                if from < first {
                    enter(from, start.phase);
                }
                enter(first.max(from), phase);
                from = last;
                if end < last {
                    break;
                }
                said.next();
            }
            if from < end {
                enter(from, start.phase);
            }
        }
        ranges.into_iter().map(|range| range.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Attribution, PhaseBasis, UserRules};
    use crate::model::{Action, Anchor, DeviceId, Event, EventTable, Moment, SegmentTable, TimelineInput};

    /// An allocation for each text, which is attached to it.
    fn saying(texts: &[&str]) -> Snapshot {
        let (mut snapshot, mut events) = (Snapshot::default(), EventTable::default());
        for (at, text) in texts.iter().enumerate() {
            let user_metadata = Some(snapshot.strings.intern(text.as_bytes()).0);
            let event = Event::new(Action::Alloc, (at as u64 + 1) << 20, 512);
            events.push(&Event { user_metadata, ..event });
        }
        let segments = SegmentTable::default();
        let input = TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly };
        snapshot.timelines.push(Timeline::build(input));
        snapshot
    }

    #[test]
    fn what_a_program_says_comes_first() {
        let forward = "{'step': 7, 'phase': 'forward'}";
        let snapshot = saying(&["", forward, "", forward, "", "{'step': 8, 'phase': 'eval'}", ""]);
        let phases = Attribution::of(&snapshot, &snapshot.timelines[0], &UserRules::default()).phases;
        let at = |moment| phases.position_at(Moment(moment));
        let found: Vec<_> = (1..=7).map(|moment| (at(moment).phase, at(moment).iteration)).collect();
        let forward = (Phase::Forward, Some(7));
        let expected = [
            (Phase::Unknown, None),
            forward,
            forward,
            forward,
            (Phase::Unknown, Some(7)),
            (Phase::Eval, Some(8)),
            (Phase::Unknown, Some(8)),
        ];
        assert_eq!(found, expected);
        assert_eq!((at(4).basis, at(5).basis), (Some(PhaseBasis::Metadata), None));
    }

    #[test]
    fn steps_that_do_not_count_up_number_nothing() {
        for texts in [["{'step': 7}", "{'step': 9}"], ["{'step': 7}", "{'step': 7}"]] {
            let snapshot = saying(&texts);
            assert!(
                Attribution::of(&snapshot, &snapshot.timelines[0], &UserRules::default())
                    .phases
                    .iterations
                    .list
                    .is_empty()
            );
        }
    }

    #[test]
    fn steps_and_phases_are_read_from_keys_and_values() {
        let said = |step, phase| Said { step, phase };
        assert_eq!(Said::in_text(r#"{"step":3,"phase":"forward"}"#), said(Some(3), Some(Phase::Forward)));
        assert_eq!(Said::in_text("{'global_step': 12, 'lr': 0.1}"), said(Some(12), None));
        assert_eq!(Said::in_text("phase=eval"), said(None, Some(Phase::Eval)));
        assert_eq!(Said::in_text("input tokens of step 2"), Said::default());
        assert_eq!(Said::in_text("{'footstep': 3, 'phase': 'unknown'}"), Said::default());
        assert_eq!(Said::in_text("{'step': -1}"), Said::default());
    }
}
