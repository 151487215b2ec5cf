//! The list beside a picture: live bytes at a moment by site, the code that allocated them.

use super::Palette;
use super::caption::paint_text;
use crate::fonts::SEMIBOLD;
use crate::{Coloring, Rgb};
use egui::{Align2, Color32, FontFamily, FontId, Painter, Rect, pos2, vec2};
use foldhash::HashMap;
use oomscope_analysis::{live_at, site_label, sites};
use oomscope_model::{AllocId, Bytes, Moment, Recording};
use oomscope_units as units;

/// Number of colours shown of one site, which may have many stacks; more would take the room of the label.
const MAX_COLORS: usize = 3;

/// Height of a row in points: a label and a bar.
const ROW_PT: f32 = 40.0;

/// The sites of the live allocations at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteList {
    heading: String,
    summary: String,
    rows: Vec<ListedSite>,
}

/// One site.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedSite {
    label: String,
    bytes: Bytes,
    blocks: usize,
    /// The colours of its stacks, most bytes first; empty if colours show another property.
    colors: Vec<Rgb>,
}

impl SiteList {
    /// The sites of the allocations that are live at a moment, most bytes first. With `coloring`, rows have
    /// the colours of their stacks; with `kept`, only the allocations that it keeps count.
    pub fn new(
        recording: &Recording,
        moment: Moment,
        heading: String,
        coloring: Option<&Coloring>,
        kept: Option<&dyn Fn(AllocId) -> bool>,
    ) -> Self {
        let mut live = live_at(recording, moment);
        if let Some(kept) = kept {
            live.retain(|allocation| kept(allocation.id));
        }
        let mut rows: Vec<ListedSite> = Vec::new();
        let mut at: HashMap<String, usize> = HashMap::default();
        for site in sites(&live) {
            let label = site_label(recording.snapshot(), site.stack);
            let i = *at.entry(label.clone()).or_insert(rows.len());
            if i == rows.len() {
                rows.push(ListedSite { label, bytes: Bytes::ZERO, blocks: 0, colors: Vec::new() });
            }
            rows[i].bytes += site.bytes;
            rows[i].blocks += site.count;
            let color = coloring.map(|coloring| coloring.stack(site.stack));
            if let Some(color) = color.filter(|color| !rows[i].colors.contains(color)) {
                rows[i].colors.push(color);
            }
        }
        rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.label.cmp(&b.label)));
        let bytes = units::bytes(live.iter().map(|allocation| allocation.size).sum::<Bytes>());
        let what = if kept.is_some() { "matches in" } else { "active in" };
        Self { heading, summary: format!("{bytes} {what} {}, by site", blocks(live.len())), rows }
    }

    /// Paint a list at the right of a rectangle, if there is one and enough room. Returns the rest.
    pub(super) fn beside(sites: Option<&Self>, painter: &Painter, rect: Rect, palette: &Palette) -> Rect {
        /// Least width in points of the rectangle: at least two thirds of it stay for the picture.
        const MIN_WIDTH_PT: f32 = 700.0;
        /// Space in points between the picture and the list.
        const GAP_PT: f32 = 20.0;
        let Some(sites) = sites.filter(|_| MIN_WIDTH_PT <= rect.width()) else { return rect };
        let width = (rect.width() * 0.26).clamp(220.0, 340.0).round();
        sites.paint(painter, rect.with_min_x(rect.right() - width), palette);
        rect.with_max_x(rect.right() - width - GAP_PT)
    }

    /// Paint as many rows as there is room for, and the number of those left out.
    fn paint(&self, painter: &Painter, rect: Rect, palette: &Palette) {
        let (text, muted) = (Color32::from(palette.text), Color32::from(palette.muted));
        let strong = FontId::new(13.0, FontFamily::Name(SEMIBOLD.into()));
        let mut y = rect.top() + paint_text(painter, rect, &self.heading, strong, text, 2) + 2.0;
        y += paint_text(painter, rect.with_min_y(y), &self.summary, FontId::proportional(11.5), muted, 2)
            + 10.0;
        let fit = ((rect.bottom() - y) / ROW_PT).max(0.0) as usize;
        // The last row says what is left out.
        let shown = if self.rows.len() <= fit { fit } else { fit.saturating_sub(1) };
        let whole: Bytes = self.rows.iter().map(|row| row.bytes).sum();
        let largest = self.rows.first().map_or(Bytes::ZERO, |row| row.bytes);
        for row in self.rows.iter().take(shown) {
            row.paint(
                painter,
                Rect::from_min_size(pos2(rect.left(), y), vec2(rect.width(), ROW_PT)),
                palette,
                [whole, largest],
            );
            y += ROW_PT;
        }
        if let Some(rest) = self.rows.get(shown..).filter(|rest| !rest.is_empty()) {
            let bytes = rest.iter().map(|row| row.bytes).sum::<Bytes>();
            let sites = if rest.len() == 1 { "site" } else { "sites" };
            let more = format!("{} in {} more {sites}", units::bytes(bytes), units::count(rest.len() as u64));
            painter.text(pos2(rect.left(), y), Align2::LEFT_TOP, more, FontId::proportional(11.5), muted);
        }
    }
}

impl ListedSite {
    fn paint(&self, painter: &Painter, rect: Rect, palette: &Palette, [whole, largest]: [Bytes; 2]) {
        let (text, muted) = (Color32::from(palette.text), Color32::from(palette.muted));
        let size = painter.text(
            rect.right_top(),
            Align2::RIGHT_TOP,
            units::bytes(self.bytes),
            FontId::proportional(12.5),
            text,
        );
        let mut left = rect.left();
        for &color in self.colors.iter().take(MAX_COLORS) {
            let swatch = Rect::from_min_size(pos2(left, rect.top() + 3.0), vec2(10.0, 10.0));
            painter.rect_filled(swatch, 2.0, Color32::from(color));
            left += 13.0;
        }
        left += if self.colors.is_empty() { 0.0 } else { 3.0 };
        let place = Rect::from_min_max(pos2(left, rect.top()), pos2(size.left() - 10.0, rect.bottom()));
        paint_text(painter, place, &self.label, FontId::proportional(12.5), text, 1);
        let y = rect.top() + 19.0;
        let detail = format!("{} · {}", units::percent(self.bytes, whole), blocks(self.blocks));
        let detail =
            painter.text(pos2(rect.right(), y), Align2::RIGHT_TOP, detail, FontId::proportional(11.0), muted);
        let bar = Rect::from_min_max(pos2(rect.left(), y + 5.0), pos2(detail.left() - 12.0, y + 8.0));
        painter.rect_filled(bar, 1.5, Color32::from(palette.line));
        let share = if 0 < largest { self.bytes.0 as f32 / largest.0 as f32 } else { 0.0 };
        let filled = bar.with_max_x(bar.left() + bar.width() * share.clamp(0.0, 1.0));
        painter.rect_filled(
            filled,
            1.5,
            Color32::from(self.colors.first().copied().unwrap_or(palette.accent)),
        );
    }
}

fn blocks(count: usize) -> String {
    units::counted(count, "block")
}
