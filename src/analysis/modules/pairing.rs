//! The module of memory whose stack shows none, by its size.

use super::table::MODULE_COLUMNS;
use super::tree::NodeIx;
use crate::analysis::Category;
use foldhash::HashMap;

/// How many states of its own size an optimizer keeps for one parameter at most: two averages, the largest of one of them
/// (`amsgrad`), and a copy of the parameter.
const MAX_STATES: usize = 4;

/// Allocations of one size and category.
#[derive(Debug, Clone, Copy, Default)]
struct OfSize {
    known: usize,
    not_known: usize,
    /// The module of the known ones.
    module: Option<NodeIx>,
    /// Whether the known ones are of several modules.
    is_several: bool,
}

/// Sizes of parameters, gradients and state, and the modules that have them.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    by_size: HashMap<(Category, i64), OfSize>,
}

impl Pairing {
    /// Note an allocation, and its module if that is known.
    pub(super) fn note(&mut self, category: Category, size: i64, module: Option<NodeIx>) {
        let of_size = self.by_size.entry((category, size)).or_default();
        match module {
            None => of_size.not_known += 1,
            Some(module) => {
                of_size.known += 1;
                of_size.is_several |= of_size.module.replace(module).is_some_and(|other| other != module);
            }
        }
    }

    /// The module of an allocation that no stack shows, if only one has parameters or gradients of its size, and not fewer
    /// than there are such allocations.
    pub(super) fn module_of(&self, category: Category, size: i64) -> Option<NodeIx> {
        let wanted = self.by_size.get(&(category, size)).copied().unwrap_or_default();
        let sources = [Category::Parameter, Category::Gradient];
        let known = sources.iter().filter(|&&source| source != category);
        let known = known.filter_map(|&source| self.by_size.get(&(source, size))).find(|of| of.known != 0)?;
        let per_parameter = if category == Category::OptimizerState { MAX_STATES } else { 1 };
        let all = wanted.known + wanted.not_known;
        let is_clear = !known.is_several && known.not_known == 0 && all <= known.known * per_parameter;
        // Those of this category that are known must be of the same module.
        let agrees = wanted.known == 0 || (!wanted.is_several && wanted.module == known.module);
        debug_assert!(MODULE_COLUMNS.contains(&category), "only columns are paired");
        known.module.filter(|_| is_clear && agrees)
    }
}
