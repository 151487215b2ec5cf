//! The course of all ranks: their peaks in columns that mean the same for each.

use super::job::{Job, JobDevice};
use oomscope_model::Bytes;

/// The meaning of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatAxis {
    /// Iterations by their number: the first and the last that are shown.
    Iterations([u32; 2]),
    /// Iterations counted back from the last one of each row, as numbers are not known everywhere.
    LastIterations(usize),
    /// Equal parts of the events of each row: iterations are not known everywhere.
    Events,
}

/// The peaks of all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heat {
    /// The meaning of columns.
    pub axis: HeatAxis,
    /// For each row its columns: most active bytes, or `None` where it recorded nothing.
    pub rows: Vec<Vec<Option<Bytes>>>,
    /// The largest of all.
    pub most_bytes: Bytes,
}

/// The peaks of all rows of a job over time, in at most some columns.
pub fn heat(job: &Job, columns: usize) -> Heat {
    let rows = &job.rows()[..];
    let columns = columns.max(1);
    let has_iterations = !rows.is_empty() && rows.iter().all(|row| !row.device.iterations.is_empty());
    let numbered = has_iterations.then(|| numbered(rows, columns)).flatten();
    let (axis, cells) = match numbered {
        Some(found) => found,
        None if has_iterations => last_iterations(rows, columns),
        None => (HeatAxis::Events, rows.iter().map(|row| some(&row.device.slices, columns)).collect()),
    };
    let most_bytes = cells.iter().flatten().flatten().copied().max().unwrap_or_default();
    Heat { axis, rows: cells, most_bytes }
}

type Cells = Vec<Vec<Option<Bytes>>>;

/// Columns by the numbers of iterations; `None` if one is not known.
fn numbered(rows: &[JobDevice<'_>], columns: usize) -> Option<(HeatAxis, Cells)> {
    let all = rows.iter().flat_map(|row| &row.device.iterations);
    let numbers: Vec<u32> = all.map(|iteration| iteration.number).collect::<Option<_>>()?;
    let (first, last) = (numbers.iter().min().copied()?, numbers.iter().max().copied()?);
    let count = (last - first) as usize + 1;
    let width = columns.min(count);
    let cells = rows.iter().map(|row| {
        let mut cells = vec![None; width];
        for iteration in &row.device.iterations {
            let place = iteration.number.map_or(0, |number| (number - first) as usize);
            raise(&mut cells, place, count, iteration.active_bytes);
        }
        cells
    });
    Some((HeatAxis::Iterations([first, last]), cells.collect()))
}

/// Columns by iterations, the last ones in one column.
fn last_iterations(rows: &[JobDevice<'_>], columns: usize) -> (HeatAxis, Cells) {
    let count = rows.iter().map(|row| row.device.iterations.len()).max().unwrap_or(1);
    let cells = rows.iter().map(|row| {
        let mut cells = vec![None; columns.min(count)];
        let missing = count - row.device.iterations.len();
        for (at, iteration) in row.device.iterations.iter().enumerate() {
            raise(&mut cells, missing + at, count, iteration.active_bytes);
        }
        cells
    });
    (HeatAxis::LastIterations(count), cells.collect())
}

/// Put a value into the column of a place among some.
fn raise(cells: &mut [Option<Bytes>], place: usize, of: usize, bytes: Bytes) {
    let at = place * cells.len() / of.max(1);
    if let Some(cell) = cells.get_mut(at) {
        *cell = Some(cell.map_or(bytes, |known| known.max(bytes)));
    }
}

/// The maxima of at most some columns.
fn some(values: &[Bytes], columns: usize) -> Vec<Option<Bytes>> {
    let mut cells = vec![None; columns.min(values.len())];
    for (at, &value) in values.iter().enumerate() {
        raise(&mut cells, at, values.len(), value);
    }
    cells
}
