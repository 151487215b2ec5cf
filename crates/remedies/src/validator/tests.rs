//! The validator, on a program whose bytes can be added up by hand.

use super::is_possible;
use crate::offer::{Effort, Offer, Part};
use crate::precondition::Precondition;
use crate::predict::predict;
use crate::registry::FAMILIES;
use crate::scene::Scene;
use crate::tried::{Needed, Tried};
use crate::wanted::Wish;
use oomscope_analysis::{Attribution, Category, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, Program as Script, STATE, ZERO_GRAD};
use oomscope_model::{AllocId, RecordedTensor, RecordedTensors, ShapeId, Snapshot};
use oomscope_program::{Run, Workload};
use oomscope_simulator::{Device, Program, Subject};

const MIB: i64 = 1 << 20;
const FORWARD: &[&str] = &[
    "torch/nn/modules/linear.py forward",
    "torch/nn/modules/module.py _call_impl",
    "/home/me/model.py:20 forward",
    "torch/nn/modules/module.py _call_impl",
    "/home/me/train.py:90 <module>",
];

/// Three steps with 12 MiB of parameters, as much of state, inputs of a MiB and activations of 60.
fn trained() -> Snapshot {
    let mut program = Script::default();
    let parameters = [5 * MIB, 7 * MIB];
    for size in parameters {
        program.alloc(size, LOAD);
    }
    for step in 0..3 {
        let input = program.alloc(MIB, DATA);
        let kept = [40 * MIB, 20 * MIB].map(|size| program.alloc(size, FORWARD));
        for address in kept.into_iter().rev() {
            program.free(address, BACKWARD);
        }
        let gradients = parameters.map(|size| program.alloc(size, BACKWARD));
        if step == 0 {
            for size in parameters {
                program.alloc(size, STATE);
            }
        }
        for address in gradients {
            program.free(address, ZERO_GRAD);
        }
        program.free(input, DATA);
    }
    program.file()
}

/// Note the shape of all inputs.
fn with_input_shape(mut snapshot: Snapshot, shape: [i64; 2]) -> Snapshot {
    let mut text = |text: &str| snapshot.strings.intern(text.as_bytes()).0;
    let (operator, dtype) = (text("aten.to"), text("torch.float32"));
    let timeline = &snapshot.timelines[0];
    let all = (0..timeline.lifetimes.len() as u32).map(|id| timeline.allocation(AllocId(id)));
    let inputs = all.filter(|allocation| allocation.size == MIB);
    let tensor = |addr| RecordedTensor { device: None, addr, operator, dtype, shape: ShapeId(0) };
    let tensors = inputs.map(|input| tensor(input.addr)).collect();
    snapshot.tensors = RecordedTensors::new(tensors, vec![shape.into()]);
    snapshot
}

fn on_scene<R>(snapshot: Snapshot, ask: impl FnOnce(&Scene<'_>) -> R) -> R {
    let recording = &first(snapshot);
    let attribution = Attribution::of(recording, &UserRules::default());
    let subject = Subject::new(recording);
    let device = Device::default();
    let run = Run { recording, attribution: &attribution };
    ask(&Scene::new(&Workload::of(run), &subject, device))
}

/// Whether a smaller batch is among the remedies, and whether something else is.
fn offers(snapshot: Snapshot) -> (bool, bool) {
    let found = on_scene(snapshot, |scene| predict(scene, &Wish::default(), &|_, _| true));
    let is_smaller = |id: &str| id.contains("half-batch") || id.contains("quarter-batch");
    let (smaller, others): (Vec<_>, Vec<_>) =
        found.remedies.iter().partition(|remedy| is_smaller(&remedy.id));
    (!smaller.is_empty(), !others.is_empty())
}

#[test]
fn a_batch_of_one_sample_is_not_split() {
    assert_eq!(offers(trained()), (true, true), "nothing shows how many samples there are");
    assert_eq!(offers(with_input_shape(trained(), [4, MIB / 16])), (true, true));
    assert_eq!(offers(with_input_shape(trained(), [1, MIB / 4])), (false, true));
}

#[test]
fn a_batch_is_split_down_to_single_samples() {
    let degrees = |snapshot: Snapshot| {
        on_scene(snapshot, |scene| {
            let all: Vec<Offer<'_>> = FAMILIES.iter().flat_map(|family| (family.offers)(scene)).collect();
            let of_batch = all.iter().filter(|offer| offer.id == "micro-batch");
            of_batch.map(|offer| offer.price.passes).collect::<Vec<u32>>()
        })
    };
    assert_eq!(degrees(with_input_shape(trained(), [16, MIB / 64])), [2, 3, 4, 6, 8, 16]);
    assert_eq!(degrees(with_input_shape(trained(), [4, MIB / 16])), [2, 4]);
    // A MiB of input is no three samples of the same size.
    assert_eq!(degrees(trained()), [2, 4, 8]);
}

#[test]
fn what_cannot_fit_is_not_replayed() {
    on_scene(trained(), |scene| {
        let program = Program::recorded(scene.run.recording);
        let baseline = Tried::recorded(scene, &program);
        let offer = without(scene, Part::Checkpoints, Category::Activation);
        let tried = |needed| Tried::of(scene, &program, &baseline, &[&offer], needed);
        let requested = tried(Needed::Figures).expect("its figures are needed").figures.peak_requested;
        assert!(tried(Needed::Fit(requested)).is_some() && tried(Needed::Fit(requested - 1)).is_none());
        let never = |_: &Device| panic!("it is not replayed");
        assert!(Needed::Fit(requested - 1).outcome(requested, &scene.device, &never).is_none());
    });
}

/// An offer that leaves out what is of a category.
fn without<'a>(scene: &'a Scene<'_>, part: Part, category: Category) -> Offer<'a> {
    let precondition = Precondition::new("there is some");
    Offer::new("without", "leave something out", (part, Effort::Lines), precondition, move |program| {
        program.leave_out_all(&scene.run.of_category(category));
    })
}

#[test]
fn only_what_changes_parameters_may_go_below_them() {
    on_scene(trained(), |scene| {
        let program = Program::recorded(scene.run.recording);
        let baseline = Tried::recorded(scene, &program);
        let is_possible = |part, category| {
            let offer = without(scene, part, category);
            Tried::of(scene, &program, &baseline, &[&offer], Needed::Figures)
                .is_some_and(|tried| is_possible(&tried))
        };
        assert!(is_possible(Part::Precision, Category::Parameter));
        assert!(is_possible(Part::Place, Category::Parameter));
        assert!(!is_possible(Part::Batch, Category::Parameter));
        assert!(!is_possible(Part::Checkpoints, Category::Parameter));
        assert!(is_possible(Part::Checkpoints, Category::Activation));
    });
}
