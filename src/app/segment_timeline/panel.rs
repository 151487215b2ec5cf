//! The segment timeline: addresses over time, a row per segment.

use super::input;
use super::pictures::{AddressPictures, AddressWish};
use super::{text, toolbar};
use crate::analysis::{RowOrder, SegmentRows};
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::timeline::panel::{BOTTOM_PX, LEFT_PX};
use crate::app::{theme, timeline};
use crate::draw::{
    ArrangedRows, Canvas, Expanded, Palette, Pixel, RowBand, RowHeights, RowLayout, SegmentTimelineCanvas,
    SegmentTimelineHit,
};
use eframe::egui::{self, Rect, ScrollArea, Sense, scroll_area::ScrollSource};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Space between labels and rows.
const LABEL_GAP_PX: f32 = 6.0;

/// What the panel remembers between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(in crate::app) pictures: Option<AddressPictures>,
    pub(in crate::app) order: RowOrder,
    /// Rows that the user expanded.
    pub(in crate::app) expanded: BTreeSet<u32>,
    pub(in crate::app) is_all_expanded: bool,
    /// How far the rows are scrolled, in points.
    pub(in crate::app) scroll: f32,
    /// The first row that is whole in sight, if something is hidden above.
    first: Option<u32>,
    /// The selection of the last frame, to notice one that was made elsewhere.
    seen: Selection,
    /// The row to scroll to.
    wanted_row: Option<u32>,
    sorted: Option<(RowOrder, Vec<u32>)>,
}

