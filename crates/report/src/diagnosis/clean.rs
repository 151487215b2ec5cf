//! Texts of a file made fit to be shown: printable, of limited length and, where wanted, without folders.

use oomscope_analysis::{ModulePlace, ModuleRow, ModuleTable, SiteFrame};
use oomscope_diagnosis::{CodeRow, CodeTree, Site};
use oomscope_units as units;

/// The longest text that is taken from a file, in characters: enough for a path and a function's name, short enough
/// that hostile names do not fill the report.
const MAX_TEXT: usize = 300;

/// The way in which texts of a file are cleaned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clean {
    pub(super) redacted: bool,
}

impl Clean {
    /// A name or another short text.
    pub(super) fn text(self, text: &str) -> String {
        let text = units::printable(text);
        let text = if self.redacted { units::without_names(&text) } else { text };
        shortened(text)
    }

    /// Code, which has lines of its own.
    pub(super) fn code(self, text: &str) -> String {
        text.lines().map(|line| self.text(line)).collect::<Vec<_>>().join("\n")
    }

    /// The path of a file.
    pub(super) fn file(self, file: &str) -> String {
        let file = units::printable(if self.redacted { units::basename(file) } else { file });
        shortened(file)
    }

    /// A frame of a stack.
    pub(super) fn frame(self, frame: &SiteFrame) -> SiteFrame {
        SiteFrame { file: self.file(&frame.file), name: self.text(&frame.name), ..*frame }
    }

    /// A line of code.
    pub(super) fn site(self, site: &Site) -> Site {
        Site { file: self.file(&site.file), name: self.text(&site.name), ..site.clone() }
    }

    /// Lines of code with the bytes below them.
    pub(super) fn tree(self, tree: &CodeTree) -> CodeTree {
        let row = |row: &CodeRow| CodeRow {
            lines: row.lines.iter().map(|site| self.site(site)).collect(),
            ..row.clone()
        };
        CodeTree { rows: tree.rows.iter().map(row).collect(), ..*tree }
    }

    /// Modules, which are named by files and functions.
    pub(super) fn modules(self, table: &ModuleTable) -> ModuleTable {
        let place = |place: &ModulePlace| match place {
            ModulePlace::Module { name, class, from, is_made } => ModulePlace::Module {
                name: self.text(name),
                class: class.as_ref().map(|class| self.text(class)),
                from: from.as_ref().map(|from| self.text(from)),
                is_made: *is_made,
            },
            ModulePlace::Outside => ModulePlace::Outside,
            ModulePlace::NotKnown => ModulePlace::NotKnown,
        };
        let row = |row: &ModuleRow| ModuleRow { place: place(&row.place), ..row.clone() };
        ModuleTable { rows: table.rows.iter().map(row).collect(), ..*table }
    }

    /// A sentence of the diagnosis. It is not cut: the names in it were, and the rest is the program's own.
    pub(super) fn prose(self, text: &str) -> String {
        let text = units::printable(text);
        if self.redacted { units::without_names(&text) } else { text }
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
