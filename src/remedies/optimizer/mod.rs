//! Remedies that change the optimizer.

pub(super) mod adam;
mod facts;
pub(super) mod sgd;
