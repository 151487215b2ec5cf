//! The segment timeline's own state, kept between frames.

use super::pictures::RowPictures;
use crate::device::Selection;
use crate::work::memo::Memo;
use eframe::egui::Rect;
use oomscope_analysis::RowOrder;
use oomscope_draw::{ArrangedRows, Expanded};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The arrangement and the scrolling of rows, and their pictures.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) pictures: Option<RowPictures>,
    pub(crate) order: RowOrder,
    /// Rows that the user expanded.
    pub(crate) expanded: BTreeSet<u32>,
    pub(crate) is_all_expanded: bool,
    /// The height that is scrolled out of sight above, in points.
    pub(crate) scroll: f32,
    /// The first row that is in sight as a whole; `None` if nothing is hidden above.
    pub(super) first: Option<u32>,
    /// The selection that the rows follow already: another one was made elsewhere.
    pub(super) seen: Selection,
    /// The row to scroll to.
    pub(super) wanted_row: Option<u32>,
    /// Rows in order.
    pub(super) sorted: Memo<RowOrder, Rc<[u32]>>,
}

impl State {
    pub(super) fn expanded(&self) -> Expanded {
        if self.is_all_expanded { Expanded::All } else { Expanded::Rows(self.expanded.clone()) }
    }

    /// The rows as they are arranged, for a picture; `None` if nobody has arranged them.
    pub(crate) fn exported(&self) -> Option<ArrangedRows> {
        let (order, expanded, first) = (self.order, self.expanded(), self.first);
        let is_arranged =
            order != RowOrder::default() || first.is_some() || expanded != Expanded::Rows(BTreeSet::new());
        is_arranged.then_some(ArrangedRows { order, expanded, first })
    }

    /// Expand the row of a selection, and bring it into view.
    pub(crate) fn expand(&mut self, selection: Selection, row: u32) {
        self.seen = selection;
        self.expanded.insert(row);
        self.wanted_row = Some(row);
    }
}

/// The rectangles of the panel's parts.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// Labels of rows.
    pub(crate) labels: Rect,
    /// Rows.
    pub(crate) rows: Rect,
    /// The time axis.
    pub(super) axis: Rect,
}
