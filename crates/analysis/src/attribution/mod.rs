//! The purpose of every allocation, and the phases and iterations of the program.
//!
//! - [`knowledge`] has what single frames mean: files and functions of PyTorch and of other libraries.
//! - [`facts`] are read once: what each stack says, the activity at each event, what was declared.
//! - [`structure`] follows from facts: phases and iterations.
//! - [`rules`] make claims, family by family, strongest evidence first. An open allocation goes to the first family that
//!   claims it; after that, only a rule that refines the verdict, by the table of [`RULES`], replaces it.
//!
//! [`Attribution`] puts all of it together for one device.

mod basis;
mod categories;
mod category;
mod claims;
mod composition;
mod facts;
pub(super) mod knowledge;
mod pipeline;
mod rule;
mod rules;
mod structure;
#[cfg(test)]
mod tests;
pub(super) mod thresholds;
mod user_rules;
mod view;
mod worded;

pub use basis::Basis;
pub use categories::{Because, Categories, CategoryBytes};
pub use category::Category;
pub use claims::{Blocks, Claim, Verdict};
pub use facts::{Facts, UnseenStacks, declared_category};
pub use knowledge::{FrameCode, TorchOperation, is_named_after_evaluation, path_in_torch};
pub use pipeline::Attribution;
pub use rule::{Channel, EvidenceKind, RULES, Rule, RuleId, Stratum};
pub use structure::{
    Iteration, Iterations, ModelCall, Phase, PhaseBasis, PhaseStart, Phases, Position, named_module,
    named_step_and_phase,
};
pub use user_rules::{UserRules, UserRulesError};
