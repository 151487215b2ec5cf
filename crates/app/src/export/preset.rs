//! The file that an export is offered to be written to: beside the recording, or at home where that cannot be written.

use super::choice::ExportChoice;
use crate::paths::Places;
use crate::work::worker::Task;
use oomscope_snapshot::load::{Input, endings};
use oomscope_units as units;
use std::path::{Path, PathBuf};

/// The file beside the recording.
pub(super) fn beside(input: &Input, choice: ExportChoice, places: &Places) -> PathBuf {
    let name = input.path().and_then(Path::file_name).unwrap_or_else(|| "snapshot".as_ref());
    let folder = input.path().map_or_else(
        || places.start().to_owned(),
        |path| {
            // A recording that was named without a folder lies in the current one.
            std::path::absolute(path)
                .ok()
                .and_then(|path| path.parent().map(Path::to_owned))
                .unwrap_or_default()
        },
    );
    let name = units::printable(&name.to_string_lossy());
    folder.join(format!("{}-{}.{}", stem(&name), choice.file_stem, choice.product.extension()))
}

/// A name without the endings of recordings: `run.pickle.gz` is `run`.
fn stem(name: &str) -> &str {
    let mut stem = name;
    for ending in endings() {
        let rest = stem.strip_suffix(ending).and_then(|rest| rest.strip_suffix('.'));
        stem = rest.filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    stem
}

/// A path with the extension, which the user may leave out.
pub(super) fn with_extension(chosen: &Path, extension: &str) -> PathBuf {
    if chosen.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension)) {
        return chosen.to_owned();
    }
    let mut name = chosen.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// A name that is not taken: with a number behind it. `None` where all of them are.
pub(super) fn free(taken: &Path) -> Option<PathBuf> {
    /// Numbers that are tried: whoever has more copies wants another name.
    const TRIED: std::ops::RangeInclusive<u32> = 2..=99;
    let stem = taken.file_stem()?.to_string_lossy().into_owned();
    let extension = taken.extension()?.to_string_lossy().into_owned();
    let mut names = TRIED.map(|number| taken.with_file_name(format!("{stem}-{number}.{extension}")));
    names.find(|path| path.symlink_metadata().is_err())
}

/// Finds a folder that can be written: the target's own, or home.
#[derive(Debug, Clone)]
pub(super) struct FindWritable(pub(super) Places);

impl Task for FindWritable {
    type Request = PathBuf;
    type Response = PathBuf;

    fn run(&self, target: &PathBuf) -> PathBuf {
        let (folder, name) = (target.parent(), target.file_name());
        // Permissions do not tell of disks that are only read; a file without a name does.
        let is_writable = folder.is_some_and(|folder| tempfile::tempfile_in(folder).is_ok());
        match name.filter(|_| !is_writable) {
            Some(name) => self.0.home().join(name),
            None => target.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_recording_with_the_kind() {
        let beside = |path: &str| {
            let file = beside(&Input::File(path.into()), ExportChoice::TIMELINE, &Places::of_process());
            file.file_name().map(|name| name.to_string_lossy().into_owned()).expect("a name")
        };
        assert_eq!(beside("/runs/snapshot.pickle"), "snapshot-timeline.png");
        assert_eq!(beside("/runs/run.pickle.gz"), "run-timeline.png");
        assert_eq!(beside("run.v2.pkl"), "run.v2-timeline.png");
        assert_eq!(beside("/runs/.pickle"), ".pickle-timeline.png");
    }

    #[test]
    fn what_cannot_be_written_beside_the_recording_goes_home() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let places = Places::of_process();
        let found = |target: &Path| FindWritable(places.clone()).run(&target.to_owned());
        let here = folder.path().join("a.png");
        assert_eq!(found(&here), here);
        assert_eq!(found(&folder.path().join("missing/a.png")), places.home().join("a.png"));
    }

    #[test]
    fn an_extension_is_added_and_a_name_that_is_taken_gets_a_number() {
        assert_eq!(with_extension(Path::new("/a/run.v2"), "png"), Path::new("/a/run.v2.png"));
        assert_eq!(with_extension(Path::new("/a/run.PNG"), "png"), Path::new("/a/run.PNG"));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let taken = folder.path().join("run-report.html");
        assert_eq!(free(&taken), Some(folder.path().join("run-report-2.html")));
        std::fs::write(folder.path().join("run-report-2.html"), "x").expect("a temporary file");
        assert_eq!(free(&taken), Some(folder.path().join("run-report-3.html")));
    }
}
