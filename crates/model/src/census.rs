//! A census: the tensors that the program could reach when the snapshot was written, with the names that it gave them.

use super::{Bytes, DeviceId};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// torch refuses tensors with more.
const MAX_DIMENSIONS: usize = 64;

/// The place of a text, a shape or an owner in a [`Census`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CensusIx(pub u32);

/// What a tensor is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TensorRole {
    /// A parameter of a module.
    Parameter,
    /// A buffer of a module.
    Buffer,
    /// The gradient of a leaf.
    Gradient,
    /// A state that an optimizer keeps of a parameter.
    OptimizerState,
    /// A parameter that an optimizer has and no module: a copy of higher precision, as a rule.
    OptimizerParameter,
    /// What an operation has saved for its backward.
    Saved,
}

impl TensorRole {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Parameter,
        Self::Buffer,
        Self::Gradient,
        Self::OptimizerState,
        Self::OptimizerParameter,
        Self::Saved,
    ];

    /// Its name in files and in words, with `_` for spaces.
    pub fn key(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Buffer => "buffer",
            Self::Gradient => "gradient",
            Self::OptimizerState => "optimizer_state",
            Self::OptimizerParameter => "optimizer_parameter",
            Self::Saved => "saved",
        }
    }

    /// The role of a name.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.key() == key)
    }
}

/// An outermost module or an optimizer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CensusOwner {
    /// Whether it is an optimizer, not a module.
    pub is_optimizer: bool,
    /// Its class.
    pub class: CensusIx,
    /// Its number among all owners, from 0.
    pub number: u32,
    /// The variable that leads to it.
    pub holder: Option<CensusIx>,
    /// Whether an optimizer has one of its parameters; `None` where the file does not say so.
    pub is_trained: Option<bool>,
}

/// A variable that leads to tensors by references.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorHolder {
    /// The variable, with attributes up to the first list or dictionary: `self.history`.
    pub variable: CensusIx,
    /// The whole way to one of its tensors: `self.history[17]`.
    pub example: CensusIx,
    /// The function that was running, or the module, whose variable it is.
    pub function: CensusIx,
    /// Its file.
    pub file: CensusIx,
    /// The line at which it stood; 0 for a module.
    pub line: u32,
    /// The type of the list or dictionary that it is, such as `deque`.
    pub collection: Option<CensusIx>,
}

/// A tensor on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedTensor {
    /// The device.
    pub device: DeviceId,
    /// The first byte of its storage, which other tensors may share.
    pub addr: u64,
    /// The bytes of its storage.
    pub bytes: Bytes,
    /// The type of its elements, such as `float32`.
    pub dtype: CensusIx,
    /// Its dimensions.
    pub shape: CensusIx,
    /// Whether autograd records what is made of it.
    pub requires_grad: bool,
    /// The kind of the operation that made it, such as `MulBackward0`, where its graph is kept.
    pub grad_fn: Option<CensusIx>,
    /// What it is, where a module or an optimizer has it.
    pub role: Option<TensorRole>,
    /// The path of the parameter or buffer that it is or belongs to.
    pub name: Option<CensusIx>,
    /// Who has it.
    pub owner: Option<CensusIx>,
    /// Which of an optimizer's states it is, such as `exp_avg`; of what is saved, the operation.
    pub key: Option<CensusIx>,
    /// The dimensions of what it is a shard of.
    pub whole: Option<CensusIx>,
    /// The variable that leads to it, where it has no other name.
    pub holder: Option<CensusIx>,
    /// Of an optimizer's state, who has the parameter that it is of.
    pub parameter_owner: Option<CensusIx>,
}

impl NamedTensor {
    /// A tensor of which nothing else is known.
    pub fn new(device: DeviceId, addr: u64, bytes: Bytes) -> Self {
        Self {
            device,
            addr,
            bytes,
            dtype: CensusIx(0),
            shape: CensusIx(0),
            requires_grad: false,
            grad_fn: None,
            role: None,
            name: None,
            owner: None,
            key: None,
            whole: None,
            holder: None,
            parameter_owner: None,
        }
    }
}

