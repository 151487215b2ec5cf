//! Names of files as they are shown.

use eframe::egui::{self, TextStyle};
use oomscope_units as units;
use std::path::Path;

/// Stands for what is left out.
const GAP: char = '…';

/// The name without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    units::printable(&path.file_name().unwrap_or_default().to_string_lossy())
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> String {
    whole_path(path.parent().unwrap_or(Path::new("")))
}

/// The whole path.
pub(crate) fn whole_path(path: &Path) -> String {
    units::printable(&path.display().to_string())
}

/// The text if it fits into a width in points, else its start and its end.
pub(crate) fn elided(ui: &egui::Ui, text: &str, style: &TextStyle, width_px: f32) -> String {
    let font = style.resolve(ui.style());
    elided_by(text, |text| {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font.clone(), egui::Color32::PLACEHOLDER);
        galley.size().x <= width_px
    })
}

/// The longest that fits: the whole text, or as much of its start as of its end.
fn elided_by(text: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let keep = |count: usize| -> String {
        let (head, tail) = (count.div_ceil(2), count / 2);
        let (head, tail) = (&chars[..head], &chars[chars.len() - tail..]);
        head.iter().chain([&GAP]).chain(tail).collect()
    };
    // The most characters that fit, by halving.
    let (mut fitting, mut too_many) = (0, chars.len());
    while fitting + 1 < too_many {
        let middle = fitting.midpoint(too_many);
        if fits(&keep(middle)) { fitting = middle } else { too_many = middle }
    }
    keep(fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept() {
        let short = |text: &str, most: usize| elided_by(text, |text| text.chars().count() <= most);
        assert_eq!(short("run.pickle", 10), "run.pickle");
        assert_eq!(short("rank0_memory_snapshot.pickle", 11), "rank0…ickle");
        assert_eq!(short("日本語の名前.pickle", 6), "日本語…le");
        assert_eq!(short("abc", 0), "…");
        assert_eq!(short("", 0), "");
    }
}
