//! What to change: a page says it once, where it is read first.

use super::super::fix::Fix;
use super::super::sink::Item;
use super::markup::Html;

impl Html {
    /// What to change, with what it was simulated to give. The rest of the page only points to it.
    pub(super) fn fix(&mut self, fix: &Fix) {
        self.element("<div id=\"fix\">\n<p class=\"answer\">Fix: ", &fix.text, "</p>\n");
        if let Some(code) = &fix.code {
            self.element("<pre class=\"code\">", code, "</pre>\n");
        }
        // What is no advice is the remedy itself, whose words have it.
        if let Some(remedy) = fix.simulated.as_ref().filter(|_| fix.is_advice) {
            self.element("<p>Simulated: ", &remedy.text, "</p>\n");
        }
        self.markup("</div>\n");
        self.said_fix = Some([fix.text.clone(), fix.code.clone().unwrap_or_default()]);
    }

    /// An entry of a list, without the words and the code of the fix.
    pub(super) fn item(&mut self, Item { text, code }: &Item<'_>) {
        let [said_text, said_code] = self.said_fix.clone().unwrap_or_default();
        let is_said = code.is_some_and(|code| code == said_code);
        match code {
            Some(_) if is_said && *text == said_text => {
                self.markup("<a href=\"#fix\">The fix at the top</a>");
            }
            Some(_) if is_said => {
                self.text(text);
                self.markup(" <a href=\"#fix\">That is the fix at the top.</a>");
            }
            Some(code) => {
                self.text(text);
                self.element("<pre class=\"code\">", code, "</pre>");
            }
            None => self.text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_only_pointed_to() {
        let mut page = Html::default();
        page.fix(&Fix {
            short: "del cache".to_owned(),
            is_code: true,
            text: "Let go of <it>:".to_owned(),
            code: Some("del cache".to_owned()),
            is_advice: true,
            simulated: None,
        });
        let items = [("Let go of <it>:", "del cache"), ("Or so:", "del cache"), ("Else:", "cache = {}")];
        for (text, code) in items {
            page.item(&Item { text, code: Some(code) });
        }
        page.item(&Item { text: "Nothing to write.", code: None });
        assert_eq!(page.out.matches("Let go of &lt;it&gt;").count(), 1, "{}", page.out);
        assert_eq!(page.out.matches("<pre class=\"code\">del cache</pre>").count(), 1);
        assert_eq!(page.out.matches("href=\"#fix\"").count(), 2);
        assert!(page.out.ends_with("Else:<pre class=\"code\">cache = {}</pre>Nothing to write."));
    }
}
