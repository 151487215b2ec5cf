//! What an HTML report shows besides words, in both themes.

use super::kind::{ExportError, Format, PictureKind};
use super::report_timeline::page_timeline;
use super::spec::{Marked, PictureSpec, StacksView};
use oomscope_analysis::{Attribution, Category, Direction, Measure, TreeOptions};
use oomscope_draw::picture::{Selected, view_of};
use oomscope_draw::segment_map::MapLook;
use oomscope_draw::{Axis, BandColors, ColorBy, Coloring, Future, Palette, Rgb};
use oomscope_model::{Moment, Recording};
use oomscope_report::{Drawing, PageParts, Picture, Theme};
use std::sync::Arc;

/// Width and height of the segment map in points, on wide and on narrow pages. It has nothing beside it.
const MAP_SIZES: [[u32; 2]; 2] = [[1150, 560], [440, 520]];

/// Pixels of a point of the segment map, whose many blocks take many bytes.
const MAP_SCALE: f32 = 1.0;

/// What pictures of a report are about.
#[derive(Clone, Copy)]
pub struct PageSubject<'a> {
    /// The device.
    pub recording: &'a Recording,
    /// What its memory is for.
    pub attribution: &'a Arc<Attribution>,
    /// What is projected behind the recording.
    pub future: &'a Future,
    /// The moment that the report is about.
    pub moment: Moment,
    /// What pictures mark.
    pub marked: Option<&'a Marked>,
    /// The name of the recording.
    pub name: &'a str,
    /// Whether texts of the file that may name users and hosts are left out.
    pub redacts: bool,
}

/// Colours, the timeline with what can be read from it, and a picture of the segment map.
///
/// # Errors
/// If a picture cannot be written.
pub fn report_parts(subject: PageSubject<'_>) -> Result<PageParts, ExportError> {
    let specs = [&Palette::LIGHT, &Palette::DARK].map(|palette| spec(subject, palette));
    Ok(PageParts {
        light: theme(&Palette::LIGHT),
        dark: theme(&Palette::DARK),
        timeline: Some(page_timeline(subject.attribution, &specs)?),
        pictures: vec![map(&specs)?],
    })
}

/// The segment map.
fn map([light, dark]: &[PictureSpec; 2]) -> Result<Picture, ExportError> {
    let paint = |spec: &PictureSpec, size: [u32; 2]| {
        PictureSpec { kind: PictureKind::SegmentMap, ..spec.clone() }.file(
            Format::Png,
            size.map(|side| side as f32),
            MAP_SCALE,
        )
    };
    let [wide, narrow] = MAP_SIZES.map(|size| {
        let (light, dark) = (paint(light, size)?, paint(dark, size)?);
        Ok::<_, ExportError>(Drawing { size, light, dark })
    });
    let title = "What reserved memory was used for".to_owned();
    Ok(Picture { title, wide: wide?, narrow: narrow? })
}

/// The colours of a page in both themes, without pictures.
pub fn page_colors() -> PageParts {
    PageParts { light: theme(&Palette::LIGHT), dark: theme(&Palette::DARK), ..PageParts::default() }
}

/// The colours of a page.
fn theme(palette: &Palette) -> Theme {
    let named = [
        ("window", palette.window),
        ("panel", palette.panel),
        ("line", palette.line),
        ("text", palette.text),
        ("muted", palette.muted),
        ("accent", palette.accent),
        ("oom", palette.oom),
        ("peak", palette.peak),
        ("reserved", palette.reserved),
        ("allocated", palette.allocated),
        ("active", palette.accent),
    ];
    let categories = Category::ALL.map(|category| (category.key(), palette.category(category)));
    named.into_iter().chain(categories).map(|(name, Rgb(r, g, b))| (name, [r, g, b])).collect()
}