/// A module within an outermost one, or that itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CensusModule {
    /// The outermost module.
    pub owner: CensusIx,
    /// The path within it, as `blocks.0.attn`; empty for itself.
    pub path: CensusIx,
    /// Its class, among the [`Census::classes`].
    pub class: CensusIx,
}

/// A class of modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleClass {
    /// Its name.
    pub name: CensusIx,
    /// The file of its `forward`; `None` where it has none of its own, as a list of modules.
    pub file: Option<CensusIx>,
    /// The first line of its `forward`.
    pub line: u32,
    /// The last one.
    pub last_line: u32,
}

/// The tensors of a program, by device and address.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Census {
    tensors: Vec<NamedTensor>,
    texts: Vec<String>,
    shapes: Vec<Vec<i64>>,
    owners: Vec<CensusOwner>,
    holders: Vec<TensorHolder>,
    modules: Vec<CensusModule>,
    classes: Vec<ModuleClass>,
    began_us: Option<i64>,
    missing: Missing,
}

/// What places in a census may lead to.
#[derive(Clone, Copy)]
struct Known<'a> {
    texts: &'a [String],
    holders: &'a [TensorHolder],
    owners: &'a [CensusOwner],
}

impl<'a> Known<'a> {
    fn is_text(self, at: CensusIx) -> bool {
        (at.0 as usize) < self.texts.len()
    }

    /// A holder whose own places are all there.
    fn holder(self, at: CensusIx) -> Option<&'a TensorHolder> {
        let holder = self.holders.get(at.0 as usize)?;
        let texts = [holder.variable, holder.example, holder.function, holder.file];
        texts.into_iter().chain(holder.collection).all(|at| self.is_text(at)).then_some(holder)
    }

    /// An owner whose own places are all there.
    fn owner(self, at: CensusIx) -> Option<&'a CensusOwner> {
        let owner = self.owners.get(at.0 as usize)?;
        (self.is_text(owner.class) && owner.holder.is_none_or(|at| self.holder(at).is_some()))
            .then_some(owner)
    }
}

/// What a census had no time for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Some tensors.
    pub tensors: bool,
    /// The variables that hold some of them, where they were looked for.
    pub holders: bool,
}

impl Census {
    /// Of tensors whose places are all within the texts, shapes, owners and holders; others are left out.
    pub fn new(
        mut tensors: Vec<NamedTensor>,
        texts: Vec<String>,
        shapes: Vec<Vec<i64>>,
        owners: Vec<CensusOwner>,
        holders: Vec<TensorHolder>,
    ) -> Self {
        let known = Known { texts: &texts, holders: &holders, owners: &owners };
        let is_text = |at: &CensusIx| known.is_text(*at);
        let is_shape =
            |at: &CensusIx| shapes.get(at.0 as usize).is_some_and(|shape| shape.len() <= MAX_DIMENSIONS);
        let is_holder = |at: &CensusIx| known.holder(*at).is_some();
        let is_owner = |at: &CensusIx| known.owner(*at).is_some();
        tensors.retain(|tensor| {
            is_text(&tensor.dtype)
                && [tensor.grad_fn, tensor.name, tensor.key].iter().flatten().all(is_text)
                && is_shape(&tensor.shape)
                && tensor.whole.iter().all(is_shape)
                && tensor.owner.iter().chain(&tensor.parameter_owner).all(is_owner)
                && tensor.holder.iter().all(is_holder)
        });
        // Of those of one storage, named ones come first, the largest of them before others: a bucket has hundreds of gradients.
        let elements = |tensor: &NamedTensor| {
            let shape = &shapes[tensor.shape.0 as usize];
            shape.iter().fold(1i64, |product, &size| product.saturating_mul(size))
        };
        tensors.sort_by_cached_key(|tensor| {
            (tensor.device, tensor.addr, tensor.role.is_none(), Reverse(elements(tensor)))
        });
        Self { tensors, texts, shapes, owners, holders, ..Self::default() }
    }

