//! The pane *Holes*: free memory in holes, the largest hole and fragmentation over time, or the totals.

use super::plot;
use super::sampling::{HolesTask, moments};
use crate::device::{Pane, PaneCtx, Standpoint};
use crate::texts::{self, marked};
use crate::timeline::panel::{BOTTOM_PX, LEFT_PX};
use crate::timeline::{brush, input};
use crate::work::background::Background;
use crate::work::memo::Memo;
use crate::{accessible, theme};
use eframe::egui::{self, Rect};
use egui_plot::{Line, LineStyle, PlotPoint, PlotPoints};
use oomscope_analysis::HolesAt;
use oomscope_draw::{Axis, ColumnTotals, Palette, Rgb, TimelineCanvas, View};
use oomscope_model::{Bytes, Moment, Timeline};
use oomscope_units as units;
use std::rc::Rc;
use std::sync::Arc;
use tr::tr;

/// Columns of totals: about as many as a wide window has pixels.
const COLUMNS: usize = 1600;

/// Room below the tools, in points.
const TOP_PX: f32 = 6.0;

/// Smallest height of the plot in points: less shows nothing.
const MIN_HEIGHT_PX: f32 = 16.0;

/// Air above the highest line, as a factor.
const AIR: f64 = 1.08;

/// The lines that are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Shows {
    /// Free memory in holes.
    #[default]
    Holes,
    /// Reserved, active and allocated memory.
    Totals,
}

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    shows: Shows,
    /// The moments of a view by its horizontal part.
    moments: Memo<(Axis, f64, f64), Arc<[Moment]>>,
    sampled: Background<HolesTask>,
    at_cursor: Background<HolesTask>,
    totals: Memo<(Axis, f64, f64), Rc<ColumnTotals>>,
}

impl State {
    /// The holes that are shown.
    #[cfg(test)]
    pub(crate) fn sampled(&self) -> Option<&Arc<[HolesAt]>> {
        self.sampled.latest()
    }
}

/// A line of the plot.
struct Curve {
    name: &'static str,
    color: Rgb,
    points: Vec<PlotPoint>,
    is_dashed: bool,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        self.ask(ui.ctx(), ctx);
        let palette = theme::palette(ui);
        ui.horizontal_wrapped(|ui| tools_ui(ui, ctx, self, palette));
        let all = ui.available_rect_before_wrap();
        let rect = Rect::from_min_max(
            egui::pos2(all.left() + LEFT_PX, all.top() + TOP_PX),
            egui::pos2(all.right(), all.bottom() - BOTTOM_PX),
        );
        if rect.height() < MIN_HEIGHT_PX || rect.width() < MIN_HEIGHT_PX {
            return;
        }
        let timeline = ctx.recording.timeline();
        let (curves, top) = self.curves(timeline, &ctx.at.view, palette);
        let view = View { y0: 0.0, y1: top, ..ctx.at.view };
        let canvas = TimelineCanvas { painter: ui.painter(), rect, view: &view, timeline, palette };
        canvas.grid();
        canvas.frame();
        if let Some(range) = ctx.at.range() {
            brush::paint(&canvas, range);
        }
        canvas.cursor(ctx.at.cursor);
        let response = plot_ui(ui, rect, &view, &curves);
        accessible::picture(&response, &tr!("Holes over time"), || ctx.at.words());
        navigate(ui, &response, timeline, ctx.at);
    }

    fn keep(&mut self, old: &Self) {
        self.shows = old.shows;
    }
}

