//! Colours of allocations by a property, and the legend that explains them.

use super::palette::{BandColors, HUES, Palette, Rgb};
use oomscope_analysis::{Attribution, Basis, Category};
use oomscope_model::allocator_sizes::{LARGE_BUFFER, SMALL_BUFFER};
use oomscope_model::{AllocId, Origin, PoolKey, ReservedRange, StackId, Timeline};
use oomscope_units as units;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Lower bounds of the size classes, in bytes; the first is 0. 2 MiB and 20 MiB are the sizes of torch's
/// small and large segments, the others are round numbers around them.
pub(super) const SIZES_BYTES: [i64; 7] =
    [0, 512 << 10, SMALL_BUFFER, LARGE_BUFFER, 100 << 20, 500 << 20, 2 << 30];

/// Number of equal parts of the recording by which ages differ; more shades of one ramp look alike.
pub(super) const AGES: u32 = 6;

/// Number of entries that a legend has at most, so that it stays short. Colours of classes repeat after
/// eight anyway.
const MAX_KEYS: usize = 12;

/// The property of allocations that colours show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ColorBy {
    /// The code that allocated.
    #[default]
    Stack,
    /// The allocation itself, so that it differs from its neighbours.
    Allocation,
    /// Its size.
    Size,
    /// The time of its allocation.
    Age,
    /// Its stream.
    Stream,
    /// Its pool.
    Pool,
    /// Its category.
    Category,
}

impl ColorBy {
    /// All properties, in the order in which they are offered.
    pub const ALL: [Self; 7] =
        [Self::Stack, Self::Allocation, Self::Size, Self::Age, Self::Stream, Self::Pool, Self::Category];

    /// True if these colours need the attribution. Reserved memory cannot have them, as it serves
    /// allocations of several categories.
    pub fn needs_attribution(self) -> bool {
        self == Self::Category
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stack => "stack",
            Self::Allocation => "allocation",
            Self::Size => "size",
            Self::Age => "age",
            Self::Stream => "stream",
            Self::Pool => "pool",
            Self::Category => "category",
        }
    }
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorKey {
    /// The meaning of the colour.
    pub label: String,
    /// Its colour.
    pub color: Rgb,
    /// The filter that keeps just the allocations of this colour; `None` if there is none.
    pub query: Option<String>,
}

/// Colours of the allocations of one timeline.
#[derive(Debug, Clone)]
pub struct Coloring {
    by: ColorBy,
    pub(super) stacks: Arc<BandColors>,
    pub(super) palette: Palette,
    pub(super) streams: Vec<i64>,
    pub(super) pools: Vec<PoolKey>,
    pub(super) attribution: Arc<Attribution>,
    pub(super) present: Vec<Category>,
    has_inferred: bool,
    /// What stands for the colours of stacks where each has too little room.
    pub(super) hues: [Rgb; HUES],
}

impl Coloring {
    /// The colours of a timeline.
    pub fn new(by: ColorBy, timeline: &Timeline, stacks: Arc<BandColors>, palette: &Palette) -> Self {
        let pools = timeline.events.distinct_pools();
        let pools = pools.chain(timeline.segments.segments.iter().filter_map(|segment| segment.pool));
        Self {
            by,
            stacks,
            palette: *palette,
            streams: timeline.streams(),
            pools: pools.collect::<BTreeSet<_>>().into_iter().collect(),
            attribution: Arc::default(),
            present: Vec::new(),
            has_inferred: false,
            hues: palette.hues(),
        }
    }

    /// These colours with the categories of the allocations. Without them, colours by category are those of
    /// stacks.
    #[must_use]
    pub fn with_attribution(self, attribution: Arc<Attribution>) -> Self {
        let categories = &attribution.categories;
        Self { present: categories.present(), has_inferred: categories.has_inferred(), attribution, ..self }
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
        let Timeline { lifetimes, events, .. } = timeline;
        match self.by {
            ColorBy::Stack => self.stacks.get(timeline.stack(id)),
            ColorBy::Allocation => self.palette.hashed(u64::from(id.0)),
            ColorBy::Size => self.size(size_class(timeline.size(id))),
            ColorBy::Age => match lifetimes.origin(id) {
                Origin::Before => self.palette.unknown,
                Origin::Event(ix) => self.age(age_class(ix.0, events.len())),
            },
            ColorBy::Stream => self.class(self.streams.as_slice(), timeline.allocation(id).stream),
            ColorBy::Pool => self.class(self.pools.as_slice(), timeline.allocation(id).pool),
            // Until categories are known, stacks give the colours.
            ColorBy::Category if self.present.is_empty() => self.stacks.get(timeline.stack(id)),
            ColorBy::Category => {
                let verdict = self.attribution.categories.verdict(id);
                let color = self.palette.category(verdict.category);
                let is_inferred = verdict.basis() == Basis::Inferred;
                let color = if is_inferred { self.inferred(color) } else { color };
                Self::shaded(color, timeline.stack(id))
            }
        }
    }

