//! Pictures as elements of a page: each in both themes and for two widths, of which a browser shows one.

use super::markup::Html;
use super::parts::{Drawing, Picture};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The pages that have narrow drawings: those that are too narrow for words of wide ones.
pub(super) const NARROW: &str = "(max-width: 40rem)";

impl Html {
    /// A picture below its title.
    pub(crate) fn picture(&mut self, picture: &Picture) {
        self.element("<h2>", &picture.title, "</h2>\n<figure>");
        self.drawings(picture, &picture.title);
        self.markup("</figure>\n");
    }

    /// A picture, in the theme and for the width of the page. Paper is white and wide.
    pub(super) fn drawings(&mut self, picture: &Picture, description: &str) {
        let Picture { wide, narrow, .. } = picture;
        let dark = "(prefers-color-scheme: dark)";
        self.markup("<picture>");
        self.source(&format!("screen and {NARROW} and {dark}"), narrow, &narrow.dark);
        self.source(&format!("screen and {NARROW}"), narrow, &narrow.light);
        self.source(&format!("screen and {dark}"), wide, &wide.dark);
        self.element("<img src=\"", &data_url(&wide.light), "\"");
        self.size(wide);
        self.element(" alt=\"", description, "\"></picture>");
    }

    fn source(&mut self, media: &str, drawing: &Drawing, png: &[u8]) {
        self.element("<source media=\"", media, "\"");
        self.element(" srcset=\"", &data_url(png), "\"");
        self.size(drawing);
        self.markup(">");
    }

    /// The size of a drawing, so that nothing moves when it comes.
    fn size(&mut self, Drawing { size: [width, height], .. }: &Drawing) {
        self.computed(&format!(" width=\"{width}\" height=\"{height}\""));
    }
}

fn data_url(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}
