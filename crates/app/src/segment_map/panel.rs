//! The segment map: the use of every reserved byte at the cursor.

use super::maps::{Maps, MomentMap};
use super::picture::MapRequest;
use super::state::State;
use super::text::{MapTexts, use_text};
use super::{bar, input};
use crate::accessible;
use crate::device::{Pane, PaneCtx, Selection, Standpoint};
use crate::pointed::{self, Thing};
use crate::theme;
use crate::tooltips::lines_ui;
use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Key, Rect, ScrollArea, Sense, pos2, scroll_area::ScrollSource};
use oomscope_analysis::segment_state::{Content, Part};
use oomscope_draw::Palette;
use oomscope_draw::segment_map::{
    LabelLooks, MapLayout, MapSurface, MapZoom, SegmentMapCanvas, SegmentMapHit, scale_bar,
};
use oomscope_model::Timeline;
use std::ops::Range;
use std::sync::Arc;
use tr::tr;

/// Width of the addresses at the left, in points.
const GUTTER_PX: f32 = 100.0;

/// Smallest width of the map, in points, that addresses leave; else there are none.
const MIN_MAP_WITH_GUTTER_PX: f32 = 480.0;

/// Smallest width and height of a map, in points: less shows nothing.
const MIN_MAP_PX: f32 = 40.0;

/// Blocks of a finding that are outlined at most: more could not be told apart, and each takes time in every frame.
const MAX_OUTLINED: usize = 2000;

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let new = || Maps::new(ctx.recording, ui.ctx(), ctx.derived.work_mode);
        match self.maps.get_or_insert_with(new).at(ctx.at.cursor) {
            None => {
                ui.label(theme::muted(ui, tr!("Reading segments…")));
            }
            Some(answer) => panel_ui(ui, ctx, self, &answer),
        }
    }

    fn keep(&mut self, old: &Self) {
        self.arrangement = old.arrangement;
    }
}

fn panel_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, answer: &Arc<MomentMap>) {
    let palette = theme::palette(ui);
    let texts = MapTexts {
        recording: ctx.recording,
        figures: &ctx.derived.figures,
        tensors: ctx.derived.tensor_labels().map(Arc::as_ref),
    };
    bar::ui(ui, ctx.recording, ctx.at, state, answer);
    bar::request_ui(ui, palette, answer);
    // On whole pixels, so that the picture's pixels are the screen's.
    let all = ui.available_rect_before_wrap().round_to_pixels(ui.pixels_per_point());
    if answer.state.rows.is_empty() {
        ui.label(theme::muted(ui, tr!("No memory is reserved at this moment.")));
        return;
    }
    if all.width() < MIN_MAP_PX || all.height() < MIN_MAP_PX {
        return;
    }
    ui.allocate_rect(all, Sense::hover());
    let [gutter, rect] = places(all);
    let layout = state.cache.layout(answer, state.arrangement, rect.size());
    follow_selection(ctx.recording, ctx.at, state, answer, &layout, rect);
    let response = ui.interact(rect, ui.scope_id().with("map"), Sense::click_and_drag());
    accessible::picture(&response, &tr!("Segment map"), || {
        format!("{} · {}", use_text(&answer.state.total), ctx.at.words())
    });
    step(ui, &response, ctx.recording, ctx.at, answer);
    state.zoom = input::navigate(ui, &response, state.zoom, &layout).within(&layout, rect.size());
    let shown = ShownMap { palette, gutter, rect, layout, texts };
    let hit = shown.paint(ui, ctx, state, answer, &response);
    shown.act(ctx.at, state, answer, &response, hit);
    shown.gutter_ui(ui, ctx.at, state, answer);
    scroll_bar(ui, &mut state.zoom, &shown.layout, rect);
}

/// Go from segment to segment with the arrow keys, and with Enter to the next one.
fn step(
    ui: &egui::Ui,
    response: &egui::Response,
    timeline: &Timeline,
    at: &mut Standpoint,
    answer: &MomentMap,
) {
    if !response.has_focus() {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.count_and_consume_key(egui::Modifiers::NONE, key)) as i64;
    let by = pressed(Key::ArrowDown) - pressed(Key::ArrowUp);
    let by = by + i64::from(accessible::is_pressed_by_key(response));
    if by == 0 {
        return;
    }
    let rows = &answer.state.rows;
    let row = input::place_of(timeline, at.selection(), &answer.state).map(|(row, _)| row as i64);
    let next = row.map_or(0, |row| row.saturating_add(by)).clamp(0, rows.len() as i64 - 1);
    at.select(Selection::Segment { addr: rows[next as usize].addr });
}

