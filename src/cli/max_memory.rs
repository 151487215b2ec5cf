//! `--max-memory`, an option of the window and of every command.

use super::select::parse_bytes;
use clap::Args;
use oomscope_snapshot::load::set_max_memory;

/// `--max-memory`, of the window and of every command.
#[derive(Debug, Args)]
pub(super) struct MaxMemory {
    /// Limit the memory for reading a file, such as 8GiB
    ///
    /// Raise the limit for a trusted file that was refused. The default is 128 MiB plus 100 bytes for each byte of the
    /// stored file, and at most 16 GiB.
    #[arg(id = "max-memory", long = "max-memory", value_name = "SIZE", value_parser = parse_max_memory, global = true)]
    bytes: Option<u64>,
}

impl MaxMemory {
    /// Let it hold for all loads from now on.
    pub(super) fn set(&self) {
        if let Some(bytes) = self.bytes {
            set_max_memory(bytes);
        }
    }
}

fn parse_max_memory(text: &str) -> Result<u64, String> {
    let bytes = u64::try_from(parse_bytes(text)?).ok().filter(|&bytes| bytes != 0);
    bytes.ok_or_else(|| "expected a size above zero, such as 8GiB".to_owned())
}
