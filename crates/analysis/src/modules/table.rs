//! The table of modules at one moment.

use super::call_path::{Place, Step, StepKind};
use super::live::{Live, MODULE_COLUMNS, add, live_at};
use super::named::NamedModules;
use super::pairing::Pairing;
use super::passes::{PassCalls, follow_passes};
use super::places::Places;
use super::reach::{Reached, reach};
use super::real::{ModuleIx, RealModules};
use super::tree::{Merged, NodeIx, from_of, name_of};
use crate::{Attribution, BlockTensors, Categories, Category, named_module};
use foldhash::HashMap;
use oomscope_model::{AllocId, Bytes, Census, Moment, NamedTensor, Recording, StrId, TensorRole};
use oomscope_units as units;
use std::cell::RefCell;

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
    /// A module that the program said it has, that a stack shows, or that metadata names.
    Module {
        /// Its path or the variable that holds it, where the program said so; else its class, or the file and function of its `forward` where classes were not
        /// recorded; or what metadata names it.
        name: String,
        /// The class of a module whose path is known.
        class: Option<String>,
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
    let modules = RealModules::of(recording.snapshot());
    let mut places = Places::new(recording.snapshot(), &modules);
    let live = live_at(recording, &attribution.categories, moment);
    let calls = follow_passes(recording, &attribution.phases.calls, &mut places, &modules, &live);
    let named = NamedModules::of(recording);
    let categories = &attribution.categories;
    let mut builder = Builder {
        recording,
        categories,
        places,
        modules: &modules,
        named,
        origins: HashMap::default(),
        of_texts: RefCell::default(),
    };
    let placed = builder.place(&live, &calls);
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
    categories: &'a Categories,
    places: Places<'a>,
    modules: &'a RealModules<'a>,
    named: NamedModules,
    /// Of modules that are shown below one of the program's, those that stacks show.
    origins: HashMap<NodeIx, NodeIx>,
    /// What texts of metadata name, each asked for once.
    of_texts: RefCell<HashMap<StrId, Option<(ModuleIx, bool)>>>,
}

/// The module of an allocation, and whether that is inferred.
type Found = (NodeIx, bool);

