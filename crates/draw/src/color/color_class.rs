//! Classes of allocations with one colour, in the order of the legend.

use super::coloring::{AGES, ColorBy, Coloring, SIZES_BYTES, age_class, size_class};
use super::palette::{HUES, Rgb, nearest};
use oomscope_analysis::{Basis, Category};
use oomscope_model::{AllocId, Origin, ReservedRange, StackId, Timeline};

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
                // Categories are declared in the order of `Category::ALL`.
                2 * verdict.category as u8 + u8::from(verdict.basis() == Basis::Inferred)
            }
            ColorBy::Allocation => nearest(&self.hues, self.color(timeline, id)),
            ColorBy::Category | ColorBy::Stack => self.stacks.hue(timeline.stack(id)),
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
            ColorBy::Allocation => nearest(&self.hues, self.reserved(timeline, range, stack)),
            ColorBy::Category | ColorBy::Stack => self.stacks.hue(stack),
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
}

/// The class of a value by its index in `classes`, which are sorted; the last for a value that is not there.
fn class_at<T: Ord + Copy>(classes: &[T], value: Option<T>) -> u8 {
    match value.and_then(|value| classes.binary_search(&value).ok()) {
        None => (OWN_CLASSES + CLASS_COLORS) as u8,
        Some(at) if at < OWN_CLASSES => at as u8,
        Some(at) => (OWN_CLASSES + at % CLASS_COLORS) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandColors, Palette};
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use oomscope_model::Snapshot;
    use std::sync::Arc;

    #[test]
    fn classes_have_the_colours_of_their_allocations_in_the_order_of_the_legend() {
        let steps: Vec<Step> = (0..12).map(|slot| Step::Alloc(slot, 1 << (slot * 3))).collect();
        let timeline = fixture::timeline(&steps);
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        for by in [ColorBy::Size, ColorBy::Age, ColorBy::Stream, ColorBy::Pool] {
            let coloring = Coloring::new(by, &timeline, Arc::clone(&stacks), &Palette::DARK);
            let keys: Vec<Rgb> = coloring.keys(&timeline).iter().map(|key| key.color).collect();
            for id in 0..12 {
                let class = coloring.class_of(&timeline, AllocId(id));
                assert!(usize::from(class.0) < coloring.class_count());
                assert_eq!(
                    coloring.class_color(class),
                    coloring.color(&timeline, AllocId(id)),
                    "{by:?} {id}"
                );
            }
            let classes = (0..coloring.class_count() as u8).map(ColorClass);
            let place = |class| keys.iter().position(|&key| key == coloring.class_color(class));
            let places: Vec<usize> = classes.filter_map(place).take(keys.len()).collect();
            assert!(places.is_sorted(), "{by:?} {places:?}");
        }
    }

    #[test]
    fn categories_are_numbered_as_they_are_listed() {
        for (at, category) in Category::ALL.into_iter().enumerate() {
            assert_eq!(category as usize, at);
        }
    }

    #[test]
    fn classes_after_the_last_of_their_own_share_a_colour() {
        let values: Vec<i64> = (0..60).collect();
        for value in values.iter().copied() {
            let class = usize::from(class_at(&values, Some(value)));
            assert_eq!(class % CLASS_COLORS, value as usize % CLASS_COLORS);
            assert!(class < OWN_CLASSES + CLASS_COLORS);
        }
        assert_eq!(usize::from(class_at(&values, Some(99))), OWN_CLASSES + CLASS_COLORS);
    }
}
