//! The files of a job in the order of their ranks.

use super::median::middle;
use super::names::{names_of, ranks_of};
use super::summary::DeviceSummary;
use crate::FindingId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// More ranks than any job has: a file that says so is wrong.
const MAX_WORLD: u32 = 1 << 20;

/// A file of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSummary {
    /// Where it is.
    pub path: PathBuf,
    /// Its name, below what all files of the job have in common.
    pub name: String,
    /// Its rank, if names tell it.
    pub rank: Option<u32>,
    /// Its devices with memory, or the reason why they are not known.
    pub devices: Result<Vec<DeviceSummary>, String>,
}

/// A device of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobDevice<'a> {
    /// The file.
    pub file: &'a FileSummary,
    /// The device.
    pub device: &'a DeviceSummary,
}

/// The files of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    files: Vec<FileSummary>,
    older: Vec<FileSummary>,
}

impl Job {
    /// A job of these files. They are ordered by rank, those without one last and by name. Of several that the recorder wrote of one
    /// rank, the newest stands for it. The verdict about a rank that failed because
    /// it has more than the others is that.
    pub fn new(mut files: Vec<FileSummary>) -> Self {
        files.sort_by(|a, b| (a.rank.is_none(), a.rank, &a.name).cmp(&(b.rank.is_none(), b.rank, &b.name)));
        let (files, older) = newest(files);
        let mut job = Self { files, older };
        for (path, device, title) in job.uneven() {
            let file = job.files.iter_mut().find(|file| file.path == path);
            let devices = file.and_then(|file| file.devices.as_mut().ok()).into_iter().flatten();
            for of in devices.filter(|of| of.device == device) {
                of.verdict.id = FindingId::UnevenRanks;
                of.verdict.title.clone_from(&title);
            }
        }
        job
    }

    /// Ranks that left no file, where those that did say how many there are.
    pub fn missing(&self) -> Vec<u32> {
        let worlds = self.rows().into_iter().filter_map(|row| row.device.world_size);
        let Some(world) = worlds.max().filter(|&world| world <= MAX_WORLD) else { return Vec::new() };
        let left: BTreeSet<u32> = self.files.iter().filter_map(|file| file.rank).collect();
        (0..world).filter(|rank| !left.contains(rank)).collect()
    }

    /// A job of files by their paths, with the devices of each or the reason why they are not known.
    pub fn of_files(paths: &[PathBuf], devices: Vec<Result<Vec<DeviceSummary>, String>>) -> Self {
        let names = names_of(paths);
        let ranks = ranks_of(&names);
        let files = paths.iter().cloned().zip(names).zip(ranks).zip(devices);
        Self::new(
            files.map(|(((path, name), rank), devices)| FileSummary { path, name, rank, devices }).collect(),
        )
    }

    /// The files, by rank.
    pub fn files(&self) -> &[FileSummary] {
        &self.files
    }

    /// Files of ranks for which a newer one stands.
    pub fn older(&self) -> &[FileSummary] {
        &self.older
    }

    /// The devices of all files that could be read, by rank.
    pub fn rows(&self) -> Vec<JobDevice<'_>> {
        let of = |file| {
            let devices = FileSummary::devices(file);
            devices.iter().map(move |device| JobDevice { file, device })
        };
        self.files.iter().flat_map(of).collect()
    }

    /// The rows whose active peak is known, at least in part, the lowest first.
    pub fn by_peak(&self) -> Vec<JobDevice<'_>> {
        let mut rows = self.rows();
        rows.retain(|row| row.device.peak_active().at_least().is_some());
        rows.sort_by_key(|row| row.device.peak.active_bytes);
        rows
    }

    /// The median row by active peak, of those that are known.
    pub fn median(&self) -> Option<JobDevice<'_>> {
        middle(&self.by_peak()).copied()
    }
}

/// The newest file of each rank, and the others; both in their order. Files whose time is not known all stay.
fn newest(files: Vec<FileSummary>) -> (Vec<FileSummary>, Vec<FileSummary>) {
    let mut latest: BTreeMap<u32, i64> = BTreeMap::new();
    for (rank, taken_us) in files.iter().filter_map(|file| file.rank.zip(file.taken_us())) {
        let known = latest.entry(rank).or_insert(taken_us);
        *known = taken_us.max(*known);
    }
    files.into_iter().partition(|file| {
        let newest = file.rank.and_then(|rank| latest.get(&rank));
        file.taken_us().zip(newest).is_none_or(|(taken_us, &newest)| newest <= taken_us)
    })
}

impl FileSummary {
    /// When the recorder wrote it.
    fn taken_us(&self) -> Option<i64> {
        self.devices().iter().filter_map(|device| device.taken_us).max()
    }

    fn devices(&self) -> &[DeviceSummary] {
        self.devices.as_deref().unwrap_or_default()
    }
}

impl JobDevice<'_> {
    /// The name of the row: its rank, else its file; with the device where the file has several.
    pub fn name(&self) -> String {
        let name = match self.file.rank {
            Some(rank) => format!("rank {rank}"),
            None => self.file.name.clone(),
        };
        if self.file.devices().len() < 2 { name } else { format!("{name}, {}", self.device.device) }
    }
}
