//! The timeline: toolbar, minimap, lanes, the stacked picture with its axes, hover and click.

use super::input;
use super::input::Under;
use super::rasters::Wish;
use super::{minimap, toolbar};
use crate::analysis::{NamedRange, site_label};
use crate::app::device::{DeviceState, TimelineMode};
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::draw::{Canvas, LANE_PX, Labels, Palette, Pixel, pool_of_band, range_of_band};
use crate::model::{AllocId, EventIx, Moment, PoolKey, ReservedRange, Timeline};
use crate::{report, units};
use eframe::egui::{self, Rect, Sense, Stroke, StrokeKind};
use std::sync::Arc;

/// Room for the labels of the axes.
pub(in crate::app) const LEFT_PX: f32 = 68.0;
pub(in crate::app) const BOTTOM_PX: f32 = 24.0;

/// Height of the minimap, and of the space around it.
const MINIMAP_PX: f32 = 34.0;
const GAP_PX: f32 = 6.0;

/// Lanes leave at least this much for the picture.
const MIN_PICTURE_PX: f32 = 80.0;

/// What the panel remembers between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(in crate::app) minimap: minimap::State,
    /// Where a box to zoom to started.
    box_from: Option<egui::Pos2>,
}

/// Where the parts of the panel are.
struct Places {
    minimap: Rect,
    lanes: Rect,
    picture: Rect,
    axis: Rect,
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let palette = theme::palette(ui);
    toolbar::ui(ui, palette, device);
    let Some(places) = places(ui.available_rect_before_wrap(), device) else { return };
    ui.allocate_rect(ui.available_rect_before_wrap(), Sense::hover());
    minimap::ui(ui, places.minimap, palette, device);
    let response = ui.interact(places.picture, ui.scope_id().with("picture"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Allocation timeline"));
    input::scrub(ui, places.axis, places.picture, device);
    box_zoom(&response, device);
    input::navigate(ui, &response, device);
    let wish = wish(ui, places.picture, device, palette);
    device.rasters.update(ui.ctx(), wish);
    let under = response.hover_pos().and_then(|pointer| under(device, places.picture, pointer));
    if let Some(under) = under {
        if response.double_clicked() {
            input::double_click(device, under);
        } else if response.clicked() {
            input::click(device, under);
        }
    }
    paint(ui, device, &places, palette, under);
    if !response.dragged() {
        hover_ui(&response, device, under);
    }
    lanes_ui(ui, device, &places, palette);
}

/// Room for everything; `None` where there is too little.
fn places(all: Rect, device: &DeviceState) -> Option<Places> {
    let (left, right) = (all.left() + LEFT_PX, all.right());
    let minimap = Rect::from_min_max(
        egui::pos2(left, all.top() + GAP_PX),
        egui::pos2(right, all.top() + GAP_PX + MINIMAP_PX),
    );
    let bottom = all.bottom() - BOTTOM_PX;
    let room = bottom - minimap.bottom() - GAP_PX - MIN_PICTURE_PX;
    let lanes = (device.lanes.lanes.len() as f32).min((room / LANE_PX).floor()).max(0.0) * LANE_PX;
    let lanes_top = minimap.bottom() + GAP_PX;
    let lanes = Rect::from_min_max(egui::pos2(left, lanes_top), egui::pos2(right, lanes_top + lanes));
    let picture_top = if lanes.height() == 0.0 { lanes_top } else { lanes.bottom() + 2.0 };
    let picture = Rect::from_min_max(egui::pos2(left, picture_top), egui::pos2(right, bottom));
    let axis = Rect::from_min_max(egui::pos2(left, bottom), egui::pos2(right, all.bottom()));
    (16.0 <= picture.width() && 16.0 <= picture.height()).then_some(Places { minimap, lanes, picture, axis })
}

fn under(device: &mut DeviceState, rect: Rect, pointer: egui::Pos2) -> Option<Under> {
    let view = device.view;
    device.rasters.shown().map(|shown| input::under(shown, rect, &view, pointer))
}

fn wish(ui: &egui::Ui, rect: Rect, device: &mut DeviceState, palette: &Palette) -> Wish {
    let largest = ui.input(|input| input.max_texture_side);
    let px = |points: f32| ((points * ui.pixels_per_point()).round() as usize).clamp(1, largest);
    Wish {
        view: device.view,
        size_px: [px(rect.width()), px(rect.height())],
        is_dark: palette.is_dark,
        mode: device.mode,
        coloring: device.coloring(palette),
        filter: device.matches().map(|matches| (Arc::clone(matches), device.filter_mode)),
    }
}

/// Zoom to a box that is drawn with Shift held.
fn box_zoom(response: &egui::Response, device: &mut DeviceState) {
    let (pointer, is_shift) = response.ctx.input(|input| (input.pointer.latest_pos(), input.modifiers.shift));
    let state = &mut device.panels.timeline;
    if response.drag_started() && is_shift {
        state.box_from = response.ctx.input(|input| input.pointer.press_origin());
    }
    if !response.drag_stopped() {
        return;
    }
    let Some((from, to)) = state.box_from.take().zip(pointer) else { return };
    let (rect, view) = (response.rect, device.view);
    let drawn = Rect::from_two_pos(from, to).intersect(rect);
    if drawn.width() < 3.0 && drawn.height() < 3.0 {
        return;
    }
    let part = |value: f32, start: f32, length: f32| f64::from((value - start) / length.max(1.0));
    let x = [drawn.left(), drawn.right()].map(|x| view.position_from_x(part(x, rect.left(), rect.width())));
    let y =
        [drawn.bottom(), drawn.top()].map(|y| view.bytes_from_y(1.0 - part(y, rect.top(), rect.height())));
    device.show(view.of_box(x, y, &device.full));
}

impl State {
    /// Whether a box is being drawn, so that the drag does not pan.
    pub(in crate::app) fn is_drawing_box(&self) -> bool {
        self.box_from.is_some()
    }
}

fn paint(ui: &egui::Ui, device: &mut DeviceState, places: &Places, palette: &Palette, under: Option<Under>) {
    let snapshot = device.snapshot();
    let Some(timeline) = snapshot.timelines.get(device.index()) else { return };
    let view = device.view;
    let canvas = Canvas { painter: ui.painter(), rect: places.picture, view: &view, timeline, palette };
    let (cursor, peak, capacity) = (device.cursor, device.figures.peak, device.capacity());
    canvas.grid();
    picture(&canvas, device, under);
    canvas.frame();
    let mut labels = Labels::default();
    canvas.ooms(&mut labels);
    if !timeline.events.is_empty() {
        canvas.peak(peak, &mut labels);
    }
    if let Some(capacity) = capacity {
        canvas.capacity(capacity, &mut labels);
    }
    if let Some(mark) = device.panels.stacks.mark {
        canvas.mark(mark, &mut labels);
    }
    canvas.dumps(&mut labels);
    canvas.cursor(cursor);
    canvas.labels(labels);
    canvas.lanes(&snapshot, &device.lanes, places.lanes);
    if let Some((from, to)) =
        device.panels.timeline.box_from.zip(ui.input(|input| input.pointer.latest_pos()))
    {
        let drawn = Rect::from_two_pos(from, to).intersect(places.picture);
        let stroke = Stroke::new(1.0, theme::color(palette.accent));
        ui.painter().rect(drawn, 0.0, theme::faded(palette.accent, 0.12), stroke, StrokeKind::Inside);
    }
}

/// The bands, what is hovered and selected, and the total lines.
fn picture(canvas: &Canvas<'_>, device: &mut DeviceState, under: Option<Under>) {
    let (selected, selection) = (device.selected(), device.selection());
    let Some(shown) = device.rasters.shown() else { return };
    canvas.picture(&shown.picture, shown.texture.id());
    let selected = selected.filter(|_| shown.mode == TimelineMode::Blocks);
    let hovered = match under {
        Some(Under { pixel: Pixel::Block(id), .. }) => Some(id),
        _ => None,
    };
    for (id, is_selected) in [(hovered, false), (selected, true)] {
        if let Some(id) = id {
            let spans = shown.outline(id).to_vec();
            canvas.outline(&shown.picture, &spans, is_selected);
        }
    }
    if let Selection::Stack(_) | Selection::Segment { .. } = selection {
        let spans = shown.spans_of(selection, canvas.timeline).to_vec();
        canvas.highlight(&shown.picture, &spans);
    }
    canvas.totals(&shown.picture);
}

fn hover_ui(response: &egui::Response, device: &DeviceState, under: Option<Under>) {
    let Some(under) = under else { return };
    match under.pixel {
        Pixel::Empty => {}
        Pixel::Merged => {
            response.clone().on_hover_ui_at_pointer(|ui| {
                ui.label("Blocks thinner than a pixel. Zoom in to see them, with Shift vertically.");
                when_ui(ui, device, under);
            });
        }
        Pixel::Block(id) => {
            let [size, place, life] = hover_text(device, id, under);
            response.clone().on_hover_ui_at_pointer(|ui| {
                ui.label(theme::strong(size, 13.0));
                ui.label(place);
                ui.label(theme::muted(ui, life));
                when_ui(ui, device, under);
            });
        }
    }
}

/// When the column under the pointer was, with the wall clock.
fn when_ui(ui: &mut egui::Ui, device: &DeviceState, under: Under) {
    if let Some(moment) = under.moment {
        ui.label(theme::muted(ui, report::when_text(device.timeline(), moment)));
    }
}

/// Size, site, lifetime; of the free part of a pool, what it reserves.
fn hover_text(device: &DeviceState, id: AllocId, under: Under) -> [String; 3] {
    let timeline = device.timeline();
    if under.mode == TimelineMode::Segments {
        return segment_text(device, id);
    }
    if let Some(pools) = device.rasters.pools()
        && let Some(at) = pool_of_band(id, pools)
    {
        let pool = &pools.pools[at];
        let reserved = under.moment.map_or(0, |moment| pool.reserved.at(moment));
        return [
            format!("Private pool {}.{}", pool.key.0, pool.key.1),
            format!("{} reserved", units::bytes_exact(reserved)),
            "Hatched: not in use by the pool's own blocks".to_owned(),
        ];
    }
    let allocation = timeline.lifetimes.get(id, &timeline.events);
    let is_awaiting = under.moment.is_some_and(|moment| allocation.is_awaiting_at(moment));
    let state = if is_awaiting { " · freed, waiting for a stream" } else { "" };
    [
        units::bytes_exact(allocation.size),
        site_label(&device.snapshot(), allocation.stack),
        format!("lives {}{state}", device.figures.lifetime(timeline, &allocation)),
    ]
}

/// Size, what it serves, and since when it is reserved.
fn segment_text(device: &DeviceState, id: AllocId) -> [String; 3] {
    let Some(range) = range_of_band(id, device.timeline()) else { return Default::default() };
    let kind = if range.is_expandable { "pages of an expandable segment" } else { "segment" };
    [
        units::bytes_exact(range.size),
        format!("{kind} at {}", units::address(range.addr)),
        reserved_text(device.timeline(), range),
    ]
}

/// What reserved memory serves, and from when to when.
pub(in crate::app) fn reserved_text(timeline: &Timeline, range: &ReservedRange) -> String {
    let stream = range.stream.map(|stream| format!("stream {stream}"));
    let pool =
        range.pool.filter(|pool| pool.is_private()).map(|PoolKey(a, b)| format!("private pool {a}.{b}"));
    let event = |moment: Moment| moment.event().map(|EventIx(event)| units::count(event));
    let start = event(range.start)
        .map_or("reserved before the recording".to_owned(), |at| format!("reserved by event {at}"));
    let end = match range.end {
        None if timeline.events.is_empty() => None,
        None => Some("still there at the end".to_owned()),
        Some(end) => event(end).map(|at| format!("released by event {at}")),
    };
    let parts: Vec<String> = [stream, pool, Some(start), end].into_iter().flatten().collect();
    parts.join(" · ")
}

fn lanes_ui(ui: &egui::Ui, device: &mut DeviceState, places: &Places, palette: &Palette) {
    if places.lanes.height() == 0.0 {
        return;
    }
    let response = ui.interact(places.lanes, ui.scope_id().with("lanes"), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Annotations"));
    let snapshot = device.snapshot();
    let Some(timeline) = snapshot.timelines.get(device.index()) else { return };
    let view = device.view;
    let canvas = Canvas { painter: ui.painter(), rect: places.picture, view: &view, timeline, palette };
    let pointer = response.hover_pos();
    let found = pointer.and_then(|pointer| canvas.lane_at(&device.lanes, places.lanes, pointer));
    let Some(range) = found.copied() else { return };
    if response.clicked() {
        let [from, to] = lane_positions(&view, timeline, &range);
        device.show(view.of_range(from, to, &device.full));
    }
    let name = units::printable(&range.name.text(&snapshot));
    let length = units::duration_us(range.time_us[1].saturating_sub(range.time_us[0]));
    let whole = if range.is_whole() { "" } else { " (only one end was recorded)" };
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(theme::strong(name, 13.0));
        ui.label(format!("{length}{whole}"));
        ui.label(theme::muted(ui, "Click to zoom to it"));
    });
}

fn lane_positions(view: &crate::draw::View, timeline: &Timeline, range: &NamedRange) -> [f64; 2] {
    range.moments.map(|moment| view.on(timeline).position_from_moment(f64::from(moment.0)))
}
