//! The pictures of a report, in both themes.

use super::{ExportError, Format, Shot, StacksView, What};
use crate::analysis::{Attribution, Direction, Measure, TreeOptions};
use crate::draw::picture::{Selected, view_of};
use crate::draw::segment_map::Look;
use crate::draw::{Axis, BandColors, ColorBy, Coloring, Palette};
use crate::model::{DeviceId, Moment, Snapshot};
use crate::report::Picture;
use std::sync::Arc;

/// Width and height, in points.
const SIZE: [f32; 2] = [1200.0, 675.0];

/// The timeline and the segment map of a device at a moment, coloured by what memory is for.
///
/// # Errors
/// If the device is not in the snapshot.
pub fn report_pictures(
    snapshot: &Arc<Snapshot>,
    device: DeviceId,
    attribution: &Arc<Attribution>,
    moment: Moment,
    name: &str,
) -> Result<Vec<Picture>, ExportError> {
    let kinds = [
        (What::Timeline, "What was allocated over time"),
        (What::Segments, "What reserved memory was used for"),
    ];
    let picture = |(what, title): (What, &str)| {
        let paint = |palette| {
            shot(snapshot, device, attribution, moment, name, what, palette)?.file(Format::Png, SIZE, 1.0)
        };
        Ok(Picture { title: title.to_owned(), light: paint(&Palette::LIGHT)?, dark: paint(&Palette::DARK)? })
    };
    kinds.into_iter().map(picture).collect()
}

fn shot(
    snapshot: &Arc<Snapshot>,
    device: DeviceId,
    attribution: &Arc<Attribution>,
    moment: Moment,
    name: &str,
    what: What,
    palette: &'static Palette,
) -> Result<Shot, ExportError> {
    let at = snapshot.timelines.iter().position(|t| t.device == device).ok_or(ExportError::NoDevice)?;
    let timeline = &snapshot.timelines[at];
    let stacks = Arc::new(BandColors::new(snapshot, palette));
    let coloring = Coloring::new(ColorBy::Category, timeline, stacks, palette);
    Ok(Shot {
        snapshot: Arc::clone(snapshot),
        at,
        name: name.to_owned(),
        what,
        view: view_of(timeline, Axis::Event, None),
        coloring: Arc::new(coloring.with_attribution(Arc::clone(attribution))),
        attribution: Some(Arc::clone(attribution)),
        moment,
        has_cursor: false,
        selected: Selected::None,
        filter: None,
        map: Look::default(),
        rows: None,
        stacks: StacksView {
            measure: Measure::Live { at: moment },
            options: TreeOptions { direction: Direction::CallersFirst, folds_internal: true },
            zoom: Vec::new(),
            search: String::new(),
        },
        capacity: None,
        palette,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{RangeName, UserRules};
    use crate::load::{Input, Progress, load};

    #[test]
    fn pictures_over_time_have_lanes_of_iterations_and_phases() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots/gpt_oom_forward.pickle");
        let snapshot = Arc::new(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let timeline = snapshot.main_timeline().expect("a device");
        let attribution = Arc::new(Attribution::of(&snapshot, timeline, &UserRules::default()));
        let of = |attribution| {
            let end = Moment(timeline.events.len() as u32);
            shot(&snapshot, timeline.device, attribution, end, "a", What::Timeline, &Palette::DARK)
                .expect("a device")
        };
        let lanes = of(&attribution).lanes(timeline).lanes;
        assert_eq!(lanes[0][0].name, RangeName::Iteration { number: 0, is_known: true });
        assert!(lanes[1].iter().any(|range| range.name.text(&snapshot) == "backward"));
        assert!(2 < lanes.len(), "annotations come below");
    }
}
