//! `oomscope render`.

use super::live::{self, no_device, parse_at};
use super::open::parse_bytes;
use super::{Failure, loading, output};
use crate::analysis::filter::{Filter, Prepared};
use crate::analysis::{At, resolve};
use crate::draw::picture::{Selected, view_of};
use crate::draw::software::MAX_SIDE_PX;
use crate::draw::{Axis, BandColors, ColorBy, Coloring, Palette};
use crate::export::{Filtered, Shot, What};
use crate::load::Input;
use crate::model::{DeviceId, Moment, Snapshot, Timeline};
use crate::units;
use clap::{Args, ValueEnum};
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The smallest side of a picture, in points: less has no room for the caption.
const MIN_SIDE: f32 = 200.0;

/// The most pixels of a picture: four times those of an 8K screen.
const MAX_PX: f32 = 4.0 * 7680.0 * 4320.0;

/// Arguments of `render`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope render snapshot.pickle -o timeline.png
  oomscope render snapshot.pickle --at oom --theme light --scale 2 -o ticket.png
  oomscope render snapshot.pickle --view segments --at 41220 -o map.png
  oomscope render snapshot.pickle --filter 'size>100MB' --only --range 40000..41220 -o large.png

The picture carries the file's name, the device, the moment, the figures and the allocator settings, and
is made by the code that paints the window: the same file and arguments give the same bytes. No display
and no GPU are needed.")]
pub(super) struct RenderArgs {
    /// A snapshot; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = ViewArg::Timeline)]
    view: ViewArg,
    /// The moment of the map, the list and the cursor: peak, oom (the last one), end, or after an event's
    /// number; else the OOM or the peak, without a cursor
    #[arg(long, value_name = "peak|oom|end|EVENT", value_parser = parse_at)]
    at: Option<At>,
    /// Only these events, by their numbers: both ends are shown
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    range: Option<[u32; 2]>,
    /// Show what matches: 'size>100MB attention stream:7 lifetime<10ms -kept', as in the window
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    filter: Option<Query>,
    /// Stack only what matches, instead of fading the rest
    #[arg(long, requires = "filter")]
    only: bool,
    /// What runs from left to right
    #[arg(long, value_enum, default_value_t = AxisArg::Events)]
    axis: AxisArg,
    /// What the colours of the timeline tell apart
    #[arg(long, value_enum, default_value_t = ColorArg::Stack)]
    color_by: ColorArg,
    /// This device instead of the one with an OOM or with most events; -1 is pinned host memory
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    device: Option<i64>,
    /// Memory of the device, for the capacity line: 80GiB. An OOM in the recording shows it, too
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    capacity: Option<i64>,
    /// Width and height in points; text is 11 to 18 points high
    #[arg(long, value_name = "WxH", default_value = "1600x900", value_parser = parse_size)]
    size: [f32; 2],
    /// Pixels per point: 2 gives the same picture with twice the detail
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = parse_scale)]
    scale: f32,
    /// The colours
    #[arg(long, value_enum, default_value_t = ThemeArg::Dark)]
    theme: ThemeArg,
    /// The PNG file to write; an existing one is replaced, and '-' is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    /// Live allocations over time, stacked
    Timeline,
    /// Reserved memory over time, stacked
    Reserved,
    /// The totals over time as lines
    Curves,
    /// What every reserved byte is used for at one moment
    Segments,
    /// Addresses over time, a row per segment
    Addresses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AxisArg {
    Events,
    Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorArg {
    Stack,
    Allocation,
    Size,
    Age,
    Stream,
    Pool,
    Category,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThemeArg {
    Dark,
    Light,
}

/// A filter as it was written, and what it means.
#[derive(Debug, Clone)]
struct Query {
    text: String,
    filter: Filter,
}

fn parse_filter(text: &str) -> Result<Query, String> {
    live::parse_filter(text).map(|filter| Query { text: text.to_owned(), filter })
}

fn parse_range(text: &str) -> Result<[u32; 2], String> {
    let event = |text: &str| text.trim().replace([',', '_'], "").parse::<u32>().ok();
    let ends = text.split_once("..").map(|(a, b)| (event(a), event(b)));
    match ends {
        Some((Some(first), Some(last))) if first <= last => Ok([first, last]),
        Some((Some(_), Some(_))) => Err("the first event is behind the last".to_owned()),
        _ => Err("expected the numbers of two events, such as 40000..41220".to_owned()),
    }
}

fn parse_size(text: &str) -> Result<[f32; 2], String> {
    let side = |text: &str| text.trim().parse::<u16>().ok().map(f32::from);
    let sides = text.split_once(['x', '×']).map(|(width, height)| (side(width), side(height)));
    match sides {
        Some((Some(width), Some(height))) if MIN_SIDE <= width.min(height) => Ok([width, height]),
        Some((Some(_), Some(_))) => Err(format!("both sides must be at least {MIN_SIDE}")),
        _ => Err("expected a width and a height, such as 1920x1080".to_owned()),
    }
}

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse::<f32>().map_err(|e| e.to_string())?;
    if (0.5..=8.0).contains(&scale) { Ok(scale) } else { Err("expected 0.5 to 8".to_owned()) }
}

pub(super) fn run(args: &RenderArgs) -> Result<(), Failure> {
    check_output(args)?;
    let snapshot = loading::load(&args.file)?;
    let shot = shot(args, &snapshot)?;
    let file = shot
        .png(args.size, args.scale)
        .map_err(|e| Failure::new(format_args!("{}: {e}", args.file.display()), "use another size"))?;
    if args.output == Path::new("-") {
        let mut out = output::stdout();
        out.write_all(&file)?;
        out.flush()?;
        return Ok(());
    }
    std::fs::write(&args.output, file).map_err(|e| {
        let path = args.output.display();
        Failure::new(format_args!("cannot write {path}: {e}"), "check the folder and its permissions")
    })
}

/// What can be refused before a large file is read.
fn check_output(args: &RenderArgs) -> Result<(), Failure> {
    let [width, height] = args.size.map(|side| side * args.scale);
    if (MAX_SIDE_PX as f32) < width.max(height) || MAX_PX < width * height {
        return Err(Failure::new(
            format_args!("{width} × {height} pixels are too many"),
            "use a smaller --size or --scale",
        ));
    }
    let is_png = args.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    if !is_png && args.output != Path::new("-") {
        let path = args.output.display();
        return Err(Failure::new(
            format_args!("{path}: pictures are PNG files"),
            "use a name that ends in .png",
        ));
    }
    Ok(())
}

/// What the arguments mean for a file.
fn shot(args: &RenderArgs, snapshot: &Arc<Snapshot>) -> Result<Shot, Failure> {
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
    let stacks = Arc::new(BandColors::new(snapshot, palette));
    Ok(Shot {
        at: snapshot.timelines.iter().position(|t| t.device == timeline.device).unwrap_or(0),
        name: Input::from_arg(&args.file).name(),
        what: args.view.into(),
        view: view_of(timeline, axis, moments),
        coloring: Arc::new(Coloring::new(args.color_by.into(), timeline, stacks, palette)),
        moment,
        has_cursor: args.at.is_some(),
        selected: Selected::None,
        filter: filtered(args, snapshot, timeline, moment),
        capacity: args.capacity,
        palette,
        snapshot: Arc::clone(snapshot),
    })
}

fn filtered(args: &RenderArgs, snapshot: &Snapshot, timeline: &Timeline, moment: Moment) -> Option<Filtered> {
    let Query { text, filter } = args.filter.as_ref().filter(|query| !query.filter.is_empty())?;
    let prepared = Prepared::new(filter, snapshot, timeline);
    for note in prepared.notes() {
        output::notice(&format!("{}: {note}", timeline.device));
    }
    let matches = Arc::new(prepared.matches(timeline, moment));
    Some(Filtered { query: text.clone(), matches, is_alone: args.only })
}

impl From<ViewArg> for What {
    fn from(view: ViewArg) -> Self {
        match view {
            ViewArg::Timeline => Self::Timeline,
            ViewArg::Reserved => Self::Reserved,
            ViewArg::Curves => Self::Curves,
            ViewArg::Segments => Self::Segments,
            ViewArg::Addresses => Self::Addresses,
        }
    }
}

impl From<ColorArg> for ColorBy {
    fn from(by: ColorArg) -> Self {
        match by {
            ColorArg::Stack => Self::Stack,
            ColorArg::Allocation => Self::Allocation,
            ColorArg::Size => Self::Size,
            ColorArg::Age => Self::Age,
            ColorArg::Stream => Self::Stream,
            ColorArg::Pool => Self::Pool,
            ColorArg::Category => Self::Category,
        }
    }
}
