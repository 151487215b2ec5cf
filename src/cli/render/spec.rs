//! From the arguments and an open recording to the picture.

use super::args::{Query, RenderArgs, VIEWS, Weigh};
use crate::cli::failure::Failure;
use crate::cli::select::{Opened, Selected, matches, missing};
use oomscope_analysis::filter::Prepared;
use oomscope_analysis::{Attribution, Direction, Measure, TreeOptions};
use oomscope_diagnosis::{DiagnosisRequest, diagnose_workload};
use oomscope_draw::picture::{self, view_of};
use oomscope_draw::segment_map::MapLook;
use oomscope_draw::{Axis, BandColors, Coloring, Future};
use oomscope_export::{Filtered, Marked, PictureKind, PictureSpec, PictureVerdict, StacksView, future_of};
use oomscope_model::{Bytes, Moment, Recording, Timeline};
use oomscope_program::{Run, Workload};
use oomscope_remedies::predict_all_while;
use oomscope_report::{answer, fix_of};
use std::sync::Arc;

/// The picture that the arguments ask for, or why the recording does not allow it.
pub(super) fn spec(
    args: &RenderArgs,
    recording: &Opened<'_>,
    selected: &Selected,
) -> Result<PictureSpec, Failure> {
    let &Selected { ref device, moment, .. } = selected;
    let axis = axis(args, recording, device)?;
    let found = || recording.attribution(device);
    let range = args.range.as_ref().map(|range| range.ends(device, found));
    let range = range.transpose().map_err(|lacking| missing(recording.file, lacking))?;
    refuse_useless_filter(args, recording)?;
    let attribution = recording.attribution(device);
    let capacity = args.capacity.of(device);
    let Told { verdict, marked, future } = told(args, device, &attribution, capacity);
    let attribution = needs_attribution(args).then_some(attribution);
    Ok(PictureSpec {
        recording: device.clone(),
        name: recording.name(),
        kind: args.view,
        view: view_of(device, axis, &future, range.map(moments)),
        coloring: Arc::new(coloring(args, device, attribution.clone())),
        filter: filtered(args, selected, attribution.as_deref()),
        attribution,
        marked: marked.filter(|_| !args.stressed.plain),
        verdict,
        is_in_page: false,
        redacts: false,
        moment,
        has_cursor: args.target.names_moment(),
        selected: picture::Selected::None,
        map: MapLook::default(),
        rows: None,
        stacks: StacksView {
            measure: measure(args, device, moment, range),
            options: tree_options(args),
            zoom: Vec::new(),
            search: String::new(),
        },
        future: Arc::new(future),
        capacity,
        palette: args.theme,
    })
}

fn axis(args: &RenderArgs, recording: &Opened<'_>, timeline: &Timeline) -> Result<Axis, Failure> {
    if args.axis == Axis::Time && !timeline.times.has_times() {
        return Err(recording.failure("no times were recorded", "use --axis events"));
    }
    Ok(args.axis)
}

/// The first moment to show and the one after the last, for the first event and the last.
fn moments([first, last]: [u32; 2]) -> [Moment; 2] {
    // From the state before the first event to that after the last, which is `last + 1`; the end is
    // exclusive.
    [Moment(first), Moment(last.saturating_add(2))]
}

fn refuse_useless_filter(args: &RenderArgs, recording: &Opened<'_>) -> Result<(), Failure> {
    if args.stressed.filter.is_none() || args.view.is_filtered() {
        return Ok(());
    }
    let name = VIEWS.iter().find(|view| view.value == args.view).map_or("", |view| view.name);
    Err(recording.failure(
        format_args!("a filter does not change --view {name}"),
        "leave out --filter, or show another view",
    ))
}

/// What is told of the whole recording, whatever moment is shown.
#[derive(Default)]
struct Told {
    /// The verdict, which the caption states.
    verdict: Option<PictureVerdict>,
    /// The memory that it is about.
    marked: Option<Marked>,
    /// What is projected behind the recording.
    future: Future,
}

fn told(
    args: &RenderArgs,
    recording: &Recording,
    attribution: &Attribution,
    capacity: Option<Bytes>,
) -> Told {
    let request = DiagnosisRequest { device_memory: capacity, ..DiagnosisRequest::default() };
    let workload = Workload::of(Run { recording, attribution });
    let found = diagnose_workload(&workload, request).ok();
    let Some((found, verdict)) = found.as_ref().and_then(|found| Some((found, found.verdict()?))) else {
        return Told::default();
    };
    let mut all = None;
    let fix = fix_of(verdict, || {
        let predictions = predict_all_while(&workload, capacity, &|_, _| true);
        all.clone_from(&predictions);
        predictions
    });
    let shown = fix.as_ref().filter(|_| !args.stressed.plain);
    let future = all.map(|all| future_of(&all, shown)).unwrap_or_default();
    let text = PictureVerdict::new(verdict.title.to_string(), answer(verdict).as_ref(), fix.as_ref());
    Told { verdict: Some(text), marked: Marked::of(verdict, recording, found.at.moment), future }
}

fn needs_attribution(args: &RenderArgs) -> bool {
    let filter = args.stressed.filter.as_ref();
    // Pictures over time have lanes of iterations and phases.
    matches!(args.view, PictureKind::Timeline | PictureKind::Reserved)
        || args.color_by.needs_attribution()
        || filter.is_some_and(|query| query.filter.needs_attribution())
}

fn coloring(args: &RenderArgs, recording: &Recording, attribution: Option<Arc<Attribution>>) -> Coloring {
    let stacks = Arc::new(BandColors::new(recording.snapshot(), args.theme));
    let coloring = Coloring::new(args.color_by, recording, stacks, args.theme);
    match attribution {
        Some(found) if coloring.by().needs_attribution() => coloring.with_attribution(found),
        _ => coloring,
    }
}

fn filtered(
    args: &RenderArgs,
    &Selected { ref device, moment, .. }: &Selected,
    attribution: Option<&Attribution>,
) -> Option<Filtered> {
    let Query { text, filter } = args.stressed.filter.as_ref().filter(|query| !query.filter.is_empty())?;
    let none = Attribution::default();
    let found = attribution.unwrap_or(&none);
    let prepared = Prepared::with_attribution(filter, device, found);
    let matches = Arc::new(matches(&prepared, device, moment));
    Some(Filtered { query: text.clone(), matches, hides_rest: args.stressed.only })
}

/// The measure of the flame graph: at the moment, or in the range.
fn measure(args: &RenderArgs, timeline: &Timeline, moment: Moment, range: Option<[u32; 2]>) -> Measure {
    let last = timeline.end();
    let [from, to] = range.map_or([Moment::START, last], |[first, last]| [Moment(first), Moment(last + 1)]);
    match args.weigh {
        Weigh::Live => Measure::Live { at: moment },
        Weigh::Allocated => Measure::Allocated { after: from, until: to },
        Weigh::Time => Measure::ByteTime { from, to },
    }
}

fn tree_options(args: &RenderArgs) -> TreeOptions {
    let direction = if args.callees_first { Direction::CalleesFirst } else { Direction::CallersFirst };
    TreeOptions { direction, folds_internal: !args.all_frames }
}