/// The choice of lines, and their values at the cursor in the colours of the lines.
fn tools_ui(ui: &mut egui::Ui, ctx: &PaneCtx<'_>, state: &mut State, palette: &Palette) {
    ui.spacing_mut().item_spacing = egui::vec2(6.0, 2.0);
    let sampled = tr!("Free memory inside segments, of every moment in view or of some 240 of them");
    for (shows, name, hint) in [
        (Shows::Holes, tr!("Holes"), sampled),
        (Shows::Totals, tr!("Totals"), tr!("Reserved, active and allocated memory: the most of each column")),
    ] {
        if ui.selectable_label(state.shows == shows, theme::small(name)).on_hover_text(hint).clicked() {
            state.shows = shows;
        }
    }
    ui.add_space(6.0);
    let (timeline, cursor) = (ctx.recording.timeline(), ctx.at.cursor);
    let values = match (state.shows, state.at_cursor.latest().and_then(|holes| holes.first())) {
        (Shows::Totals, _) => vec![
            (palette.reserved, tr!("reserved {}", timeline.reserved_at(cursor).written(units::bytes))),
            (palette.accent, tr!("active {}", timeline.active_at(cursor).written(units::bytes))),
            (palette.allocated, tr!("allocated {}", timeline.allocated_at(cursor).written(units::bytes))),
        ],
        (Shows::Holes, Some(holes)) => hole_texts(holes, palette).to_vec(),
        (Shows::Holes, None) => Vec::new(),
    };
    for (color, text) in values {
        let (place, _) = ui.allocate_exact_size(egui::vec2(12.0, 18.0), egui::Sense::hover());
        let sample = Rect::from_center_size(place.center(), egui::vec2(12.0, 2.0));
        ui.painter().rect_filled(sample, 0.0, theme::color(color));
        ui.label(theme::small(text)).on_hover_text(tr!("At the cursor"));
    }
    let is_known = state.sampled.latest().is_some();
    if state.shows == Shows::Holes && !is_known {
        ui.label(theme::muted(ui, tr!("Looking for holes …")));
    }
}

fn hole_texts(holes: &HolesAt, palette: &Palette) -> [(Rgb, String); 3] {
    let share = holes.fragmentation().map_or_else(
        || "–".to_owned(),
        |_| units::percent(holes.free_bytes - holes.largest_bytes, holes.free_bytes),
    );
    [
        (palette.text, tr!("{} free in holes", units::bytes(holes.free_bytes))),
        (palette.accent, tr!("largest {}", units::bytes(holes.largest_bytes))),
        (palette.peak, tr!("fragmentation {share}", share)),
    ]
}

impl State {
    fn ask(&mut self, egui: &egui::Context, ctx: &PaneCtx<'_>) {
        if self.shows != Shows::Holes {
            return;
        }
        let (timeline, view, mode) = (ctx.recording.timeline(), ctx.at.view, ctx.derived.work_mode);
        let wanted = self.moments.get((view.axis, view.x0, view.x1), || moments(timeline, &view));
        let task = || HolesTask::new(ctx.recording.clone());
        self.sampled.ask(&wanted, egui, mode, "holes", task);
        self.at_cursor.ask(&Arc::from([ctx.at.cursor]), egui, mode, "holes", task);
    }

    /// The lines in a view, and the bytes at its top.
    fn curves(&self, timeline: &Timeline, view: &View, palette: &Palette) -> (Vec<Curve>, f64) {
        match self.shows {
            Shows::Holes => self.holes(timeline, view, palette),
            Shows::Totals => self.totals(timeline, view, palette),
        }
    }

    fn holes(&self, timeline: &Timeline, view: &View, palette: &Palette) -> (Vec<Curve>, f64) {
        let samples = self.sampled.latest().map_or(&[][..], |samples| samples);
        let top =
            samples.iter().map(|holes| holes.free_bytes).max().unwrap_or_default().max(Bytes(1)).as_f64()
                * AIR;
        let line = |value: &dyn Fn(&HolesAt) -> Option<f64>| -> Vec<PlotPoint> {
            let point =
                |holes: &HolesAt| Some(PlotPoint::new(middle(timeline, view, holes.moment), value(holes)?));
            samples.iter().filter_map(point).collect()
        };
        let curves = vec![
            Curve {
                name: marked!("fragmentation"),
                color: palette.peak,
                // The whole height is 100 %.
                points: line(&|holes| holes.fragmentation().map(|share| share * top)),
                is_dashed: true,
            },
            Curve {
                name: marked!("largest hole"),
                color: palette.accent,
                points: line(&|holes| Some(holes.largest_bytes.as_f64())),
                is_dashed: false,
            },
            Curve {
                name: marked!("free in holes"),
                color: palette.text,
                points: line(&|holes| Some(holes.free_bytes.as_f64())),
                is_dashed: false,
            },
        ];
        (curves, top)
    }

