//! The ways to put both curves on one axis.

use crate::work::by_ptr::ByPtr;
use oomscope_analysis::MomentRange;
use oomscope_analysis::comparison::{AlignBy, CommonRange};
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// What lies at the same place of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Iterations,
    Events,
    Time,
    Range,
}

impl Way {
    pub(super) fn name(self) -> String {
        match self {
            Self::Iterations => tr!("Iterations"),
            Self::Events => tr!("Events"),
            Self::Time => tr!("Time"),
            Self::Range => tr!("Ranges"),
        }
    }
}

/// The ranges that begin at the same places.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ranges {
    /// The range that the user marked on either side.
    Marked([MomentRange; 2]),
    /// All of one name.
    Named(ByPtr<CommonRange>),
}

impl Ranges {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Marked(_) => tr!("the marked ranges"),
            Self::Named(common) => units::printable(&common.name),
        }
    }

    /// The number of ranges on the side that has more.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Marked(_) => 1,
            Self::Named(common) => common.ranges[0].len().max(common.ranges[1].len()),
        }
    }

    pub(super) fn align_by(&self) -> AlignBy {
        AlignBy::Ranges(match self {
            Self::Marked(ranges) => ranges.map(|range| Arc::from([range])),
            Self::Named(common) => common.ranges.clone(),
        })
    }
}
