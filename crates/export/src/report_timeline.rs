//! The timeline of an HTML report: drawn for wide and for narrow pages, with the places of what can be read from it.

use super::kind::ExportError;
use super::report_figure::memory_figure;
use super::spec::PictureSpec;
use super::timeline;
use oomscope_analysis::Attribution;
use oomscope_draw::picture::{BandsPlace, PictureSheet, png};
use oomscope_report::{Drawing, PageTimeline, Picture, Plot, Readings};

/// Width and height in points, on wide and on narrow pages: about as wide as pages show it, so that its words are as large as
/// theirs.
const SIZES: [[u32; 2]; 2] = [[820, 440], [440, 400]];

/// Pixels of a point: words are sharp on dense screens and on paper.
const SCALE: f32 = 1.5;

/// The timeline, and what can be read from it.
pub(super) fn page_timeline(
    attribution: &Attribution,
    [light, dark]: &[PictureSpec; 2],
) -> Result<PageTimeline, ExportError> {
    let [wide, narrow] = SIZES.map(|size| drawn(size, light, dark));
    let ((wide, wide_place), (narrow, narrow_place)) = (wide?, narrow?);
    let figure = memory_figure(light.recording.timeline(), attribution, light.moment);
    let readings = figure.zip(wide_place.zip(narrow_place)).map(|(figure, (wide, narrow))| Readings {
        wide: plot(light, figure.moments, wide),
        narrow: plot(light, figure.moments, narrow),
        figure,
    });
    let title = "Memory over time, by what it is for".to_owned();
    Ok(PageTimeline { picture: Picture { title, wide, narrow }, readings })
}

/// The timeline in one size, and where its bands are: at the same place in both themes.
fn drawn(
    size: [u32; 2],
    light: &PictureSpec,
    dark: &PictureSpec,
) -> Result<(Drawing, Option<BandsPlace>), ExportError> {
    let paint = |spec: &PictureSpec| {
        let sheet =
            PictureSheet { size: size.map(|side| side as f32).into(), scale: SCALE, palette: spec.palette };
        let (pixels, place) = timeline::allocations(spec, spec.recording.timeline(), &sheet);
        Ok::<_, ExportError>((png(&pixels)?, place))
    };
    let ((light, place), (dark, _)) = (paint(light)?, paint(dark)?);
    Ok((Drawing { size, light, dark }, place))
}

/// The place of what was recorded: what is projected is behind it.
fn plot(spec: &PictureSpec, moments: usize, place: BandsPlace) -> Plot {
    let [left, right] = place.x;
    let x = |moment: usize| left + (right - left) * spec.view.x_from_position(moment as f64);
    Plot { x: [x(0), x(moments)], y: place.y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PageSubject, report_parts};
    use oomscope_analysis::UserRules;
    use oomscope_draw::{Future, Palette, Rgb};
    use oomscope_fixtures::first;
    use oomscope_model::{Bytes, Moment};
    use oomscope_report::MarkKind;
    use oomscope_snapshot::load::{Input, Progress, load};
    use std::sync::Arc;

    fn timeline(future: &Future) -> PageTimeline {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../sample_snapshots/gpt_oom_forward.pickle");
        let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
        let moment = Moment::after(recording.ooms[0].event);
        let subject = PageSubject {
            recording: &recording,
            attribution: &attribution,
            future,
            moment,
            marked: None,
            name: "a",
            redacts: false,
        };
        report_parts(subject).expect("pictures").timeline.expect("a timeline")
    }

    /// The width of a picture, and whether a pixel beside a place is more of a colour than of the ground. A thin line covers no
    /// pixel as a whole.
    fn is_colored(file: &[u8], [x, y]: [f64; 2], color: Rgb, ground: Rgb) -> (u32, bool) {
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a small picture")];
        let info = reader.next_frame(&mut rgb).expect("a whole PNG");
        let (x, y) = ((x * f64::from(info.width)) as usize, (y * f64::from(info.height)) as usize);
        let far = |pixel: &[u8], Rgb(r, g, b): Rgb| -> u32 {
            pixel.iter().zip([r, g, b]).map(|(&a, b)| u32::from(a.abs_diff(b))).sum()
        };
        let mut beside = (x.saturating_sub(3)..=x + 3).filter_map(|x| {
            let at = (y * info.width as usize + x) * 3;
            rgb.get(at..at + 3)
        });
        (info.width, beside.any(|pixel| far(pixel, color) < far(pixel, ground)))
    }

    #[test]
    fn the_oom_is_in_sight_where_the_page_reads_it_however_narrow_it_is() {
        for future in [Future::default(), Future::of(&[30 << 30, 20 << 30])] {
            let PageTimeline { picture, readings } = timeline(&future);
            let Readings { figure, wide, narrow } = readings.expect("instants");
            let mark = figure.marks.iter().find(|mark| mark.kind == MarkKind::OutOfMemory).expect("an OOM");
            let part = (mark.instant.moment.index() as f64 + 0.5) / figure.moments as f64;
            for (drawing, plot, most) in [(&picture.wide, wide, 1200), (&picture.narrow, narrow, 460)] {
                let [left, right] = plot.x;
                let [top, bottom] = plot.y;
                let place = [left + (right - left) * part, top + (bottom - top) * 0.01];
                assert!((0.0..1.0).contains(&place[0]) && drawing.size[0] <= most);
                for (file, palette) in [(&drawing.light, &Palette::LIGHT), (&drawing.dark, &Palette::DARK)] {
                    let (width, is_colored) = is_colored(file, place, palette.oom, palette.window);
                    assert!(is_colored, "no line of the OOM at {place:?} of {:?}", drawing.size);
                    assert_eq!(f64::from(width), f64::from(drawing.size[0]) * f64::from(SCALE));
                }
            }
        }
    }

    #[test]
    fn what_is_projected_lies_behind_what_can_be_read() {
        let ends = |future: &Future| timeline(future).readings.map(|all| [all.wide.x, all.narrow.x]);
        let recorded = ends(&Future::default()).expect("instants");
        let projected = ends(&Future { requested: vec![Bytes(1); 4], after_fix: None }).expect("instants");
        for (recorded, projected) in recorded.iter().zip(projected) {
            assert_eq!(recorded[0], projected[0]);
            assert!(projected[1] < recorded[1] - 0.05, "{projected:?} of {recorded:?}");
        }
    }
}
