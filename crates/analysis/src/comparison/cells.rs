//! Live memory of both sides by everything that is compared.

use super::live::Item;
use super::portion::{BothSides, Portion};
use crate::Category;
use std::collections::BTreeMap;

/// What some memory has in common. Tables are sums of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Its category.
    pub category: Category,
    /// Its line, as an index into the pairs of lines.
    pub line: u32,
    /// Its operator, as an index into the operators.
    pub operator: u32,
    /// Its module, as an index into the pairs of modules.
    pub module: u32,
    /// Its pool and stream, as an index into the pairs of pools.
    pub pool: u32,
}

pub(super) fn cells(sides: [&[Item]; 2]) -> Vec<BothSides<Cell>> {
    let mut found: BTreeMap<Cell, [Portion; 2]> = BTreeMap::new();
    for (side, items) in sides.into_iter().enumerate() {
        for item in items {
            let Item { line, operator, module, pool, .. } = *item;
            let cell = Cell { category: item.verdict.category, line, operator, module, pool };
            found.entry(cell).or_default()[side].add_item(item);
        }
    }
    found.into_iter().map(|(key, sides)| BothSides { key, sides }).collect()
}
