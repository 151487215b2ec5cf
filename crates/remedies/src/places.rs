//! `shard-N`: memory that lies on other devices. How much is left is known only as a bound.

use super::offer::{Effort, Offer, Part};
use super::precondition::{Precondition, most};
use super::price::Price;
use super::scene::Scene;
use oomscope_analysis::Category;
use oomscope_model::AllocId;

/// The numbers of devices that are tried.
const RANKS: [u32; 3] = [2, 4, 8];

/// `shard-N`, where parameters are known: parameters, gradients and state in N parts, as FSDP has them. With
/// `-zero1` only state, with `-zero2` state and gradients.
pub(super) fn shard<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let parameters = scene.run.of_category(Category::Parameter);
    if parameters.is_empty() {
        return Vec::new();
    }
    let state = scene.run.of_category(Category::OptimizerState);
    let gradients = scene.run.of_category(Category::Gradient);
    if state.is_empty() && gradients.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for ranks in RANKS {
        let stages = [
            (format!("shard-{ranks}-zero1"), "the optimizer's state", vec![&state]),
            (format!("shard-{ranks}-zero2"), "state and gradients", vec![&state, &gradients]),
            (
                format!("shard-{ranks}"),
                "parameters, gradients and state",
                vec![&state, &gradients, &parameters],
            ),
        ];
        for (id, what, parts) in stages {
            all.push(stage(scene, id, what, ranks, parts.into_iter().flatten().copied().collect()));
        }
    }
    all
}

fn stage<'a>(scene: &Scene<'_>, id: String, what: &str, ranks: u32, parts: Vec<AllocId>) -> Offer<'a> {
    let is_inferred = scene.run.are_inferred(&parts);
    let title = format!("shard {what} over {ranks} devices");
    let fact = format!("{what} take {} on this device", most(scene, &parts));
    let precondition = Precondition::of(scene, fact, &parts);
    let change = (Part::Place, Effort::Equipment);
    let code = match id.rsplit_once('-') {
        Some((_, "zero1")) => {
            "from torch.distributed.optim import ZeroRedundancyOptimizer\noptimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=lr)"
        }
        Some((_, "zero2")) => {
            "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy\nmodel = FSDP(model, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP)"
        }
        _ => {
            "from torch.distributed.fsdp import fully_shard\nfor block in model.blocks:\n    fully_shard(block)\nfully_shard(model)"
        }
    };
    let offer = Offer::new(id, title, change, precondition, move |program| {
        for &id in &parts {
            program.scale(id, 1.0 / f64::from(ranks));
        }
    });
    offer
        .code(code)
        .price(Price { devices: ranks, ..Price::default() })
        .cost(format!("{ranks} devices, and communication in each pass"))
        .note("A bound: what is gathered for the layer at work, and communication buffers, come on top.")
        .bound()
        .inferred(is_inferred)
}
