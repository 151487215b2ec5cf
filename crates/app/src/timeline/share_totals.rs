//! What is live of one colour at a moment, for pixels of the timeline in which blocks are too thin to be seen.

use super::request::TimelineRequest;
use crate::device::TimelineMode;
use crate::device::filtering::FilterMode;
use oomscope_draw::{Band, Bands, BlockFilter, Blocks, SegmentStack, Share};
use oomscope_model::{AllocId, Bytes, Moment, Timeline};
use tr::tr;

/// What is live of one colour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShareTotal {
    /// The name of the colour.
    pub(crate) label: String,
    /// Number of blocks, or of reserved ranges.
    pub(crate) count: usize,
    /// Their bytes.
    pub(crate) bytes: Bytes,
    /// The largest of them.
    pub(crate) largest: Option<(AllocId, Bytes)>,
}

/// Add up what a share of a picture stands for at a moment.
pub(super) fn share_total(
    timeline: &Timeline,
    request: &TimelineRequest,
    share: Share,
    moment: Moment,
) -> ShareTotal {
    let coloring = &request.coloring;
    match request.mode {
        TimelineMode::Blocks => {
            let contains = |id| request.filter.as_ref().is_none_or(|(matches, _)| matches.contains(id));
            let filter = request
                .filter
                .as_ref()
                .map(|(_, mode)| BlockFilter { contains: &contains, hides_rest: *mode == FilterMode::Only });
            let total = add_up(&Blocks { timeline, coloring, filter }, share, moment);
            ShareTotal { label: coloring.class_label(share.class, timeline), ..total }
        }
        TimelineMode::Segments => {
            let total = add_up(&SegmentStack::new(timeline, coloring), share, moment);
            ShareTotal { label: tr!("reserved memory of this colour"), ..total }
        }
    }
}

fn add_up(bands: &impl Bands, share: Share, moment: Moment) -> ShareTotal {
    let mut total = ShareTotal::default();
    bands.begun(None, moment, |Band { id, bytes, share: of, .. }| {
        if of != share {
            return;
        }
        total.count += 1;
        total.bytes += bytes;
        if total.largest.is_none_or(|(_, largest)| largest < bytes) {
            total.largest = Some((AllocId(id), bytes));
        }
    });
    total
}
