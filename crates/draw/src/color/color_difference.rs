//! How different two colours look, to normal eyes and to those that lack a kind of cone. For tests.

use super::palette::Rgb;

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
    pub(super) fn lab(self, Rgb(r, g, b): Rgb) -> [f64; 3] {
        let linear = [r, g, b].map(|v| {
            let v = f64::from(v) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        });
        let product = |rows: [[f64; 3]; 3], v: [f64; 3]| rows.map(|[a, b, c]| a * v[0] + b * v[1] + c * v[2]);
        let seen = product(self.matrix(), linear).map(|v| v.clamp(0.0, 1.0));
        let xyz = product(
            [
                [0.412_456_4, 0.357_576_1, 0.180_437_5],
                [0.212_672_9, 0.715_152_2, 0.072_175_0],
                [0.019_333_9, 0.119_192_0, 0.950_304_1],
            ],
            seen,
        );
        let f = |t: f64| if 216.0 / 24_389.0 < t { t.cbrt() } else { (24_389.0 / 27.0 * t + 16.0) / 116.0 };
        let [x, y, z] = [f(xyz[0] / 0.950_47), f(xyz[1]), f(xyz[2] / 1.088_83)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// CIEDE2000 between two colours as these eyes see them.
    pub(super) fn difference(self, a: Rgb, b: Rgb) -> f64 {
        ciede2000(self.lab(a), self.lab(b))
    }
}

/// CIEDE2000 between two CIELAB colours. Names are those of Sharma, Wu and Dalal (2005).
fn ciede2000([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
    let part7 = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
    let g = 0.5 * (1.0 - part7(f64::midpoint(a1.hypot(b1), a2.hypot(b2))));
    let (a1, a2) = (a1 * (1.0 + g), a2 * (1.0 + g));
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue =
        |a: f64, b: f64| if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) };
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let is_grey = c1 * c2 == 0.0;
    let dh = match h2 - h1 {
        _ if is_grey => 0.0,
        d if 180.0 < d => d - 360.0,
        d if d < -180.0 => d + 360.0,
        d => d,
    };
    let (dl, dc) = (l2 - l1, c2 - c1);
    let dh = 2.0 * (c1 * c2).sqrt() * (dh.to_radians() / 2.0).sin();
    let (l, c) = (f64::midpoint(l1, l2), f64::midpoint(c1, c2));
    let h = match h1 + h2 {
        sum if is_grey => sum,
        sum if (h1 - h2).abs() <= 180.0 => sum / 2.0,
        sum if sum < 360.0 => f64::midpoint(sum, 360.0),
        sum => f64::midpoint(sum, -360.0),
    };
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
        - 0.20 * cos(4.0 * h - 63.0);
    let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
    let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let turn = 30.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
    let rt = -(2.0 * turn).to_radians().sin() * 2.0 * part7(c);
    let (dl, dc, dh) = (dl / sl, dc / sc, dh / sh);
    (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
}

/// The test pairs that Sharma, Wu and Dalal published with the formula.
#[test]
fn the_formula_gives_the_published_differences() {
    const PAIRS: [([f64; 3], [f64; 3], f64); 34] = [
        ([50.0, 2.677_2, -79.775_1], [50.0, 0.0, -82.748_5], 2.042_5),
        ([50.0, 3.157_1, -77.280_3], [50.0, 0.0, -82.748_5], 2.861_5),
        ([50.0, 2.836_1, -74.02], [50.0, 0.0, -82.748_5], 3.441_2),
        ([50.0, -1.380_2, -84.281_4], [50.0, 0.0, -82.748_5], 1.0),
        ([50.0, -1.184_8, -84.800_6], [50.0, 0.0, -82.748_5], 1.0),
        ([50.0, -0.900_9, -85.521_1], [50.0, 0.0, -82.748_5], 1.0),
        ([50.0, 0.0, 0.0], [50.0, -1.0, 2.0], 2.366_9),
        ([50.0, -1.0, 2.0], [50.0, 0.0, 0.0], 2.366_9),
        ([50.0, 2.49, -0.001], [50.0, -2.49, 0.000_9], 7.179_2),
        ([50.0, 2.49, -0.001], [50.0, -2.49, 0.001], 7.179_2),
        ([50.0, 2.49, -0.001], [50.0, -2.49, 0.001_1], 7.219_5),
        ([50.0, 2.49, -0.001], [50.0, -2.49, 0.001_2], 7.219_5),
        ([50.0, -0.001, 2.49], [50.0, 0.000_9, -2.49], 4.804_5),
        ([50.0, -0.001, 2.49], [50.0, 0.001, -2.49], 4.804_5),
        ([50.0, -0.001, 2.49], [50.0, 0.001_1, -2.49], 4.746_1),
        ([50.0, 2.5, 0.0], [50.0, 0.0, -2.5], 4.306_5),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.149_2),
        ([50.0, 2.5, 0.0], [61.0, -5.0, 29.0], 22.897_7),
        ([50.0, 2.5, 0.0], [56.0, -27.0, -3.0], 31.903),
        ([50.0, 2.5, 0.0], [58.0, 24.0, 15.0], 19.453_5),
        ([50.0, 2.5, 0.0], [50.0, 3.173_6, 0.585_4], 1.0),
        ([50.0, 2.5, 0.0], [50.0, 3.297_2, 0.0], 1.0),
        ([50.0, 2.5, 0.0], [50.0, 1.863_4, 0.575_7], 1.0),
        ([50.0, 2.5, 0.0], [50.0, 3.259_2, 0.335], 1.0),
        ([60.257_4, -34.009_9, 36.267_7], [60.462_6, -34.175_1, 39.438_7], 1.264_4),
        ([63.010_9, -31.096_1, -5.866_3], [62.818_7, -29.794_6, -4.086_4], 1.263),
        ([61.290_1, 3.719_6, -5.390_1], [61.429_2, 2.248, -4.962], 1.873_1),
        ([35.083_1, -44.116_4, 3.793_3], [35.023_2, -40.071_6, 1.590_1], 1.864_5),
        ([22.723_3, 20.090_4, -46.694], [23.033_1, 14.973, -42.561_9], 2.037_3),
        ([36.461_2, 47.858, 18.385_2], [36.271_5, 50.506_5, 21.223_1], 1.414_6),
        ([90.802_7, -2.083_1, 1.441], [91.152_8, -1.643_5, 0.044_7], 1.444_1),
        ([90.925_7, -0.540_6, -0.920_8], [88.638_1, -0.898_5, -0.723_9], 1.538_1),
        ([6.774_7, -0.290_8, -2.424_7], [5.871_4, -0.098_5, -2.228_6], 0.637_7),
        ([2.077_6, 0.079_5, -1.135], [0.903_3, -0.063_6, -0.551_4], 0.908_2),
    ];
    for (a, b, expected) in PAIRS {
        for found in [ciede2000(a, b), ciede2000(b, a)] {
            assert!((found - expected).abs() < 0.000_1, "{a:?} {b:?}: {found}, not {expected}");
        }
    }
}

#[test]
fn grey_stays_grey_for_all_eyes() {
    for vision in Vision::ALL {
        let [_, a, b] = vision.lab(Rgb(120, 120, 120));
        assert!(a.abs() < 0.1 && b.abs() < 0.1, "{vision:?}");
    }
}
