//! The policy of a page: it may use its own style, its own script and its own pictures, and nothing else.

use super::parts::Theme;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oomscope_analysis::Category;
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The script, as it stands in the page.
pub(crate) fn script() -> String {
    as_parsed(SCRIPT)
}

/// The style, with the colours of both themes. Paper is white.
pub(crate) fn style(light: &Theme, dark: &Theme) -> String {
    let mut out = String::from(":root {");
    variables(&mut out, light);
    out.push_str(" }\n@media screen and (prefers-color-scheme: dark) { :root {");
    variables(&mut out, dark);
    out.push_str(" } }\n");
    let color = |category: Category| {
        let key = category.key();
        format!(".fill-{key} {{ fill: var(--{key}); }}\n")
    };
    out.extend(Category::ALL.map(color));
    out + &as_parsed(STYLE)
}

fn variables(out: &mut String, theme: &Theme) {
    out.extend(theme.iter().map(|(name, [r, g, b])| format!(" --{name}: #{r:02x}{g:02x}{b:02x};")));
}

/// The policy for the tag that states it. Hashes rather than words such as `unsafe-inline`: what a recording smuggled into
/// the page would not run.
pub(crate) fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    )
}

/// A text as browsers read it, which hash it without carriage returns. A checkout for Windows may have some.
fn as_parsed(text: &str) -> String {
    text.replace('\r', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_the_digests_of_style_and_script() {
        assert_eq!(
            policy("", "abc"),
            "default-src 'none'; img-src data:; \
             style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; \
             script-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='; \
             base-uri 'none'; form-action 'none'"
        );
    }

    #[test]
    fn neither_style_nor_script_can_end_its_element() {
        let style = style(&vec![("text", [0, 16, 255])], &Theme::default());
        assert!(style.starts_with(":root { --text: #0010ff; }"), "{style}");
        for text in [style, script()] {
            assert!(!text.contains("</") && !text.contains("<!--") && !text.contains('\r'));
        }
    }
}
