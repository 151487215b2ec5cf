//! Numbers of things of a kind from which on they mean something.

/// Fewer may be there by chance, or for another reason.
pub(crate) const SEVERAL: usize = 3;

/// Fewer may be the parts of one thing, or what a program sets up: so many come from a loop, or from most of a model.
pub(crate) const MANY: usize = 8;
