//! The operators that asked for memory, under names that both sides have.
//!
//! Frames of compiled code name an operator exactly, and a recording has them or not. So they name memory where both sides have
//! them. Elsewhere the innermost function of torch or of a package does, which every stack of Python shows. A line of the program
//! that calls operators itself, such as `x + y`, shows no function: it has the operators that the same line calls on the side that
//! names them, if one does. The backward pass runs no Python.

use super::live::Item;
use super::side::Side;
use super::sites::MatchedSites;
use super::stack_operators::{Operator, Said, Saying, StackOperators};
use crate::Phase;
use crate::attribution::knowledge::OperatorFrame;
use foldhash::HashMap;
use oomscope_model::{Moment, StackId};
use std::collections::{BTreeMap, BTreeSet};

/// The operators of both sides.
#[derive(Debug, Default)]
pub(super) struct Operators {
    pub(super) all: Vec<Operator>,
    /// Whether frames of either side name operators.
    pub(super) are_named: [bool; 2],
    numbers: HashMap<Operator, u32>,
}

impl Operators {
    fn number(&mut self, operator: Operator) -> u32 {
        *self.numbers.entry(operator).or_insert_with_key(|operator| {
            self.all.push(operator.clone());
            self.all.len() as u32 - 1
        })
    }
}

/// Name the operators of both sides, and note those of the items.
pub(super) fn match_operators(
    sides: [&Side<'_>; 2],
    sites: &[MatchedSites; 2],
    items: [&mut [Item]; 2],
) -> Operators {
    let read = sides.map(|side| StackOperators::new(side.recording.snapshot()));
    let are_named = [read[0].has_operators(), read[1].has_operators()];
    let mut out = Operators { are_named, ..Operators::default() };
    let of_lines = match are_named {
        [true, false] => of_lines(&mut out, &read[0], &sites[0]),
        [false, true] => of_lines(&mut out, &read[1], &sites[1]),
        _ => HashMap::default(),
    };
    let (backward, unknown) = (out.number(Operator::Backward), out.number(Operator::Unknown));
    for (at, items) in items.into_iter().enumerate() {
        let (side, read, sites) = (sides[at], &read[at], &sites[at]);
        let mut of_function: HashMap<Said, u32> = HashMap::default();
        let mut number = |stack: StackId| {
            let Saying { compiled, python } = read.saying(stack);
            let said = compiled.filter(|_| are_named == [true, true]).or(python)?;
            let line = sites.line.get(stack.index()).and_then(|line| of_lines.get(line));
            let line = line.filter(|_| said.kind == OperatorFrame::Own).copied();
            let of_function = || *of_function.entry(said).or_insert_with(|| out.number(read.operator(said)));
            Some(line.unwrap_or_else(of_function))
        };
        let mut of_stack: HashMap<StackId, Option<u32>> = HashMap::default();
        for item in items {
            let stack = side.recording.stack(item.id);
            let named = *of_stack.entry(stack).or_insert_with(|| number(stack));
            // Threads of the backward pass have no stack of Python. So its phase tells, which is that of an allocation.
            item.operator =
                named.unwrap_or_else(|| if is_of_backward(side, item) { backward } else { unknown });
        }
    }
    out
}

/// Whether memory was allocated in a backward pass.
fn is_of_backward(side: &Side<'_>, item: &Item) -> bool {
    let start = side.recording.lifetimes.start(item.id);
    start != Moment::START && side.attribution.phases.phase_at(start) == Phase::Backward
}

/// The operators that lines of the program call themselves, by line.
fn of_lines(out: &mut Operators, read: &StackOperators<'_>, sites: &MatchedSites) -> HashMap<u32, u32> {
    let mut found: BTreeMap<u32, BTreeSet<Said>> = BTreeMap::new();
    for (stack, &line) in read.stacks().zip(&sites.line) {
        let Saying { compiled, python } = read.saying(stack);
        if python.is_some_and(|python| python.kind == OperatorFrame::Own) {
            found.entry(line).or_default().extend(compiled);
        }
    }
    let names = |said: &Said| match read.operator(*said) {
        Operator::Named(names) => names,
        _ => Vec::new(),
    };
    let mut of_lines = HashMap::default();
    for (line, said) in found {
        let names: BTreeSet<String> = said.iter().flat_map(names).collect();
        if !names.is_empty() {
            of_lines.insert(line, out.number(Operator::Named(names.into_iter().collect())));
        }
    }
    of_lines
}
