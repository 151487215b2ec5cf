//! The passes and evaluations of a recording, in order.

use super::frames::CallFrames;
use super::parts::find_parts;
use super::run::Run;
use super::share::MOST;
use super::span::{Pass, Span};
use oomscope_analysis::{Phase, Phases};
use oomscope_model::{EventIx, Moment};
use std::ops::Range;

/// Passes and evaluations, in order.
#[derive(Debug, Default)]
pub struct Spans(Vec<Span>);

impl Spans {
    /// Find them in a recording.
    pub fn of(run: &Run<'_>, frames: &CallFrames) -> Self {
        let mut builder = Builder::default();
        for piece in pieces(run) {
            builder.add(piece);
        }
        builder.close();
        let mut spans = builder.spans;
        find_parts(run, frames, &mut spans);
        Self(spans)
    }

    /// The span that an event lies in.
    pub fn at(&self, event: EventIx) -> Option<&Span> {
        let after = self.0.partition_point(|span| span.events().start <= event.0);
        self.0.get(after.checked_sub(1)?).filter(|span| event.0 < span.events().end)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Span> {
        self.0.iter()
    }

    /// The passes.
    pub fn passes(&self) -> impl Iterator<Item = &Pass> {
        self.0.iter().filter_map(|span| match span {
            Span::Pass(pass) => Some(pass),
            Span::Eval(..) => None,
        })
    }

    /// The calls that do not train, those that are a part of each step included.
    pub fn calls(&self) -> impl Iterator<Item = &Range<u32>> {
        self.0.iter().filter_map(|span| match span {
            Span::Pass(_) => None,
            Span::Eval(events, _) => Some(events),
        })
    }
}

/// A stretch of events of one kind.
struct Piece {
    kind: Kind,
    events: Range<u32>,
}

/// The kind of a stretch of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Data is loaded.
    Data,
    /// A model is called, or a loss is computed; whether a backward follows is known where what they keep shows it.
    Call(Option<bool>, Phase),
    /// Gradients are computed.
    Backward,
    /// Something else.
    Other,
}

/// The phases of a recording, with a piece for each call of a model.
fn pieces(run: &Run<'_>) -> Vec<Piece> {
    let phases = &run.attribution.phases;
    let events = run.recording.events.len() as u32;
    let ends = phases.phases.iter().skip(1).map(|next| next.event.0).chain([events]);
    let mut out = Vec::new();
    for (start, end) in phases.phases.iter().zip(ends) {
        let whole = start.event.0..end;
        match start.phase {
            Phase::Data => out.push(Piece { kind: Kind::Data, events: whole }),
            Phase::Backward => out.push(Piece { kind: Kind::Backward, events: whole }),
            Phase::Init | Phase::Optimizer | Phase::Unknown => {
                out.push(Piece { kind: Kind::Other, events: whole });
            }
            Phase::Forward | Phase::Eval => {
                for events in calls(phases, whole) {
                    let kind = Kind::Call(is_trained(run, &events), start.phase);
                    out.push(Piece { kind, events });
                }
            }
        }
    }
    out
}

