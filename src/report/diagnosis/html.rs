//! The report for a browser: one file that needs nothing else.

use super::document::Document;
use super::sink::{Cell, Head, Item, Sink, Span, Table};
use super::walk::{self, Detail};
use super::words::kind_text;
use crate::diagnosis::Severity;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A picture in both themes, as PNG files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The sentence that stands for the picture where it is not shown.
    pub title: String,
    /// On white.
    pub light: Vec<u8>,
    /// On black.
    pub dark: Vec<u8>,
}

const HEAD: &str = include_str!("head.html");
const STYLE: &str = include_str!("html.css");

/// The report as a page. Pictures come below the verdict.
pub fn report_html(document: &Document, pictures: &[Picture]) -> String {
    let mut page = Html::default();
    walk::head(&mut page, document);
    for (i, finding) in document.findings.iter().enumerate() {
        walk::finding(&mut page, finding, Detail::All);
        if i == 0 {
            for picture in pictures {
                page.picture(picture);
            }
        }
    }
    walk::modules(&mut page, document);
    walk::recording(&mut page, document);
    page.out
}

/// A page that is being written.
#[derive(Default)]
struct Html {
    out: String,
}

impl Html {
    /// Markup. It is part of the program, so that no text of a file can get here.
    fn markup(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Text in which nothing has a meaning for HTML, also within quotes.
    fn text(&mut self, text: &str) {
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
    fn element(&mut self, open: &'static str, text: &str, close: &'static str) {
        self.markup(open);
        self.text(text);
        self.markup(close);
    }

    fn picture(&mut self, picture: &Picture) {
        let url = |png| format!("data:image/png;base64,{}", STANDARD.encode(png));
        self.markup("<figure><picture><source media=\"(prefers-color-scheme: dark)\"");
        self.element(" srcset=\"", &url(&picture.dark), "\">");
        self.element("<img src=\"", &url(&picture.light), "\"");
        self.element(" alt=\"", &picture.title, "\"></picture></figure>\n");
    }

    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Plain(text) => self.element("<td>", text, "</td>"),
            Cell::Number(text) => self.element("<td class=\"n\">", text, "</td>"),
            Cell::Code(text) => self.element("<td><code>", text, "</code></td>"),
            Cell::Codes(texts) => self.element("<td>", &texts.join(" · "), "</td>"),
        }
    }
}

impl Sink for Html {
    const SIZES_FIRST: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.markup(HEAD);
        self.element("<title>", head.title, "</title>\n<style>\n");
        self.markup(STYLE);
        self.markup("</style>\n</head>\n<body>\n<header>\n");
        self.element("<h1>", head.title, "</h1>\n");
        self.element("<p>", head.name, " · ");
        self.text(head.device);
        self.element("<br>", head.moment, "</p>\n</header>\n");
    }

    fn open_finding(&mut self, severity: Severity, id: &'static str) {
        self.element("<section class=\"", severity.name(), "\">\n");
        self.element("<p class=\"kind\">", &kind_text(severity, id), "</p>\n");
    }

    fn open_section(&mut self, title: &'static str) {
        self.element("<section>\n<h2>", title, "</h2>\n");
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
        match table.style {
            Some(style) => self.element("<table class=\"", style, "\">\n"),
            None => self.markup("<table>\n"),
        }
        for row in &table.rows {
            self.markup("<tr>");
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
            self.element("<li>", item.text, "");
            if let Some(code) = item.code {
                self.element("<pre>", code, "</pre>");
            }
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

    fn code_block(&mut self, text: &str) {
        self.element("<pre>", text, "</pre>\n");
    }

    fn foot(&mut self, tool: &'static str) {
        self.element("<footer>", tool, "</footer>\n</body>\n</html>\n");
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
