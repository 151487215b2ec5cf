//! `oomscope export`.

mod args;
mod profile;
mod selection;
mod tables;
mod whole;

pub(super) use args::ExportArgs;
#[cfg(feature = "sql")]
pub(super) use selection::everything;

use super::failure::Failure;
use oomscope_export::interchange::Content;

pub(super) fn run(args: &ExportArgs) -> Result<(), Failure> {
    args.refuse_useless()?;
    match args.format.content {
        Content::Table(open) => tables::run(args, open),
        Content::Database(write) => whole::database(args, write),
        Content::Stacks(write) => whole::stacks(args, write),
        Content::Trace(write) => whole::trace(args, write),
    }
}
