//! What several detectors look at, found out once.

use super::code::{Code, by_stack};
use super::{Shortage, StackBytes};
use crate::analysis::segment_state::{SegmentIndex, SegmentState};
use crate::analysis::{At, MomentError, live_at, resolve};
use crate::model::{AllocId, Allocation, Moment, OomEvent, Snapshot, Timeline};

/// What is asked for besides the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Question {
    /// The moment; without one, the last OOM, else the peak.
    pub at: Option<At>,
    /// Memory of the device, in bytes, which no recording states.
    pub device_memory: Option<i64>,
}

/// One device at one moment.
#[derive(Debug)]
pub struct Context<'a> {
    /// The file.
    pub snapshot: &'a Snapshot,
    /// The device.
    pub timeline: &'a Timeline,
    /// The moment.
    pub moment: Moment,
    /// Memory of the device, where the user said.
    pub device_memory: Option<i64>,
    /// Lines of code.
    pub code: Code<'a>,
    /// What is live, largest first.
    pub live: Vec<Allocation>,
    /// The memory map.
    pub state: SegmentState,
    /// The request that failed at the moment, if one did.
    pub shortage: Option<Shortage>,
}

impl<'a> Context<'a> {
    /// Look at a device.
    ///
    /// # Errors
    /// If the moment does not exist.
    pub fn new(
        snapshot: &'a Snapshot,
        timeline: &'a Timeline,
        question: Question,
    ) -> Result<Self, MomentError> {
        let default = if timeline.ooms.is_empty() { At::Peak } else { At::Oom };
        let moment = resolve(question.at.unwrap_or(default), timeline)?;
        let index = SegmentIndex::new(snapshot, timeline);
        let state = index.at(timeline, moment);
        let oom = timeline.ooms.iter().find(|oom| Moment::after(oom.event) == moment);
        let shortage = oom.map(|&oom: &OomEvent| Shortage::new(snapshot, timeline, &index, &state, oom));
        Ok(Self {
            snapshot,
            timeline,
            moment,
            device_memory: question.device_memory,
            code: Code::new(snapshot),
            live: live_at(timeline, moment),
            state,
            shortage,
        })
    }

    /// Whether the moment is an OOM.
    pub fn is_oom(&self) -> bool {
        self.shortage.is_some()
    }

    /// What is live by stack, most bytes first.
    pub fn live_stacks(&self) -> Vec<StackBytes> {
        by_stack(self.live.iter().map(|a| (a.stack, a.size)))
    }

    /// An allocation.
    pub fn allocation(&self, id: AllocId) -> Allocation {
        self.timeline.lifetimes.get(id, &self.timeline.events)
    }

    /// A share of a whole, from 0 to 1; 0 of nothing.
    pub fn share(part: i64, whole: i64) -> f64 {
        if whole <= 0 { 0.0 } else { part as f64 / whole as f64 }
    }
}
