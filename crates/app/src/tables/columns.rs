//! The columns of a list: widths that the user drags, and the header.

use crate::texts;
use crate::theme;
use eframe::egui::{self, Align, Color32, CursorIcon, FontId, Id, Rangef, Rect, Sense, Stroke, pos2};
use tr::tr;

/// Space on each side of a cell's text, in points.
const PADDING_PX: f32 = 8.0;

/// Smallest width of a column, in points, so that the user can still take hold of it.
const MIN_WIDTH_PX: f32 = 36.0;

/// Width of the area between two headers that can be dragged, in points: wider than the line that shows it.
const GRIP_PX: f32 = 7.0;

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Its meaning.
    pub(crate) hint: &'static str,
    /// Width in points until the user changes it. The last column is at least this wide and fills the rest.
    pub(crate) width_px: f32,
    /// At the right for figures.
    pub(crate) align: Align,
    pub(crate) is_monospace: bool,
}

impl Column {
    /// A column of text.
    pub(crate) const fn text(name: &'static str, hint: &'static str, width_px: f32) -> Self {
        Self { name, hint, width_px, align: Align::Min, is_monospace: false }
    }

    /// A column of figures.
    pub(crate) const fn figure(name: &'static str, hint: &'static str, width_px: f32) -> Self {
        Self { align: Align::Max, ..Self::text(name, hint, width_px) }
    }

    /// A column of code, such as addresses.
    pub(crate) const fn code(name: &'static str, hint: &'static str, width_px: f32) -> Self {
        Self { is_monospace: true, ..Self::text(name, hint, width_px) }
    }

    fn font(&self) -> FontId {
        if self.is_monospace { FontId::monospace(11.5) } else { FontId::proportional(12.0) }
    }
}

/// The columns with their widths in this frame.
pub(crate) struct Columns<'a> {
    all: &'a [Column],
    /// The end of each column in points from the left edge of the list.
    ends: Vec<f32>,
    /// The widths are stored under this name, also when the window is closed.
    id: Id,
}

impl<'a> Columns<'a> {
    /// The columns of a list that is `room` points wide.
    pub(crate) fn new(ui: &egui::Ui, list: &str, columns: &'a [Column], room: f32) -> Self {
        let id = Id::unique(("widths of columns", list));
        let known: Option<Vec<f32>> = ui.data_mut(|data| data.get_persisted(id));
        let known = known.filter(|widths| widths.len() == columns.len());
        let mut widths = known.unwrap_or_else(|| columns.iter().map(|column| column.width_px).collect());
        if let Some(last) = widths.pop() {
            widths.push(last.max(room - widths.iter().sum::<f32>()));
        }
        let mut end = 0.0;
        let ends = widths.iter().map(|width| {
            end += width;
            end
        });
        let ends: Vec<f32> = ends.collect();
        debug_assert_eq!(ends.len(), columns.len());
        Self { all: columns, ends, id }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The width of all columns together.
    pub(crate) fn width(&self) -> f32 {
        self.ends.last().copied().unwrap_or(0.0)
    }

    /// The column at a distance from the left edge.
    pub(crate) fn at(&self, x: f32) -> Option<usize> {
        let column = self.ends.partition_point(|&end| end <= x);
        (0.0 <= x && column < self.len()).then_some(column)
    }

    fn span(&self, column: usize) -> Rangef {
        let start = column.checked_sub(1).map_or(0.0, |before| self.ends[before]);
        Rangef::new(start, self.ends[column])
    }

    fn cell(&self, column: usize, row: Rect) -> Rect {
        let span = self.span(column);
        Rect::from_x_y_ranges(row.left() + span.min..=row.left() + span.max, row.y_range())
    }

    /// The text of a cell, cut with `…` if it is too long.
    pub(crate) fn text(&self, ui: &egui::Ui, column: usize, row: Rect, text: String, colour: Color32) {
        let cell = self.cell(column, row).shrink2(egui::vec2(PADDING_PX, 0.0));
        put(ui, cell, text, self.all[column].font(), colour, self.all[column].align);
    }

    /// The header. Returns the column that was clicked.
    pub(crate) fn header_ui(
        &self,
        ui: &egui::Ui,
        rect: Rect,
        sorted: Option<(usize, bool)>,
    ) -> Option<usize> {
        let palette = theme::palette(ui);
        ui.painter().rect_filled(rect, 0.0, theme::color(palette.panel));
        let line = Stroke::new(1.0, theme::color(palette.line));
        ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, line);
        let mut clicked = None;
        for (i, column) in self.all.iter().enumerate() {
            let cell = self.cell(i, rect);
            if self.title_ui(ui, i, column, cell, sorted) {
                clicked = Some(i);
            }
        }
        for i in 0..self.len().saturating_sub(1) {
            self.grip_ui(ui, i, rect);
        }
        clicked
    }

