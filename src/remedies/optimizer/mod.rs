//! Remedies that change the optimizer.

mod facts;
pub(super) mod sgd;
