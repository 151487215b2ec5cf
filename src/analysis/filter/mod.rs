//! The filter: one line that says which allocations are meant, the same in every view.
//!
//! Terms are separated by spaces, and all must hold. `-term` or `!term` means the opposite: it holds
//! for every allocation for which the term does not, also where what it asks about was not recorded.
//!
//! | term | holds for allocations |
//! | --- | --- |
//! | `attention`, `"my file.py"` | with the text in any frame of their stack; as `stack:` |
//! | `stack:TEXT` | with the text in any frame, as `file:line function` |
//! | `site:TEXT` | with the text in the first frame of the user's own code |
//! | `size>100MB` | with such a size: `>`, `>=`, `<`, `<=`, `=` |
//! | `size:1MiB..2MiB` | with a size in the range, both ends included |
//! | `lifetime<10ms` | that surely live so long; also `lifetime>1000events` |
//! | `stream:7` | of the stream |
//! | `pool:private`, `pool:default`, `pool:1.0` | of the pool: where events lack it, that of the memory |
//! | `addr:0x7f21ac000000` | that contain the address, or touch a range `0x…..0x…` |
//! | `category:TEXT` | with the text in its [`Category`](crate::analysis::Category), or in the recorded one |
//! | `basis:inferred` | whose category is known so surely: see [`Basis`](crate::analysis::Basis) |
//! | `rule:TEXT` | with the text in the name of the rule that decided it: see [`RULES`](crate::analysis::RULES) |
//! | `meta:TEXT` | with the text in their metadata or compile context |
//! | `event:100..200` | that one of these events made |
//! | `after:EVENT`, `before:EVENT` | made later or earlier than an event, `peak` or `oom` |
//! | `live`, `live:EVENT` | that are live at the cursor; after an event, at `peak`, `oom` or `end` |
//! | `awaiting` | given back and waiting for a stream, at the cursor |
//! | `kept`, `leaked` | never freed in the recording |
//! | `before` | from before the recording |
//!
//! Texts match anywhere and in any case; quotes keep spaces. `a|b` inside a value means either.
//!
//! Sizes are requested bytes. Units are binary whatever they are called (`MB` is `MiB`), as PyTorch
//! prints them. A size with a decimal point equals those that read so when rounded: `size=2.63GiB`.
//! Lifetimes have `us`, `ms`, `s`, `min`, `h` or `events` as units. Where only a part of a life was
//! recorded, it counts as at least that long, and may be any longer; where times are missing, no
//! term about time holds.

mod complete;
mod error;
mod lex;
mod matches;
mod notes;
mod parse;
mod prepared;
mod quantity;
mod resolve;
mod terms;
mod texts;
mod vocabulary;
mod words;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;

pub use complete::{Completion, complete, quoted};
pub use error::{FilterError, Problem};
pub use matches::Matches;
pub use prepared::Prepared;
pub use vocabulary::Vocabulary;

use terms::Term;

/// A query that was understood. The one without terms means every allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    /// Understand a query; the syntax is that of [the module](self).
    ///
    /// # Errors
    /// For the first part that cannot be understood.
    pub fn parse(query: &str) -> Result<Self, FilterError> {
        parse::terms(query).map(|terms| Self { terms })
    }

    /// Whether there are no terms, so that nothing is filtered.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it asks what allocations are for.
    pub fn needs_categories(&self) -> bool {
        use terms::Test;
        let asks = |test: &Test| matches!(test, Test::Category(_) | Test::Basis(_) | Test::Rule(_));
        self.terms.iter().any(|term| asks(&term.test))
    }

    /// Whether what matches changes with the cursor.
    pub fn is_cursor_dependent(&self) -> bool {
        self.terms.iter().any(|term| term.test.is_cursor_dependent())
    }
}
