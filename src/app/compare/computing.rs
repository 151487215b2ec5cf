//! Comparisons in the background.

use super::sides::ComparedSide;
use crate::analysis::comparison::{AlignBy, Aligned, AlignedColumn, Side, compare};
use crate::app::work::worker::Task;
use crate::report::{CompareBy, ComparisonReport, NamedRow, comparison_sentence, comparison_side_text};
use crate::units;
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
    /// The rows by category, line, module and pool.
    pub(super) rows: Vec<(CompareBy, Vec<NamedRow>)>,
    /// The curves on one axis, in each of the ways that both recordings allow, the best first.
    pub(super) curves: Vec<Curves>,
}

/// Both curves on one axis.
#[derive(Debug)]
pub(super) struct Curves {
    pub(super) by: AlignBy,
    pub(super) columns: Vec<AlignedColumn>,
    /// The first place of the axis and the last: events, microseconds or iterations.
    pub(super) span: [f64; 2],
    /// The places of the compared moments, as shares of the axis.
    pub(super) moments: [f64; 2],
}

/// Compares devices at moments.
#[derive(Clone)]
pub(super) struct CompareTask;

impl Task for CompareTask {
    type Request = CompareRequest;
    type Response = Arc<Compared>;

    fn run(&self, CompareRequest { sides }: &CompareRequest) -> Arc<Compared> {
        let attributions = [0, 1].map(|side| sides[side].attribution.get());
        let [a, b] = [0, 1].map(|side| Side {
            snapshot: sides[side].recording.snapshot(),
            timeline: sides[side].recording.timeline(),
            attribution: &attributions[side],
            moment: sides[side].moment,
        });
        let comparison = compare(&a, &b);
        let report = ComparisonReport {
            files: [&sides[0].title, &sides[1].title],
            sides: [&a, &b],
            comparison: &comparison,
            top: usize::MAX,
        };
        let ways = [AlignBy::Iteration, AlignBy::Event, AlignBy::Time];
        Arc::new(Compared {
            sentence: units::printable(&units::capitalised(&comparison_sentence(&report))),
            sides: [0, 1].map(|side| comparison_side_text(&report, side)),
            rows: CompareBy::ALL.map(|by| (by, by.rows(&report))).into(),
            curves: ways.into_iter().filter_map(|by| curves([&a, &b], by)).collect(),
        })
    }
}

fn curves(sides: [&Side<'_>; 2], by: AlignBy) -> Option<Curves> {
    let aligned = Aligned::new(sides, by)?;
    let [from, to] = aligned.span;
    let share = |side: usize| {
        let place = aligned.place(side, sides[side].moment);
        ((place - from) / (to - from).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    let moments = [share(0), share(1)];
    (from < to).then(|| Curves { by, columns: aligned.columns(COLUMNS), span: aligned.span, moments })
}
