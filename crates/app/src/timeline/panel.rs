//! The timeline: minimap, lanes, the stacked picture with its axes, hover and click.

use super::brush;
use super::hover::HoverTexts;
use super::input::{self, Under};
use super::minimap;
use super::pictures::TimelinePictures;
use super::request::{MarkedMemory, TimelineRequest};
use super::state::State;
use super::thing;
use crate::accessible;
use crate::device::{Pane, PaneCtx, Selection, Standpoint, TimelineMode};
use crate::notes::flags;
use crate::pointed::{self, Thing};
use crate::theme;
use crate::work::by_ptr::ByPtr;
use eframe::egui::{self, Rect, Sense, Stroke, StrokeKind};
use oomscope_analysis::{Lanes, NamedRange};
use oomscope_draw::{LANE_PX, MarkLabels, Palette, Pixel, TimelineCanvas, View};
use oomscope_model::{Recording, Timeline};
use oomscope_units as units;
use std::iter;
use tr::tr;

/// Room for the labels of the axis of bytes, in points.
pub(crate) const LEFT_PX: f32 = 68.0;

/// Room for the labels of the axis of time, in points.
pub(crate) const BOTTOM_PX: f32 = 24.0;

/// Height of the minimap, in points: enough for the shape of the totals.
const MINIMAP_PX: f32 = 26.0;

/// Space above and below the minimap, in points.
const GAP_PX: f32 = 4.0;

/// Height of the picture, in points, to which lanes, the minimap and other panes give way: bands can be told apart.
const MIN_PICTURE_PX: f32 = 160.0;

/// Height of the picture with what else it needs, in points.
pub(crate) const WHOLE_PX: f32 = GAP_PX + MINIMAP_PX + GAP_PX + MIN_PICTURE_PX + BOTTOM_PX;

/// Space between lanes and the picture, in points.
const LANES_GAP_PX: f32 = 2.0;

/// Smallest width and height of the picture, in points: less shows nothing.
const MIN_SHOWN_PX: f32 = 16.0;

/// Boxes that are smaller than this in both directions, in points, are shaky clicks.
const MIN_BOX_PX: f32 = 3.0;

/// The rectangles of the panel's parts.
struct Places {
    minimap: Rect,
    lanes: Rect,
    picture: Rect,
    axis: Rect,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let palette = theme::palette(ui);
        let (recording, derived) = (ctx.recording, ctx.derived);
        let Some(places) = places(ui.available_rect_before_wrap(), &derived.lanes) else { return };
        ui.allocate_rect(ui.available_rect_before_wrap(), Sense::hover());
        if places.minimap.is_positive() {
            minimap::ui(ui, places.minimap, palette, recording, ctx.at, &mut self.minimap);
        }
        let response = ui.interact(places.picture, ui.scope_id().with("picture"), Sense::click_and_drag());
        // Everything that changes the view comes before the request, so that the picture follows at once.
        input::scrub(ui, places.axis, places.picture, recording, ctx.at);
        box_zoom(&response, ctx.at, self);
        brush::drag(&response, recording, ctx.at, self);
        input::navigate(ui, &response, ctx.at, !self.is_drawing());
        ctx.at.follow_height();
        let request = request(ui, places.picture, ctx, palette);
        let new = || TimelinePictures::new(recording.clone(), ui.ctx(), derived.work_mode);
        let pictures = self.pictures.get_or_insert_with(new);
        pictures.update(ui.ctx(), request);
        let pointed = response.hover_pos().zip(pictures.shown());
        let under =
            pointed.map(|(pointer, shown)| input::under(shown, places.picture, &ctx.at.view, pointer));
        if accessible::is_pressed_by_key(&response) {
            ctx.at.select_event();
        } else if let Some(under) = under {
            pointed::on(&response, || thing::of(ctx, palette, under));
            if response.double_clicked() {
                input::double_click(recording, ctx.at, under);
            } else if response.clicked() {
                input::click(recording, ctx.at, under);
            }
        }
        let marks = paint(ui, ctx, pictures, &places, palette, under);
        accessible::picture(&response, &tr!("Allocation timeline"), || words(ctx.at, &marks));
        box_ui(ui, self.box_from, &places, palette);
        if !response.dragged() {
            let texts = HoverTexts {
                recording,
                figures: &derived.figures,
                tensors: derived.tensor_labels().map(std::sync::Arc::as_ref),
                pools: pictures.pools(),
                shown: pictures.shown(),
            };
            texts.ui(&response, under);
        }
        lanes_ui(ui, recording, &derived.lanes, ctx.at, &places, palette);
        let (timeline, view) = (recording.timeline(), ctx.at.view);
        let canvas =
            TimelineCanvas { painter: ui.painter(), rect: places.picture, view: &view, timeline, palette };
        flags::ui(ui, &canvas, ctx);
    }
}

