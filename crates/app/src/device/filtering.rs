//! The filter of a device: what the query means, and what it finds.
//!
//! Typing and scrubbing never wait: the search runs on a worker, and what was found before stays
//! until the new result is there.

use super::attributing::AttributionCell;
use crate::work::by_ptr::ByPtr;
use crate::work::worker::{Task, WorkMode, Worker};
use eframe::egui;
use oomscope_analysis::UserRules;
use oomscope_analysis::filter::{Filter, FilterError, Matches, Prepared, Vocabulary};
use oomscope_model::{AllocId, Moment, Recording};
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

/// While the cursor moves, a peak that changes with it is not looked for; in seconds.
const SETTLES_AFTER_S: f64 = 0.2;

/// The look of allocations that do not match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FilterMode {
    /// They fade.
    #[default]
    Dim,
    /// They are left out.
    Only,
}

/// The result of a search.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) matches: ByPtr<Matches>,
    /// Parts of the query that the file cannot answer.
    pub(crate) notes: Arc<[String]>,
    wanted: Wanted,
    cursor: Moment,
}

/// The allocations that are looked for.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    filter: ByPtr<Filter>,
    /// Only those among these, in the order of their ids.
    among: Option<ByPtr<[AllocId]>>,
}

impl Wanted {
    fn is_everything(&self) -> bool {
        self.filter.is_empty() && self.among.is_none()
    }
}

/// The filter of one device.
pub(crate) struct Filtering {
    task: FilterTask,
    /// Started when there is a filter.
    worker: Option<Worker<FilterTask>>,
    /// In tests, nothing has to settle.
    mode: WorkMode,
    query: String,
    filter: Result<ByPtr<Filter>, FilterError>,
    among: Option<ByPtr<[AllocId]>>,
    found: Option<Found>,
    vocabulary: Option<Arc<Vocabulary>>,
    /// Panes set it, too, and they see the device without changing it.
    wants_vocabulary: Cell<bool>,
    /// The cursor, and since when it has been there, in seconds.
    settled: (Moment, f64),
}

impl Filtering {
    pub(crate) fn new(recording: Recording, attribution: AttributionCell, mode: WorkMode) -> Self {
        Self {
            task: FilterTask { recording, attribution, prepared: Arc::default() },
            worker: None,
            mode,
            query: String::new(),
            filter: Ok(ByPtr(Arc::default())),
            among: None,
            found: None,
            vocabulary: None,
            wants_vocabulary: Cell::new(false),
            settled: (Moment::START, f64::NEG_INFINITY),
        }
    }

    /// Follow the query, the allocations among which it looks, and the cursor. Called in every frame.
    pub(crate) fn update(
        &mut self,
        ctx: &egui::Context,
        query: &str,
        among: Option<&ByPtr<[AllocId]>>,
        cursor: Moment,
    ) {
        if self.among.as_ref() != among {
            self.among = among.cloned();
        }
        if self.query != query {
            query.clone_into(&mut self.query);
            self.filter = Filter::parse(query).map(|filter| ByPtr(Arc::new(filter)));
        }
        if self.wanted().is_some_and(|wanted| wanted.is_everything()) {
            self.found = None;
        }
        let now = ctx.input(|input| input.time);
        if self.settled.0 != cursor {
            self.settled = (cursor, now);
        }
        while let Some(request) = self.next_request(ctx, now) {
            let start = || Worker::new("filter", self.task.clone(), ctx, self.mode);
            let Some(response) = self.worker.get_or_insert_with(start).ask(request) else { return };
            if matches!(response, FilterResponse::Vocabulary(_)) {
                // The fields of this frame were shown without it.
                ctx.request_repaint();
            }
            self.take(response);
        }
    }

    /// Find the values that queries can have: somebody is writing one. They are found with the next update.
    pub(crate) fn want_vocabulary(&self) {
        self.wants_vocabulary.set(true);
    }

    /// The most urgent of the results that are missing.
    fn next_request(&self, ctx: &egui::Context, now: f64) -> Option<FilterRequest> {
        let cursor = self.settled.0;
        if let Some(wanted) = self.wanted()
            && !wanted.is_everything()
            && !self.found.as_ref().is_some_and(|found| found.answers(&wanted, cursor))
        {
            return Some(FilterRequest::Find(wanted, cursor));
        }
        if self.wants_vocabulary.get() && self.vocabulary.is_none() {
            return Some(FilterRequest::Vocabulary);
        }
        let found = self.found.as_ref().filter(|found| found.matches.known_peak().is_none())?;
        let is_settled = self.mode == WorkMode::Blocking || SETTLES_AFTER_S <= now - self.settled.1;
        if found.wanted.filter.is_cursor_dependent() && !is_settled {
            ctx.request_repaint_after_secs(SETTLES_AFTER_S as f32);
            return None;
        }
        Some(FilterRequest::Peak(found.matches.clone()))
    }

