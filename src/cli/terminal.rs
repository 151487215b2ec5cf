//! What the terminal can show: colours, and how wide a line may be.

use anstream::AutoStream;
use clap::{Args, ValueEnum};
use colorchoice::ColorChoice;
use oomscope_report::{MAX_WIDTH, TextStyle};
use std::io::{self, IsTerminal as _};
use std::path::Path;

/// The narrowest width that text is laid out for.
const MIN_WIDTH: usize = 40;

/// `--color`, an option of every command.
#[derive(Debug, Args)]
pub(super) struct Color {
    /// Colour the output
    ///
    /// Without this option, output is coloured if it goes to a terminal and `NO_COLOR` is not set.
    #[arg(id = "color", long = "color", value_name = "WHEN", value_enum, default_value_t = When::Auto, global = true)]
    when: When,
}

/// When colours are used.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Let it hold from now on.
    pub(super) fn set(&self) {
        let choice = match self.when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// How text is written to standard output.
pub(super) fn stdout_style() -> TextStyle {
    let stdout = io::stdout();
    let has_color = !matches!(AutoStream::choice(&stdout), ColorChoice::Never | ColorChoice::Auto);
    let width = stdout.is_terminal().then(terminal_size::terminal_size).flatten();
    let table_width = width.map(|(width, _)| usize::from(width.0).max(MIN_WIDTH));
    let width = table_width.map_or(MAX_WIDTH, |width| width.min(MAX_WIDTH));
    TextStyle { width, table_width, has_color }
}

/// How text is written to an output: a file has no width, and no colours.
pub(super) fn output_style(output: Option<&Path>) -> TextStyle {
    let is_stdout = output.is_none_or(|path| path == Path::new("-"));
    if is_stdout { stdout_style() } else { TextStyle::default() }
}

/// Whether standard error may have colours.
pub(super) fn has_color_on_stderr() -> bool {
    !matches!(AutoStream::choice(&io::stderr()), ColorChoice::Never | ColorChoice::Auto)
}
