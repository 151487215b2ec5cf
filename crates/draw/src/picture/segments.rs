//! A picture of the segment map: segments to scale at a moment, with the use of every byte.

use super::{LegendEntry, LegendMark, Page, PictureSheet, Selected, SiteList};
use crate::segment_map::{
    LabelLooks, MapItems, MapLayout, MapLook, MapPicture, MapSurface, MapZoom, REQUEST_PX, SegmentMapCanvas,
    fit_text, picture, request, scale_bar,
};
use crate::software::{MAX_SIDE_PX, Pixels};
use crate::{Palette, Rgb, axis_font};
use egui::emath::GuiRounding as _;
use egui::{Align2, Color32, Rect, TextureHandle, TextureOptions, Ui, pos2};
use oomscope_analysis::SegmentState;
use oomscope_analysis::segment_state::{Part, RequestFit};
use oomscope_model::{AllocId, Timeline};
use oomscope_units as units;

/// Room in points for addresses, to the left of the lines.
const GUTTER_PT: f32 = 108.0;

/// Room in points for the note below the lines.
const FOOTER_PT: f32 = 26.0;

/// Space in points below the request.
const REQUEST_GAP_PT: f32 = 12.0;

/// The content of a picture of the segment map.
#[derive(Clone, Copy)]
pub struct SegmentsPicture<'a> {
    /// The device.
    pub timeline: &'a Timeline,
    /// The map.
    pub state: &'a SegmentState,
    /// The request that failed at the moment; `None` if none did.
    pub fit: Option<&'a RequestFit>,
    /// The colour of an allocation.
    pub color: &'a dyn Fn(AllocId) -> Rgb,
    /// Text beside the size of a block, if there is room.
    pub note: &'a dyn Fn(&Part) -> Option<String>,
    /// Its arrangement and the part that is shown.
    pub look: MapLook,
    /// The selected allocation; a selected stack has no mark here.
    pub selected: Selected,
    /// The list of sites beside the map.
    pub sites: Option<&'a SiteList>,
}

/// The legend of the surfaces.
pub fn segments_legend(palette: &Palette) -> Vec<LegendEntry> {
    let block = palette.unknown;
    vec![
        LegendEntry::new(LegendMark::Area, block, "block in use"),
        LegendEntry::new(LegendMark::Area, block.mix(palette.window, 0.55), "rounding"),
        LegendEntry::new(LegendMark::Stripes, block, "freed, waiting for a stream"),
        LegendEntry::new(LegendMark::Hatch, palette.muted, "hole: reserved and not in use"),
    ]
}

/// The painted map. Both calls of the content come to the same place, so it is painted once.
struct Painted {
    rect: Rect,
    layout: MapLayout,
    zoom: MapZoom,
    items: MapItems,
    picture: MapPicture,
    texture: Option<TextureHandle>,
}

impl SegmentsPicture<'_> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &PictureSheet<'_>, page: &Page) -> Pixels {
        let mut painted: Option<Painted> = None;
        page.paint(sheet, |ui, rect| {
            let rest = SiteList::beside(self.sites, ui.painter(), rect, sheet.palette);
            let rest = self.request(ui, rest, sheet);
            let min = pos2(rest.left() + GUTTER_PT, rest.top());
            let place = Rect::from_min_max(min, pos2(rest.right() - 2.0, rest.bottom() - FOOTER_PT));
            let place = place.round_to_pixels(sheet.scale);
            if !place.is_positive() {
                return;
            }
            let known = painted.take().filter(|known| known.rect == place);
            let painted = painted.insert(known.unwrap_or_else(|| self.map(ui, place, sheet)));
            self.shapes(ui, rest, sheet, painted);
        })
    }

    /// Paint the request that failed above the map. Returns the rest of the rectangle.
    fn request(&self, ui: &Ui, rect: Rect, sheet: &PictureSheet<'_>) -> Rect {
        let Some(fit) = self.fit else { return rect };
        let strip = rect.with_max_y(rect.top() + REQUEST_PX).round_to_pixels(sheet.scale);
        request(ui.painter(), strip, fit, &fit_text(fit), sheet.palette, sheet.scale);
        rect.with_min_y(strip.bottom() + REQUEST_GAP_PT)
    }

    fn map(&self, ui: &Ui, rect: Rect, sheet: &PictureSheet<'_>) -> Painted {
        let (layout, zoom) = self.look.place(self.state, rect.size());
        let surface = MapSurface { rect, scale: sheet.scale, max_texture_px: MAX_SIDE_PX };
        let (items, picture) = picture(self.state, &layout, &zoom, &surface, sheet.palette, self.color);
        let texture = match &picture {
            MapPicture::Mesh(_) => None,
            MapPicture::Pixels(image) => {
                Some(ui.ctx().load_texture("segments", image.clone(), TextureOptions::NEAREST))
            }
        };
        Painted { rect, layout, zoom, items, picture, texture }
    }

    fn shapes(&self, ui: &Ui, whole: Rect, sheet: &PictureSheet<'_>, painted: &Painted) {
        let (painter, palette) = (ui.painter(), sheet.palette);
        let Painted { rect, layout, zoom, items, picture, texture } = painted;
        let gutter = Rect::from_min_max(pos2(whole.left(), rect.top()), rect.left_bottom());
        let map = SegmentMapCanvas { painter, rect: *rect, gutter, state: self.state, layout, zoom, palette };
        picture.paint(
            &painter.with_clip_rect(rect.expand(1.0)),
            *rect,
            texture.as_ref().map(TextureHandle::id),
        );
        let scale_place = scale_bar(painter, *rect, zoom.bytes_per_px(layout), palette);
        map.headings(scale_place);
        map.addresses();
        // Labels lie above the selection, which is lighter.
        self.outline(&map);
        let is_selected = |id| matches!(self.selected, Selected::Allocation(selected) if selected == id);
        let color = |id| if is_selected(id) { Palette::lighter((self.color)(id)) } else { (self.color)(id) };
        map.labels(items, sheet.scale, &LabelLooks { color: &color, note: self.note });
        footer(ui, whole, painted, palette);
    }

    fn outline(&self, map: &SegmentMapCanvas<'_>) {
        let Selected::Allocation(id) = self.selected else { return };
        let addr = self.timeline.addr(id);
        let Some((row, part)) = self.state.find(addr, id) else { return };
        let part = &self.state.parts[part];
        let places = map.places(row, part.addr, part.past_end());
        map.outline(&places, true);
    }
}

/// Paint a note on the lines outside of the picture, or on an empty map.
fn footer(ui: &Ui, whole: Rect, painted: &Painted, palette: &Palette) {
    let (painter, muted) = (ui.painter(), Color32::from(palette.muted));
    let y = whole.bottom() - FOOTER_PT / 2.0;
    let Painted { layout, zoom, rect, .. } = painted;
    let lines = layout.lines.len();
    let shown = layout.lines_between(zoom.y_px, zoom.y_px + rect.height());
    let hidden = lines - shown.len();
    let text = match (lines, zoom.factor) {
        (0, _) => "Nothing is reserved at this moment.".to_owned(),
        (_, factor) if 1.0 < factor => {
            let [shown, lines] = [shown.len(), lines].map(|n| units::count(n as u64));
            format!("Magnified: a part of {shown} of {lines} lines of segments.")
        }
        _ if hidden == 0 => String::new(),
        _ => format!("{} of segments outside of this picture.", units::counted(hidden, "more line")),
    };
    painter.text(pos2(whole.left(), y), Align2::LEFT_CENTER, text, axis_font(), muted);
}
