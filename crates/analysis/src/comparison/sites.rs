//! The lines of code that name the stacks of two files, matched.

use super::lines::{CodeLine, match_lines};
use crate::{FrameKey, FrameNames, site_frame};
use foldhash::HashMap;
use oomscope_model::{Snapshot, StackId};
use oomscope_units as units;
use std::collections::{BTreeMap, BTreeSet};

/// A line of code as both sides have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePair {
    /// The line on either side; `None` where that program does not have it, or nothing was allocated by it.
    pub lines: [Option<CodeLine>; 2],
    /// Its name on either side, as everywhere: `train.py:55 attention`.
    pub labels: [Option<String>; 2],
    /// The frame that names its stacks on either side.
    pub sites: [Option<FrameKey>; 2],
}

impl LinePair {
    /// Its name: that of the second side, if it has the line.
    pub fn label(&self) -> &str {
        let [a, b] = &self.labels;
        b.as_deref().or(a.as_deref()).unwrap_or_default()
    }
}

/// The stacks of one file.
pub(super) struct Sites {
    names: FrameNames,
    /// The frame that names each stack.
    of_stack: Vec<FrameKey>,
    /// The innermost frame of each stack that is neither torch's nor compiled; that of the name where there is none.
    inner: Vec<FrameKey>,
    /// The frames that name stacks, ascending.
    keys: Vec<FrameKey>,
}

/// What one side knows about its stacks in terms of both.
pub(super) struct MatchedSites {
    /// The line of each stack, as an index into the pairs.
    pub(super) line: Vec<u32>,
    /// The innermost function of each stack that is not torch's, by number.
    pub(super) inner: Vec<u32>,
}

impl Sites {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let names = FrameNames::new(snapshot);
        let stacks = || (0..snapshot.stacks.len() as u32).map(StackId);
        let of_stack: Vec<FrameKey> = stacks().map(|stack| names.site(snapshot, stack)).collect();
        let inner = |stack: StackId| {
            let keys = snapshot.stacks.frames(stack).iter().map(|&frame| names.key(frame));
            keys.into_iter().find(|&key| !names.get(key).is_runtime())
        };
        let inner = stacks().map(|stack| inner(stack).unwrap_or(of_stack[stack.index()])).collect();
        let keys: BTreeSet<FrameKey> = of_stack.iter().copied().collect();
        Self { names, of_stack, inner, keys: keys.into_iter().collect() }
    }

    /// The lines of code that name stacks, in the order of their keys.
    fn lines(&self, snapshot: &Snapshot) -> Vec<CodeLine> {
        let mut calls: BTreeMap<FrameKey, BTreeSet<&str>> = BTreeMap::new();
        for (stack, &site) in (0..snapshot.stacks.len() as u32).map(StackId).zip(&self.of_stack) {
            let calls = calls.entry(site).or_default();
            // What a line of compiled code called is not recorded.
            if snapshot.shows_originals(stack) {
                continue;
            }
            let mut keys = snapshot.stacks.frames(stack).iter().map(|&frame| self.names.key(frame));
            let mut called = "";
            // Compiled code is recorded or not, also that of the interpreter between two functions; a line is the same in either case.
            for key in keys.by_ref().take_while(|&key| key != site) {
                let name = self.names.get(key);
                called = if name.is_native() { called } else { name.function() };
            }
            calls.insert(called);
        }
        let line = |&key: &FrameKey| {
            let calls = calls.get(&key).into_iter().flatten().map(|&call| call.to_owned()).collect();
            self.line(snapshot, key, calls)
        };
        self.keys.iter().map(line).collect()
    }

    /// A frame as a line; compiled code has neither a file nor a line that means the same elsewhere.
    fn line(&self, snapshot: &Snapshot, key: FrameKey, calls: Vec<String>) -> CodeLine {
        let name = self.names.get(key);
        match name.frame.filter(|_| !name.is_native()).map(|frame| site_frame(snapshot, frame)) {
            Some(frame) => CodeLine { file: frame.file, function: frame.name, line: frame.line, calls },
            None => CodeLine { function: name.function().to_owned(), calls, ..CodeLine::default() },
        }
    }

    /// The line that names a stack, without what it calls.
    pub(super) fn line_of(&self, snapshot: &Snapshot, stack: StackId) -> CodeLine {
        let site = self.of_stack.get(stack.index()).copied().unwrap_or_else(|| self.names.no_stack());
        self.line(snapshot, site, Vec::new())
    }

    fn label(&self, key: FrameKey) -> String {
        self.names.get(key).label.clone()
    }
}

/// Match the lines of two files, and put the stacks of both into their terms.
pub(super) fn matched_sites(
    snapshots: [&Snapshot; 2],
    sites: [&Sites; 2],
) -> (Vec<LinePair>, [MatchedSites; 2]) {
    let [lines_a, lines_b] = [0, 1].map(|side| sites[side].lines(snapshots[side]));
    let same = if std::ptr::eq(snapshots[0], snapshots[1]) {
        (0..lines_a.len()).map(Some).collect()
    } else {
        match_lines(&lines_a, &lines_b)
    };
    let mut pairs: Vec<LinePair> = Vec::with_capacity(lines_a.len());
    let mut of_b: Vec<Option<u32>> = vec![None; lines_b.len()];
    let pair = |lines, at: [Option<usize>; 2]| LinePair {
        lines,
        labels: [0, 1].map(|side| at[side].map(|at| sites[side].label(sites[side].keys[at]))),
        sites: [0, 1].map(|side| at[side].map(|at| sites[side].keys[at])),
    };
    for ((at, line), same) in lines_a.into_iter().enumerate().zip(same) {
        if let Some(same) = same {
            of_b[same] = Some(pairs.len() as u32);
        }
        pairs.push(pair([Some(line), same.map(|same| lines_b[same].clone())], [Some(at), same]));
    }
    let of_a: Vec<u32> = (0..pairs.len() as u32).collect();
    let of_b: Vec<u32> = of_b
        .into_iter()
        .enumerate()
        .map(|(at, pair_of)| {
            pair_of.unwrap_or_else(|| {
                pairs.push(pair([None, Some(lines_b[at].clone())], [None, Some(at)]));
                pairs.len() as u32 - 1
            })
        })
        .collect();
    let mut functions = Functions::default();
    let matched = [(sites[0], of_a, snapshots[0]), (sites[1], of_b, snapshots[1])].map(
        |(sites, pair_of_key, snapshot)| MatchedSites {
            line: sites.of_stack.iter().map(|key| pair_of_key[place(&sites.keys, *key)]).collect(),
            inner: functions.numbers(sites, snapshot),
        },
    );
    (pairs, matched)
}

fn place(keys: &[FrameKey], key: FrameKey) -> usize {
    keys.binary_search(&key).unwrap_or_default()
}

/// Functions of both files by number: the same name in a file of the same name.
#[derive(Default)]
struct Functions {
    known: HashMap<(String, String), u32>,
}

impl Functions {
    fn numbers(&mut self, sites: &Sites, snapshot: &Snapshot) -> Vec<u32> {
        let mut by_key: HashMap<FrameKey, u32> = HashMap::default();
        let mut number = |key: FrameKey| {
            let line = sites.line(snapshot, key, Vec::new());
            let next = self.known.len() as u32;
            *self.known.entry((units::basename(&line.file).to_owned(), line.function)).or_insert(next)
        };
        sites.inner.iter().map(|&key| *by_key.entry(key).or_insert_with(|| number(key))).collect()
    }
}
