//! Yes-or-no facts about a stack, as a set of bits.

/// Something that a stack shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StackTrait {
    /// In a function of a key/value cache.
    InCache,
    /// A decorator switches gradients off.
    NoGrad,
    /// In a part of a model that checkpointing will compute again.
    Checkpointed,
    /// In an `__init__` of the program's own.
    InInit,
    /// In an `__init__` of the program's own, with a device set from outside.
    InitOnDevice,
    /// In a function of the program's own that works as a model.
    InOwnModel,
    /// In a function of `torch.nn.functional`.
    InFunctional,
    /// A function of the program's own is named as one that makes or loads weights.
    MakesWeights,
    /// A function that initialises weights made it.
    InitsWeights,
    /// The innermost function of the program's own is named as one that steps an optimizer.
    InnermostNamedStep,
    /// Some function of the program's own is named as one that steps an optimizer.
    AnyNamedStep,
    /// An optimizer's step is under way, maybe further out: a closure that the step calls has this trait, too.
    WithinStep,
    /// In the step of an optimizer that the program defines.
    InOwnOptimizer,
    /// In a function that perturbs parameters for a second backward.
    Perturbs,
    /// Names of functions say that this is evaluation or inference.
    NamedEval,
    /// Names of functions say that this may be evaluation or inference.
    MaybeEval,
    /// In a function that an optimizer calls within its step. This and the traits below matter only while a stack is read.
    InClosure,
    /// Starts where a thread of the program does.
    HasRoot,
    /// Shows the autograd engine at work.
    HasEngine,
    /// Shows the call that starts the autograd engine.
    StartsBackward,
    /// Shows that call further in than any checkpointing.
    StartsBackwardInCheckpoint,
    /// Shows activation checkpointing.
    HasCheckpoint,
    /// FSDP puts a parameter together.
    Unshards,
    /// torch makes a device the current one for constructors.
    SetsDevice,
    /// `copy.deepcopy` goes through a dict.
    CopiesDict,
    /// `copy.deepcopy` goes through an object.
    CopiesObject,
    /// `copy.deepcopy` goes through a tensor.
    CopiesTensor,
}

/// A set of traits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StackTraits(u32);

impl StackTraits {
    /// Whether a trait is in the set.
    #[inline]
    pub(crate) const fn has(self, wanted: StackTrait) -> bool {
        self.0 & bit(wanted) != 0
    }

    /// Those of the wanted traits that are in the set.
    pub(super) fn only(self, wanted: &[StackTrait]) -> Self {
        Self(wanted.iter().fold(0, |bits, &one| bits | (self.0 & bit(one))))
    }

    /// Add a trait.
    pub(super) fn add(&mut self, new: StackTrait) {
        self.0 |= bit(new);
    }

    /// Add a trait if a condition holds.
    pub(super) fn add_if(&mut self, new: StackTrait, holds: bool) {
        self.0 |= bit(new) * u32::from(holds);
    }

    /// Take a trait out.
    pub(super) fn remove(&mut self, old: StackTrait) {
        self.0 &= !bit(old);
    }
}

const fn bit(of: StackTrait) -> u32 {
    1 << of as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_come_and_go_one_by_one() {
        let mut traits = StackTraits::default();
        traits.add(StackTrait::InCache);
        traits.add_if(StackTrait::CopiesTensor, true);
        traits.add_if(StackTrait::NoGrad, false);
        let has =
            [StackTrait::InCache, StackTrait::CopiesTensor, StackTrait::NoGrad].map(|one| traits.has(one));
        assert_eq!(has, [true, true, false]);
        traits.remove(StackTrait::InCache);
        assert!(!traits.has(StackTrait::InCache) && traits.has(StackTrait::CopiesTensor));
    }
}
