//! From where to where optimizers step.

use super::acts::{Act, Run};

/// The events of each optimizer step, as stacks show them. What libraries make within does not divide a step.
#[derive(Debug, Default)]
pub(in crate::analysis) struct StepSpans {
    /// First event, and the first event after it.
    spans: Vec<(u32, u32)>,
    /// Whether the trace ends in the last.
    ends_in_step: bool,
}

impl StepSpans {
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut out = Self::default();
        for run in runs.iter().filter(|run| run.act != Act::Aside) {
            match out.spans.last_mut() {
                Some(last) if out.ends_in_step && run.act == Act::Step => last.1 = run.end,
                _ if run.act == Act::Step => out.spans.push((run.start, run.end)),
                _ => {}
            }
            out.ends_in_step = run.act == Act::Step;
        }
        out
    }

    /// The step that an event lies in, by its place in order.
    pub(in crate::analysis) fn at(&self, event: u32) -> Option<usize> {
        let at = self.spans.partition_point(|span| span.0 <= event).checked_sub(1)?;
        self.spans.get(at).filter(|span| event < span.1).map(|_| at)
    }

    /// The event at which the step is over that began last before an event.
    pub(in crate::analysis) fn end_after(&self, event: u32) -> u32 {
        let after = self.spans.partition_point(|span| span.0 <= event);
        after.checked_sub(1).and_then(|at| self.spans.get(at)).map_or(event + 1, |span| span.1)
    }

    /// The step that the trace ends in.
    pub(in crate::analysis) fn unfinished(&self) -> Option<(u32, u32)> {
        self.spans.last().copied().filter(|_| self.ends_in_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackId;

    #[test]
    fn what_libraries_make_within_does_not_divide_a_step() {
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
        let spans = StepSpans::of(&runs);
        assert_eq!(spans.spans, [(10, 40), (50, 60)]);
        assert_eq!([9, 10, 39, 40, 55].map(|event| spans.at(event)), [None, Some(0), Some(0), None, Some(1)]);
        assert_eq!([5, 20, 45].map(|event| spans.end_after(event)), [6, 40, 40]);
        assert_eq!(spans.unfinished(), Some((50, 60)));
    }
}
