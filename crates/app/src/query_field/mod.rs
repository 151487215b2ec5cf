//! A field for queries about allocations or events, with completion and errors: a widget of the filter and
//! of the search for events.

mod field;
mod popup;

pub(crate) use field::{QueryField, State, Written, terms_ui};
