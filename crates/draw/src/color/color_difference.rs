//! How different two colours look, to normal eyes and to those that lack a kind of cone. For tests.

use super::palette::Rgb;
use palette::color_difference::Ciede2000 as _;
use palette::white_point::D65;
use palette::{FromColor as _, Lab, LinSrgb, Srgb};

/// Eyes: all cones, or one kind of them missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vision {
    Normal,
    Protanopia,
    Deuteranopia,
    Tritanopia,
}

impl Vision {
    pub(super) const ALL: [Self; 4] = [Self::Normal, Self::Protanopia, Self::Deuteranopia, Self::Tritanopia];

    /// The matrix on linear RGB by Machado, Oliveira and Fernandes (2009), for full severity.
    fn matrix(self) -> [[f64; 3]; 3] {
        match self {
            Self::Normal => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Self::Protanopia => [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
            Self::Deuteranopia => [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
            Self::Tritanopia => [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        }
    }

    /// CIELAB (D65) of a colour as these eyes see it.
    fn lab(self, Rgb(r, g, b): Rgb) -> Lab<D65, f64> {
        let linear = Srgb::new(r, g, b).into_linear::<f64>();
        let part = |[a, b, c]: [f64; 3]| a * linear.red + b * linear.green + c * linear.blue;
        let [red, green, blue] = self.matrix().map(|row| part(row).clamp(0.0, 1.0));
        Lab::from_color(LinSrgb::new(red, green, blue))
    }

    /// CIEDE2000 between two colours as these eyes see them.
    pub(super) fn difference(self, a: Rgb, b: Rgb) -> f64 {
        self.lab(a).difference(self.lab(b))
    }
}

#[test]
fn grey_stays_grey_for_all_eyes() {
    for vision in Vision::ALL {
        let seen = vision.lab(Rgb(120, 120, 120));
        assert!(seen.a.abs() < 0.1 && seen.b.abs() < 0.1, "{vision:?}");
    }
}