/// Where the parts of the panel are.
#[derive(Clone, Copy)]
pub(in crate::app) struct Places {
    /// Labels of rows.
    pub(in crate::app) labels: Rect,
    /// Rows.
    pub(in crate::app) rows: Rect,
    /// The time axis.
    axis: Rect,
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let palette = theme::palette(ui);
    let Some(rows) = rows(ui, device) else {
        ui.label(theme::muted(ui, "Sorting addresses…"));
        return;
    };
    if rows.rows().is_empty() {
        ui.label(theme::muted(ui, "This recording has no segments."));
        return;
    }
    toolbar::ui(ui, palette, device, &rows);
    let Some(places) = places(ui.available_rect_before_wrap()) else { return };
    ui.allocate_rect(ui.available_rect_before_wrap(), Sense::hover());
    follow_selection(device, &rows);
    let layout = layout(ui, device, &rows, places.rows);
    scroll(ui, device, &layout, places.rows);
    let response = ui.interact(places.rows, ui.scope_id().with("rows"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Segment timeline"));
    timeline::input::scrub(ui, places.axis, places.rows, device);
    input::navigate(ui, &response, device, places);
    let scrolled_px = to_px(ui, device.panels.segment_timeline.scroll);
    let height_px = to_px(ui, places.rows.height());
    let bands = layout.visible(scrolled_px..scrolled_px + height_px);
    update(ui, device, &layout, palette, places.rows);
    paint(ui, device, &rows, &bands, places, palette, &response);
    labels(ui, device, &rows, &bands, places, palette);
    scroll_bar(ui, device, &layout, places.rows);
}

/// The rows, once they are known.
fn rows(ui: &egui::Ui, device: &mut DeviceState) -> Option<Arc<SegmentRows>> {
    let (snapshot, at, mode) = (device.snapshot(), device.index(), device.raster_mode());
    let pictures = &mut device.panels.segment_timeline.pictures;
    pictures.get_or_insert_with(|| AddressPictures::new(snapshot, at, ui.ctx(), mode)).rows()
}

/// Room for everything; `None` where there is too little.
fn places(all: Rect) -> Option<Places> {
    let (left, right, bottom) = (all.left() + LEFT_PX, all.right(), all.bottom() - BOTTOM_PX);
    let rows = Rect::from_min_max(egui::pos2(left, all.top() + 4.0), egui::pos2(right, bottom));
    let labels = Rect::from_min_max(egui::pos2(all.left(), rows.top()), rows.left_bottom());
    let axis = Rect::from_min_max(rows.left_bottom(), egui::pos2(right, all.bottom()));
    (16.0 <= rows.width() && 16.0 <= rows.height()).then_some(Places { labels, rows, axis })
}

fn to_px(ui: &egui::Ui, points: f32) -> i64 {
    (points * ui.pixels_per_point()).round() as i64
}

/// Expand the row of what was selected elsewhere, and bring it into view.
fn follow_selection(device: &mut DeviceState, rows: &SegmentRows) {
    let selection = device.selection();
    if device.panels.segment_timeline.seen == selection {
        return;
    }
    device.panels.segment_timeline.seen = selection;
    if let Some(row) = input::row_of(device, rows, selection) {
        device.panels.segment_timeline.expand(selection, row);
    }
}

impl State {
    fn expanded(&self) -> Expanded {
        if self.is_all_expanded { Expanded::All } else { Expanded::Rows(self.expanded.clone()) }
    }

    /// What is shown, for a picture.
    pub(in crate::app) fn exported(&self) -> Option<ArrangedRows> {
        let (order, expanded, first) = (self.order, self.expanded(), self.first);
        // Nobody arranged what is as it was at first.
        let is_arranged =
            order != RowOrder::default() || first.is_some() || expanded != Expanded::Rows(BTreeSet::new());
        is_arranged.then_some(ArrangedRows { order, expanded, first })
    }

    /// Take over what does not depend on the contents of a file.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        (self.order, self.is_all_expanded) = (old.order, old.is_all_expanded);
    }

    /// Expand the row of a selection, and bring it into view.
    pub(in crate::app) fn expand(&mut self, selection: Selection, row: u32) {
        self.seen = selection;
        self.expanded.insert(row);
        self.wanted_row = Some(row);
    }
}

fn layout(ui: &egui::Ui, device: &mut DeviceState, rows: &SegmentRows, place: Rect) -> RowLayout {
    let state = &mut device.panels.segment_timeline;
    let known = state.sorted.take().filter(|(order, _)| *order == state.order);
    let expanded = state.expanded();
    let (_, sorted) = state.sorted.insert(known.unwrap_or_else(|| (state.order, rows.sorted(state.order))));
    let heights = RowHeights::on_surface(place.height(), &expanded, &|points| to_px(ui, points) as u32);
    RowLayout::new(rows, sorted, &expanded, heights)
}

/// Bring the wanted row into view, and stay within the rows.
fn scroll(ui: &egui::Ui, device: &mut DeviceState, layout: &RowLayout, place: Rect) {
    let state = &mut device.panels.segment_timeline;
    let points = |px: i64| px as f32 / ui.pixels_per_point();
    if let Some(band) = state.wanted_row.take().and_then(|row| layout.band_of(row)) {
        let (top, bottom) = (points(band.top_px), points(band.bottom_px()));
        // As little as possible, and the top rather than the bottom.
        state.scroll = state.scroll.max(bottom - place.height()).min(top);
    }
    let most = (points(layout.height_px()) - place.height()).max(0.0);
    state.scroll = state.scroll.clamp(0.0, most);
    let hidden_px = to_px(ui, state.scroll);
    let first = layout.bands().iter().find(|band| hidden_px <= band.top_px);
    state.first = first.filter(|_| 0 < hidden_px).map(|band| band.row);
}

fn scroll_bar(ui: &mut egui::Ui, device: &mut DeviceState, layout: &RowLayout, place: Rect) {
    let state = &mut device.panels.segment_timeline;
    let height = layout.height_px() as f32 / ui.pixels_per_point();
    if height <= place.height() {
        return;
    }
    let source = ScrollSource { scroll_bar: true, ..ScrollSource::NONE };
    ui.scope_builder(egui::UiBuilder::new().max_rect(place), |ui| {
        ui.spacing_mut().scroll.fade.strength = 0.0;
        let area = ScrollArea::vertical().id_salt("rows").auto_shrink(false).scroll_source(source);
        let scroll = state.scroll.clamp(0.0, height - place.height());
        let shown = area.vertical_scroll_offset(scroll).show(ui, |ui| {
            ui.allocate_space(egui::vec2(1.0, height));
        });
        state.scroll = shown.state.clamped_offset().y;
    });
}

/// Ask for the picture of the rows in sight and a little around them.
fn update(ui: &egui::Ui, device: &mut DeviceState, layout: &RowLayout, palette: &Palette, place: Rect) {
    let largest = ui.input(|input| input.max_texture_side) as i64;
    let (width, height) = (to_px(ui, place.width()), to_px(ui, place.height()));
    let scrolled = to_px(ui, device.panels.segment_timeline.scroll);
    // So that not every step of scrolling needs another picture.
    let step = (height / 2).max(1);
    let first = (scrolled / step * step - step / 2).max(0);
    let last = (scrolled / step * step + step + step / 2 + height).min(layout.height_px().max(height));
    let last = last.min(first + largest);
    let wish = AddressWish {
        view: device.view,
        size_px: [width.clamp(1, largest) as usize, (last - first).max(1) as usize],
        bands: layout.visible(first..last),
        is_dark: palette.is_dark,
        coloring: device.coloring(palette),
        matches: device.matches().map(Arc::clone),
        stack: match device.selection() {
            Selection::Stack(stack) => Some(stack),
            _ => None,
        },
    };
    if let Some(pictures) = &mut device.panels.segment_timeline.pictures {
        pictures.update(ui.ctx(), wish);
    }
}

fn paint(
    ui: &egui::Ui,
    device: &mut DeviceState,
    rows: &SegmentRows,
    bands: &[RowBand],
    places: Places,
    palette: &Palette,
    response: &egui::Response,
) {
    let snapshot = device.snapshot();
    let Some(timeline) = snapshot.timelines.get(device.index()) else { return };
    let (view, selection) = (device.view, device.selection());
    let canvas = Canvas { painter: ui.painter(), rect: places.rows, view: &view, timeline, palette };
    let canvas = SegmentTimelineCanvas { canvas, rows, bands, px_per_point: ui.pixels_per_point() };
    let shown = device.panels.segment_timeline.pictures.as_ref().and_then(AddressPictures::shown);
    canvas.ground();
    let mut under: Option<SegmentTimelineHit> = None;
    if let Some(shown) = shown {
        canvas.picture(&shown.picture, shown.texture.id());
        under = response.hover_pos().and_then(|pointer| canvas.under(Some(&shown.picture), pointer));
    }
    if let Some(SegmentTimelineHit { pixel: Pixel::Block(id), .. }) = under {
        canvas.outline(id, false);
    }
    match selection {
        Selection::Allocation(id) => canvas.outline(id, true),
        Selection::Segment { addr } => canvas.outline_reserved(addr),
        Selection::None | Selection::Stack(_) => {}
    }
    canvas.marks((!timeline.events.is_empty()).then_some(device.figures.peak.0));
    canvas.canvas.grid_x();
    canvas.canvas.frame();
    canvas.canvas.cursor(device.cursor);
    let Some(under) = under else { return };
    if response.double_clicked() {
        input::double_click(device);
    } else if response.clicked() {
        input::click(device, rows, under);
    } else if !response.dragged() {
        text::hover_ui(response, device, rows, under);
    }
}

/// The labels of rows; a click expands a row or makes it thin again.
fn labels(
    ui: &egui::Ui,
    device: &mut DeviceState,
    rows: &SegmentRows,
    bands: &[RowBand],
    places: Places,
    palette: &Palette,
) {
    let snapshot = device.snapshot();
    let Some(timeline) = snapshot.timelines.get(device.index()) else { return };
    let view = device.view;
    let canvas = Canvas { painter: ui.painter(), rect: places.rows, view: &view, timeline, palette };
    let canvas = SegmentTimelineCanvas { canvas, rows, bands, px_per_point: ui.pixels_per_point() };
    for band in bands {
        let Some(row) = rows.rows().get(band.row as usize) else { continue };
        let place = Rect::from_x_y_ranges(places.labels.x_range(), canvas.place_of(band).y_range());
        let id = ui.scope_id().with("label").with(band.row);
        let response = ui.interact(place.intersect(places.labels), id, Sense::click());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, text::row_name(row)));
        let color = if response.hovered() { palette.accent } else { palette.text };
        let inside = Rect::from_min_max(place.min, egui::pos2(place.right() - LABEL_GAP_PX, place.bottom()));
        canvas.label(band, inside, theme::color(color));
        if response.clicked() {
            input::click_label(device, row.addr, band.row);
        }
        response
            .on_hover_cursor(egui::CursorIcon::PointingHand)
            .on_hover_ui(|ui| text::row_ui(ui, row, rows.ranges(band.row, timeline).count()));
    }
}
