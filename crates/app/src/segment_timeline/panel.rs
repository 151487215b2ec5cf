//! The segment timeline: tools, labels, rows and the axis of time.

use super::input;
use super::pictures::{KnownRows, RowPictures, RowsRequest};
use super::state::{Places, State};
use super::{text, toolbar};
use crate::device::{Pane, PaneCtx, Selection, Standpoint};
use crate::pointed::{self, Thing};
use crate::timeline::panel::{BOTTOM_PX, LEFT_PX};
use crate::work::by_ptr::ByPtr;
use crate::work::worker::WorkMode;
use crate::{accessible, theme, timeline};
use eframe::egui::{self, Rect, ScrollArea, Sense, scroll_area::ScrollSource};
use oomscope_analysis::SegmentRows;
use oomscope_draw::{
    Palette, Pixel, RowBand, RowHeights, RowLayout, SegmentTimelineCanvas, SegmentTimelineHit,
    TimelineCanvas, View,
};
use oomscope_model::{Recording, Timeline};
use std::sync::Arc;
use tr::tr;

/// Space between labels and rows, in points.
const LABEL_GAP_PX: f32 = 6.0;

/// Space above the rows, in points.
const TOP_GAP_PX: f32 = 4.0;

/// Smallest width and height of the rows, in points: less shows nothing.
const MIN_ROWS_PX: f32 = 16.0;

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let palette = theme::palette(ui);
        let recording = ctx.recording;
        let Some(known) = rows(ui, recording, ctx.derived.work_mode, self) else {
            ui.label(theme::muted(ui, tr!("Sorting addresses…")));
            return;
        };
        let rows = &known.rows;
        if rows.rows().is_empty() {
            ui.label(theme::muted(ui, tr!("This recording has no segments.")));
            return;
        }
        toolbar::ui(ui, palette, self, rows);
        let Some(places) = places(ui.available_rect_before_wrap()) else { return };
        ui.allocate_rect(ui.available_rect_before_wrap(), Sense::hover());
        follow_selection(recording, ctx.at, self, rows);
        // The layout comes after the selection, which may expand a row, and before scrolling to that row.
        let layout = layout(ui, self, rows, places.rows);
        scroll(ui, self, &layout, places.rows);
        let response = ui.interact(places.rows, ui.scope_id().with("rows"), Sense::click_and_drag());
        accessible::picture(&response, &tr!("Segment timeline"), || ctx.at.words());
        if accessible::is_pressed_by_key(&response) {
            ctx.at.select_event();
        }
        timeline::input::scrub(ui, places.axis, places.rows, recording, ctx.at);
        input::navigate(ui, &response, ctx.at, self, places);
        let scrolled_px = to_px(ui, self.scroll);
        let height_px = to_px(ui, places.rows.height());
        let bands = layout.visible(scrolled_px..scrolled_px + height_px);
        let request = request(ui, ctx, self.scroll, &layout, palette, places.rows);
        if let Some(pictures) = &mut self.pictures {
            pictures.update(ui.ctx(), request);
        }
        let visible = VisibleRows { known: &known, bands: &bands, places, palette };
        let under = visible.paint(ui, ctx, self.pictures.as_ref(), &response);
        act(ctx, self, rows, &response, under);
        visible.labels(ui, recording, ctx.at, self);
        scroll_bar(ui, self, &layout, places.rows);
    }

    fn keep(&mut self, old: &Self) {
        (self.order, self.is_all_expanded) = (old.order, old.is_all_expanded);
    }
}

/// The rows, once they are known.
fn rows(ui: &egui::Ui, recording: &Recording, mode: WorkMode, state: &mut State) -> Option<Arc<KnownRows>> {
    let new = || RowPictures::new(recording.clone(), ui.ctx(), mode);
    state.pictures.get_or_insert_with(new).rows()
}

