//! The lines of code that lead to what stays.

use super::Kept;
use crate::analysis::FrameKey;
use crate::diagnosis::code::add_sites;
use crate::diagnosis::{Context, Role, Site};
use crate::model::StackId;
use foldhash::HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that lead to nearly all of it lead to this share of its bytes.
const NEARLY_ALL: f64 = 0.9;

/// Lines that lead to so much of all that was allocated say little: the start of the program.
const NEARLY_EVERYTHING: f64 = 0.98;

/// What stays below a line.
#[derive(Default, Clone, Copy)]
struct Below {
    bytes: i64,
    count: usize,
    /// How far from the innermost frame, at most.
    depth: usize,
    /// What share stays of all that was allocated below the line, freed memory included.
    share: f64,
    /// Whether it leads to nearly everything else, too.
    is_start: bool,
}

impl Kept {
    /// The lines of the user's own code that lead to nearly all of it and to little else, then the
    /// innermost ones, then those on the way there.
    pub(in crate::diagnosis) fn sites(&self, context: &Context<'_>, limit: usize) -> Vec<Site> {
        let lines = self.lines_below(context);
        let site =
            |&(key, below): &(FrameKey, Below)| context.code.site(key, below.bytes, below.count, Role::Kept);
        let mut sites: Vec<Site> = self.leading(&lines).iter().map(site).collect();
        sites.truncate(limit / 2);
        add_sites(&mut sites, context.code.sites(&self.stacks, Role::Kept), limit);
        let between = lines.iter().filter(|(_, below)| !below.is_start);
        add_sites(&mut sites, between.map(site).collect(), limit);
        sites
    }

    /// Lines of the user's own code that lead to some of it, most bytes first.
    fn lines_below(&self, context: &Context<'_>) -> Vec<(FrameKey, Below)> {
        let mut lines: BTreeMap<FrameKey, Below> = BTreeMap::new();
        for row in &self.stacks {
            for (depth, key) in unique(context.code.own_path(row.stack)).into_iter().enumerate() {
                let below = lines.entry(key).or_default();
                below.bytes = below.bytes.saturating_add(row.bytes);
                below.count += row.count;
                below.depth = below.depth.max(depth);
            }
        }
        let (made, all) = made_below(context, &lines.keys().copied().collect());
        let of = |key: &FrameKey| made.get(key).copied().unwrap_or(0);
        for (key, below) in &mut lines {
            below.share = Context::share(below.bytes, of(key).max(below.bytes));
            below.is_start = NEARLY_EVERYTHING <= Context::share(of(key), all);
        }
        let mut lines: Vec<(FrameKey, Below)> = lines.into_iter().collect();
        lines.sort_by_key(|&(key, below)| (below.is_start, Reverse(below.bytes), below.depth, key));
        lines
    }

    fn leading(&self, lines: &[(FrameKey, Below)]) -> Vec<(FrameKey, Below)> {
        let leads = |line: &&(FrameKey, Below)| NEARLY_ALL <= Context::share(line.1.bytes, self.bytes);
        let mut lines: Vec<(FrameKey, Below)> = lines.iter().filter(leads).copied().collect();
        let best = lines.iter().map(|(_, below)| below.share).fold(0.0, f64::max);
        lines.retain(|(_, below)| best / 50.0 <= below.share);
        lines.sort_by(|(a, of_a), (b, of_b)| {
            let shares = of_b.share.total_cmp(&of_a.share);
            of_a.is_start.cmp(&of_b.is_start).then(shares).then(of_a.depth.cmp(&of_b.depth)).then(a.cmp(b))
        });
        lines
    }
}

fn unique(path: Vec<FrameKey>) -> Vec<FrameKey> {
    let mut seen = BTreeSet::new();
    path.into_iter().filter(|&key| seen.insert(key)).collect()
}

/// Bytes that were allocated below some lines from the first round until the moment, and by all code,
/// freed ones included.
fn made_below(context: &Context<'_>, lines: &BTreeSet<FrameKey>) -> (HashMap<FrameKey, i64>, i64) {
    let timeline = context.timeline;
    let first = context.rounds.start(0).map_or(0, |event| event.0);
    let mut by_stack: Vec<i64> = vec![0; context.snapshot.stacks.len()];
    for id in timeline.lifetimes.ids() {
        let start = timeline.lifetimes.start(id);
        if start.0 <= first || context.moment < start {
            continue;
        }
        let stack = timeline.lifetimes.stack(id, &timeline.events);
        let sum = &mut by_stack[stack.index()];
        *sum = sum.saturating_add(timeline.lifetimes.size(id, &timeline.events));
    }
    let all = by_stack.iter().copied().fold(0, i64::saturating_add);
    let mut made: HashMap<FrameKey, i64> = HashMap::default();
    for (stack, bytes) in (0..).map(StackId).zip(by_stack).filter(|&(_, bytes)| bytes != 0) {
        for key in unique(context.code.own_path(stack)).into_iter().filter(|key| lines.contains(key)) {
            let sum = made.entry(key).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }
    (made, all)
}
