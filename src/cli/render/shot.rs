//! What the arguments mean for a file.

use super::args::{AxisArg, Query, RenderArgs, ThemeArg, WeighArg};
use crate::analysis::filter::Prepared;
use crate::analysis::{At, Attribution, Categories, Direction, Measure, TreeOptions, UserRules, resolve};
use crate::cli::live::no_device;
use crate::cli::{Failure, output};
use crate::draw::picture::{Selected, view_of};
use crate::draw::segment_map::Look;
use crate::draw::{Axis, BandColors, ColorBy, Coloring, Palette};
use crate::export::{Filtered, Shot, StacksView, What};
use crate::load::Input;
use crate::model::{DeviceId, Moment, Snapshot, Timeline};
use crate::units;
use clap::ValueEnum as _;
use std::fmt;
use std::sync::Arc;

/// What the arguments mean for a file.
pub(super) fn shot(args: &RenderArgs, snapshot: &Arc<Snapshot>, rules: &UserRules) -> Result<Shot, Failure> {
    let refuse = |what: &dyn fmt::Display, hint: &str| {
        Failure::new(format_args!("{}: {what}", args.file.display()), hint)
    };
    let timeline = match args.device {
        Some(device) => snapshot.timeline(DeviceId(device)).ok_or_else(|| no_device(snapshot, device))?,
        None => snapshot.main_timeline().ok_or_else(|| {
            refuse(&"the snapshot holds no memory of any device", "record it on a machine with a GPU")
        })?,
    };
    let default = if timeline.ooms.is_empty() { At::Peak } else { At::Oom };
    let moment = resolve(args.at.unwrap_or(default), timeline)
        .map_err(|e| refuse(&e, "use --at peak or --at end, or an event that 'oomscope stats' counts"))?;
    let axis = match args.axis {
        AxisArg::Events => Axis::Event,
        AxisArg::Time if timeline.times.has_times() => Axis::Time,
        AxisArg::Time => return Err(refuse(&"no times were recorded", "use --axis events")),
    };
    let moments = match args.range {
        Some([_, last]) if timeline.events.len() <= last as usize => {
            let (last, events) = (units::count(last), units::count(timeline.events.len() as u64));
            let what = format!("there is no event {last} among {events}");
            return Err(refuse(&what, "use a smaller --range"));
        }
        // From the state before the first event to the one after the last.
        range => range.map(|[first, last]| [Moment(first), Moment(last + 2)]),
    };
    if args.filter.is_some() && !What::from(args.view).is_filtered() {
        let name =
            args.view.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let what = format!("a filter does not change --view {name}");
        return Err(refuse(&what, "leave out --filter, or show another view"));
    }
    let palette = if args.theme == ThemeArg::Dark { &Palette::DARK } else { &Palette::LIGHT };
    let attribution = needs_attribution(args).then(|| Arc::new(Attribution::of(snapshot, timeline, rules)));
    let categories = attribution.as_ref().map(|found| &found.categories);
    let filter = filtered(args, snapshot, timeline, moment, categories);
    Ok(Shot {
        at: snapshot.timelines.iter().position(|t| t.device == timeline.device).unwrap_or(0),
        name: Input::from_arg(&args.file).name(),
        what: args.view.into(),
        view: view_of(timeline, axis, moments),
        coloring: Arc::new(coloring(args, snapshot, timeline, attribution.clone(), palette)),
        attribution,
        moment,
        has_cursor: args.at.is_some(),
        selected: Selected::None,
        filter,
        map: Look::default(),
        rows: None,
        stacks: StacksView {
            measure: measure(args, timeline, moment),
            options: tree_options(args),
            zoom: Vec::new(),
            search: String::new(),
        },
        capacity: args.capacity,
        palette,
        snapshot: Arc::clone(snapshot),
    })
}

fn needs_attribution(args: &RenderArgs) -> bool {
    let filter = args.filter.as_ref();
    // Pictures over time have lanes of iterations and phases.
    matches!(What::from(args.view), What::Timeline | What::Reserved)
        || ColorBy::from(args.color_by) == ColorBy::Category
        || filter.is_some_and(|query| query.filter.needs_categories())
}

fn coloring(
    args: &RenderArgs,
    snapshot: &Snapshot,
    timeline: &Timeline,
    attribution: Option<Arc<Attribution>>,
    palette: &Palette,
) -> Coloring {
    let stacks = Arc::new(BandColors::new(snapshot, palette));
    let coloring = Coloring::new(args.color_by.into(), timeline, stacks, palette);
    match attribution {
        Some(found) if coloring.by() == ColorBy::Category => coloring.with_attribution(found),
        _ => coloring,
    }
}

fn filtered(
    args: &RenderArgs,
    snapshot: &Snapshot,
    timeline: &Timeline,
    moment: Moment,
    categories: Option<&Categories>,
) -> Option<Filtered> {
    let Query { text, filter } = args.filter.as_ref().filter(|query| !query.filter.is_empty())?;
    let none = Categories::default();
    let prepared = Prepared::with_categories(filter, snapshot, timeline, categories.unwrap_or(&none));
    for note in prepared.notes() {
        output::notice(&format!("{}: {note}", timeline.device));
    }
    let matches = Arc::new(prepared.matches(timeline, moment));
    Some(Filtered { query: text.clone(), matches, is_alone: args.only })
}

/// What the flame graph weighs: at the moment, or in the range.
fn measure(args: &RenderArgs, timeline: &Timeline, moment: Moment) -> Measure {
    let last = Moment(timeline.events.len() as u32);
    let [from, to] =
        args.range.map_or([Moment::START, last], |[first, last]| [Moment(first), Moment(last + 1)]);
    match args.weigh {
        WeighArg::Live => Measure::Live { at: moment },
        WeighArg::Allocated => Measure::Allocated { after: from, until: to },
        WeighArg::Time => Measure::ByteTime { from, to },
    }
}

fn tree_options(args: &RenderArgs) -> TreeOptions {
    let direction = if args.callees_first { Direction::CalleesFirst } else { Direction::CallersFirst };
    TreeOptions { direction, folds_internal: !args.all_frames }
}
