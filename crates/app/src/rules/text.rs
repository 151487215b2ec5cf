//! Rules as the text of a rules file. What others wrote there stays as it is.

use super::change::{RuleChange, Scope};
use oomscope_analysis::{Category, SiteFrame, UserRules, UserRulesError};
use std::ops::Range;

/// The rule that a change asks for, in TOML.
pub(super) fn rule_text(change: &RuleChange, category: Category) -> String {
    let SiteFrame { file, line, name, .. } = &change.frame;
    let place = regex::escape(&format!("{file}:{line} {name}"));
    let (key, pattern) = match change.scope {
        Scope::Site => ("site", format!("^{place}$")),
        Scope::AnyFrame => ("stack", format!("(?m)^{place}$")),
    };
    format!("[[rule]]\ncategory = \"{}\"\n{key} = {}\n", category.key(), toml_string(&pattern))
}

/// A string in TOML: a literal one, unless it holds what only an escape can say.
fn toml_string(text: &str) -> String {
    if !text.contains(|c: char| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.extend(format!("\\u{:04X}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The text with a change, and the rules in it. A rule for the same line that was written like this before is replaced;
/// a new one goes to the end or, where another rule would decide, before all others.
///
/// # Errors
/// When the text has a mistake, before or with the change.
pub(super) fn changed(
    text: &str,
    change: &RuleChange,
    decision: impl Fn(&UserRules) -> Option<Category>,
) -> Result<(String, UserRules), UserRulesError> {
    UserRules::parse(text)?;
    let known = Category::ALL.into_iter().find_map(|category| place(text, &rule_text(change, category)));
    let without = known.clone().map_or_else(|| text.to_owned(), |known| replaced(text, known, ""));
    let Some(category) = change.category else {
        let rest = without.trim_end();
        let rest = if rest.is_empty() { String::new() } else { format!("{rest}\n") };
        let rules = UserRules::parse(&rest)?;
        return Ok((rest, rules));
    };
    let rule = rule_text(change, category);
    let in_place = known.map_or_else(|| appended(text, &rule), |known| replaced(text, known, &rule));
    let rules = UserRules::parse(&in_place)?;
    if decision(&rules) == Some(category) {
        return Ok((in_place, rules));
    }
    let first = format!("{rule}\n{}", without.trim_start_matches('\u{feff}'));
    let rules = UserRules::parse(&first)?;
    Ok((first, rules))
}

/// The place of a rule, if it stands in the text just as it is.
fn place(text: &str, rule: &str) -> Option<Range<usize>> {
    let starts = text.match_indices(rule).map(|(start, _)| start);
    let is_whole = |start: &usize| {
        let (before, behind) = (text.get(..*start), text.get(start + rule.len()..));
        before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
            && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['\n', '\r', '[', '#']))
    };
    starts.filter(is_whole).map(|start| start..start + rule.len()).next()
}

fn replaced(text: &str, place: Range<usize>, by: &str) -> String {
    let mut out = text.to_owned();
    out.replace_range(place, by);
    out
}

/// A text with a rule behind it, after an empty line.
fn appended(text: &str, rule: &str) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{rule}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::StackId;

    fn change(file: &str, category: Option<Category>) -> RuleChange {
        let frame =
            SiteFrame { file: file.to_owned(), line: 55, name: "attention".to_owned(), is_own: false };
        RuleChange { frame, scope: Scope::Site, category, stack: StackId(1) }
    }

    /// The category of the last rule, as if nothing else matched.
    fn applied(text: &str, category: Option<Category>) -> String {
        changed(text, &change("/me/train.py", category), |_| category).expect("well-formed").0
    }

    #[test]
    fn a_rule_is_appended_changed_and_taken_back() {
        let mine = "# mine\n[[rule]]\ncategory = 'comm'\nfunction = '^gather'";
        let first = applied(mine, Some(Category::Input));
        let rule = "[[rule]]\ncategory = \"input\"\nsite = '^/me/train\\.py:55 attention$'\n";
        assert_eq!(first, format!("{mine}\n\n{rule}"));
        let second = applied(&first, Some(Category::KvCache));
        assert_eq!(second, first.replace("\"input\"", "\"kv_cache\""));
        assert_eq!(applied(&second, None), format!("{mine}\n"));
        assert_eq!(applied(&applied("", Some(Category::Input)), None), "");
    }

    #[test]
    fn a_rule_that_another_would_overrule_comes_first() {
        let mine = "[[rule]]\ncategory = 'comm'\nfile = 'train'\n";
        let (text, rules) =
            changed(mine, &change("/me/train.py", Some(Category::Input)), |_| Some(Category::Comm))
                .expect("well-formed");
        assert!(text.starts_with("[[rule]]\ncategory = \"input\"") && text.ends_with(mine), "{text}");
        assert!(!rules.is_empty());
    }

    #[test]
    fn any_name_of_a_file_makes_a_rule_that_can_be_read() {
        for file in
            ["C:\\new\\x.py", "it's.py", "a\nb\u{1}\".py", "<ipython-input-3-a1b2>", "日本(1)+.py", ""]
        {
            for scope in [Scope::Site, Scope::AnyFrame] {
                let change = RuleChange { scope, ..change(file, None) };
                let text = rule_text(&change, Category::Other);
                assert!(UserRules::parse(&text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn a_rule_that_somebody_added_to_is_theirs() {
        let added = format!("{}file = 'x'\n", applied("", Some(Category::Input)));
        assert_eq!(applied(&added, None), added);
        assert!(applied(&added, Some(Category::Other)).starts_with(&added));
    }

    #[test]
    fn a_text_with_a_mistake_is_left_alone() {
        let wrong = change("/me/train.py", Some(Category::Input));
        assert!(changed("[[rule]]\ncategory = 'weights'\n", &wrong, |_| None).is_err());
        assert!(
            changed("rule = []\n", &wrong, |_| None).is_err(),
            "a list in one line has no end to append to"
        );
    }
}
