//! The table of modules: as text, JSON and CSV.

use super::csv_text::{io_error, spreadsheet_safe};
use super::table::{self, Align};
use super::text_style::TextStyle;
use oomscope_analysis::{InferredPart, MODULE_COLUMNS, ModuleBytes, ModulePlace, ModuleRow, ModuleTable};
use oomscope_model::Bytes;
use oomscope_units as units;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A row with less than one nth of all bytes is left out of text: it would hide the ones that matter.
const SMALL_PART: i64 = 200;

/// Modules further in are not indented further: a stack can be as deep as its writer likes.
const MAX_INDENT: usize = 16;

/// More calls of a module are not listed in JSON.
const MAX_LISTED_CALLS: usize = 1000;

/// Where the rest of a text is.
pub(super) const IN_JSON: &str = "in --format json";

/// The table as JSON has it. Sizes are in bytes.
#[derive(Debug, Serialize)]
pub(super) struct ModulesRecord {
    /// The event before the moment; -1 for the state before the first.
    event: i64,
    total: ByCategory,
    rows: Vec<ModuleRecord>,
}

type ByCategory = BTreeMap<&'static str, Bytes>;

#[derive(Debug, Serialize)]
struct ModuleRecord {
    /// `module`, `outside` of modules, or `not_known`.
    kind: &'static str,
    module: Option<String>,
    /// Its class, where `module` is a path.
    class: Option<String>,
    /// The line that calls it.
    called_at: Option<String>,
    /// The line that makes it, where only its constructor is known.
    made_at: Option<String>,
    depth: usize,
    /// How often its code ran in a pass; null if no activation tells.
    calls: Option<u32>,
    own: ByCategory,
    /// Bytes of these whose module is inferred from their size.
    own_inferred: ByCategory,
    with_submodules: ByCategory,
    /// Activations by call, of the outermost module that ran several times.
    activation_by_call: Vec<Bytes>,
}

/// The columns of figures, as headers for people.
pub fn module_columns() -> [&'static str; MODULE_COLUMNS.len()] {
    MODULE_COLUMNS.map(|category| category.label())
}

/// A module and the line that calls it, without indentation: `Block ×12 (model.py:113)`.
pub fn module_label(row: &ModuleRow) -> String {
    match &row.place {
        ModulePlace::Module { name, class, from, is_made } => {
            let class = class.as_ref().map_or_else(String::new, |class| format!(" · {class}"));
            let times = if 1 < row.calls { format!(" ×{}", units::count(row.calls)) } else { String::new() };
            let made = if *is_made { "made at " } else { "" };
            let from = from.as_ref().map_or_else(String::new, |from| format!(" ({made}{from})"));
            format!("{name}{class}{times}{from}")
        }
        ModulePlace::Outside => "no module in the stack".to_owned(),
        ModulePlace::NotKnown => "module not known".to_owned(),
    }
}

/// By how many steps the name of a module is indented.
pub fn module_indent(row: &ModuleRow) -> usize {
    row.depth.min(MAX_INDENT)
}

/// The figures of a row with the modules below it, as text; empty for nothing, with `≈` where most is inferred.
pub fn module_cells(row: &ModuleRow) -> [String; MODULE_COLUMNS.len()] {
    std::array::from_fn(|at| match row.total[at] {
        Bytes::ZERO => String::new(),
        bytes if InferredPart::of(bytes, row.total_inferred[at]).is_most() => {
            format!("≈ {}", units::bytes(bytes))
        }
        bytes => units::bytes(bytes),
    })
}

/// How unequal the calls of a module are: `each 12.0 MiB`, `10.0 to 14.0 MiB each`. `None` where calls are not told apart.
pub fn module_calls_text(row: &ModuleRow) -> Option<String> {
    let (least, most) = row.by_call.iter().min().zip(row.by_call.iter().max())?;
    Some(match (least == most, row.by_call.len()) {
        (_, ..2) => return None,
        (true, _) => format!("{} each", units::bytes(*most)),
        (false, _) => format!("{} to {} each", units::bytes(*least), units::bytes(*most)),
    })
}

