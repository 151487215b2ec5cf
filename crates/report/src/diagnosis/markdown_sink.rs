//! GitHub's Markdown as a format of the report.

use super::sink::{Cell, Head, Item, Sink, Span, Table};
use super::tree;
use super::words::kind_text;
use oomscope_diagnosis::{CodeTree, FindingId, Severity};
use oomscope_units as units;

/// Markdown that is being written.
#[derive(Default)]
pub(crate) struct Markdown {
    pub(crate) out: String,
}

impl Markdown {
    /// Markup. It is part of the program, so that no text of a file can get here.
    fn markup(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Prose in which nothing has a meaning for Markdown, HTML or GitHub (mentions, references).
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.markup("&amp;"),
                '<' => self.markup("&lt;"),
                '>' => self.markup("&gt;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => self.out.extend(['\\', c]),
                // A zero-width space, so that nobody is notified and no issue is linked.
                '@' | '#' => self.out.extend([c, '\u{200b}']),
                '\n' | '\r' => self.out.push(' '),
                c => self.out.push(c),
            }
        }
    }

    /// Prose between two pieces of markup.
    fn element(&mut self, open: &'static str, text: &str, close: &'static str) {
        self.markup(open);
        self.text(text);
        self.markup(close);
    }

    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Plain(text) | Cell::Number(text) => self.text(text),
            Cell::Amount(amount) => self.text(&amount.text),
            Cell::Code(text) => self.out.push_str(&cell_code(text)),
            Cell::Codes(texts) => {
                let codes: Vec<String> = texts.iter().map(|text| cell_code(text)).collect();
                self.out.push_str(&codes.join(" "));
            }
        }
    }

    /// A row of a table of which every cell is written by `cell`.
    fn row<T>(&mut self, cells: &[T], mut cell: impl FnMut(&mut Self, &T)) {
        self.markup("|");
        for each in cells {
            cell(self, each);
            self.markup(" |");
        }
        self.markup("\n");
    }
}

impl Sink for Markdown {
    const SIZES_FIRST: bool = false;

    fn head(&mut self, head: &Head<'_>) {
        self.element("## ", head.title, "\n\n");
        self.out.push_str(&inline_code(head.name));
        self.element(" · ", head.device, "\n\n");
        self.element("", head.moment, "\n\n");
        if let Some(predicted) = head.predicted {
            self.element("**", predicted, "**\n\n");
        }
        if !head.stand_ins.is_empty() {
            self.list(head.stand_ins);
        }
    }

    fn open_finding(&mut self, severity: Severity, id: FindingId) {
        self.element("", &units::capitalised(&kind_text(severity, id)), "\n\n");
    }

    fn heading(&mut self, text: &'static str) {
        self.element("**", text, ":**\n\n");
    }

    fn open_section(&mut self, title: &'static str) {
        self.element("### ", title, "\n\n");
    }

    fn close_section(&mut self) {}

    fn paragraph(&mut self, spans: &[Span<'_>]) {
        for span in spans {
            match span {
                Span::Plain(text) => self.text(text),
                Span::Strong(text) => self.element("**", text, "**"),
            }
        }
        self.markup("\n\n");
    }

    fn remark(&mut self, text: &str) {
        self.paragraph(&[Span::Plain(text)]);
    }

    fn table(&mut self, table: &Table) {
        self.row(&table.columns, |out, column| {
            out.element(if column.title.is_empty() { "" } else { " " }, column.title, "");
        });
        self.row(&table.columns, |out, column| out.markup(if column.is_number { " ---:" } else { " ---" }));
        for row in &table.rows {
            self.row(row, |out, cell| {
                out.markup(" ");
                out.cell(cell);
            });
        }
        self.markup("\n");
    }

    fn list(&mut self, items: &[Item<'_>]) {
        for item in items {
            self.element("- ", item.text, "\n");
            if let Some(code) = item.code {
                self.markup("\n");
                // Without the indent, the block would end the list.
                for line in fenced(code).lines() {
                    self.out.extend(["  ", line, "\n"]);
                }
                self.markup("\n");
            }
        }
        self.markup("\n");
    }

    fn fold(&mut self, summary: &str, body: impl FnOnce(&mut Self)) {
        self.element("<details><summary>", summary, "</summary>\n\n");
        body(self);
        self.markup("</details>\n\n");
    }

    fn tree(&mut self, tree: &CodeTree) {
        self.paragraph(&[Span::Plain(&tree::title(tree))]);
        self.code_block(&tree::text(tree));
    }

    fn code_block(&mut self, text: &str) {
        self.out.push_str(&fenced(text));
        self.markup("\n");
    }

    fn foot(&mut self, tool: &'static str) {
        self.element("<sub>", tool, "</sub>\n");
    }
}

/// The length of the longest run of backticks: a longer one can stand around the text.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text as inline code, whatever it contains.
fn inline_code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    // Markdown takes one space away at both ends.
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text as inline code in a table, where a bar would start the next cell even in code.
fn cell_code(text: &str) -> String {
    inline_code(text).replace('|', "\\|")
}

/// Text as a block of code, whatever it contains.
fn fenced(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}text\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_has_a_meaning() {
        let mut prose = Markdown::default();
        prose.text("a|b `c` <i> __init__ @x #5");
        assert_eq!(prose.out, "a\\|b \\`c\\` &lt;i&gt; \\_\\_init\\_\\_ @\u{200b}x #\u{200b}5");
        assert_eq!(inline_code("a`b``c"), "```a`b``c```");
        assert_eq!(inline_code("`"), "`` ` ``");
        assert_eq!(cell_code("a|b"), "`a\\|b`");
        assert_eq!(fenced("```\nx"), "````text\n```\nx\n````\n");
    }
}
