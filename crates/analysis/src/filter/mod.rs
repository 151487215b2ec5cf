//! The query language: one line that says which allocations or which events are meant.
//!
//! The filter asks about allocations, the same in every view ([`Filter`]); the search of the list of events
//! asks about events ([`EventQuery`]). Terms are separated by spaces, and all must hold. `-term` or `!term`
//! is the opposite: it holds wherever the term does not, also where the term asks for something that was
//! not recorded.
//!
//! | term | allocations | events |
//! | --- | --- | --- |
//! | `attention`, `"my file.py"` | with the text in any frame of their stack; as `stack:` | the same, but `alloc`, `free` and other names of actions mean `action:` |
//! | `stack:TEXT` | with the text in any frame, as `file:line function` | the same |
//! | `site:TEXT` | with the text in the first frame of the user's own code | the same |
//! | `action:alloc` | | that did this; `free` and `segment` stand for all that start so; in quotes, also one that torch does not write |
//! | `size>100MB`, `>100MB` | with such a size: `>`, `>=`, `<`, `<=`, `=` | the same |
//! | `size:1MiB..2MiB` | with a size in the range, both ends included | the same |
//! | `lifetime<10ms` | that surely live that long; also `lifetime>1000events` | |
//! | `stream:7` | of the stream | on the stream |
//! | `pool:private`, `pool:default`, `pool:1.0` | of the pool: where events lack it, that of the memory | about memory of the pool |
//! | `addr:0x7f21ac000000`, `0x7f21ac000000` | that contain the address, or touch a range `0x…..0x…` | about a block or segment that does |
//! | `category:TEXT` | with the text in its [`Category`](crate::Category); in quotes, also with any text in the recorded one | |
//! | `basis:inferred` | whose category is known with that certainty: see [`Basis`](crate::Basis) | |
//! | `rule:TEXT` | with the text in the name of the rule that decided it: see [`RULES`](crate::RULES) | |
//! | `meta:TEXT` | with the text in their metadata or compile context | the same |
//! | `name:TEXT` | with the text in the program's own name of a tensor in it, at the end of the recording: `name:layers.0` | |
//! | `dtype:float32` | with the text in the type of a tensor in it, at the end | |
//! | `shape:768x256` | with the text in the dimensions of a tensor in it, at the end | |
//! | `holder:losses` | with the text in the variable that leads to it by references, its function or its file, at the end | |
//! | `iteration:3`, `iteration:2..5` | made in the iteration, by its number from 0 | in the iteration |
//! | `phase:backward` | made in the phase: see [`Phase`](crate::Phase) | in the phase |
//! | `range:TEXT` | made within a range that the program recorded (`record_function`), by a text in its name | within it |
//! | `event:41220`, `#41220`, `event:100..200` | that one of these events made | with these numbers |
//! | `after:EVENT`, `before:EVENT` | made later or earlier than an event, `peak` or `oom` | later or earlier than that |
//! | `live`, `live:EVENT` | that are live at the cursor; after an event, at `peak`, `oom` or `end` | |
//! | `awaiting` | given back and waiting for a stream, at the cursor | |
//! | `kept`, `leaked` | never freed in the recording | |
//! | `before` | from before the recording | |
//!
//! Texts match anywhere and in any case; quotes keep spaces, and make a text of a word that would mean
//! something else. `a|b` inside a value means either.
//!
//! Sizes are requested bytes. Units are binary whatever they are called (`MB` is `MiB`), as PyTorch
//! prints them. A size with a decimal point equals those that read so when rounded: `size=2.63GiB`.
//! Lifetimes have `us`, `ms`, `s`, `min`, `h` or `events` as units. Where only a part of a life was
//! recorded, it counts as at least that long, and may be any longer; where times are missing, no
//! term about time holds.
//!
//! `keys.rs` is the table of all terms; their meanings are in `common_terms.rs` (of both), `allocation_terms.rs`
//! and `event_terms.rs`.

mod allocation_terms;
mod common_terms;
mod compare;
mod complete;
mod conditions;
mod error;
mod event_search;
mod event_terms;
mod keys;
mod lex;
mod matches;
mod named_moments;
mod notes;
mod offers;
mod parse;
mod prepared;
mod query;
mod term;
mod texts;
mod values;
mod vocabulary;
mod words;

#[cfg(test)]
mod event_tests;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;

pub use complete::{Completion, complete, quoted};
pub use error::{FilterError, Problem};
pub use event_search::EventSearch;
pub use keys::explained_terms;
pub use matches::Matches;
pub use prepared::Prepared;
pub use query::{EventQuery, Filter};
pub use term::Subject;
pub use vocabulary::Vocabulary;
