//! The segment map: what every reserved byte is used for at the cursor.

use super::maps::{Answer, Maps};
use super::picture::{Arrangement, Cache, Shot};
use super::{bar, input, text};
use crate::analysis::segment_state::Content;
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::draw::Palette;
use crate::draw::segment_map::{Hit, Layout, Look, Map, MapPart, Surface, Zoom, scale_bar};
use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Rect, ScrollArea, Sense, pos2, scroll_area::ScrollSource};
use std::sync::Arc;

/// Room for addresses, where there is room.
const GUTTER_PX: f32 = 100.0;
const MIN_MAP_WITH_GUTTER_PX: f32 = 480.0;

/// Less than this shows nothing.
const MIN_MAP_PX: f32 = 40.0;

/// What the panel remembers between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    maps: Option<Maps>,
    pub(in crate::app) arrangement: Arrangement,
    zoom: Zoom,
    cache: Cache,
    /// The selection of the last frame, to notice one that was made elsewhere.
    seen: Selection,
}

impl State {
    /// Whether lines are longer than the panel.
    pub(in crate::app) fn is_zoomed(&self) -> bool {
        1.0 < self.zoom.factor
    }

    /// Show whole lines again.
    pub(in crate::app) fn reset_zoom(&mut self) {
        self.zoom = Zoom { y_px: self.zoom.y_px, ..Zoom::default() };
    }

    /// What is shown, for a picture.
    pub(in crate::app) fn exported(&self) -> Look {
        let Arrangement { grouping, order } = self.arrangement;
        let shown = self.cache.shown();
        Look {
            grouping,
            order,
            part: shown.and_then(|(layout, height_px)| MapPart::of(self.zoom, layout, height_px)),
        }
    }

    /// Where rows are.
    #[cfg(test)]
    pub(in crate::app) fn layout(&self) -> Option<&Layout> {
        self.cache.last_layout()
    }

    /// Take over from another version of the file what does not depend on its contents.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.arrangement = old.arrangement;
    }
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let mut state = std::mem::take(&mut device.panels.segments);
    let maps = state.maps.get_or_insert_with(|| Maps::new(device, ui.ctx()));
    match maps.at(device.cursor) {
        None => {
            ui.label(theme::muted(ui, "Reading segments…"));
        }
        Some(answer) => panel_ui(ui, device, &mut state, &answer),
    }
    device.panels.segments = state;
}

