//! `--profile`: a trace of torch.profiler beside the recording.

use crate::cli::failure::Failure;
use crate::cli::stderr;
use flate2::bufread::MultiGzDecoder;
use oomscope_export::interchange::{Portion, Profile, Selection};
use oomscope_snapshot::load::open_regular;
use oomscope_units as units;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Read a trace, compressed with gzip or not.
pub(super) fn read(path: &Path) -> Result<Profile, Failure> {
    let hint = "--profile takes what torch.profiler's export_chrome_trace wrote";
    let refused = |why: &dyn std::fmt::Display| Failure::new(format_args!("{}: {why}", path.display()), hint);
    let mut input = BufReader::new(open_regular(path).map_err(|error| refused(&error))?);
    let start = input.fill_buf().map_err(|error| refused(&error))?;
    let read = if start.starts_with(&GZIP) {
        Profile::read(BufReader::new(MultiGzDecoder::new(input)))
    } else {
        Profile::read(input)
    };
    let profile = read.map_err(|error| refused(&error))?;
    if profile.left_out() != 0 {
        let count = units::count(profile.left_out());
        stderr::notice(&format!("{}: {count} counters and flows are left out", path.display()));
    }
    Ok(profile)
}

/// Say so if the profile and the recording are of different times, and so hardly of one run.
pub(super) fn check(selection: &Selection<'_>) {
    let Some((first, last)) = selection.profile.as_ref().and_then(Profile::time_range_us) else { return };
    let overlaps = |portion: &Portion| {
        let range = portion.recording.events.time_range_us();
        range.is_none_or(|(from, to)| from <= last && first <= to)
    };
    if !selection.portions.iter().any(overlaps) {
        stderr::notice("the profile and the recording have no time in common: they may be of different runs");
    }
}
