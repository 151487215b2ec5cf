//! The user's own rules, from a TOML file.

use super::Category;
use crate::stacks::{SiteFrame, site_place};
use oomscope_model::{Frame, Snapshot, StackId};
use oomscope_units::did_you_mean;
use regex::Regex;
use serde::Deserialize;
use thiserror::Error;

/// Rules that come before all others: the first that matches a stack decides.
///
/// ```toml
/// [[rule]]
/// category = "kv_cache"
/// file = "paged_attention\\.py$"
///
/// [[rule]]
/// category = "comm"
/// function = "^all_gather"
/// ```
///
/// `file` and `function` must both match the same frame where both are given; `stack` matches
/// anywhere in the lines `file:line function`, innermost first; `site` matches in that line of the user's
/// own code which names the stack.
#[derive(Debug, Clone, Default)]
pub struct UserRules {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    category: Category,
    file: Option<Regex>,
    function: Option<Regex>,
    stack: Option<Regex>,
    site: Option<Regex>,
}

/// The reason why rules could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UserRulesError {
    /// The text is not TOML of the expected form.
    #[error("{0}")]
    Toml(String),
    /// A category that does not exist.
    #[error("rule {rule}: '{category}' is no category; they are {}{}", names(), did_you_mean(.category, Category::ALL.map(Category::key)))]
    Category {
        /// Which rule, from 1.
        rule: usize,
        /// The text in place of a category.
        category: String,
    },
    /// A pattern that cannot be read.
    #[error("rule {rule}: {message}")]
    Pattern {
        /// Which rule, from 1.
        rule: usize,
        /// The mistake in it.
        message: String,
    },
    /// A rule that would match everything.
    #[error("rule {rule} has no pattern: give file, function, stack or site")]
    Empty {
        /// Which rule, from 1.
        rule: usize,
    },
}

fn names() -> String {
    Category::ALL.map(Category::key).join(", ")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    rule: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    category: String,
    file: Option<String>,
    function: Option<String>,
    stack: Option<String>,
    site: Option<String>,
}

impl UserRules {
    /// Read rules from the text of a TOML file.
    ///
    /// # Errors
    /// When the text is no TOML, or a rule names no category or has no valid pattern.
    pub fn parse(text: &str) -> Result<Self, UserRulesError> {
        let raw: RawFile = toml::from_str(text).map_err(|error| UserRulesError::Toml(error.to_string()))?;
        let rules = raw.rule.into_iter().enumerate().map(|(at, raw)| Rule::parse(at + 1, &raw));
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The category of each stack; `None` for those that no rule matches.
    pub(super) fn of_stacks(&self, snapshot: &Snapshot) -> Vec<Option<Category>> {
        if self.is_empty() {
            return Vec::new();
        }
        (0..snapshot.stacks.len() as u32).map(|id| self.of_stack(snapshot, StackId(id))).collect()
    }

    /// The category that the rules give to what was allocated with a stack.
    pub fn of_stack(&self, snapshot: &Snapshot, stack: StackId) -> Option<Category> {
        let frames: Vec<SiteFrame> = snapshot
            .stacks
            .frames(stack)
            .iter()
            .map(|&id| {
                let Frame { file, line, name, .. } = snapshot.frames.get(id);
                let (file, name) = (snapshot.strings.path(file), snapshot.strings.name(name));
                let is_own = snapshot.assumed.own_code.has(&file);
                SiteFrame { file: file.into_owned(), line, name: name.into_owned(), is_own }
            })
            .collect();
        if frames.is_empty() {
            return None;
        }
        self.rules.iter().find(|rule| rule.matches(&frames)).map(|rule| rule.category)
    }
}

impl Rule {
    fn parse(rule: usize, raw: &RawRule) -> Result<Self, UserRulesError> {
        let pattern = |text: &Option<String>| {
            let compiled = text.as_deref().map(Regex::new).transpose();
            compiled.map_err(|error| UserRulesError::Pattern { rule, message: error.to_string() })
        };
        let category = Category::ALL.into_iter().find(|category| category.key() == raw.category);
        let Some(category) = category else {
            return Err(UserRulesError::Category { rule, category: raw.category.clone() });
        };
        let out = Self {
            category,
            file: pattern(&raw.file)?,
            function: pattern(&raw.function)?,
            stack: pattern(&raw.stack)?,
            site: pattern(&raw.site)?,
        };
        if [&out.file, &out.function, &out.stack, &out.site].into_iter().all(Option::is_none) {
            return Err(UserRulesError::Empty { rule });
        }
        Ok(out)
    }

