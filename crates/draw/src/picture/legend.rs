//! The legend of a picture: its lines and surfaces with their meaning.

use super::Palette;
use crate::{BandTexture, Rgb};
use egui::{Color32, FontId, Painter, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

/// The look of a thing in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegendMark {
    /// A line.
    Line,
    /// A broken line.
    Dashes,
    /// An area.
    Area,
    /// An area with stripes: waiting for a stream.
    Stripes,
    /// A pale area with stripes: free in a pool.
    Hollow,
    /// A hatched area.
    Hatch,
}

/// A thing in the picture, with its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegendEntry {
    /// Its look.
    pub mark: LegendMark,
    /// Its colour.
    pub color: Rgb,
    /// Its meaning.
    pub text: String,
}

impl LegendEntry {
    /// An entry.
    pub fn new(mark: LegendMark, color: Rgb, text: impl Into<String>) -> Self {
        Self { mark, color, text: text.into() }
    }
}

/// Paint a legend from the top left of a rectangle, in rows, as far as there is room. Returns its height.
pub fn legend(painter: &Painter, rect: Rect, entries: &[LegendEntry], palette: &Palette) -> f32 {
    /// Height of a row in points.
    const ROW_PT: f32 = 18.0;
    /// Space between entries in points.
    const GAP_PT: f32 = 16.0;
    let muted = Color32::from(palette.muted);
    let (mut x, mut y) = (rect.left(), rect.top());
    for entry in entries {
        let galley = painter.layout_no_wrap(entry.text.clone(), FontId::proportional(11.5), muted);
        let width = 20.0 + galley.size().x;
        if rect.right() < x + width && rect.left() < x {
            (x, y) = (rect.left(), y + ROW_PT);
        }
        if rect.bottom() < y + ROW_PT {
            return y - rect.top();
        }
        let place = Rect::from_min_size(pos2(x, y), vec2(14.0, ROW_PT));
        mark(painter, place, entry, palette);
        painter.galley(pos2(x + 20.0, y + (ROW_PT - galley.size().y) / 2.0), galley, muted);
        x += width + GAP_PT;
    }
    if entries.is_empty() { 0.0 } else { y + ROW_PT - rect.top() }
}

/// Paint the line or surface of an entry.
fn mark(painter: &Painter, place: Rect, entry: &LegendEntry, palette: &Palette) {
    let color = Color32::from(entry.color);
    let middle = place.center().y.round();
    let stroke = Stroke::new(2.0, color);
    match entry.mark {
        LegendMark::Line => {
            painter.hline(place.x_range(), middle, stroke);
        }
        LegendMark::Dashes => {
            let ends = [pos2(place.left(), middle), pos2(place.right(), middle)];
            painter.extend(Shape::dashed_line(&ends, stroke, 4.0, 3.0));
        }
        LegendMark::Area | LegendMark::Stripes | LegendMark::Hollow | LegendMark::Hatch => {
            let area = Rect::from_center_size(pos2(place.center().x, middle), vec2(14.0, 10.0));
            surface(painter, area, entry, palette);
            painter.rect_stroke(area, 1.0, Stroke::new(1.0, palette.line), StrokeKind::Inside);
        }
    }
}

/// Paint a surface with lines; `ground` gives the colour with a share of the ground.
fn lined(painter: &Painter, area: Rect, texture: BandTexture, ground: impl Fn(f32) -> Color32) {
    let Some([surface, lines]) = texture.lined() else { return };
    painter.rect_filled(area, 1.0, ground(surface));
    let every = BandTexture::LINE_EVERY as f32;
    let rows = (0..).map(|i| area.top() + 1.5 + every * i as f32).take_while(|&y| y < area.bottom());
    rows.for_each(|y| {
        painter.hline(area.x_range(), y, Stroke::new(1.0, ground(lines)));
    });
}

/// Paint a surface as the views paint it.
fn surface(painter: &Painter, area: Rect, entry: &LegendEntry, palette: &Palette) {
    let painter = painter.with_clip_rect(area.intersect(painter.clip_rect()));
    let ground = |share| Color32::from(entry.color.mix(palette.window, share));
    match entry.mark {
        LegendMark::Stripes => lined(&painter, area, BandTexture::Striped, ground),
        LegendMark::Hollow => lined(&painter, area, BandTexture::Hollow, ground),
        LegendMark::Hatch => {
            painter.rect_filled(area, 1.0, ground(0.93));
            let height = area.height();
            let columns =
                (0..).map(|i| area.left() - height + 4.0 * i as f32).take_while(|&x| x < area.right());
            columns.for_each(|x| {
                let ends = [pos2(x, area.bottom()), pos2(x + height, area.top())];
                painter.line_segment(ends, Stroke::new(1.0, ground(0.5)));
            });
        }
        _ => {
            painter.rect_filled(area, 1.0, ground(0.0));
        }
    }
}