/// The rows that a short table shows: those that matter by their bytes. Each comes after the one that it is below.
pub fn main_module_rows(table: &ModuleTable) -> impl Iterator<Item = &ModuleRow> {
    let least = (sum(&table.total) / SMALL_PART).max(Bytes(1));
    table.rows.iter().filter(move |row| least <= sum(&row.total))
}

fn sum(bytes: &ModuleBytes) -> Bytes {
    bytes.iter().copied().sum::<Bytes>()
}

/// Write the table as text, indented as the rest of `stats`.
pub(super) fn modules_text(out: &mut dyn Write, table: &ModuleTable, style: TextStyle) -> io::Result<()> {
    let at = table.moment.event().map_or_else(
        || "before the first event".to_owned(),
        |event| format!("after event {}", units::count(event.0)),
    );
    if table.rows.is_empty() {
        return writeln!(out, "  modules      nothing of one is live {at}");
    }
    writeln!(out, "  modules      {at}, each with those below it; ×N: how often it runs in a pass")?;
    let cells = |label: String, figures: [String; MODULE_COLUMNS.len()], calls: String| -> Vec<String> {
        std::iter::once(format!("  {label}")).chain(figures).chain([calls]).collect()
    };
    let header =
        cells(String::new(), module_columns().map(str::to_owned), "activations of a call".to_owned());
    let line = |row: &ModuleRow| {
        let label = format!("{}{}", "  ".repeat(module_indent(row)), module_label(row));
        cells(label, module_cells(row), module_calls_text(row).unwrap_or_default())
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(main_module_rows(table).map(line)).collect();
    use Align::{Left, Right};
    let left_out = table.rows.len() + 1 - rows.len();
    table::write_fitted(out, style.table_width, &[Left, Right, Right, Right, Right, Left], &[5], rows)?;
    if left_out != 0 {
        writeln!(out, "  and {} with less than 0.5 %, {IN_JSON}", units::counted(left_out, "row"))?;
    }
    Ok(())
}

/// The table for JSON.
pub(super) fn modules_record(table: &ModuleTable) -> ModulesRecord {
    ModulesRecord {
        event: i64::from(table.moment.0) - 1,
        total: by_category(&table.total, true),
        rows: table.rows.iter().map(module_record).collect(),
    }
}

fn module_record(row: &ModuleRow) -> ModuleRecord {
    let (kind, module, class, from, is_made) = match row.place.clone() {
        ModulePlace::Module { name, class, from, is_made } => ("module", Some(name), class, from, is_made),
        ModulePlace::Outside => ("outside", None, None, None, false),
        ModulePlace::NotKnown => ("not_known", None, None, None, false),
    };
    let (made_at, called_at) = if is_made { (from, None) } else { (None, from) };
    ModuleRecord {
        kind,
        module,
        class,
        called_at,
        made_at,
        depth: row.depth,
        calls: Some(row.calls).filter(|&calls| calls != 0),
        own: by_category(&row.own, true),
        own_inferred: by_category(&row.own_inferred, false),
        with_submodules: by_category(&row.total, true),
        activation_by_call: if row.by_call.len() <= MAX_LISTED_CALLS {
            row.by_call.clone()
        } else {
            Vec::new()
        },
    }
}

fn by_category(bytes: &ModuleBytes, has_zeros: bool) -> ByCategory {
    let all = MODULE_COLUMNS.iter().map(|category| category.key()).zip(bytes.iter().copied());
    all.filter(|(_, bytes)| has_zeros || *bytes != 0).collect()
}

/// Write some rows with a header line. Sizes are in bytes; `own` ones leave out the modules below.
///
/// # Errors
/// When writing fails.
pub fn modules_csv<'a>(out: &mut dyn Write, rows: impl IntoIterator<Item = &'a ModuleRow>) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let keys = MODULE_COLUMNS.map(|category| category.key());
    let own = keys.map(|key| format!("own_{key}"));
    let head = ["depth", "module", "calls"].map(str::to_owned).into_iter();
    csv.write_record(head.chain(keys.map(str::to_owned)).chain(own)).map_err(io_error)?;
    for row in rows {
        let once = ModuleRow { calls: 0, ..row.clone() };
        let head = [
            row.depth.to_string(),
            spreadsheet_safe(&module_label(&once)).into_owned(),
            row.calls.to_string(),
        ];
        let figures = row.total.iter().chain(&row.own).map(|bytes| bytes.0.to_string());
        csv.write_record(head.into_iter().chain(figures)).map_err(io_error)?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::Moment;

    fn fixture() -> ModuleTable {
        let module = |name: &str, from: &str, is_made| ModulePlace::Module {
            name: name.to_owned(),
            class: None,
            from: Some(from.to_owned()),
            is_made,
        };
        let row = |place, depth, own: ModuleBytes, total, calls, by_call| ModuleRow {
            place,
            depth,
            own,
            own_inferred: [NONE, own[1], NONE, NONE],
            total,
            total_inferred: [NONE, own[1], NONE, NONE],
            calls,
            by_call,
        };
        const M: Bytes = Bytes(1 << 20);
        const NONE: Bytes = Bytes::ZERO;
        let rows = vec![
            row(
                module("Net", "train.py:85", false),
                0,
                [Bytes::ZERO; 4],
                [4 * M, 4 * M, NONE, 12 * M],
                1,
                vec![],
            ),
            row(
                module("Block", "net.py:113", false),
                1,
                [NONE, NONE, NONE, 12 * M],
                [NONE, NONE, NONE, 12 * M],
                2,
                vec![5 * M, 7 * M],
            ),
            row(
                module("Head", "net.py:20", true),
                1,
                [4 * M, 4 * M, NONE, NONE],
                [4 * M, 4 * M, NONE, NONE],
                0,
                vec![],
            ),
            row(
                ModulePlace::Outside,
                0,
                [NONE, NONE, NONE, Bytes(8)],
                [NONE, NONE, NONE, Bytes(8)],
                0,
                vec![],
            ),
            row(ModulePlace::NotKnown, 0, [NONE, NONE, 9 * M, NONE], [NONE, NONE, 9 * M, NONE], 0, vec![]),
        ];
        ModuleTable { moment: Moment(8), rows, total: [4 * M, 4 * M, 9 * M, 12 * M + Bytes(8)] }
    }

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory takes everything");
        String::from_utf8(out).expect("the table is text")
    }

    #[test]
    fn the_table_reads_in_full() {
        assert_eq!(
            text(|out| modules_text(out, &fixture(), TextStyle::default())).lines().collect::<Vec<_>>(),
            [
                "  modules      after event 7, each with those below it; ×N: how often it runs in a pass",
                "                              parameters   gradients  optimizer state  activations  activations of a call",
                "  Net (train.py:85)             4.00 MiB    4.00 MiB                      12.0 MiB",
                "    Block ×2 (net.py:113)                                                 12.0 MiB  5.00 MiB to 7.00 MiB each",
                "    Head (made at net.py:20)    4.00 MiB  ≈ 4.00 MiB",
                "  module not known                                           9.00 MiB",
                "  and 1 row with less than 0.5 %, in --format json",
            ]
        );
    }

    #[test]
    fn csv_has_plain_figures() {
        let table = fixture();
        let csv = text(|out| modules_csv(out, &table.rows[1..3]));
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines,
            [
                "depth,module,calls,parameter,gradient,optimizer_state,activation,own_parameter,own_gradient,\
                 own_optimizer_state,own_activation",
                "1,Block (net.py:113),2,0,0,0,12582912,0,0,0,12582912",
                "1,Head (made at net.py:20),0,4194304,4194304,0,0,4194304,4194304,0,0",
            ]
        );
    }
}
