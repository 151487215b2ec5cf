//! Terms of the filter that a thing offers.

use super::about::About;
use crate::pointed::Thing;
use crate::rules::Scope;
use oomscope_analysis::filter::quoted;
use oomscope_analysis::{frame_line, is_internal, site_frame};
use oomscope_units as units;
use tr::tr;

/// Lines of a stack that are asked for: together they are hardly ever those of another.
const MAX_STACK_TERMS: usize = 6;

/// A term with its name in a menu.
pub(super) struct Term {
    pub(super) name: String,
    pub(super) query: String,
    /// It is a single term, so that it has an opposite.
    pub(super) has_opposite: bool,
}

/// Everything that a thing can be filtered to, the closest first.
pub(super) fn terms(about: &About) -> Vec<Term> {
    [meaning, line, range, segment, stack, category, stream, size].iter().filter_map(|of| of(about)).collect()
}

fn term(name: impl Into<String>, query: String) -> Term {
    Term { name: name.into(), query, has_opposite: true }
}

fn meaning(about: &About) -> Option<Term> {
    let Thing::Meaning { label, query } = &about.thing else { return None };
    Some(term(label, query.clone()))
}

fn line(about: &About) -> Option<Term> {
    let (frame, scope) = about.line.as_ref()?;
    let key = match scope {
        Scope::Site => "site",
        Scope::AnyFrame => "stack",
    };
    Some(term(tr!("this line"), format!("{key}:{}", quoted(&frame_line(frame)))))
}

fn range(about: &About) -> Option<Term> {
    let Thing::Range { name, moments: [from, to] } = &about.thing else { return None };
    let last = to.0.checked_sub(1).filter(|last| from.0 <= *last)?;
    Some(term(name, format!("event:{}..{last}", from.0)))
}

fn segment(about: &About) -> Option<Term> {
    let segment = about.segment.as_ref()?;
    let last = segment.past_end().saturating_sub(1);
    Some(term(tr!("this segment"), format!("addr:{:#x}..{last:#x}", segment.addr)))
}

/// The user's own lines of the stack, each of which must be in it.
fn stack(about: &About) -> Option<Term> {
    let snapshot = about.recording.snapshot();
    let frames = snapshot.stacks.frames(about.stack?).iter().map(|&id| site_frame(snapshot, id));
    let mut lines: Vec<String> =
        frames.filter(|frame| !is_internal(frame)).map(|frame| frame_line(&frame)).collect();
    lines.dedup();
    if lines.len() < 2 {
        return None;
    }
    let terms: Vec<String> =
        lines.iter().take(MAX_STACK_TERMS).map(|line| format!("stack:{}", quoted(line))).collect();
    Some(Term { name: tr!("this stack"), query: terms.join(" "), has_opposite: false })
}

fn category(about: &About) -> Option<Term> {
    let (category, _) = about.category.filter(|_| !matches!(about.thing, Thing::Meaning { .. }))?;
    Some(term(category.label(), format!("category:{}", category.key())))
}

fn stream(about: &About) -> Option<Term> {
    let of_segment = about.segment.as_ref().and_then(|segment| segment.stream);
    let of_allocation = || about.recording.allocation(about.own_allocation()?).stream;
    let of_event = || match about.thing {
        Thing::Event { event, .. } => about.recording.events.stream(event),
        _ => None,
    };
    let stream = of_segment.or_else(of_allocation).or_else(of_event)?;
    Some(term(tr!("stream {stream}", stream), format!("stream:{stream}")))
}

fn size(about: &About) -> Option<Term> {
    let bytes = about.recording.size(about.own_allocation()?);
    Some(term(tr!("{} each", units::bytes(bytes)), format!("size={}B", bytes.0)))
}

/// A query that leaves out what a term finds, besides what the query leaves out already.
pub(super) fn without(query: &str, term: &str) -> String {
    let excluded = format!("-{term}");
    let query = query.trim();
    // Together with its opposite, a term would find nothing.
    let query = if query == term { "" } else { query };
    match query {
        "" => excluded,
        query if query.split(' ').any(|known| known == excluded) || query.ends_with(&excluded) => {
            query.to_owned()
        }
        query => format!("{query} {excluded}"),
    }
}

/// A query that asks for a term, too.
pub(super) fn with(query: &str, term: &str) -> String {
    match query.trim() {
        "" => term.to_owned(),
        query => format!("{query} {term}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_left_out_of_what_is_there() {
        assert_eq!(without("", "stream:7"), "-stream:7");
        assert_eq!(without("live", "stream:7"), "live -stream:7");
        assert_eq!(without("live -stream:7", "stream:7"), "live -stream:7");
        assert_eq!(without("stream:7", "stream:7"), "-stream:7");
        assert_eq!(without("stream:7", "site:\"a b\""), "stream:7 -site:\"a b\"");
        assert_eq!(with(" live ", "stream:7"), "live stream:7");
    }
}
