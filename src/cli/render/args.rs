//! The arguments of `render`.

use crate::cli::names::{Named, named, one_of};
use crate::cli::select::{
    self, Capacity, NamedRange, Source, Target, parse_range, with_filters, with_moments, with_ranges,
};
use clap::{Args, ValueEnum};
use oomscope_analysis::filter::Filter;
use oomscope_draw::{Axis, ColorBy, Palette};
use oomscope_export::PictureKind;
use std::path::PathBuf;

/// The smallest side of a picture in points: below it there is no room for the caption.
const MIN_SIDE: f32 = 200.0;

/// `--view`.
pub(super) const VIEWS: [Named<PictureKind>; 6] = [
    named("timeline", PictureKind::Timeline).help("Live allocations over time, stacked"),
    named("reserved", PictureKind::Reserved).help("Reserved memory over time, stacked"),
    named("curves", PictureKind::Curves).help("The totals over time as lines"),
    named("segments", PictureKind::SegmentMap).help("What every reserved byte is used for at one moment"),
    named("segment-timeline", PictureKind::SegmentTimeline)
        .help("Addresses over time, a row per segment")
        .old_name("addresses"),
    named("stacks", PictureKind::Stacks)
        .help("Where memory was allocated, as a flame graph; with -o FILE.svg one that browsers can zoom"),
];

/// `--axis`.
const AXES: [Named<Axis>; 2] = [named("events", Axis::Event), named("time", Axis::Time)];

/// `--theme`.
const THEMES: [Named<&Palette>; 2] = [named("dark", &Palette::DARK), named("light", &Palette::LIGHT)];

/// Arguments of `render`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", |arg| {
        let help = "Moment to show, and to mark with a cursor [default: the peak of --range, oom, or peak, without a cursor]";
        // Behind `--view`, to which it belongs more than to `--device`.
        with_moments(arg.help(help).display_order(1))
    }),
    mut_arg("range", with_ranges),
    mut_arg("filter", with_filters),
    after_help = "Examples:
  oomscope render oom.pickle -o timeline.png
  oomscope render oom.pickle --at oom --theme light --scale 2 -o ticket.png
  oomscope render oom.pickle --view segments --at 41220 -o map.png
  # For a browser, with zoom and search:
  oomscope render oom.pickle --view stacks -o flame.svg
  # Only the large allocations, between two events:
  oomscope render a.pickle --filter 'size>1GB' --only --range 900..4200 -o a.png

The picture has a caption with the name of the file, the verdict, the device, the moment, the figures and \
the settings. The code that draws the window draws the picture, too, and needs no display and no GPU. The \
same file and arguments give the same bytes."
)]
pub(in crate::cli) struct RenderArgs {
    /// View to draw
    #[arg(long, default_value = "timeline", value_parser = one_of(VIEWS))]
    pub(super) view: PictureKind,
    /// Show only these events, such as iteration:3 or 40000..41220
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    pub(super) range: Option<NamedRange>,
    #[command(flatten)]
    pub(super) stressed: Stressed,
    /// Weight of the boxes of the flame graph
    #[arg(long, value_enum, default_value_t = Weigh::Live)]
    pub(super) weigh: Weigh,
    /// Start the flame graph at the innermost frames, with their callers below them
    #[arg(long)]
    pub(super) callees_first: bool,
    /// Show frames of torch, the interpreter and libraries in the flame graph, too
    #[arg(long)]
    pub(super) all_frames: bool,
    /// Horizontal axis
    #[arg(long, default_value = "events", value_parser = one_of(AXES))]
    pub(super) axis: Axis,
    /// Property that the colours of the timeline stand for
    #[arg(long, default_value = "category", value_parser = one_of(ColorBy::ALL.map(|by| named(by.name(), by))))]
    pub(super) color_by: ColorBy,
    #[command(flatten)]
    pub(super) source: Source,
    #[command(flatten)]
    pub(super) target: Target,
    #[command(flatten)]
    pub(super) capacity: Capacity,
    /// Width and height in points
    ///
    /// Text is 11 to 18 points high.
    #[arg(long, value_name = "WxH", default_value = "1600x900", value_parser = parse_size)]
    pub(super) size: [f32; 2],
    /// Pixels per point; 2 draws the same picture with twice the detail
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = parse_scale)]
    pub(super) scale: f32,
    /// Colour theme
    #[arg(long, default_value = "dark", value_parser = one_of(THEMES))]
    pub(super) theme: &'static Palette,
    /// Output file, overwritten if it exists: .png, or .svg for --view stacks
    ///
    /// '-' writes a PNG to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
}

/// What a picture stresses.
#[derive(Debug, Args)]
pub(super) struct Stressed {
    /// Fade all but the allocations that match, such as 'size>100MB attention -kept'
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    pub(super) filter: Option<Query>,
    /// Draw only the allocations that match, instead of fading the others
    #[arg(long, requires = "filter")]
    pub(super) only: bool,
    /// Do not highlight the memory that the verdict is about
    ///
    /// Highlighting fades all other memory. With --filter, nothing is highlighted either.
    #[arg(long)]
    pub(super) plain: bool,
}

/// `--weigh`. The moment and the range say when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Weigh {
    /// Bytes that are live at the moment
    Live,
    /// Bytes that were allocated in the range, whether or not they were freed again
    Allocated,
    /// Bytes multiplied by how long they were live within the range
    Time,
}

/// A filter, with its text as the caption shows it.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) filter: Filter,
}

fn parse_filter(text: &str) -> Result<Query, String> {
    select::parse_filter(text).map(|filter| Query { text: text.to_owned(), filter })
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
