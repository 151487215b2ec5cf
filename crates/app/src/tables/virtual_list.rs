//! A list of any length in columns. Only the rows in sight are laid out.

use super::columns::{Column, Columns};
use super::scroll::{Extent, Reveal, Scroll};
use crate::texts;
use crate::theme;
use eframe::egui::{self, EventFilter, Id, Key, Modifiers, Rect, Sense, pos2, vec2};
use oomscope_draw::Palette;
use tr::tr;

/// Height of the header, in points.
const HEADER_PX: f32 = 26.0;

/// Height of a row, in points: a line of text with a little space.
const ROW_PX: f32 = 22.0;

/// Height in points of a list with so many rows.
pub(crate) fn height_px(rows: usize) -> f32 {
    HEADER_PX + rows as f32 * ROW_PX
}

/// Width of the scroll bar, in points.
const BAR_PX: f32 = 12.0;

/// Smallest length of the scroll bar's thumb, in points, so that the pointer can take hold of it.
const MIN_THUMB_PX: f32 = 28.0;

/// Seconds after the last move of the wheel or the scroll bar for which the list counts as being read.
const READING_S: f64 = 1.5;

/// Seconds for which the pointer rests before a row explains itself: else hints would flicker on the way.
const HINT_DELAY_S: f32 = 0.35;

/// The meaning of a cell's colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CellTone {
    #[default]
    Plain,
    /// Less important, or not known.
    Muted,
    /// Found by a search.
    Accent,
    /// About a request that could not be met.
    Oom,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableCell {
    pub(crate) text: String,
    pub(crate) tone: CellTone,
}

impl TableCell {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: CellTone::Plain }
    }

    pub(crate) fn muted(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: CellTone::Muted }
    }
}

/// The ways in which a row stands out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowLook {
    /// The cursor is at this row.
    pub(crate) is_current: bool,
    /// It belongs to the selection.
    pub(crate) is_selected: bool,
    /// The filter leaves it out.
    pub(crate) is_faded: bool,
}

/// The contents of a list.
pub(crate) trait ListRows {
    /// The number of rows.
    fn len(&self) -> usize;
    /// The text of a row in a column.
    fn cell(&self, row: usize, column: usize) -> TableCell;
    /// The ways in which a row stands out.
    fn look(&self, row: usize) -> RowLook;
    /// An explanation of a cell beyond its text.
    fn hint(&self, row: usize, column: usize) -> Option<String>;
}

/// The state of a list, kept between frames.
#[derive(Debug, Default)]
pub(crate) struct ListState {
    scroll: Scroll,
    reveal: Option<Reveal>,
    /// The time of the user's last scrolling, in seconds.
    scrolled_at: Option<f64>,
    /// The place of the thumb that the user dragged, as a share of the track.
    grabbed: f64,
}

impl ListState {
    /// Scroll to a row when the list is shown next.
    pub(crate) fn reveal(&mut self, reveal: Reveal) {
        self.reveal = Some(reveal);
    }

    /// True while the user scrolls, so that the list does not move by itself.
    pub(crate) fn is_being_read(&self, ui: &egui::Ui) -> bool {
        let now = ui.input(|input| input.time);
        self.scrolled_at.is_some_and(|at| now - at < READING_S)
    }
}

/// The actions of the user in a frame.
#[derive(Debug, Default)]
pub(crate) struct ListResponse {
    /// A row was clicked.
    pub(crate) clicked: Option<usize>,
    /// A row was clicked with the right button.
    pub(crate) pointed: Option<usize>,
    /// The header of a column was clicked.
    pub(crate) sort_by: Option<usize>,
    /// Rows to go by, from the up and down keys.
    pub(crate) step: i64,
}

/// A list, ready to be shown.
pub(crate) struct VirtualList<'a> {
    /// A name for screen readers, under which widths are stored, too.
    pub(crate) name: &'static str,
    pub(crate) columns: &'a [Column],
    /// The column that rows are ordered by, and true if the largest comes first; `None` if the order cannot
    /// be chosen.
    pub(crate) sorted: Option<(usize, bool)>,
}

/// True if a list has the keyboard, so that Home and End are its own.
pub(crate) fn has_focus(ctx: &egui::Context) -> bool {
    let list: Option<Id> = ctx.data(|data| data.get_temp(focused_list()));
    list.is_some() && ctx.memory(|memory| memory.focused()) == list
}

