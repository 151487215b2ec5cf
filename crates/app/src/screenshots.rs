//! Screenshots of the real application, painted without a window, a display or a GPU.

use crate::{App, WorkMode};
use eframe::egui::{Rect, TexturesDelta, Theme};
use egui_kittest::{Harness, TestRenderer};
use oomscope_draw::picture::png;
use oomscope_draw::software::{self, Pixels, Textures};
use oomscope_draw::{Palette, Rgb};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps the textures of a harness.
#[derive(Clone, Default)]
pub(super) struct Camera {
    textures: Arc<Mutex<Textures>>,
}

impl TestRenderer for Camera {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        self.textures.lock().unwrap_or_else(PoisonError::into_inner).apply(delta);
    }
}

impl Camera {
    /// The application with this camera on it.
    pub(super) fn harness(&self, size: [f32; 2], theme: Theme) -> Harness<'static, App> {
        let mut harness = Harness::builder()
            .with_size(size)
            .with_theme(theme)
            .renderer(self.clone())
            .build_eframe(|cc| App::new(&cc.egui_ctx, WorkMode::Blocking));
        harness.run_steps(2);
        harness
    }

    /// The window after the last step.
    pub(super) fn shoot(&self, harness: &Harness<'_, App>) -> Pixels {
        let output = harness.output();
        let scale = output.pixels_per_point;
        let size = harness.ctx.viewport_rect().size() * scale;
        let primitives = harness.ctx.tessellate(output.shapes.clone(), scale);
        let textures = self.textures.lock().unwrap_or_else(PoisonError::into_inner);
        let ground =
            if harness.ctx.theme() == Theme::Dark { Palette::DARK.panel } else { Palette::LIGHT.panel };
        software::paint(&primitives, &textures, scale, [size.x as usize, size.y as usize], ground)
    }

    /// [`Self::shoot`], saved as `target/screenshots/NAME.png` for looking at.
    pub(super) fn save(&self, harness: &Harness<'_, App>, name: &str) -> Pixels {
        let pixels = self.shoot(harness);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots");
        std::fs::create_dir_all(&folder).expect("target can be written");
        let file = png(&pixels).expect("a window has pixels");
        std::fs::write(folder.join(format!("{name}.png")), file).expect("target can be written");
        pixels
    }
}

/// The colours in an area, without repetition.
fn colors(pixels: &Pixels, area: Rect) -> Vec<[u8; 4]> {
    let range = |from: f32, to: f32| from.max(0.0) as usize..to.max(0.0) as usize;
    let rows = range(area.top(), area.bottom());
    let all = rows.flat_map(|y| range(area.left(), area.right()).filter_map(move |x| pixels.get(x, y)));
    let mut colors: Vec<_> = all.collect();
    colors.sort_unstable();
    colors.dedup();
    colors
}

fn has(colors: &[[u8; 4]], Rgb(r, g, b): Rgb) -> bool {
    colors.contains(&[r, g, b, 255])
}

mod tests {
    use super::*;
    use crate::tests::{open_path, sample};
    use eframe::egui::{Key, Role};
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_sample_in_both_themes() {
        for (theme, palette, name) in
            [(Theme::Dark, Palette::DARK, "frag_oom_dark"), (Theme::Light, Palette::LIGHT, "frag_oom_light")]
        {
            let camera = Camera::default();
            let mut harness = camera.harness([1280.0, 800.0], theme);
            open_path(&mut harness, sample("frag_oom.pickle"));
            let pixels = camera.save(&harness, name);
            assert_eq!(pixels.size, [1280, 800]);
            let all = colors(&pixels, Rect::EVERYTHING.intersect(harness.ctx.viewport_rect()));
            for color in [palette.panel, palette.line, palette.text, palette.oom, palette.peak] {
                assert!(has(&all, color), "{color:?} is not in {name}");
            }
            // The timeline has bands of many stacks, the axis beside it has text alone.
            let timeline = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
            assert!(has(&colors(&pixels, timeline), palette.oom));
            let axis = Rect::from_min_max(
                eframe::egui::pos2(timeline.left() - 60.0, timeline.top() + 20.0),
                timeline.left_bottom(),
            );
            let axis = colors(&pixels, axis);
            assert!(has(&axis, palette.panel) && !has(&axis, palette.oom));
        }
    }

    #[test]
    fn the_same_window_is_the_same_bytes_and_another_moment_is_another() {
        let shoot = |keys: &[Key]| {
            let camera = Camera::default();
            let mut harness = camera.harness([1000.0, 640.0], Theme::Dark);
            open_path(&mut harness, sample("frag_oom.pickle"));
            for &key in keys {
                harness.key_press(key);
                harness.run_steps(3);
            }
            camera.shoot(&harness)
        };
        assert_eq!(shoot(&[]), shoot(&[]));
        assert_ne!(shoot(&[]), shoot(&[Key::P]));
    }

    #[test]
    fn an_empty_window_is_not_blank() {
        let camera = Camera::default();
        let harness = camera.harness([900.0, 600.0], Theme::Light);
        let pixels = camera.save(&harness, "start_page");
        let text = harness.get_by_label("Open snapshots…").rect();
        assert!(8 < colors(&pixels, text).len(), "the button has no text");
    }
}
