//! The modules that the program said it has, by their paths and classes.

use foldhash::HashMap;
use oomscope_model::{Census, CensusIx, CensusModule, Frame, Snapshot, StrId};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Modules with the same last part of their paths that are looked through: as many as a large model has layers.
const MAX_ALIKE: usize = 4096;

/// A module of the census, by its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ModuleIx(pub(super) u32);

/// A `forward` of the program, which several classes may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ForwardIx(u32);

/// The modules of a program.
#[derive(Debug, Default)]
pub(super) struct RealModules<'a> {
    modules: &'a [CensusModule],
    parents: Vec<Option<ModuleIx>>,
    children: Vec<Vec<ModuleIx>>,
    by_path: HashMap<(CensusIx, &'a str), ModuleIx>,
    /// Modules by the last part of their paths, whoever has them.
    by_last: HashMap<&'a str, Vec<ModuleIx>>,
    /// By `forward`, those that are within no other, and all.
    roots: HashMap<ForwardIx, Vec<ModuleIx>>,
    by_forward: HashMap<ForwardIx, Vec<ModuleIx>>,
    /// The outermost modules that are trained.
    trained: BTreeSet<CensusIx>,
    forwards: Forwards,
    census: Option<&'a Census>,
    candidates: RefCell<Answers>,
    called: RefCell<HashMap<ModuleIx, Rc<Called>>>,
}

/// The modules that a call of a class may be of, by where it comes from.
type Answers = HashMap<(Option<ModuleIx>, ForwardIx), Rc<Candidates>>;

/// The modules that one calls, by their `forward`.
type Called = HashMap<ForwardIx, Vec<ModuleIx>>;

