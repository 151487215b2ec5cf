//! The segment map: the use of all reserved memory at the moment.

use super::spec::PictureSpec;
use oomscope_analysis::segment_state::{Basis, Part, SegmentIndex, SegmentState};
use oomscope_analysis::{BlockTensors, site_label};
use oomscope_draw::picture::{PictureSheet, SegmentsPicture, segments_legend};
use oomscope_draw::software::Pixels;
use oomscope_model::{AllocId, Moment, Timeline};

/// Share of the background, from 0 to 1, in the colour of blocks that the filter leaves out: they stay visible as
/// the surroundings of those that match.
const FADED_SHARE: f32 = 0.75;

pub(super) fn paint(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    let index = SegmentIndex::new(&spec.recording);
    let state = index.at(timeline, spec.moment);
    let oom = timeline.ooms.iter().find(|oom| Moment::after(oom.event) == spec.moment);
    let fit = oom.map(|oom| state.fit(&index, timeline, oom));
    let color = |id: AllocId| {
        let color = spec.coloring.color(timeline, id);
        if spec.stresses(id) { color } else { color.mix(sheet.palette.window, FADED_SHARE) }
    };
    let note = |part: &Part| {
        let id = part.content.allocation()?;
        let tensor = BlockTensors::at_end(&spec.recording, id).label(&spec.recording);
        tensor.or_else(|| Some(site_label(spec.recording.snapshot(), timeline.stack(id))))
    };
    let sites = spec.sites(timeline);
    let picture = SegmentsPicture {
        timeline,
        state: &state,
        fit: fit.as_ref(),
        color: &color,
        note: &note,
        look: spec.map,
        selected: spec.selected,
        sites: sites.as_ref(),
    };
    let mut page = spec.page(timeline, segments_legend(sheet.palette));
    page.caption.lines.extend(caveat(&state).map(str::to_owned));
    picture.paint(sheet, &page)
}

/// A warning about how the map was derived.
fn caveat(state: &SegmentState) -> Option<&'static str> {
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
