//! The snapshots of a folder as the ranks of a job: who is not like the others, and the peaks of all over iterations.

use crate::command::Command;
use crate::theme;
use crate::work::background::Background;
use crate::work::watch::Watch;
use crate::work::worker::{Task, WorkMode};
use eframe::egui::{self, Align2, Rect, ScrollArea, Sense, TextStyle, pos2, vec2};
use oomscope_analysis::UserRules;
use oomscope_analysis::filter::quoted;
use oomscope_diagnosis::ranks;
use oomscope_diagnosis::ranks::{FirstFailure, Heat, HeatAxis, Job, JobDevice, Outlier, summarize};
use oomscope_draw::{Palette, Rgb};
use oomscope_model::Bytes;
use oomscope_report::notes::{Place, PlaceMoment};
use oomscope_report::ranks as words;
use oomscope_snapshot::load::{FolderListing, Input, ManyProgress, load_each};
use oomscope_units as units;
use std::path::PathBuf;
use std::sync::Arc;
use tr::tr;

/// Height of a row, in points: a line of text with some space.
const ROW_PX: f32 = 22.0;

/// Widths of the columns beside the peaks over time, in points: the longest usual texts fit.
const NAME_PX: f32 = 132.0;
const BYTES_PX: f32 = 78.0;
const OUTCOME_PX: f32 = 236.0;

/// Windows that are narrower, in points, leave out the outcome: a mark shows a failure in any case.
const MIN_OUTCOME_PX: f32 = 820.0;

/// Least width of a column of the peaks over time, in points: a pointer can hit it.
const MIN_CELL_PX: f32 = 4.0;

/// Share of the accent in the colour of the lowest peak: it stands out from the ground.
const LOWEST_SHARE: f32 = 0.08;

/// The folder as a job.
#[derive(Default)]
pub(crate) struct RanksView {
    job: Background<RanksTask>,
    /// Of the files that are being read.
    reading: Option<Arc<ManyProgress>>,
}

/// Reads the files of a job.
#[derive(Clone)]
struct RanksTask {
    progress: Arc<ManyProgress>,
}

impl Task for RanksTask {
    /// The files, and the version of the listing.
    type Request = (Arc<[PathBuf]>, u32);
    type Response = Arc<Job>;

    fn run(&self, (paths, _): &Self::Request) -> Arc<Job> {
        self.read(paths, |_| ())
    }

    fn run_watched(&self, (paths, _): &Self::Request, watch: &Watch) -> Option<Arc<Job>> {
        watch.progress(0, paths.len());
        let job = self.read(paths, |done| watch.progress(done, paths.len()));
        (watch.is_wanted() && !self.progress.is_cancelled()).then_some(job)
    }
}

impl RanksTask {
    fn read(&self, paths: &[PathBuf], said: impl Fn(usize) + Sync) -> Arc<Job> {
        let inputs: Vec<Input> = paths.iter().map(|path| Input::File(path.clone())).collect();
        let found = load_each(&inputs, &self.progress, |_, loaded| {
            let devices = loaded.map(|snapshot| summarize(&Arc::new(snapshot), &UserRules::default()));
            said(self.progress.done());
            devices.map_err(|error| error.to_string())
        });
        let devices = found.into_iter().map(|devices| devices.unwrap_or_else(|| Err(tr!("not read"))));
        Arc::new(Job::of_files(paths, devices.collect()))
    }
}

impl Drop for RanksView {
    fn drop(&mut self) {
        self.stop();
    }
}

impl RanksView {
    /// Stop reading.
    fn stop(&mut self) {
        if let Some(reading) = self.reading.take() {
            reading.cancel();
        }
    }

    /// Show the files of a folder as ranks. False once the user does not want them any more.
    pub(super) fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (listing, version): (&FolderListing, u32),
        mode: WorkMode,
        commands: &mut Vec<Command>,
    ) -> bool {
        let paths: Arc<[PathBuf]> = listing.files.iter().map(|file| file.path.clone()).collect();
        let request = (paths, version);
        let reading = self.reading.get_or_insert_default();
        let task = || RanksTask { progress: Arc::clone(reading) };
        let Some(job) = self.job.ask(&request, ui.ctx(), mode, "ranks", task).cloned() else {
            return self.waiting_ui(ui);
        };
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.add(egui::Label::new(words::headline(&job)).wrap());
            ui.add_space(6.0);
            table_ui(ui, &job, commands);
            ui.add_space(8.0);
            let outliers = ranks::outliers(&job);
            outliers.iter().take(words::LISTED_RANKS).for_each(|outlier| outlier_ui(ui, outlier, commands));
            if let Some(first) = ranks::first_failure(&job) {
                failure_ui(ui, &first);
            }
        });
        true
    }

    fn waiting_ui(&mut self, ui: &mut egui::Ui) -> bool {
        let mut is_wanted = true;
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label(match self.job.progress() {
                Some((done, all)) => {
                    tr!("Reading file {} of {}", units::count(done as u64), units::count(all as u64))
                }
                None => tr!("Reading …"),
            });
            is_wanted = !ui.small_button(tr!("Stop")).clicked();
        });
        if !is_wanted {
            self.stop();
            self.job = Background::default();
        }
        is_wanted
    }
}

