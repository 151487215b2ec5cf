//! The table of modules at one moment.

use super::call_path::{Step, StepKind};
use super::live::{Live, MODULE_COLUMNS, add, live_at};
use super::named::NamedModules;
use super::pairing::Pairing;
use super::passes::{PassCalls, follow_passes};
use super::places::{Place, Places};
use super::tree::{Merged, NodeIx, from_of, name_of};
use crate::analysis::{Attribution, Category};
use crate::model::{AllocId, Moment, Snapshot, Timeline};

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
    /// A module that a stack shows, or that metadata names.
    Module {
        /// Its class, or the file and function of its `forward` where classes were not recorded; or what metadata names it.
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
    placed_modules(snapshot, timeline, attribution, moment).0
}

/// The table, and for each allocation that it is about the index of its row, in allocation order.
pub(in crate::analysis) fn placed_modules(
    snapshot: &Snapshot,
    timeline: &Timeline,
    attribution: &Attribution,
    moment: Moment,
) -> (ModuleTable, Vec<(AllocId, usize)>) {
    let named = NamedModules::of(snapshot, timeline);
    let mut builder = Builder { snapshot, timeline, places: Places::new(snapshot), named };
    let live = live_at(timeline, &attribution.categories, moment);
    let calls = follow_passes(timeline, &attribution.phases.calls, &mut builder.places, &live);
    let merged = builder.place_modules(&live);
    let targets = builder.targets(&live, &merged);
    let bytes = builder.add_up(&live, &targets);
    let (table, rows) = builder.finish(moment, &bytes, &merged.parents, &calls);
    let placed = live.iter().zip(&targets).filter_map(|(live, target)| Some((live.id, rows.of(*target)?)));
    let placed = placed.collect();
    (table, placed)
}

/// The place of a live allocation in the table.
#[derive(Debug, Clone, Copy)]
enum Target {
    Module { node: NodeIx, is_inferred: bool },
    Outside,
    NotKnown,
}

/// The rows of modules, and of the places that are none.
#[derive(Debug, Default)]
struct RowOf {
    /// By node.
    module: Vec<Option<usize>>,
    outside: Option<usize>,
    not_known: Option<usize>,
}

impl RowOf {
    fn of(&self, target: Target) -> Option<usize> {
        match target {
            Target::Module { node, .. } => self.module.get(node.index()).copied().flatten(),
            Target::Outside => self.outside,
            Target::NotKnown => self.not_known,
        }
    }
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

struct Builder<'a> {
    snapshot: &'a Snapshot,
    timeline: &'a Timeline,
    places: Places<'a>,
    named: NamedModules,
}

