//! The pictures of a report, in both themes.

use super::{ExportError, Format, Shot, StacksView, What};
use crate::analysis::{Direction, Measure, TreeOptions};
use crate::draw::picture::{Selected, view_of};
use crate::draw::segment_map::Look;
use crate::draw::{Axis, BandColors, ColorBy, Coloring, Palette};
use crate::model::{DeviceId, Moment, Snapshot};
use crate::report::Picture;
use std::sync::Arc;

/// Width and height, in points.
const SIZE: [f32; 2] = [1200.0, 675.0];

/// The timeline and the segment map of a device at a moment.
///
/// # Errors
/// If the device is not in the snapshot.
pub fn report_pictures(
    snapshot: &Arc<Snapshot>,
    device: DeviceId,
    moment: Moment,
    name: &str,
) -> Result<Vec<Picture>, ExportError> {
    let kinds = [
        (What::Timeline, "What was allocated over time"),
        (What::Segments, "What reserved memory was used for"),
    ];
    let picture = |(what, title): (What, &str)| {
        let paint =
            |palette| shot(snapshot, device, moment, name, what, palette)?.file(Format::Png, SIZE, 1.0);
        Ok(Picture { title: title.to_owned(), light: paint(&Palette::LIGHT)?, dark: paint(&Palette::DARK)? })
    };
    kinds.into_iter().map(picture).collect()
}

fn shot(
    snapshot: &Arc<Snapshot>,
    device: DeviceId,
    moment: Moment,
    name: &str,
    what: What,
    palette: &'static Palette,
) -> Result<Shot, ExportError> {
    let at = snapshot.timelines.iter().position(|t| t.device == device).ok_or(ExportError::NoDevice)?;
    let timeline = &snapshot.timelines[at];
    let stacks = Arc::new(BandColors::new(snapshot, palette));
    Ok(Shot {
        snapshot: Arc::clone(snapshot),
        at,
        name: name.to_owned(),
        what,
        view: view_of(timeline, Axis::Event, None),
        coloring: Arc::new(Coloring::new(ColorBy::Stack, timeline, stacks, palette)),
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