fn focused_list() -> Id {
    Id::unique("the list that has the keyboard")
}

impl VirtualList<'_> {
    /// Show the list in all room that is left.
    pub(crate) fn show(&self, ui: &mut egui::Ui, state: &mut ListState, rows: &dyn ListRows) -> ListResponse {
        let all = ui.available_rect_before_wrap();
        ui.allocate_rect(all, Sense::hover());
        let table = all.with_max_x(all.right() - BAR_PX);
        let extent = Extent {
            total: rows.len(),
            shown: f64::from((all.height() - HEADER_PX).max(0.0)) / f64::from(ROW_PX),
        };
        let id = ui.make_persistent_id(self.name);
        let mut answer = ListResponse { step: self.scroll(ui, id, all, extent, state), ..Default::default() };
        let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(table).id_salt(self.name));
        inside.style_mut().interaction.tooltip_delay = HINT_DELAY_S;
        egui::ScrollArea::horizontal().id_salt("columns").auto_shrink(false).show(&mut inside, |ui| {
            let columns = Columns::new(ui, self.name, self.columns, table.width());
            ui.set_min_size(vec2(columns.width(), table.height()));
            let origin = ui.min_rect().min;
            let header = Rect::from_min_size(origin, vec2(columns.width(), HEADER_PX));
            let body = Body { id, columns: &columns, rows };
            (answer.clicked, answer.pointed) = body.ui(ui, header, state.scroll);
            answer.sort_by = columns.header_ui(ui, header, self.sorted);
        });
        let track = Rect::from_min_max(pos2(table.right(), all.top() + HEADER_PX), all.max);
        self.bar_ui(ui, id, track, extent, state);
        answer
    }

    /// Apply the wheel, the keys, and a row that was asked for. Returns the steps of the arrow keys.
    fn scroll(&self, ui: &egui::Ui, id: Id, all: Rect, extent: Extent, state: &mut ListState) -> i64 {
        let response = ui.interact(all, id, Sense::FOCUSABLE);
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Table, true, texts::translated(self.name)));
        // The list may have become shorter since the last frame.
        let mut scroll = state.scroll.within(extent);
        let mut step = 0;
        if ui.rect_contains_pointer(all) {
            let moved = ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta.y));
            scroll = scroll.by(-f64::from(moved) / f64::from(ROW_PX), extent);
        }
        if response.has_focus() {
            let all_arrows =
                EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, all_arrows));
            ui.data_mut(|data| data.insert_temp(focused_list(), id));
            let pressed = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
            step = pressed(Key::ArrowDown) as i64 - pressed(Key::ArrowUp) as i64;
            // A page keeps one row in sight, so that the reader finds the place.
            let pages = pressed(Key::PageDown) as f64 - pressed(Key::PageUp) as f64;
            scroll = scroll.by(pages * (extent.shown.floor() - 1.0).max(1.0), extent);
            if 0 < pressed(Key::Home) {
                scroll = Scroll::default();
            }
            if 0 < pressed(Key::End) {
                scroll = Scroll::END.within(extent);
            }
        }
        if scroll != state.scroll.within(extent) {
            state.scrolled_at = Some(ui.input(|input| input.time));
        }
        state.scroll = match state.reveal.take() {
            Some(reveal) => scroll.revealing(reveal, extent),
            None => scroll,
        };
        step
    }

    fn bar_ui(&self, ui: &egui::Ui, id: Id, track: Rect, extent: Extent, state: &mut ListState) {
        if extent.fits() || track.height() < MIN_THUMB_PX {
            return;
        }
        let response = ui.interact(track, id.with("bar"), Sense::DRAG);
        let name = texts::translated(self.name);
        let name = tr!("Scroll {}", name);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ScrollBar, true, &name));
        let min_length = f64::from(MIN_THUMB_PX / track.height());
        let (start, length) = state.scroll.thumb(extent, min_length);
        if let Some(pointer) = response.interact_pointer_pos() {
            let at = f64::from((pointer.y - track.top()) / track.height());
            if response.drag_started() {
                // With a click outside of the thumb, its middle jumps to the pointer.
                let is_on_thumb = (start..=start + length).contains(&at);
                state.grabbed = if is_on_thumb { at - start } else { length / 2.0 };
            }
            state.scroll = Scroll::of_thumb(at - state.grabbed, length, extent);
            state.scrolled_at = Some(ui.input(|input| input.time));
        }
        let (start, length) = state.scroll.thumb(extent, min_length);
        let palette = theme::palette(ui);
        let is_active = response.hovered() || response.dragged();
        let y = |share: f64| track.top() + share as f32 * track.height();
        let thumb =
            Rect::from_x_y_ranges(track.left() + 3.0..=track.right() - 2.0, y(start)..=y(start + length));
        let colour = palette.muted.mix(palette.panel, if is_active { 0.2 } else { 0.6 });
        ui.painter().rect_filled(thumb, 3.0, theme::color(colour));
    }
}

