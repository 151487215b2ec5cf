//! Comparisons in the background.

use super::sides::ComparedSide;
use super::ways::{Ranges, Way};
use crate::work::worker::Task;
use oomscope_analysis::Attribution;
use oomscope_analysis::comparison::{
    AlignBy, Aligned, AlignedColumn, CommonRange, Side, StackChanges, common_ranges, compare, compare_stacks,
};
use oomscope_report::{
    CompareBy, ComparisonReport, NamedRow, Promises, comparison_sentence, comparison_side_text,
    operators_remark,
};
use oomscope_units as units;
use std::sync::Arc;

/// Columns in which the curves are kept: no pane has many more pixels.
const COLUMNS: usize = 1200;

/// Both sides, the earlier or other one first.
#[derive(Clone, PartialEq)]
pub(super) struct CompareRequest {
    pub(super) sides: [ComparedSide; 2],
}

/// What a comparison shows.
#[derive(Debug)]
pub(super) struct Compared {
    /// Where the difference comes from.
    pub(super) sentence: String,
    /// What each side is.
    pub(super) sides: [String; 2],
    /// The rows by each property.
    pub(super) rows: Vec<(CompareBy, Vec<NamedRow>)>,
    /// By what operators are named.
    pub(super) operators: String,
    /// The curves on one axis, in each of the ways that both recordings allow without a choice of ranges, the best first.
    pub(super) curves: Vec<Arc<Curves>>,
    /// The annotated ranges by which they can be aligned besides.
    pub(super) ranges: Vec<Arc<CommonRange>>,
}

/// Both curves on one axis.
#[derive(Debug)]
pub(super) struct Curves {
    pub(super) way: Way,
    /// The ranges that it is aligned by.
    pub(super) ranges: Option<Ranges>,
    pub(super) columns: Vec<AlignedColumn>,
    /// The first place of the axis and the last: events, microseconds, iterations or ranges.
    pub(super) span: [f64; 2],
    /// The places of the compared moments, as shares of the axis; `None` for moments outside of it.
    pub(super) moments: [Option<f64>; 2],
}

/// Compares devices at moments.
#[derive(Clone)]
pub(super) struct CompareTask;

impl Task for CompareTask {
    type Request = CompareRequest;
    type Response = Arc<Compared>;

    fn run(&self, CompareRequest { sides }: &CompareRequest) -> Arc<Compared> {
        let attributions = [0, 1].map(|side| sides[side].attribution.get());
        let [a, b] = [0, 1].map(|side: usize| sides[side].with(&attributions[side]));
        let comparison = compare(&a, &b);
        let report = ComparisonReport {
            files: [&sides[0].title, &sides[1].title],
            sides: [&a, &b],
            comparison: &comparison,
            promises: &Promises::default(),
            top: usize::MAX,
        };
        let ways = [
            (Way::Iterations, AlignBy::Iteration),
            (Way::Events, AlignBy::Event),
            (Way::Time, AlignBy::Time),
        ];
        let curves = ways.iter().filter_map(|(way, by)| curves([&a, &b], *way, by).map(Arc::new));
        Arc::new(Compared {
            sentence: units::printable(&units::capitalised(&comparison_sentence(&report))),
            sides: [0, 1].map(|side| comparison_side_text(&report, side)),
            rows: CompareBy::ALL.map(|by| (by, by.rows(&report))).into(),
            operators: operators_remark(&comparison),
            curves: curves.collect(),
            ranges: common_ranges([&a, &b]).into_iter().map(Arc::new).collect(),
        })
    }
}

/// Compares devices at moments by stack.
#[derive(Clone)]
pub(super) struct StacksTask;

impl Task for StacksTask {
    type Request = CompareRequest;
    type Response = Arc<StackChanges>;

    fn run(&self, CompareRequest { sides }: &CompareRequest) -> Arc<StackChanges> {
        // Stacks need no categories.
        let none = Attribution::default();
        Arc::new(compare_stacks(&sides[0].with(&none), &sides[1].with(&none)))
    }
}

/// A comparison and the ranges by which its curves are aligned.
#[derive(Clone, PartialEq)]
pub(super) struct RangeRequest {
    pub(super) compared: CompareRequest,
    pub(super) ranges: Ranges,
}

/// Aligns curves by ranges.
#[derive(Clone)]
pub(super) struct RangeCurvesTask;

impl Task for RangeCurvesTask {
    type Request = RangeRequest;
    type Response = Option<Arc<Curves>>;

    fn run(&self, RangeRequest { compared, ranges }: &RangeRequest) -> Option<Arc<Curves>> {
        // Ranges need no categories.
        let none = Attribution::default();
        let [a, b] = [0, 1].map(|side: usize| compared.sides[side].with(&none));
        let found = curves([&a, &b], Way::Range, &ranges.align_by())?;
        Some(Arc::new(Curves { ranges: Some(ranges.clone()), ..found }))
    }
}

fn curves(sides: [&Side<'_>; 2], way: Way, by: &AlignBy) -> Option<Curves> {
    let aligned = Aligned::new(sides, by)?;
    let [from, to] = aligned.span;
    let moments = [0, 1].map(|side: usize| {
        let moment = sides[side].moment;
        let share = (aligned.place(side, moment) - from) / (to - from).max(f64::MIN_POSITIVE);
        aligned.has(side, moment).then(|| share.clamp(0.0, 1.0))
    });
    let (columns, span) = (aligned.columns(COLUMNS), aligned.span);
    (from < to).then_some(Curves { way, ranges: None, columns, span, moments })
}
