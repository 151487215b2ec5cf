//! The scale, the layout and the picture of the segment map, kept until they change.

use super::maps::{Common, MomentMap};
use crate::device::{PaneCtx, Selection};
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use eframe::egui::{self, TextureHandle, TextureOptions, Vec2};
use oomscope_analysis::filter::Matches;
use oomscope_draw::segment_map::{
    MapGrouping, MapItems, MapLayout, MapOrder, MapPicture, MapSheet, MapSurface, MapZoom, picture,
};
use oomscope_draw::{Coloring, Palette, Rgb};
use oomscope_model::{AllocId, StackId, Timeline};
use std::sync::Arc;

/// Share of the ground's colour in blocks that the filter leaves out: they are there, and do not disturb.
const FADED_SHARE: f32 = 0.75;

/// The arrangement of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Arrangement {
    pub(crate) grouping: MapGrouping,
    pub(crate) order: MapOrder,
}

/// The latest results.
#[derive(Default)]
pub(crate) struct Cache {
    /// Bytes of a pixel.
    scale: Memo<ScaleKey, f64>,
    layout: Memo<(ByPtr<MomentMap>, MapSheet), Arc<MapLayout>>,
    /// Height of the map in the last frame, in points.
    height_px: f32,
    /// Not a [`Memo`]: the texture of the last picture serves the next one.
    drawn: Option<Drawn>,
}

/// Everything that the scale depends on. The moment is not among it, so that nothing grows or shrinks
/// while the user scrubs.
#[derive(Clone, PartialEq)]
struct ScaleKey {
    common: ByPtr<Common>,
    size: Vec2,
    arrangement: Arrangement,
}

/// A picture, and the request that it answers.
pub(crate) struct Drawn {
    request: MapRequest,
    pub(crate) items: MapItems,
    pub(crate) picture: MapPicture,
    pub(crate) texture: Option<TextureHandle>,
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
            matches: ctx.shade().map(|(matches, _)| matches),
            stack: match ctx.at.selection() {
                Selection::Stack(stack) => Some(stack),
                _ => None,
            },
            is_dark: palette.is_dark,
        }
    }
}

impl MapRequest {
    /// The colour of an allocation.
    fn color(&self, timeline: &Timeline, palette: &Palette, id: AllocId) -> Rgb {
        let color = self.coloring.color(timeline, id);
        let is_in_stack = |stack| timeline.stack(id) == stack;
        let color = if self.stack.is_some_and(is_in_stack) { Palette::lighter(color) } else { color };
        let is_left_out = self.matches.as_ref().is_some_and(|matches| !matches.contains(id));
        if is_left_out { color.mix(palette.window, FADED_SHARE) } else { color }
    }
}

impl Drawn {
    /// The colour that an allocation has in the picture.
    pub(super) fn color(&self, timeline: &Timeline, palette: &Palette, id: AllocId) -> Rgb {
        self.request.color(timeline, palette, id)
    }
}

impl Cache {
    /// The places of the rows of a map.
    pub(crate) fn layout(
        &mut self,
        answer: &Arc<MomentMap>,
        arrangement: Arrangement,
        size: Vec2,
    ) -> Arc<MapLayout> {
        let Arrangement { grouping, order } = arrangement;
        // Any scale will do until the one that fits is known.
        let sheet = MapSheet { width_px: size.x, bytes_per_px: 1.0, grouping, order };
        let key = ScaleKey { common: ByPtr(Arc::clone(&answer.common)), size, arrangement };
        let bytes_per_px = self.scale.get(key, || MapLayout::fit(&answer.common.fullest, sheet, size.y));
        let sheet = MapSheet { bytes_per_px, ..sheet };
        self.height_px = size.y;
        let new = || Arc::new(MapLayout::new(&answer.state, sheet));
        self.layout.get((ByPtr(Arc::clone(answer)), sheet), new)
    }

    /// The layout of the last frame, and the height of the map then.
    pub(crate) fn shown(&self) -> Option<(Arc<MapLayout>, f32)> {
        self.layout.latest().map(|layout| (layout, self.height_px))
    }

    /// The picture of the part in sight: the last one if nothing has changed, else a new one.
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
    let color = |id: AllocId| request.color(timeline, palette, id);
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
