//! The pane *Compare*: where the difference of two recordings or moments comes from.

use super::aligning::Shown;
use super::computing::{CompareRequest, CompareTask, Compared, StacksTask};
use super::others::Other;
use super::sides::{ComparedSide, SideMoment};
use super::table::{self, Rows};
use super::{aligning, curves, flame};
use crate::device::{Pane, PaneCtx};
use crate::tables::scroll::Reveal;
use crate::tables::virtual_list::{ListState, VirtualList};
use crate::texts::{self, marked};
use crate::theme;
use crate::work::background::Background;
use crate::work::memo::Memo;
use eframe::egui::{self, ComboBox};
use oomscope_analysis::MomentRange;
#[cfg(test)]
use oomscope_analysis::comparison::StackChanges;
use oomscope_model::{DeviceId, Moment, Recording};
use oomscope_report::CompareBy;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// Width of the choosers of files and moments, in points.
const FILE_PX: f32 = 190.0;
const MOMENT_PX: f32 = 92.0;

/// What the body shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Table(CompareBy),
    Flame,
    Curves,
}

/// The pane's own state, kept between frames.
pub(crate) struct State {
    /// The devices of all open files. The window fills it in before every frame.
    pub(crate) others: Vec<Other>,
    /// A device of another file whose cursor is to move, too. The window takes it.
    pub(crate) moved: Option<(Recording, Moment)>,
    /// The device that this one is compared with; the most alike of the others until the user chooses one.
    chosen: Option<Recording>,
    /// The place of the one that is most alike among the others. The key is where these are, which keeps none of them in memory, and
    /// whether their code is known.
    most_alike: Memo<Vec<(usize, DeviceId, bool)>, Option<usize>>,
    /// The moment of that device, and of this one.
    moments: [SideMoment; 2],
    body: Body,
    aligning: aligning::State,
    background: Background<CompareTask>,
    /// The recordings of the latest comparison.
    compared: Option<[Recording; 2]>,
    list: ListState,
    stacks: Background<StacksTask>,
    pub(crate) flame: flame::State,
}

impl Default for State {
    fn default() -> Self {
        Self {
            others: Vec::new(),
            moved: None,
            chosen: None,
            most_alike: Memo::default(),
            moments: [SideMoment::default(); 2],
            body: Body::Table(CompareBy::Category),
            aligning: aligning::State::default(),
            background: Background::default(),
            compared: None,
            list: ListState::default(),
            stacks: Background::default(),
            flame: flame::State::default(),
        }
    }
}

impl State {
    /// Let go of recordings whose files are closed: they take memory.
    pub(crate) fn forget_closed(&mut self, open: &[Other]) {
        self.others.clear();
        let is_open = |recording: &Recording| open.iter().any(|other| other.recording == *recording);
        self.chosen = self.chosen.take().filter(is_open);
        if !self.compared.iter().flatten().all(is_open) {
            (self.compared, self.background) = (None, Background::default());
            (self.stacks, self.flame) = (Background::default(), flame::State::default());
            self.aligning.forget();
        }
    }

    /// Both sides by stack, once they are compared.
    #[cfg(test)]
    pub(crate) fn changes(&self) -> Option<Arc<StackChanges>> {
        self.stacks.latest().cloned()
    }

    /// Compare with this device from now on.
    pub(crate) fn choose(&mut self, other: Recording) {
        self.chosen = Some(other);
    }

