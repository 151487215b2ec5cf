//! The allocator's counters at a moment.

use super::Replay;
use crate::allocator::Counters;
use crate::requests::Requests;
use crate::settings::Rules;
use oomscope_model::Moment;

/// The counters of a simulated allocator at a moment, as `torch.cuda.memory_stats()` would have had them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Those of all memory.
    pub all: Counters,
    /// Those of the large pool: blocks above 1 MiB.
    pub large: Counters,
    /// Those of the small pool.
    pub small: Counters,
}

/// The counters after the requests up to a moment.
pub(crate) fn statistics_at(requests: &Requests, rules: Rules, moment: Moment) -> Statistics {
    let mut replay = Replay::counting_by_size(requests, rules);
    for request in requests.all.iter().take_while(|request| request.event < moment.0) {
        replay.step(request);
        replay.allocator.log.clear();
    }
    let [small, large] = replay.allocator.counters_by_size().unwrap_or_default();
    Statistics { all: replay.allocator.counters, large, small }
}
