//! `oomscope render`.

use super::live::{no_device, parse_at};
use super::open::parse_bytes;
use super::{Failure, loading, output};
use crate::analysis::{At, capacity, lanes, private_pools, resolve};
use crate::draw::picture::{
    Caption, CurvesPicture, Entry, Mark, Page, Selected, Sheet, SiteList, TimelinePicture, curves_legend,
    png, timeline_legend, view_of,
};
use crate::draw::software::{MAX_SIDE_PX, Pixels};
use crate::draw::{Axis, BandColors, Bands, Blocks, ColorBy, Coloring, Palette, Pooled, View};
use crate::load::Input;
use crate::model::{DeviceId, Moment, Snapshot, Timeline};
use crate::{report, units};
use clap::{Args, ValueEnum};
use std::io::Write as _;
use std::ops::Range;
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
  oomscope render snapshot.pickle --view curves --range 40000..41220 -o end.png

The picture carries the file's name, the device, the moment, the figures and the allocator settings, and
is made by the code that paints the window: the same file and arguments give the same bytes. No display
and no GPU are needed.")]
pub(super) struct RenderArgs {
    /// A snapshot; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = What::Timeline)]
    view: What,
    /// Where the cursor is: peak, oom (the last one), end, or after an event's number
    #[arg(long, value_name = "peak|oom|end|EVENT", value_parser = parse_at)]
    at: Option<At>,
    /// Only these events, by their numbers: both ends are shown
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    range: Option<Range<u32>>,
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
enum What {
    /// Live allocations over time, stacked
    Timeline,
    /// The totals over time as lines
    Curves,
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

fn parse_range(text: &str) -> Result<Range<u32>, String> {
    let event = |text: &str| text.trim().replace([',', '_'], "").parse::<u32>().ok();
    let ends = text.split_once("..").map(|(a, b)| (event(a), event(b)));
    match ends {
        Some((Some(first), Some(last))) if first <= last => Ok(first..last),
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
    let timeline = timeline(&snapshot, args)?;
    let pixels = Picture::new(args, &snapshot, timeline)?.paint();
    let file = png(&pixels)
        .map_err(|e| Failure::new(format_args!("cannot encode the picture: {e}"), "choose another size"))?;
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

fn timeline<'a>(snapshot: &'a Snapshot, args: &RenderArgs) -> Result<&'a Timeline, Failure> {
    match args.device {
        Some(device) => snapshot.timeline(DeviceId(device)).ok_or_else(|| no_device(snapshot, device)),
        None => snapshot.main_timeline().ok_or_else(|| {
            Failure::new(
                format_args!("{}: the snapshot holds no memory of any device", args.file.display()),
                "record it on a machine with a GPU",
            )
        }),
    }
}

/// Everything that the arguments mean for one file.
struct Picture<'a> {
    args: &'a RenderArgs,
    snapshot: &'a Snapshot,
    timeline: &'a Timeline,
    palette: &'static Palette,
    view: View,
    /// What the caption and the list of sites are about.
    moment: Moment,
}

impl<'a> Picture<'a> {
    fn new(args: &'a RenderArgs, snapshot: &'a Snapshot, timeline: &'a Timeline) -> Result<Self, Failure> {
        let refuse = |what: &dyn std::fmt::Display, hint: &str| {
            Failure::new(format_args!("{}: {what}", args.file.display()), hint)
        };
        let default = if timeline.ooms.is_empty() { At::Peak } else { At::Oom };
        let moment = resolve(args.at.unwrap_or(default), timeline)
            .map_err(|e| refuse(&e, "use --at peak or --at end, or an event that 'oomscope stats' counts"))?;
        let axis = match args.axis {
            AxisArg::Events => Axis::Event,
            AxisArg::Time if timeline.times.has_times() => Axis::Time,
            AxisArg::Time => return Err(refuse(&"no times were recorded", "use --axis events")),
        };
        let events = timeline.events.len();
        let moments = match &args.range {
            Some(range) if events <= range.end as usize => {
                let (last, events) = (units::count(range.end), units::count(events as u64));
                return Err(refuse(
                    &format_args!("there is no event {last} among {events}"),
                    "use a smaller --range",
                ));
            }
            // The state after the last event is shown too.
            Some(range) => Some(Moment(range.start)..Moment(range.end + 2)),
            None => None,
        };
        let palette = match args.theme {
            ThemeArg::Dark => &Palette::DARK,
            ThemeArg::Light => &Palette::LIGHT,
        };
        Ok(Self { args, snapshot, timeline, palette, view: view_of(timeline, axis, moments), moment })
    }

    fn paint(&self) -> Pixels {
        let sheet = Sheet { size: self.args.size.into(), scale: self.args.scale, palette: self.palette };
        match self.args.view {
            What::Timeline => self.stacked(&sheet),
            What::Curves => self.curves(&sheet),
        }
    }

    fn page(&self, legend: Vec<Entry>) -> Page {
        let name = Input::from_arg(&self.args.file).name();
        let title = units::printable(units::basename(&name));
        let lines = report::caption_lines(self.snapshot, self.timeline, self.moment);
        let headline = report::headline(self.timeline, self.snapshot.damage.is_some());
        Page { caption: Caption { title, headline, lines }, legend }
    }

    fn cursor(&self) -> Option<Moment> {
        self.args.at.map(|_| self.moment)
    }

    fn stacked(&self, sheet: &Sheet<'_>) -> Pixels {
        let (snapshot, timeline, palette) = (self.snapshot, self.timeline, self.palette);
        let stacks = Arc::new(BandColors::new(snapshot, palette));
        let coloring = Coloring::new(self.args.color_by.into(), timeline, stacks, palette);
        let blocks = Blocks { timeline, coloring: &coloring, kept: None };
        match private_pools(timeline) {
            Some(pools) => self.bands(sheet, &Pooled { blocks, pools: &pools }, &coloring),
            None => self.bands(sheet, &blocks, &coloring),
        }
    }

    fn bands(&self, sheet: &Sheet<'_>, bands: &impl Bands, coloring: &Coloring) -> Pixels {
        let (snapshot, timeline) = (self.snapshot, self.timeline);
        let by_stack = self.args.color_by == ColorArg::Stack;
        let mut legend = timeline_legend(timeline, &self.view, self.palette, by_stack);
        let keys = coloring.keys(snapshot, timeline).into_iter();
        legend.extend(keys.map(|key| Entry::new(Mark::Area, key.color, key.label)));
        let heading = report::moment_name(timeline, self.moment);
        let sites = SiteList::new(snapshot, timeline, self.moment, heading, by_stack.then_some(coloring));
        let picture = TimelinePicture {
            snapshot,
            timeline,
            view: self.view,
            bands,
            lanes: &lanes(snapshot, timeline),
            capacity: self.capacity(),
            cursor: self.cursor(),
            selected: Selected::None,
            sites: Some(&sites),
        };
        picture.paint(sheet, &self.page(legend))
    }

    fn curves(&self, sheet: &Sheet<'_>) -> Pixels {
        let picture = CurvesPicture {
            timeline: self.timeline,
            view: self.view,
            capacity: self.capacity(),
            cursor: self.cursor(),
        };
        picture.paint(sheet, &self.page(curves_legend(self.timeline, &self.view, self.palette)))
    }

    fn capacity(&self) -> Option<i64> {
        self.args.capacity.or_else(|| capacity(self.timeline))
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
