//! The table of modules at one moment.

use super::call_path::{Place, Step, StepKind};
use super::live::{Live, MODULE_COLUMNS, add, live_at};
use super::named::NamedModules;
use super::pairing::Pairing;
use super::passes::{PassCalls, follow_passes};
use super::places::Places;
use super::tree::{Merged, NodeIx, from_of, name_of};
use crate::{Attribution, Category};
use oomscope_model::{AllocId, Bytes, Moment, Recording};

/// Bytes in the order of [`MODULE_COLUMNS`].
pub type ModuleBytes = [Bytes; MODULE_COLUMNS.len()];

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
    pub by_call: Vec<Bytes>,
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
pub fn module_table(recording: &Recording, attribution: &Attribution, moment: Moment) -> ModuleTable {
    placed_modules(recording, attribution, moment).0
}

/// The table, and for each allocation that it is about the index of its row, in allocation order.
pub(crate) fn placed_modules(
    recording: &Recording,
    attribution: &Attribution,
    moment: Moment,
) -> (ModuleTable, Vec<(AllocId, usize)>) {
    let named = NamedModules::of(recording);
    let mut builder = Builder { recording, places: Places::new(recording.snapshot()), named };
    let live = live_at(recording, &attribution.categories, moment);
    let calls = follow_passes(recording, &attribution.phases.calls, &mut builder.places, &live);
    let placed = builder.place(&live);
    let (table, rows) = builder.finish(moment, &placed, &calls);
    let row = |(live, &(place, _)): (&Live, &(usize, bool))| Some((live.id, rows[place]?));
    let rows = live.iter().zip(&placed.targets).filter_map(row).collect();
    (table, rows)
}

/// Live allocations with their places: each module by its node, then what is outside of modules, then what is not known.
struct PlacedLive {
    /// By live allocation, its place, and whether that is inferred.
    targets: Vec<(usize, bool)>,
    /// By place.
    own: Vec<ModuleBytes>,
    own_inferred: Vec<ModuleBytes>,
    /// By node, the module that it is shown below.
    parents: Vec<Option<NodeIx>>,
}

struct Builder<'a> {
    recording: &'a Recording,
    places: Places<'a>,
    named: NamedModules,
}

impl Builder<'_> {
    /// Find the place of each live allocation; those that no stack places go by their sizes.
    fn place(&mut self, live: &[Live]) -> PlacedLive {
        let modules: Vec<Option<NodeIx>> = live.iter().map(|live| self.module_of(live)).collect();
        let tree = &self.places.tree;
        let Merged { shown, parents } = tree.merge(self.recording.snapshot());
        let modules: Vec<Option<NodeIx>> =
            modules.into_iter().map(|module| module.map(|node| shown[node.index()])).collect();
        let mut pairing = Pairing::new(tree, &parents);
        for (live, module) in live.iter().zip(&modules) {
            pairing.note(MODULE_COLUMNS[live.column], live.size, *module);
        }
        let (outside, not_known) = (tree.nodes.len(), tree.nodes.len() + 1);
        let target = |(live, module): (&Live, &Option<NodeIx>)| {
            let category = MODULE_COLUMNS[live.column];
            let is_activation = category == Category::Activation;
            let is_outside = matches!(self.places.known(live.stack), Some(Place::Outside));
            let paired = || pairing.module_of(category, live.size).filter(|_| !is_activation);
            match module.or_else(paired) {
                Some(node) => (node.index(), module.is_none()),
                None if is_activation && is_outside => (outside, false),
                None => (not_known, false),
            }
        };
        let targets: Vec<(usize, bool)> = live.iter().zip(&modules).map(target).collect();
        let mut own = vec![ModuleBytes::default(); not_known + 1];
        let mut own_inferred = own.clone();
        for (live, &(place, is_inferred)) in live.iter().zip(&targets) {
            add(&mut own[place][live.column], live.size);
            if is_inferred {
                add(&mut own_inferred[place][live.column], live.size);
            }
        }
        PlacedLive { targets, own, own_inferred, parents }
    }

    /// The module of an allocation by its stack, by the forward that a gradient belongs to, or by metadata.
    fn module_of(&mut self, live: &Live) -> Option<NodeIx> {
        let is_parameter = MODULE_COLUMNS[live.column] == Category::Parameter;
        match self.places.read(live.stack) {
            Place::Called(path) => return path.last().copied(),
            Place::Made(path) if is_parameter => return path.last().copied(),
            _ => {}
        }
        let forward = self.recording.lifetimes.start(live.id).event().and_then(|event| {
            let context = self.recording.events.contexts().get(self.recording.events.context_index(event))?;
            Some(context.forward_stack)
        });
        if let Some(Place::Called(path)) = forward.map(|stack| self.places.read(stack)) {
            return path.last().copied();
        }
        let path = self.named.path(self.recording, live.id)?;
        let path: Vec<Step> = path.iter().copied().map(Step::named).collect();
        self.places.tree.add(&path).last().copied()
    }

    /// The table, and the row of each place.
    fn finish(
        &self,
        moment: Moment,
        placed: &PlacedLive,
        calls: &PassCalls,
    ) -> (ModuleTable, Vec<Option<usize>>) {
        let nodes = &self.places.tree.nodes;
        let (mut totals, mut inferred) = (placed.own.clone(), placed.own_inferred.clone());
        let mut children: Vec<Vec<NodeIx>> = vec![Vec::new(); nodes.len()];
        let mut roots = Vec::new();
        // The deepest first, so that each is complete when it is added.
        let mut deepest_first: Vec<NodeIx> = self.places.tree.ids().collect();
        deepest_first.sort_by_key(|node| std::cmp::Reverse(nodes[node.index()].depth));
        for node in deepest_first {
            let below = totals[node.index()];
            match placed.parents[node.index()] {
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
        let mut rows: Vec<ModuleRow> = Vec::new();
        let mut row_of = vec![None; placed.own.len()];
        let mut push = |at: usize, row: ModuleRow| {
            row_of[at] = Some(rows.len());
            rows.push(ModuleRow {
                own: placed.own[at],
                own_inferred: placed.own_inferred[at],
                total: totals[at],
                total_inferred: inferred[at],
                ..row
            });
        };
        let largest_last = |list: &mut Vec<NodeIx>| {
            list.sort_by_key(|node| (sum(&totals[node.index()]), std::cmp::Reverse(node.0)));
        };
        largest_last(&mut roots);
        let mut open: Vec<(NodeIx, usize)> = roots.into_iter().map(|node| (node, 0)).collect();
        while let Some((node, depth)) = open.pop() {
            push(node.index(), ModuleRow { depth, ..self.row(node, calls) });
            let mut below = std::mem::take(&mut children[node.index()]);
            largest_last(&mut below);
            open.extend(below.into_iter().map(|child| (child, depth + 1)));
        }
        for (place, at) in [ModulePlace::Outside, ModulePlace::NotKnown].into_iter().zip(nodes.len()..) {
            if placed.own[at] != ModuleBytes::default() {
                push(at, ModuleRow::empty(place));
            }
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
            name: name_of(self.recording.snapshot(), step),
            from: from_of(self.recording.snapshot(), step),
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

fn sum(bytes: &ModuleBytes) -> Bytes {
    bytes.iter().copied().sum::<Bytes>()
}
