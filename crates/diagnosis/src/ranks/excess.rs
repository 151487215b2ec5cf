//! Which ranks have more than the others, and whether that is why they failed.

use super::job::{Job, JobDevice};
use super::outliers::{Outlier, outliers};
use crate::rank_excess::RankExcess;
use oomscope_analysis::NO_STACK;
use oomscope_model::DeviceId;
use std::path::{Path, PathBuf};

impl Job {
    /// What a device of a file has more at its peak than the median; `None` unless it is an outlier with more.
    pub fn excess(&self, path: &Path, device: DeviceId) -> Option<RankExcess> {
        let is_row = |row: &JobDevice<'_>| row.file.path == path && row.device.device == device;
        outliers(self).into_iter().find(|outlier| is_row(&outlier.row)).and_then(|found| self.more(found))
    }

    /// The titles of rows that failed because they have more than the others, with their devices.
    pub(super) fn uneven(&self) -> Vec<(PathBuf, DeviceId, String)> {
        let of = |found: Outlier<'_>| {
            let (file, device) = (found.row.file, found.row.device);
            let least = device.verdict.uneven_from_bytes?;
            let excess = self.more(found).filter(|excess| least <= excess.bytes)?;
            Some((file.path.clone(), device.device, excess.title().to_string()))
        };
        outliers(self).into_iter().filter_map(of).collect()
    }

    fn more(&self, found: Outlier<'_>) -> Option<RankExcess> {
        let mut lines = found.lines;
        lines.retain(|line| 0 < line.difference_bytes() && line.line != NO_STACK);
        (0 < found.difference_bytes).then(|| RankExcess {
            name: found.row.name(),
            median: found.median.name(),
            rows: self.by_peak().len(),
            bytes: found.difference_bytes,
            lines,
        })
    }
}
