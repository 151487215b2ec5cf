//! The iterations of a device as a table. A click goes to an iteration's peak.

use super::columns::Column;
use super::csv_copy;
use super::scroll::Reveal;
use super::virtual_list::{ListRows, ListState, RowLook, TableCell, VirtualList, height_px};
use crate::device::{Pane, PaneCtx};
use crate::texts::marked;
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::worker::Task;
use eframe::egui;
use oomscope_analysis::{Attribution, IterationRow, iteration_table};
use oomscope_model::{Moment, Recording};
use oomscope_report as report;
use oomscope_report::ITERATION_COLUMNS;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// The column behind those of the table.
const PHASES: usize = ITERATION_COLUMNS.len();

const COLUMNS: [Column; PHASES + 1] = [
    Column::figure(
        marked!("Iteration"),
        marked!("Number, from 0; '? + 3' where the recording starts too late to know"),
        68.0,
    ),
    Column::text(marked!("Events"), marked!("First and last event"), 112.0),
    Column::figure(marked!("Peak"), marked!("Most bytes that were active at once"), 72.0),
    Column::figure(marked!("At event"), marked!("Event of the peak"), 66.0),
    Column::text(marked!("In"), marked!("Phase of the peak"), 78.0),
    Column::figure(marked!("Growth"), marked!("Active bytes at its end, less those at its start"), 80.0),
    Column::figure(marked!("Left behind"), marked!("Allocated in it and live at its end"), 82.0),
    Column::figure(marked!("Still there"), marked!("Allocated in it and live after the last event"), 78.0),
    Column::text(marked!("Phases"), marked!("Phases with their first and last events"), 220.0),
];

/// Height of the tools above the table with the space around them, in points.
const TOOLS_PX: f32 = 56.0;

/// The table's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    list: ListState,
    found: Background<TableTask>,
    /// The cursor that the table was scrolled to.
    followed: Option<Moment>,
    copied: csv_copy::Note,
}

/// Makes the table of one device.
#[derive(Clone)]
struct TableTask(Recording);

impl Task for TableTask {
    type Request = ByPtr<Attribution>;
    type Response = Arc<[IterationRow]>;

    fn run(&self, attribution: &ByPtr<Attribution>) -> Arc<[IterationRow]> {
        iteration_table(&self.0, &attribution.phases).into()
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let Some(rows) = self.rows(ui.ctx(), ctx) else {
            ui.label(theme::muted(ui, tr!("Looking for iterations …")));
            return;
        };
        if rows.is_empty() {
            ui.label(theme::muted(
                ui,
                tr!("No iterations were found: nothing shows where a round of training, or a call, begins."),
            ));
            return;
        }
        let rows = Rows { rows: &rows, cursor: ctx.at.cursor };
        bar_ui(ui, ctx, self, &rows);
        ui.add_space(4.0);
        table_ui(ui, ctx, self, &rows);
    }

    fn height_px(&self) -> Option<f32> {
        self.found.latest().map(|rows| TOOLS_PX + height_px(rows.len()))
    }
}

impl State {
    /// The table, once it is made.
    fn rows(&mut self, egui: &egui::Context, ctx: &PaneCtx<'_>) -> Option<Arc<[IterationRow]>> {
        let request = ByPtr(Arc::clone(ctx.derived.attribution()?));
        let task = || TableTask(ctx.recording.clone());
        self.found.ask(&request, egui, ctx.derived.work_mode, "iterations", task).cloned()
    }
}

fn bar_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, rows: &Rows<'_>) {
    ui.horizontal(|ui| {
        ui.label(theme::muted(
            ui,
            tr!("{} iteration" | "{} iterations" % rows.rows.len(), units::count(rows.rows.len() as u64)),
        ));
        let query = rows.current().and_then(|at| rows.rows.get(at)).map(|row| {
            // Where numbers are not known, the filter counts from the first in the recording, too.
            format!("iteration:{}", row.number.unwrap_or(row.of_recording))
        });
        let button = ui.add_enabled(query.is_some(), egui::Button::new(tr!("Filter to it")));
        let button = button.on_hover_text(tr!("Show what was allocated in the iteration at the cursor"));
        if let Some(query) = query.filter(|_| button.clicked()) {
            ctx.at.toggle_filter(query);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let from = rows.current().unwrap_or(0);
            csv_copy::ui(
                ui,
                &mut state.copied,
                rows.rows.len(),
                from,
                csv_copy::From::Cursor,
                |out, range| report::iterations_csv(out, &rows.rows[range]),
            );
        });
    });
}

fn table_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, rows: &Rows<'_>) {
    if state.followed != Some(ctx.at.cursor) {
        if let Some(row) = rows.current().filter(|_| !state.list.is_being_read(ui)) {
            state.list.reveal(Reveal::Nearest(row));
        }
        state.followed = Some(ctx.at.cursor);
    }
    let list = VirtualList { name: marked!("iterations"), columns: &COLUMNS, sorted: None };
    let answer = list.show(ui, &mut state.list, rows);
    let stepped = (answer.step != 0).then(|| {
        let last = rows.rows.len() as i64 - 1;
        let from = rows.current().map_or(-1, |row| row as i64);
        from.saturating_add(answer.step).clamp(0, last) as usize
    });
    if let Some(row) = answer.clicked.and_then(|row| rows.rows.get(row)) {
        ctx.at.go_to(row.peak);
        state.followed = Some(ctx.at.cursor);
    } else if let Some((at, row)) = stepped.and_then(|at| Some((at, rows.rows.get(at)?))) {
        ctx.at.move_to(row.peak);
        state.list.reveal(Reveal::Nearest(at));
        state.followed = Some(ctx.at.cursor);
    }
}

/// The rows of the table.
struct Rows<'a> {
    rows: &'a [IterationRow],
    cursor: Moment,
}

impl Rows<'_> {
    /// The row of the iteration that the cursor lies in.
    fn current(&self) -> Option<usize> {
        let event = self.cursor.event()?;
        self.rows.partition_point(|row| row.events[0] <= event.0).checked_sub(1)
    }
}

impl ListRows for Rows<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some(row) = self.rows.get(row) else { return TableCell::default() };
        if column == PHASES {
            return TableCell::muted(report::iteration_phases(row));
        }
        let text = report::iteration_cells(row).into_iter().nth(column).unwrap_or_default();
        if text == units::bytes(0) { TableCell::muted(text) } else { TableCell::plain(text) }
    }

    fn look(&self, row: usize) -> RowLook {
        RowLook { is_current: self.current() == Some(row), ..RowLook::default() }
    }

    fn hint(&self, row: usize, column: usize) -> Option<String> {
        let row = self.rows.get(row)?;
        match COLUMNS.get(column)?.name {
            "Peak" | "At event" | "In" => Some(units::bytes_exact(row.peak_bytes)),
            "Growth" => Some(units::bytes_exact(row.growth_bytes)),
            "Left behind" => Some(units::bytes_exact(row.left_bytes)),
            "Still there" => Some(units::bytes_exact(row.kept_bytes)),
            "Phases" => {
                Some(report::iteration_phases(row).replace(", ", "\n")).filter(|text| !text.is_empty())
            }
            _ => None,
        }
    }
}