/// The places of the columns of a row.
struct Places {
    name: Rect,
    peak: Rect,
    reserved: Rect,
    cells: Rect,
    outcome: Option<Rect>,
}

impl Places {
    fn of(row: Rect) -> Self {
        let column =
            |left: f32, width: f32| Rect::from_min_size(pos2(left, row.top()), vec2(width, row.height()));
        let name = column(row.left(), NAME_PX);
        let peak = column(name.right(), BYTES_PX);
        let reserved = column(peak.right(), BYTES_PX);
        let outcome = (MIN_OUTCOME_PX <= row.width()).then(|| column(row.right() - OUTCOME_PX, OUTCOME_PX));
        let right = outcome.map_or(row.right(), |outcome| outcome.left());
        let cells = Rect::from_min_max(pos2(reserved.right(), row.top()), pos2(right, row.bottom()));
        Self { name, peak, reserved, cells: cells.shrink2(vec2(12.0, 1.0)), outcome }
    }
}

fn table_ui(ui: &mut egui::Ui, job: &Job, commands: &mut Vec<Command>) {
    let palette = theme::palette(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    let (header, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_PX), Sense::hover());
    let places = Places::of(header);
    let heat = ranks::heat(job, (places.cells.width() / MIN_CELL_PX).max(1.0) as usize);
    let muted = theme::color(palette.muted);
    text(ui, places.name, Align2::LEFT_CENTER, &tr!("Rank"), muted);
    text(ui, places.peak, Align2::RIGHT_CENTER, &tr!("Peak"), muted);
    text(ui, places.reserved, Align2::RIGHT_CENTER, &tr!("Reserved"), muted);
    let over_time = tr!("Peaks over {}", words::axis_text(heat.axis));
    text(ui, places.cells, Align2::LEFT_CENTER, &over_time, muted);
    if let Some(outcome) = places.outcome {
        text(ui, outcome, Align2::LEFT_CENTER, &tr!("Outcome"), muted);
    }
    for (row, cells) in job.rows().iter().zip(&heat.rows) {
        if row_ui(ui, *row, cells, &heat, palette).clicked() {
            commands.push(Command::OpenFile(row.file.path.clone()));
        }
    }
    for file in job.files() {
        if let Err(why) = &file.devices {
            let line = units::printable(&format!("{}: {why}", file.name));
            ui.add(egui::Label::new(theme::muted(ui, line)).wrap());
        }
    }
}

fn row_ui(
    ui: &mut egui::Ui,
    row: JobDevice<'_>,
    cells: &[Option<Bytes>],
    heat: &Heat,
    palette: &Palette,
) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_PX), Sense::click());
    let (name, device) = (units::printable(&row.name()), row.device);
    let [peak, reserved] =
        [device.peak_active(), device.peak_reserved()].map(|peak| peak.written(units::bytes));
    let outcome = words::outcome(row);
    let spoken = tr!("{name}, peak {peak}, reserved {reserved}, {outcome}", name, peak, reserved, outcome);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, &spoken));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 4.0, theme::faded(palette.line, 0.5));
    }
    let places = Places::of(rect);
    let plain = theme::color(palette.text);
    text(ui, places.name, Align2::LEFT_CENTER, &name, theme::color(palette.accent));
    text(ui, places.peak, Align2::RIGHT_CENTER, &peak, plain);
    text(ui, places.reserved, Align2::RIGHT_CENTER, &reserved, plain);
    cells_ui(ui, places.cells, cells, heat, palette);
    let failed = device.failure.is_some();
    if failed {
        let mark = Rect::from_min_max(
            pos2(places.cells.right() + 2.0, rect.top() + 3.0),
            pos2(places.cells.right() + 6.0, rect.bottom() - 3.0),
        );
        ui.painter().rect_filled(mark, 1.0, theme::color(palette.oom));
    }
    if let Some(place) = places.outcome {
        let color = if failed { palette.oom } else { palette.muted };
        text(ui, place, Align2::LEFT_CENTER, &outcome, theme::color(color));
    }
    let pointed = response.hover_pos().and_then(|pointer| cell_text(places.cells, cells, heat, pointer));
    let file = units::printable(&row.file.name);
    response.on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_ui_at_pointer(|ui| {
        ui.label(theme::strong(name, 13.0));
        if let Some(cell) = pointed {
            ui.label(cell);
        }
        ui.label(outcome);
        ui.label(&device.verdict.title);
        ui.label(theme::muted(ui, format!("{file}\n{}", tr!("Click to open it"))));
    })
}