/// The rectangles of all parts; `None` if there is too little room.
fn places(all: Rect, lanes: &Lanes) -> Option<Places> {
    let (left, right) = (all.left() + LEFT_PX, all.right());
    let minimap_px = if all.height() < WHOLE_PX { 0.0 } else { MINIMAP_PX };
    let minimap = Rect::from_min_max(
        egui::pos2(left, all.top() + GAP_PX),
        egui::pos2(right, all.top() + GAP_PX + minimap_px),
    );
    let bottom = all.bottom() - BOTTOM_PX;
    let room = bottom - minimap.bottom() - GAP_PX - MIN_PICTURE_PX;
    // Whole lanes only.
    let lanes = (lanes.lanes.len() as f32).min((room / LANE_PX).floor()).max(0.0) * LANE_PX;
    let lanes_top = minimap.bottom() + GAP_PX;
    let lanes = Rect::from_min_max(egui::pos2(left, lanes_top), egui::pos2(right, lanes_top + lanes));
    let picture_top = if lanes.height() == 0.0 { lanes_top } else { lanes.bottom() + LANES_GAP_PX };
    let picture = Rect::from_min_max(egui::pos2(left, picture_top), egui::pos2(right, bottom));
    let axis = Rect::from_min_max(egui::pos2(left, bottom), egui::pos2(right, all.bottom()));
    let is_enough = MIN_SHOWN_PX <= picture.width() && MIN_SHOWN_PX <= picture.height();
    is_enough.then_some(Places { minimap, lanes, picture, axis })
}

fn request(ui: &egui::Ui, rect: Rect, ctx: &PaneCtx<'_>, palette: &Palette) -> TimelineRequest {
    let largest = ui.input(|input| input.max_texture_side);
    let px = |points: f32| ((points * ui.pixels_per_point()).round() as usize).clamp(1, largest);
    TimelineRequest {
        view: ctx.at.view,
        size_px: [px(rect.width()), px(rect.height())],
        px_per_point: ui.pixels_per_point(),
        is_dark: palette.is_dark,
        mode: ctx.at.timeline_mode,
        coloring: ByPtr(ctx.coloring(palette)),
        marked: marked(ctx),
        filter: ctx.shade(),
    }
}

/// The memory that the picture marks.
fn marked(ctx: &PaneCtx<'_>) -> Option<MarkedMemory> {
    let outline = ctx.at.marked().filter(|_| ctx.at.timeline_mode == TimelineMode::Blocks)?;
    let is_shade = ctx.shade().is_some_and(|(matches, _)| matches == *outline.matches());
    let is_found = ctx.derived.filtering.found().is_some_and(|found| found.is_among(outline.allocations()));
    Some(MarkedMemory { outline: outline.clone(), fades_rest: is_shade || is_found })
}

/// Zoom to a box that is drawn with Shift held.
fn box_zoom(response: &egui::Response, at: &mut Standpoint, state: &mut State) {
    let (pointer, is_shift) = response.ctx.input(|input| (input.pointer.latest_pos(), input.modifiers.shift));
    if response.drag_started() && is_shift {
        state.box_from = response.ctx.input(|input| input.pointer.press_origin());
    }
    if !response.drag_stopped() {
        return;
    }
    let Some((from, to)) = state.box_from.take().zip(pointer) else { return };
    let (rect, view) = (response.rect, at.view);
    let drawn = Rect::from_two_pos(from, to).intersect(rect);
    if drawn.width() < MIN_BOX_PX && drawn.height() < MIN_BOX_PX {
        return;
    }
    let share = |value: f32, start: f32, length: f32| f64::from((value - start) / length.max(1.0));
    let x = [drawn.left(), drawn.right()].map(|x| view.position_from_x(share(x, rect.left(), rect.width())));
    let y =
        [drawn.bottom(), drawn.top()].map(|y| view.bytes_from_y(1.0 - share(y, rect.top(), rect.height())));
    at.show(view.of_box(x, y, &at.full));
    at.fits_height = false;
}

fn paint(
    ui: &egui::Ui,
    ctx: &PaneCtx<'_>,
    pictures: &TimelinePictures,
    places: &Places,
    palette: &Palette,
    under: Option<Under>,
) -> MarkLabels {
    let (timeline, derived, at) = (ctx.recording.timeline(), ctx.derived, &*ctx.at);
    let canvas =
        TimelineCanvas { painter: ui.painter(), rect: places.picture, view: &at.view, timeline, palette };
    // From the ground up: labels come last, so that nothing lies over them.
    canvas.grid();
    picture(&canvas, pictures, at, under);
    if let Some(range) = at.range() {
        brush::paint(&canvas, range);
    }
    let mut labels = MarkLabels::default();
    flags::paint(&canvas, ctx, &mut labels);
    if let Some((shown, (outline, spans))) = pictures.shown().and_then(|shown| Some((shown, shown.marked()?)))
    {
        canvas.marked(&shown.picture, &outline.mark(), spans, &mut labels);
    }
    canvas.frame();
    canvas.future(at.future(), &mut labels);
    canvas.ooms(&mut labels);
    if !timeline.events.is_empty() {
        canvas.peak(derived.figures.peak, &mut labels);
    }
    if let Some(capacity) = derived.capacity() {
        canvas.capacity(capacity, &mut labels);
    }
    if let Some(after) = at.after_fix() {
        canvas.after_fix(after, &mut labels);
    }
    if let Some(mark) = at.mark {
        canvas.mark(mark, &mut labels);
    }
    canvas.dumps(&mut labels);
    canvas.cursor_values(at.cursor, &mut labels);
    canvas.cursor(at.cursor);
    if let Some(shown) = pictures.shown() {
        canvas.band_labels(&shown.picture, &shown.labels, &labels);
    }
    canvas.labels(&labels);
    canvas.lanes(ctx.recording.snapshot(), &derived.lanes, places.lanes);
    labels
}

