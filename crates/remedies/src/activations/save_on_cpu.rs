//! What autograd keeps for the backward, on the host.

use super::copied_back::{Kept, Weights, has_backward_that_lets_go};
use super::without_graph::without_graph_alone;
use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::price::Price;
use crate::scene::Scene;
use foldhash::HashMap;
use oomscope_model::{AllocId, EventIx};
use oomscope_program::{Dependence, Pass, training_steps};
use oomscope_simulator::{Point, Program};

/// `save-on-cpu`, where stacks show how long the program itself holds what its forward makes. What compiled code keeps for a whole
/// graph comes back at once, and what is on the host already is not there to be moved.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    let passes = || scene.computation().spans.passes();
    // Frames are asked last, since a file may have many.
    if scene.run.recording.snapshot().frames.is_empty()
        || !has_backward_that_lets_go(scene)
        || scene.run.has_frame(|code| code.saves_on_host() || code.runs_compiled())
    {
        return None;
    }
    let weights = Weights::of(scene);
    let kept: Vec<Kept> = passes().map(|pass| Kept::of(scene, &weights, pass)).collect();
    let ends: Vec<(AllocId, Point)> =
        passes().zip(&kept).flat_map(|(pass, kept)| ends(scene, pass, kept)).collect();
    let ids: Vec<AllocId> = ends.iter().map(|&(id, _)| id).collect();
    if ids.is_empty() {
        return None;
    }
    let fact = format!("the forward keeps {} for the backward", most(scene, &ids));
    let precondition = Precondition::of_call(scene, fact, &ids);
    let host_bytes = over_the_bus(scene, &kept);
    let change = move |program: &mut Program<'_>| {
        for kept in &kept {
            kept.copy_back(program);
        }
        for &(id, end) in &ends {
            program.free_at(id, end);
        }
    };
    let (title, kind) = ("keep on the host what the backward needs", (Part::Checkpoints, Effort::Time));
    let offer = Offer::new("save-on-cpu", title, kind, precondition, change);
    Some(
        offer
            .code("with torch.autograd.graph.save_on_cpu(pin_memory=True):\n    loss = loss_fn(model(x), y)")
            .price(Price { host_bytes, ..Price::default() })
            .cost("slower steps: what the backward needs goes to the host, and back; as much host memory"),
    )
}

/// What crosses the bus in a step: there and back.
fn over_the_bus(scene: &Scene<'_>, kept: &[Kept]) -> u64 {
    let passes = scene.computation().spans.passes().count().div_ceil(training_steps(&scene.run).len().max(1));
    let of_pass = kept.iter().map(|kept| kept.copied_bytes(scene)).max().unwrap_or(0);
    of_pass.saturating_mul(2).saturating_mul(passes as u64).max(1)
}

/// When each value is gone that a pass keeps: as Python lets it go. Copies of weights stay until autocast is over, right before the
/// backward.
fn ends(scene: &Scene<'_>, pass: &Pass, kept: &Kept) -> Vec<(AllocId, Point)> {
    let over = Point::before(EventIx(pass.backward), 0);
    let forward = pass.events.start..pass.backward;
    let values = without_graph_alone(scene, &forward, &kept.ids).into_iter().filter(|(id, _)| {
        kept.ids.contains(id) && scene.computation().dependence(*id) != Dependence::WeightCopy
    });
    let ends: HashMap<AllocId, Point> = values.collect();
    let mut ids: Vec<AllocId> = kept.ids.iter().copied().collect();
    ids.sort_unstable();
    ids.into_iter().map(|id| (id, ends.get(&id).map_or(over, |&end| over.min(end)))).collect()
}

#[cfg(test)]
mod tests {
    use crate::predict::predict;
    use crate::scene::Scene;
    use crate::wanted::Wanted;
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, LOSS, Program, ZERO_GRAD};
    use oomscope_program::{Run, Workload};
    use oomscope_simulator::{Device, Subject};

    const MIB: i64 = 1 << 20;
    const CALL: &str = "torch/nn/modules/module.py _call_impl";
    const MODEL: &str = "/home/me/model.py:50 forward";
    const UP: &[&str] =
        &["torch/nn/modules/linear.py forward", CALL, MODEL, CALL, "/home/me/train.py:9 <module>"];
    const ACT: &[&str] =
        &["torch/nn/modules/activation.py forward", CALL, MODEL, CALL, "/home/me/train.py:9 <module>"];

    /// Three layers with weights of 8 MiB and biases of 1 MiB. Each makes 40 MiB, and 30 from it.
    fn program() -> Program {
        let mut program = Program::default();
        for size in [8, 1].repeat(3) {
            program.alloc(size * MIB, LOAD);
        }
        for _ in 0..3 {
            let input = program.alloc(MIB, DATA);
            let layers =
                [(); 3].map(|()| [(40, UP), (30, ACT)].map(|(size, stack)| program.alloc(size * MIB, stack)));
            let loss = program.alloc(4, LOSS);
            let mut gradients = Vec::new();
            for [product, activation] in layers.into_iter().rev() {
                let of_activation = program.alloc(40 * MIB, BACKWARD);
                program.free(activation, BACKWARD);
                let of_product = program.alloc(30 * MIB, BACKWARD);
                gradients.extend([8, 1].map(|size| program.alloc(size * MIB, BACKWARD)));
                program.free(of_activation, BACKWARD);
                program.free(product, BACKWARD);
                program.free(of_product, BACKWARD);
            }
            for gradient in gradients {
                program.free(gradient, ZERO_GRAD);
            }
            program.free(loss, DATA);
            program.free(input, DATA);
        }
        program
    }

    #[test]
    fn what_an_operation_needs_comes_back_for_it_with_its_weight() {
        let recording = program().finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let subject = Subject::new(&recording);
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        let scene = Scene::new(&workload, &subject, Device::default());
        let wanted = vec![Wanted::parse("save-on-cpu").expect("the id is known")];
        let found = predict(&scene, &wanted.into(), &|_, _| true).remedies.into_iter().next();
        let found = found.expect("the forward keeps values");
        // Parameters, an input, the gradients of two layers. Of the third, both gradients of values, what the product keeps, its
        // weight and the gradient of that.
        let (parameters, gradients) = (3 * 9, 2 * 9);
        assert_eq!(found.figures.peak_requested >> 20, parameters + 1 + gradients + 40 + 30 + 40 + 8 + 8);
        // Values and weights of each layer, there and back.
        assert_eq!(found.price.host_bytes >> 20, 2 * 3 * (40 + 30 + 8));
        assert!(found.preconditions[0].fact.starts_with("the forward keeps 210 MiB"));
    }
}
