//! What the right side remembers between frames: facts as text, put together when they change.

use super::allocation_facts::AllocationFacts;
use super::contributors::Contributors;
use super::editor;
use super::facts::OomFacts;
use super::site_facts::SiteFacts;
use crate::analysis::filter::Matches;
use crate::app::device::{PaneCtx, Selection};
use crate::app::work::by_ptr::ByPtr;
use crate::app::work::memo::Memo;
use crate::model::{AllocId, EventIx, Moment, StackId};
use std::rc::Rc;
use std::sync::Arc;

/// The facts that are shown, and how the user wants to see stacks.
pub(in crate::app) struct State {
    /// Whether frames of torch and the interpreter are listed.
    pub(in crate::app) shows_internal_frames: bool,
    /// How the user's editor is started.
    pub(in crate::app) editor_command: String,
    contributors: Memo<ContributorsKey, Rc<Contributors>>,
    /// By the allocation, and whether the attribution is known.
    allocation: Memo<(AllocId, bool), Rc<AllocationFacts>>,
    site: Memo<StackId, Rc<SiteFacts>>,
    /// Bytes and blocks of a stack that are live at a moment.
    site_live: Memo<(StackId, Moment), (i64, usize)>,
    oom: Memo<EventIx, Rc<OomFacts>>,
}

/// The moment, the filter's result, and whether the attribution is known.
type ContributorsKey = (Moment, Option<ByPtr<Matches>>, bool);

impl Default for State {
    fn default() -> Self {
        Self {
            shows_internal_frames: false,
            editor_command: editor::DEFAULT_COMMAND.to_owned(),
            contributors: Memo::default(),
            allocation: Memo::default(),
            site: Memo::default(),
            site_live: Memo::default(),
            oom: Memo::default(),
        }
    }
}

impl State {
    /// Take over from another version of the file what does not depend on its contents.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.shows_internal_frames = old.shows_internal_frames;
    }

    /// What fills the memory at the cursor.
    pub(super) fn contributors(&self, ctx: &PaneCtx<'_>) -> Rc<Contributors> {
        let (derived, cursor, matches) = (ctx.derived, ctx.at.cursor, ctx.derived.matches());
        let attribution = derived.attribution().map(Arc::as_ref);
        self.contributors.get((cursor, matches.cloned(), attribution.is_some()), || {
            let labels = derived.site_labels().map(Arc::as_ref);
            let (snapshot, matches) = (ctx.recording.snapshot(), matches.map(|matches| &**matches));
            Rc::new(Contributors::new(snapshot, ctx.recording, cursor, matches, labels, attribution))
        })
    }

    /// Facts about the selected allocation.
    pub(super) fn allocation(&self, ctx: &PaneCtx<'_>) -> Option<Rc<AllocationFacts>> {
        let id = ctx.at.selected_allocation()?;
        let attribution = ctx.derived.attribution().map(Arc::as_ref);
        Some(self.allocation.get((id, attribution.is_some()), || {
            let (figures, lanes) = (&ctx.derived.figures, &ctx.derived.lanes);
            let snapshot = ctx.recording.snapshot();
            Rc::new(AllocationFacts::new(snapshot, ctx.recording, figures, lanes, attribution, id))
        }))
    }

    /// Facts about the selected stack.
    pub(super) fn site(&self, ctx: &PaneCtx<'_>) -> Option<Rc<SiteFacts>> {
        let Selection::Stack(stack) = ctx.at.selection() else { return None };
        Some(self.site.get(stack, || Rc::new(SiteFacts::new(ctx.recording, stack))))
    }

    /// Bytes and blocks of a stack that are live at the cursor.
    pub(super) fn site_live(&self, ctx: &PaneCtx<'_>, site: &SiteFacts) -> (i64, usize) {
        let cursor = ctx.at.cursor;
        self.site_live.get((site.stack, cursor), || site.live_at(ctx.recording, cursor))
    }

    /// The request that failed at the cursor.
    pub(super) fn oom(&self, ctx: &PaneCtx<'_>) -> Option<Rc<OomFacts>> {
        let event = ctx.at.cursor.event()?;
        let ooms = &ctx.recording.ooms;
        let oom = &ooms[ooms.binary_search_by_key(&event, |oom| oom.event).ok()?];
        Some(self.oom.get(event, || Rc::new(OomFacts::new(ctx.recording.snapshot(), ctx.recording, oom))))
    }
}