/// The timeline of a device, coloured by what memory is for.
fn spec(subject: PageSubject<'_>, palette: &'static Palette) -> PictureSpec {
    let PageSubject { recording, attribution, future, moment, marked, name, redacts } = subject;
    let stacks = Arc::new(BandColors::new(recording.snapshot(), palette));
    let coloring = Coloring::new(ColorBy::Category, recording, stacks, palette);
    PictureSpec {
        recording: recording.clone(),
        name: name.to_owned(),
        kind: PictureKind::Timeline,
        view: view_of(recording, Axis::Event, future, None),
        coloring: Arc::new(coloring.with_attribution(Arc::clone(attribution))),
        attribution: Some(Arc::clone(attribution)),
        verdict: None,
        is_in_page: true,
        redacts,
        moment,
        // A failure and the peak have marks of their own.
        has_cursor: !recording.ooms.iter().any(|oom| Moment::after(oom.event) == moment)
            && recording.active.peak().0 != moment,
        selected: Selected::None,
        filter: None,
        marked: marked.cloned(),
        map: MapLook::default(),
        rows: None,
        stacks: StacksView {
            measure: Measure::Live { at: moment },
            options: TreeOptions { direction: Direction::CallersFirst, folds_internal: true },
            zoom: Vec::new(),
            search: String::new(),
        },
        future: Arc::new(future.clone()),
        capacity: None,
        palette,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PictureVerdict;
    use oomscope_analysis::{RangeName, UserRules};
    use oomscope_draw::picture::Caption;
    use oomscope_fixtures::first;
    use oomscope_report::{Answer, Fix};
    use oomscope_snapshot::load::{Input, Progress, load};

    fn plain(
        recording: &Recording,
        attribution: &Arc<Attribution>,
        moment: Moment,
        name: &str,
    ) -> PictureSpec {
        let future = &Future::default();
        let subject =
            PageSubject { recording, attribution, future, moment, marked: None, name, redacts: false };
        PictureSpec { is_in_page: false, ..spec(subject, &Palette::DARK) }
    }

    #[test]
    fn what_is_projected_is_in_the_picture() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../sample_snapshots/gpt_oom_forward.pickle");
        let recording = &first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let attribution = &Arc::new(Attribution::of(recording, &UserRules::default()));
        let moment = Moment::START;
        let high = |future: &Future| {
            let subject = PageSubject {
                recording,
                attribution,
                future,
                moment,
                marked: None,
                name: "a",
                redacts: false,
            };
            spec(subject, &Palette::DARK).view.y1
        };
        let projected_bytes = 40 << 30;
        assert!(high(&Future::default()) < projected_bytes as f64);
        assert!((projected_bytes as f64) < high(&Future::of(&[projected_bytes])));
    }

    #[test]
    fn pictures_over_time_have_lanes_of_iterations_and_phases() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../sample_snapshots/gpt_oom_forward.pickle");
        let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let timeline = recording.timeline();
        let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
        let of = |attribution| {
            let end = timeline.end();
            plain(&recording, attribution, end, "a")
        };
        let lanes = of(&attribution).lanes(timeline).lanes;
        assert_eq!(lanes[0][0].name, RangeName::Iteration { number: 0, is_known: true });
        assert!(lanes[1].iter().any(|range| range.name.text(recording.snapshot()) == "backward"));
        assert!(2 < lanes.len(), "annotations come below");
    }

    #[test]
    fn a_caption_carries_the_verdict_and_names_no_folder_if_that_is_wanted() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots/frag_oom.pickle");
        let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
        let spec = plain(&recording, &attribution, Moment::START, "/home/me/a.pickle");
        let caption = |spec: &PictureSpec| spec.page(&recording, Vec::new()).caption;
        assert!(caption(&spec).headline.starts_with("Out of memory: 1004 MiB requested"));
        let culprit = Some("/home/me/a.py:5: 1 GiB".to_owned());
        let answer = Answer { culprit, site: None };
        let fix = Fix {
            short: "shrink it".to_owned(),
            is_code: false,
            text: String::new(),
            code: None,
            is_advice: true,
            simulated: None,
        };
        let verdict = Some(PictureVerdict::new("A leak".to_owned(), Some(&answer), Some(&fix)));
        let spec = PictureSpec { verdict, ..spec };
        assert_eq!(caption(&spec).title, "a.pickle");
        assert_eq!(caption(&spec).headline, "A leak");
        assert_eq!(caption(&spec).lines[0], "/home/me/a.py:5: 1 GiB · Fix: shrink it");
        let redacted = PictureSpec { redacts: true, ..spec };
        assert_eq!(caption(&redacted).lines[0], "a.py:5: 1 GiB · Fix: shrink it");
        let in_page = PictureSpec { is_in_page: true, ..redacted };
        assert_eq!(caption(&in_page), Caption::default(), "the page says it");
        assert!(in_page.sites(&recording).is_none());
    }

    #[test]
    fn a_legend_explains_the_colours_that_the_picture_has() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots/frag_oom.pickle");
        let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
        let of = |kind, by| {
            let stacks = Arc::new(BandColors::new(recording.snapshot(), &Palette::DARK));
            let coloring = Arc::new(Coloring::new(by, &recording, stacks, &Palette::DARK));
            let spec = plain(&recording, &attribution, Moment::START, "a");
            !PictureSpec { kind, coloring, ..spec }.color_keys(&recording).is_empty()
        };
        assert!(of(PictureKind::Timeline, ColorBy::Size));
        assert!(of(PictureKind::Reserved, ColorBy::Size));
        // Reserved memory serves allocations of several categories.
        assert!(!of(PictureKind::Reserved, ColorBy::Category));
        assert!(!of(PictureKind::Curves, ColorBy::Size));
    }
}
