//! By category, once they are known.

use super::key::{Colored, Key, KeyRow};
use super::stack;
use crate::color::color_by::{ColorBy, ColorKey};
use crate::color::palette::{Palette, Rgb};
use oomscope_analysis::{Attribution, Basis, Category};
use oomscope_model::Timeline;
use std::sync::Arc;

/// Until categories are known, stacks give the colours.
pub(super) const KEY: KeyRow =
    KeyRow { by: ColorBy::Category, name: "category", of: |_, stacks, palette| stack::of(stacks, palette) };

/// The colours of categories. Each has two classes: what is seen, and what is inferred.
#[derive(Debug)]
pub(in crate::color) struct ByCategory {
    palette: Palette,
    attribution: Arc<Attribution>,
    present: Vec<Category>,
}

impl ByCategory {
    /// `None` if nothing has a category.
    pub(in crate::color) fn of(attribution: Arc<Attribution>, palette: &Palette) -> Option<Self> {
        let present = attribution.categories.present();
        (!present.is_empty()).then(|| Self { palette: *palette, attribution, present })
    }
}

impl Key for ByCategory {
    fn class_count(&self) -> usize {
        2 * Category::ALL.len()
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        // Reserved memory serves allocations of several categories.
        let Colored::Allocation(_, id) = *of else { return 2 * Category::Unknown as u8 };
        let verdict = self.attribution.categories.verdict(id);
        // Categories are declared in the order of `Category::ALL`.
        2 * verdict.category as u8 + u8::from(verdict.basis() == Basis::Inferred)
    }

    fn class_color(&self, class: usize) -> Rgb {
        let color = self.palette.category(category(class));
        if class.is_multiple_of(2) { color } else { self.palette.inferred(color) }
    }

    /// A shade of the class's colour by the stack, so that neighbours of different stacks mostly differ.
    fn color(&self, of: &Colored<'_>) -> Rgb {
        let color = self.class_color(self.class(of).into());
        // Fibonacci hashing: consecutive ids, which similar stacks have, get different shades.
        Palette::shade(color, of.stack().0.wrapping_mul(0x9E37_79B9) >> 24)
    }

    fn legend(&self, _timeline: &Timeline) -> Vec<ColorKey> {
        let key = |&category: &Category| ColorKey {
            label: category.label().to_owned(),
            color: self.palette.category(category),
            query: Some(format!("category:{}", category.key())),
        };
        let inferred = self.attribution.categories.has_inferred().then(|| ColorKey {
            label: "faded: inferred".to_owned(),
            color: self.palette.inferred(self.palette.muted),
            query: Some(format!("basis:{}", Basis::Inferred.key())),
        });
        self.present.iter().map(key).chain(inferred).collect()
    }

    fn label(&self, class: usize) -> Option<String> {
        let how = if class.is_multiple_of(2) { "" } else { ", inferred" };
        Some(format!("{}{how}", category(class).label()))
    }
}

fn category(class: usize) -> Category {
    Category::ALL.get(class / 2).copied().unwrap_or(Category::Unknown)
}

#[test]
fn categories_are_numbered_as_they_are_listed() {
    for (at, category) in Category::ALL.into_iter().enumerate() {
        assert_eq!(category as usize, at);
    }
}
