//! Steps and phases that a program attached to its events: `user_metadata` such as
//! `{"step": 3, "phase": "forward"}`.

use super::phase::{Phase, PhaseStart};
use oomscope_model::{Context, EventIx, Recording, Timeline};

/// The keys under which programs write the number of an iteration.
const STEP_KEYS: [&str; 5] = ["step", "global_step", "iteration", "iter", "train_step"];

/// The step and the phase that metadata of an event names.
pub fn named_step_and_phase(text: &str) -> (Option<u32>, Option<Phase>) {
    let step = STEP_KEYS.into_iter().find_map(|key| value(text, key)?.parse().ok());
    let named = |name: &str| Phase::ALL.into_iter().find(|phase| phase.key() == name);
    let phase = value(text, "phase").and_then(named).filter(|&phase| phase != Phase::Unknown);
    (step, phase)
}

/// The module that metadata of an event names: the value of the key `module`, such as `h.0.attn`.
pub fn named_module(text: &str) -> Option<&str> {
    value(text, "module").filter(|name| !name.is_empty())
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

/// The metadata of all events.
pub(super) struct Metadata {
    /// The step and the phase, by the context that events share.
    by_context: Vec<(Option<u32>, Option<Phase>)>,
}

impl Metadata {
    /// Read the metadata; `None` if no event has a step or a phase in it.
    pub(super) fn of(recording: &Recording) -> Option<Self> {
        let read = |context: &Context| {
            let text = context.user_metadata.map(|id| recording.snapshot().strings.name(id));
            text.map_or((None, None), |text| named_step_and_phase(&text))
        };
        let by_context: Vec<_> = recording.events.contexts().iter().map(read).collect();
        let is_empty = by_context.iter().all(|found| *found == (None, None));
        (!is_empty).then_some(Self { by_context })
    }

    fn at(&self, timeline: &Timeline, event: EventIx) -> (Option<u32>, Option<Phase>) {
        self.by_context.get(timeline.events.context_index(event)).copied().unwrap_or_default()
    }

    /// The first event of every step, and the number of the first step; `None` unless they count up by one.
    pub(super) fn steps(&self, timeline: &Timeline) -> Option<(Vec<EventIx>, u32)> {
        let mut steps: Vec<(u32, EventIx)> = Vec::new();
        for event in timeline.events.indices() {
            let (Some(step), _) = self.at(timeline, event) else { continue };
            match steps.last() {
                Some(&(last, _)) if last == step => {}
                Some(&(last, _)) if last.checked_add(1) != Some(step) => return None,
                _ => steps.push((step, event)),
            }
        }
        let first = steps.first()?.0;
        // A single one does not show how a run is structured.
        (1 < steps.len()).then(|| (steps.into_iter().map(|step| step.1).collect(), first))
    }

    /// Phases and their ranges of events. A phase goes on while events without metadata follow in the same step.
    fn ranges(&self, timeline: &Timeline) -> Vec<(Phase, [u32; 2])> {
        let mut ranges: Vec<(Phase, [u32; 2])> = Vec::new();
        let mut step = None;
        for event in timeline.events.indices() {
            let (own_step, Some(phase)) = self.at(timeline, event) else { continue };
            let goes_on = own_step.is_some() && own_step == step;
            match ranges.last_mut() {
                Some((last, range)) if *last == phase && (goes_on || range[1] == event.0) => {
                    range[1] = event.0 + 1;
                }
                _ => ranges.push((phase, [event.0, event.0 + 1])),
            }
            step = own_step;
        }
        ranges
    }

    /// Phases with those in the metadata laid over them, and the ranges of events that these cover. An event without
    /// metadata, as another thread's, is in the phase of its neighbours if they agree.
    pub(super) fn laid_over(
        &self,
        timeline: &Timeline,
        found: &[PhaseStart],
    ) -> (Vec<PhaseStart>, Vec<[u32; 2]>) {
        let ranges = self.ranges(timeline);
        let mut phases: Vec<PhaseStart> = Vec::new();
        let mut rest = ranges.iter().peekable();
        let mut enter = |event: u32, phase| {
            if phases.last().is_none_or(|last: &PhaseStart| last.phase != phase) {
                phases.push(PhaseStart { event: EventIx(event), phase });
            }
        };
        for (at, start) in found.iter().enumerate() {
            let end = found.get(at + 1).map_or(u32::MAX, |next| next.event.0);
            let mut from = start.event.0;
            while let Some(&&(phase, [first, last])) = rest.peek().filter(|range| range.1[0] < end) {
                if from < first {
                    enter(from, start.phase);
                }
                enter(first.max(from), phase);
                from = last;
                if end < last {
                    break;
                }
                rest.next();
            }
            if from < end {
                enter(from, start.phase);
            }
        }
        (phases, ranges.into_iter().map(|range| range.1).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attribution, PhaseBasis, UserRules};
    use oomscope_fixtures::first;
    use oomscope_model::{
        Action, Anchor, DeviceId, Event, EventTable, Moment, SegmentTable, Snapshot, TimelineInput,
    };

    /// A recording of one allocation for each text, with the text as its metadata.
    fn with_metadata(texts: &[&str]) -> Snapshot {
        let (mut snapshot, mut events) = (Snapshot::default(), EventTable::default());
        for (at, text) in texts.iter().enumerate() {
            let user_metadata = Some(snapshot.strings.intern(text.as_bytes()).0);
            let event = Event::new(Action::Alloc, (at as u64 + 1) << 20, 512);
            events.push(&Event { user_metadata, ..event });
        }
        let segments = SegmentTable::default();
        let input = TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly };
        snapshot.timelines.push(Timeline::build(input).into());
        snapshot
    }

    #[test]
    fn phases_in_metadata_come_first() {
        let forward = "{'step': 7, 'phase': 'forward'}";
        let snapshot = with_metadata(&["", forward, "", forward, "", "{'step': 8, 'phase': 'eval'}", ""]);
        let phases = Attribution::of(&first(snapshot), &UserRules::default()).phases;
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
            let snapshot = with_metadata(&texts);
            assert!(
                Attribution::of(&first(snapshot), &UserRules::default()).phases.iterations.list.is_empty()
            );
        }
    }

    #[test]
    fn a_module_is_read_from_its_key() {
        assert_eq!(named_module(r#"{"step":3,"module":"h.0.attn"}"#), Some("h.0.attn"));
        assert_eq!(named_module("module=encoder; step=1"), Some("encoder"));
        for text in ["{'module': ''}", "{'submodule': 'a'}", "module a", "grad of h.0.weight"] {
            assert_eq!(named_module(text), None, "{text}");
        }
    }

    #[test]
    fn steps_and_phases_are_read_from_keys_and_values() {
        let of = named_step_and_phase;
        assert_eq!(of(r#"{"step":3,"phase":"forward"}"#), (Some(3), Some(Phase::Forward)));
        assert_eq!(of("{'global_step': 12, 'lr': 0.1}"), (Some(12), None));
        assert_eq!(of("phase=eval"), (None, Some(Phase::Eval)));
        assert_eq!(of("input tokens of step 2"), (None, None));
        assert_eq!(of("{'footstep': 3, 'phase': 'unknown'}"), (None, None));
        assert_eq!(of("{'step': -1}"), (None, None));
    }
}