fn panel_ui(ui: &mut egui::Ui, device: &mut DeviceState, state: &mut State, answer: &Arc<Answer>) {
    let palette = theme::palette(ui);
    bar::ui(ui, device, state, answer);
    bar::selected_ui(ui, device, answer);
    bar::request_ui(ui, palette, answer);
    let all = ui.available_rect_before_wrap().round_to_pixels(ui.pixels_per_point());
    if answer.state.rows.is_empty() {
        ui.label(theme::muted(ui, "No memory is reserved at this moment."));
        return;
    }
    if all.width() < MIN_MAP_PX || all.height() < MIN_MAP_PX {
        return;
    }
    ui.allocate_rect(all, Sense::hover());
    let [gutter, rect] = places(all);
    let layout = state.cache.layout(answer, state.arrangement, rect.size());
    follow_selection(device, state, answer, &layout, rect);
    let response = ui.interact(rect, ui.scope_id().with("map"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Segment map"));
    state.zoom = input::navigate(ui, &response, state.zoom, &layout).within(&layout, rect.size());
    let view = View { palette, gutter, rect, layout };
    let hit = view.paint(ui, device, state, answer, &response);
    view.act(device, state, answer, &response, hit);
    view.gutter_ui(ui, device, state, answer);
    scroll_bar(ui, &mut state.zoom, &view.layout, rect);
}

/// Addresses to the left where there is room, and the map.
fn places(all: Rect) -> [Rect; 2] {
    let width = if MIN_MAP_WITH_GUTTER_PX + GUTTER_PX <= all.width() { GUTTER_PX } else { 0.0 };
    let split = all.left() + width;
    [
        Rect::from_min_max(all.min, pos2(split, all.bottom())),
        Rect::from_min_max(pos2(split, all.top()), all.max),
    ]
}

/// Bring what was selected elsewhere into sight.
fn follow_selection(device: &DeviceState, state: &mut State, answer: &Answer, layout: &Layout, rect: Rect) {
    if state.seen == device.selection() {
        return;
    }
    state.seen = device.selection();
    if let Some((row, addr)) = input::place_of(device, &answer.state) {
        state.zoom = state.zoom.showing(row, addr, layout, rect.size());
    }
}

fn scroll_bar(ui: &mut egui::Ui, zoom: &mut Zoom, layout: &Layout, rect: Rect) {
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

/// Where everything is in this frame.
struct View<'a> {
    palette: &'a Palette,
    gutter: Rect,
    rect: Rect,
    layout: Arc<Layout>,
}

impl View<'_> {
    fn map<'b>(&'b self, painter: &'b egui::Painter, zoom: &'b Zoom, answer: &'b Answer) -> Map<'b> {
        let View { palette, gutter, rect, .. } = *self;
        Map { painter, rect, gutter, state: &answer.state, layout: &self.layout, zoom, palette }
    }

    /// Paint the map; returns what is under the pointer.
    fn paint(
        &self,
        ui: &egui::Ui,
        device: &mut DeviceState,
        state: &mut State,
        answer: &Arc<Answer>,
        response: &egui::Response,
    ) -> Option<Hit> {
        let scale = ui.pixels_per_point();
        let surface =
            Surface { rect: self.rect, scale, max_texture_px: ui.input(|input| input.max_texture_side) };
        let zoom = state.zoom;
        let painter = ui.painter();
        let map = self.map(painter, &zoom, answer);
        let shot = Shot { answer, layout: &self.layout, zoom, surface, palette: self.palette };
        let drawn = state.cache.drawn(ui.ctx(), device, &shot);
        let inside = painter.with_clip_rect(self.rect.expand(1.0).intersect(painter.clip_rect()));
        drawn.picture.paint(&inside, self.rect, drawn.texture.as_ref().map(|texture| texture.id()));
        let note = |part: &crate::analysis::segment_state::Part| {
            part.content.allocation().map(|id| text::site(device, Some(id)))
        };
        map.labels(&drawn.items, scale, &note);
        map.headings(scale_bar(painter, self.rect, zoom.bytes_per_px(&self.layout), self.palette));
        map.addresses();
        self.marks(&map, device, answer);
        let hit = response.hover_pos().and_then(|pointer| map.hit(pointer, scale));
        if let Some(hit) = hit {
            let part = &answer.state.parts[hit.part];
            let places = map.places(hit.row, part.addr, part.past_end());
            map.outline(&places, theme::color(self.palette.accent), false);
        }
        hit
    }

    /// The selection, and at an OOM the largest hole.
    fn marks(&self, map: &Map<'_>, device: &DeviceState, answer: &Answer) {
        if let Some((row, part)) = answer.fit.as_ref().and_then(|fit| fit.largest) {
            let part = &answer.state.parts[part];
            let places = map.places(row, part.addr, part.past_end());
            map.outline(&places, theme::color(self.palette.oom), false);
        }
        let accent = theme::color(self.palette.accent);
        match device.selection() {
            Selection::Allocation(id) => {
                let timeline = device.timeline();
                let addr = timeline.lifetimes.addr(id, &timeline.events);
                if let Some((row, part)) = answer.state.find(addr, id) {
                    let part = &answer.state.parts[part];
                    map.outline(&map.places(row, part.addr, part.past_end()), accent, true);
                }
            }
            Selection::Segment { addr } => {
                if let Some(row) = answer.state.row_at(addr) {
                    let found = &answer.state.rows[row];
                    map.outline(&map.places(row, found.addr, found.past_end), accent, true);
                }
            }
            Selection::None | Selection::Stack(_) => {}
        }
    }

    /// Clicks and hovering.
    fn act(
        &self,
        device: &mut DeviceState,
        state: &mut State,
        answer: &Answer,
        response: &egui::Response,
        hit: Option<Hit>,
    ) {
        let Some(hit) = hit else {
            if response.clicked() {
                device.select(Selection::None);
            }
            return;
        };
        if response.double_clicked() {
            let size = self.rect.size();
            state.zoom = input::zoom_to_row(&answer.state, hit.row, state.zoom, &self.layout, size);
        } else if response.clicked() {
            let selection = input::selection_of(&answer.state, hit);
            state.seen = selection;
            device.select(selection);
        } else if !response.dragged() {
            let is_clickable = answer.state.parts[hit.part].content != Content::Unmapped;
            let response = response.clone();
            let response = if is_clickable {
                response.on_hover_cursor(egui::CursorIcon::PointingHand)
            } else {
                response
            };
            text::hover_ui(&response, device, answer, hit);
        }
    }

    /// Addresses: hovering tells about the first segment of the line, a click selects it.
    fn gutter_ui(&self, ui: &egui::Ui, device: &mut DeviceState, state: &mut State, answer: &Answer) {
        if self.gutter.width() < 1.0 {
            return;
        }
        let response = ui.interact(self.gutter, ui.scope_id().with("addresses"), Sense::click());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Addresses of segments"));
        let Some(pointer) = response.hover_pos() else { return };
        let y = pointer.y - self.rect.top() + state.zoom.y_px;
        let Some(row) = self.layout.first_row_at(y) else { return };
        if response.clicked() {
            state.seen = Selection::Segment { addr: answer.state.rows[row].addr };
            device.select(state.seen);
        }
        let lines = text::row_lines(device, answer, row);
        response
            .on_hover_cursor(egui::CursorIcon::PointingHand)
            .on_hover_ui_at_pointer(|ui| text::lines_ui(ui, &lines));
    }
}
