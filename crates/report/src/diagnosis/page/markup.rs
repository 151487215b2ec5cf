//! HTML as a format of the report.

use super::super::sink::{Amount, Cell, Head, Item, Sink, Span, Table};
use super::super::tree;
use super::super::words::kind_text;
use oomscope_diagnosis::{CodeTree, FindingId, Severity};
use oomscope_units as units;

/// A page that is being written.
#[derive(Default)]
pub(crate) struct Html {
    pub(crate) out: String,
    /// What to change, once it is said: its words and its code.
    pub(super) said_fix: Option<[String; 2]>,
}

impl Html {
    /// The head of the page, up to where its body begins.
    pub(crate) fn begin(&mut self, policy: &str, style: &str, title: &str) {
        self.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        self.markup("<meta name=\"viewport\" content=\"width=device-width\">\n");
        // Quotes within the attribute are single ones.
        self.markup("<meta http-equiv=\"Content-Security-Policy\" content=\"");
        self.computed(policy);
        self.markup("\">\n");
        self.element("<title>", title, "</title>\n<style>");
        self.computed(style);
        self.markup("</style>\n</head>\n<body>\n");
    }

    /// Markup. It is part of the program, so that no text of a file can get here.
    pub(crate) fn markup(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Markup with numbers and words of the program's own, never with a text of a file.
    pub(crate) fn computed(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Text in which nothing has a meaning for HTML, also within quotes.
    pub(crate) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                c => self.out.push(c),
            }
        }
    }

    /// Text between two pieces of markup.
    pub(crate) fn element(&mut self, open: &'static str, text: &str, close: &'static str) {
        self.markup(open);
        self.text(text);
        self.markup(close);
    }

    pub(super) fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Plain(text) => self.element("<td>", text, "</td>"),
            Cell::Number(text) | Cell::Amount(Amount { text, .. }) => {
                self.element("<td class=\"n\">", text, "</td>");
            }
            Cell::Code(text) => self.element("<td><code>", text, "</code></td>"),
            Cell::Codes(texts) => self.element("<td>", &texts.join(" · "), "</td>"),
        }
    }
}

impl Sink for Html {
    const SIZES_FIRST: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.element("<header class=\"card ", head.severity.name(), "\">\n");
        self.element("<p class=\"kind\">", &kind_text(head.severity, head.id), "</p>\n");
        self.element("<h1>", head.title, "</h1>\n");
        if let Some(culprit) = head.culprit {
            self.element("<p class=\"answer\"><b>", culprit, "</b></p>\n");
        }
        if let Some(fix) = head.fix {
            self.fix(fix);
        }
        self.element("<p class=\"quiet\">", head.name, " · ");
        self.text(head.device);
        self.element("<br>", head.moment, "</p>\n");
        if let Some(predicted) = head.predicted {
            self.element("<p><b>", predicted, "</b></p>\n");
        }
        if !head.stand_ins.is_empty() {
            self.list(head.stand_ins);
        }
        self.markup("</header>\n");
    }

    fn open_finding(&mut self, severity: Severity, _: FindingId) {
        self.element("<section class=\"card ", severity.name(), "\">\n");
    }

    fn heading(&mut self, text: &'static str) {
        self.element("<h3>", text, "</h3>\n");
    }

    fn open_section(&mut self, title: &'static str) {
        self.element("<section class=\"card info\">\n<h2>", title, "</h2>\n");
    }

    fn close_section(&mut self) {
        self.markup("</section>\n");
    }

    fn paragraph(&mut self, spans: &[Span<'_>]) {
        self.markup("<p>");
        for span in spans {
            match span {
                Span::Plain(text) => self.text(text),
                Span::Strong(text) => self.element("<b>", text, "</b>"),
            }
        }
        self.markup("</p>\n");
    }

    fn remark(&mut self, text: &str) {
        self.element("<p class=\"quiet\">", text, "</p>\n");
    }

    fn table(&mut self, table: &Table) {
        let full = Self::full_bar(table);
        match table.style {
            Some(style) => self.element("<table class=\"", style, "\">\n"),
            None => self.markup("<table>\n"),
        }
        if table.columns.iter().any(|column| !column.title.is_empty()) {
            self.markup("<tr>");
            self.markup(if full.is_some() { "<th></th>" } else { "" });
            for column in &table.columns {
                self.markup(if column.is_number { "<th class=\"n\">" } else { "<th>" });
                self.element("", column.title, "</th>");
            }
            self.markup("</tr>\n");
        }
        for row in &table.rows {
            self.markup("<tr>");
            if let Some(full) = full {
                self.row_bar(row, full);
            }
            for cell in row {
                self.cell(cell);
            }
            self.markup("</tr>\n");
        }
        self.markup("</table>\n");
    }

    fn list(&mut self, items: &[Item<'_>]) {
        self.markup("<ul>\n");
        for item in items {
            self.markup("<li>");
            self.item(item);
            self.markup("</li>\n");
        }
        self.markup("</ul>\n");
    }

    fn fold(&mut self, summary: &str, body: impl FnOnce(&mut Self)) {
        self.element("<details><summary>", summary, "</summary>");
        body(self);
        // The body ends its last line, which the closing tag belongs to.
        if self.out.ends_with('\n') {
            self.out.pop();
        }
        self.markup("</details>\n");
    }

    fn tree(&mut self, tree: &CodeTree) {
        self.element("<h3>", &tree::title(tree), "</h3>\n<table class=\"tree\">\n");
        for row in &tree.rows {
            let share = tree.share_of(row);
            self.markup("<tr>");
            self.share_bar(share.clamp(0.0, 1.0));
            self.element("<td class=\"n\">", &units::bytes(row.bytes), "</td>");
            self.element("<td class=\"n quiet\">", &format!("{:.0} %", share * 100.0), "</td>");
            let label = format!("{}{}", "\u{2003}".repeat(row.depth), tree::label(row));
            self.element("<td><code>", &label, "</code></td></tr>\n");
        }
        self.markup("</table>\n");
    }

    fn code_block(&mut self, text: &str) {
        self.element("<pre>", text, "</pre>\n");
    }

    fn foot(&mut self, tool: &'static str) {
        self.element("</main>\n<footer>", tool, "</footer>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_has_a_meaning() {
        let mut page = Html::default();
        page.cell(&Cell::Code("<b class=\"n\"> & 'x'".to_owned()));
        assert_eq!(page.out, "<td><code>&lt;b class=&quot;n&quot;&gt; &amp; &#39;x&#39;</code></td>");
    }

    #[test]
    fn a_fold_ends_right_behind_its_body() {
        let mut page = Html::default();
        page.fold("a<b", |page| page.code_block("x\n"));
        assert_eq!(page.out, "<details><summary>a&lt;b</summary><pre>x\n</pre></details>\n");
    }
}
