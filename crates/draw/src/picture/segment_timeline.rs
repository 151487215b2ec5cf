//! A picture of the segment timeline: a row for each segment, with the allocations in it.

use super::timeline::mark_legend;
use super::{LegendEntry, LegendMark, Page, PictureSheet, Selected, SiteList};
use crate::software::Pixels;
use crate::{
    ArrangedRows, Blocks, Expanded, Palette, RowBand, RowHeights, RowLayout, SegmentTimelineCanvas,
    SegmentTimelineRaster, SegmentTimelineScene, TimelineCanvas, View, axis_font,
};
use egui::emath::GuiRounding as _;
use egui::{Align2, Color32, ColorImage, Rect, TextureHandle, TextureOptions, Ui, pos2};
use oomscope_analysis::{RowOrder, RowSites, SegmentRows};
use oomscope_model::{Moment, Timeline};
use oomscope_units as units;
use std::collections::BTreeSet;

/// Room in points for the labels of rows, to their left.
const ROW_LABELS_PT: f32 = 112.0;

/// Room in points for the labels of the x axis, below the rows.
const X_LABELS_PT: f32 = 24.0;

/// Room in points for the note, below the x axis.
const NOTE_PT: f32 = 16.0;

/// Least height in points of a row to scale: two lines of its label.
const MIN_ROW_PT: f32 = 28.0;

/// Height in points of a row if not all fit to scale.
const THIN_ROW_PT: f32 = 8.0;

/// Space in points between rows.
const ROW_GAP_PT: f32 = 2.0;

/// Factor by which the scale is reduced until all rows fit: they fill at least about this share of the room.
const SHRINK: f32 = 0.92;

/// The content of a picture of the segment timeline.
#[derive(Clone, Copy)]
pub struct SegmentTimelinePicture<'a> {
    /// The rows.
    pub rows: &'a SegmentRows,
    /// The lines of code that reserved them.
    pub row_sites: &'a RowSites,
    /// The positions that are shown; its bytes do not matter.
    pub view: View,
    /// The allocations.
    pub blocks: Blocks<'a>,
    /// The arrangement of the rows; `None` for as many as fit, the largest first.
    pub look: Option<&'a ArrangedRows>,
    /// The moment of the cursor; `None` for a picture without one.
    pub cursor: Option<Moment>,
    /// The selected allocation or stack.
    pub selected: Selected,
    /// The list of sites beside the rows.
    pub sites: Option<&'a SiteList>,
}

/// The legend of the surfaces and marks.
pub fn segment_timeline_legend(timeline: &Timeline, view: &View, palette: &Palette) -> Vec<LegendEntry> {
    let mut entries = vec![
        LegendEntry::new(LegendMark::Area, palette.unknown, "block in use"),
        LegendEntry::new(LegendMark::Stripes, palette.unknown, "freed, waiting for a stream"),
        LegendEntry::new(LegendMark::Hatch, palette.muted, "hole: reserved and not in use"),
    ];
    entries.extend(mark_legend(timeline, view, palette));
    entries
}

/// The painted rows. Both calls of the content come to the same place, so they are painted once.
struct Painted {
    rect: Rect,
    picture: SegmentTimelineRaster,
    texture: TextureHandle,
    /// Number of rows that are not wholly in the picture.
    hidden: usize,
}

