//! The modules that the program said it has, by their paths and classes.

use foldhash::{HashMap, HashSet};
use oomscope_model::{Census, CensusIx, CensusModule, Frame, NamedTensor, Snapshot, StrId, TensorRole};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Modules with the same last part of their paths that are looked through: as many as a large model has layers.
const MAX_ALIKE: usize = 4096;

/// A module of the census, by its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ModuleIx(pub(super) u32);

/// The modules of a program.
#[derive(Debug, Default)]
pub(super) struct RealModules<'a> {
    modules: &'a [CensusModule],
    parents: Vec<Option<ModuleIx>>,
    children: Vec<Vec<ModuleIx>>,
    by_path: HashMap<(CensusIx, &'a str), ModuleIx>,
    /// Modules by the last part of their paths, whoever has them.
    by_last: HashMap<&'a str, Vec<ModuleIx>>,
    /// By class, those that are within no other, and all.
    roots: HashMap<CensusIx, Vec<ModuleIx>>,
    by_class: HashMap<CensusIx, Vec<ModuleIx>>,
    /// The outermost modules that are trained: they have gradients, or an optimizer has states for them.
    trained: HashSet<CensusIx>,
    /// Whether a class has a `forward`.
    is_called: Vec<bool>,
    /// By file, where the `forward` of each class begins.
    starts: HashMap<StrId, BTreeMap<i64, CensusIx>>,
    census: Option<&'a Census>,
    candidates: RefCell<Answers>,
}

/// The modules that a call of a class may be of, by where it comes from.
type Answers = HashMap<(Option<ModuleIx>, CensusIx), Rc<Candidates>>;

/// The modules that a call may be of.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) modules: Vec<ModuleIx>,
    /// Whether they are entries of one list.
    pub(super) is_list: bool,
    /// Whether others were left out, as they are not trained.
    pub(super) is_inferred: bool,
}

