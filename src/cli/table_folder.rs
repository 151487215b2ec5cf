//! A folder of tables, one file each.

use super::failure::Failure;
use super::output::{Destination, Output};
use oomscope_export::save::{SaveError, Unfinished};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a table.
pub(super) fn table_path(folder: &Path, name: &str, extension: &str) -> PathBuf {
    folder.join(format!("{name}.{extension}"))
}

/// Write all tables. They take their places once all of them are written.
pub(super) fn write_folder<'a, T>(
    folder: &Path,
    tables: impl Iterator<Item = (T, Destination<'a>)>,
    mut write: impl FnMut(T, &mut Output) -> io::Result<()>,
) -> Result<(), Failure> {
    let folder = Folder::create(folder)?;
    let written = tables.map(|(table, destination)| -> Result<Output, Failure> {
        let mut out = destination.open()?;
        write(table, &mut out)?;
        Ok(out)
    });
    let written: Vec<Output> = written.collect::<Result<_, _>>()?;
    written.into_iter().try_for_each(Output::finish)?;
    folder.keep();
    Ok(())
}

/// The folder of the tables. One that was made for them goes away if they are not written.
struct Folder<'a> {
    path: &'a Path,
    new: Option<Unfinished>,
}

impl<'a> Folder<'a> {
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let refused = |source| SaveError::Refused { path: path.to_owned(), source };
        if path.exists() {
            // What is no folder is refused here.
            fs::create_dir_all(path).map_err(refused)?;
            return Ok(Self { path, new: None });
        }
        let ((), new) =
            Unfinished::make(|| fs::create_dir_all(path), |()| path.to_owned()).map_err(refused)?;
        Ok(Self { path, new: Some(new) })
    }

    fn keep(mut self) {
        self.new = None;
    }
}

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        if self.new.is_some() {
            // It stays if anything is in it.
            fs::remove_dir(self.path).ok();
        }
    }
}
