//! The rows of the legend: meanings of colours with their bytes at a moment.

use crate::device::TimelineMode;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{Attribution, Category, CategoryBytes};
use oomscope_draw::{ColorBy, Coloring, Palette, Rgb};
use oomscope_model::{AllocId, Bytes, Moment, Recording};

/// The rows of a moment, and what they add up to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Live blocks that the filter lets through, and their bytes.
    pub(super) blocks: usize,
    pub(super) bytes: Bytes,
    /// The meanings of colours in their order, which does not change with the moment.
    pub(crate) all: Vec<LegendRow>,
}

/// One meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LegendRow {
    pub(super) label: String,
    /// Its colour; `None` where colours mean something else.
    pub(crate) color: Option<Rgb>,
    /// The filter that keeps just what it stands for.
    pub(super) query: Option<String>,
    pub(super) live: Option<Live>,
}

/// The memory of a row that is live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Live {
    pub(super) bytes: Bytes,
    pub(super) inferred_bytes: Bytes,
    pub(super) blocks: usize,
}

/// Everything that the rows of a moment are made of.
pub(super) struct Source<'a> {
    pub(super) recording: &'a Recording,
    pub(super) coloring: &'a Coloring,
    pub(super) palette: &'a Palette,
    pub(super) mode: TimelineMode,
    pub(super) matches: Option<&'a Matches>,
    pub(super) attribution: Option<&'a Attribution>,
}

impl Rows {
    /// Sum up a moment.
    pub(super) fn new(source: &Source<'_>, moment: Moment) -> Self {
        let add = |(blocks, bytes): (usize, Bytes), id| (blocks + 1, bytes + source.recording.size(id));
        let (blocks, bytes) = source.live(moment).fold((0, Bytes::ZERO), add);
        let is_by_category = source.coloring.by() == ColorBy::Category;
        let rows = match (source.mode, source.attribution) {
            (TimelineMode::Blocks, Some(found)) if is_by_category => source.categories(found, moment, true),
            (TimelineMode::Blocks, _) if !source.coloring.keys(source.recording).is_empty() => {
                source.keys(moment)
            }
            (TimelineMode::Segments, _) if !source.coloring.reserved_keys(source.recording).is_empty() => {
                source.reserved_keys()
            }
            (TimelineMode::Blocks, _) if source.coloring.by() == ColorBy::Stack => source.stacks(moment),
            // Where no colour has a meaning, categories still say what memory is for.
            (_, Some(found)) => source.categories(found, moment, false),
            (_, None) => Vec::new(),
        };
        Self { blocks, bytes, all: rows }
    }
}

impl Source<'_> {
    /// The live allocations that pass the filter.
    pub(super) fn live(&self, moment: Moment) -> impl Iterator<Item = AllocId> + '_ {
        let live = self.recording.lifetimes.live_at(moment);
        live.filter(|&id| self.matches.is_none_or(|matches| matches.contains(id)))
    }

    /// All categories that occur in the recording.
    fn categories(&self, found: &Attribution, moment: Moment, is_colored: bool) -> Vec<LegendRow> {
        let sizes = self.live(moment).map(|id| (id, self.recording.size(id)));
        let live = found.categories.bytes_of(sizes);
        let row = |category: Category| {
            let amount = live.iter().find(|row| row.category == category);
            LegendRow {
                label: category.label().to_owned(),
                color: is_colored.then(|| self.palette.category(category)),
                query: Some(format!("category:{}", category.key())),
                live: Some(amount.map_or_else(Live::default, Live::of)),
            }
        };
        found.categories.present().into_iter().map(row).collect()
    }

    /// The colours of blocks with the bytes that have them.
    fn keys(&self, moment: Moment) -> Vec<LegendRow> {
        let keys = self.coloring.keys(self.recording);
        let mut sums = vec![Live::default(); keys.len()];
        for id in self.live(moment) {
            let color = self.coloring.color(self.recording, id);
            if let Some(sum) = keys.iter().position(|key| key.color == color).and_then(|at| sums.get_mut(at))
            {
                sum.bytes += self.recording.size(id);
                sum.blocks += 1;
            }
        }
        let row = |(key, live): (oomscope_draw::ColorKey, Live)| LegendRow {
            label: key.label,
            color: Some(key.color),
            query: key.query,
            live: Some(live),
        };
        keys.into_iter().zip(sums).map(row).collect()
    }

    /// The colours of segments.
    fn reserved_keys(&self) -> Vec<LegendRow> {
        let keys = self.coloring.reserved_keys(self.recording).into_iter();
        keys.map(|key| LegendRow { label: key.label, color: Some(key.color), query: key.query, live: None })
            .collect()
    }
}

impl Live {
    fn of(row: &CategoryBytes) -> Self {
        Self { bytes: row.bytes, inferred_bytes: row.inferred_bytes, blocks: row.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_analysis::UserRules;
    use oomscope_draw::BandColors;
    use oomscope_snapshot::load::{Input, Progress, load};
    use std::sync::Arc;

    #[test]
    fn rows_add_up_to_what_is_live_at_every_moment_and_keep_their_order() {
        let path = crate::tests::sample("gpt_oom_forward.pickle");
        let snapshot = Arc::new(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let recording = Recording::all(&snapshot).next().expect("a device");
        let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
        for by in [ColorBy::Category, ColorBy::Size, ColorBy::Pool, ColorBy::Stack] {
            let stacks = Arc::new(BandColors::new(&snapshot, &Palette::DARK));
            let coloring = Coloring::new(by, &recording, stacks, &Palette::DARK);
            let source = Source {
                recording: &recording,
                coloring: &coloring.with_attribution(Arc::clone(&attribution)),
                palette: &Palette::DARK,
                mode: TimelineMode::Blocks,
                matches: None,
                attribution: Some(&attribution),
            };
            let mut labels: Option<Vec<String>> = None;
            for at in (0..recording.moments() as u32).step_by(97) {
                let found = Rows::new(&source, Moment(at));
                let sum: Bytes = found.all.iter().filter_map(|row| row.live).map(|live| live.bytes).sum();
                assert_eq!((found.bytes, sum), (recording.active.at(Moment(at)), found.bytes), "{by:?} {at}");
                let names: Vec<String> = found.all.into_iter().map(|row| row.label).collect();
                assert_eq!(labels.get_or_insert_with(|| names.clone()), &names);
            }
        }
    }
}
