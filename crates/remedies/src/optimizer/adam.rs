//! Other ways to run Adam: fused, one parameter at a time, with state in 8 bits.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::scene::Scene;
use oomscope_model::AllocId;
use oomscope_program::{AdamStep, OptimizerFacts};
use oomscope_simulator::{Point, Program, Row};
use oomscope_units as units;

/// Tensors with fewer elements keep their state in 32 bits: `min_8bit_size` of bitsandbytes.
const MIN_8BIT_ELEMENTS: u64 = 4096;

/// Bytes of an element of state in 32 bits.
const FLOAT_BYTES: u64 = 4;

/// Elements that share a scale of 4 bytes: the block size of bitsandbytes.
const ELEMENTS_PER_SCALE: u64 = 256;

/// `adamw-fused`, `adamw-foreach-false` and `adamw-8bit`, where torch's Adam shows, alone or with decoupled weight decay.
pub(super) fn offers<'a>(scene: &Scene<'_>, facts: &OptimizerFacts) -> Vec<Offer<'a>> {
    let Some(step) = facts.adam else { return Vec::new() };
    let is_inferred = scene.run.are_inferred(&facts.state);
    let mut all = Vec::new();
    if step != AdamStep::Other {
        all.push(fused(scene, facts));
    }
    if step == AdamStep::Foreach {
        all.push(one_by_one(scene, facts));
    }
    all.push(in_8_bits(scene, facts));
    all.into_iter().map(|offer| offer.inferred(is_inferred)).collect()
}

fn fused<'a>(scene: &Scene<'_>, facts: &OptimizerFacts) -> Offer<'a> {
    let (temporaries, failed) = (facts.temporaries.clone(), facts.failed.clone());
    let change = (Part::Optimizer, Effort::Argument);
    let offer = Offer::new(
        "adamw-fused",
        "run AdamW fused",
        change,
        makes_temporaries(scene, facts),
        move |program| {
            program.leave_out_all(&temporaries);
            let is_of_step = |event| failed.iter().any(|oom| oom.event == event);
            program.scale_failed(|event| if is_of_step(event) { 0.0 } else { 1.0 });
        },
    );
    offer
        .code("optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)  # or Adam, as it is")
        .cost("nothing: it is faster, too; results differ by rounding")
        .note("It saves the temporaries of the step, so only where the peak lies in the step.")
}

/// That Adam makes temporaries in its step.
fn makes_temporaries(scene: &Scene<'_>, facts: &OptimizerFacts) -> Precondition {
    let made = scene.run.most_at_once(&facts.temporaries);
    if let Some(oom) = facts.failed.last().filter(|oom| made < oom.requested.as_u64()) {
        let bytes = units::bytes(oom.requested);
        return Precondition::new(format!("a step of Adam asked for {bytes} of temporaries in vain"));
    }
    let fact = format!("a step of Adam makes {} of temporaries", most(scene, &facts.temporaries));
    Precondition::of(scene, fact, &facts.temporaries)
}

fn one_by_one<'a>(scene: &Scene<'_>, facts: &OptimizerFacts) -> Offer<'a> {
    let temporaries = facts.temporaries.clone();
    let steps = steps(scene, &temporaries);
    let (change, precondition) = ((Part::Optimizer, Effort::Argument), makes_temporaries(scene, facts));
    let offer = Offer::new(
        "adamw-foreach-false",
        "run AdamW without foreach",
        change,
        precondition,
        move |program| {
            program.leave_out_all(&temporaries);
            for step in &steps {
                step.add_to(program);
            }
        },
    );
    offer
        .code("optimizer = torch.optim.AdamW(model.parameters(), lr=lr, foreach=False)  # or Adam, as it is")
        .cost("slower steps: a few kernels for each parameter")
        .note("Temporaries of one parameter at a time are left in the step.")
}

/// The temporaries of one step, if parameters are updated one by one.
struct Step {
    like: AllocId,
    row: Row,
}

impl Step {
    fn add_to(&self, program: &mut Program<'_>) {
        program.add(self.like, self.row);
    }
}

/// The steps of the recording, by the temporaries of each. Those of one step are in use at the same time.
fn steps(scene: &Scene<'_>, temporaries: &[AllocId]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut before = 0;
    for &id in temporaries {
        let lifetimes = &scene.run.recording.lifetimes;
        let start = Point::of(lifetimes.start(id));
        let end = lifetimes.end(id).map_or(Point::NEVER, Point::of);
        let size = scene.run.bytes(id);
        match steps.last_mut().filter(|step| start < step.row.end) {
            Some(step) => {
                // The root and the denominator of this parameter are made while the denominator before it is there.
                step.row.bytes = step.row.bytes.max(size.saturating_mul(2).saturating_add(before));
                step.row.end = step.row.end.max(end);
            }
            None => steps.push(Step { like: id, row: Row { bytes: size.saturating_mul(2), start, end } }),
        }
        before = size;
    }
    steps
}

fn in_8_bits<'a>(scene: &Scene<'_>, facts: &OptimizerFacts) -> Offer<'a> {
    let temporaries = facts.temporaries.clone();
    let smaller: Vec<(AllocId, f64)> =
        facts.state.iter().filter_map(|&id| Some((id, share_in_8_bits(scene.run.bytes(id))?))).collect();
    let (change, precondition) =
        ((Part::Optimizer, Effort::Results), Precondition::of_state(scene, &facts.state));
    let offer =
        Offer::new("adamw-8bit", "keep AdamW's state in 8 bits", change, precondition, move |program| {
            program.leave_out_all(&temporaries);
            for &(id, share) in &smaller {
                program.scale(id, share);
            }
        });
    offer
        .code("import bitsandbytes as bnb\noptimizer = bnb.optim.AdamW8bit(model.parameters(), lr=lr)")
        .cost("another package; results differ slightly")
        .note("A bound: state is taken to be in 32 bits now, and the package's own buffers are not known.")
        .bound()
}

/// The share of its bytes that state in 32 bits needs in 8, with scales; `None` if it stays in 32 bits.
fn share_in_8_bits(bytes: u64) -> Option<f64> {
    let elements = bytes / FLOAT_BYTES;
    let scales = elements.div_ceil(ELEMENTS_PER_SCALE).saturating_mul(FLOAT_BYTES);
    (MIN_8BIT_ELEMENTS <= elements).then(|| elements.saturating_add(scales) as f64 / bytes as f64)
}
