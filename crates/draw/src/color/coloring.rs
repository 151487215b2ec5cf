//! Colours of allocations by a property, and the legend that explains them.

use super::color_by::{ColorBy, ColorKey};
use super::keys::{ByCategory, Colored, KEYS, Key};
use super::palette::{BandColors, Palette, Rgb};
use oomscope_analysis::Attribution;
use oomscope_model::{AllocId, ReservedRange, StackId, Timeline};
use std::sync::Arc;

/// Number of entries that a legend has at most, so that it stays short. Colours of classes repeat after
/// eight anyway.
const MAX_KEYS: usize = 12;

impl ColorBy {
    /// All properties, in the order in which they are offered.
    pub const ALL: [Self; KEYS.len()] = {
        let mut all = [Self::Stack; KEYS.len()];
        let mut at = 0;
        while at < KEYS.len() {
            all[at] = KEYS[at].by;
            at += 1;
        }
        all
    };

    /// True if these colours need the attribution. Reserved memory cannot have them, as it serves
    /// allocations of several categories.
    pub fn needs_attribution(self) -> bool {
        self == Self::Category
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        KEYS[self as usize].name
    }
}

/// A class of things with one colour. Classes are numbered in the order of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColorClass(pub u8);

/// Colours of the allocations of one timeline.
#[derive(Debug, Clone)]
pub struct Coloring {
    by: ColorBy,
    key: Arc<dyn Key>,
    /// As `key`, but for categories: a segment serves allocations of many, so that its stack gives its colour.
    of_reserved: Arc<dyn Key>,
    stacks: Arc<BandColors>,
    palette: Palette,
}

impl Coloring {
    /// The colours of a timeline.
    pub fn new(by: ColorBy, timeline: &Timeline, stacks: Arc<BandColors>, palette: &Palette) -> Self {
        let key = (KEYS[by as usize].of)(timeline, &stacks, palette);
        Self { by, of_reserved: Arc::clone(&key), key, stacks, palette: *palette }
    }

    /// These colours with the categories of the allocations. Without them, colours by category are those of
    /// stacks.
    #[must_use]
    pub fn with_attribution(self, attribution: Arc<Attribution>) -> Self {
        let key = ByCategory::of(attribution, &self.palette).filter(|_| self.by.needs_attribution());
        match key {
            Some(key) => Self { key: Arc::new(key), ..self },
            None => self,
        }
    }

    /// The property that the colours show.
    pub fn by(&self) -> ColorBy {
        self.by
    }

    /// The colour of a stack, whichever property the colours show.
    pub fn stack(&self, stack: StackId) -> Rgb {
        self.stacks.get(stack)
    }

    /// The colour of memory that is reserved and not in use.
    pub fn free(&self) -> Rgb {
        self.palette.muted
    }

    /// The colour of an allocation.
    pub fn color(&self, timeline: &Timeline, id: AllocId) -> Rgb {
        self.key.color(&Colored::Allocation(timeline, id))
    }

    /// The colour of a reserved range. `stack` is the stack that reserved it.
    pub fn reserved(&self, timeline: &Timeline, range: &ReservedRange, stack: StackId) -> Rgb {
        self.of_reserved.color(&Colored::Reserved(timeline, range, stack))
    }

    /// The legend of the colours; empty if every stack or allocation has its own.
    pub fn keys(&self, timeline: &Timeline) -> Vec<ColorKey> {
        legend(&*self.key, timeline)
    }

    /// The legend of the colours of reserved memory; see [`Self::reserved`].
    pub fn reserved_keys(&self, timeline: &Timeline) -> Vec<ColorKey> {
        legend(&*self.of_reserved, timeline)
    }

    /// Number of classes that these colours can have, at most 64.
    pub fn class_count(&self) -> usize {
        self.key.class_count()
    }

    /// The class of an allocation.
    pub fn class_of(&self, timeline: &Timeline, id: AllocId) -> ColorClass {
        ColorClass(self.key.class(&Colored::Allocation(timeline, id)))
    }

    /// The class of a reserved range. `stack` is the stack that reserved it.
    pub fn class_of_reserved(
        &self,
        timeline: &Timeline,
        range: &ReservedRange,
        stack: StackId,
    ) -> ColorClass {
        ColorClass(self.of_reserved.class(&Colored::Reserved(timeline, range, stack)))
    }

    /// The colour of a class of allocations: that of the legend or, for stacks, the hue that is nearest to
    /// theirs.
    pub fn class_color(&self, class: ColorClass) -> Rgb {
        self.key.class_color(class.0.into())
    }

    /// The colour of a class of reserved memory.
    pub fn class_color_of_reserved(&self, class: ColorClass) -> Rgb {
        self.of_reserved.class_color(class.0.into())
    }

    /// The name of a class of allocations, as the legend has it; for stacks, that there are several.
    pub fn class_label(&self, class: ColorClass, timeline: &Timeline) -> String {
        let in_legend = || {
            let color = self.class_color(class);
            let key = self.keys(timeline).into_iter().find(|key| key.color == color);
            key.map_or_else(|| format!("others by {}", self.by.name()), |key| key.label)
        };
        self.key.label(class.0.into()).unwrap_or_else(in_legend)
    }
}

fn legend(key: &dyn Key, timeline: &Timeline) -> Vec<ColorKey> {
    let mut keys = key.legend(timeline);
    keys.truncate(MAX_KEYS);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use oomscope_model::Snapshot;

    fn coloring(by: ColorBy, timeline: &Timeline) -> Coloring {
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        Coloring::new(by, timeline, stacks, &Palette::DARK)
    }

    #[test]
    fn the_legend_has_the_colours_of_the_bands() {
        let steps: Vec<Step> = (0..12).map(|slot| Step::Alloc(slot, 1 << (slot * 3))).collect();
        let timeline = fixture::timeline(&steps);
        for by in [ColorBy::Size, ColorBy::Age, ColorBy::Stream] {
            let coloring = coloring(by, &timeline);
            let keys = coloring.keys(&timeline);
            for id in 0..12 {
                let color = coloring.color(&timeline, AllocId(id));
                assert!(keys.iter().any(|key| key.color == color), "{by:?} {id}");
            }
        }
    }

    #[test]
    fn classes_have_the_colours_of_their_allocations_in_the_order_of_the_legend() {
        let steps: Vec<Step> = (0..12).map(|slot| Step::Alloc(slot, 1 << (slot * 3))).collect();
        let timeline = fixture::timeline(&steps);
        for by in [ColorBy::Size, ColorBy::Age, ColorBy::Stream, ColorBy::Pool] {
            let coloring = coloring(by, &timeline);
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
}