    fn totals(&self, timeline: &Timeline, view: &View, palette: &Palette) -> (Vec<Curve>, f64) {
        let new = || Rc::new(ColumnTotals::of_view(timeline, view, COLUMNS));
        let totals = self.totals.get((view.axis, view.x0, view.x1), new);
        let scale = view.on(timeline);
        let known: Vec<usize> =
            (0..COLUMNS).filter(|&column| !scale.moments_of_column(column, COLUMNS).is_empty()).collect();
        let line = |name, color, values: &[Bytes]| {
            let x = |column: usize| view.position_from_x((column as f64 + 0.5) / COLUMNS as f64);
            let point = |&column: &usize| Some(PlotPoint::new(x(column), values.get(column)?.as_f64()));
            Curve { name, color, points: known.iter().filter_map(point).collect(), is_dashed: false }
        };
        let top = totals
            .reserved
            .iter()
            .chain(&totals.active)
            .copied()
            .max()
            .unwrap_or_default()
            .max(Bytes(1))
            .as_f64()
            * AIR;
        let curves = vec![
            line(marked!("reserved"), palette.reserved, &totals.reserved),
            line(marked!("allocated"), palette.allocated, &totals.allocated),
            line(marked!("active"), palette.accent, &totals.active),
        ];
        (curves, top)
    }
}

/// The position on the axis at which a moment's line is.
fn middle(timeline: &Timeline, view: &View, moment: Moment) -> f64 {
    let (from, to) = view.on(timeline).positions_of(moment);
    match view.axis {
        Axis::Event => f64::midpoint(from, to),
        Axis::Time => from,
    }
}

/// The lines, in exactly the place of the axes around them.
fn plot_ui(ui: &mut egui::Ui, rect: Rect, view: &View, curves: &[Curve]) -> egui::Response {
    ui.scope_builder(egui::UiBuilder::new().max_rect(rect).id_salt("holes"), |ui| {
        let plot = plot::bare("holes", view.axis).width(rect.width()).height(rect.height());
        plot.show(ui, |plot| {
            plot.set_plot_bounds_x(view.x0..=view.x1);
            plot.set_plot_bounds_y(view.y0..=view.y1);
            for curve in curves {
                let line = Line::new(texts::translated(curve.name), PlotPoints::Borrowed(&curve.points))
                    .id(curve.name);
                let style = if curve.is_dashed { LineStyle::dashed_loose() } else { LineStyle::Solid };
                plot.line(line.color(theme::color(curve.color)).width(1.25).style(style));
            }
        })
        .response
    })
    .inner
}

/// Go to a click, and move and zoom in time, as on the timeline.
fn navigate(ui: &egui::Ui, response: &egui::Response, timeline: &Timeline, at: &mut Standpoint) {
    let width = response.rect.width().max(1.0);
    let share = |point: egui::Pos2| f64::from((point.x - response.rect.left()) / width);
    if response.dragged() {
        at.view = at.view.pan(f64::from(-response.drag_delta().x / width), 0.0, &at.full);
    }
    if response.clicked()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        let last = timeline.moments().saturating_sub(1) as f64;
        let moment = at.view.on(timeline).moment_from_x(share(pointer)).clamp(0.0, last);
        at.go_to(Moment(moment as u32));
    }
    if let Some(pointer) = response.hover_pos() {
        input::zoom_in_time(ui, at, share(pointer), width);
    }
}
