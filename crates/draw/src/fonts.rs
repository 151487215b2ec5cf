//! The fonts of the window and of pictures, so that both look the same on every machine.

use egui::{FontData, FontDefinitions, FontFamily};
use std::sync::Arc;

/// The font family of headings.
pub const SEMIBOLD: &str = "semibold";

/// The licences of the fonts: what each is for, and its text.
pub const LICENCES: [(&str, &str); 2] = [
    ("The font Inter", include_str!("../assets/fonts/Inter-OFL.txt")),
    ("The font JetBrains Mono", include_str!("../assets/fonts/JetBrainsMono-OFL.txt")),
];

/// Fonts for text, headings and code, with egui's own for glyphs that they lack.
pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let files: [(&str, &'static [u8]); 3] = [
        ("Inter", include_bytes!("../assets/fonts/Inter-Regular.otf")),
        (SEMIBOLD, include_bytes!("../assets/fonts/Inter-SemiBold.otf")),
        ("JetBrains Mono", include_bytes!("../assets/fonts/JetBrainsMono-Regular.ttf")),
    ];
    for (name, bytes) in files {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let fallback = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let with =
        |first: &[&str]| first.iter().map(|&name| name.to_owned()).chain(fallback.iter().cloned()).collect();
    fonts.families.insert(FontFamily::Proportional, with(&["Inter"]));
    fonts.families.insert(FontFamily::Monospace, with(&["JetBrains Mono", "Inter"]));
    fonts.families.insert(FontFamily::Name(SEMIBOLD.into()), with(&[SEMIBOLD, "Inter"]));
    fonts
}
