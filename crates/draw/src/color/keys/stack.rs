//! By the code that allocated: each stack has a colour, and classes are the hues that are nearest to them.

use super::key::{Colored, Key, KeyRow};
use crate::color::color_by::ColorBy;
use crate::color::palette::{BandColors, HUES, Palette, Rgb};
use std::sync::Arc;

pub(super) const KEY: KeyRow =
    KeyRow { by: ColorBy::Stack, name: "stack", of: |_, stacks, palette| of(stacks, palette) };

/// The colours of stacks, which also stand in where others are not known yet.
pub(super) fn of(stacks: &Arc<BandColors>, palette: &Palette) -> Arc<dyn Key> {
    Arc::new(ByStack { stacks: Arc::clone(stacks), hues: Hues::new(palette) })
}

#[derive(Debug)]
struct ByStack {
    stacks: Arc<BandColors>,
    hues: Hues,
}

impl Key for ByStack {
    fn class_count(&self) -> usize {
        HUES + 1
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        self.stacks.hue(of.stack())
    }

    fn class_color(&self, class: usize) -> Rgb {
        self.hues.color(class)
    }

    fn color(&self, of: &Colored<'_>) -> Rgb {
        self.stacks.get(of.stack())
    }

    fn label(&self, class: usize) -> Option<String> {
        Some(Hues::label(class).to_owned())
    }
}

/// What stands for the colours of stacks where each has too little room.
#[derive(Debug)]
pub(super) struct Hues {
    pub(super) all: [Rgb; HUES],
    unknown: Rgb,
}

impl Hues {
    pub(super) fn new(palette: &Palette) -> Self {
        Self { all: palette.hues(), unknown: palette.unknown }
    }

    pub(super) fn color(&self, class: usize) -> Rgb {
        self.all.get(class).copied().unwrap_or(self.unknown)
    }

    pub(super) fn label(class: usize) -> &'static str {
        if HUES <= class { "no stack" } else { "stacks of this colour" }
    }
}
