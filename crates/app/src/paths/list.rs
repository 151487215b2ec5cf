//! The list below the field: name, size and age of each entry. Only the rows in sight are laid out.

use super::completion::whole;
use super::folder::{Entry, EntryKind};
use crate::theme;
use eframe::egui::{self, Role, ScrollArea, Sense, WidgetInfo, vec2};
use oomscope_units as units;
use std::time::{SystemTime, UNIX_EPOCH};
use tr::tr;

/// Height of a row, in points: a button without a frame.
pub(super) const ROW_PX: f32 = 24.0;

/// The text of an age, from the number of its units.
type AgeText = fn(u64) -> String;

/// Seconds in the units in which ages are told, the longest first. A month has 30 days: ages are rough.
const AGES: [(u64, AgeText); 6] = [
    (365 * 86_400, |n| tr!("{} year ago" | "{} years ago" % n, units::count(n))),
    (30 * 86_400, |n| tr!("{} month ago" | "{} months ago" % n, units::count(n))),
    (86_400, |n| tr!("{} day ago" | "{} days ago" % n, units::count(n))),
    (3_600, |n| tr!("{} hour ago" | "{} hours ago" % n, units::count(n))),
    (60, |n| tr!("{} minute ago" | "{} minutes ago" % n, units::count(n))),
    (1, |n| tr!("{} second ago" | "{} seconds ago" % n, units::count(n))),
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
        if height_px <= 0.0 {
            return None;
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        let area =
            ScrollArea::vertical().auto_shrink(false).max_height(height_px).min_scrolled_height(height_px);
        let shown = area.show_rows(ui, ROW_PX, self.found.len(), |ui, rows| {
            if let Some(chosen) = self.chosen.filter(|_| self.reveals) {
                let top = ui.max_rect().top() + (chosen as f32 - rows.start as f32) * ROW_PX;
                ui.scroll_to_rect(ui.max_rect().with_min_y(top).with_max_y(top + ROW_PX), None);
            }
            rows.filter(|&at| self.row_ui(ui, at)).last()
        });
        shown.inner
    }

    /// A row. Whether it was clicked.
    fn row_ui(&self, ui: &mut egui::Ui, at: usize) -> bool {
        let Some(entry) = self.found.get(at).and_then(|&at| self.entries.get(at)) else { return false };
        let palette = theme::palette(ui);
        let color = if entry.kind == EntryKind::Other { palette.muted } else { palette.text };
        let size = entry.size_bytes.map(|size| units::bytes(i64::try_from(size).unwrap_or(i64::MAX)));
        let age = entry.modified.map(|modified| age(modified, SystemTime::now()));
        let about: Vec<String> = size.into_iter().chain(age).collect();
        // Keys reach rows from the field, so that Tab does not stop at each of thousands.
        let row = egui::Button::selectable(
            self.chosen == Some(at),
            egui::RichText::new(whole(entry)).color(theme::color(color)),
        )
        .right_text(theme::muted(ui, about.join(" · ")))
        .min_size(vec2(ui.available_width(), ROW_PX))
        .truncate()
        .sense(Sense::CLICK | Sense::HOVER);
        let row = ui.add(row);
        row.widget_info(|| WidgetInfo::selected(Role::Button, true, self.chosen == Some(at), whole(entry)));
        row.on_hover_text_at_pointer(hint(entry)).clicked()
    }
}

fn hint(entry: &Entry) -> String {
    let mut lines = vec![units::printable(&entry.path.display().to_string())];
    lines.extend(entry.size_bytes.map(|size| units::bytes_exact(i64::try_from(size).unwrap_or(i64::MAX))));
    let since = entry.modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    let date = since.and_then(|since| i64::try_from(since.as_micros()).ok()).map(units::date_time_us);
    lines.extend(date.map(|date| tr!("changed {date}", date)));
    lines.join("\n")
}

/// The time since a change, in the largest unit that fits: `3 hours ago`.
fn age(modified: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(modified).map_or(0, |since| since.as_secs());
    match AGES.iter().find(|(unit, _)| *unit <= seconds) {
        Some((unit, text)) => text(seconds / unit),
        None => tr!("now"),
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