impl Builder<'_> {
    /// Find the place of each live allocation; those that no stack places go by their sizes.
    fn place(&mut self, live: &[Live], calls: &PassCalls) -> PlacedLive {
        let found: Vec<Option<Found>> = live.iter().map(|live| self.module_of(live, calls)).collect();
        let modules = found.iter().map(|found| found.map(|(node, _)| node));
        let tree = &self.places.tree;
        let Merged { shown, parents } = tree.merge(self.recording.snapshot());
        let modules: Vec<Option<NodeIx>> =
            modules.map(|module| module.map(|node| shown[node.index()])).collect();
        let mut pairing = Pairing::new(tree, &parents);
        for (live, module) in live.iter().zip(&modules) {
            pairing.note(MODULE_COLUMNS[live.column], live.size, *module);
        }
        let (outside, not_known) = (tree.nodes.len(), tree.nodes.len() + 1);
        let is_inferred = |found: &Option<Found>| found.is_some_and(|(_, is_inferred)| is_inferred);
        let target = |((live, module), found): ((&Live, &Option<NodeIx>), &Option<Found>)| {
            let category = MODULE_COLUMNS[live.column];
            let is_activation = category == Category::Activation;
            let is_outside = matches!(self.places.known(live.stack), Some(Place::Outside));
            let paired = || pairing.module_of(category, live.size).filter(|_| !is_activation);
            match module.or_else(paired) {
                Some(node) => (node.index(), module.is_none() || is_inferred(found)),
                None if is_activation && is_outside => (outside, false),
                None => (not_known, false),
            }
        };
        let targets: Vec<(usize, bool)> = live.iter().zip(&modules).zip(&found).map(target).collect();
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

    /// The module of an allocation: as the program said, by its stack, by the forward that a gradient belongs to, or by metadata.
    fn module_of(&mut self, live: &Live, calls: &PassCalls) -> Option<Found> {
        if let Some((module, is_inferred)) = self.said_module(live) {
            return Some((self.add_real(module, &[]), is_inferred));
        }
        let is_parameter = MODULE_COLUMNS[live.column] == Category::Parameter;
        match self.places.read(live.stack).clone() {
            Place::Called(path) => return self.called(&path, calls.reached.get(&live.id).copied()),
            Place::Made(path) if is_parameter => return Some((path.last().copied()?, false)),
            _ => {}
        }
        let forward = self.recording.lifetimes.start(live.id).event().and_then(|event| {
            let context = self.recording.events.contexts().get(self.recording.events.context_index(event))?;
            Some(context.forward_stack)
        });
        if let Some(Place::Called(path)) = forward.map(|stack| self.places.read(stack).clone()) {
            return self.called(&path, None);
        }
        let path = self.named.path(self.recording, live.id)?;
        let path: Vec<Step> = path.iter().copied().map(Step::named).collect();
        Some((self.places.tree.add(&path).last().copied()?, false))
    }

    /// The module that has a tensor, or that the program's metadata names, where the program said which modules it has.
    fn said_module(&self, live: &Live) -> Option<(ModuleIx, bool)> {
        let census = &self.recording.snapshot().census;
        let block = BlockTensors::of(self.recording, self.categories, live.id);
        let of_tensor = |tensor: &NamedTensor| {
            let owner = match tensor.role? {
                TensorRole::OptimizerState => tensor.parameter_owner?,
                _ => tensor.owner?,
            };
            self.modules.of_tensor(owner, census.text(tensor.name?))
        };
        let found = block.tensors.iter().find_map(of_tensor).map(|module| (module, block.is_inferred));
        let by_metadata = || {
            let text = *self.named.path(self.recording, live.id)?.last()?;
            *self.of_texts.borrow_mut().entry(text).or_insert_with(|| {
                let name = self.recording.snapshot().strings.name(text);
                self.modules.of_path(named_module(&name)?)
            })
        };
        found.or_else(by_metadata)
    }

    /// The module that a path of calls ends in: of the program as far as that is known, then as stacks show it.
    fn called(&mut self, path: &[NodeIx], by_turn: Option<Reached>) -> Option<Found> {
        let reached = by_turn.or_else(|| reach(self.modules, &self.places.tree, path, None));
        let Some(Reached { module, steps, is_inferred, runs }) = reached else {
            return Some((path.last().copied()?, false));
        };
        let node = self.add_real(module, &path[steps..]);
        if runs == 1 {
            let added = self.places.tree.path_to(node);
            let of_stack = &added[added.len() - (path.len() - steps)..];
            self.origins.extend(of_stack.iter().copied().zip(path[steps..].iter().copied()));
        }
        Some((node, is_inferred))
    }

    /// A module of the program in the tree, or what stacks show below it.
    fn add_real(&mut self, module: ModuleIx, below: &[NodeIx]) -> NodeIx {
        let steps = |node: &NodeIx| self.places.tree.nodes[node.index()].step;
        let path: Vec<Step> =
            self.modules.around(module).into_iter().map(Step::real).chain(below.iter().map(steps)).collect();
        let added = self.places.tree.add(&path);
        added[path.len() - 1]
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
        let snapshot = self.recording.snapshot();
        let place = match step.kind {
            StepKind::Real(module) => real_place(&snapshot.census, self.modules, module),
            StepKind::Call | StepKind::Make | StepKind::Named => ModulePlace::Module {
                name: name_of(snapshot, step),
                class: None,
                from: from_of(snapshot, step),
                is_made: step.kind == StepKind::Make,
            },
        };
        let origin = self.origins.get(&node).copied().unwrap_or(node);
        ModuleRow {
            calls: calls.of(origin),
            by_call: calls.activations(origin).to_vec(),
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

/// The place of a module of the program, by its path; the outermost has none, and is called as the variable that holds it.
fn real_place(census: &Census, modules: &RealModules<'_>, module: ModuleIx) -> ModulePlace {
    let path = modules.path(module);
    let holder = census.owner(modules.owner(module)).holder.map(|at| census.holder(at));
    let variable = holder.map(|holder| census.text(holder.variable)).filter(|_| path.is_empty());
    let class = units::printable(modules.class_name(module));
    let name = variable.or(Some(path).filter(|path| !path.is_empty())).map(units::printable);
    let (name, class) = match name {
        Some(name) => (name, Some(class)),
        None => (class, None),
    };
    ModulePlace::Module { name, class, from: None, is_made: false }
}

fn add_all(totals: &mut ModuleBytes, bytes: &ModuleBytes) {
    totals.iter_mut().zip(bytes).for_each(|(total, &bytes)| add(total, bytes));
}

fn sum(bytes: &ModuleBytes) -> Bytes {
    bytes.iter().copied().sum::<Bytes>()
}