    /// The same with the modules within the owners; those whose places are not within the texts, owners and classes are left out, and all
    /// of them where a class is not whole.
    #[must_use]
    pub fn with_modules(self, mut modules: Vec<CensusModule>, classes: Vec<ModuleClass>) -> Self {
        let known = Known { texts: &self.texts, holders: &self.holders, owners: &self.owners };
        let is_text = |at: &CensusIx| known.is_text(*at);
        if !classes.iter().all(|class| is_text(&class.name) && class.file.iter().all(is_text)) {
            return self;
        }
        let is_class = |at: CensusIx| (at.0 as usize) < classes.len();
        let is_owner = |at: CensusIx| known.owner(at).is_some_and(|owner| !owner.is_optimizer);
        modules.retain(|module| is_owner(module.owner) && is_text(&module.path) && is_class(module.class));
        Self { modules, classes, ..self }
    }

    /// The same, taken from a time on, in microseconds since 1970.
    #[must_use]
    pub fn begun_at(self, began_us: Option<i64>) -> Self {
        Self { began_us, ..self }
    }

    /// The same, without what there was no time for.
    #[must_use]
    pub fn without(self, missing: Missing) -> Self {
        Self { missing, ..self }
    }

    /// The same with storages at other addresses; tensors without a new one are left out.
    #[must_use]
    pub fn moved(self, to: impl Fn(DeviceId, u64) -> Option<u64>) -> Self {
        let moved =
            |tensor: NamedTensor| Some(NamedTensor { addr: to(tensor.device, tensor.addr)?, ..tensor });
        let mut tensors: Vec<NamedTensor> = self.tensors.into_iter().filter_map(moved).collect();
        // Stable: the tensors of one storage keep their order.
        tensors.sort_by_key(|tensor| (tensor.device, tensor.addr));
        Self { tensors, ..self }
    }

    /// What there was no time for.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// When it was begun, in microseconds since 1970: it knows nothing of what was allocated later by other threads.
    pub fn began_us(&self) -> Option<i64> {
        self.began_us
    }

    /// All tensors, by device and address; those with a role first.
    pub fn tensors(&self) -> &[NamedTensor] {
        &self.tensors
    }

    /// The tensors whose storage begins at an address.
    pub fn at(&self, device: DeviceId, addr: u64) -> &[NamedTensor] {
        let from = self.tensors.partition_point(|tensor| (tensor.device, tensor.addr) < (device, addr));
        let rest = &self.tensors[from..];
        &rest[..rest.partition_point(|tensor| (tensor.device, tensor.addr) == (device, addr))]
    }

    /// A text.
    pub fn text(&self, at: CensusIx) -> &str {
        &self.texts[at.0 as usize]
    }

    /// A list of dimensions.
    pub fn dimensions(&self, at: CensusIx) -> &[i64] {
        &self.shapes[at.0 as usize]
    }

    /// A holder.
    pub fn holder(&self, at: CensusIx) -> &TensorHolder {
        &self.holders[at.0 as usize]
    }

    /// The variable that leads to a tensor, itself or through the module or optimizer that has it.
    pub fn holder_of(&self, tensor: &NamedTensor) -> Option<CensusIx> {
        tensor.holder.or_else(|| self.owner(tensor.owner?).holder)
    }

    /// The modules, each before those within it, as the program has them in order.
    pub fn modules(&self) -> &[CensusModule] {
        &self.modules
    }

    /// The classes of modules.
    pub fn classes(&self) -> &[ModuleClass] {
        &self.classes
    }

    /// The class of a module.
    pub fn class_of(&self, module: &CensusModule) -> ModuleClass {
        self.classes[module.class.0 as usize]
    }

    /// The outermost modules that are trained: an optimizer has one of their parameters or states of them, or one has a gradient.
    pub fn trained_owners(&self) -> BTreeSet<CensusIx> {
        let shows = |tensor: &NamedTensor| match tensor.role? {
            TensorRole::Gradient => tensor.owner,
            TensorRole::OptimizerState => tensor.parameter_owner,
            _ => None,
        };
        let said = (0..self.owners.len() as u32).map(CensusIx);
        let said = said.filter(|&at| self.owners[at.0 as usize].is_trained == Some(true));
        self.tensors.iter().filter_map(shows).chain(said).collect()
    }

    /// An owner.
    pub fn owner(&self, at: CensusIx) -> &CensusOwner {
        &self.owners[at.0 as usize]
    }
}
