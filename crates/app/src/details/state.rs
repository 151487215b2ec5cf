//! The right side's own state, kept between frames: facts as text, put together when they change.

use super::allocation_facts::AllocationFacts;
use super::contributors::Contributors;
use super::editor;
use super::facts::OomFacts;
use super::segment_facts::SegmentFacts;
use super::site_facts::SiteFacts;
use crate::device::Derived;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use oomscope_analysis::filter::Matches;
use oomscope_model::{AllocId, Bytes, EventIx, Moment, Recording, StackId, Timeline};
use std::rc::Rc;
use std::sync::Arc;

/// The facts that are shown, and the user's choices about stacks.
pub(crate) struct State {
    /// Frames of torch, the interpreter and libraries are listed.
    pub(crate) shows_internal_frames: bool,
    /// The command that starts the user's editor.
    pub(crate) editor_command: String,
    contributors: Memo<ContributorsKey, Rc<Contributors>>,
    /// The key is the allocation, and true once the attribution is known.
    allocation: Memo<(AllocId, bool), Rc<AllocationFacts>>,
    site: Memo<StackId, Rc<SiteFacts>>,
    /// Bytes and blocks of a stack that are live at a moment.
    site_live: Memo<(StackId, Moment), (Bytes, usize)>,
    segment: Memo<(u64, Moment), Option<Rc<SegmentFacts>>>,
    oom: Memo<EventIx, Rc<OomFacts>>,
}

/// The moment, and the filter's result.
type ContributorsKey = (Moment, Option<ByPtr<Matches>>);

impl Default for State {
    fn default() -> Self {
        Self {
            shows_internal_frames: false,
            editor_command: editor::DEFAULT_COMMAND.to_owned(),
            contributors: Memo::default(),
            allocation: Memo::default(),
            site: Memo::default(),
            site_live: Memo::default(),
            segment: Memo::default(),
            oom: Memo::default(),
        }
    }
}

impl State {
    /// The largest contributors to the memory at a moment.
    pub(super) fn contributors(
        &self,
        recording: &Recording,
        derived: &Derived,
        moment: Moment,
    ) -> Rc<Contributors> {
        let matches = derived.matches();
        // Labels are not a part of the key: they make this faster, and give the same.
        self.contributors.get((moment, matches.cloned()), || {
            let labels = derived.stack_labels().map(Arc::as_ref);
            let matches = matches.map(|matches| &**matches);
            Rc::new(Contributors::new(recording, moment, matches, labels))
        })
    }

    /// Facts about an allocation.
    pub(super) fn allocation(
        &self,
        recording: &Recording,
        derived: &Derived,
        id: AllocId,
    ) -> Rc<AllocationFacts> {
        let key = (id, derived.attribution().is_some());
        self.allocation.get(key, || Rc::new(AllocationFacts::new(recording, derived, id)))
    }

    /// Facts about a stack.
    pub(super) fn site(&self, recording: &Recording, stack: StackId) -> Rc<SiteFacts> {
        self.site.get(stack, || Rc::new(SiteFacts::new(recording, stack)))
    }

    /// Bytes and blocks of a stack that are live at a moment.
    pub(super) fn site_live(&self, timeline: &Timeline, moment: Moment, site: &SiteFacts) -> (Bytes, usize) {
        self.site_live.get((site.stack, moment), || site.live_at(timeline, moment))
    }

    /// Facts about the segment at an address at a moment, if one is there.
    pub(super) fn segment(
        &self,
        recording: &Recording,
        derived: &Derived,
        addr: u64,
        moment: Moment,
    ) -> Option<Rc<SegmentFacts>> {
        self.segment.get((addr, moment), || SegmentFacts::new(recording, derived, addr, moment).map(Rc::new))
    }

    /// The request that failed at a moment, if one did.
    pub(super) fn oom(&self, recording: &Recording, moment: Moment) -> Option<Rc<OomFacts>> {
        let event = moment.event()?;
        let ooms = &recording.ooms;
        let oom = &ooms[ooms.binary_search_by_key(&event, |oom| oom.event).ok()?];
        Some(self.oom.get(event, || Rc::new(OomFacts::new(recording, oom))))
    }
}