    /// The name of a column; true if it was clicked.
    fn title_ui(
        &self,
        ui: &egui::Ui,
        i: usize,
        column: &Column,
        cell: Rect,
        sorted: Option<(usize, bool)>,
    ) -> bool {
        let palette = theme::palette(ui);
        let sense = if sorted.is_some() { Sense::click() } else { Sense::hover() };
        let response = ui
            .interact(cell, self.id.with(("title", i)), sense)
            .on_hover_text(texts::translated(column.hint));
        let is_sorted = sorted.filter(|&(by, _)| by == i);
        let name = texts::translated(column.name);
        if sorted.is_some() {
            let spoken = tr!("Sort by {}", name);
            response.widget_info(|| {
                egui::WidgetInfo::selected(egui::Role::Button, true, is_sorted.is_some(), &spoken)
            });
        }
        let is_strong =
            is_sorted.is_some() || (sorted.is_some() && (response.hovered() || response.has_focus()));
        let colour = theme::color(if is_strong { palette.text } else { palette.muted });
        let room = cell.shrink2(egui::vec2(PADDING_PX, 0.0));
        let text = put(ui, room, name, FontId::proportional(11.5), colour, column.align);
        if let Some((_, is_descending)) = is_sorted {
            let x = if column.align == Align::Max { text.left() - 7.0 } else { text.right() + 7.0 };
            triangle(ui, pos2(x, cell.center().y), is_descending, colour);
        }
        response.clicked()
    }

    /// The area that changes the width of a column when it is dragged. A double click restores the width.
    fn grip_ui(&self, ui: &egui::Ui, i: usize, header: Rect) {
        let x = header.left() + self.ends[i];
        let rect = Rect::from_x_y_ranges(x - GRIP_PX / 2.0..=x + GRIP_PX / 2.0, header.y_range());
        let response = ui.interact(rect, self.id.with(("grip", i)), Sense::CLICK | Sense::DRAG);
        let name = texts::translated(self.all[i].name);
        let name = tr!("Width of {}", name);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, &name));
        let is_active = response.hovered() || response.dragged();
        let palette = theme::palette(ui);
        let colour = theme::color(if is_active { palette.accent } else { palette.line });
        ui.painter().vline(x, header.shrink2(egui::vec2(0.0, 6.0)).y_range(), Stroke::new(1.0, colour));
        if is_active {
            ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        let width = match response.interact_pointer_pos() {
            _ if response.double_clicked() => self.all[i].width_px,
            Some(pointer) if response.dragged() => pointer.x - header.left() - self.span(i).min,
            _ => return,
        };
        let mut widths: Vec<f32> = (0..self.len()).map(|column| self.span(column).span()).collect();
        widths[i] = width.max(MIN_WIDTH_PX);
        // The last column fills the rest, which is not to be stored as its width.
        if let (Some(last), Some(column)) = (widths.last_mut(), self.all.last()) {
            *last = column.width_px;
        }
        ui.data_mut(|data| data.insert_persisted(self.id, widths));
    }
}

/// Text in the middle of a rectangle's height. Returns its place.
fn put(ui: &egui::Ui, cell: Rect, text: String, font: FontId, colour: Color32, align: Align) -> Rect {
    let mut job = egui::text::LayoutJob::simple_singleline(text, font, colour);
    job.wrap = egui::text::TextWrapping::truncate_at_width(cell.width().max(0.0));
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let x = if align == Align::Max { cell.right() - galley.size().x } else { cell.left() };
    let at = pos2(x, cell.center().y - galley.size().y / 2.0);
    let size = galley.size();
    ui.painter().galley(at, galley, colour);
    Rect::from_min_size(at, size)
}

/// A triangle that points down if the largest comes first.
fn triangle(ui: &egui::Ui, at: egui::Pos2, is_descending: bool, colour: Color32) {
    let tip = if is_descending { 2.5 } else { -2.5 };
    let points = vec![pos2(at.x - 3.5, at.y - tip), pos2(at.x + 3.5, at.y - tip), pos2(at.x, at.y + tip)];
    ui.painter().add(egui::Shape::convex_polygon(points, colour, Stroke::NONE));
}
