//! The pane's own state, kept between frames.

use super::rows::{Rows, Source};
use crate::device::{PaneCtx, TimelineMode};
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use oomscope_analysis::filter::Matches;
use oomscope_draw::{Coloring, Palette};
use oomscope_model::Moment;
use std::rc::Rc;
use std::sync::Arc;

/// The rows that are shown.
#[derive(Default)]
pub(crate) struct State {
    rows: Memo<Key, Rc<Rows>>,
}

/// Everything that rows depend on.
type Key = (Moment, Option<ByPtr<Matches>>, ByPtr<Coloring>, TimelineMode);

impl State {
    /// The rows that were shown last.
    #[cfg(test)]
    pub(crate) fn latest(&self) -> Rc<Rows> {
        self.rows.latest().unwrap_or_default()
    }

    /// The rows of the cursor's moment.
    pub(super) fn rows(&self, ctx: &PaneCtx<'_>, palette: &Palette) -> Rc<Rows> {
        let (matches, mode) = (ctx.derived.matches(), ctx.at.timeline_mode);
        let coloring = ctx.coloring(palette);
        let key = (ctx.at.cursor, matches.cloned(), ByPtr(Arc::clone(&coloring)), mode);
        self.rows.get(key, || {
            let source = Source {
                recording: ctx.recording,
                coloring: &coloring,
                palette,
                mode,
                matches: matches.map(|matches| &**matches),
                attribution: ctx.derived.attribution().map(Arc::as_ref),
            };
            Rc::new(Rows::new(&source, ctx.at.cursor))
        })
    }
}
