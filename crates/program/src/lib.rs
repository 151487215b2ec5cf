//! What the recorded program is and does.
//!
//! Its passes and steps, its blocks, what each allocation depends on, its attention, its losses, its types of numbers and its
//! optimizer: each is found once, for all that ask. This package knows no words, no advice and no simulation.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_analysis::{Attribution, UserRules};
//! use oomscope_program::{Run, Workload};
//! use oomscope_model::Recording;
//! use std::sync::Arc;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = Arc::new(load(&Input::File(sample.into()), &Progress::default())?);
//! let recording = Recording::main(&snapshot).ok_or("no device")?;
//! let attribution = Attribution::of(&recording, &UserRules::default());
//! let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
//! println!("it trains: {}", workload.trains());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod projection;

mod attention;
mod batch_size;
mod computation;
mod copies;
mod declared_types;
mod dependence;
mod frames;
mod frees;
mod losses;
mod masters;
mod models;
mod modules;
mod number_types;
pub mod numbers;
mod operation_kind;
mod operations;
mod optimizer;
mod parts;
mod passes;
mod run;
mod running;
pub mod share;
mod sites;
mod sizes;
mod span;
mod training_steps;
mod work;

pub use attention::{Attention, is_attention_fused};
pub use batch_size::{BatchSize, is_loaded_once};
pub use computation::Computation;
pub use copies::{CopyKind, ModelCopy};
pub use dependence::Dependence;
pub use frames::{CallFrames, FrameKind};
pub use frees::Frees;
pub use losses::Loss;
pub use losses::in_loss;
pub use masters::MasterWeights;
pub use models::{NamedModel, copies_of_trained};
pub use number_types::NumberTypes;
pub use numbers::weighted_median;
pub use operation_kind::OperationKind;
pub use operations::Operation;
pub use optimizer::COUNTER_BYTES;
pub use optimizer::{AdamStep, OptimizerFacts};
pub use passes::Spans;
pub use run::{Run, StackSet};
pub use running::{CallStack, Running};
pub use sizes::Sizes;
pub use span::{Pass, Span};
pub use training_steps::{TrainingStep, training_steps};
pub use work::Work;

use oomscope_analysis::{Category, Phase};
use oomscope_model::{AllocId, FrameId, Moment};
use share::Share;
use sites::Sites;
use std::sync::OnceLock;

/// The program of a run. What few ask for is found when it is asked for first.
#[derive(Debug)]
pub struct Workload<'a> {
    /// What its passes compute.
    pub computation: Computation<'a>,
    attention: OnceLock<Vec<Attention>>,
    losses: OnceLock<Vec<Loss>>,
    number_types: OnceLock<NumberTypes>,
    sites: OnceLock<Sites>,
    trains: OnceLock<bool>,
    work: OnceLock<Work>,
}

impl<'a> Workload<'a> {
    /// Look at a run.
    pub fn of(run: Run<'a>) -> Self {
        let (attention, losses, number_types) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let computation = Computation::of(run);
        let (sites, trains, work) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { computation, attention, losses, number_types, sites, trains, work }
    }

    /// Find all that is found when it is asked for first, before several ask at once: those who wait for the first in parallel work
    /// may be what it waits for, since finding it is parallel work, too.
    pub fn prepare(&self) {
        rayon::join(
            || rayon::join(|| self.attention(), || self.losses()),
            || rayon::join(|| self.number_types(), || self.sites()),
        );
    }

    /// Attention that is written out, so that its scores are in memory, in the order of calls.
    pub fn attention(&self) -> &[Attention] {
        self.attention.get_or_init(|| attention::find(&self.computation))
    }

    /// Losses whose logits are larger than anything else that their pass keeps, in the order of calls.
    pub fn losses(&self) -> &[Loss] {
        self.losses.get_or_init(|| losses::find(&self.computation))
    }

    /// The types of numbers.
    pub fn number_types(&self) -> &NumberTypes {
        self.number_types.get_or_init(|| NumberTypes::of(&self.computation))
    }

    /// What its passes compute.
    pub fn work(&self) -> &Work {
        self.work.get_or_init(|| Work::of(&self.computation, self.number_types(), self.attention()))
    }

    /// Whether it trains, as far as the recording shows: by a backward, gradients, the state of an optimizer, or a forward that
    /// keeps what a backward needs.
    pub fn trains(&self) -> bool {
        *self.trains.get_or_init(|| {
            let run = &self.computation.run;
            let of_training = |id| matches!(run.category(id), Category::Gradient | Category::OptimizerState);
            self.computation.spans.passes().next().is_some()
                || run.attribution.phases.phases.iter().any(|start| start.phase == Phase::Backward)
                || run.recording.ids().any(of_training)
        })
    }

    /// A second set of a model's weights that is live at a moment and has at least some share of what is.
    pub fn copy(&self, moment: Moment, least: Share) -> Option<ModelCopy> {
        copies::find(&self.computation.run, self.sites(), moment, least)
    }

    /// The models whose weights are live at a moment, as the program said; none where it did not.
    pub fn named_models(&self, moment: Moment) -> Vec<NamedModel<'_>> {
        models::find(&self.computation.run, moment)
    }

    /// Copies of weights in float32 that an optimizer has beside a model of two bytes, and that are live at a moment, as the program
    /// said.
    pub fn master_weights(&self, moment: Moment) -> Option<MasterWeights> {
        masters::find(&self.computation.run, moment)
    }

    /// Whether most bytes of some blocks are numbers of four bytes, as the program said.
    pub fn has_wide_numbers(&self, blocks: &[AllocId]) -> bool {
        self.number_types().are_wide_in(&self.computation.run, blocks)
    }

    /// The line of the program that made most bytes of some allocations: the innermost of the user's own code, else of a package.
    pub fn line(&self, ids: &[AllocId]) -> Option<FrameId> {
        self.sites().line(&self.computation.run, ids)
    }

    /// The line of the program that calls the outermost module which made most bytes of some allocations.
    pub fn call(&self, ids: &[AllocId]) -> Option<FrameId> {
        self.sites().call(&self.computation.run, &self.computation.frames, ids)
    }

    /// The innermost line of the program on the way to all of some allocations.
    pub fn way(&self, ids: impl Iterator<Item = AllocId>) -> Option<FrameId> {
        self.sites().way(&self.computation.run, ids)
    }

    fn sites(&self) -> &Sites {
        self.sites.get_or_init(|| Sites::of(&self.computation.run))
    }
}