    /// The colour of a category that is only inferred.
    pub(super) fn inferred(&self, color: Rgb) -> Rgb {
        self.palette.inferred(color)
    }

    /// A shade of a category's colour by the stack, so that neighbours of different stacks mostly differ.
    fn shaded(color: Rgb, stack: StackId) -> Rgb {
        // Fibonacci hashing: consecutive ids, which similar stacks have, get different shades.
        Palette::shade(color, stack.0.wrapping_mul(0x9E37_79B9) >> 24)
    }

    /// The colour of a reserved range. `stack` is the stack that reserved it.
    pub fn reserved(&self, timeline: &Timeline, range: &ReservedRange, stack: StackId) -> Rgb {
        match self.by {
            // A segment serves allocations of many categories, so it has none of its own.
            ColorBy::Stack | ColorBy::Category => self.stacks.get(stack),
            ColorBy::Allocation => self.palette.hashed(range.addr ^ u64::from(range.start.0)),
            ColorBy::Size => self.size(size_class(range.size)),
            ColorBy::Age => match range.start.event() {
                None => self.palette.unknown,
                Some(ix) => self.age(age_class(ix.0, timeline.events.len())),
            },
            ColorBy::Stream => self.class(self.streams.as_slice(), range.stream),
            ColorBy::Pool => self.class(self.pools.as_slice(), range.pool),
        }
    }

    /// The legend of the colours; empty if every stack or allocation has its own.
    pub fn keys(&self, timeline: &Timeline) -> Vec<ColorKey> {
        let mut keys = match self.by {
            ColorBy::Stack | ColorBy::Allocation => Vec::new(),
            ColorBy::Size => self.size_keys(),
            ColorBy::Age => self.age_keys(timeline),
            ColorBy::Stream => self
                .class_keys(&self.streams, |stream| (format!("stream {stream}"), format!("stream:{stream}"))),
            ColorBy::Pool => self.class_keys(&self.pools, |&PoolKey(a, b)| {
                if PoolKey(a, b).is_private() {
                    (format!("private pool {a}.{b}"), format!("pool:{a}.{b}"))
                } else {
                    ("default pool".to_owned(), "pool:default".to_owned())
                }
            }),
            ColorBy::Category => self.category_keys(),
        };
        keys.truncate(MAX_KEYS);
        keys
    }

    /// The legend of the colours of reserved memory; see [`Self::reserved`].
    pub fn reserved_keys(&self, timeline: &Timeline) -> Vec<ColorKey> {
        // Its colours are those of stacks instead.
        if self.by.needs_attribution() { Vec::new() } else { self.keys(timeline) }
    }

    pub(super) fn size(&self, class: usize) -> Rgb {
        self.palette.ramp(class as f32 / (SIZES_BYTES.len() - 1) as f32)
    }

    pub(super) fn age(&self, class: u32) -> Rgb {
        self.palette.ramp(class as f32 / (AGES - 1) as f32)
    }

    fn category_keys(&self) -> Vec<ColorKey> {
        let key = |&category: &Category| ColorKey {
            label: category.label().to_owned(),
            color: self.palette.category(category),
            query: Some(format!("category:{}", category.key())),
        };
        let known = self.present.iter().map(key);
        let inferred = ColorKey {
            label: "faded: inferred".to_owned(),
            color: self.inferred(self.palette.muted),
            query: Some(format!("basis:{}", Basis::Inferred.key())),
        };
        known.chain(self.has_inferred.then_some(inferred)).collect()
    }

