//! Text and marks on a segment map: headings, addresses, sizes of blocks, the scale.

use super::items::{Item, MapItems};
use super::{BAR_PX, HEADING_PX, Heading, Line, Piece, SegmentMapCanvas};
use crate::{Palette, Rgb, axis_font, fonts};
use egui::{Align2, Color32, FontFamily, FontId, Painter, Rangef, Rect, Stroke, pos2, vec2};
use oomscope_analysis::segment_state::{Content, Figures, GroupKey, Part};
use oomscope_model::AllocId;
use oomscope_units as units;

/// Blocks and holes have their size from this width on: `512 B` fits.
const MIN_LABELLED_PX: f32 = 46.0;

/// Largest number of labels in a picture: laying out text is the slow part of a frame.
const MAX_LABELS: usize = 400;

/// Where labels get their colours and words from.
#[derive(Clone, Copy)]
pub struct LabelLooks<'a> {
    /// The colour of a block whose allocation is known, on which its label stands.
    pub color: &'a dyn Fn(AllocId) -> Rgb,
    /// What is added to the label of a block if there is room for it.
    pub note: &'a dyn Fn(&Part) -> Option<String>,
}

/// The name of a group: `Large pool · stream 0`.
pub fn group_text(key: &GroupKey) -> String {
    if key.is_outside {
        return "Blocks outside of any segment".to_owned();
    }
    let text = key.to_string();
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}", first.to_uppercase())
}

/// The figures of a group, most important first.
fn figures_text(figures: &Figures, is_outside: bool) -> Vec<String> {
    if is_outside {
        return vec![format!(
            "{} in {}",
            units::bytes(figures.active_rounded_bytes()),
            units::counted(figures.blocks, "block")
        )];
    }
    let mut texts = vec![
        format!("{} reserved", units::bytes(figures.reserved_bytes)),
        format!("{} in use", units::percent(figures.active_rounded_bytes(), figures.reserved_bytes)),
    ];
    match figures.holes {
        0 => texts.push("no hole".to_owned()),
        1 => texts.push(format!("one hole of {}", units::bytes(figures.hole_bytes))),
        n => texts.push(format!(
            "{} in {} holes, the largest {}",
            units::bytes(figures.hole_bytes),
            units::count(n as u64),
            units::bytes(figures.largest_hole_bytes)
        )),
    }
    texts
}

