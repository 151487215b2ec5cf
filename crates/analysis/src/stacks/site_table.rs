//! Allocation sites: the lines of code that name stacks, with totals of their allocations.

use super::frame_names::{FrameKey, FrameNames};
use super::stack_totals::{StackTotal, StackTotals, Totals};
use oomscope_model::{Snapshot, StackId};

/// The allocations of one site, with all of its stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteRow {
    /// The frame that names the site.
    pub site: FrameKey,
    /// The stack with most of its weight.
    pub stack: StackId,
    /// Number of its stacks.
    pub stacks: usize,
    /// Totals of its allocations.
    pub totals: Totals,
}

/// The site of every stack.
#[derive(Debug, Default)]
pub struct SiteTable {
    /// By stack.
    site: Vec<FrameKey>,
}

impl SiteTable {
    /// The sites of a file's stacks.
    pub fn new(snapshot: &Snapshot, names: &FrameNames) -> Self {
        let stacks = (0..snapshot.stacks.len() as u32).map(StackId);
        Self { site: stacks.map(|stack| names.site(snapshot, stack)).collect() }
    }

    /// The frame that names a stack.
    pub fn site(&self, stack: StackId) -> FrameKey {
        self.site[stack.index()]
    }

    /// Totals of the wanted stacks by site, most weight first, then by name.
    pub fn rows(&self, totals: &StackTotals, is_wanted: impl Fn(StackId) -> bool) -> Vec<SiteRow> {
        let mut by_site: Vec<&StackTotal> = totals.stacks.iter().filter(|row| is_wanted(row.stack)).collect();
        // The heaviest stack of a site comes first and stands for it.
        by_site.sort_unstable_by_key(|row| {
            (self.site(row.stack), std::cmp::Reverse(row.totals.weight), row.stack)
        });
        let mut rows: Vec<SiteRow> = Vec::new();
        for StackTotal { stack, totals } in by_site {
            let site = self.site(*stack);
            match rows.last_mut().filter(|last| last.site == site) {
                Some(row) => {
                    row.stacks += 1;
                    row.totals.add(totals);
                }
                None => rows.push(SiteRow { site, stack: *stack, stacks: 1, totals: *totals }),
            }
        }
        rows.sort_by_key(|row| (std::cmp::Reverse(row.totals.weight), row.site));
        rows
    }
}

#[cfg(test)]
#[path = "site_table_tests.rs"]
mod tests;
