//! Classes of allocations with one colour, in the order of the legend.

use super::coloring::{AGES, ColorBy, Coloring, SIZES_BYTES, age_class, size_class};
use super::palette::{HUES, Rgb};
use crate::analysis::{Basis, Category};
use crate::model::{AllocId, Origin, ReservedRange, StackId, Timeline};

/// Number of streams or pools that have a class of their own. Colours repeat after eight, so later ones share
/// the class of their colour.
const OWN_CLASSES: usize = 24;

/// Number of colours after which those of streams and pools repeat.
const CLASS_COLORS: usize = 8;

/// A class of allocations with one colour. Classes are numbered in the order of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColorClass(pub u8);

impl Coloring {
    /// Number of classes that these colours can have, at most 64.
    pub fn class_count(&self) -> usize {
        match self.by() {
            ColorBy::Size => SIZES_BYTES.len(),
            ColorBy::Age => 1 + AGES as usize,
            ColorBy::Stream | ColorBy::Pool => OWN_CLASSES + CLASS_COLORS + 1,
            // A category that is seen and one that is inferred.
            ColorBy::Category if !self.present.is_empty() => 2 * Category::ALL.len(),
            ColorBy::Category | ColorBy::Stack | ColorBy::Allocation => HUES + 1,
        }
    }

    /// The class of an allocation.
    pub fn class_of(&self, timeline: &Timeline, id: AllocId) -> ColorClass {
        ColorClass(match self.by() {
            ColorBy::Size => size_class(timeline.size(id)) as u8,
            ColorBy::Age => match timeline.lifetimes.origin(id) {
                Origin::Before => 0,
                Origin::Event(ix) => 1 + age_class(ix.0, timeline.events.len()) as u8,
            },
            ColorBy::Stream => class_at(&self.streams, timeline.allocation(id).stream),
            ColorBy::Pool => class_at(&self.pools, timeline.allocation(id).pool),
            ColorBy::Category if !self.present.is_empty() => {
                let verdict = self.attribution.categories.verdict(id);
                let at = Category::ALL.iter().position(|&category| category == verdict.category);
                2 * at.unwrap_or(0) as u8 + u8::from(verdict.basis() == Basis::Inferred)
            }
            ColorBy::Category | ColorBy::Stack | ColorBy::Allocation => self.hue(self.color(timeline, id)),
        })
    }

    /// The class of a reserved range. `stack` is the stack that reserved it.
    pub fn class_of_reserved(
        &self,
        timeline: &Timeline,
        range: &ReservedRange,
        stack: StackId,
    ) -> ColorClass {
        ColorClass(match self.by() {
            ColorBy::Size => size_class(range.size) as u8,
            ColorBy::Age => {
                range.start.event().map_or(0, |ix| 1 + age_class(ix.0, timeline.events.len()) as u8)
            }
            ColorBy::Stream => class_at(&self.streams, range.stream),
            ColorBy::Pool => class_at(&self.pools, range.pool),
            ColorBy::Category | ColorBy::Stack | ColorBy::Allocation => {
                self.hue(self.reserved(timeline, range, stack))
            }
        })
    }

    /// The colour of a class of allocations: that of the legend or, for stacks, the hue that is nearest to
    /// theirs.
    pub fn class_color(&self, class: ColorClass) -> Rgb {
        let at = usize::from(class.0);
        match self.by() {
            ColorBy::Size => self.size(at),
            ColorBy::Age if at == 0 => self.palette.unknown,
            ColorBy::Age => self.age(u32::from(class.0) - 1),
            ColorBy::Stream | ColorBy::Pool if OWN_CLASSES + CLASS_COLORS <= at => self.palette.unknown,
            ColorBy::Stream | ColorBy::Pool => self.palette.class(at),
            ColorBy::Category if !self.present.is_empty() => {
                let category = Category::ALL.get(at / 2).copied().unwrap_or(Category::Unknown);
                let color = self.palette.category(category);
                if at.is_multiple_of(2) { color } else { self.inferred(color) }
            }
            ColorBy::Category | ColorBy::Stack | ColorBy::Allocation => self.hue_color(at),
        }
    }

    /// The colour of a class of reserved memory.
    pub fn class_color_of_reserved(&self, class: ColorClass) -> Rgb {
        match self.by() {
            ColorBy::Category => self.hue_color(usize::from(class.0)),
            _ => self.class_color(class),
        }
    }

    /// The name of a class of allocations, as the legend has it; for stacks, that there are several.
    pub fn class_label(&self, class: ColorClass, timeline: &Timeline) -> String {
        let at = usize::from(class.0);
        match self.by() {
            ColorBy::Category if !self.present.is_empty() => {
                let category = Category::ALL.get(at / 2).copied().unwrap_or(Category::Unknown);
                let how = if at.is_multiple_of(2) { "" } else { ", inferred" };
                format!("{}{how}", category.label())
            }
            ColorBy::Category | ColorBy::Stack | ColorBy::Allocation if HUES <= at => "no stack".to_owned(),
            ColorBy::Category | ColorBy::Stack | ColorBy::Allocation => "stacks of this colour".to_owned(),
            ColorBy::Age if at == 0 => "before the recording".to_owned(),
            _ => {
                let color = self.class_color(class);
                let key = self.keys(timeline).into_iter().find(|key| key.color == color);
                key.map_or_else(|| format!("others by {}", self.by().name()), |key| key.label)
            }
        }
    }

    fn hue_color(&self, at: usize) -> Rgb {
        self.hues.get(at).copied().unwrap_or(self.palette.unknown)
    }

    /// The number of the hue that is nearest to a colour; the last is for blocks without a stack.
    fn hue(&self, color: Rgb) -> u8 {
        if color == self.palette.unknown {
            return HUES as u8;
        }
        let distance = |&at: &usize| {
            let (Rgb(r, g, b), Rgb(to_r, to_g, to_b)) = (color, self.hues[at]);
            [(r, to_r), (g, to_g), (b, to_b)]
                .map(|(a, b)| u32::from(a.abs_diff(b)).pow(2))
                .iter()
                .sum::<u32>()
        };
        (0..HUES).min_by_key(distance).unwrap_or(0) as u8
    }
}

/// The class of a value by its index in `classes`, which are sorted; the last for a value that is not there.
fn class_at<T: Ord + Copy>(classes: &[T], value: Option<T>) -> u8 {
    match value.and_then(|value| classes.binary_search(&value).ok()) {
        None => (OWN_CLASSES + CLASS_COLORS) as u8,
        Some(at) if at < OWN_CLASSES => at as u8,
        Some(at) => (OWN_CLASSES + at % CLASS_COLORS) as u8,
    }
}
