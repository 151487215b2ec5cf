//! A change of the user's rules, as a menu asks for it.

use oomscope_analysis::{Category, SiteFrame, frame_line};
use oomscope_model::StackId;
use oomscope_units as units;
use std::path::Path;
use tr::tr;

/// The stacks that a line of code speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that it names.
    Site,
    /// All that it is a part of.
    AnyFrame,
}

/// Say what a line of code allocates, or take that back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleChange {
    pub(crate) frame: SiteFrame,
    pub(crate) scope: Scope,
    /// The category that it is to have; `None` takes the rule back.
    pub(crate) category: Option<Category>,
    /// A stack that the rule is to decide about.
    pub(crate) stack: StackId,
}

impl RuleChange {
    /// A sentence about the change, once it is made.
    pub(crate) fn said(&self, path: &Path) -> String {
        let line = frame_line(&self.frame);
        let path = units::printable(&path.to_string_lossy());
        match self.category {
            Some(category) => {
                let category = category.label();
                match self.scope {
                    Scope::Site => tr!("{line}: {category}, by a rule in {path}", line, category, path),
                    Scope::AnyFrame => {
                        tr!("{line} and all below it: {category}, by a rule in {path}", line, category, path)
                    }
                }
            }
            None => tr!("The rule for {line} was taken out of {path}", line, path),
        }
    }
}
