//! The filter of a device: what the query means, and what it finds.
//!
//! Typing and scrubbing never wait: the search runs on a worker, and what was found before stays
//! until the new result is there.

use crate::analysis::UserRules;
use crate::analysis::filter::{Filter, FilterError, Matches, Prepared, Vocabulary};
use crate::app::attribution;
use crate::app::worker::{RasterMode, Task, Worker};
use crate::model::{Moment, Snapshot};
use eframe::egui;
use std::sync::{Arc, Mutex, PoisonError};

/// While the cursor moves, a peak that changes with it is not looked for; in seconds.
const SETTLES_AFTER_S: f64 = 0.2;

/// The look of allocations that do not match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) enum FilterMode {
    /// They fade.
    #[default]
    Dim,
    /// They are left out.
    Only,
}

/// The result of a search.
#[derive(Debug, Clone)]
pub(in crate::app) struct Found {
    pub(in crate::app) matches: Arc<Matches>,
    /// Parts of the query that the file cannot answer.
    pub(in crate::app) notes: Arc<[String]>,
    filter: Arc<Filter>,
    cursor: Moment,
}

/// The filter of one device.
pub(in crate::app) struct Filtering {
    finder: Finder,
    /// Started when there is a filter.
    worker: Option<Worker<Finder>>,
    /// In tests, nothing has to settle.
    mode: RasterMode,
    query: String,
    filter: Result<Arc<Filter>, FilterError>,
    found: Option<Found>,
    vocabulary: Option<Arc<Vocabulary>>,
    wants_vocabulary: bool,
    /// The cursor, and since when it has been there, in seconds.
    settled: (Moment, f64),
}

impl Filtering {
    pub(in crate::app) fn new(
        snapshot: Arc<Snapshot>,
        at: usize,
        attribution: attribution::Finder,
        mode: RasterMode,
    ) -> Self {
        Self {
            finder: Finder { snapshot, at, attribution, prepared: Arc::default() },
            worker: None,
            mode,
            query: String::new(),
            filter: Ok(Arc::default()),
            found: None,
            vocabulary: None,
            wants_vocabulary: false,
            settled: (Moment::START, f64::NEG_INFINITY),
        }
    }

    /// Follow the query and the cursor. Called in every frame.
    pub(in crate::app) fn update(&mut self, ctx: &egui::Context, query: &str, cursor: Moment) {
        if self.query != query {
            query.clone_into(&mut self.query);
            self.filter = Filter::parse(query).map(Arc::new);
        }
        if self.filter.as_ref().is_ok_and(|filter| filter.is_empty()) {
            self.found = None;
        }
        let now = ctx.input(|input| input.time);
        if self.settled.0 != cursor {
            self.settled = (cursor, now);
        }
        while let Some(wish) = self.wish(ctx, now) {
            let start = || Worker::new("filter", self.finder.clone(), ctx, self.mode);
            let Some(done) = self.worker.get_or_insert_with(start).ask(wish) else { return };
            if matches!(done, Done::Vocabulary(_)) {
                // The fields of this frame were shown without it.
                ctx.request_repaint();
            }
            self.take(done);
        }
    }

    /// Find the values that queries can have: somebody is writing one.
    pub(in crate::app) fn want_vocabulary(&mut self) {
        self.wants_vocabulary = true;
    }

    /// The most urgent of the results that are missing.
    fn wish(&self, ctx: &egui::Context, now: f64) -> Option<Wish> {
        let cursor = self.settled.0;
        if let Ok(filter) = &self.filter
            && !filter.is_empty()
            && !self.found.as_ref().is_some_and(|found| found.answers(filter, cursor))
        {
            return Some(Wish::Find(Arc::clone(filter), cursor));
        }
        if self.wants_vocabulary && self.vocabulary.is_none() {
            return Some(Wish::Vocabulary);
        }
        let found = self.found.as_ref().filter(|found| found.matches.known_peak().is_none())?;
        let is_settled = self.mode == RasterMode::Blocking || SETTLES_AFTER_S <= now - self.settled.1;
        if found.filter.is_cursor_dependent() && !is_settled {
            ctx.request_repaint_after_secs(SETTLES_AFTER_S as f32);
            return None;
        }
        Some(Wish::Peak(Arc::clone(&found.matches)))
    }

