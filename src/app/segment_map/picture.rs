//! What the segment map keeps from frame to frame: the scale, the layout and the picture.

use super::maps::Answer;
use crate::analysis::filter::Matches;
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::draw::segment_map::{Grouping, Items, Layout, Order, Picture, Sheet, Surface, Zoom, picture};
use crate::draw::{Coloring, Palette, Rgb};
use crate::model::{AllocId, StackId};
use eframe::egui::{self, TextureHandle, TextureOptions, Vec2};
use std::sync::Arc;

/// Share of its colour that a block loses which the filter leaves out.
const FADED_SHARE: f32 = 0.75;

/// Share of the accent in blocks with the selected stack.
const STACK_SHARE: f32 = 0.45;

/// How rows are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) struct Arrangement {
    pub(in crate::app) grouping: Grouping,
    pub(in crate::app) order: Order,
}

/// What was computed last.
#[derive(Default)]
pub(in crate::app) struct Cache {
    /// The size that the scale was chosen for, and the scale.
    scale: Option<(ScaleKey, f64)>,
    layout: Option<(Arc<Answer>, Arc<Layout>)>,
    drawn: Option<Drawn>,
}

type ScaleKey = (usize, Vec2, Arrangement);

/// A picture, and what it shows.
pub(in crate::app) struct Drawn {
    key: Key,
    pub(in crate::app) items: Items,
    pub(in crate::app) picture: Picture,
    pub(in crate::app) texture: Option<TextureHandle>,
}

/// What is to be shown of a map.
pub(in crate::app) struct Shot<'a> {
    pub(in crate::app) answer: &'a Arc<Answer>,
    pub(in crate::app) layout: &'a Arc<Layout>,
    pub(in crate::app) zoom: Zoom,
    pub(in crate::app) surface: Surface,
    pub(in crate::app) palette: &'a Palette,
}

/// What a picture depends on.
#[derive(Clone)]
struct Key {
    answer: Arc<Answer>,
    layout: Arc<Layout>,
    zoom: Zoom,
    surface: Surface,
    coloring: Arc<Coloring>,
    matches: Option<Arc<Matches>>,
    stack: Option<StackId>,
    is_dark: bool,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let values = |key: &Self| (key.zoom, key.surface, key.stack, key.is_dark);
        let matches = match (&self.matches, &other.matches) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        matches
            && values(self) == values(other)
            && Arc::ptr_eq(&self.answer, &other.answer)
            && Arc::ptr_eq(&self.layout, &other.layout)
            && Arc::ptr_eq(&self.coloring, &other.coloring)
    }
}

impl Cache {
    /// Where the rows of a map go. The scale depends on the size and on the file, not on the moment,
    /// so that nothing grows or shrinks while one scrubs.
    pub(in crate::app) fn layout(
        &mut self,
        answer: &Arc<Answer>,
        arrangement: Arrangement,
        size: Vec2,
    ) -> Arc<Layout> {
        let Arrangement { grouping, order } = arrangement;
        let key = (Arc::as_ptr(&answer.common) as usize, size, arrangement);
        let sheet = Sheet { width_px: size.x, bytes_per_px: 1.0, grouping, order };
        let known = self.scale.filter(|(known, _)| *known == key);
        let fit = || (key, Layout::fit(&answer.common.fullest, sheet, size.y));
        let (_, bytes_per_px) = *self.scale.insert(known.unwrap_or_else(fit));
        let sheet = Sheet { bytes_per_px, ..sheet };
        let is_known =
            |known: &(Arc<Answer>, Arc<Layout>)| Arc::ptr_eq(&known.0, answer) && known.1.sheet == sheet;
        let known = self.layout.take().filter(is_known);
        let new = || (Arc::clone(answer), Arc::new(Layout::new(&answer.state, sheet)));
        Arc::clone(&self.layout.insert(known.unwrap_or_else(new)).1)
    }

    /// Where rows were put last, and how high the panel was.
    pub(in crate::app) fn shown(&self) -> Option<(&Layout, f32)> {
        let ((_, size, _), _) = self.scale?;
        self.layout.as_ref().map(|(_, layout)| (layout.as_ref(), size.y))
    }

    #[cfg(test)]
    pub(in crate::app) fn last_layout(&self) -> Option<&Layout> {
        self.layout.as_ref().map(|(_, layout)| layout.as_ref())
    }

    /// The picture of what is visible.
    pub(in crate::app) fn drawn(
        &mut self,
        ctx: &egui::Context,
        device: &mut DeviceState,
        shot: &Shot<'_>,
    ) -> &Drawn {
        let Shot { answer, layout, zoom, surface, palette } = *shot;
        let key = Key {
            answer: Arc::clone(answer),
            layout: Arc::clone(layout),
            zoom,
            surface,
            coloring: device.coloring(palette),
            matches: device.matches().cloned(),
            stack: match device.selection() {
                Selection::Stack(stack) => Some(stack),
                _ => None,
            },
            is_dark: palette.is_dark,
        };
        let known = self.drawn.take();
        let drawn = match known {
            Some(known) if known.key == key => known,
            known => draw(ctx, device, palette, key, known.and_then(|known| known.texture)),
        };
        self.drawn.insert(drawn)
    }
}

fn draw(
    ctx: &egui::Context,
    device: &DeviceState,
    palette: &Palette,
    key: Key,
    texture: Option<TextureHandle>,
) -> Drawn {
    let timeline = device.timeline();
    let color = |id: AllocId| -> Rgb {
        let color = key.coloring.color(timeline, id);
        let is_in_stack = |stack| timeline.lifetimes.stack(id, &timeline.events) == stack;
        let color =
            if key.stack.is_some_and(is_in_stack) { color.mix(palette.accent, STACK_SHARE) } else { color };
        let is_left_out = key.matches.as_ref().is_some_and(|matches| !matches.contains(id));
        if is_left_out { color.mix(palette.window, FADED_SHARE) } else { color }
    };
    let (items, picture) = picture(&key.answer.state, &key.layout, &key.zoom, &key.surface, palette, &color);
    let texture = match &picture {
        Picture::Mesh(_) => None,
        Picture::Pixels(image) => Some(match texture {
            Some(mut texture) => {
                texture.set(Arc::clone(image), TextureOptions::NEAREST);
                texture
            }
            None => ctx.load_texture("segments", Arc::clone(image), TextureOptions::NEAREST),
        }),
    };
    Drawn { key, items, picture, texture }
}