/// Where the `forward` of each class is.
#[derive(Debug, Default)]
struct Forwards {
    /// By class; `None` where it has none.
    of_class: Vec<Option<ForwardIx>>,
    /// By `forward`, the class that has it, where that is one.
    classes: Vec<Option<CensusIx>>,
    /// Whether it is torch's own.
    are_torchs: Vec<bool>,
    /// By file, the first line of each with the last.
    places: HashMap<StrId, BTreeMap<i64, (i64, ForwardIx)>>,
}

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
            forwards: Forwards::of(snapshot),
            census: Some(census),
            trained: census.trained_owners(),
            ..Self::default()
        };
        for (module, at) in modules.iter().zip((0..).map(ModuleIx)) {
            let path = census.text(module.path);
            out.by_path.entry((module.owner, path)).or_insert(at);
            out.by_last.entry(last_part(path)).or_default().push(at);
            if let Some(forward) = out.forwards.of_class[module.class.0 as usize] {
                out.by_forward.entry(forward).or_default().push(at);
                if path.is_empty() {
                    out.roots.entry(forward).or_default().push(at);
                }
            }
        }
        for (module, at) in modules.iter().zip((0..).map(ModuleIx)) {
            let around = parent_path(census.text(module.path));
            let parent = around.and_then(|path| out.by_path.get(&(module.owner, path)).copied());
            // Only what comes before it is around it, so that there is no circle.
            if let Some(parent) = parent.filter(|&parent| parent < at) {
                out.parents[at.0 as usize] = Some(parent);
                out.children[parent.0 as usize].push(at);
            }
        }
        out
    }

    /// The `forward` that a frame of that name lies in, and its class, where only one has it.
    pub(super) fn forward_at(&self, frame: Frame) -> Option<(ForwardIx, Option<CensusIx>)> {
        let (_, &(last, forward)) =
            self.forwards.places.get(&frame.file)?.range(..=frame.line).next_back()?;
        (frame.line <= last).then(|| (forward, self.forwards.classes[forward.0 as usize]))
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
    /// whether that does not follow from the path alone.
    pub(super) fn of_path(&self, path: &str) -> Option<(ModuleIx, bool)> {
        let alike = self.by_last.get(last_part(path)).filter(|alike| alike.len() <= MAX_ALIKE)?;
        let is_it = |&&at: &&ModuleIx| {
            let around = self.path(at).strip_suffix(path);
            around.is_some_and(|around| around.is_empty() || around.ends_with('.'))
        };
        let found: Vec<ModuleIx> = alike.iter().filter(is_it).copied().collect();
        match self.preferred(&found).as_slice() {
            [one] => Some((*one, 1 < found.len() || self.path(*one) != path)),
            _ => None,
        }
    }

    /// Of several modules, those that are trained, if some are.
    fn preferred(&self, modules: &[ModuleIx]) -> Vec<ModuleIx> {
        let is_trained = |at: &ModuleIx| self.trained.contains(&self.modules[at.0 as usize].owner);
        let trained: Vec<ModuleIx> = modules.iter().copied().filter(is_trained).collect();
        if trained.is_empty() { modules.to_vec() } else { trained }
    }

    /// The modules that a call from outside of all may be of, and whether others may be meant.
    fn called_first(&self, forward: ForwardIx) -> (Vec<ModuleIx>, bool) {
        let all = self.by_forward.get(&forward).map_or(&[][..], Vec::as_slice);
        if all.len() < 2 {
            return (all.to_vec(), false);
        }
        // A layer of torch's may be called by itself, wherever it is.
        let is_torchs = self.forwards.are_torchs[forward.0 as usize];
        let roots = self.roots.get(&forward).filter(|_| !is_torchs);
        (self.preferred(roots.map_or(&[][..], Vec::as_slice)), true)
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

    /// The modules that a call from a module, or from outside of all, may be of; each question is answered once.
    pub(super) fn candidates(&self, from: Option<ModuleIx>, forward: ForwardIx) -> Rc<Candidates> {
        let mut known = self.candidates.borrow_mut();
        let found = known.entry((from, forward)).or_insert_with(|| {
            let (modules, is_inferred) = match from {
                None => self.called_first(forward),
                Some(module) => (self.called_by(module).get(&forward).cloned().unwrap_or_default(), false),
            };
            Rc::new(Candidates { is_list: from.is_some() && self.is_list(&modules), modules, is_inferred })
        });
        Rc::clone(found)
    }

    /// What a module may call: what it has itself, or in lists of modules.
    fn called_by(&self, module: ModuleIx) -> Rc<Called> {
        let mut known = self.called.borrow_mut();
        let found = known.entry(module).or_insert_with(|| {
            let mut found = Called::default();
            let mut open: Vec<ModuleIx> = self.children[module.0 as usize].iter().rev().copied().collect();
            while let Some(at) = open.pop() {
                match self.forwards.of_class[self.modules[at.0 as usize].class.0 as usize] {
                    Some(forward) => found.entry(forward).or_default().push(at),
                    None => open.extend(self.children[at.0 as usize].iter().rev()),
                }
            }
            Rc::new(found)
        });
        Rc::clone(found)
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

fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

impl Forwards {
    fn of(snapshot: &Snapshot) -> Self {
        let census = &snapshot.census;
        let mut out = Self::default();
        let mut known: HashMap<(&str, u32), ForwardIx> = HashMap::default();
        let mut by_file: HashMap<&str, BTreeMap<i64, (i64, ForwardIx)>> = HashMap::default();
        for (class, at) in census.classes().iter().zip((0..).map(CensusIx)) {
            let Some(file) = class.file.filter(|_| class.line != 0) else {
                out.of_class.push(None);
                continue;
            };
            let file = census.text(file);
            let next = ForwardIx(out.classes.len() as u32);
            let forward = *known.entry((file, class.line)).or_insert(next);
            if forward == next {
                out.classes.push(Some(at));
                out.are_torchs.push(file.replace('\\', "/").contains("/torch/nn/"));
                let place = (class.last_line.into(), forward);
                by_file.entry(file).or_default().insert(class.line.into(), place);
            } else {
                out.classes[forward.0 as usize] = None;
            }
            out.of_class.push(Some(forward));
        }
        for frame in snapshot.frames.all() {
            out.places
                .entry(frame.file)
                .or_insert_with(|| by_file.remove(&*snapshot.strings.path(frame.file)).unwrap_or_default());
        }
        out
    }
}
