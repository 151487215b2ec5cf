//! The table of modules at one moment.

use super::call_path::{PathReader, StackPath, StepKind};
use super::calls::CallCounter;
use super::pairing::Pairing;
use super::tree::{Merged, NodeIx, Tree, from_of, name_of};
use crate::analysis::{Attribution, Category};
use crate::model::{AllocId, EventIx, Moment, Snapshot, StackId, Timeline};
use std::ops::Range;

/// The categories that are told by module, in the order of columns.
pub const MODULE_COLUMNS: [Category; 4] =
    [Category::Parameter, Category::Gradient, Category::OptimizerState, Category::Activation];

/// Bytes in the order of [`MODULE_COLUMNS`].
pub type ModuleBytes = [i64; MODULE_COLUMNS.len()];

/// The memory of modules at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleTable {
    /// The moment.
    pub moment: Moment,
    /// Each module before those below it, the largest first; then what is outside of modules, and what is of none that is known.
    pub rows: Vec<ModuleRow>,
    /// All bytes of each category. Those of the rows, without the modules below them, add up to it.
    pub total: ModuleBytes,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleRow {
    /// The module.
    pub place: ModulePlace,
    /// How many modules are around it.
    pub depth: usize,
    /// Bytes of its own, without those of modules below it.
    pub own: ModuleBytes,
    /// Those of its own whose module is inferred from their size.
    pub own_inferred: ModuleBytes,
    /// Bytes with those of modules below it.
    pub total: ModuleBytes,
    /// Those whose module is inferred from their size, with those of modules below it.
    pub total_inferred: ModuleBytes,
    /// How often its code ran in the last pass that left activations; 0 if none did.
    pub calls: u32,
    /// Activations with those below it, by the call within its pass; empty unless it is the outermost that ran several times.
    pub by_call: Vec<i64>,
}

/// The module of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModulePlace {
    /// A module that a stack shows.
    Module {
        /// Its class, or the file and function of its `forward` where classes were not recorded.
        name: String,
        /// The line that calls it, or makes it: `model.py:113`. `None` if the stack ends before.
        from: Option<String>,
        /// Whether only its constructor is known, not the line that calls it.
        is_made: bool,
    },
    /// Python code without a call of a module around it, such as a loss.
    Outside,
    /// Neither a stack nor a size tells the module.
    NotKnown,
}

/// The memory of modules at a moment. Looks at what is live then, and at the passes that made the activations.
pub fn module_table(
    snapshot: &Snapshot,
    timeline: &Timeline,
    attribution: &Attribution,
    moment: Moment,
) -> ModuleTable {
    let mut builder = Builder {
        snapshot,
        timeline,
        attribution,
        reader: PathReader::new(snapshot),
        tree: Tree::default(),
        by_stack: vec![None; snapshot.stacks.len()],
    };
    let live = builder.live(moment);
    let calls = builder.follow_passes(&live);
    let merged = builder.place_modules(&live);
    let bytes = builder.add_up(&live, &merged);
    builder.finish(moment, &bytes, &merged.parents, &calls)
}

/// The part of a program that a stack lies in, with nodes for its modules.
#[derive(Debug, Clone)]
enum Place {
    Called(Vec<NodeIx>),
    Made(Vec<NodeIx>),
    Outside,
    NotKnown,
}

/// A live allocation of one of the columns.
#[derive(Debug, Clone, Copy)]
struct Live {
    id: AllocId,
    column: usize,
    size: i64,
    stack: StackId,
}

/// Modules of live allocations, as far as stacks show them.
#[derive(Debug)]
struct PlacedModules {
    /// By live allocation.
    modules: Vec<Option<NodeIx>>,
    /// By node, the module that it is shown below.
    parents: Vec<Option<NodeIx>>,
}

/// Bytes that have found their rows.
#[derive(Debug, Default)]
struct PlacedBytes {
    /// By node.
    own: Vec<ModuleBytes>,
    inferred: Vec<ModuleBytes>,
    outside: ModuleBytes,
    not_known: ModuleBytes,
}

