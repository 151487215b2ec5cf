//! What the segment map keeps from frame to frame: the scale, the layout and the picture.

use super::maps::MomentMap;
use crate::analysis::filter::Matches;
use crate::app::device::{PaneCtx, Selection};
use crate::app::work::by_ptr::ByPtr;
use crate::draw::segment_map::{
    MapGrouping, MapItems, MapLayout, MapOrder, MapPicture, MapSheet, MapSurface, MapZoom, picture,
};
use crate::draw::{Coloring, Palette, Rgb};
use crate::model::{AllocId, StackId, Timeline};
use eframe::egui::{self, TextureHandle, TextureOptions, Vec2};
use std::sync::Arc;

/// Share of its colour that a block loses which the filter leaves out.
const FADED_SHARE: f32 = 0.75;

/// Share of the accent in blocks with the selected stack.
const STACK_SHARE: f32 = 0.45;

/// How rows are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) struct Arrangement {
    pub(in crate::app) grouping: MapGrouping,
    pub(in crate::app) order: MapOrder,
}

/// What was computed last.
#[derive(Default)]
pub(in crate::app) struct Cache {
    /// The size that the scale was chosen for, and the scale.
    scale: Option<(ScaleKey, f64)>,
    layout: Option<(Arc<MomentMap>, Arc<MapLayout>)>,
    drawn: Option<Drawn>,
}

type ScaleKey = (usize, Vec2, Arrangement);

/// A picture, and what it shows.
pub(in crate::app) struct Drawn {
    request: MapRequest,
    pub(in crate::app) items: MapItems,
    pub(in crate::app) picture: MapPicture,
    pub(in crate::app) texture: Option<TextureHandle>,
}

/// Everything that a picture depends on.
#[derive(Clone, PartialEq)]
pub(super) struct MapRequest {
    answer: ByPtr<MomentMap>,
    layout: ByPtr<MapLayout>,
    zoom: MapZoom,
    surface: MapSurface,
    coloring: ByPtr<Coloring>,
    matches: Option<ByPtr<Matches>>,
    stack: Option<StackId>,
    is_dark: bool,
}

impl MapRequest {
    pub(super) fn new(
        ctx: &PaneCtx<'_>,
        answer: &Arc<MomentMap>,
        layout: &Arc<MapLayout>,
        zoom: MapZoom,
        surface: MapSurface,
        palette: &Palette,
    ) -> Self {
        Self {
            answer: ByPtr(Arc::clone(answer)),
            layout: ByPtr(Arc::clone(layout)),
            zoom,
            surface,
            coloring: ByPtr(ctx.coloring(palette)),
            matches: ctx.derived.matches().cloned(),
            stack: match ctx.at.selection() {
                Selection::Stack(stack) => Some(stack),
                _ => None,
            },
            is_dark: palette.is_dark,
        }
    }
}

impl Cache {
    /// Where the rows of a map go. The scale depends on the size and on the file, not on the moment,
    /// so that nothing grows or shrinks while one scrubs.
    pub(in crate::app) fn layout(
        &mut self,
        answer: &Arc<MomentMap>,
        arrangement: Arrangement,
        size: Vec2,
    ) -> Arc<MapLayout> {
        let Arrangement { grouping, order } = arrangement;
        let key = (Arc::as_ptr(&answer.common) as usize, size, arrangement);
        let sheet = MapSheet { width_px: size.x, bytes_per_px: 1.0, grouping, order };
        let known = self.scale.filter(|(known, _)| *known == key);
        let fit = || (key, MapLayout::fit(&answer.common.fullest, sheet, size.y));
        let (_, bytes_per_px) = *self.scale.insert(known.unwrap_or_else(fit));
        let sheet = MapSheet { bytes_per_px, ..sheet };
        let is_known = |known: &(Arc<MomentMap>, Arc<MapLayout>)| {
            Arc::ptr_eq(&known.0, answer) && known.1.sheet == sheet
        };
        let known = self.layout.take().filter(is_known);
        let new = || (Arc::clone(answer), Arc::new(MapLayout::new(&answer.state, sheet)));
        Arc::clone(&self.layout.insert(known.unwrap_or_else(new)).1)
    }

    /// Where rows were put last, and how high the panel was.
    pub(in crate::app) fn shown(&self) -> Option<(&MapLayout, f32)> {
        let ((_, size, _), _) = self.scale?;
        self.layout.as_ref().map(|(_, layout)| (layout.as_ref(), size.y))
    }

    #[cfg(test)]
    pub(in crate::app) fn last_layout(&self) -> Option<&MapLayout> {
        self.layout.as_ref().map(|(_, layout)| layout.as_ref())
    }

    /// The picture of what is visible; the last one if it is still right.
    pub(super) fn drawn(
        &mut self,
        ctx: &egui::Context,
        timeline: &Timeline,
        palette: &Palette,
        request: MapRequest,
    ) -> &Drawn {
        let drawn = match self.drawn.take() {
            Some(known) if known.request == request => known,
            known => draw(ctx, timeline, palette, request, known.and_then(|known| known.texture)),
        };
        self.drawn.insert(drawn)
    }
}

fn draw(
    ctx: &egui::Context,
    timeline: &Timeline,
    palette: &Palette,
    request: MapRequest,
    texture: Option<TextureHandle>,
) -> Drawn {
    let color = |id: AllocId| -> Rgb {
        let color = request.coloring.color(timeline, id);
        let is_in_stack = |stack| timeline.stack(id) == stack;
        let color = if request.stack.is_some_and(is_in_stack) {
            color.mix(palette.accent, STACK_SHARE)
        } else {
            color
        };
        let is_left_out = request.matches.as_ref().is_some_and(|matches| !matches.contains(id));
        if is_left_out { color.mix(palette.window, FADED_SHARE) } else { color }
    };
    let (items, picture) =
        picture(&request.answer.state, &request.layout, &request.zoom, &request.surface, palette, &color);
    let texture = match &picture {
        MapPicture::Mesh(_) => None,
        MapPicture::Pixels(image) => Some(match texture {
            Some(mut texture) => {
                texture.set(Arc::clone(image), TextureOptions::NEAREST);
                texture
            }
            None => ctx.load_texture("segments", Arc::clone(image), TextureOptions::NEAREST),
        }),
    };
    Drawn { request, items, picture, texture }
}
