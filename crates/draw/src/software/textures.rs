//! Textures as egui hands them over: whole, in patches, and given back.

use egui::epaint::ImageDelta;
use egui::{Color32, ImageData, TextureFilter, TextureId, TextureOptions, TextureWrapMode, TexturesDelta};
use foldhash::HashMap;

/// The textures of an egui context.
#[derive(Default)]
pub struct Textures {
    by_id: HashMap<TextureId, Texture>,
    /// Textures that were given back with the last frame, which still uses them.
    leaving: Vec<TextureId>,
}

/// One texture.
pub(super) struct Texture {
    size: [usize; 2],
    texels: Vec<Color32>,
    options: TextureOptions,
}

/// Two neighbouring texels on one axis of a texture, and the share of the far one, out of 256.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    near: usize,
    far: usize,
    part: u32,
}

impl Tap {
    /// True if only the near texel counts.
    #[inline]
    pub(super) fn is_exact(self) -> bool {
        self.part == 0
    }
}

impl Textures {
    /// Apply the changes of a frame. Textures that the frame gives back stay until the next one, since the
    /// frame itself may still show them.
    pub fn apply(&mut self, delta: &mut TexturesDelta) {
        for id in self.leaving.drain(..) {
            self.by_id.remove(&id);
        }
        // The order among textures does not matter; that of the changes to one is kept.
        let changes = delta.set.drain().flat_map(|(id, deltas)| deltas.into_iter().map(move |d| (id, d)));
        changes.for_each(|(id, delta)| self.change(id, &delta));
        self.leaving.extend(delta.free.drain());
    }

    fn change(&mut self, id: TextureId, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        let Some(at) = delta.pos else {
            let texture = Texture { size: image.size, texels: image.pixels.clone(), options: delta.options };
            self.by_id.insert(id, texture);
            return;
        };
        if let Some(texture) = self.by_id.get_mut(&id) {
            texture.options = delta.options;
            texture.patch(at, image.size, &image.pixels);
        }
    }

    /// A texture; `None` if it is unknown or has no texels.
    pub(super) fn get(&self, id: TextureId) -> Option<&Texture> {
        self.by_id.get(&id).filter(|t| 0 < t.size[0] * t.size[1] && t.size[0] * t.size[1] == t.texels.len())
    }
}

impl Texture {
    /// Replace a part. A patch that does not fit is ignored.
    fn patch(&mut self, [left, top]: [usize; 2], [width, height]: [usize; 2], texels: &[Color32]) {
        let fits = |from: usize, length: usize, size: usize| from.saturating_add(length) <= size;
        if width == 0 || !fits(left, width, self.size[0]) || !fits(top, height, self.size[1]) {
            return;
        }
        for (y, row) in texels.chunks_exact(width).enumerate().take(height) {
            let to = (top + y) * self.size[0] + left;
            self.texels[to..to + width].copy_from_slice(row);
        }
    }

    /// Number of columns and rows.
    pub(super) fn size(&self) -> [f64; 2] {
        self.size.map(|side| side as f64)
    }

    /// True if neighbouring texels are mixed at this number of texels per pixel.
    pub(super) fn is_linear(&self, texels_per_pixel: f64) -> bool {
        let TextureOptions { magnification, minification, .. } = self.options;
        (if 1.0 < texels_per_pixel { minification } else { magnification }) == TextureFilter::Linear
    }

    /// The texels to read on an axis, 0 or 1, at a place in texels. Their centres are at halves.
    #[inline]
    pub(super) fn tap(&self, axis: usize, at: f64, is_linear: bool) -> Tap {
        let size = self.size[axis] as i64;
        if !is_linear {
            let near = self.wrap(at.floor() as i64, size);
            return Tap { near, far: near, part: 0 };
        }
        let at = ((at - 0.5) * 256.0).round() as i64;
        let near = at >> 8;
        Tap { near: self.wrap(near, size), far: self.wrap(near + 1, size), part: (at & 255) as u32 }
    }

    /// The texel at a place that may lie outside of the texture.
    fn wrap(&self, at: i64, size: i64) -> usize {
        let inside = match self.options.wrap_mode {
            TextureWrapMode::ClampToEdge => at.clamp(0, size - 1),
            TextureWrapMode::Repeat => at.rem_euclid(size),
            TextureWrapMode::MirroredRepeat => {
                let at = at.rem_euclid(2 * size);
                at.min(2 * size - 1 - at)
            }
        };
        inside as usize
    }

    /// The near texel of both axes.
    #[inline]
    pub(super) fn texel(&self, x: Tap, y: Tap) -> [u8; 4] {
        self.texels[y.near * self.size[0] + x.near].to_array()
    }

    /// The mix of four neighbouring texels; channels are from 0 to 255.
    pub(super) fn mixed(&self, x: Tap, y: Tap) -> [f32; 4] {
        let corners = [
            (x.near, y.near, (256 - x.part) * (256 - y.part)),
            (x.far, y.near, x.part * (256 - y.part)),
            (x.near, y.far, (256 - x.part) * y.part),
            (x.far, y.far, x.part * y.part),
        ];
        let mut sums = [0u32; 4];
        for (x, y, weight) in corners {
            for (sum, channel) in sums.iter_mut().zip(self.texels[y * self.size[0] + x].to_array()) {
                *sum += u32::from(channel) * weight;
            }
        }
        sums.map(|sum| sum as f32 * (1.0 / 65_536.0))
    }
}
