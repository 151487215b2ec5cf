//! The user's choice of a way to put both curves on one axis.

use super::computing::{CompareRequest, Compared, Curves, RangeCurvesTask, RangeRequest};
use super::ways::{Ranges, Way};
use crate::texts::marked;
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::worker::WorkMode;
use eframe::egui::{self, ComboBox, ScrollArea, TextStyle};
use oomscope_analysis::MomentRange;
use oomscope_analysis::comparison::CommonRange;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// Width of the chooser of ranges, in points.
const RANGE_PX: f32 = 150.0;

/// Height of its list, in points: about ten names.
const LIST_PX: f32 = 220.0;

/// The range that the user chose.
#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    Marked,
    /// By the name that the file has.
    Named(Arc<str>),
}

/// A comparison, and the range that is looked up in it.
type LookUp = (ByPtr<Compared>, Option<Wanted>);

/// The choice, and curves by ranges.
#[derive(Default)]
pub(super) struct State {
    way: Option<Way>,
    wanted: Option<Wanted>,
    /// The common ranges of the wanted name, which is looked up where it or the comparison changes.
    named: Memo<LookUp, Option<Arc<CommonRange>>>,
    background: Background<RangeCurvesTask>,
}

/// What is shown of the curves.
pub(super) enum Shown {
    Curves(Arc<Curves>),
    /// A sentence instead.
    Sentence(&'static str),
}

/// Why curves cannot be aligned by ranges, and how they could be.
const NO_RANGES: &str = marked!(
    "No range has the same name in both recordings, and none is marked in both. \
    torch.profiler.record_function(\"name\") names a part of a program; Ctrl+drag over the timeline marks one."
);

impl State {
    /// Take over what does not depend on the file.
    pub(super) fn keep(&mut self, old: &Self) {
        (self.way, self.wanted) = (old.way, old.wanted.clone());
    }

    /// Let go of recordings.
    pub(super) fn forget(&mut self) {
        (self.named, self.background) = (Memo::default(), Background::default());
    }

    /// The way that is shown: the user's, if both recordings allow it, else the best.
    fn shown_way(&self, found: &Compared) -> Option<Way> {
        let is_possible =
            |way: &Way| *way == Way::Range || found.curves.iter().any(|known| known.way == *way);
        self.way.filter(is_possible).or(found.curves.first().map(|known| known.way))
    }

    /// The ranges that are shown: the wanted ones if they are there, else those that are marked, else the first name.
    fn ranges(&self, found: &Arc<Compared>, marked: Option<[MomentRange; 2]>) -> Option<Ranges> {
        let look_up = || match &self.wanted {
            Some(Wanted::Named(name)) => found.ranges.iter().find(|common| *common.name == **name).cloned(),
            _ => None,
        };
        let named = self.named.get((ByPtr(Arc::clone(found)), self.wanted.clone()), look_up);
        let named = named.map(|common| Ranges::Named(ByPtr(common)));
        let first = || found.ranges.first().map(|common| Ranges::Named(ByPtr(Arc::clone(common))));
        named.or(marked.map(Ranges::Marked)).or_else(first)
    }

    /// The curves in the chosen way; `None` until they are known.
    pub(super) fn shown(
        &mut self,
        ctx: &egui::Context,
        mode: WorkMode,
        found: &Arc<Compared>,
        request: &CompareRequest,
        marked: Option<[MomentRange; 2]>,
    ) -> Option<Shown> {
        let way = self.shown_way(found);
        if way != Some(Way::Range) {
            let known = found.curves.iter().find(|known| Some(known.way) == way).cloned();
            return Some(
                known.map_or(Shown::Sentence(marked!("Nothing was recorded over time.")), Shown::Curves),
            );
        }
        let Some(ranges) = self.ranges(found, marked) else { return Some(Shown::Sentence(NO_RANGES)) };
        let request = RangeRequest { compared: request.clone(), ranges };
        self.background.ask(&request, ctx, mode, "align curves", || RangeCurvesTask);
        let latest = self.background.latest()?.clone();
        Some(latest.map_or(Shown::Sentence(marked!("Nothing was recorded in these ranges.")), Shown::Curves))
    }
}

/// The choosers of the way and of the range.
pub(super) fn ui(
    ui: &mut egui::Ui,
    state: &mut State,
    found: &Arc<Compared>,
    marked: Option<[MomentRange; 2]>,
) {
    ui.label(theme::muted(ui, tr!("aligned by")));
    let shown = state.shown_way(found);
    for way in found.curves.iter().map(|known| known.way).chain([Way::Range]) {
        let label = ui.selectable_label(shown == Some(way), theme::small(way.name()));
        if label.clicked() {
            state.way = Some(way);
        }
        if way == Way::Range {
            label.on_hover_text(tr!("Ranges of one name, or those marked in both, begin at the same places"));
        }
    }
    if shown == Some(Way::Range)
        && let Some(ranges) = state.ranges(found, marked)
    {
        range_ui(ui, state, found, &ranges, marked.is_some());
    }
}

fn range_ui(ui: &mut egui::Ui, state: &mut State, found: &Compared, shown: &Ranges, has_marked: bool) {
    let name = shown.name();
    let chooser =
        ComboBox::from_id_salt("range").selected_text(theme::small(&name)).width(RANGE_PX).truncate();
    let row_px = ui.text_style_height(&TextStyle::Button) + 2.0 * ui.spacing().button_padding.y;
    let response = chooser.height(2.0 * LIST_PX).show_ui(ui, |ui| {
        if has_marked
            && ui.selectable_label(matches!(shown, Ranges::Marked(_)), tr!("the marked ranges")).clicked()
        {
            state.wanted = Some(Wanted::Marked);
        }
        // A file may have any number of names.
        ScrollArea::vertical().max_height(LIST_PX).show_rows(ui, row_px, found.ranges.len(), |ui, rows| {
            for common in &found.ranges[rows] {
                let is_shown = matches!(shown, Ranges::Named(shown) if Arc::ptr_eq(&shown.0, common));
                if ui.selectable_label(is_shown, range_text(common)).clicked() {
                    state.wanted = Some(Wanted::Named(common.name.as_str().into()));
                }
            }
        });
    });
    response.response.on_hover_text(name);
}

/// A name with the number of its ranges on both sides.
fn range_text(common: &CommonRange) -> String {
    let [a, b] = [0, 1].map(|side: usize| units::count(common.ranges[side].len() as u64));
    tr!("{name} ({a} in A, {b} in B)", name = units::printable(&common.name), a, b)
}
