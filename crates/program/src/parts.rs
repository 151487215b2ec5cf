//! Calls of models that do not train, but are a part of each training step: those of a teacher or a reference model.

use super::frames::{CallFrames, FrameKind};
use super::run::Run;
use super::share::MOST;
use super::span::Span;
use oomscope_analysis::Phase;
use oomscope_model::Moment;
use std::ops::Range;

/// Calls right before a pass belong to its step if at least every second iteration has some: evaluation comes now and then. If
/// it comes in every iteration, the program calls the model by another way than in the pass, and each of both has data of its own.
pub(super) fn find_parts(run: &Run<'_>, frames: &CallFrames, spans: &mut [Span]) {
    let phases = &run.attribution.phases;
    let data_is_seen = phases.phases.iter().any(|start| start.phase == Phase::Data);
    let mut parts = Vec::new();
    let mut passes = 0;
    for at in 1..spans.len() {
        let Span::Pass(pass) = &spans[at] else { continue };
        let has_data = !data_is_seen || phases.phase_at(Moment(pass.events.start + 1)) == Phase::Data;
        let way = way(run, frames, &pass.events).filter(|_| has_data);
        let is_of_another = |events: &Range<u32>| {
            let other = || self::way(run, frames, events);
            way.as_ref().is_some_and(|way| other().is_some_and(|other| other != *way))
        };
        let is_part = |&before: &usize| {
            let next = spans.get(before + 1).map(|next| next.events().start);
            matches!(&spans[before], Span::Eval(events, _) if next == Some(events.end) && !is_of_another(events))
        };
        let before: Vec<usize> = (0..at).rev().take_while(is_part).collect();
        passes += usize::from(!before.is_empty());
        parts.extend(before);
    }
    if MOST.is_reached(passes, phases.iterations.list.len()) && 1 < passes {
        for part in parts {
            if let Span::Eval(_, is_part) = &mut spans[part] {
                *is_part = true;
            }
        }
    }
}

/// The functions on the way to the first call of a model in some events, outermost first; `None` if stacks show no call.
fn way(run: &Run<'_>, frames: &CallFrames, events: &Range<u32>) -> Option<Vec<u32>> {
    run.made_in(events).find_map(|id| {
        let mut functions = Vec::new();
        for line in frames.path(run.recording.snapshot(), run.recording.stack(id)) {
            let frame = frames.get(line);
            if frame.kind == FrameKind::Call {
                return (!functions.is_empty()).then_some(functions);
            }
            functions.push(frame.function);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use crate::{Computation, Run, Span};
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, LOSS, Program, ZERO_GRAD};

    const MIB: i64 = 1 << 20;
    const MAIN: &str = "/home/me/train.py:90 <module>";
    const CALL: &str = "torch/nn/modules/module.py _call_impl";
    const LINEAR: &str = "torch/nn/modules/linear.py forward";
    const TRAIN: [&str; 4] = [LINEAR, CALL, "/home/me/train.py:20 train", MAIN];

    /// How many evaluations there are in three iterations that each call a model without training before they train: from
    /// some stack, with data of its own or not.
    fn evaluations(stack: &[&'static str], own_data: bool) -> usize {
        let mut program = Program::default();
        for size in [3 * MIB, 5 * MIB] {
            program.alloc(size, LOAD);
        }
        for _ in 0..3 {
            let first = program.alloc(MIB, DATA);
            let values: Vec<u64> = (0..4).map(|_| program.alloc(8 * MIB, stack)).collect();
            for value in values {
                program.free(value, stack);
            }
            let input = own_data.then(|| program.alloc(MIB, DATA));
            let kept: Vec<u64> = (0..4).map(|_| program.alloc(8 * MIB, &TRAIN)).collect();
            let loss = program.alloc(4, LOSS);
            for address in kept.into_iter().rev() {
                program.free(address, BACKWARD);
            }
            let gradients = [3 * MIB, 5 * MIB].map(|size| program.alloc(size, BACKWARD));
            for address in gradients {
                program.free(address, ZERO_GRAD);
            }
            for address in [loss, first].into_iter().chain(input) {
                program.free(address, DATA);
            }
        }
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let computation = Computation::of(Run { recording: &recording, attribution: &attribution });
        computation.spans.iter().filter(|span| matches!(span, Span::Eval(_, false))).count()
    }

    #[test]
    fn a_teacher_is_a_part_of_the_step() {
        let teacher = [LINEAR, CALL, "/home/me/train.py:18 train", MAIN];
        assert_eq!(evaluations(&teacher, false), 0);
        let in_function = [LINEAR, CALL, "/home/me/train.py:30 targets", "/home/me/train.py:18 train", MAIN];
        assert_eq!(evaluations(&in_function, false), 0);
    }

    #[test]
    fn an_evaluation_in_each_epoch_is_none() {
        let evaluate = [LINEAR, CALL, "/home/me/train.py:30 evaluate", MAIN];
        assert_eq!(evaluations(&evaluate, true), 3);
        // Both may call the model in a function of their own.
        let shared = [LINEAR, CALL, "/home/me/train.py:20 train", "/home/me/train.py:30 evaluate", MAIN];
        assert_eq!(evaluations(&shared, true), 3);
    }
}