/// The part of a list below the header.
struct Body<'a> {
    /// The list's.
    id: Id,
    columns: &'a Columns<'a>,
    rows: &'a dyn ListRows,
}

impl Body<'_> {
    /// The rows in sight. Returns the one that was clicked, and that with the right button.
    fn ui(&self, ui: &mut egui::Ui, header: Rect, scroll: Scroll) -> (Option<usize>, Option<usize>) {
        let clip = ui.clip_rect().intersect(ui.max_rect().with_min_y(header.bottom()));
        let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(ui.max_rect()));
        inside.set_clip_rect(clip);
        let (first, hidden) = scroll.first();
        let mut top = header.bottom() - hidden as f32 * ROW_PX;
        let (mut clicked, mut pointed) = (None, None);
        for row in first..self.rows.len() {
            if clip.bottom() <= top {
                break;
            }
            let rect = Rect::from_min_size(pos2(header.left(), top), vec2(self.columns.width(), ROW_PX));
            let response = self.row_ui(&inside, rect, row);
            if response.secondary_clicked() {
                pointed = Some(row);
            }
            if response.clicked() {
                clicked = Some(row);
                ui.memory_mut(|memory| memory.request_focus(self.id));
            }
            top += ROW_PX;
        }
        (clicked, pointed)
    }

    fn row_ui(&self, ui: &egui::Ui, rect: Rect, row: usize) -> egui::Response {
        let Self { columns, rows, .. } = self;
        let response = ui.interact(rect, self.id.with(row), Sense::CLICK);
        let cells: Vec<TableCell> = (0..columns.len()).map(|column| rows.cell(row, column)).collect();
        let (look, palette) = (rows.look(row), theme::palette(ui));
        response.widget_info(|| {
            let texts = cells.iter().map(|cell| cell.text.as_str()).filter(|text| !text.is_empty());
            let texts: Vec<&str> = texts.collect();
            let is_marked = look.is_current || look.is_selected;
            egui::WidgetInfo::selected(egui::Role::Row, true, is_marked, texts.join(", "))
        });
        ground(ui, rect, look, response.hovered(), palette);
        for (column, cell) in cells.into_iter().enumerate() {
            let colour = match cell.tone {
                // Rows that the filter leaves out are there, and do not disturb.
                _ if look.is_faded => palette.muted,
                CellTone::Plain => palette.text,
                CellTone::Muted => palette.muted,
                CellTone::Accent => palette.accent,
                CellTone::Oom => palette.oom,
            };
            columns.text(ui, column, rect, cell.text, theme::color(colour));
        }
        let pointed = response.hover_pos().and_then(|pointer| columns.at(pointer.x - rect.left()));
        match pointed.and_then(|column| rows.hint(row, column)) {
            Some(hint) => response.on_hover_text_at_pointer(hint),
            None => response,
        }
    }
}

/// The ground of a row: the cursor has the colours that it has in the timeline, the selection the accent.
fn ground(ui: &egui::Ui, rect: Rect, look: RowLook, is_hovered: bool, palette: &Palette) {
    let painter = ui.painter();
    let fill = match look {
        RowLook { is_selected: true, .. } => Some(palette.selected_row()),
        RowLook { is_current: true, .. } => Some(palette.current_row()),
        _ if is_hovered => Some(palette.hovered_row()),
        _ => None,
    };
    if let Some(fill) = fill {
        painter.rect_filled(rect, 0.0, theme::color(fill));
    }
    let edge = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
    if look.is_current {
        painter.rect_filled(edge, 0.0, theme::color(palette.text));
    } else if look.is_selected {
        painter.rect_filled(edge, 0.0, theme::color(palette.accent));
    }
}

#[cfg(test)]
#[path = "virtual_list_tests.rs"]
mod tests;
