//! The list below the field: name, size and age of each entry. Only the rows in sight are laid out.

use super::folder::{Entry, EntryKind};
use crate::theme;
use eframe::egui::{self, Align2, Rect, Response, ScrollArea, Sense, TextWrapMode, pos2, vec2};
use oomscope_units as units;
use std::time::{SystemTime, UNIX_EPOCH};

/// Height of a row, in points: a line of text with a little space.
pub(super) const ROW_PX: f32 = 22.0;

/// Widths of the columns behind the name, in points: room for `1,023 MiB` and `12 months ago`.
const SIZE_PX: f32 = 84.0;
const AGE_PX: f32 = 104.0;

/// Space at both ends of a row, in points.
const INSET_PX: f32 = 8.0;

/// Seconds in the units in which ages are told, the longest first. A month has 30 days: ages are rough.
const AGES: [(u64, &str); 6] = [
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
    (1, "second"),
];

/// The entries to show.
pub(super) struct EntryList<'a> {
    pub(super) entries: &'a [Entry],
    /// Those that are shown, in their order.
    pub(super) found: &'a [usize],
    /// The row that Enter takes.
    pub(super) chosen: Option<usize>,
    /// That row was just chosen by a key, and is to be in sight.
    pub(super) reveals: bool,
}

impl EntryList<'_> {
    /// The list. Returns the row that was clicked.
    pub(super) fn ui(&self, ui: &mut egui::Ui, height_px: f32) -> Option<usize> {
        let mut clicked = None;
        if height_px <= 0.0 {
            return None;
        }
        let area =
            ScrollArea::vertical().auto_shrink(false).max_height(height_px).min_scrolled_height(height_px);
        area.show_viewport(ui, |ui, viewport| {
            ui.set_height(self.found.len() as f32 * ROW_PX);
            let all = ui.max_rect();
            let row = |at: usize| {
                let min = pos2(all.left(), all.top() + at as f32 * ROW_PX);
                Rect::from_min_size(min, vec2(all.width(), ROW_PX))
            };
            if let Some(chosen) = self.chosen.filter(|_| self.reveals) {
                ui.scroll_to_rect(row(chosen), None);
            }
            let first = (viewport.top() / ROW_PX).max(0.0) as usize;
            let last = ((viewport.bottom() / ROW_PX).max(0.0).ceil() as usize).min(self.found.len());
            for at in first..last {
                let Some(entry) = self.found.get(at).and_then(|&at| self.entries.get(at)) else { continue };
                if self.row_ui(ui, row(at), at, entry).clicked() {
                    clicked = Some(at);
                }
            }
        });
        clicked
    }

    fn row_ui(&self, ui: &mut egui::Ui, rect: Rect, at: usize, entry: &Entry) -> Response {
        // Keys reach rows from the field, so that Tab does not stop at each of thousands.
        let response = ui.interact(rect, ui.make_persistent_id(("entry", at)), Sense::CLICK | Sense::HOVER);
        let (palette, is_chosen) = (theme::palette(ui), self.chosen == Some(at));
        let name = shown_name(entry);
        response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_chosen, &name));
        let fill = match () {
            () if is_chosen => Some(ui.visuals().selection.bg_fill),
            () if response.hovered() => Some(theme::color(palette.panel.mix(palette.line, 0.6))),
            () => None,
        };
        if let Some(fill) = fill {
            ui.painter().rect_filled(rect, 3.0, fill);
        }
        let inner = rect.shrink2(vec2(INSET_PX, 0.0));
        let text = if entry.kind == EntryKind::Other { palette.muted } else { palette.text };
        cell(
            ui,
            inner.with_max_x(inner.right() - SIZE_PX - AGE_PX),
            Align2::LEFT_CENTER,
            &name,
            theme::color(text),
        );
        let second = theme::color(if is_chosen { palette.text } else { palette.muted });
        if let Some(size_bytes) = entry.size_bytes {
            let size = units::bytes(i64::try_from(size_bytes).unwrap_or(i64::MAX));
            cell(ui, inner.with_max_x(inner.right() - AGE_PX), Align2::RIGHT_CENTER, &size, second);
        }
        if let Some(modified) = entry.modified {
            cell(ui, inner, Align2::RIGHT_CENTER, &age(modified, SystemTime::now()), second);
        }
        response.on_hover_text_at_pointer(hint(entry))
    }
}

/// A name as the list shows it: folders end in a separator.
fn shown_name(entry: &Entry) -> String {
    match entry.kind {
        EntryKind::Folder => format!("{}{}", entry.name, std::path::MAIN_SEPARATOR),
        EntryKind::Snapshot | EntryKind::Other => entry.name.clone(),
    }
}

/// A text at one end of a cell, shortened with … where it is too long.
fn cell(ui: &egui::Ui, rect: Rect, align: Align2, text: &str, color: egui::Color32) {
    let text = egui::WidgetText::from(egui::RichText::new(text).color(color));
    let galley = text.into_galley(ui, Some(TextWrapMode::Truncate), rect.width(), egui::TextStyle::Body);
    let at = align.align_size_within_rect(galley.size(), rect);
    ui.painter().galley(at.min, galley, color);
}

fn hint(entry: &Entry) -> String {
    let mut lines = vec![units::printable(&entry.path.display().to_string())];
    lines.extend(entry.size_bytes.map(|size| units::bytes_exact(i64::try_from(size).unwrap_or(i64::MAX))));
    let since = entry.modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    let date = since.and_then(|since| i64::try_from(since.as_micros()).ok()).map(units::date_time_us);
    lines.extend(date.map(|date| format!("changed {date}")));
    lines.join("\n")
}

/// The time since a change, in the largest unit that fits: `3 hours ago`.
fn age(modified: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(modified).map_or(0, |since| since.as_secs());
    match AGES.iter().find(|(unit, _)| *unit <= seconds) {
        Some((unit, name)) => {
            let count = usize::try_from(seconds / unit).unwrap_or(usize::MAX);
            format!("{} ago", units::counted(count, name))
        }
        None => "now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let now = UNIX_EPOCH + Duration::from_hours(20_000_000);
        let told = |seconds| age(now - Duration::from_secs(seconds), now);
        assert_eq!(told(0), "now");
        assert_eq!(told(59), "59 seconds ago");
        assert_eq!(told(60), "1 minute ago");
        assert_eq!(told(7_300), "2 hours ago");
        assert_eq!(told(86_400 * 29), "29 days ago");
        assert_eq!(told(86_400 * 400), "1 year ago");
        assert_eq!(age(now + Duration::from_secs(5), now), "now", "clocks differ");
    }
}