/// The rectangles of the addresses, which are empty if there is no room for them, and of the map.
fn places(all: Rect) -> [Rect; 2] {
    let width = if MIN_MAP_WITH_GUTTER_PX + GUTTER_PX <= all.width() { GUTTER_PX } else { 0.0 };
    let split = all.left() + width;
    [
        Rect::from_min_max(all.min, pos2(split, all.bottom())),
        Rect::from_min_max(pos2(split, all.top()), all.max),
    ]
}

/// Bring a selection that was made elsewhere into sight.
fn follow_selection(
    timeline: &Timeline,
    at: &Standpoint,
    state: &mut State,
    answer: &MomentMap,
    layout: &MapLayout,
    rect: Rect,
) {
    if state.seen == at.selection() {
        return;
    }
    state.seen = at.selection();
    if let Some((row, addr)) = input::place_of(timeline, at.selection(), &answer.state) {
        state.zoom = state.zoom.showing(row, addr, layout, rect.size());
    }
}

/// A scroll bar over an area that has nothing in it: the map paints itself.
fn scroll_bar(ui: &mut egui::Ui, zoom: &mut MapZoom, layout: &MapLayout, rect: Rect) {
    if layout.height_px <= rect.height() {
        return;
    }
    let source = ScrollSource { scroll_bar: true, ..ScrollSource::NONE };
    ui.scope_builder(egui::UiBuilder::new().max_rect(rect), |ui| {
        ui.spacing_mut().scroll.fade.strength = 0.0;
        let area = ScrollArea::vertical().id_salt("lines").auto_shrink(false).scroll_source(source);
        let shown = area.vertical_scroll_offset(zoom.y_px).show(ui, |ui| {
            ui.allocate_space(egui::vec2(1.0, layout.height_px));
        });
        zoom.y_px = shown.state.clamped_offset().y;
    });
}

/// Outline the blocks that a finding is about, as far as they are there.
fn outline_ui(map: &SegmentMapCanvas<'_>, ctx: &PaneCtx<'_>, answer: &MomentMap) {
    let Some(outline) = ctx.at.marked() else { return };
    for &id in outline.allocations().iter().take(MAX_OUTLINED) {
        if let Some((row, part)) = answer.state.find(ctx.recording.addr(id), id) {
            let part = &answer.state.parts[part];
            map.outline(&map.places(row, part.addr, part.past_end()), false);
        }
    }
}

/// The map with its place in this frame.
struct ShownMap<'a> {
    palette: &'a Palette,
    gutter: Rect,
    rect: Rect,
    layout: Arc<MapLayout>,
    texts: MapTexts<'a>,
}

