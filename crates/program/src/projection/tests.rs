//! Programs that are cut where a request could not be met, against how they really went on.

use super::{Projection, Unprojected};
use crate::{Computation, Run};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, LOSS, Program, train};
use oomscope_model::{Action, Bytes, Event, EventIx, Moment, Recording, Timeline};

const MIB: i64 = 1 << 20;

/// What is projected where the request of an event fails, and `then` follows it.
fn projected(recording: &Recording, event: EventIx, then: &[Event]) -> Result<Projection, Unprojected> {
    let failed = recording.events.get(event);
    let oom =
        Event { action: Action::Oom, addr: None, size: (failed.size + Bytes(511)) / 512 * 512, ..failed };
    let cut = recording.continued(event.0, &[&[oom], then].concat());
    let attribution = Attribution::of(&cut, &UserRules::default());
    Projection::of(&Computation::of(Run { recording: &cut, attribution: &attribution }))
}

/// Iterations that train on batches of some sizes in MiB. With `keeps`, each result is kept for good.
fn batches(sizes: &[i64], keeps: bool) -> Recording {
    let mut program = Program::default();
    let parameters = [3 * MIB, 5 * MIB];
    for size in parameters {
        program.alloc(size, LOAD);
    }
    for &size in sizes {
        let input = program.alloc(size * 1000, DATA);
        let kept: Vec<u64> = (1..5).map(|layer| program.alloc(layer * size * MIB, FORWARD)).collect();
        let loss = program.alloc(4, LOSS);
        let result = program.alloc(size * MIB / 2, LOSS);
        let mut gradients = Vec::new();
        for (index, address) in kept.into_iter().rev().enumerate() {
            let passing = program.alloc((4 - index as i64) * size * MIB, BACKWARD);
            program.free(address, BACKWARD);
            if let Some(&of) = parameters.get(index) {
                gradients.push(program.alloc(of, BACKWARD));
            }
            program.free(passing, BACKWARD);
        }
        for address in gradients.into_iter().chain([loss, input]) {
            program.free(address, DATA);
        }
        if !keeps {
            program.free(result, DATA);
        }
    }
    program.finish()
}

/// The events that make something in an iteration.
fn made_in(recording: &Recording, iteration: usize) -> (Vec<EventIx>, Moment) {
    let attribution = Attribution::of(recording, &UserRules::default());
    let iteration = attribution.phases.iterations.list[iteration];
    let events = (iteration.start.0..iteration.end.0).map(EventIx);
    (events.filter(|&event| recording.events.action(event) == Action::Alloc).collect(), iteration.end)
}

#[test]
fn a_step_goes_on_as_the_one_before_it_wherever_it_fails() {
    let mut program = Program::default();
    train(&mut program, 5, None);
    let recording = program.finish();
    let (made, end) = made_in(&recording, 3);
    for &event in made.iter().skip(1) {
        let found = projected(&recording, event, &[]).expect("an iteration before it did the same");
        let values = |timeline: &Timeline| -> Vec<Bytes> {
            (event.0..=end.0).map(|moment| timeline.active.at(Moment(moment))).collect()
        };
        assert_eq!(values(&found.recording), values(&recording), "from {event:?} on");
        assert_eq!((found.course.from, found.course.events), (event, end.0 - event.0));
    }
}

#[test]
fn a_larger_batch_makes_what_depends_on_it_larger() {
    let recording = batches(&[2, 2, 2, 6, 6], false);
    let (made, end) = made_in(&recording, 3);
    for &event in &made[3..] {
        let found = projected(&recording, event, &[]).expect("an iteration before it did the same");
        let truth = recording.active.peak_in(0..end.index() + 1).map(|(_, bytes)| bytes);
        assert_eq!(Some(found.recording.active.peak().1), truth, "from {event:?} on");
        assert!((found.course.like().expect("an iteration").ratio - 3.0).abs() < 1e-9);
    }
}

#[test]
fn what_each_iteration_keeps_goes_on_growing() {
    let recording = batches(&[4; 6], true);
    let (made, end) = made_in(&recording, 4);
    let found = projected(&recording, made[2], &[]).expect("an iteration before it did the same");
    assert_eq!(found.recording.active.at(end), recording.active.at(end));
}

#[test]
fn what_cannot_be_projected_says_why() {
    let recording = batches(&[2, 2, 2], false);
    let reason = |event: EventIx, then: &[Event]| projected(&recording, event, then).err();
    let (first, later) = (made_in(&recording, 0).0, made_in(&recording, 2).0);
    assert_eq!(reason(first[3], &[]), Some(Unprojected::NoEarlierBlock));
    let more = Event::new(Action::Alloc, 1 << 50, MIB);
    assert_eq!(reason(later[3], &[more]), Some(Unprojected::WentOn));
    assert_eq!(reason(later[3], &[Event { action: Action::Snapshot, ..more }]), None);
    let attribution = Attribution::of(&recording, &UserRules::default());
    let whole = Projection::of(&Computation::of(Run { recording: &recording, attribution: &attribution }));
    assert_eq!(whole.err(), Some(Unprojected::Complete));
}
