//! In which categories, modules and lines most of a difference lies.

use super::compare::Comparison;
use super::modules::{ModulePair, ModulePairKind};
use super::portion::{BothSides, Portion};
use crate::Category;
use oomscope_model::SaturatingSum as _;
use std::collections::BTreeMap;

/// The most categories that are named: more in one sentence are a table.
const MAX_CAUSES: usize = 3;

/// Categories are named until those left change by at most one part in this many of all changes.
const REST_PART: i128 = 10;

/// A module or line stands for a category if it has at least this many fifths of its change, which is most of it for any reader.
const MOST_FIFTHS: i128 = 4;

/// The place in a program where most of a cause lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CausePlace {
    /// Modules, by their classes from the outside in; all of these classes there together. Where classes were not recorded, by
    /// file, function and the line that calls it.
    Modules(Vec<String>),
    /// A line, as an index into the pairs of lines.
    Line(u32),
}

/// A part of the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The category that changed.
    pub category: Category,
    /// Where most of its change lies; `None` if it is spread.
    pub place: Option<CausePlace>,
    /// The memory of the category in that place on either side.
    pub sides: [Portion; 2],
}

impl Comparison {
    /// The categories that changed most, each with the place where most of its change lies.
    pub fn causes(&self) -> Vec<Cause> {
        let rows = self.by_category();
        let mut left: u128 = rows.iter().map(|row| row.change_bytes().unsigned_abs()).saturating_sum();
        let rest = left / REST_PART.unsigned_abs();
        let mut causes = Vec::new();
        for row in rows {
            let change = row.change_bytes().unsigned_abs();
            if left <= rest || change == 0 || MAX_CAUSES <= causes.len() {
                break;
            }
            left -= change;
            causes.push(self.cause(&row));
        }
        causes
    }

    fn cause(&self, row: &BothSides<Category>) -> Cause {
        let category = row.key;
        let (line, module) = (self.main_line(row), self.main_modules(row));
        // The outermost module has everything and says nothing, so a line comes before it.
        let found = match (module, line) {
            (Some((names, sides)), _) if 1 < names.len() => Some((CausePlace::Modules(names), sides)),
            (_, Some((line, sides))) => Some((CausePlace::Line(line), sides)),
            (Some((names, sides)), None) => Some((CausePlace::Modules(names), sides)),
            (None, None) => None,
        };
        let (place, sides) = found.map_or((None, row.sides), |(place, sides)| (Some(place), sides));
        Cause { category, place, sides }
    }

    /// The line that has most of a category's change.
    fn main_line(&self, whole: &BothSides<Category>) -> Option<(u32, [Portion; 2])> {
        let first = self.by_line_of(whole.key).into_iter().next()?;
        // What has no stack is no line.
        let has_line = self.lines.get(first.key as usize)?.lines.iter().flatten().any(|line| line.line != 0);
        (has_line && is_most(&first, whole)).then_some((first.key, first.sides))
    }

    /// The classes of modules that have most of a category's change, from the outside in as far as one has it.
    fn main_modules(&self, whole: &BothSides<Category>) -> Option<(Vec<String>, [Portion; 2])> {
        let mut totals = vec![[Portion::default(); 2]; self.modules.len()];
        for row in self.cells.iter().filter(|row| row.key.category == whole.key) {
            let mut at = Some(row.key.module);
            while let Some(module) = at {
                let Some(sum) = totals.get_mut(module as usize) else { break };
                sum.iter_mut().zip(&row.sides).for_each(|(sum, side)| sum.add(side));
                at = self.modules.get(module as usize).and_then(|module| module.parent);
            }
        }
        let mut by_parent: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
        for (module, at) in self.modules.iter().zip(0..) {
            if module.kind == ModulePairKind::Module {
                by_parent.entry(module.parent).or_default().push(at);
            }
        }
        let mut found: Option<(Vec<String>, [Portion; 2])> = None;
        let mut around: Vec<Option<u32>> = vec![None];
        loop {
            let below = around.iter().filter_map(|parent| by_parent.get(parent)).flatten().copied();
            let Some((name, modules, sides)) = self.main_class(below, &totals, whole) else { break };
            let mut names = found.map(|(names, _)| names).unwrap_or_default();
            names.push(name);
            found = Some((names, sides));
            around = modules.into_iter().map(Some).collect();
        }
        found
    }

    /// The class that has most of a change among some modules, with its modules.
    fn main_class(
        &self,
        modules: impl Iterator<Item = u32>,
        totals: &[[Portion; 2]],
        whole: &BothSides<Category>,
    ) -> Option<(String, Vec<u32>, [Portion; 2])> {
        let mut classes: BTreeMap<String, (Vec<u32>, [Portion; 2])> = BTreeMap::new();
        for at in modules {
            let of_class = classes.entry(class_name(self.modules.get(at as usize)?)).or_default();
            of_class.0.push(at);
            let total = totals.get(at as usize)?;
            of_class.1.iter_mut().zip(total).for_each(|(sum, side)| sum.add(side));
        }
        let is_main = |(_, (_, sides)): &(String, (Vec<u32>, [Portion; 2]))| {
            is_most(&BothSides { key: (), sides: *sides }, whole)
        };
        let (name, (modules, sides)) = classes.into_iter().find(is_main)?;
        Some((name, modules, sides))
    }
}

/// The class of a module. Where classes were not recorded, modules of a file are told apart by the line that calls them.
fn class_name(module: &ModulePair) -> String {
    let [a, b] = &module.from;
    match b.as_ref().or(a.as_ref()).filter(|_| module.name.contains(' ')) {
        Some(from) => format!("{} ({from})", module.name),
        None => module.name.clone(),
    }
}

/// Whether a part has most of a change, in its direction.
fn is_most<K, L>(part: &BothSides<K>, whole: &BothSides<L>) -> bool {
    let (part, whole) = (part.change_bytes(), whole.change_bytes());
    let sign = whole.signum();
    whole.unsigned_abs().saturating_mul(MOST_FIFTHS.unsigned_abs())
        <= part.saturating_mul(sign).max(0).unsigned_abs().saturating_mul(5)
}