    fn take(&mut self, done: Done) {
        match done {
            // Meanwhile the filter may have been cleared.
            Done::Found(found) if self.filter.as_ref().is_ok_and(|filter| filter.is_empty()) => drop(found),
            Done::Found(found) => self.found = Some(found),
            Done::Vocabulary(vocabulary) => self.vocabulary = Some(vocabulary),
            Done::Peak => {}
        }
    }

    /// The result of the query, or of the one before while it is wrong or not answered yet.
    pub(in crate::app) fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// The query that was answered last; `None` while it is being changed.
    pub(in crate::app) fn answered(&self) -> Option<&str> {
        let found = self.found.as_ref()?;
        self.filter
            .as_ref()
            .ok()
            .filter(|filter| Arc::ptr_eq(filter, &found.filter))
            .map(|_| self.query.as_str())
    }

    /// The error in the query.
    pub(in crate::app) fn error(&self) -> Option<&FilterError> {
        self.filter.as_ref().err()
    }

    /// The values that queries can have, once they are known.
    pub(in crate::app) fn vocabulary(&self) -> Option<&Vocabulary> {
        self.vocabulary.as_deref()
    }
}

impl Found {
    fn answers(&self, filter: &Arc<Filter>, cursor: Moment) -> bool {
        Arc::ptr_eq(&self.filter, filter) && (self.cursor == cursor || !filter.is_cursor_dependent())
    }
}

/// Finds what matches on one device.
#[derive(Clone)]
struct Finder {
    snapshot: Arc<Snapshot>,
    at: usize,
    attribution: attribution::Finder,
    /// The tables of the latest filter: while the cursor moves, they stay.
    prepared: Arc<Mutex<Option<Tables>>>,
}

/// A filter and its tables.
type Tables = (Arc<Filter>, Arc<Prepared>);

#[derive(Clone)]
enum Wish {
    Find(Arc<Filter>, Moment),
    /// The peak of some matches; it stays with them.
    Peak(Arc<Matches>),
    Vocabulary,
}

enum Done {
    Found(Found),
    Peak,
    Vocabulary(Arc<Vocabulary>),
}

impl PartialEq for Wish {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Find(a, at), Self::Find(b, bt)) => Arc::ptr_eq(a, b) && at == bt,
            (Self::Peak(a), Self::Peak(b)) => Arc::ptr_eq(a, b),
            (Self::Vocabulary, Self::Vocabulary) => true,
            _ => false,
        }
    }
}

impl Task for Finder {
    type Wish = Wish;
    type Done = Done;

    fn run(&self, wish: &Wish) -> Done {
        let timeline = &self.snapshot.timelines[self.at];
        match wish {
            Wish::Find(filter, cursor) => {
                let prepared = self.prepared(filter);
                Done::Found(Found {
                    matches: Arc::new(prepared.matches(timeline, *cursor)),
                    notes: prepared.notes().into(),
                    filter: Arc::clone(filter),
                    cursor: *cursor,
                })
            }
            Wish::Peak(matches) => {
                matches.peak(timeline);
                Done::Peak
            }
            Wish::Vocabulary => Done::Vocabulary(Arc::new(Vocabulary::new(&self.snapshot, timeline))),
        }
    }
}

impl Finder {
    fn prepared(&self, filter: &Arc<Filter>) -> Arc<Prepared> {
        let mut known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, prepared)) = known.as_ref().filter(|(known, _)| Arc::ptr_eq(known, filter)) {
            return Arc::clone(prepared);
        }
        let timeline = &self.snapshot.timelines[self.at];
        let prepared = if filter.needs_categories() {
            let found = self.attribution.get();
            Prepared::with_categories(filter, &self.snapshot, timeline, &found.categories)
        } else {
            Prepared::new(filter, &self.snapshot, timeline, &UserRules::default())
        };
        let prepared = Arc::new(prepared);
        *known = Some((Arc::clone(filter), Arc::clone(&prepared)));
        prepared
    }
}
