//! The simulated segment map at the cursor.

use super::simulating::{SimulateTask, WhatIfRequest};
use crate::theme;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::worker::Task;
use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Rect, Sense, TextureHandle, TextureOptions, pos2};
use oomscope_analysis::segment_state::{Content, Part};
use oomscope_analysis::{SegmentIndex, SegmentState};
use oomscope_draw::segment_map::{
    LabelLooks, MapGrouping, MapItems, MapLayout, MapOrder, MapPicture, MapSheet, MapSurface, MapZoom,
    SegmentMapCanvas, picture, scale_bar,
};
use oomscope_draw::{Palette, Rgb};
use oomscope_model::{
    Anchor, Block, Bytes, DeviceId, EventTable, Moment, Recording, Segment, SegmentTable, Snapshot, StackId,
    Timeline, TimelineInput,
};
use oomscope_simulator::LaidSegment;
use oomscope_units as units;
use std::rc::Rc;
use std::sync::Arc;

/// Width of the addresses at the left, in points.
const GUTTER_PX: f32 = 128.0;

/// Smallest width and height of a map, in points: less shows nothing.
const MIN_MAP_PX: f32 = 60.0;

/// Lays out the memory of a simulation.
#[derive(Clone)]
pub(super) struct LayoutTask(pub(super) SimulateTask);

impl Task for LayoutTask {
    /// The settings are those of the request.
    type Request = (WhatIfRequest, Moment);
    type Response = Arc<SegmentState>;

    fn run(&self, (request, moment): &Self::Request) -> Self::Response {
        Arc::new(state_of(&self.0.layout(request, *moment)))
    }
}

/// The state of simulated segments, found as if a snapshot listed them.
pub(super) fn state_of(laid: &[LaidSegment]) -> SegmentState {
    let mut snapshot = Snapshot::default();
    let [small, large] = ["small", "large"].map(|kind| snapshot.strings.intern(kind.as_bytes()).0);
    let mut table = SegmentTable::default();
    for segment in laid {
        let first = table.blocks.len();
        table.blocks.extend(segment.blocks.iter().map(|block| Block {
            addr: block.addr,
            size: Bytes::of_size(block.size),
            requested: Bytes::of_size(block.requested),
            state: block.state,
            stack: StackId::EMPTY,
        }));
        table.segments.push(Segment {
            device: DeviceId(0),
            addr: segment.addr(),
            size: Bytes::of_size(segment.size()),
            stream: Some(segment.stream),
            pool: Some(segment.pool),
            kind: Some(if segment.is_large { large } else { small }),
            is_expandable: segment.is_expandable,
            stack: StackId::EMPTY,
            blocks: first..table.blocks.len(),
        });
    }
    let timeline = Timeline::build(TimelineInput {
        device: DeviceId(0),
        events: EventTable::default(),
        segments: table,
        anchor: Anchor::EndState,
    });
    let recording = Recording::only(snapshot, timeline);
    SegmentIndex::new(&recording).at(&recording, Moment::START)
}

/// The latest map. The key is the state, its place, and true for the dark theme.
pub(super) type DrawnMap = Memo<(ByPtr<SegmentState>, MapSurface, bool), Rc<Drawn>>;

/// A map with its picture, for one size and theme.
pub(super) struct Drawn {
    layout: MapLayout,
    items: MapItems,
    picture: MapPicture,
    texture: Option<TextureHandle>,
}

impl Drawn {
    fn new(ctx: &egui::Context, state: &SegmentState, surface: &MapSurface, palette: &Palette) -> Self {
        // Any scale will do until the one that fits is known.
        let sheet = MapSheet {
            width_px: surface.rect.width(),
            bytes_per_px: 1.0,
            grouping: MapGrouping::Pool,
            order: MapOrder::Address,
        };
        let bytes_per_px = MapLayout::fit(state, sheet, surface.rect.height());
        let layout = MapLayout::new(state, MapSheet { bytes_per_px, ..sheet });
        let color = |_| block_color(palette);
        let (items, picture) = picture(state, &layout, &MapZoom::default(), surface, palette, &color);
        let texture = match &picture {
            MapPicture::Mesh(_) => None,
            MapPicture::Pixels(image) => {
                Some(ctx.load_texture("simulated segments", Arc::clone(image), TextureOptions::NEAREST))
            }
        };
        Self { layout, items, picture, texture }
    }
}