/// The rectangles of all parts; `None` if there is too little room. The rows stand below the picture of the
/// timeline, so that a moment is at the same x in both.
fn places(all: Rect) -> Option<Places> {
    let (left, right, bottom) = (all.left() + LEFT_PX, all.right(), all.bottom() - BOTTOM_PX);
    let rows = Rect::from_min_max(egui::pos2(left, all.top() + TOP_GAP_PX), egui::pos2(right, bottom));
    let labels = Rect::from_min_max(egui::pos2(all.left(), rows.top()), rows.left_bottom());
    let axis = Rect::from_min_max(rows.left_bottom(), egui::pos2(right, all.bottom()));
    let is_enough = MIN_ROWS_PX <= rows.width() && MIN_ROWS_PX <= rows.height();
    is_enough.then_some(Places { labels, rows, axis })
}

/// Points in whole pixels.
fn to_px(ui: &egui::Ui, points: f32) -> i64 {
    (points * ui.pixels_per_point()).round() as i64
}

/// Expand the row of a selection that was made elsewhere, and bring it into view.
fn follow_selection(timeline: &Timeline, at: &Standpoint, state: &mut State, rows: &SegmentRows) {
    let selection = at.selection();
    if state.seen == selection {
        return;
    }
    state.seen = selection;
    if let Some(row) = input::row_of(timeline, rows, selection) {
        state.expand(selection, row);
    }
}

fn layout(ui: &egui::Ui, state: &State, rows: &SegmentRows, place: Rect) -> RowLayout {
    let expanded = state.expanded();
    let sorted = state.sorted.get(state.order, || rows.sorted(state.order).into());
    let heights = RowHeights::on_surface(place.height(), &expanded, &|points| to_px(ui, points) as u32);
    RowLayout::new(rows, &sorted, &expanded, heights)
}

/// Bring the wanted row into view, and keep the scroll within the rows.
fn scroll(ui: &egui::Ui, state: &mut State, layout: &RowLayout, place: Rect) {
    let points = |px: i64| px as f32 / ui.pixels_per_point();
    if let Some(band) = state.wanted_row.take().and_then(|row| layout.band_of(row)) {
        let (top, bottom) = (points(band.top_px), points(band.bottom_px()));
        // Scroll no further than needed. Of a row that does not fit, show the top.
        state.scroll = state.scroll.max(bottom - place.height()).min(top);
    }
    let most = (points(layout.height_px()) - place.height()).max(0.0);
    state.scroll = state.scroll.clamp(0.0, most);
    let hidden_px = to_px(ui, state.scroll);
    let first = layout.bands().iter().find(|band| hidden_px <= band.top_px);
    state.first = first.filter(|_| 0 < hidden_px).map(|band| band.row);
}

/// A scroll bar over an area that has nothing in it: the rows are a picture.
fn scroll_bar(ui: &mut egui::Ui, state: &mut State, layout: &RowLayout, place: Rect) {
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

/// A request for the rows in sight and some around them.
fn request(
    ui: &egui::Ui,
    ctx: &PaneCtx<'_>,
    scroll: f32,
    layout: &RowLayout,
    palette: &Palette,
    place: Rect,
) -> RowsRequest {
    let largest = ui.input(|input| input.max_texture_side) as i64;
    let (width, height) = (to_px(ui, place.width()), to_px(ui, place.height()));
    let scrolled = to_px(ui, scroll);
    // In steps of half the height, so that not every turn of the wheel needs another picture.
    let step = (height / 2).max(1);
    let first = (scrolled / step * step - step / 2).max(0);
    let last = (scrolled / step * step + step + step / 2 + height).min(layout.height_px().max(height));
    let last = last.min(first + largest);
    RowsRequest {
        view: View { y0: ctx.at.full.y0, y1: ctx.at.full.y1, ..ctx.at.view },
        size_px: [width.clamp(1, largest) as usize, (last - first).max(1) as usize],
        bands: layout.visible(first..last),
        is_dark: palette.is_dark,
        coloring: ByPtr(ctx.coloring(palette)),
        matches: ctx.shade().map(|(matches, _)| matches),
        stack: match ctx.at.selection() {
            Selection::Stack(stack) => Some(stack),
            _ => None,
        },
    }
}

/// The rows in sight, with their places.
struct VisibleRows<'a> {
    known: &'a KnownRows,
    bands: &'a [RowBand],
    places: Places,
    palette: &'a Palette,
}