impl<'a> RealModules<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let census = &snapshot.census;
        let modules = census.modules();
        if modules.is_empty() {
            return Self::default();
        }
        let mut out = Self {
            modules,
            parents: vec![None; modules.len()],
            children: vec![Vec::new(); modules.len()],
            is_called: census.classes().iter().map(|class| class.line != 0).collect(),
            starts: starts(snapshot, census),
            census: Some(census),
            trained: trained(census),
            ..Self::default()
        };
        for (module, at) in modules.iter().zip((0..).map(ModuleIx)) {
            let path = census.text(module.path);
            out.by_path.entry((module.owner, path)).or_insert(at);
            out.by_last.entry(last_part(path)).or_default().push(at);
            out.by_class.entry(module.class).or_default().push(at);
        }
        for (module, at) in modules.iter().zip((0..).map(ModuleIx)) {
            match parent_path(census.text(module.path)) {
                None => out.roots.entry(module.class).or_default().push(at),
                Some(path) => {
                    // Only what comes before it is around it, so that there is no circle.
                    let parent =
                        out.by_path.get(&(module.owner, path)).copied().filter(|&parent| parent < at);
                    out.parents[at.0 as usize] = parent;
                    if let Some(parent) = parent {
                        out.children[parent.0 as usize].push(at);
                    }
                }
            }
        }
        out
    }

    /// The class whose `forward` a frame of that name lies in.
    pub(super) fn class_of(&self, frame: Frame) -> Option<CensusIx> {
        let starts = self.starts.get(&frame.file)?;
        starts.range(..=frame.line).next_back().map(|(_, &class)| class)
    }

    /// The module that has a tensor of a name: `blocks.0.qkv` has `blocks.0.qkv.weight`.
    pub(super) fn of_tensor(&self, owner: CensusIx, name: &'a str) -> Option<ModuleIx> {
        let mut path = name;
        while let Some(around) = parent_path(path) {
            if let Some(&found) = self.by_path.get(&(owner, around)) {
                return Some(found);
            }
            path = around;
        }
        None
    }

    /// The module of a path within an outermost module or a part of it, where there is only one, or only one that is trained; and
    /// whether the latter tells.
    pub(super) fn of_path(&self, path: &str) -> Option<(ModuleIx, bool)> {
        let alike = self.by_last.get(last_part(path)).filter(|alike| alike.len() <= MAX_ALIKE)?;
        let is_it = |&&at: &&ModuleIx| {
            let around = self.path(at).strip_suffix(path);
            around.is_some_and(|around| around.is_empty() || around.ends_with('.'))
        };
        let found: Vec<ModuleIx> = alike.iter().filter(is_it).copied().collect();
        match self.preferred(&found).as_slice() {
            [one] => Some((*one, 1 < found.len())),
            _ => None,
        }
    }

    /// Of several modules, those that are trained, if some are.
    fn preferred(&self, modules: &[ModuleIx]) -> Vec<ModuleIx> {
        let is_trained = |at: &ModuleIx| self.trained.contains(&self.modules[at.0 as usize].owner);
        let trained: Vec<ModuleIx> = modules.iter().copied().filter(is_trained).collect();
        if trained.is_empty() { modules.to_vec() } else { trained }
    }

    /// The modules of a class that are called from outside of all: outermost ones, or else any.
    fn called_first(&self, class: CensusIx) -> (Vec<ModuleIx>, bool) {
        let found = self.roots.get(&class).or_else(|| self.by_class.get(&class));
        let found = found.map_or(&[][..], Vec::as_slice);
        let preferred = self.preferred(found);
        let is_inferred = preferred.len() < found.len();
        (preferred, is_inferred)
    }

    /// The path of a module within the outermost one.
    pub(super) fn path(&self, module: ModuleIx) -> &'a str {
        self.census.map_or("", |census| census.text(self.modules[module.0 as usize].path))
    }

    /// The outermost module that it is within.
    pub(super) fn owner(&self, module: ModuleIx) -> CensusIx {
        self.modules[module.0 as usize].owner
    }

    /// The name of its class.
    pub(super) fn class_name(&self, module: ModuleIx) -> &'a str {
        let name = |census: &'a Census| census.text(census.class_of(&self.modules[module.0 as usize]).name);
        self.census.map_or("", name)
    }

    /// A module and those around it, outermost first.
    pub(super) fn around(&self, module: ModuleIx) -> Vec<ModuleIx> {
        let parent = |&at: &ModuleIx| self.parents[at.0 as usize];
        let mut out: Vec<ModuleIx> = std::iter::successors(Some(module), parent).collect();
        out.reverse();
        out
    }

    /// The modules of a class that a call from a module, or from outside of all, may be of; each question is answered once.
    pub(super) fn candidates(&self, from: Option<ModuleIx>, class: CensusIx) -> Rc<Candidates> {
        let mut known = self.candidates.borrow_mut();
        let found = known.entry((from, class)).or_insert_with(|| {
            let (modules, is_inferred) = match from {
                None => self.called_first(class),
                Some(module) => (self.called_by(module, class), false),
            };
            Rc::new(Candidates { is_list: from.is_some() && self.is_list(&modules), modules, is_inferred })
        });
        Rc::clone(found)
    }

    /// Those that a module has itself, or in lists of modules.
    fn called_by(&self, module: ModuleIx, class: CensusIx) -> Vec<ModuleIx> {
        let mut found = Vec::new();
        let mut open: Vec<ModuleIx> = self.children[module.0 as usize].iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            let of = self.modules[at.0 as usize].class;
            if of == class {
                found.push(at);
            } else if !self.is_called[of.0 as usize] {
                open.extend(self.children[at.0 as usize].iter().rev());
            }
        }
        found
    }

    /// Whether some modules are entries of one list: of `ModuleList`, which is never called, or of `Sequential`, whose entries have
    /// numbers.
    fn is_list(&self, modules: &[ModuleIx]) -> bool {
        let parent = |at: ModuleIx| self.parents[at.0 as usize];
        let Some(list) = modules.first().and_then(|&first| parent(first)) else { return false };
        let is_entry = |&at: &ModuleIx| {
            parent(at) == Some(list) && last_part(self.path(at)).bytes().all(|byte| byte.is_ascii_digit())
        };
        modules.iter().all(is_entry)
    }
}

/// The path of the module around another; `None` of the outermost.
fn parent_path(path: &str) -> Option<&str> {
    if path.is_empty() {
        return None;
    }
    Some(path.rsplit_once('.').map_or("", |(around, _)| around))
}

fn trained(census: &Census) -> HashSet<CensusIx> {
    let trained = |tensor: &NamedTensor| match tensor.role? {
        TensorRole::Gradient => tensor.owner,
        TensorRole::OptimizerState => tensor.parameter_owner,
        _ => None,
    };
    let of_optimizers = census.tensors().iter().filter_map(trained);
    let said = census.modules().iter().map(|module| module.owner);
    of_optimizers.chain(said.filter(|&owner| census.owner(owner).is_trained == Some(true))).collect()
}

fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// By file, where the `forward` of each class begins.
fn starts(snapshot: &Snapshot, census: &Census) -> HashMap<StrId, BTreeMap<i64, CensusIx>> {
    let mut by_text: HashMap<&str, BTreeMap<i64, CensusIx>> = HashMap::default();
    for (class, at) in census.classes().iter().zip((0..).map(CensusIx)) {
        if let Some(file) = class.file.filter(|_| class.line != 0) {
            by_text.entry(census.text(file)).or_default().insert(class.line.into(), at);
        }
    }
    let mut out = HashMap::default();
    for frame in snapshot.frames.all() {
        out.entry(frame.file)
            .or_insert_with(|| by_text.remove(&*snapshot.strings.path(frame.file)).unwrap_or_default());
    }
    out
}