    /// The colour of a value by its index in `classes`, which are sorted.
    fn class<T: Ord + Copy>(&self, classes: &[T], value: Option<T>) -> Rgb {
        debug_assert!(classes.is_sorted());
        let at = value.and_then(|value| classes.binary_search(&value).ok());
        at.map_or(self.palette.unknown, |at| self.palette.class(at))
    }

    fn class_keys<T>(&self, classes: &[T], name: impl Fn(&T) -> (String, String)) -> Vec<ColorKey> {
        let key = |(at, class): (usize, &T)| {
            let (label, query) = name(class);
            ColorKey { label, color: self.palette.class(at), query: Some(query) }
        };
        classes.iter().enumerate().map(key).collect()
    }

    fn size_keys(&self) -> Vec<ColorKey> {
        let last = SIZES_BYTES.len() - 1;
        let key = |class: usize| {
            let low = SIZES_BYTES[class];
            let (label, query) = match SIZES_BYTES.get(class + 1) {
                Some(&high) if class == 0 => {
                    (format!("below {}", units::bytes_short(high)), format!("size<{}", short(high)))
                }
                Some(&high) => (
                    format!("from {}", units::bytes_short(low)),
                    format!("size>={} size<{}", short(low), short(high)),
                ),
                None => (format!("from {}", units::bytes_short(low)), format!("size>={}", short(low))),
            };
            ColorKey { label, color: self.size(class), query: Some(query) }
        };
        (0..=last).map(key).collect()
    }

    fn age_keys(&self, timeline: &Timeline) -> Vec<ColorKey> {
        let events = timeline.events.len();
        let before = (timeline.lifetimes.initial_count() != 0).then(|| ColorKey {
            label: "before the recording".to_owned(),
            color: self.palette.unknown,
            query: Some("before".to_owned()),
        });
        let part = |class: u32| {
            // The inverse of `age_class`, so that the filter keeps exactly the events of the colour.
            let bound = |class: u32| (events as u64 * u64::from(class)).div_ceil(u64::from(AGES));
            let (low, high) = (bound(class), bound(class + 1).saturating_sub(1));
            ColorKey {
                label: format!("events {} – {}", units::count(low), units::count(high)),
                color: self.age(class),
                query: Some(format!("event:{low}..{high}")),
            }
        };
        before.into_iter().chain((0..AGES).filter(|_| AGES as usize <= events).map(part)).collect()
    }
}

/// Index into [`SIZES_BYTES`]; sizes below 0, which a file may have, are in the first class.
pub(super) fn size_class(bytes: i64) -> usize {
    SIZES_BYTES.partition_point(|&low| low <= bytes).saturating_sub(1)
}

/// The part of the recording, below [`AGES`], that an event lies in.
pub(super) fn age_class(event: u32, events: usize) -> u32 {
    (u64::from(event) * u64::from(AGES) / (events as u64).max(1)).min(u64::from(AGES) - 1) as u32
}

/// A size as the filter reads it: `512KiB`.
fn short(bytes: i64) -> String {
    units::bytes_short(bytes).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_analysis::filter;
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use oomscope_model::Snapshot;

    fn coloring(by: ColorBy, timeline: &Timeline) -> Coloring {
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        Coloring::new(by, timeline, stacks, &Palette::DARK)
    }

    #[test]
    fn classes_cover_every_value() {
        assert_eq!([-5, 0, 512 << 10, (2 << 20) - 1, i64::MAX].map(size_class), [0, 0, 1, 1, 6]);
        assert_eq!([0, 9, 10, 59, 99].map(|event| age_class(event, 60)), [0, 0, 1, 5, 5]);
        assert_eq!(age_class(0, 0), 0);
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
    fn size_classes_are_named_as_filters_read_them() {
        let keys = coloring(ColorBy::Size, &fixture::timeline(&[])).keys(&fixture::timeline(&[]));
        let queries: Vec<&str> = keys.iter().filter_map(|key| key.query.as_deref()).collect();
        assert_eq!(queries[0], "size<512KiB");
        assert_eq!(queries[1], "size>=512KiB size<2MiB");
        assert_eq!(queries[6], "size>=2GiB");
        for query in queries {
            assert!(filter::Filter::parse(query).is_ok(), "{query}");
        }
    }
}
