//! The colours of categories.

use super::palette::{Palette, Rgb};
use crate::analysis::Category;

impl Palette {
    /// The colour of a category, which is the same in every file.
    pub fn category(&self, category: Category) -> Rgb {
        const COMM: Rgb = Rgb(0xd9, 0x8c, 0x5f);
        match category {
            Category::Parameter => self.class(0),
            Category::Activation => self.class(1),
            Category::OptimizerState => self.class(2),
            Category::KvCache => self.class(3),
            Category::GraphPool => self.class(4),
            Category::Gradient => self.class(5),
            Category::Input => self.class(6),
            Category::Temporary => self.class(7),
            Category::Comm => COMM,
            Category::Other => self.muted,
            Category::Unknown => self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_categories_look_the_same() {
        for palette in [&Palette::DARK, &Palette::LIGHT] {
            for (i, a) in Category::ALL.into_iter().enumerate() {
                for b in Category::ALL.into_iter().skip(i + 1) {
                    assert_ne!(palette.category(a), palette.category(b), "{a:?} {b:?}");
                }
            }
        }
    }
}
