//! Categories are told apart by everyone, in both themes.

use super::super::color_difference::Vision;
use super::*;

/// Colours with a CIEDE2000 of ten or more are told apart at a glance, also where they do not touch.
const LEAST: f64 = 10.0;

/// Those that fill most of a recording of training, and so lie beside each other whatever their order.
const OFTEN: [Category; 6] = [
    Category::Parameter,
    Category::Gradient,
    Category::OptimizerState,
    Category::Activation,
    Category::Input,
    Category::Temporary,
];

fn shades(color: Rgb) -> [Rgb; 3] {
    [0, 1, 2].map(|number| Palette::shade(color, number))
}

/// The least difference between a shade of one colour and a shade of another, to any eyes.
fn least(a: Rgb, b: Rgb) -> (f64, Vision) {
    let pairs = shades(a).into_iter().flat_map(|a| shades(b).map(|b| (a, b)));
    let all = pairs.flat_map(|(a, b)| Vision::ALL.map(|vision| (vision.difference(a, b), vision)));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are shades")
}

fn pairs() -> impl Iterator<Item = (&'static Palette, Category, Category)> {
    let themes = [&Palette::DARK, &Palette::LIGHT].into_iter();
    themes.flat_map(|palette| {
        let all = Category::ALL.into_iter().enumerate();
        all.flat_map(move |(i, a)| Category::ALL.into_iter().skip(i + 1).map(move |b| (palette, a, b)))
    })
}

#[test]
fn any_two_categories_are_told_apart_by_everyone() {
    for (palette, a, b) in pairs() {
        let (found, vision) = least(palette.category(a), palette.category(b));
        assert!(LEAST <= found, "{a:?} {b:?} {vision:?} dark {}: {found}", palette.is_dark);
    }
}

#[test]
fn inferred_categories_are_told_apart_from_those_beside_them() {
    // No rule infers that the purpose is unknown.
    let inferred = |palette: &Palette, category: Category| {
        let color = palette.category(category);
        (category != Category::Unknown).then(|| palette.inferred(color))
    };
    for (palette, a, b) in pairs() {
        let is_beside = a as usize + 1 == b as usize || (OFTEN.contains(&a) && OFTEN.contains(&b));
        // Others meet seldom, and still differ as much as two lines of a chart need.
        let least_wanted = if is_beside { LEAST } else { LEAST / 2.0 };
        let (plain_a, plain_b) = (Some(palette.category(a)), Some(palette.category(b)));
        let (faded_a, faded_b) = (inferred(palette, a), inferred(palette, b));
        for (x, y) in [(faded_a, plain_b), (plain_a, faded_b), (faded_a, faded_b)] {
            let Some((found, vision)) = x.zip(y).map(|(x, y)| least(x, y)) else { continue };
            assert!(least_wanted <= found, "{a:?} {b:?} {vision:?} dark {}: {found}", palette.is_dark);
        }
    }
}

#[test]
fn categories_stand_out_from_the_ground_and_below_outlines() {
    for palette in [&Palette::DARK, &Palette::LIGHT] {
        for category in Category::ALL {
            let color = palette.category(category);
            for color in [color, palette.inferred(color)] {
                for (shade, vision) in shades(color).into_iter().flat_map(|c| Vision::ALL.map(|v| (c, v))) {
                    assert!(LEAST <= vision.difference(shade, palette.window), "{category:?} on the ground");
                    assert!(LEAST <= vision.difference(shade, palette.outline), "{category:?} in an outline");
                }
            }
            // A selected band keeps its hue and is still no other than its outline.
            let lighter = Palette::lighter(color);
            assert!(1.0 < Vision::Normal.difference(lighter, color), "{category:?} is lighter when selected");
        }
    }
}

#[test]
fn shades_of_a_category_are_on_average_its_entry_in_the_legend() {
    for palette in [&Palette::DARK, &Palette::LIGHT] {
        for category in Category::ALL {
            let color = palette.category(category);
            for color in [color, palette.inferred(color)] {
                let all = shades(color);
                let mean = |channel: fn(Rgb) -> u8| {
                    (all.iter().map(|&shade| u32::from(channel(shade))).sum::<u32>() / 3) as u8
                };
                let average = Rgb(mean(|c| c.0), mean(|c| c.1), mean(|c| c.2));
                assert!(Vision::Normal.difference(average, color) < 1.0, "{category:?}: {average:?}");
                assert!(all.iter().all(|&shade| Vision::Normal.difference(shade, color) < LEAST / 2.0));
            }
        }
    }
}

#[test]
fn hues_are_those_that_their_names_make_one_expect() {
    for palette in [&Palette::DARK, &Palette::LIGHT] {
        let Rgb(r, g, b) = palette.category(Category::Parameter);
        assert!(r < g && g < b, "parameters are blue");
        let Rgb(r, g, b) = palette.category(Category::Activation);
        assert!(r < g && b < g, "activations are green");
        let Rgb(r, g, b) = palette.category(Category::Gradient);
        assert!(b < g && 2 * u32::from(g) < u32::from(r) + 40, "gradients are vermilion");
    }
}
