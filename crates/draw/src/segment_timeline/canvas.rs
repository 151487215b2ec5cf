//! Painting a segment timeline: the picture, outlines, labels and marks.

use super::geometry::{Bar, bar};
use super::layout::RowBand;
use super::raster::{SegmentTimelineScene, raster};
use crate::outline::outline;
use crate::{Pixel, Raster, TimelineCanvas, View};
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, TextureId, pos2};
use oomscope_analysis::{RowSites, SegmentRow, SegmentRows, Shared};
use oomscope_model::{AllocId, Moment, PoolKey};
use oomscope_units as units;

/// Outlines are at least this wide and high, so that those of thin bars can be seen.
const MIN_OUTLINE_PX: f32 = 3.0;

/// Height of a line of a row's label.
const LABEL_LINE_PX: f32 = 13.0;

/// A painted segment timeline.
#[derive(Debug, Clone)]
pub struct SegmentTimelineRaster {
    /// The positions that it shows.
    pub view: View,
    /// The rows that it shows.
    pub bands: Vec<RowBand>,
    /// The pixels.
    pub raster: Raster,
}

impl SegmentTimelineRaster {
    /// Paint a scene.
    pub fn paint(map: SegmentTimelineScene<'_>, size_px: [usize; 2]) -> Self {
        Self { view: *map.view, bands: map.bands.to_vec(), raster: raster(map, size_px) }
    }
}

/// A rectangle on the screen with the rows that it shows.
#[derive(Clone, Copy)]
pub struct SegmentTimelineCanvas<'a> {
    /// The rectangle and its positions.
    pub canvas: TimelineCanvas<'a>,
    /// The rows of the device.
    pub rows: &'a SegmentRows,
    /// The lines of code that reserved the rows.
    pub sites: &'a RowSites,
    /// The rows that are shown; the top of the canvas is 0.
    pub bands: &'a [RowBand],
    /// Pixels of bands per unit of the canvas.
    pub px_per_point: f32,
}

/// The row, address and pixel under a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SegmentTimelineHit {
    /// Its row.
    pub row: u32,
    /// Its address.
    pub addr: u64,
    /// The pixel of the picture there.
    pub pixel: Pixel,
    /// The moment that the column shows; `None` outside of the timeline or the picture.
    pub moment: Option<Moment>,
}