impl VisibleRows<'_> {
    fn canvas<'c>(
        &'c self,
        ui: &'c egui::Ui,
        timeline: &'c Timeline,
        view: &'c View,
    ) -> SegmentTimelineCanvas<'c> {
        let Self { known: KnownRows { rows, sites }, bands, places, palette } = *self;
        let canvas = TimelineCanvas { painter: ui.painter(), rect: places.rows, view, timeline, palette };
        SegmentTimelineCanvas { canvas, rows, sites, bands, px_per_point: ui.pixels_per_point() }
    }

    /// Paint the rows. Returns the place under the pointer, if it is in the picture.
    fn paint(
        &self,
        ui: &egui::Ui,
        ctx: &PaneCtx<'_>,
        pictures: Option<&RowPictures>,
        response: &egui::Response,
    ) -> Option<SegmentTimelineHit> {
        let (timeline, at) = (ctx.recording.timeline(), &*ctx.at);
        let canvas = self.canvas(ui, timeline, &at.view);
        canvas.ground();
        let mut under = None;
        if let Some(shown) = pictures.and_then(RowPictures::shown) {
            canvas.picture(&shown.picture, shown.texture.id());
            under = response.hover_pos().and_then(|pointer| canvas.under(Some(&shown.picture), pointer));
        }
        if let Some(SegmentTimelineHit { pixel: Pixel::Block(id), .. }) = under {
            canvas.outline(id, false);
        }
        match at.selection() {
            Selection::Allocation(id) => canvas.outline(id, true),
            Selection::Segment { addr } => canvas.outline_reserved(addr),
            Selection::None | Selection::Stack(_) => {}
        }
        canvas.marks((!timeline.events.is_empty()).then_some(ctx.derived.figures.peak.0));
        canvas.canvas.grid_x();
        canvas.canvas.frame();
        canvas.canvas.cursor(at.cursor);
        under
    }

    /// The labels of rows. A click expands a row or makes it thin again.
    fn labels(&self, ui: &egui::Ui, recording: &Recording, at: &mut Standpoint, state: &mut State) {
        let view = at.view;
        let canvas = self.canvas(ui, recording, &view);
        let labels = self.places.labels;
        for band in self.bands {
            let Some(row) = self.known.rows.rows().get(band.row as usize) else { continue };
            let place = Rect::from_x_y_ranges(labels.x_range(), canvas.place_of(band).y_range());
            let id = ui.scope_id().with("label").with(band.row);
            let response = ui.interact(place.intersect(labels), id, Sense::click());
            let site = self.known.sites.line(band.row);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::Button, true, text::row_name(row, site))
            });
            let color = if response.hovered() { self.palette.accent } else { self.palette.text };
            let inside =
                Rect::from_min_max(place.min, egui::pos2(place.right() - LABEL_GAP_PX, place.bottom()));
            canvas.label(band, inside, theme::color(color));
            if response.clicked() {
                input::click_label(at, state, row.addr, band.row);
            }
            pointed::on(&response, || Some(Thing::Segment { addr: row.addr }));
            response
                .on_hover_cursor(egui::CursorIcon::PointingHand)
                .on_hover_ui(|ui| text::row_ui(ui, recording, self.known, band.row));
        }
    }
}

/// Clicks and hovering on the rows.
fn act(
    ctx: &mut PaneCtx<'_>,
    state: &mut State,
    rows: &SegmentRows,
    response: &egui::Response,
    under: Option<SegmentTimelineHit>,
) {
    let Some(under) = under else { return };
    pointed::on(response, || Thing::selected(input::selection(ctx.recording, ctx.at.cursor, rows, under)));
    if response.double_clicked() {
        input::double_click(ctx.at);
    } else if response.clicked() {
        input::click(ctx.recording, ctx.at, state, rows, under);
    } else if !response.dragged() {
        text::hover_ui(response, ctx.recording, ctx.derived, rows, under);
    }
}