impl SegmentMapCanvas<'_> {
    /// Paint the headings of groups. Their text ends before `taken`, where something else is written.
    pub fn headings(&self, taken: Rect) {
        let text = Color32::from(self.palette.text);
        let muted = Color32::from(self.palette.muted);
        let painter = self.painter.with_clip_rect(self.whole().intersect(self.painter.clip_rect()));
        for heading in &self.layout.headings {
            let y = self.zoom.y_on_screen(heading.y_px, self.rect.top());
            if y + HEADING_PX < self.rect.top() || self.rect.bottom() < y {
                continue;
            }
            let (name, figures, is_outside) = match heading.group.map(|group| &self.state.groups[group]) {
                Some(group) => (group_text(&group.key), &group.figures, group.key.is_outside),
                None => ("All segments".to_owned(), &self.state.total, false),
            };
            let Some((left, height)) = self.heading_place(heading) else { continue };
            let name_font = FontId::new(11.5, FontFamily::Name(fonts::SEMIBOLD.into()));
            let name = painter.layout_no_wrap(name, name_font, text);
            let base = pos2(left, y + height - 6.0 - name.size().y);
            let mut x = base.x + name.size().x + 12.0;
            painter.galley(base, name, text);
            for figure in figures_text(figures, is_outside) {
                let galley = painter.layout_no_wrap(figure, axis_font(), muted);
                let is_beside = taken.y_range().intersects(Rangef::new(y, y + HEADING_PX));
                let right = if is_beside { taken.left() - 12.0 } else { self.rect.right() };
                if right < x + galley.size().x {
                    break;
                }
                let width = galley.size().x;
                painter.galley(pos2(x, base.y + 0.5), galley, muted);
                x += width + 14.0;
            }
        }
    }

    /// The left edge of a heading and its height; `None` if blocks are in its way.
    fn heading_place(&self, heading: &Heading) -> Option<(f32, f32)> {
        let Some(line) = heading.behind else { return Some((self.gutter.left(), HEADING_PX)) };
        let line = self.layout.lines.get(line)?;
        let last = self.layout.pieces.get(line.pieces.end.checked_sub(1)?)?;
        let end = self.zoom.x_of(self.layout, last, last.past_end).clamp(-1e5, 1e5) as f32;
        // Text of a line of blocks stands a little lower than that of a heading.
        (end < self.rect.width()).then_some((self.rect.left() + end.max(-12.0) + 12.0, BAR_PX + 4.0))
    }

    /// Paint the addresses at which the lines start, to the left of the map.
    pub fn addresses(&self) {
        if self.gutter.width() < 1.0 {
            return;
        }
        let muted = Color32::from(self.palette.muted);
        let painter = self.painter.with_clip_rect(self.whole().intersect(self.painter.clip_rect()));
        let visible = self.layout.lines_between(self.zoom.y_px, self.zoom.y_px + self.rect.height());
        for line in &self.layout.lines[visible] {
            let Some(addr) = self.first_address(line) else { continue };
            let y = self.zoom.y_on_screen(line.y_px, self.rect.top()) + BAR_PX / 2.0;
            let at = pos2(self.gutter.left(), y);
            let font = FontId::monospace(10.5);
            painter.text(at, Align2::LEFT_CENTER, units::address(addr), font, muted);
        }
    }

    /// The address at the left edge of a line, or that of the next piece if the edge is in a gap.
    fn first_address(&self, line: &Line) -> Option<u64> {
        let pieces = self.layout.pieces.get(line.pieces.clone())?;
        let ends_before = |piece: &Piece| self.zoom.x_of(self.layout, piece, piece.past_end) <= 0.0;
        let piece = pieces.get(pieces.partition_point(ends_before))?;
        let hidden_px = -self.zoom.x_of(self.layout, piece, piece.addr);
        // Less than the piece, whose end is in sight.
        let hidden = (hidden_px.max(0.0) * self.zoom.bytes_per_px(self.layout)).round() as u64;
        Some(piece.addr.saturating_add(hidden))
    }

    /// Paint the sizes of blocks and holes that are wide enough.
    pub fn labels(&self, items: &MapItems, scale: f32, looks: &LabelLooks<'_>) {
        let width = |item: &Item| item.x.end.min(items.size_px[0]) - item.x.start.max(0);
        let wide = items.items.iter().filter(|item| MIN_LABELLED_PX * scale <= width(item) as f32);
        // A part that is broken over several lines has one label, where it is widest.
        let mut widest: Vec<&Item> = Vec::new();
        for item in wide {
            match widest.last_mut().filter(|last| last.part == item.part) {
                Some(last) if width(last) < width(item) => *last = item,
                Some(_) => {}
                None => widest.push(item),
            }
        }
        let painter = self.painter.with_clip_rect(self.rect.intersect(self.painter.clip_rect()));
        for item in widest.into_iter().take(MAX_LABELS) {
            let bar = &items.bars[item.bar];
            let part = &self.state.parts[item.part];
            // Rounding has another colour, on which the ink may not be read.
            let x = [item.x.start, item.rounding_from].map(|x| self.rect.left() + x as f32 / scale);
            let x = [x[0].max(self.rect.left()), x[1].min(self.rect.right())];
            let y = self.rect.top() + (bar.y.start as f32 / scale);
            let place = Rect::from_min_max(pos2(x[0], y), pos2(x[1], y + BAR_PX));
            self.label(&painter, part, place, looks);
        }
    }

    /// The ground and the ink of a part's label; `None` for addresses that nothing is mapped to.
    fn label_colors(&self, part: &Part, color: &dyn Fn(AllocId) -> Rgb) -> Option<[Rgb; 2]> {
        let palette = self.palette;
        match part.content {
            Content::Unmapped => None,
            Content::Hole => Some([palette.free(), palette.muted]),
            Content::Awaiting(_) => Some([palette.window, palette.text]),
            Content::Allocated(id) => {
                let fill = id.map_or(palette.unknown, color);
                Some([fill, Palette::text_on(fill)])
            }
        }
    }

    fn label(&self, painter: &Painter, part: &Part, place: Rect, looks: &LabelLooks<'_>) {
        let room = place.width() - 10.0;
        let Some([ground, ink]) = self.label_colors(part, looks.color) else { return };
        let layout = |text: String| painter.layout_no_wrap(text, axis_font(), ink.into());
        let size = layout(match part.content {
            Content::Hole => format!("{} free", units::bytes(part.size)),
            _ => units::bytes(part.requested),
        });
        if room < size.size().x {
            return;
        }
        let at = |x: f32, galley: &egui::Galley| pos2(x, place.center().y - galley.size().y / 2.0);
        let start = place.left() + 5.0;
        let after = start + size.size().x + 8.0;
        let is_plain = matches!(part.content, Content::Allocated(_));
        // Stripes and hatching go on behind the text, so that it needs a ground.
        if !is_plain {
            let place = Rect::from_min_size(at(start, &size), size.size()).expand2(vec2(3.0, 0.0));
            painter.rect_filled(place, 2.0, Color32::from(ground));
        }
        painter.galley(at(start, &size), size, ink.into());
        let note = || is_plain.then(|| (looks.note)(part)).flatten();
        if let Some(text) = (60.0 < place.right() - after).then(note).flatten() {
            let galley = layout(text);
            if after + galley.size().x < place.right() - 5.0 {
                painter.galley(at(after, &galley), galley, ink.into());
            }
        }
    }

    /// The map and the addresses beside it.
    fn whole(&self) -> Rect {
        self.rect.union(self.gutter)
    }
}

/// Paint a scale bar of a round number of bytes in the top right corner of a map. Returns the place that it
/// takes.
pub fn scale_bar(painter: &Painter, map: Rect, bytes_per_px: f64, palette: &Palette) -> Rect {
    /// The longest bar, in points; the shortest is half as long.
    const MOST_PX: f64 = 110.0;
    let bytes = (MOST_PX * bytes_per_px).max(1.0).log2().floor().exp2();
    let width = (bytes / bytes_per_px) as f32;
    let muted = Color32::from(palette.muted);
    let galley = painter.layout_no_wrap(units::bytes_short(bytes as i64), axis_font(), muted);
    let (right, y) = (map.right() - 1.0, map.top() + HEADING_PX / 2.0);
    let label_left = right - width - 7.0 - galley.size().x;
    let place = Rect::from_min_max(pos2(label_left, map.top()), pos2(right, map.top() + HEADING_PX));
    painter.rect_filled(place.expand2(vec2(6.0, 0.0)), 0.0, Color32::from(palette.panel));
    let stroke = Stroke::new(1.0, muted);
    painter.hline(right - width..=right, y, stroke);
    for end in [right - width, right] {
        painter.vline(end, y - 4.0..=y + 4.0, stroke);
    }
    painter.galley(pos2(label_left, y - galley.size().y / 2.0), galley, muted);
    place
}
