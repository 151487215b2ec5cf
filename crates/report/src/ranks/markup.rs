//! The ranks of a job as Markdown and as a page.

use super::words::{
    LISTED_LINES, LISTED_RANKS, axis_text, categories, failure_text, free_note, headline, outcome,
    outlier_text, peak, peak_reserved, standings, together_text,
};
use crate::CATEGORY_LEGEND;
use crate::diagnosis::{Cell, Column, Html, Item, Markdown, PageParts, Sink, Span, Table, policy};
use crate::position::position_text;
use oomscope_diagnosis::ranks;
use oomscope_diagnosis::ranks::{Heat, Job, JobDevice, LineChange, Outlier};
use oomscope_model::Bytes;
use oomscope_units as units;

/// Columns of the heat map.
const HEAT_COLUMNS: usize = 120;

/// Sizes of the heat map in its own units: the names of ranks, all columns, and a row.
const NAMES: f64 = 130.0;
const CELLS: f64 = 740.0;
const ROW: f64 = 16.0;

/// Characters of a name beside the heat map: more would reach into it.
const NAME_CHARS: usize = 20;

/// Opacity of the lowest peak: it stands out from the ground.
const LOWEST: f64 = 0.08;

/// The ranks of a job as Markdown for a ticket; with the sum of all if they share one GPU.
pub fn ranks_markdown(job: &Job, is_one_gpu: bool) -> String {
    let mut out = Markdown::default();
    answer(&mut out, job, is_one_gpu);
    rows(&mut out, job);
    out.out
}

/// The ranks of a job as a page that needs nothing else; with the sum of all if they share one GPU.
pub fn ranks_html(job: &Job, colors: &PageParts, is_one_gpu: bool) -> String {
    let style = policy::style(&colors.light, &colors.dark);
    let mut page = Html::default();
    page.begin(&policy::policy(&style, ""), &style, &headline(job));
    page.markup("<main>\n");
    answer(&mut page, job, is_one_gpu);
    heat(&mut page, job);
    rows(&mut page, job);
    page.markup("</main>\n</body>\n</html>\n");
    page.out
}

/// The outliers, and who failed first.
fn answer(out: &mut impl Sink, job: &Job, is_one_gpu: bool) {
    out.open_section("Ranks");
    out.paragraph(&[Span::Strong(&units::printable(&headline(job)))]);
    for outlier in ranks::outliers(job).iter().take(LISTED_RANKS) {
        out.paragraph(&[Span::Plain(&units::printable(&outlier_text(outlier)))]);
        out.table(&lines(outlier));
    }
    if is_one_gpu {
        out.paragraph(&[Span::Plain(&units::printable(&together_text(job)))]);
    }
    if let Some(first) = ranks::first_failure(job) {
        out.paragraph(&[Span::Plain(&units::printable(&failure_text(&first)))]);
        match standings(&first) {
            None => out.remark("How the others stood then was not recorded."),
            Some(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| units::printable(text)).collect();
                let items: Vec<Item<'_>> = texts.iter().map(|text| Item { text, code: None }).collect();
                out.list(&items);
            }
        }
        if let Some(note) = free_note(&first) {
            out.remark(&units::printable(&note));
        }
    }
    out.close_section();
}

const fn column(title: &'static str, is_number: bool) -> Column {
    Column { title, is_number }
}

/// The lines of code that make the difference.
fn lines(outlier: &Outlier<'_>) -> Table {
    let columns =
        vec![column("more", true), column("line", false), column("here", true), column("median", true)];
    let row = |change: &LineChange| {
        vec![
            Cell::Number(units::bytes_change(change.difference_bytes())),
            Cell::Code(units::printable(&change.line)),
            Cell::Number(units::bytes(change.bytes)),
            Cell::Number(units::bytes(change.median_bytes)),
        ]
    };
    Table { style: None, columns, rows: outlier.lines.iter().take(LISTED_LINES).map(row).collect() }
}

/// A row for each rank.
fn rows(out: &mut impl Sink, job: &Job) {
    out.open_section("All ranks");
    let columns = vec![
        column("rank", false),
        column("peak", true),
        column("reserved", true),
        column("at the peak", false),
        column("memory then is for", false),
        column("outcome", false),
        column("file", false),
    ];
    out.table(&Table { style: None, columns, rows: job.rows().into_iter().map(cells).collect() });
    let unread = job.files().iter().filter_map(|file| Some((file, file.devices.as_ref().err()?)));
    for (file, why) in unread {
        out.remark(&units::printable(&format!("{}: {why}", file.name)));
    }
    out.remark(CATEGORY_LEGEND);
    out.close_section();
}

fn cells(row: JobDevice<'_>) -> Vec<Cell> {
    let device = row.device;
    vec![
        // A rank is one word, however narrow its column.
        Cell::Plain(units::printable(&row.name()).replace(' ', "\u{a0}")),
        Cell::Number(peak(row)),
        Cell::Number(peak_reserved(row)),
        Cell::Plain(position_text(device.peak.position).unwrap_or_else(|| "phase not known".to_owned())),
        Cell::Plain(categories(row)),
        Cell::Plain(outcome(row)),
        Cell::Code(units::printable(&row.file.name)),
    ]
}

/// The peaks of all ranks over time: the more, the stronger.
fn heat(page: &mut Html, job: &Job) {
    let found = ranks::heat(job, HEAT_COLUMNS);
    let rows = job.rows();
    if rows.is_empty() {
        return;
    }
    page.element(
        "<section class=\"card info\">\n<h2>Peaks over ",
        &axis_text(found.axis),
        "</h2>\n<figure>\n",
    );
    let (width, height) = (NAMES + CELLS, ROW * rows.len() as f64);
    page.computed(&format!(
        "<svg id=\"drawing\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\""
    ));
    page.text("Most active memory of each rank, in columns that mean the same for all");
    page.markup("\">\n");
    for (at, (row, cells)) in rows.iter().zip(&found.rows).enumerate() {
        heat_row(page, *row, cells, &found, ROW * at as f64);
    }
    page.element("</svg>\n<figcaption>The strongest is ", &units::bytes(found.most_bytes), "</figcaption>\n");
    page.markup("</figure>\n</section>\n");
}

fn heat_row(page: &mut Html, row: JobDevice<'_>, cells: &[Option<Bytes>], heat: &Heat, top: f64) {
    let name: String = units::printable(&row.name()).chars().take(NAME_CHARS).collect();
    page.computed(&format!("<text x=\"0\" y=\"{:.1}\">", top + ROW * 0.75));
    page.element("", &name, "</text>\n");
    let width = CELLS / cells.len().max(1) as f64;
    for (at, bytes) in cells.iter().enumerate() {
        let Some(bytes) = bytes else { continue };
        let share = (*bytes).or_zero().as_f64() / heat.most_bytes.max(Bytes(1)).as_f64();
        page.computed(&format!(
            "<rect class=\"heat\" x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill-opacity=\"{:.3}\"><title>",
            NAMES + width * at as f64,
            top + 0.5,
            width - 0.3,
            ROW - 1.0,
            LOWEST + (1.0 - LOWEST) * share,
        ));
        page.text(&units::bytes(*bytes));
        page.markup("</title></rect>\n");
    }
    if row.device.failure.is_some() {
        let x = NAMES - 8.0;
        page.computed(&format!(
            "<rect class=\"failed\" x=\"{x}\" y=\"{:.1}\" width=\"4\" height=\"12\"/>\n",
            top + 2.0
        ));
    }
}