    fn take(&mut self, response: FilterResponse) {
        match response {
            // Meanwhile the filter may have been cleared.
            FilterResponse::Found(found) if self.wanted().is_some_and(|wanted| wanted.is_everything()) => {
                drop(found);
            }
            FilterResponse::Found(found) => self.found = Some(found),
            FilterResponse::Vocabulary(vocabulary) => self.vocabulary = Some(vocabulary),
            FilterResponse::Peak => {}
        }
    }

    /// The allocations to look for; `None` while the query is wrong.
    fn wanted(&self) -> Option<Wanted> {
        let filter = self.filter.as_ref().ok()?.clone();
        Some(Wanted { filter, among: self.among.clone() })
    }

    /// The result of the query, or of the one before while it is wrong or not answered yet.
    pub(crate) fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// The query that was answered last; `None` while it is being changed.
    pub(crate) fn answered(&self) -> Option<&str> {
        let found = self.found.as_ref()?;
        self.wanted().filter(|wanted| *wanted == found.wanted).map(|_| self.query.as_str())
    }

    /// The error in the query.
    pub(crate) fn error(&self) -> Option<&FilterError> {
        self.filter.as_ref().err()
    }

    /// The values that queries can have, once they are known.
    pub(crate) fn vocabulary(&self) -> Option<&Vocabulary> {
        self.vocabulary.as_deref()
    }
}

impl Found {
    fn answers(&self, wanted: &Wanted, cursor: Moment) -> bool {
        self.wanted == *wanted && (self.cursor == cursor || !wanted.filter.is_cursor_dependent())
    }

    /// True if nothing but some allocations was let through.
    pub(crate) fn is_among(&self, ids: &ByPtr<[AllocId]>) -> bool {
        self.wanted.among.as_ref() == Some(ids)
    }
}

/// Finds what matches on one device.
#[derive(Clone)]
struct FilterTask {
    recording: Recording,
    attribution: AttributionCell,
    /// The tables of the latest filter: while the cursor moves, they stay.
    prepared: Arc<Mutex<Option<Tables>>>,
}

/// A filter and its tables.
type Tables = (ByPtr<Filter>, Arc<Prepared>);

#[derive(Clone, PartialEq)]
enum FilterRequest {
    Find(Wanted, Moment),
    /// The peak of some matches; it stays with them.
    Peak(ByPtr<Matches>),
    Vocabulary,
}

enum FilterResponse {
    Found(Found),
    Peak,
    Vocabulary(Arc<Vocabulary>),
}

impl Task for FilterTask {
    type Request = FilterRequest;
    type Response = FilterResponse;

    fn run(&self, request: &FilterRequest) -> FilterResponse {
        let timeline = self.recording.timeline();
        match request {
            FilterRequest::Find(wanted, cursor) => {
                let prepared = self.prepared(&wanted.filter);
                let all = prepared.matches(timeline, *cursor);
                let matches = wanted.among.as_ref().map(|ids| all.among(ids)).unwrap_or(all);
                FilterResponse::Found(Found {
                    matches: ByPtr(Arc::new(matches)),
                    notes: prepared.notes().into(),
                    wanted: wanted.clone(),
                    cursor: *cursor,
                })
            }
            FilterRequest::Peak(matches) => {
                matches.peak(timeline);
                FilterResponse::Peak
            }
            FilterRequest::Vocabulary => {
                FilterResponse::Vocabulary(Arc::new(Vocabulary::new(&self.recording)))
            }
        }
    }
}

impl FilterTask {
    fn prepared(&self, filter: &ByPtr<Filter>) -> Arc<Prepared> {
        let mut known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, prepared)) = known.as_ref().filter(|(known, _)| known == filter) {
            return Arc::clone(prepared);
        }
        let prepared = if filter.needs_attribution() {
            let found = self.attribution.get();
            Prepared::with_attribution(filter, &self.recording, &found)
        } else {
            Prepared::new(filter, &self.recording, &UserRules::default())
        };
        let prepared = Arc::new(prepared);
        *known = Some((filter.clone(), Arc::clone(&prepared)));
        prepared
    }
}
