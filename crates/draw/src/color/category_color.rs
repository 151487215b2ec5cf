//! The colours of categories, and of all that is told apart by the same few hues.
//!
//! The hues are those of Okabe and Ito. Lightness and chroma were chosen so that any two categories differ by a
//! CIEDE2000 of ten or more, for normal vision and for protanopia, deuteranopia and tritanopia, in each theme.

use super::palette::{Palette, Rgb};
use oomscope_analysis::{Category, Phase};

/// Share of the ground in the colour of a category that is only inferred. More would be nearer to faded colours of
/// other categories than eyes can tell.
const INFERRED_SHARE: f32 = 0.35;

/// Share of black, or of white, in the shades of a category: the least that is seen where two stacks touch. The
/// shades lie evenly around the colour, so that on average a category looks like its entry in the legend.
const SHADE_SHARE: f32 = 0.04;

impl Palette {
    /// The colour of a category, which is the same in every file.
    pub fn category(&self, category: Category) -> Rgb {
        let [dark, light] = match category {
            Category::Parameter => [0x1f_4fb4, 0x19_4aac],
            Category::Gradient => [0xb9_5001, 0xa0_3f00],
            Category::OptimizerState => [0xc4_80c8, 0xfa_a5fe],
            Category::Activation => [0x36_a877, 0x59_d295],
            Category::Input => [0xfe_ec4f, 0xd9_c11c],
            Category::Temporary => [0xbd_bdbd, 0xa8_b4b8],
            Category::Comm => [0xe4_b86c, 0xd2_7513],
            Category::KvCache => [0xa4_d4eb, 0x58_9cb5],
            Category::GraphPool => [0x77_4f31, 0x7c_614c],
            Category::Other => [0x45_4f63, 0x4c_5568],
            Category::Unknown => return self.unknown,
        };
        Rgb::hex(if self.is_dark { dark } else { light })
    }

    /// The colour of a category that is only inferred.
    pub fn inferred(&self, category: Rgb) -> Rgb {
        category.mix(self.window, INFERRED_SHARE)
    }

    /// One of three shades of a category's colour, by any number.
    pub(super) fn shade(color: Rgb, number: u32) -> Rgb {
        match number % 3 {
            0 => color,
            1 => color.mix(Rgb(0, 0, 0), SHADE_SHARE),
            _ => color.mix(Rgb(255, 255, 255), SHADE_SHARE),
        }
    }

    /// One of eight colours of things that are numbered, such as streams: those of categories that differ most. They
    /// repeat after eight.
    pub fn class(&self, at: usize) -> Rgb {
        const CLASSES: [Category; 8] = [
            Category::Parameter,
            Category::Activation,
            Category::OptimizerState,
            Category::KvCache,
            Category::GraphPool,
            Category::Gradient,
            Category::Input,
            Category::Temporary,
        ];
        self.category(CLASSES[at % CLASSES.len()])
    }

    /// The colour of a phase: that of the category which it makes.
    pub(crate) fn phase(&self, phase: Phase) -> Rgb {
        self.category(match phase {
            Phase::Init => Category::Parameter,
            Phase::Data => Category::Input,
            Phase::Forward => Category::Activation,
            Phase::Backward => Category::Gradient,
            Phase::Optimizer => Category::OptimizerState,
            Phase::Eval => Category::KvCache,
            Phase::Unknown => Category::Unknown,
        })
    }
}

#[cfg(test)]
#[path = "category_color_tests.rs"]
mod tests;