    fn matches(&self, frames: &[SiteFrame]) -> bool {
        let is_match =
            |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|p| p.is_match(text));
        let frame = self.file.is_none() && self.function.is_none()
            || frames
                .iter()
                .any(|frame| is_match(&self.file, &frame.file) && is_match(&self.function, &frame.name));
        let stack = || frames.iter().map(line).collect::<Vec<_>>().join("\n");
        let site = || site_place(frames).map(|at| line(&frames[at])).unwrap_or_default();
        frame
            && (self.site.is_none() || is_match(&self.site, &site()))
            && (self.stack.is_none() || is_match(&self.stack, &stack()))
    }
}

/// A frame as `stack` and `site` see it.
fn line(frame: &SiteFrame) -> String {
    format!("{}:{} {}", frame.file, frame.line, frame.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, name: &str) -> SiteFrame {
        SiteFrame { file: file.to_owned(), line: 7, name: name.to_owned(), is_own: false }
    }

    #[test]
    fn file_and_function_are_of_one_frame() {
        let text = "[[rule]]\ncategory = 'comm'\nfile = 'ring\\.py$'\nfunction = '^gather'\n";
        let rules = UserRules::parse(text).expect("these are rules");
        assert!(rules.rules[0].matches(&[frame("a/model.py", "forward"), frame("a/ring.py", "gather_all")]));
        assert!(!rules.rules[0].matches(&[frame("a/ring.py", "forward"), frame("a/model.py", "gather_all")]));
    }

    #[test]
    fn a_stack_is_matched_across_frames() {
        let rules = UserRules::parse("[[rule]]\ncategory = 'input'\nstack = '(?s)tokenize.*loader\\.py:7'\n");
        let rules = rules.expect("these are rules");
        assert!(rules.rules[0].matches(&[frame("t.py", "tokenize"), frame("loader.py", "next")]));
        assert!(!rules.rules[0].matches(&[frame("loader.py", "next"), frame("t.py", "tokenize")]));
    }

    #[test]
    fn a_site_is_the_line_that_names_the_stack_and_no_other() {
        let rules = UserRules::parse("[[rule]]\ncategory = 'input'\nsite = '^/me/train\\.py:7 main$'\n");
        let rules = rules.expect("these are rules");
        let (own, torch) = (frame("/me/train.py", "main"), frame("/x/site-packages/torch/_tensor.py", "to"));
        assert!(rules.rules[0].matches(&[torch.clone(), own.clone()]));
        assert!(!rules.rules[0].matches(&[torch, frame("/me/model.py", "forward"), own]));
        assert!(!rules.rules[0].matches(&[frame("/me/train.py", "main2")]));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| UserRules::parse(text).expect_err("a mistake").to_string();
        assert!(
            error("[[rule]]\ncategory = 'weights'\nfile = 'x'\n")
                .starts_with("rule 1: 'weights' is no category")
        );
        assert_eq!(
            error("[[rule]]\ncategory = 'comm'\n"),
            "rule 1 has no pattern: give file, function, stack or site"
        );
        assert!(error("[[rule]]\ncategory = 'comm'\nfile = '('\n").starts_with("rule 1: "));
        assert!(error("[[rule]]\ncategory = 'comm'\npath = 'x'\n").contains("path"));
        assert!(UserRules::parse("").expect("nothing is fine").is_empty());
    }
}