impl SegmentTimelineCanvas<'_> {
    /// The place of a row.
    pub fn place_of(&self, band: &RowBand) -> Rect {
        let y = |px: i64| self.canvas.rect.top() + px as f32 / self.px_per_point;
        Rect::from_x_y_ranges(self.canvas.rect.x_range(), y(band.top_px)..=y(band.bottom_px()))
    }

    /// The row at a height.
    pub fn band_at(&self, y: f32) -> Option<&RowBand> {
        self.bands.iter().find(|band| self.place_of(band).y_range().contains(y))
    }

    /// Paint the ground of every row.
    pub fn ground(&self) {
        let painter = self.canvas.inside();
        for band in self.bands {
            painter.rect_filled(self.place_of(band), 0.0, Color32::from(self.canvas.palette.window));
        }
    }

    /// Paint the picture. If it is that of an earlier view, every row is stretched to its place.
    pub fn picture(&self, picture: &SegmentTimelineRaster, texture: TextureId) {
        let old = &picture.view;
        if old.axis != self.canvas.view.axis {
            return;
        }
        let painter = self.canvas.inside();
        let height = picture.raster.size_px[1] as f32;
        let x = self.canvas.x_at(old.x0)..=self.canvas.x_at(old.x1);
        for band in &picture.bands {
            let Some(place) = self.new_place(band) else { continue };
            // A row may reach out of the picture.
            let (top, bottom) = (band.top_px as f32, band.bottom_px() as f32);
            let inside = [top.clamp(0.0, height), bottom.clamp(0.0, height)];
            let y = inside.map(|y| egui::remap(y, top..=bottom, place.y_range().min..=place.y_range().max));
            let uv = Rect::from_min_max(pos2(0.0, inside[0] / height), pos2(1.0, inside[1] / height));
            let place = Rect::from_x_y_ranges(x.clone(), y[0]..=y[1]);
            painter.image(texture, place, uv, Color32::WHITE);
        }
    }

    /// The present place of a row of a picture; `None` if the row is no longer shown.
    fn new_place(&self, old: &RowBand) -> Option<Rect> {
        self.bands.iter().find(|band| band.row == old.row).map(|band| self.place_of(band))
    }

    /// The row, address and pixel under the pointer; `None` between rows.
    pub fn under(
        &self,
        picture: Option<&SegmentTimelineRaster>,
        pointer: Pos2,
    ) -> Option<SegmentTimelineHit> {
        let band = self.band_at(pointer.y)?;
        let place = self.place_of(band);
        let up = f64::from((place.bottom() - pointer.y) / place.height().max(1e-3)).clamp(0.0, 1.0);
        let row = self.rows.rows().get(band.row as usize)?;
        let inside = ((up * row.size_bytes as f64) as u64).min(row.size_bytes.saturating_sub(1));
        let addr = row.addr.saturating_add(inside);
        let nothing = SegmentTimelineHit { row: band.row, addr, pixel: Pixel::Empty, moment: None };
        let Some(picture) = picture.filter(|picture| picture.view.axis == self.canvas.view.axis) else {
            return Some(nothing);
        };
        let [width, _] = picture.raster.size_px;
        let x = f64::from((pointer.x - self.canvas.rect.left()) / self.canvas.rect.width().max(1.0));
        let x = picture.view.x_from_position(self.canvas.view.position_from_x(x)) * width as f64;
        let old = picture.bands.iter().find(|old| old.row == band.row);
        let y = old.map(|old| old.bottom_px() as f64 - up * f64::from(old.height_px));
        let Some(y) = y.filter(|&y| 0.0 <= y && (0.0..width as f64).contains(&x)) else {
            return Some(nothing);
        };
        let moment = picture.raster.moments.get(x as usize).copied().flatten();
        Some(SegmentTimelineHit { pixel: picture.raster.pixel(x as usize, y as usize), moment, ..nothing })
    }

    /// Paint the outline of an allocation; a selected one is also lighter.
    pub fn outline(&self, id: AllocId, is_selected: bool) {
        let Some(bar) = bar(self.canvas.timeline, self.rows, self.bands, id) else { return };
        let place = self.place_of_bar(&bar);
        let painter = self.canvas.inside();
        outline(&painter, place, self.canvas.palette, is_selected, StrokeKind::Outside);
    }

    fn place_of_bar(&self, bar: &Bar) -> Rect {
        let x = [bar.start, bar.end].map(|moment| self.canvas.x(f64::from(moment.0)));
        let y = bar.y_px.map(|y| self.canvas.rect.top() + y as f32 / self.px_per_point);
        let exact = Rect::from_min_max(pos2(x[0], y[0]), pos2(x[1], y[1]));
        let missing = (egui::Vec2::splat(MIN_OUTLINE_PX) - exact.size()).max(egui::Vec2::ZERO);
        exact.expand2(missing / 2.0)
    }

    /// Paint an outline around each reserved range that had an address at any time.
    pub fn outline_reserved(&self, addr: u64) {
        /// Largest number of outlines; an address that is mapped and unmapped all the time may have
        /// thousands.
        const MOST: usize = 100;
        let Some(row) = self.rows.row_at(addr) else { return };
        let Some(band) = self.bands.iter().find(|band| band.row == row) else { return };
        let Some(of_row) = self.rows.rows().get(row as usize) else { return };
        let (place, painter) = (self.place_of(band), self.canvas.inside());
        let stroke = Stroke::new(2.0, Color32::from(self.canvas.palette.outline));
        let last = Moment(self.canvas.timeline.moments() as u32);
        let ranges = self.rows.ranges(row, self.canvas.timeline).filter(|range| range.contains(addr));
        for range in ranges.take(MOST) {
            let x = [range.start, range.end.unwrap_or(last)].map(|moment| self.canvas.x(f64::from(moment.0)));
            let y = [range.past_end(), range.addr].map(|addr| {
                let part = addr.saturating_sub(of_row.addr) as f64 / of_row.size_bytes.max(1) as f64;
                place.bottom() - part as f32 * place.height()
            });
            let place = Rect::from_min_max(pos2(x[0], y[0]), pos2(x[1], y[1]));
            painter.rect_stroke(place, 0.0, stroke, StrokeKind::Inside);
        }
    }

    /// Paint the peak and the failed requests as lines through all rows.
    pub fn marks(&self, peak: Option<Moment>) {
        let (canvas, painter) = (&self.canvas, self.canvas.inside());
        if let Some(peak) = peak {
            let x = canvas.x_middle(peak).round();
            let line = [pos2(x, canvas.rect.top()), pos2(x, canvas.rect.bottom())];
            let stroke = Stroke::new(1.0, Color32::from(canvas.palette.peak));
            painter.extend(Shape::dashed_line(&line, stroke, 4.0, 4.0));
        }
        for oom in canvas.shown_ooms() {
            let x = canvas.x_middle(Moment::after(oom.event)).round();
            painter.vline(x, canvas.rect.y_range(), Stroke::new(1.0, Color32::from(canvas.palette.oom)));
        }
    }

    /// Paint the label of a row, right-aligned at the top of its visible part, with as many lines as there is
    /// room for.
    pub fn label(&self, band: &RowBand, place: Rect, color: Color32) {
        let Some(row) = self.rows.rows().get(band.row as usize) else { return };
        let muted = Color32::from(self.canvas.palette.muted);
        let seen = place.intersect(Rect::from_x_y_ranges(place.x_range(), self.canvas.rect.y_range()));
        let painter = self.canvas.painter.with_clip_rect(self.canvas.painter.clip_rect().intersect(seen));
        let lines = label_lines(row, self.sites.place(band.row));
        let room = (seen.height() / LABEL_LINE_PX).floor().max(1.0) as usize;
        let is_thin = place.height() < LABEL_LINE_PX;
        let top = if is_thin { place.center().y - LABEL_LINE_PX / 2.0 } else { seen.top() };
        for (i, line) in lines.iter().take(room).enumerate() {
            let font = FontId::monospace(if is_thin { 9.0 } else { 10.0 });
            let at = pos2(place.right(), top + (i as f32 + 0.5) * LABEL_LINE_PX);
            let text = fitted(&painter, line, &font, place.width());
            painter.text(at, Align2::RIGHT_CENTER, text, font, if i == 0 { color } else { muted });
        }
    }
}