/// A phase in pieces, each of which begins with a call of a model.
fn calls(phases: &Phases, whole: Range<u32>) -> Vec<Range<u32>> {
    let calls = &phases.calls;
    let after = |event: u32| calls.partition_point(|call| call.event.0 <= event);
    let within = &calls[after(whole.start)..after(whole.end.saturating_sub(1)).max(after(whole.start))];
    let starts = [whole.start].into_iter().chain(within.iter().map(|call| call.event.0));
    let ends = within.iter().map(|call| call.event.0).chain([whole.end]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Whether a backward frees most of the tensors that some events hold at once, or something else does; `None` if most stay.
/// Numbers tell more than bytes: the largest tensors are often results, which the program keeps as long as it likes.
fn is_trained(run: &Run<'_>, events: &Range<u32>) -> Option<bool> {
    let lifetimes = &run.recording.lifetimes;
    let (peak, _) = run.recording.active.peak_in(events.start as usize + 1..events.end as usize + 1)?;
    let (mut all, mut in_backward, mut otherwise) = (0u32, 0u32, 0u32);
    for id in lifetimes.started_between(Moment(events.start), peak) {
        let end = lifetimes.end(id);
        if end.is_some_and(|end| end <= peak) {
            continue;
        }
        all += 1;
        match end.map(|end| run.attribution.phases.phase_at(end)) {
            Some(Phase::Backward) => in_backward += 1,
            Some(_) => otherwise += 1,
            None => {}
        }
    }
    let is_most = |part: u32| MOST.is_exceeded(part, all);
    if is_most(in_backward) { Some(true) } else { is_most(otherwise).then_some(false) }
}

/// The kind of span that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Under {
    /// Data is loaded.
    Data,
    /// A model is trained, and no backward came yet; whether one is known to come.
    Forward(bool),
    /// The backward runs, from this event on.
    Backward(u32),
    /// A model is called once without workload.
    Eval,
}

/// Puts spans together from pieces.
#[derive(Default)]
struct Builder {
    spans: Vec<Span>,
    open: Option<(Under, Range<u32>)>,
    /// Data that is loaded during an evaluation, or after it for what comes next.
    data: Option<u32>,
}

impl Builder {
    fn add(&mut self, piece: Piece) {
        let under = self.open.as_ref().map(|open| open.0);
        match (piece.kind, under) {
            // Some programs drop gradients between a forward and its backward.
            (Kind::Other, Some(under @ Under::Forward(true)))
            | (Kind::Data, Some(under @ Under::Forward(_))) => {
                self.go_on(under, piece.events);
            }
            (Kind::Other, _) => self.close(),
            (Kind::Data, Some(Under::Eval)) => {
                self.data.get_or_insert(piece.events.start);
            }
            (Kind::Data, _) => self.start(Under::Data, piece.events),
            (Kind::Backward, Some(Under::Backward(start))) => {
                self.go_on(Under::Backward(start), piece.events);
            }
            (Kind::Backward, Some(Under::Data | Under::Forward(_))) => {
                self.go_on(Under::Backward(piece.events.start), piece.events);
            }
            (Kind::Backward, _) => self.start(Under::Backward(piece.events.start), piece.events),
            (Kind::Call(is_trained, phase), under) => self.add_call(is_trained, phase, under, piece.events),
        }
    }

    fn add_call(&mut self, is_trained: Option<bool>, phase: Phase, under: Option<Under>, events: Range<u32>) {
        let now = match under {
            // Whatever is called before the backward that is known to come, such as a loss, is a part of the pass.
            Some(Under::Forward(true)) => Under::Forward(true),
            _ if is_trained.unwrap_or(phase == Phase::Forward) => Under::Forward(is_trained == Some(true)),
            _ => Under::Eval,
        };
        match (under, now) {
            (Some(Under::Data), _) | (Some(Under::Forward(_)), Under::Forward(_)) => self.go_on(now, events),
            _ => self.start(now, events),
        }
    }

    fn go_on(&mut self, under: Under, events: Range<u32>) {
        self.data = None;
        if let Some((now, range)) = &mut self.open {
            *now = under;
            range.end = events.end;
        }
    }

    /// Begin something else; data that was loaded just before belongs to it.
    fn start(&mut self, under: Under, events: Range<u32>) {
        let start = self.data.take().unwrap_or(events.start);
        self.close();
        self.open = Some((under, start..events.end));
    }

    fn close(&mut self) {
        self.data = None;
        let Some((under, events)) = self.open.take() else { return };
        match under {
            Under::Data => {}
            Under::Eval => self.spans.push(Span::Eval(events, false)),
            Under::Forward(_) => self.spans.push(Span::Pass(Pass { backward: events.end, events })),
            Under::Backward(backward) => self.spans.push(Span::Pass(Pass { events, backward })),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Computation, Run};
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, Program, ZERO_GRAD};

    const MIB: i64 = 1 << 20;

    #[test]
    fn stacks_that_frees_have_of_their_allocations_tell_nothing() {
        let mut program = Program::default();
        let parameters = [3 * MIB, 5 * MIB];
        for size in parameters {
            program.alloc(size, LOAD);
        }
        for _ in 0..3 {
            let input = program.alloc(MIB, DATA);
            let kept = [8 * MIB; 4].map(|size| program.alloc(size, FORWARD));
            let mut gradients = Vec::new();
            for (index, address) in kept.into_iter().rev().enumerate() {
                let made = program.alloc(parameters[index % 2], BACKWARD);
                gradients.push(made);
                program.free(address, FORWARD);
            }
            for address in gradients {
                program.free(address, BACKWARD);
            }
            let state = program.alloc(MIB, ZERO_GRAD);
            program.free(state, ZERO_GRAD);
            program.free(input, DATA);
        }
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let computation = Computation::of(Run { recording: &recording, attribution: &attribution });
        assert_eq!(computation.spans.passes().count(), 3, "{:?}", computation.spans);
    }
}