/// Calls of modules in the passes that left activations.
#[derive(Debug, Default)]
struct PassCalls {
    /// By node, how often its code ran in the last pass.
    calls: Vec<u32>,
    /// By node, activations by call.
    by_call: Vec<Vec<i64>>,
}

struct Builder<'a> {
    snapshot: &'a Snapshot,
    timeline: &'a Timeline,
    attribution: &'a Attribution,
    reader: PathReader<'a>,
    tree: Tree,
    by_stack: Vec<Option<Place>>,
}

impl Builder<'_> {
    /// The allocations of the columns that are live at a moment, in allocation order.
    fn live(&self, moment: Moment) -> Vec<Live> {
        let categories = &self.attribution.categories;
        let live = self.timeline.lifetimes.live_at(moment).filter_map(|id| {
            let category = categories.get(id);
            let column = MODULE_COLUMNS.iter().position(|&column| column == category)?;
            Some(Live { id, column, size: self.timeline.size(id), stack: self.timeline.stack(id) })
        });
        live.collect()
    }

    fn read(&mut self, stack: StackId) -> &Place {
        let Self { reader, tree, by_stack, .. } = self;
        by_stack[stack.index()].get_or_insert_with(|| match reader.read(stack) {
            StackPath::Called(path) => Place::Called(tree.add(&path)),
            StackPath::Made(path) => Place::Made(tree.add(&path)),
            StackPath::Outside => Place::Outside,
            StackPath::NotKnown => Place::NotKnown,
        })
    }

    /// Find the module of each live allocation, as far as stacks show it.
    fn place_modules(&mut self, live: &[Live]) -> PlacedModules {
        let modules: Vec<Option<NodeIx>> = live.iter().map(|live| self.module_of(live)).collect();
        let Merged { shown, parents } = self.tree.merge(self.snapshot);
        let modules = modules.into_iter().map(|module| module.map(|node| shown[node.index()])).collect();
        PlacedModules { modules, parents }
    }

    /// Add up the live allocations of each row; those that no stack places go by their sizes.
    fn add_up(&self, live: &[Live], placed: &PlacedModules) -> PlacedBytes {
        let mut pairing = Pairing::new(&self.tree, &placed.parents);
        for (live, module) in live.iter().zip(&placed.modules) {
            pairing.note(MODULE_COLUMNS[live.column], live.size, *module);
        }
        let nothing = || vec![ModuleBytes::default(); self.tree.nodes.len()];
        let mut out = PlacedBytes { own: nothing(), inferred: nothing(), ..PlacedBytes::default() };
        for (live, module) in live.iter().zip(&placed.modules) {
            let category = MODULE_COLUMNS[live.column];
            let is_activation = category == Category::Activation;
            let is_outside = matches!(self.by_stack[live.stack.index()], Some(Place::Outside));
            let paired = || pairing.module_of(category, live.size).filter(|_| !is_activation);
            let target = match module.or_else(paired) {
                Some(node) => {
                    if module.is_none() {
                        add(&mut out.inferred[node.index()][live.column], live.size);
                    }
                    &mut out.own[node.index()]
                }
                None if is_activation && is_outside => &mut out.outside,
                None => &mut out.not_known,
            };
            add(&mut target[live.column], live.size);
        }
        out
    }

    /// The module of an allocation by its stack, or by the forward that a gradient belongs to.
    fn module_of(&mut self, live: &Live) -> Option<NodeIx> {
        let is_parameter = MODULE_COLUMNS[live.column] == Category::Parameter;
        match self.read(live.stack) {
            Place::Called(path) => return path.last().copied(),
            Place::Made(path) if is_parameter => return path.last().copied(),
            _ => {}
        }
        let event = self.timeline.lifetimes.start(live.id).event()?;
        let context = self.timeline.events.contexts().get(self.timeline.events.context_index(event))?;
        match self.read(context.forward_stack) {
            Place::Called(path) => path.last().copied(),
            _ => None,
        }
    }

    /// Follow the passes that left activations, and count the calls of modules in them.
    fn follow_passes(&mut self, live: &[Live]) -> PassCalls {
        let activation = MODULE_COLUMNS.len() - 1;
        let mut activations = live.iter().filter(|live| live.column == activation).peekable();
        let (mut counter, mut out) = (CallCounter::default(), PassCalls::default());
        while let Some(first) = activations.peek() {
            let pass = self.pass_of(first.id);
            let of_pass: Vec<Live> =
                std::iter::from_fn(|| activations.next_if(|live| pass.contains(&live.id.0)))
                    .copied()
                    .collect();
            if of_pass.is_empty() {
                // It is older than the recording, whose passes are unknown.
                activations.next();
                continue;
            }
            self.follow_pass(&mut counter, pass.clone(), |_, _, _| ());
            let calls: Vec<u32> = self.tree.ids().map(|node| counter.calls(node)).collect();
            self.add_by_call(&mut out, &mut counter, pass, &calls, &of_pass);
            out.calls.resize(calls.len(), 0);
            for (known, now) in out.calls.iter_mut().zip(calls) {
                // A module that this pass does not call keeps the number of an earlier one.
                *known = if now == 0 { *known } else { now };
            }
        }
        out
    }

    /// The allocations from the call of a model to the next, around one of them.
    fn pass_of(&self, id: AllocId) -> Range<u32> {
        let lifetimes = &self.timeline.lifetimes;
        let calls = &self.attribution.phases.calls;
        let Some(event) = lifetimes.start(id).event() else { return 0..0 };
        let after = calls.partition_point(|call| call.event <= event);
        let end = lifetimes.len() as u32;
        // The moment before an event has its number.
        let first_from = |event: EventIx| lifetimes.first_after(Moment(event.0)).map_or(end, |id| id.0);
        let from = after.checked_sub(1).map(|at| first_from(calls[at].event));
        let to = calls.get(after).map(|call| first_from(call.event));
        from.unwrap_or(lifetimes.initial_count() as u32)..to.unwrap_or(end)
    }

    /// Follow all allocations of a pass. `see` is given each that lies in modules, with its path and the number of the call of
    /// each module on it.
    fn follow_pass(
        &mut self,
        counter: &mut CallCounter,
        pass: Range<u32>,
        mut see: impl FnMut(AllocId, &[NodeIx], &[u32]),
    ) {
        counter.start_pass();
        let mut numbers = Vec::new();
        for id in pass.map(AllocId) {
            let stack = self.timeline.stack(id);
            self.read(stack);
            if let Some(Place::Called(path)) = &self.by_stack[stack.index()] {
                numbers.clear();
                counter.follow(&self.tree, path, stack, &mut numbers);
                see(id, path, &numbers);
            }
        }
    }

    /// Add activations to the calls of the outermost module that was called several times. Following the pass again takes less
    /// memory than keeping what was found the first time.
    fn add_by_call(
        &mut self,
        out: &mut PassCalls,
        counter: &mut CallCounter,
        pass: Range<u32>,
        calls: &[u32],
        live: &[Live],
    ) {
        out.by_call.resize(calls.len(), Vec::new());
        let mut live = live.iter().peekable();
        self.follow_pass(counter, pass, |id, path, numbers| {
            while live.next_if(|live| live.id < id).is_some() {}
            let Some(live) = live.next_if(|live| live.id == id) else { return };
            let repeated = path.iter().zip(numbers).find(|(node, _)| 1 < calls[node.index()]);
            if let Some((node, &number)) = repeated {
                let by_call = &mut out.by_call[node.index()];
                let at = number.saturating_sub(1) as usize;
                by_call.resize(by_call.len().max(at + 1), 0);
                add(&mut by_call[at], live.size);
            }
        });
    }

    fn finish(
        self,
        moment: Moment,
        bytes: &PlacedBytes,
        parents: &[Option<NodeIx>],
        calls: &PassCalls,
    ) -> ModuleTable {
        let nodes = &self.tree.nodes;
        let (mut totals, mut inferred) = (bytes.own.clone(), bytes.inferred.clone());
        let mut children: Vec<Vec<NodeIx>> = vec![Vec::new(); nodes.len()];
        let mut roots = Vec::new();
        // The deepest first, so that each is complete when it is added.
        let mut deepest_first: Vec<NodeIx> = self.tree.ids().collect();
        deepest_first.sort_by_key(|node| std::cmp::Reverse(nodes[node.index()].depth));
        for node in deepest_first {
            let below = totals[node.index()];
            match parents[node.index()] {
                _ if below == ModuleBytes::default() => {}
                Some(parent) => {
                    add_all(&mut totals[parent.index()], &below);
                    let below = inferred[node.index()];
                    add_all(&mut inferred[parent.index()], &below);
                    children[parent.index()].push(node);
                }
                None => roots.push(node),
            }
        }
        let mut rows = Vec::new();
        let largest_last = |list: &mut Vec<NodeIx>| {
            list.sort_by_key(|node| (sum(&totals[node.index()]), std::cmp::Reverse(node.0)));
        };
        largest_last(&mut roots);
        let mut open: Vec<(NodeIx, usize)> = roots.into_iter().map(|node| (node, 0)).collect();
        while let Some((node, depth)) = open.pop() {
            let row = ModuleRow {
                depth,
                own: bytes.own[node.index()],
                own_inferred: bytes.inferred[node.index()],
                total: totals[node.index()],
                total_inferred: inferred[node.index()],
                ..self.row(node, calls)
            };
            rows.push(row);
            let mut below = std::mem::take(&mut children[node.index()]);
            largest_last(&mut below);
            open.extend(below.into_iter().map(|child| (child, depth + 1)));
        }
        let rest = [(ModulePlace::Outside, bytes.outside), (ModulePlace::NotKnown, bytes.not_known)];
        for (place, own) in rest.into_iter().filter(|(_, own)| *own != ModuleBytes::default()) {
            rows.push(ModuleRow { own, total: own, ..ModuleRow::empty(place) });
        }
        let mut total = ModuleBytes::default();
        for row in &rows {
            add_all(&mut total, &row.own);
        }
        ModuleTable { moment, rows, total }
    }

    /// The row of a module, without its bytes.
    fn row(&self, node: NodeIx, calls: &PassCalls) -> ModuleRow {
        let step = &self.tree.nodes[node.index()].step;
        let place = ModulePlace::Module {
            name: name_of(self.snapshot, step),
            from: from_of(self.snapshot, step),
            is_made: step.kind == StepKind::Make,
        };
        ModuleRow {
            calls: calls.calls.get(node.index()).copied().unwrap_or(0),
            by_call: calls.by_call.get(node.index()).cloned().unwrap_or_default(),
            ..ModuleRow::empty(place)
        }
    }
}

impl ModuleRow {
    fn empty(place: ModulePlace) -> Self {
        let nothing = ModuleBytes::default();
        let (own, own_inferred, total, total_inferred) = (nothing, nothing, nothing, nothing);
        Self { place, depth: 0, own, own_inferred, total, total_inferred, calls: 0, by_call: Vec::new() }
    }
}

/// Sizes of a file may add up to more than any number holds.
fn add(total: &mut i64, bytes: i64) {
    *total = total.saturating_add(bytes);
}

fn add_all(totals: &mut ModuleBytes, bytes: &ModuleBytes) {
    totals.iter_mut().zip(bytes).for_each(|(total, &bytes)| add(total, bytes));
}

fn sum(bytes: &ModuleBytes) -> i64 {
    bytes.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}