/// The box that is being drawn.
fn box_ui(ui: &egui::Ui, from: Option<egui::Pos2>, places: &Places, palette: &Palette) {
    if let Some((from, to)) = from.zip(ui.input(|input| input.pointer.latest_pos())) {
        let drawn = Rect::from_two_pos(from, to).intersect(places.picture);
        let stroke = Stroke::new(1.0, theme::color(palette.accent));
        ui.painter().rect(drawn, 0.0, theme::faded(palette.accent, 0.12), stroke, StrokeKind::Inside);
    }
}

/// The cursor, the selection and all marks in words.
fn words(at: &Standpoint, marks: &MarkLabels) -> String {
    let (said, finding) = (at.words(), at.marked().map(|outline| outline.label.as_str()));
    let others = marks.texts().filter(|text| Some(*text) != finding);
    iter::once(said.as_str()).chain(others).collect::<Vec<_>>().join(" · ")
}

/// The bands, the outlines of the hovered and the selected one, and the lines of totals.
fn picture(canvas: &TimelineCanvas<'_>, pictures: &TimelinePictures, at: &Standpoint, under: Option<Under>) {
    let Some(shown) = pictures.shown() else { return };
    canvas.picture(&shown.picture, shown.texture.id());
    let selected = at.selected_allocation().filter(|_| shown.mode == TimelineMode::Blocks);
    let hovered = match under {
        Some(Under { pixel: Pixel::Block(id), .. }) => Some(id),
        _ => None,
    };
    if let Some(id) = hovered {
        canvas.outline(&shown.picture, &shown.hovered_outline(id), false);
    }
    if let Some(id) = selected {
        canvas.outline(&shown.picture, &shown.selected_outline(id), true);
    }
    if let selection @ (Selection::Stack(_) | Selection::Segment { .. }) = at.selection() {
        let spans = shown.spans_of(selection, canvas.timeline);
        canvas.highlight(&shown.picture, &spans);
    }
    canvas.totals(&shown.picture);
}

/// The lanes. A click zooms to the range under the pointer, and hovering names it.
fn lanes_ui(
    ui: &egui::Ui,
    recording: &Recording,
    lanes: &Lanes,
    at: &mut Standpoint,
    places: &Places,
    palette: &Palette,
) {
    if places.lanes.height() == 0.0 {
        return;
    }
    let response = ui.interact(places.lanes, ui.scope_id().with("lanes"), Sense::click());
    let innermost = lanes.lanes.iter().rev().flatten();
    let at_cursor = innermost.copied().find(|range| {
        let [from, to] = range.moments;
        (from..to).contains(&at.cursor)
    });
    accessible::picture(&response, &tr!("Annotations"), || {
        at_cursor.map(|range| units::printable(&range.name.text(recording.snapshot()))).unwrap_or_default()
    });
    let (timeline, view) = (recording.timeline(), at.view);
    let canvas =
        TimelineCanvas { painter: ui.painter(), rect: places.picture, view: &view, timeline, palette };
    let pointer = response.hover_pos();
    let found = if accessible::is_pressed_by_key(&response) {
        at_cursor
    } else {
        pointer.and_then(|pointer| canvas.lane_at(lanes, places.lanes, pointer)).copied()
    };
    let Some(range) = found else { return };
    if response.clicked() {
        let [from, to] = lane_positions(&view, timeline, &range);
        at.show(view.of_range(from, to, &at.full));
    }
    let name = units::printable(&range.name.text(recording.snapshot()));
    pointed::on(&response, || Some(Thing::Range { name: name.clone(), moments: range.moments }));
    let length = units::duration_us(range.time_us[1].saturating_sub(range.time_us[0]));
    let length = if range.is_whole() { length } else { tr!("{length} (only one end was recorded)", length) };
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(theme::strong(name, 13.0));
        ui.label(length);
        ui.label(theme::muted(ui, tr!("Click to zoom to it")));
    });
}

fn lane_positions(view: &View, timeline: &Timeline, range: &NamedRange) -> [f64; 2] {
    range.moments.map(|moment| view.on(timeline).position_from_moment(f64::from(moment.0)))
}
