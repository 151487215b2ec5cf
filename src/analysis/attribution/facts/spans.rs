//! From where to where optimizers step, and backwards last.

use super::acts::{Act, Run};
use crate::model::OomEvent;

/// The events of everything of one activity, as stacks show them. What libraries make within does not divide it.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Spans {
    /// First event, and the first event after it.
    spans: Vec<(u32, u32)>,
    /// Whether the trace ends in the last.
    ends_within: bool,
}

impl Spans {
    pub(super) fn of(runs: &[Run], act: Act) -> Self {
        let mut out = Self::default();
        for run in runs.iter().filter(|run| run.act != Act::Aside) {
            match out.spans.last_mut() {
                Some(last) if out.ends_within && run.act == act => last.1 = run.end,
                _ if run.act == act => out.spans.push((run.start, run.end)),
                _ => {}
            }
            out.ends_within = run.act == act;
        }
        out
    }

    /// The one that an event lies in, by its place in order.
    pub(in crate::analysis) fn at(&self, event: u32) -> Option<usize> {
        let at = self.spans.partition_point(|span| span.0 <= event).checked_sub(1)?;
        self.spans.get(at).filter(|span| event < span.1).map(|_| at)
    }

    /// The event at which the one is over that began last before an event.
    pub(in crate::analysis) fn end_after(&self, event: u32) -> u32 {
        let after = self.spans.partition_point(|span| span.0 <= event);
        after.checked_sub(1).and_then(|at| self.spans.get(at)).map_or(event + 1, |span| span.1)
    }

    /// The first event of the first.
    pub(in crate::analysis) fn first(&self) -> Option<u32> {
        self.spans.first().map(|span| span.0)
    }

    /// The first event of the one that an out-of-memory error cut off, or that the trace ends in.
    pub(in crate::analysis) fn cut_from(&self, ooms: &[OomEvent]) -> Option<u32> {
        let last_oom = ooms.last().map_or(0, |oom| oom.event.0);
        let by_oom = self.spans.last().filter(|span| span.0 <= last_oom);
        by_oom.copied().or(self.unfinished()).map(|span| span.0)
    }

    /// The one that the trace ends in.
    pub(in crate::analysis) fn unfinished(&self) -> Option<(u32, u32)> {
        self.spans.last().copied().filter(|_| self.ends_within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackId;

    #[test]
    fn what_libraries_make_within_does_not_divide_it() {
        let run = |start, end, act| Run {
            start,
            end,
            act,
            caller: 0,
            within_step: false,
            closure_line: 0,
            stack: StackId::EMPTY,
        };
        let acts = [Act::Call, Act::Step, Act::Aside, Act::Step, Act::Backward, Act::Step];
        let runs: Vec<Run> = (0..).zip(acts).map(|(at, act)| run(at * 10, at * 10 + 10, act)).collect();
        let spans = Spans::of(&runs, Act::Step);
        assert_eq!(spans.spans, [(10, 40), (50, 60)]);
        assert_eq!([9, 10, 39, 40, 55].map(|event| spans.at(event)), [None, Some(0), Some(0), None, Some(1)]);
        assert_eq!([5, 20, 45].map(|event| spans.end_after(event)), [6, 40, 40]);
        assert_eq!(spans.unfinished(), Some((50, 60)));
    }
}