/// The colour of all blocks: simulated ones have no stacks, so there is nothing to tell apart by colours.
fn block_color(palette: &Palette) -> Rgb {
    palette.class(0)
}

/// Show a map in all room that is left.
pub(super) fn ui(ui: &mut egui::Ui, state: &Arc<SegmentState>, drawn: &DrawnMap) {
    let palette = theme::palette(ui);
    let scale = ui.pixels_per_point();
    let all = ui.available_rect_before_wrap().round_to_pixels(scale);
    if all.width() < GUTTER_PX + MIN_MAP_PX || all.height() < MIN_MAP_PX {
        return;
    }
    if state.rows.is_empty() {
        ui.label(theme::muted(ui, "No memory is reserved at this moment."));
        return;
    }
    let response = ui.allocate_rect(all, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Simulated segment map"));
    let split = all.left() + GUTTER_PX;
    let gutter = Rect::from_min_max(all.min, pos2(split, all.bottom()));
    let rect = Rect::from_min_max(pos2(split, all.top()), all.max);
    let max_texture_px = ui.input(|input| input.max_texture_side);
    let surface = MapSurface { rect, scale, max_texture_px };
    let new = || Rc::new(Drawn::new(ui.ctx(), state, &surface, palette));
    let drawn = drawn.get((ByPtr(Arc::clone(state)), surface, palette.is_dark), new);
    let (painter, zoom) = (ui.painter_at(all), MapZoom::default());
    let map = SegmentMapCanvas {
        painter: &painter,
        rect,
        gutter,
        state,
        layout: &drawn.layout,
        zoom: &zoom,
        palette,
    };
    drawn.picture.paint(&painter, rect, drawn.texture.as_ref().map(TextureHandle::id));
    let looks = LabelLooks { color: &|_| block_color(palette), note: &|_| None };
    map.labels(&drawn.items, scale, &looks);
    map.headings(scale_bar(&painter, rect, drawn.layout.sheet.bytes_per_px, palette));
    map.addresses();
    let Some(hit) = response.hover_pos().and_then(|pointer| map.hit(pointer, scale)) else { return };
    let part = state.parts[hit.part];
    map.outline(&map.places(hit.row, part.addr, part.past_end()), false);
    response.on_hover_text_at_pointer(part_text(&part));
}

fn part_text(part: &Part) -> String {
    let what = match part.content {
        Content::Allocated(_) => "block in use",
        Content::Awaiting(_) => "block that waits for a stream",
        Content::Hole => "hole",
        Content::Unmapped => "unmapped",
    };
    format!("{}\n{what} at {}, simulated", units::bytes_exact(part.size), units::address(part.addr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::first;
    use oomscope_simulator::Subject;
    use oomscope_snapshot::load::{Input, Progress, load};

    #[test]
    fn a_faithful_simulation_has_the_map_of_the_recording() {
        let path = crate::tests::sample("frag_oom.pickle");
        let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let subject = Subject::new(&recording);
        let end = recording.end();
        let laid = subject.layout_at(subject.recorded_settings(), &subject.device(), end);
        let simulated = state_of(&laid);
        let recorded = SegmentIndex::new(&recording).at(&recording, end);
        assert_eq!(simulated.total, recorded.total);
        let places = |state: &SegmentState| {
            state
                .parts
                .iter()
                .map(|part| (part.size, part.requested, part.content.is_block()))
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&simulated), places(&recorded));
    }
}
