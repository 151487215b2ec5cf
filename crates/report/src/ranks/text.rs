//! The ranks of a job as text.

use super::words::{
    LISTED_LINES, LISTED_RANKS, axis_text, categories, failure_text, free_note, headline, outcome,
    outlier_text, peak, peak_reserved, standings, together_text,
};
use crate::CATEGORY_LEGEND;
use crate::position::position_text;
use crate::table::{self, Align};
use crate::text_style::TextStyle;
use oomscope_diagnosis::ranks;
use oomscope_diagnosis::ranks::{Heat, Job, JobDevice, LineChange, Outlier};
use oomscope_model::Bytes;
use oomscope_units as units;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr as _;

/// Columns of the heat map: with the names of ranks they fit into 80 cells.
const HEAT_COLUMNS: usize = 60;

/// Fewest columns of the heat map.
const LEAST_HEAT: usize = 10;

/// The columns that a narrow terminal does not show, the least important first: the file, reserved memory, the place of the peak
/// and what memory is for.
const MAY_GO: [usize; 4] = [6, 2, 3, 4];

/// Glyphs for shares of the largest peak, in eighths.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Write the ranks of a job as text; with the sum of all if they share one GPU.
///
/// # Errors
/// When writing fails.
pub fn ranks_text(out: &mut dyn Write, job: &Job, is_one_gpu: bool, style: TextStyle) -> io::Result<()> {
    writeln!(out, "{}\n", headline(job))?;
    rows_text(out, job, style)?;
    let outliers = ranks::outliers(job);
    for outlier in outliers.iter().take(LISTED_RANKS) {
        outlier_lines(out, outlier)?;
    }
    if LISTED_RANKS < outliers.len() {
        let others: Vec<String> =
            outliers.iter().skip(LISTED_RANKS).map(|outlier| outlier.row.name()).collect();
        writeln!(out, "\nOther outliers: {}", others.join(", "))?;
    }
    if is_one_gpu {
        writeln!(out, "\n{}", units::printable(&together_text(job)))?;
    }
    failure_lines(out, job)?;
    heat_text(out, job, style)
}

fn rows_text(out: &mut dyn Write, job: &Job, style: TextStyle) -> io::Result<()> {
    let has_ranks = job.files().iter().any(|file| file.rank.is_some());
    let first = if has_ranks { "rank" } else { "file" };
    let header = [first, "peak", "reserved", "at the peak", "memory then is for", "outcome", "file"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(job.rows().into_iter().map(cells));
    let mut align =
        vec![Align::Left, Align::Right, Align::Right, Align::Left, Align::Left, Align::Left, Align::Left];
    if !has_ranks {
        // The first column has the names of files already.
        align.pop();
        for row in &mut rows {
            row.pop();
        }
    }
    let may_go: Vec<usize> = MAY_GO.into_iter().filter(|&column| column < align.len()).collect();
    table::write_fitted(out, style.table_width, &align, &may_go, rows)?;
    if job.rows().iter().flat_map(|row| &row.device.peak.categories).any(|of| of.inferred_bytes != 0) {
        writeln!(out, "{CATEGORY_LEGEND}")?;
    }
    for file in job.files() {
        if let Err(why) = &file.devices {
            writeln!(out, "{}: {}", units::printable(&file.name), units::printable(why))?;
        }
    }
    Ok(())
}

fn cells(row: JobDevice<'_>) -> Vec<String> {
    let device = row.device;
    vec![
        units::printable(&row.name()),
        peak(row),
        peak_reserved(row),
        position_text(device.peak.position).unwrap_or_else(|| "phase not known".to_owned()),
        categories(row),
        outcome(row),
        units::printable(&row.file.name),
    ]
}

fn outlier_lines(out: &mut dyn Write, outlier: &Outlier<'_>) -> io::Result<()> {
    writeln!(out, "\n{}", units::printable(&outlier_text(outlier)))?;
    let row = |change: &LineChange| {
        vec![
            "  ".to_owned(),
            units::bytes_change(change.difference_bytes()),
            units::printable(&change.line),
            format!("{} against {}", units::bytes(change.bytes), units::bytes(change.median_bytes)),
        ]
    };
    let rows: Vec<Vec<String>> = outlier.lines.iter().take(LISTED_LINES).map(row).collect();
    table::write(out, &[Align::Left, Align::Right, Align::Left, Align::Left], &rows)?;
    if let Some(rest) = outlier.lines.get(LISTED_LINES..).filter(|rest| !rest.is_empty()) {
        let bytes = rest.iter().map(|change| change.difference_bytes()).sum::<Bytes>();
        writeln!(out, "    {} in {}", units::bytes_change(bytes), units::counted(rest.len(), "other line"))?;
    }
    Ok(())
}

fn failure_lines(out: &mut dyn Write, job: &Job) -> io::Result<()> {
    let Some(first) = ranks::first_failure(job) else { return Ok(()) };
    writeln!(out, "\n{}", units::printable(&failure_text(&first)))?;
    let Some(standings) = standings(&first) else {
        return writeln!(out, "  how the others stood then was not recorded");
    };
    for standing in standings {
        writeln!(out, "  {}", units::printable(&standing))?;
    }
    free_note(&first).map_or(Ok(()), |note| writeln!(out, "  {}", units::printable(&note)))
}

fn heat_text(out: &mut dyn Write, job: &Job, style: TextStyle) -> io::Result<()> {
    let rows = job.rows();
    let names = rows.iter().map(|row| row.name().width()).max().unwrap_or(0);
    let room =
        style.table_width.map_or(HEAT_COLUMNS, |width| width.saturating_sub(names + 4).max(LEAST_HEAT));
    let heat = ranks::heat(job, HEAT_COLUMNS.min(room));
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nPeaks over {}; █ is {}", axis_text(heat.axis), units::bytes(heat.most_bytes))?;
    let lines = rows.iter().zip(&heat.rows).map(|(row, cells)| {
        vec![
            format!("  {}", units::printable(&row.name())),
            cells.iter().map(|cell| glyph(*cell, &heat)).collect(),
        ]
    });
    table::write(out, &[Align::Left, Align::Left], &lines.collect::<Vec<_>>())
}

fn glyph(bytes: Option<Bytes>, heat: &Heat) -> char {
    let Some(bytes) = bytes else { return '·' };
    let share = bytes.or_zero().as_f64() / heat.most_bytes.max(Bytes(1)).as_f64();
    let level = (share * LEVELS.len() as f64).ceil() as usize;
    LEVELS[level.clamp(1, LEVELS.len()) - 1]
}
