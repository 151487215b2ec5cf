//! What was live on one side against what was live on the other.

use super::cells::{Cell, cells};
use super::live::{Since, live_items, since};
use super::modules::{ModulePair, match_modules};
use super::operators::match_operators;
use super::pools::{PoolPair, match_pools};
use super::portion::{BothSides, Portion, regrouped};
use super::restated::{Restated, mark_restated};
use super::settings::{SettingChange, changed_settings};
use super::side::Side;
use super::sites::{LinePair, Sites, matched_sites};
use super::stack_operators::Operator;
use crate::Category;
use crate::stacks::site::NO_STACK;
use oomscope_model::{Bytes, Moment};

/// Totals of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// The moment that is compared.
    pub moment: Moment,
    /// Active bytes then, by the curve of the device.
    pub active_bytes: Bytes,
    /// Reserved bytes then.
    pub reserved_bytes: Bytes,
    /// The peak of active bytes.
    pub peak: (Moment, Bytes),
    /// The peak of reserved bytes.
    pub reserved_peak: (Moment, Bytes),
    /// The beginning of the time that the moment belongs to: older memory was live already then.
    pub since: Since,
}

/// What was live on both sides.
#[derive(Debug)]
pub struct Comparison {
    /// Totals of the first side, and of the second.
    pub figures: [Figures; 2],
    /// The lines of code of both sides.
    pub lines: Vec<LinePair>,
    /// The operators of both sides.
    pub operators: Vec<Operator>,
    /// Whether frames of compiled code name operators on either side.
    pub are_operators_named: [bool; 2],
    /// The modules of both sides, each after the one around it, and then the places that are none.
    pub modules: Vec<ModulePair>,
    /// The pools and streams of both sides.
    pub pools: Vec<PoolPair>,
    /// Live memory by all of these.
    pub cells: Vec<BothSides<Cell>>,
    /// Memory that both sides have under different verdicts, most bytes first.
    pub restated: Vec<Restated>,
    /// The allocator's settings that differ.
    pub settings: Vec<SettingChange>,
}

/// Compare what is live on both sides. Takes a few passes over what is live, and one over the stacks of the files.
pub fn compare(a: &Side<'_>, b: &Side<'_>) -> Comparison {
    let sides = [a, b];
    let snapshots = sides.map(|side| side.recording.snapshot().as_ref());
    let own: Vec<Sites> = if std::ptr::eq(snapshots[0], snapshots[1]) {
        vec![Sites::new(snapshots[0])]
    } else {
        snapshots.into_iter().map(Sites::new).collect()
    };
    let last = own.len() - 1;
    let (lines, sites) = matched_sites(snapshots, [&own[0], &own[last]]);
    let [mut of_a, mut of_b] = [live_items(a, &sites[0]), live_items(b, &sites[1])];
    let restated = mark_restated(&mut of_a, &mut of_b, no_stack(&lines));
    let operators = match_operators(sides, &sites, [&mut of_a, &mut of_b]);
    let modules = match_modules(sides, [&mut of_a, &mut of_b]);
    let pools = match_pools(sides, [&mut of_a, &mut of_b]);
    Comparison {
        figures: sides.map(figures),
        lines,
        operators: operators.all,
        are_operators_named: operators.are_named,
        modules,
        pools,
        cells: cells([&of_a, &of_b]),
        restated,
        settings: changed_settings(snapshots[0], snapshots[1]),
    }
}

/// The pair that stands for the absence of a stack.
fn no_stack(lines: &[LinePair]) -> Option<u32> {
    let is_without = |pair: &LinePair| pair.labels.iter().flatten().any(|label| label == NO_STACK);
    lines.iter().position(is_without).map(|at| at as u32)
}

fn figures(side: &Side<'_>) -> Figures {
    let Side { recording, moment, .. } = *side;
    Figures {
        moment,
        active_bytes: recording.active.at(moment),
        reserved_bytes: recording.reserved.at(moment),
        peak: recording.active.peak(),
        reserved_peak: recording.reserved.peak(),
        since: since(side),
    }
}

impl Comparison {
    /// All live memory.
    pub fn total(&self) -> BothSides<()> {
        let mut sides = [Portion::default(); 2];
        for row in &self.cells {
            sides.iter_mut().zip(&row.sides).for_each(|(sum, side)| sum.add(side));
        }
        BothSides { key: (), sides }
    }

    /// Memory by category, largest change first.
    pub fn by_category(&self) -> Vec<BothSides<Category>> {
        regrouped(&self.cells, |cell| Some(cell.category))
    }

    /// Memory by line, as indexes into the pairs of lines, largest change first.
    pub fn by_line(&self) -> Vec<BothSides<u32>> {
        regrouped(&self.cells, |cell| Some(cell.line))
    }

    /// Memory by line of one category.
    pub fn by_line_of(&self, category: Category) -> Vec<BothSides<u32>> {
        regrouped(&self.cells, |cell| (cell.category == category).then_some(cell.line))
    }

    /// Memory by operator, as indexes into the operators, largest change first.
    pub fn by_operator(&self) -> Vec<BothSides<u32>> {
        regrouped(&self.cells, |cell| Some(cell.operator))
    }

    /// Memory by module without what is below it, as indexes into the pairs of modules, largest change first.
    pub fn by_module(&self) -> Vec<BothSides<u32>> {
        regrouped(&self.cells, |cell| Some(cell.module))
    }

    /// Memory by module and category, without what is below it.
    pub fn by_module_and_category(&self) -> Vec<BothSides<(u32, Category)>> {
        regrouped(&self.cells, |cell| Some((cell.module, cell.category)))
    }

    /// Memory by pool and stream, as indexes into the pairs of pools, largest change first.
    pub fn by_pool(&self) -> Vec<BothSides<u32>> {
        regrouped(&self.cells, |cell| Some(cell.pool))
    }

    /// Memory by module with what is below it, in the order of [`Comparison::modules`].
    pub fn modules_with_below(&self) -> Vec<BothSides<u32>> {
        let mut sums = vec![[Portion::default(); 2]; self.modules.len()];
        for row in &self.cells {
            if let Some(sum) = sums.get_mut(row.key.module as usize) {
                sum.iter_mut().zip(&row.sides).for_each(|(sum, side)| sum.add(side));
            }
        }
        // Modules come after those around them.
        for at in (0..sums.len()).rev() {
            let below = sums[at];
            let parent = self.modules[at].parent.and_then(|parent| sums.get_mut(parent as usize));
            if let Some(sum) = parent {
                sum.iter_mut().zip(&below).for_each(|(sum, side)| sum.add(side));
            }
        }
        sums.into_iter().zip(0..).map(|(sides, key)| BothSides { key, sides }).collect()
    }

    /// Reserved bytes of the second side less those of the first.
    pub fn reserved_change_bytes(&self) -> Bytes {
        self.figures[1].reserved_bytes - self.figures[0].reserved_bytes
    }

    /// Whether both sides have the same memory: the same bytes by category, line, operator, module, pool and stream, and as
    /// much reserved.
    pub fn is_same(&self) -> bool {
        self.reserved_change_bytes() == 0
            && self.restated.is_empty()
            && self.cells.iter().all(|row| row.sides[0].amount == row.sides[1].amount)
    }
}
