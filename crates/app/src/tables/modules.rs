//! The memory of modules at the cursor as a table.

use super::columns::Column;
use super::csv_copy;
use super::virtual_list::{ListRows, ListState, RowLook, TableCell, VirtualList};
use crate::device::{Pane, PaneCtx};
use crate::texts::marked;
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::worker::Task;
use eframe::egui;
use oomscope_analysis::{
    Attribution, InferredPart, MODULE_COLUMNS, ModulePlace, ModuleRow, ModuleTable, module_table,
};
use oomscope_model::{Bytes, Moment, Recording};
use oomscope_report as report;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// The first column of figures.
const FIGURES: usize = 1;

/// The column behind the figures.
const CALLS: usize = FIGURES + MODULE_COLUMNS.len();

const COLUMNS: [Column; CALLS + 1] = [
    Column::text(
        marked!("Module"),
        marked!(
            "The forward of a module, or its class, with the line that calls it. ×12: its code runs 12 times in a pass"
        ),
        340.0,
    ),
    Column::figure(marked!("Parameters"), marked!("With those of the modules below it"), 100.0),
    Column::figure(
        marked!("Gradients"),
        marked!("With those of the modules below it; ≈ where the size tells the module"),
        100.0,
    ),
    Column::figure(
        marked!("Optimizer state"),
        marked!("With that of the modules below it; ≈ where the size tells the module"),
        108.0,
    ),
    Column::figure(marked!("Activations"), marked!("With those of the modules below it"), 100.0),
    Column::text(
        marked!("Activations of a call"),
        marked!("The least and the most that one call holds"),
        180.0,
    ),
];

/// Space before the name of a module for each module around it.
const INDENT: &str = "\u{2003}";

/// The table's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    list: ListState,
    found: Background<TableTask>,
    copied: csv_copy::Note,
}

/// Makes tables of one device.
#[derive(Clone)]
struct TableTask(Recording);

impl Task for TableTask {
    type Request = (ByPtr<Attribution>, Moment);
    type Response = Arc<ModuleTable>;

    fn run(&self, (attribution, moment): &Self::Request) -> Arc<ModuleTable> {
        Arc::new(module_table(&self.0, attribution, *moment))
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let Some(table) = self.table(ui.ctx(), ctx) else {
            ui.label(theme::muted(ui, tr!("Looking for modules …")));
            return;
        };
        bar_ui(ui, self, &table);
        ui.add_space(4.0);
        let list = VirtualList { name: marked!("modules"), columns: &COLUMNS, sorted: None };
        list.show(ui, &mut self.list, &Rows(&table));
    }
}

impl State {
    /// The table at the cursor, or the last one until that is made.
    fn table(&mut self, egui: &egui::Context, ctx: &PaneCtx<'_>) -> Option<Arc<ModuleTable>> {
        let request = (ByPtr(Arc::clone(ctx.derived.attribution()?)), ctx.at.cursor);
        let task = || TableTask(ctx.recording.clone());
        self.found.ask(&request, egui, ctx.derived.work_mode, "modules", task);
        self.found.latest().cloned()
    }
}

fn bar_ui(ui: &mut egui::Ui, state: &mut State, table: &ModuleTable) {
    ui.horizontal(|ui| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            csv_copy::ui(ui, &mut state.copied, table.rows.len(), 0, csv_copy::From::Top, |out, range| {
                report::modules_csv(out, &table.rows[range])
            });
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(theme::muted(ui, summary(table))).truncate());
            });
        });
    });
}

/// When, and how much of the memory has a module that is known.
fn summary(table: &ModuleTable) -> String {
    let sum = |bytes: &[Bytes]| bytes.iter().copied().sum::<Bytes>();
    let all = sum(&table.total);
    let not_known = table.rows.iter().filter(|row| row.place == ModulePlace::NotKnown);
    let not_known = not_known.map(|row| sum(&row.own)).sum::<Bytes>();
    let at = table
        .moment
        .event()
        .map_or_else(|| tr!("before the first event"), |event| tr!("after event {}", units::count(event.0)));
    let known = units::percent(all - not_known, all);
    let labels = report::module_columns().join(", ");
    if all == 0 {
        return tr!("No {labels} {at}", labels, at);
    }
    tr!("{} of {labels} {at}; the module is known for {known}", units::bytes(all), labels, at, known)
}

/// The rows of the table.
struct Rows<'a>(&'a ModuleTable);

impl Rows<'_> {
    fn get(&self, row: usize) -> Option<&ModuleRow> {
        self.0.rows.get(row)
    }
}

impl ListRows for Rows<'_> {
    fn len(&self) -> usize {
        self.0.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some(row) = self.get(row) else { return TableCell::default() };
        let is_module = matches!(row.place, ModulePlace::Module { .. });
        match column {
            0 if is_module => TableCell::plain(format!(
                "{}{}",
                INDENT.repeat(report::module_indent(row)),
                report::module_label(row)
            )),
            0 => TableCell::muted(report::module_label(row)),
            CALLS => TableCell::muted(report::module_calls_text(row).unwrap_or_default()),
            _ => {
                let at = column - FIGURES;
                let text = report::module_cells(row).into_iter().nth(at).unwrap_or_default();
                let part = InferredPart::of(row.total[at], row.total_inferred[at]);
                if part.is_most() { TableCell::muted(text) } else { TableCell::plain(text) }
            }
        }
    }

    fn look(&self, _row: usize) -> RowLook {
        RowLook::default()
    }

    fn hint(&self, row: usize, column: usize) -> Option<String> {
        let row = self.get(row)?;
        match column {
            0 => match &row.place {
                ModulePlace::Module { .. } => Some(report::module_label(row)),
                ModulePlace::Outside => {
                    Some(tr!("Made by Python code without a call of a module around it, such as a loss"))
                }
                ModulePlace::NotKnown => Some(tr!("Neither a stack nor a size tells the module")),
            },
            CALLS => Some(by_call(row)).filter(|text| !text.is_empty()),
            _ => {
                let at = column - FIGURES;
                let (total, own) = (units::bytes_exact(row.total[at]), units::bytes_exact(row.own[at]));
                (row.total[at] != 0).then(|| tr!("{total}, its own: {own}", total, own))
            }
        }
    }
}

/// Activations of each call, at most as many as a screen has lines.
fn by_call(row: &ModuleRow) -> String {
    const LISTED: usize = 30;
    let listed = row.by_call.iter().zip(1..).take(LISTED);
    let mut lines: Vec<String> =
        listed.map(|(&bytes, n)| tr!("call {n}: {}", units::bytes(bytes), n)).collect();
    if LISTED < row.by_call.len() {
        lines.push(tr!("… and {} more", row.by_call.len() - LISTED));
    }
    lines.join("\n")
}