/// The lines of a row's label, most important first: the line of code that reserved it says most.
fn label_lines(row: &SegmentRow, site: Option<&str>) -> Vec<Label> {
    let mut lines: Vec<Label> = site.map(|site| Label::CutAtStart(site.to_owned())).into_iter().collect();
    lines.push(Label::CutAtEnd(units::bytes(row.reserved_bytes)));
    if let Some(serves) = serves(row) {
        lines.push(Label::CutAtEnd(serves));
    }
    lines.push(Label::CutAtStart(units::address(row.addr)));
    lines
}

/// The pool or the stream of a row if it is not the usual one.
fn serves(row: &SegmentRow) -> Option<String> {
    match (row.pool, row.stream) {
        (Shared::One(PoolKey(a, b)), _) if PoolKey(a, b).is_private() => Some(format!("pool {a}.{b}")),
        (Shared::Several, _) => Some("pools".to_owned()),
        (_, Shared::One(0) | Shared::Unknown) => None,
        (_, Shared::One(stream)) => Some(format!("stream {stream}")),
        (_, Shared::Several) => Some("streams".to_owned()),
    }
}

/// A line of a label that may have to be cut.
enum Label {
    /// Its start is kept, as with names.
    CutAtEnd(String),
    /// Its end is kept, as with addresses, which mostly start alike, and numbers of lines.
    CutAtStart(String),
}

/// The text of a line in a monospaced font, cut to a width.
fn fitted(painter: &Painter, line: &Label, font: &FontId, width: f32) -> String {
    let each = painter.layout_no_wrap("0".to_owned(), font.clone(), Color32::WHITE).size().x;
    let room = (width / each.max(1.0)).floor() as usize;
    match line {
        Label::CutAtEnd(text) | Label::CutAtStart(text) if text.chars().count() <= room => text.clone(),
        Label::CutAtEnd(text) => {
            let kept: String = text.chars().take(room.saturating_sub(1)).collect();
            format!("{kept}…")
        }
        Label::CutAtStart(text) => {
            let left_out = (text.chars().count() + 1).saturating_sub(room);
            format!("…{}", text.chars().skip(left_out).collect::<String>())
        }
    }
}
