//! The segment maps of one device: computed at once in small files, and on a thread in large ones.

use crate::work::worker::{Task, WorkMode, Worker};
use eframe::egui;
use oomscope_analysis::segment_state::{Pinned, RequestFit};
use oomscope_analysis::{SegmentIndex, SegmentState};
use oomscope_model::{Bytes, Moment, Recording};
use std::sync::{Arc, OnceLock};

/// Largest number of allocations for which a map takes a small part of a frame.
const MAX_SMALL_ALLOCATIONS: usize = 20_000;

/// Largest number of reserved ranges for which a map takes a small part of a frame.
const MAX_SMALL_RANGES: usize = 5_000;

/// A mostly empty segment with more blocks than this is not offered: nobody would free all of them.
const MAX_PINNING_BLOCKS: usize = 8;

/// The map of a moment, and the figures that follow from it.
pub(crate) struct MomentMap {
    pub(crate) state: SegmentState,
    /// The request that failed at this moment, against the holes.
    pub(crate) fit: Option<RequestFit>,
    /// Mostly empty segments that a few blocks keep.
    pub(crate) pinned: Vec<Pinned>,
    /// Bytes of segments without any block.
    pub(crate) unused_bytes: Bytes,
    pub(crate) common: Arc<Common>,
}

/// The parts of maps that all moments share.
pub(crate) struct Common {
    index: SegmentIndex,
    /// The map at the moment of most reserved memory: the scale is chosen so that it fits.
    pub(crate) fullest: SegmentState,
}

/// The map of the cursor, and the thread that makes others.
pub(crate) struct Maps {
    worker: Worker<MapTask>,
    shown: Option<Arc<MomentMap>>,
}

impl Maps {
    pub(crate) fn new(recording: &Recording, ctx: &egui::Context, mode: WorkMode) -> Self {
        let is_small = recording.lifetimes.len() <= MAX_SMALL_ALLOCATIONS
            && recording.ranges.all().len() <= MAX_SMALL_RANGES;
        let mode = if is_small { WorkMode::Blocking } else { mode };
        let task = MapTask { recording: recording.clone(), common: Arc::default() };
        Self { worker: Worker::new("segments", task, ctx, mode), shown: None }
    }

    /// The map of a moment, or the last one that was finished.
    pub(crate) fn at(&mut self, moment: Moment) -> Option<Arc<MomentMap>> {
        if let Some(answer) = self.worker.ask(moment) {
            self.shown = Some(answer);
        }
        self.shown.clone()
    }
}

/// Makes maps.
#[derive(Clone)]
struct MapTask {
    recording: Recording,
    common: Arc<OnceLock<Arc<Common>>>,
}

impl Task for MapTask {
    type Request = Moment;
    type Response = Arc<MomentMap>;

    fn run(&self, moment: &Moment) -> Arc<MomentMap> {
        let timeline = self.recording.timeline();
        let common = self.common.get_or_init(|| Arc::new(Common::new(&self.recording)));
        let state = common.index.at(timeline, *moment);
        let ooms = &timeline.ooms;
        let failed = moment.event().and_then(|event| ooms.binary_search_by_key(&event, |oom| oom.event).ok());
        Arc::new(MomentMap {
            fit: failed.map(|at| state.fit(&common.index, timeline, &ooms[at])),
            pinned: state.pinned(MAX_PINNING_BLOCKS),
            unused_bytes: state.unused_bytes(),
            common: Arc::clone(common),
            state,
        })
    }
}

impl Common {
    fn new(recording: &Recording) -> Self {
        let index = SegmentIndex::new(recording);
        let (at, reserved) = recording.reserved.peak();
        // Recordings without segments still have blocks.
        let fullest = if 0 < reserved { at } else { recording.active.peak().0 };
        let fullest = index.at(recording, fullest);
        Self { index, fullest }
    }
}
