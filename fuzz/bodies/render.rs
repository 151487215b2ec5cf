//! Pictures of a made-up recording: every view, coloured by any property, in any size.

use super::choices::Choices;
use super::made_up;
use oomscope_analysis::filter::{Filter, Matches, Prepared};
use oomscope_analysis::{Attribution, Direction, Measure, TreeOptions, UserRules};
use oomscope_draw::picture::{Selected, view_of};
use oomscope_draw::segment_map::MapLook;
use oomscope_draw::{AfterFix, Axis, BandColors, ColorBy, Coloring, Future, MarkStep, Palette};
use oomscope_export::{Filtered, Format, Marked, PictureKind, PictureSpec, StacksView};
use oomscope_model::{Bytes, Moment, Recording};
use std::sync::Arc;

const KINDS: [PictureKind; 6] = [
    PictureKind::Timeline,
    PictureKind::Reserved,
    PictureKind::Curves,
    PictureKind::SegmentMap,
    PictureKind::SegmentTimeline,
    PictureKind::Stacks,
];

pub(crate) fn body(bytes: &[u8]) {
    let choices = &mut Choices::new(bytes);
    let kind = choices.pick(&KINDS);
    let size = [(); 2].map(|()| f32::from(1 + choices.short() % 400));
    let scale = choices.pick(&[1.0, 0.5, 2.0]);
    let looks: [u8; 8] = std::array::from_fn(|_| choices.byte());
    let snapshot = made_up::snapshot(choices);
    for recording in Recording::all(&snapshot) {
        let spec = spec(kind, &mut Choices::new(&looks), &recording);
        let file = spec.file(Format::Png, size, scale).expect("the picture has pixels");
        assert!(file.starts_with(b"\x89PNG"));
        if kind == PictureKind::Stacks {
            let svg = spec.file(Format::Svg, size, scale).expect("a flame graph");
            let svg = String::from_utf8(svg).expect("text");
            assert!(!svg.contains("<img src=x") && !svg.contains('\u{1b}'), "nothing of a name is a tag");
        }
    }
}

fn spec(kind: PictureKind, choices: &mut Choices<'_>, recording: &Recording) -> PictureSpec {
    let timeline = recording.timeline();
    let last = timeline.events.len() as u32;
    let mut moment = || Moment(u32::from(choices.byte()) * last / 255);
    let (at, [after, until]) = (moment(), [moment(), moment()]);
    let attribution = Arc::new(Attribution::of(recording, &UserRules::default()));
    let palette = choices.pick(&[&Palette::DARK, &Palette::LIGHT]);
    let stacks = Arc::new(BandColors::new(recording.snapshot(), palette));
    let coloring = Coloring::new(choices.pick(&ColorBy::ALL), timeline, stacks, palette);
    let axis = if timeline.times.has_times() && choices.once_in(2) { Axis::Time } else { Axis::Event };
    let filter = choices.once_in(3).then(|| {
        let filter = Filter::parse("size>1MB").expect("it is a filter");
        let prepared = Prepared::with_attribution(&filter, recording, &attribution);
        let matches = Arc::new(prepared.matches(timeline, at));
        Filtered { query: "size>1MB".to_owned(), matches, hides_rest: after < until }
    });
    let marked = choices.once_in(2).then(|| {
        let every_other = timeline.ids().step_by(2);
        let allocations = Arc::new(Matches::from_ids(timeline.lifetimes.len(), every_other));
        let steps = [after, until].map(|start| MarkStep { start, label: "1 GiB".to_owned() });
        Marked { label: "1 GiB kept of a.py:1".to_owned(), allocations, steps: Arc::new(steps), moment: at }
    });
    let measure = if after < until { Measure::Allocated { after, until } } else { Measure::Live { at } };
    let direction = if after < at { Direction::CalleesFirst } else { Direction::CallersFirst };
    let requested = vec![Bytes(last.into()), Bytes::MAX, Bytes::ZERO];
    let after_fix = (at < after).then(|| AfterFix {
        bytes: requested.clone(),
        recorded: 2,
        // A change that fails has fewer.
        all: requested.len() + usize::from(after < until),
        ..AfterFix::default()
    });
    let future = Future { requested, after_fix };
    PictureSpec {
        recording: recording.clone(),
        name: "fuzz".to_owned(),
        kind,
        view: view_of(timeline, axis, &future, (after < until).then_some([after, until])),
        coloring: Arc::new(coloring.with_attribution(Arc::clone(&attribution))),
        filter,
        marked,
        attribution: Some(attribution),
        verdict: None,
        is_in_page: false,
        redacts: at < after,
        moment: at,
        has_cursor: at < until,
        selected: Selected::None,
        map: MapLook::default(),
        rows: None,
        stacks: StacksView {
            measure,
            options: TreeOptions { direction, folds_internal: at == after },
            zoom: Vec::new(),
            search: "t".to_owned(),
        },
        future: Arc::new(future),
        capacity: None,
        palette,
    }
}