/// The peaks of a row, darker or lighter than the ground by their share of the largest.
fn cells_ui(ui: &egui::Ui, place: Rect, cells: &[Option<Bytes>], heat: &Heat, palette: &Palette) {
    let width = place.width() / cells.len().max(1) as f32;
    let gap = if width < 8.0 { 0.0 } else { 1.0 };
    for (at, bytes) in cells.iter().enumerate() {
        let left = place.left() + width * at as f32;
        let cell = Rect::from_min_max(pos2(left, place.top()), pos2(left + width - gap, place.bottom()));
        if let Some(bytes) = bytes {
            ui.painter().rect_filled(cell, 0.0, theme::color(heat_color(*bytes, heat, palette)));
        }
    }
}

fn heat_color(bytes: Bytes, heat: &Heat, palette: &Palette) -> Rgb {
    let share = bytes.or_zero().0 as f32 / heat.most_bytes.max(Bytes(1)).0 as f32;
    palette.panel.mix(palette.accent, LOWEST_SHARE + (1.0 - LOWEST_SHARE) * share)
}

/// `iteration 3: 1.10 GiB`.
fn cell_text(place: Rect, cells: &[Option<Bytes>], heat: &Heat, pointer: egui::Pos2) -> Option<String> {
    if !place.contains(pointer) {
        return None;
    }
    let share = (pointer.x - place.left()) / place.width().max(1.0);
    let at = ((share * cells.len() as f32) as usize).min(cells.len().checked_sub(1)?);
    let bytes = units::bytes((*cells.get(at)?)?);
    let count = cells.len();
    Some(match heat.axis {
        HeatAxis::Iterations([first, last]) if (last - first) as usize + 1 == count => {
            tr!("iteration {}: {bytes}", units::count(u64::from(first) + at as u64), bytes)
        }
        HeatAxis::Iterations([first, last]) => {
            let all = (last - first) as usize + 1;
            let [from, to] = [at, at + 1].map(|at| u64::from(first) + (at * all).div_ceil(count) as u64);
            tr!("iterations {} to {}: {bytes}", units::count(from), units::count(to.saturating_sub(1)), bytes)
        }
        HeatAxis::LastIterations(_) | HeatAxis::Events => tr!("{bytes} at most", bytes),
    })
}

/// A text that is cut at the edge of its place.
fn text(ui: &egui::Ui, place: Rect, align: Align2, words: &str, color: egui::Color32) {
    let font = TextStyle::Small.resolve(ui.style());
    let mut job = egui::text::LayoutJob::simple_singleline(words.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(place.width());
    let galley = ui.painter().layout_job(job);
    let at = align.anchor_size(align.pos_in_rect(&place), galley.size()).min;
    ui.painter().galley(at, galley, color);
}

fn outlier_ui(ui: &mut egui::Ui, outlier: &Outlier<'_>, commands: &mut Vec<Command>) {
    ui.add_space(6.0);
    let sentence = units::printable(&words::outlier_text(outlier));
    ui.add(egui::Label::new(theme::strong(sentence, 13.0)).wrap());
    ui.add_space(2.0);
    let [path, median] = [outlier.row, outlier.median].map(|row| &row.file.path);
    let hint = tr!("Open both, with what the difference comes from in front");
    if path != median && ui.small_button(tr!("Compare with the median")).on_hover_text(hint).clicked() {
        commands.push(Command::Compare([median.clone(), path.clone()]));
    }
    ui.add_space(2.0);
    egui::Grid::new(("lines", &outlier.row.file.name, outlier.row.device.device.0)).num_columns(3).show(
        ui,
        |ui| {
            for change in outlier.lines.iter().take(words::LISTED_LINES) {
                ui.label(units::bytes_change(change.difference_bytes()));
                let hint = tr!("Open the file with what this line allocates");
                if ui.link(units::printable(&change.line)).on_hover_text(hint).clicked() {
                    commands.push(Command::OpenAt(path.clone(), of_line(&change.line)));
                }
                let [here, median] = [change.bytes, change.median_bytes].map(units::bytes);
                ui.label(theme::muted(ui, tr!("{here} against {median}", here, median)));
                ui.end_row();
            }
        },
    );
    let others = outlier.lines.len().saturating_sub(words::LISTED_LINES);
    if 0 < others {
        ui.label(theme::muted(
            ui,
            tr!("and {} other line" | "and {} other lines" % others, units::count(others as u64)),
        ));
    }
}

/// What a line allocates, at the peak.
fn of_line(line: &str) -> Place {
    let filter = format!("site:{}", quoted(line));
    Place { moment: Some(PlaceMoment::Peak), filter: Some(filter), ..Place::default() }
}

fn failure_ui(ui: &mut egui::Ui, first: &FirstFailure<'_>) {
    ui.add_space(6.0);
    let sentence = units::printable(&words::failure_text(first));
    ui.add(egui::Label::new(theme::strong(sentence, 13.0)).wrap());
    match words::standings(first) {
        None => _ = ui.label(theme::muted(ui, tr!("How the others stood then was not recorded"))),
        Some(standings) => {
            let line = tr!("The others then: {}", standings.join(" · "));
            ui.add(egui::Label::new(units::printable(&line)).wrap());
            if let Some(note) = words::free_note(first) {
                ui.add(egui::Label::new(theme::muted(ui, units::printable(&note))).wrap());
            }
        }
    }
}
