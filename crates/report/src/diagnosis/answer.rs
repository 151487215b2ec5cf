//! The line of code that a verdict is about.

use super::words::short_place;
use oomscope_diagnosis::{Finding, FindingId, Role, Severity, Site};
use oomscope_units as units;

/// The line, for places where a whole finding has no room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The line with its bytes: `index.py:60 add: keeps 1.44 GiB unused`.
    pub culprit: Option<String>,
    /// The index of that line among the finding's sites.
    pub site: Option<usize>,
}

/// The line that a verdict about a failure comes down to; `None` where nothing is wrong.
pub fn answer(verdict: &Finding) -> Option<Answer> {
    if verdict.severity == Severity::Info {
        return None;
    }
    let sites = &verdict.evidence.sites;
    // Where a request fails is mostly chance, unless it is out of all proportion; what holds the memory is not.
    let is_request = verdict.id == FindingId::SingleRequest;
    let holds = |site: &Site| is_request || site.role != Role::Requested;
    let site = sites.iter().position(holds).or(if sites.is_empty() { None } else { Some(0) });
    let culprit = site.and_then(|index| sites.get(index)).map(culprit);
    Some(Answer { culprit, site })
}

fn culprit(site: &Site) -> String {
    let (place, bytes) = (short_place(site), units::bytes(site.bytes));
    match site.role {
        Role::Live => format!("{place}: {bytes}"),
        Role::Retained => format!("{place}: {bytes} kept"),
        Role::KeepsFree => format!("{place}: keeps {bytes} unused"),
        role => format!("{place}: {bytes} {}", role.text(site.count)),
    }
}