    /// The device that this one is compared with: the chosen one while it is open, else the one that is most alike, of other
    /// files rather than of this one; this one if there is no other.
    fn other(&self, own: &Other) -> Option<&Other> {
        let is_chosen = |other: &&Other| self.chosen.as_ref() == Some(&other.recording);
        let chosen = self.others.iter().find(is_chosen);
        let key = |other: &Other| {
            let file = Arc::as_ptr(other.recording.snapshot()).addr();
            (file, other.recording.device, other.sites.is_some())
        };
        let key: Vec<_> = self.others.iter().map(key).collect();
        let most_alike = || {
            let likeness = |other: &Other| {
                let is_elsewhere = !Arc::ptr_eq(other.recording.snapshot(), own.recording.snapshot());
                let likeness = own.likeness(other);
                (0.0 < likeness, is_elsewhere, likeness)
            };
            let others = self.others.iter().enumerate().filter(|(_, other)| other.recording != own.recording);
            let mut best: Option<(usize, (bool, bool, f64))> = None;
            for (at, other) in others {
                let likeness = likeness(other);
                if best.is_none_or(|(_, known)| known < likeness) {
                    best = Some((at, likeness));
                }
            }
            best.map(|(at, _)| at)
        };
        chosen.or_else(|| self.others.get(self.most_alike.get(key, most_alike)?)).or(self.others.first())
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let own = self.others.iter().find(|other| other.recording == *ctx.recording).cloned();
        let Some(own) = own else { return };
        let Some(other) = self.other(&own).cloned() else { return };
        let sides = sides_ui(ui, self, &other, &own);
        ui.add_space(2.0);
        let [Some(a), Some(b)] = sides else {
            ui.label(theme::muted(ui, tr!("One of these recordings has no request that failed.")));
            return;
        };
        if a == b {
            ui.label(theme::muted(ui, texts::translated(HINT)));
            return;
        }
        let compared = Some([a.recording.clone(), b.recording.clone()]);
        if self.compared != compared {
            // Frames of other files are other ones.
            (self.stacks, self.flame) = (Background::default(), flame::State::default());
            self.compared = compared;
            self.aligning.forget();
        }
        let request = CompareRequest { sides: [a, b] };
        let mode = ctx.derived.work_mode;
        self.background.ask(&request, ui.ctx(), mode, "compare", || CompareTask);
        let Some(found) = self.background.latest().cloned() else {
            ui.label(theme::muted(ui, tr!("Comparing …")));
            return;
        };
        let sentence = ui.add(egui::Label::new(theme::strong(&found.sentence, 13.0)).wrap());
        sentence.on_hover_text(format!("A: {}\nB: {}", found.sides[0], found.sides[1]));
        let marked = marked(&other, &own);
        body_chooser(ui, self, &found, marked, [&other.title, &own.title]);
        match self.body {
            Body::Table(by) => table_ui(ui, ctx, self, &found, by),
            Body::Flame => flame_ui(ui, ctx, self, &request),
            Body::Curves => curves_ui(ui, ctx, self, &found, &request, marked),
        }
    }

    fn keep(&mut self, old: &Self) {
        (self.moments, self.body) = (old.moments, old.body);
        self.aligning.keep(&old.aligning);
    }
}

const HINT: &str = marked!(
    "Choose another moment, or open another snapshot: files in tabs and the devices of this one can be compared."
);

/// The choosers of both sides. Returns what is compared.
fn sides_ui(ui: &mut egui::Ui, state: &mut State, other: &Other, own: &Other) -> [Option<ComparedSide>; 2] {
    let palette = theme::palette(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(6.0, 2.0);
        let letter = |ui: &mut egui::Ui, side: usize, name: &str| {
            let color = theme::color(curves::side_color(palette, side));
            ui.label(theme::strong(name, 13.0).color(color));
        };
        letter(ui, 0, "A");
        let mut chosen = other.recording.clone();
        let shown =
            ComboBox::from_id_salt("other").selected_text(theme::small(name(other, own))).width(FILE_PX);
        let response = shown.truncate().show_ui(ui, |ui| {
            for each in &state.others {
                ui.selectable_value(&mut chosen, each.recording.clone(), name(each, own));
            }
        });
        response.response.on_hover_text(units::printable(&other.title));
        if chosen != other.recording {
            state.chosen = Some(chosen);
        }
        moment_ui(ui, &mut state.moments[0], "A");
        ui.add_space(8.0);
        letter(ui, 1, "B");
        ui.label(tr!("this device"));
        moment_ui(ui, &mut state.moments[1], "B");
    });
    [ComparedSide::new(other, state.moments[0]), ComparedSide::new(own, state.moments[1])]
}

fn name(other: &Other, own: &Other) -> String {
    if other.recording == own.recording { tr!("this device") } else { units::printable(&other.title) }
}

