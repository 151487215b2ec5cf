//! What a rank has more than the others of its job.

use crate::figure;
use crate::sentence::{Sentence, name, say};
use oomscope_model::Bytes;

/// What an outlier of a job has more at its peak than the median.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankExcess {
    /// The name of its row, as `rank 3`.
    pub name: String,
    /// The name of the median's row.
    pub median: String,
    /// How many rows are compared.
    pub rows: usize,
    /// How many bytes its peak has more; more than none.
    pub bytes: Bytes,
    /// The lines that have more at its peak than at that of the median, most first; memory without a stack has none.
    pub lines: Vec<LineChange>,
}

impl RankExcess {
    /// The verdict about an OOM that it explains.
    pub(crate) fn title(&self) -> Sentence {
        // The label of a line ends with its function.
        let place =
            self.lines.first().map(|line| line.line.rsplit_once(' ').map_or(&*line.line, |(at, _)| at));
        say!(
            "Out of memory: {} has {} more at its peak than {}, the median of {}{}",
            name(&self.name),
            figure::bytes(self.bytes),
            name(&self.median),
            figure::counted(self.rows, "rank"),
            place.map(|place| say!(" ({})", name(place)))
        )
    }
}

/// A line of code at two peaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// The line with its function.
    pub line: String,
    /// Its bytes at the peak of the row.
    pub bytes: Bytes,
    /// Its bytes at the peak of the median.
    pub median_bytes: Bytes,
}

impl LineChange {
    /// How many bytes more the row has than the median.
    pub fn difference_bytes(&self) -> Bytes {
        self.bytes - self.median_bytes
    }
}
