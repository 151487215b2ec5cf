//! Modules of both sides, matched from the outermost on.

use super::live::Item;
use super::numbers::pair_lines;
use super::side::Side;
use crate::modules::placed_modules;
use crate::{ModulePlace, ModuleRow};
use foldhash::HashMap;
use oomscope_model::AllocId;
use std::collections::BTreeMap;

/// What a pair of modules is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModulePairKind {
    /// A module.
    Module,
    /// Python code without a call of a module around it, such as a loss.
    Outside,
    /// Neither a stack nor a size tells the module.
    NotKnown,
    /// Memory of categories that are not told by module.
    NotTold,
}

/// A module as both sides have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModulePair {
    /// What it is.
    pub kind: ModulePairKind,
    /// Its class, or the file and function of its `forward`; empty unless it is a module.
    pub name: String,
    /// Whether either side has it.
    pub is_there: [bool; 2],
    /// The line that calls or makes it on either side.
    pub from: [Option<String>; 2],
    /// The module around it, as an index.
    pub parent: Option<u32>,
    /// How many modules are around it.
    pub depth: usize,
}

/// The modules of one side: rows of its table, with those below each.
struct OfSide {
    rows: Vec<ModuleRow>,
    /// By row, and those at the top in the end.
    children: Vec<Vec<usize>>,
    row_of: HashMap<AllocId, usize>,
}

impl OfSide {
    fn new(side: &Side<'_>) -> Self {
        let (table, placed) = placed_modules(side.recording, side.attribution, side.moment);
        let rows = table.rows;
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len() + 1];
        // The modules around the last row, outermost first.
        let mut open: Vec<usize> = Vec::new();
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| is_module(row)) {
            open.truncate(row.depth);
            children[open.last().copied().unwrap_or(rows.len())].push(at);
            open.push(at);
        }
        Self { children, rows, row_of: placed.into_iter().collect() }
    }

    fn top(&self) -> usize {
        self.rows.len()
    }
}

fn is_module(row: &ModuleRow) -> bool {
    matches!(row.place, ModulePlace::Module { .. })
}

fn name_and_from(row: &ModuleRow) -> (&str, Option<&String>) {
    match &row.place {
        ModulePlace::Module { name, from, .. } => (name, from.as_ref()),
        ModulePlace::Outside | ModulePlace::NotKnown => ("", None),
    }
}

/// The line's number of `model.py:113`.
fn line_of(row: &ModuleRow) -> i64 {
    let number = name_and_from(row).1.and_then(|from| from.rsplit_once(':'));
    number.and_then(|(_, line)| line.parse().ok()).unwrap_or_default()
}

/// Match the modules of both sides, and note those of the items. A parent comes before what is below it.
pub(super) fn match_modules(sides: [&Side<'_>; 2], items: [&mut [Item]; 2]) -> Vec<ModulePair> {
    let of = sides.map(OfSide::new);
    let mut matching = Matching {
        of: [&of[0], &of[1]],
        pairs: Vec::new(),
        pair_of: [vec![None; of[0].rows.len()], vec![None; of[1].rows.len()]],
    };
    matching.below(None, [Some(of[0].top()), Some(of[1].top())]);
    let mut next = 0;
    while let Some(pair) = matching.pairs.get(next).map(|(_, rows)| *rows) {
        matching.below(Some(next as u32), pair);
        next += 1;
    }
    matching.finish(items)
}

/// Rows of both tables that are the same module.
type RowPair = [Option<usize>; 2];

struct Matching<'a> {
    of: [&'a OfSide; 2],
    pairs: Vec<(ModulePair, RowPair)>,
    /// By side and row, its pair.
    pair_of: [Vec<Option<u32>>; 2],
}

impl Matching<'_> {
    /// Match the modules below two that are the same: by class, and in the order of the lines that call them.
    fn below(&mut self, parent: Option<u32>, rows: RowPair) {
        let mut by_name: BTreeMap<&str, [Vec<usize>; 2]> = BTreeMap::new();
        for (side, (of, row)) in self.of.into_iter().zip(rows).enumerate() {
            for &child in row.and_then(|row| of.children.get(row)).into_iter().flatten() {
                by_name.entry(name_and_from(&of.rows[child]).0).or_default()[side].push(child);
            }
        }
        for mut children in by_name.into_values() {
            let of = self.of;
            for (side, rows) in children.iter_mut().enumerate() {
                rows.sort_by_key(|&row| line_of(&of[side].rows[row]));
            }
            let lines = [0, 1].map(|side: usize| -> Vec<i64> {
                children[side].iter().map(|&row| line_of(&of[side].rows[row])).collect()
            });
            let same: BTreeMap<usize, usize> =
                pair_lines(&lines[0], &lines[1], |_, _| true).into_iter().collect();
            let mut is_taken = vec![false; children[1].len()];
            for (at, &row) in children[0].iter().enumerate() {
                let other = same.get(&at).map(|&other| {
                    is_taken[other] = true;
                    children[1][other]
                });
                self.push(parent, [Some(row), other]);
            }
            for (&row, _) in children[1].iter().zip(&is_taken).filter(|(_, is_taken)| !**is_taken) {
                self.push(parent, [None, Some(row)]);
            }
        }
    }

    fn push(&mut self, parent: Option<u32>, rows: RowPair) {
        let of = self.of;
        let row = |side: usize| rows[side].and_then(|at| of[side].rows.get(at));
        let name = row(1).or(row(0)).map_or("", |row| name_and_from(row).0).to_owned();
        let at = self.pairs.len() as u32;
        for side in [0, 1] {
            if let Some(row) = rows[side] {
                self.pair_of[side][row] = Some(at);
            }
        }
        let depth = parent.and_then(|parent| self.pairs.get(parent as usize));
        let pair = ModulePair {
            kind: ModulePairKind::Module,
            name,
            is_there: rows.map(|row| row.is_some()),
            from: [0, 1].map(|side| row(side).and_then(|row| name_and_from(row).1.cloned())),
            parent,
            depth: depth.map_or(0, |(parent, _)| parent.depth + 1),
        };
        self.pairs.push((pair, rows));
    }

    /// Add the places that are no modules, and note the pairs of the items.
    fn finish(self, items: [&mut [Item]; 2]) -> Vec<ModulePair> {
        const PLACES: [ModulePairKind; 3] =
            [ModulePairKind::Outside, ModulePairKind::NotKnown, ModulePairKind::NotTold];
        let first = self.pairs.len() as u32;
        for ((items, of), pair_of) in items.into_iter().zip(self.of).zip(&self.pair_of) {
            for item in items {
                let row = of.row_of.get(&item.id).copied();
                item.module = match row.map(|row| (&of.rows[row].place, pair_of[row])) {
                    Some((ModulePlace::Module { .. }, Some(pair))) => pair,
                    Some((ModulePlace::Outside, _)) => first,
                    Some(_) => first + 1,
                    None => first + 2,
                };
            }
        }
        let place = |kind| ModulePair {
            kind,
            name: String::new(),
            is_there: [true, true],
            from: [None, None],
            parent: None,
            depth: 0,
        };
        self.pairs.into_iter().map(|(pair, _)| pair).chain(PLACES.map(place)).collect()
    }
}