impl Builder<'_> {
    /// Find the module of each live allocation, as far as stacks show it.
    fn place_modules(&mut self, live: &[Live]) -> PlacedModules {
        let modules: Vec<Option<NodeIx>> = live.iter().map(|live| self.module_of(live)).collect();
        let Merged { shown, parents } = self.places.tree.merge(self.snapshot);
        let modules = modules.into_iter().map(|module| module.map(|node| shown[node.index()])).collect();
        PlacedModules { modules, parents }
    }

    /// The place of each live allocation; those that no stack places go by their sizes.
    fn targets(&self, live: &[Live], placed: &PlacedModules) -> Vec<Target> {
        let mut pairing = Pairing::new(&self.places.tree, &placed.parents);
        for (live, module) in live.iter().zip(&placed.modules) {
            pairing.note(MODULE_COLUMNS[live.column], live.size, *module);
        }
        let target = |(live, module): (&Live, &Option<NodeIx>)| {
            let category = MODULE_COLUMNS[live.column];
            let is_activation = category == Category::Activation;
            let is_outside = matches!(self.places.known(live.stack), Some(Place::Outside));
            let paired = || pairing.module_of(category, live.size).filter(|_| !is_activation);
            match module.or_else(paired) {
                Some(node) => Target::Module { node, is_inferred: module.is_none() },
                None if is_activation && is_outside => Target::Outside,
                None => Target::NotKnown,
            }
        };
        live.iter().zip(&placed.modules).map(target).collect()
    }

    /// Add up the live allocations of each place.
    fn add_up(&self, live: &[Live], targets: &[Target]) -> PlacedBytes {
        let nothing = || vec![ModuleBytes::default(); self.places.tree.nodes.len()];
        let mut out = PlacedBytes { own: nothing(), inferred: nothing(), ..PlacedBytes::default() };
        for (live, target) in live.iter().zip(targets) {
            let place = match *target {
                Target::Module { node, is_inferred } => {
                    if is_inferred {
                        add(&mut out.inferred[node.index()][live.column], live.size);
                    }
                    &mut out.own[node.index()]
                }
                Target::Outside => &mut out.outside,
                Target::NotKnown => &mut out.not_known,
            };
            add(&mut place[live.column], live.size);
        }
        out
    }

    /// The module of an allocation by its stack, by the forward that a gradient belongs to, or by metadata.
    fn module_of(&mut self, live: &Live) -> Option<NodeIx> {
        let is_parameter = MODULE_COLUMNS[live.column] == Category::Parameter;
        match self.places.read(live.stack) {
            Place::Called(path) => return path.last().copied(),
            Place::Made(path) if is_parameter => return path.last().copied(),
            _ => {}
        }
        let forward = self.timeline.lifetimes.start(live.id).event().and_then(|event| {
            let context = self.timeline.events.contexts().get(self.timeline.events.context_index(event))?;
            Some(context.forward_stack)
        });
        if let Some(Place::Called(path)) = forward.map(|stack| self.places.read(stack)) {
            return path.last().copied();
        }
        let path = self.named.path(self.timeline, live.id)?;
        let path: Vec<Step> = path.iter().copied().map(Step::named).collect();
        self.places.tree.add(&path).last().copied()
    }

    fn finish(
        self,
        moment: Moment,
        bytes: &PlacedBytes,
        parents: &[Option<NodeIx>],
        calls: &PassCalls,
    ) -> (ModuleTable, RowOf) {
        let nodes = &self.places.tree.nodes;
        let (mut totals, mut inferred) = (bytes.own.clone(), bytes.inferred.clone());
        let mut children: Vec<Vec<NodeIx>> = vec![Vec::new(); nodes.len()];
        let mut roots = Vec::new();
        // The deepest first, so that each is complete when it is added.
        let mut deepest_first: Vec<NodeIx> = self.places.tree.ids().collect();
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
        let mut row_of = RowOf { module: vec![None; nodes.len()], ..RowOf::default() };
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
            row_of.module[node.index()] = Some(rows.len());
            rows.push(row);
            let mut below = std::mem::take(&mut children[node.index()]);
            largest_last(&mut below);
            open.extend(below.into_iter().map(|child| (child, depth + 1)));
        }
        let rest = [(ModulePlace::Outside, bytes.outside), (ModulePlace::NotKnown, bytes.not_known)];
        for (place, own) in rest.into_iter().filter(|(_, own)| *own != ModuleBytes::default()) {
            let row = if place == ModulePlace::Outside { &mut row_of.outside } else { &mut row_of.not_known };
            *row = Some(rows.len());
            rows.push(ModuleRow { own, total: own, ..ModuleRow::empty(place) });
        }
        let mut total = ModuleBytes::default();
        for row in &rows {
            add_all(&mut total, &row.own);
        }
        (ModuleTable { moment, rows, total }, row_of)
    }

    /// The row of a module, without its bytes.
    fn row(&self, node: NodeIx, calls: &PassCalls) -> ModuleRow {
        let step = &self.places.tree.nodes[node.index()].step;
        let place = ModulePlace::Module {
            name: name_of(self.snapshot, step),
            from: from_of(self.snapshot, step),
            is_made: step.kind == StepKind::Make,
        };
        ModuleRow {
            calls: calls.of(node),
            by_call: calls.activations(node).to_vec(),
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

fn add_all(totals: &mut ModuleBytes, bytes: &ModuleBytes) {
    totals.iter_mut().zip(bytes).for_each(|(total, &bytes)| add(total, bytes));
}

fn sum(bytes: &ModuleBytes) -> i64 {
    bytes.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}
