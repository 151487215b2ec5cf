//! A recording with the rest of the step that failed.

use super::counterparts::Counterparts;
use super::course::{Basis, Course, Like, Turn, Unprojected};
use super::earlier::Earlier;
use super::failure::Failure;
use super::first::{self, Written};
use super::rest;
use super::sizes::Sizes;
use super::turns::Turns;
use crate::share::WORTH;
use crate::{Computation, Run};
use oomscope_analysis::Attribution;
use oomscope_model::{Moment, Recording};
use oomscope_simulator::{Subject, Until};
use std::ops::Range;

/// A recording with the rest of the step that failed.
#[derive(Debug)]
pub struct Projection {
    /// The recording up to the request that failed, that request, and what is projected.
    pub recording: Recording,
    /// What its allocations are for.
    pub attribution: Attribution,
    /// What the rest follows.
    pub course: Course,
}

impl Projection {
    /// Project the rest of the step in which a run's last request failed, where nothing else is asked of what the run computes.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub fn of_run(run: Run<'_>) -> Result<Self, Unprojected> {
        // What it computes takes a while to find out.
        Failure::of(run.recording)?;
        Self::of(&Computation::of(run))
    }

    /// What the rest follows.
    pub fn course(&self) -> Course {
        self.course
    }

    /// A device's requests with those that are projected, from those that were recorded.
    pub fn requests(&self, recorded: &Subject) -> Subject {
        recorded.continued(&self.recording, self.course.from, self.course.until)
    }

    /// Project the rest of the step in which a program's last request failed.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub fn of(computation: &Computation<'_>) -> Result<Self, Unprojected> {
        let run = &computation.run;
        let failure = Failure::of(run.recording)?;
        for turns in [Turns::iterations(run, &failure)].into_iter().chain(Turns::calls(run, &failure)) {
            if let Some(earlier) = Earlier::find(run, &failure, &turns)
                && !(turns.are_calls() && leaves_graphs(computation, &turns, &earlier))
            {
                return Ok(Self::like(computation, &failure, &turns, &earlier));
            }
        }
        Self::of_first(computation, &failure)
    }

    /// Project the rest of a step as an earlier one went on.
    fn like(computation: &Computation<'_>, failure: &Failure, turns: &Turns, earlier: &Earlier) -> Self {
        let run = &computation.run;
        let counterparts = Counterparts::of(run, turns, earlier);
        let sizes = Sizes::of(computation, earlier, &counterparts);
        let events = rest::events(rest::Basis {
            run: *run,
            failure,
            earlier,
            counterparts: &counterparts,
            sizes: &sizes,
        });
        let recording = run.recording.continued(failure.event.0, &events);
        let attribution = run.attribution.of_other(&recording);
        let course = Course {
            from: failure.event,
            events: events.len() as u32,
            of_step: events.len() as u32,
            failed: turns.name(run, earlier.failed_index, Moment(failure.event.0)),
            until: if turns.are_calls() { Until::Call } else { Until::Step },
            basis: Basis::Earlier(Like {
                turn: turns.name(run, earlier.index, Moment::after(earlier.at)),
                moments: (
                    (0 < earlier.index).then_some(Moment(earlier.events.start)),
                    Moment(earlier.events.end),
                ),
                apart: (earlier.failed_index - earlier.index) as u32,
                alike: earlier.alike.share(),
                ratio: sizes.ratio(),
            }),
        };
        Self { recording, attribution, course }
    }

    /// Project the rest of a step that no earlier one is like.
    fn of_first(computation: &Computation<'_>, failure: &Failure) -> Result<Self, Unprojected> {
        let run = &computation.run;
        let Written { events, of_step, until, structure } = first::events(computation, failure)?;
        let recording = run.recording.continued(failure.event.0, &events);
        let from = run.recording.events.stack(failure.event);
        let attribution = run.attribution.of_continued(&recording, from);
        let course = Course {
            from: failure.event,
            events: events.len() as u32,
            of_step: of_step as u32,
            failed: Turn::of_position(run.attribution.phases.position_at(Moment(failure.event.0))),
            until,
            basis: Basis::Structure(structure),
        };
        Ok(Self { recording, attribution, course })
    }
}

/// Whether one call after another leaves much behind in a program that trains: graphs that no backward gives back, which a change of
/// the program ends in another way than those calls show. One may stay until the next is made; two grow.
fn leaves_graphs(computation: &Computation<'_>, turns: &Turns, earlier: &Earlier) -> bool {
    let active = &computation.run.recording.active;
    let leaves_much = |call: Range<u32>, next: &Range<u32>| {
        let [before, after] = [call.start, next.start].map(|event| active.at(Moment(event)));
        call.end == next.start && WORTH.is_exceeded(after - before, after)
    };
    let Some(before) = earlier.index.checked_sub(1).map(|index| turns.events(index)) else { return false };
    computation.has_backward()
        && leaves_much(before, &earlier.events)
        && leaves_much(earlier.events.clone(), &earlier.failed)
}