fn moment_ui(ui: &mut egui::Ui, moment: &mut SideMoment, side: &str) {
    ui.label(theme::muted(ui, tr!("a moment of a recording" => "at")));
    let chooser = ComboBox::from_id_salt(("moment", side)).selected_text(theme::small(moment.name()));
    chooser.width(MOMENT_PX).show_ui(ui, |ui| {
        for each in SideMoment::ALL {
            ui.selectable_value(moment, each, each.name());
        }
    });
}

/// The ranges that are marked on both sides. Those of one recording are the same.
fn marked(other: &Other, own: &Other) -> Option<[MomentRange; 2]> {
    let [a, b] = [other.range?, own.range?];
    (other.recording != own.recording).then_some([a, b])
}

fn body_chooser(
    ui: &mut egui::Ui,
    state: &mut State,
    found: &Arc<Compared>,
    marked: Option<[MomentRange; 2]>,
    titles: [&str; 2],
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(6.0, 2.0);
        for (by, name, hint) in [
            (CompareBy::Category, tr!("By category"), tr!("What memory is for")),
            (CompareBy::Line, tr!("By line"), tr!("The line of your own code that led to it")),
            (CompareBy::Operator, tr!("By operator"), found.operators.clone()),
            (CompareBy::Module, tr!("By module"), tr!("Each without the modules below it")),
            (CompareBy::Pool, tr!("By pool"), tr!("Where a block may be reused")),
        ] {
            let response = ui.selectable_label(state.body == Body::Table(by), theme::small(name));
            if response.on_hover_text(hint).clicked() {
                state.body = Body::Table(by);
                state.list.reveal(Reveal::Nearest(0));
            }
        }
        for (body, name, hint) in [
            (
                Body::Flame,
                tr!("By stack"),
                tr!("A flame graph of both: as wide as the larger side, coloured by the change"),
            ),
            (Body::Curves, tr!("Curves"), tr!("Active memory of both on one axis")),
        ] {
            if ui.selectable_label(state.body == body, theme::small(name)).on_hover_text(hint).clicked() {
                state.body = body;
            }
        }
        if state.body == Body::Flame {
            ui.add_space(8.0);
            flame::legend_ui(ui);
        }
        if state.body == Body::Curves {
            ui.add_space(8.0);
            aligning::ui(ui, &mut state.aligning, found, marked);
            ui.add_space(8.0);
            let titles = titles.map(units::printable);
            curves::legend_ui(ui, [&titles[0], &titles[1]]);
        }
    });
}

fn table_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, found: &Compared, by: CompareBy) {
    let all = found.rows.iter().find(|(known, _)| *known == by).map_or(&[][..], |(_, rows)| rows);
    let rows = Rows { all, query: &ctx.at.query };
    let list = VirtualList { name: marked!("compare"), columns: &table::COLUMNS, sorted: None };
    let answer = list.show(ui, &mut state.list, &rows);
    let clicked = answer.clicked.and_then(|row| all.get(row)).and_then(|row| row.query.clone());
    if let Some(query) = clicked {
        ctx.at.toggle_filter(query);
    }
}

fn flame_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, request: &CompareRequest) {
    let mode = ctx.derived.work_mode;
    state.stacks.ask(request, ui.ctx(), mode, "compare stacks", || StacksTask);
    match state.stacks.latest() {
        Some(changes) => flame::ui(ui, &mut state.flame, changes, ctx),
        None => _ = ui.label(theme::muted(ui, tr!("The stacks are being compared…"))),
    }
}

fn curves_ui(
    ui: &mut egui::Ui,
    ctx: &mut PaneCtx<'_>,
    state: &mut State,
    found: &Arc<Compared>,
    request: &CompareRequest,
    marked: Option<[MomentRange; 2]>,
) {
    let mode = ctx.derived.work_mode;
    let shown = match state.aligning.shown(ui.ctx(), mode, found, request, marked) {
        Some(Shown::Curves(curves)) => curves,
        other => {
            let text = if let Some(Shown::Sentence(text)) = other {
                texts::translated(text)
            } else {
                tr!("Aligning …")
            };
            ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
            return;
        }
    };
    let Some([theirs, ours]) = curves::ui(ui, &shown) else { return };
    if let Some(moment) = ours {
        ctx.at.move_to(moment);
    }
    let other = &request.sides[0].recording;
    state.moved = theirs.filter(|_| other != ctx.recording).map(|moment| (other.clone(), moment));
}
