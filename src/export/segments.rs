//! The memory map at the moment.

use super::Shot;
use crate::analysis::segment_state::{Basis, Part, SegmentIndex, SegmentState};
use crate::analysis::site_label;
use crate::draw::picture::{SegmentsPicture, Sheet, segments_legend};
use crate::draw::software::Pixels;
use crate::model::{AllocId, Moment, Timeline};

/// How much of what the filter leaves out is the ground.
const FADED_SHARE: f32 = 0.75;

pub(super) fn paint(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let index = SegmentIndex::new(&shot.snapshot, timeline);
    let state = index.at(timeline, shot.moment);
    let oom = timeline.ooms.iter().find(|oom| Moment::after(oom.event) == shot.moment);
    let fit = oom.map(|oom| state.fit(&index, timeline, oom));
    let color = |id: AllocId| {
        let color = shot.coloring.color(timeline, id);
        if shot.contains(id) { color } else { color.mix(sheet.palette.window, FADED_SHARE) }
    };
    let note = |part: &Part| {
        let id = part.content.allocation()?;
        Some(site_label(&shot.snapshot, timeline.lifetimes.stack(id, &timeline.events)))
    };
    let picture = SegmentsPicture {
        timeline,
        state: &state,
        fit: fit.as_ref(),
        color: &color,
        note: &note,
        look: shot.map,
        selected: shot.selected,
        sites: Some(&shot.sites(timeline)),
    };
    let mut page = shot.page(timeline, segments_legend(sheet.palette));
    page.caption.lines.extend(known(&state).map(str::to_owned));
    picture.paint(sheet, &page)
}

/// What to bear in mind about how the map is known.
fn known(state: &SegmentState) -> Option<&'static str> {
    match state.basis {
        Basis::EndState => None,
        Basis::Events => Some(
            "The map follows from the events: a hole of the large pool may be up to 1 MiB smaller in truth",
        ),
        Basis::TraceOnly => {
            Some("The map follows from the events alone: what they neither allocate nor free is missing")
        }
    }
}