impl SegmentTimelinePicture<'_> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &PictureSheet<'_>, page: &Page) -> Pixels {
        let mut painted: Option<Painted> = None;
        page.paint(sheet, |ui, rect| {
            let rest = SiteList::beside(self.sites, ui.painter(), rect, sheet.palette);
            let min = pos2(rest.left() + ROW_LABELS_PT, rest.top() + 1.0);
            let max = pos2(rest.right() - 1.0, rest.bottom() - X_LABELS_PT - NOTE_PT);
            let place = Rect::from_min_max(min, max).round_to_pixels(sheet.scale);
            if !place.is_positive() {
                return;
            }
            let known = painted.take().filter(|known| known.rect == place);
            let painted = painted.insert(known.unwrap_or_else(|| self.rows(ui, place, sheet)));
            self.shapes(ui, sheet, painted);
        })
    }

    fn rows(&self, ui: &Ui, rect: Rect, sheet: &PictureSheet<'_>) -> Painted {
        let px = |points: f32| (points * sheet.scale).round() as u32;
        let height_px = px(rect.height());
        let (layout, hidden_px) = match self.look {
            None => (self.layout(height_px, &px), 0),
            Some(arranged) => arranged.place(self.rows, rect.height(), &px),
        };
        let bands = layout.visible(hidden_px..hidden_px + i64::from(height_px));
        let is_whole = |band: &&RowBand| 0 <= band.top_px && band.bottom_px() <= i64::from(height_px);
        let whole = bands.iter().filter(is_whole);
        let hidden = layout.bands().len() - whole.count();
        let map = SegmentTimelineScene {
            blocks: self.blocks,
            rows: self.rows,
            view: &self.view,
            bands: &bands,
            palette: sheet.palette,
            selected: match self.selected {
                Selected::Stack(stack) => Some(stack),
                _ => None,
            },
        };
        let size_px = [px(rect.width()), px(rect.height())].map(|side| side.max(1) as usize);
        let picture = SegmentTimelineRaster::paint(map, size_px);
        // Pixels are opaque or empty, for which premultiplied and plain colours are the same.
        let image = ColorImage::from_rgba_premultiplied(size_px, &picture.raster.rgba);
        let texture = ui.ctx().load_texture("addresses", image, TextureOptions::NEAREST);
        Painted { rect, picture, texture, hidden }
    }

    /// Rows to the largest scale at which all fit. If none does, thin rows, the largest first.
    fn layout(&self, height_px: u32, px: &dyn Fn(f32) -> u32) -> RowLayout {
        let order = self.rows.sorted(RowOrder::Reserved);
        let heights = |largest_px| RowHeights {
            thin_px: px(THIN_ROW_PT).max(1),
            expanded_min_px: px(MIN_ROW_PT),
            expanded_max_px: largest_px,
            gap_px: px(ROW_GAP_PT).max(1),
            fill_px: height_px,
        };
        let mut largest_px = height_px;
        while px(MIN_ROW_PT) <= largest_px {
            let layout = RowLayout::new(self.rows, &order, &Expanded::All, heights(largest_px));
            if layout.height_px() <= i64::from(height_px) {
                return layout;
            }
            largest_px = (largest_px as f32 * SHRINK) as u32;
        }
        RowLayout::new(self.rows, &order, &Expanded::Rows(BTreeSet::new()), heights(largest_px))
    }

    fn shapes(&self, ui: &Ui, sheet: &PictureSheet<'_>, painted: &Painted) {
        let (timeline, rect) = (self.blocks.timeline, painted.rect);
        let canvas = TimelineCanvas {
            painter: ui.painter(),
            rect,
            view: &self.view,
            timeline,
            palette: sheet.palette,
        };
        let bands: &[RowBand] = &painted.picture.bands;
        let canvas = SegmentTimelineCanvas {
            canvas,
            rows: self.rows,
            sites: self.row_sites,
            bands,
            px_per_point: sheet.scale,
        };
        canvas.ground();
        canvas.picture(&painted.picture, painted.texture.id());
        // Allocations of a selected stack are already lighter in the picture.
        if let Selected::Allocation(id) = self.selected {
            canvas.outline(id, true);
        }
        canvas.marks((!timeline.events.is_empty()).then(|| timeline.active.peak().0));
        canvas.canvas.grid_x();
        canvas.canvas.frame();
        if let Some(moment) = self.cursor {
            canvas.canvas.cursor(moment);
        }
        let labels = rect.left() - ROW_LABELS_PT..=rect.left() - 8.0;
        for band in bands {
            let place = Rect::from_x_y_ranges(labels.clone(), canvas.place_of(band).y_range());
            canvas.label(band, place, sheet.palette.text.into());
        }
        self.note(ui, painted, sheet.palette);
    }

    /// Paint a note on the rows that are left out.
    fn note(&self, ui: &Ui, painted: &Painted, palette: &Palette) {
        let text = match (self.rows.rows().len(), painted.hidden) {
            (0, _) => "This recording has no segments.".to_owned(),
            (_, 0) => String::new(),
            (all, hidden) => {
                let (hidden, all) = (units::count(hidden as u64), units::count(all as u64));
                match self.look {
                    None => format!("The smallest {hidden} of {all} rows do not fit on this picture."),
                    Some(_) => format!("{hidden} of {all} rows are not or not wholly on this picture."),
                }
            }
        };
        let at = painted.rect.left_bottom() + egui::vec2(-ROW_LABELS_PT, X_LABELS_PT + NOTE_PT / 2.0);
        ui.painter().text(at, Align2::LEFT_CENTER, text, axis_font(), Color32::from(palette.muted));
    }
}
