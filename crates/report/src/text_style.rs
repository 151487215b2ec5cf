//! How text for a terminal looks: its width, and colours where they are wanted.

use anstyle::{AnsiColor, Style};
use oomscope_diagnosis::Severity;

/// Cells of a terminal in a line of prose. Longer ones are hard to read.
pub const MAX_WIDTH: usize = 100;

/// How text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// The most cells in a line of prose.
    pub width: usize,
    /// The most cells in a line of a table; `None` where no terminal breaks lines.
    pub table_width: Option<usize>,
    /// Whether escape sequences for colours may be written.
    pub has_color: bool,
}

impl Default for TextStyle {
    /// As for a file.
    fn default() -> Self {
        Self { width: MAX_WIDTH, table_width: None, has_color: false }
    }
}

impl TextStyle {
    /// A label, such as `Why:`, or a statement that is to be read first.
    pub(crate) fn bold(self, text: &str) -> String {
        self.painted(Style::new().bold(), text)
    }

    /// What is to be typed.
    pub(crate) fn code(self, text: &str) -> String {
        self.painted(AnsiColor::Cyan.on_default(), text)
    }

    /// A text as severe as this.
    pub(crate) fn severity(self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Critical => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Green,
        };
        self.painted(color.on_default().bold(), text)
    }

    fn painted(self, style: Style, text: &str) -> String {
        if self.has_color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
