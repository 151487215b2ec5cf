//! What fixes promise, kept beside the recording.

use super::failure::Failure;
use super::output::Destination;
use super::select::Opened;
use super::stderr;
use oomscope_model::Timeline;
use oomscope_report as report;
use oomscope_report::{KeptPromises, MAX_PROMISES_BYTES, RemediesReport, kept_promises, recording_mark};
use oomscope_snapshot::load::{Input, fixes_beside, read_text};
use std::path::PathBuf;

/// Keep all promises beside the recording. Another file of that name stays as it is.
pub(super) fn keep(recording: &Opened<'_>, report: &RemediesReport<'_>) -> Result<(), Failure> {
    let Some(path) = path(recording) else {
        return Err(Failure::new(
            "standard input has no place beside it",
            "name a file, or leave out --keep",
        ));
    };
    let odd = |why: String| {
        Failure::new(
            format!("{} is not replaced: {why}", path.display()),
            "move it away, or leave out --keep",
        )
    };
    if let Some(text) = read_text(&path, MAX_PROMISES_BYTES).map_err(|error| odd(error.to_string()))? {
        kept_promises(&text).map_err(|error| odd(error.to_string()))?;
    }
    let destination = Destination::new(Some(&path), [recording.file])?;
    destination.write(|out| Ok(report::remedies_json(out, report)?))?;
    stderr::notice(&format!("kept in {}, for oomscope diff", path.display()));
    Ok(())
}

/// What is kept beside a recording about a device, and where. What is about another recording, or cannot be read, is told.
pub(super) fn kept(recording: &Opened<'_>, timeline: &Timeline) -> Option<(PathBuf, KeptPromises)> {
    let path = path(recording)?;
    let found = match read_text(&path, MAX_PROMISES_BYTES) {
        Ok(None) => return None,
        Ok(Some(text)) => kept_promises(&text).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let mark = recording_mark(timeline);
    let of_this = found.and_then(|found| {
        if found.of == mark { Ok(found) } else { Err("it is about another recording or device".to_owned()) }
    });
    let told = of_this.inspect_err(|why| stderr::notice(&format!("{}: {why}", path.display())));
    told.ok().map(|found| (path, found))
}

fn path(recording: &Opened<'_>) -> Option<PathBuf> {
    let Input::File(path) = Input::from_arg(recording.file) else { return None };
    Some(fixes_beside(&path))
}
