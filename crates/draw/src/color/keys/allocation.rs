//! By the allocation itself, so that it differs from its neighbours.

use super::key::{Colored, Key, KeyRow};
use super::stack::Hues;
use crate::color::color_by::ColorBy;
use crate::color::palette::{HUES, Palette, Rgb, nearest};
use std::sync::Arc;

pub(super) const KEY: KeyRow = KeyRow {
    by: ColorBy::Allocation,
    name: "allocation",
    of: |_, _, palette| Arc::new(ByAllocation { palette: *palette, hues: Hues::new(palette) }),
};

#[derive(Debug)]
struct ByAllocation {
    palette: Palette,
    hues: Hues,
}

impl Key for ByAllocation {
    fn class_count(&self) -> usize {
        HUES + 1
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        nearest(&self.hues.all, self.color(of))
    }

    fn class_color(&self, class: usize) -> Rgb {
        self.hues.color(class)
    }

    fn color(&self, of: &Colored<'_>) -> Rgb {
        self.palette.hashed(of.number())
    }

    fn label(&self, class: usize) -> Option<String> {
        Some(Hues::label(class).to_owned())
    }
}
