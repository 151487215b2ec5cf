//! The lines of code that lead to what stays.

use super::Kept;
use crate::analysis::FrameKey;
use crate::diagnosis::below::{Below, lines_below};
use crate::diagnosis::code::add_sites;
use crate::diagnosis::{Context, Role, Site};

/// Lines that lead to nearly all of it lead to this share of its bytes.
const NEARLY_ALL: f64 = 0.9;

impl Kept {
    /// The lines of the user's own code that lead to nearly all of it and to little else, then the
    /// innermost ones, then those on the way there.
    pub(in crate::diagnosis) fn sites(&self, context: &Context<'_>, limit: usize) -> Vec<Site> {
        let lines = lines_below(context, &self.stacks);
        let site =
            |&(key, below): &(FrameKey, Below)| context.code.site(key, below.bytes, below.count, Role::Kept);
        let mut sites: Vec<Site> = self.leading(&lines).iter().map(site).collect();
        sites.truncate(limit / 2);
        add_sites(&mut sites, context.code.sites(&self.stacks, Role::Kept), limit);
        let between = lines.iter().filter(|(_, below)| !below.is_start);
        add_sites(&mut sites, between.map(site).collect(), limit);
        sites
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