impl ShownMap<'_> {
    fn map<'b>(
        &'b self,
        painter: &'b egui::Painter,
        zoom: &'b MapZoom,
        answer: &'b MomentMap,
    ) -> SegmentMapCanvas<'b> {
        let Self { palette, gutter, rect, .. } = *self;
        SegmentMapCanvas { painter, rect, gutter, state: &answer.state, layout: &self.layout, zoom, palette }
    }

    /// Paint the map. Returns the part under the pointer.
    fn paint(
        &self,
        ui: &egui::Ui,
        ctx: &PaneCtx<'_>,
        state: &mut State,
        answer: &Arc<MomentMap>,
        response: &egui::Response,
    ) -> Option<SegmentMapHit> {
        let scale = ui.pixels_per_point();
        let surface =
            MapSurface { rect: self.rect, scale, max_texture_px: ui.input(|input| input.max_texture_side) };
        let zoom = state.zoom;
        let painter = ui.painter();
        let map = self.map(painter, &zoom, answer);
        let request = MapRequest::new(ctx, answer, &self.layout, zoom, surface, self.palette);
        let drawn = state.cache.drawn(ui.ctx(), ctx.recording, self.palette, request);
        let inside = painter.with_clip_rect(self.rect.expand(1.0).intersect(painter.clip_rect()));
        drawn.picture.paint(&inside, self.rect, drawn.texture.as_ref().map(|texture| texture.id()));
        // Below the first heading there are rows, which the scale would cover.
        let has_room = zoom.y_px < 1.0;
        let scale_bar = || scale_bar(painter, self.rect, zoom.bytes_per_px(&self.layout), self.palette);
        map.headings(if has_room { scale_bar() } else { Rect::NOTHING });
        map.addresses();
        outline_ui(&map, ctx, answer);
        // Labels lie above the selection, which is lighter.
        self.marks(&map, ctx.recording, ctx.at.selection(), answer);
        let note = |part: &Part| part.content.allocation().map(|id| self.texts.site(Some(id)));
        let selected = selected_addresses(ctx.recording, ctx.at.selection(), answer);
        let color = |id| {
            let color = drawn.color(ctx.recording, self.palette, id);
            let is_selected = selected.contains(&ctx.recording.addr(id));
            if is_selected { Palette::lighter(color) } else { color }
        };
        map.labels(&drawn.items, scale, &LabelLooks { color: &color, note: &note });
        let hit = response.hover_pos().and_then(|pointer| map.hit(pointer, scale));
        if let Some(hit) = hit {
            let part = &answer.state.parts[hit.part];
            let places = map.places(hit.row, part.addr, part.past_end());
            map.outline(&places, false);
        }
        hit
    }

    /// Outline the selection, and at an OOM the largest hole.
    fn marks(
        &self,
        map: &SegmentMapCanvas<'_>,
        timeline: &Timeline,
        selection: Selection,
        answer: &MomentMap,
    ) {
        if let Some((row, part)) = answer.fit.as_ref().and_then(|fit| fit.largest) {
            let part = &answer.state.parts[part];
            let places = map.places(row, part.addr, part.past_end());
            map.mark(&places, theme::color(self.palette.oom));
        }
        match selection {
            Selection::Allocation(id) => {
                if let Some((row, part)) = answer.state.find(timeline.addr(id), id) {
                    let part = &answer.state.parts[part];
                    map.outline(&map.places(row, part.addr, part.past_end()), true);
                }
            }
            Selection::Segment { addr } => {
                if let Some(row) = answer.state.row_at(addr) {
                    let found = &answer.state.rows[row];
                    map.outline(&map.places(row, found.addr, found.past_end), true);
                }
            }
            Selection::None | Selection::Stack(_) => {}
        }
    }

    /// Clicks and hovering.
    fn act(
        &self,
        at: &mut Standpoint,
        state: &mut State,
        answer: &MomentMap,
        response: &egui::Response,
        hit: Option<SegmentMapHit>,
    ) {
        let Some(hit) = hit else {
            if response.clicked() && !accessible::is_pressed_by_key(response) {
                at.select(Selection::None);
            }
            return;
        };
        if accessible::is_pressed_by_key(response) {
            return;
        }
        pointed::on(response, || Thing::selected(input::selection_of(&answer.state, hit)));
        if response.double_clicked() {
            let size = self.rect.size();
            state.zoom = input::zoom_to_row(&answer.state, hit.row, state.zoom, &self.layout, size);
        } else if response.clicked() {
            // It is in sight already, so the map does not move.
            let selection = input::selection_of(&answer.state, hit);
            state.seen = selection;
            at.select(selection);
        } else if !response.dragged() {
            let is_clickable = answer.state.parts[hit.part].content != Content::Unmapped;
            let response = response.clone();
            let response = if is_clickable {
                response.on_hover_cursor(egui::CursorIcon::PointingHand)
            } else {
                response
            };
            self.texts.hover_ui(&response, answer, hit);
        }
    }

    /// The addresses. Hovering explains the first segment of a line, and a click selects it.
    fn gutter_ui(&self, ui: &egui::Ui, at: &mut Standpoint, state: &mut State, answer: &MomentMap) {
        if self.gutter.width() < 1.0 {
            return;
        }
        let response = ui.interact(self.gutter, ui.scope_id().with("addresses"), Sense::CLICK);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Canvas, true, tr!("Addresses of segments"))
        });
        let Some(pointer) = response.hover_pos() else { return };
        let y = pointer.y - self.rect.top() + state.zoom.y_px;
        let Some(row) = self.layout.first_row_at(y) else { return };
        if response.clicked() {
            state.seen = Selection::Segment { addr: answer.state.rows[row].addr };
            at.select(state.seen);
        }
        pointed::on(&response, || Some(Thing::Segment { addr: answer.state.rows[row].addr }));
        let lines = self.texts.row_lines(answer, row);
        response
            .on_hover_cursor(egui::CursorIcon::PointingHand)
            .on_hover_ui_at_pointer(|ui| lines_ui(ui, &lines));
    }
}

/// The addresses of the selected block or segment; empty if neither is selected.
fn selected_addresses(timeline: &Timeline, selection: Selection, answer: &MomentMap) -> Range<u64> {
    match selection {
        Selection::Allocation(id) => {
            let addr = timeline.addr(id);
            addr..addr.saturating_add(1)
        }
        Selection::Segment { addr } => answer
            .state
            .row_at(addr)
            .map_or(0..0, |row| answer.state.rows[row].addr..answer.state.rows[row].past_end),
        Selection::None | Selection::Stack(_) => 0..0,
    }
}
