//! The stretches of events in which optimizers step, or backwards run.

use super::activities::{Activity, Run};
use oomscope_model::OomEvent;

/// All spans of one activity, as stacks show them. Activity aside, such as buffers that libraries make, does not divide
/// a span.
#[derive(Debug, Default)]
pub(crate) struct ActivitySpans {
    /// First event, and the first event after the span.
    spans: Vec<(u32, u32)>,
    /// Whether the trace ends in the last span.
    ends_within: bool,
}

impl ActivitySpans {
    pub(super) fn of(runs: &[Run], activity: Activity) -> Self {
        let mut out = Self::default();
        for run in runs.iter().filter(|run| run.activity != Activity::Aside) {
            match out.spans.last_mut() {
                Some(last) if out.ends_within && run.activity == activity => last.1 = run.end,
                _ if run.activity == activity => out.spans.push((run.start, run.end)),
                _ => {}
            }
            out.ends_within = run.activity == activity;
        }
        out
    }

    /// The index of the span that an event lies in.
    pub(crate) fn index_at(&self, event: u32) -> Option<usize> {
        let at = self.spans.partition_point(|span| span.0 <= event).checked_sub(1)?;
        self.spans.get(at).filter(|span| event < span.1).map(|_| at)
    }

    /// The end of the last span that begins at or before an event; the event after it if none does.
    pub(crate) fn end_after(&self, event: u32) -> u32 {
        let after = self.spans.partition_point(|span| span.0 <= event);
        after.checked_sub(1).and_then(|at| self.spans.get(at)).map_or(event + 1, |span| span.1)
    }

    /// The first event of the first span.
    pub(crate) fn first_event(&self) -> Option<u32> {
        self.spans.first().map(|span| span.0)
    }

    /// The first event of the last span, if an out-of-memory error cut it off or the trace ends in it.
    pub(crate) fn cut_from(&self, ooms: &[OomEvent]) -> Option<u32> {
        let last_oom = ooms.last().map_or(0, |oom| oom.event.0);
        let by_oom = self.spans.last().filter(|span| span.0 <= last_oom);
        by_oom.copied().or(self.unfinished()).map(|span| span.0)
    }

    /// Whether an out-of-memory error came in the span that the trace ends in.
    pub(crate) fn is_cut(&self, ooms: &[OomEvent]) -> bool {
        let last_oom = ooms.last().map(|oom| oom.event.0);
        self.unfinished().zip(last_oom).is_some_and(|(span, oom)| span.0 <= oom)
    }

    /// The span that the trace ends in.
    pub(crate) fn unfinished(&self) -> Option<(u32, u32)> {
        self.spans.last().copied().filter(|_| self.ends_within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::StackId;

    #[test]
    fn buffers_that_libraries_make_within_a_span_do_not_divide_it() {
        let run = |start, end, activity| Run {
            start,
            end,
            activity,
            caller: 0,
            within_step: false,
            closure_line: 0,
            stack: StackId::EMPTY,
        };
        let activities = [
            Activity::Call,
            Activity::Step,
            Activity::Aside,
            Activity::Step,
            Activity::Backward,
            Activity::Step,
        ];
        let runs: Vec<Run> =
            (0..).zip(activities).map(|(at, activity)| run(at * 10, at * 10 + 10, activity)).collect();
        let spans = ActivitySpans::of(&runs, Activity::Step);
        assert_eq!(spans.spans, [(10, 40), (50, 60)]);
        let found = [9, 10, 39, 40, 55].map(|event| spans.index_at(event));
        assert_eq!(found, [None, Some(0), Some(0), None, Some(1)]);
        assert_eq!([5, 20, 45].map(|event| spans.end_after(event)), [6, 40, 40]);
        assert_eq!(spans.unfinished(), Some((50, 60)));
    }
}
