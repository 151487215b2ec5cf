//! The rules that decide what memory is for: one table.
//!
//! A row has a rule's name, the category that it gives, its stratum, the basis of its verdicts, the channels of a recording that
//! it needs, the evidence that it shows, and the rules whose verdicts it may replace. Nothing else decides which claim wins: see
//! [`Claims`](super::claims::Claims).

use super::{Basis, Category};

/// The place of a rule in the order in which rules are asked: stronger evidence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stratum {
    /// The user, the program or the recording declares a category.
    Declared,
    /// A stack shows the purpose by itself.
    Stack,
    /// The events around it show the purpose of code outside of models, optimizers and autograd.
    Program,
    /// Structure shows earlier verdicts to be mistaken.
    Structure,
    /// Sizes, and numbers of blocks, suggest a purpose.
    Size,
    /// Addresses, and places within segments, suggest a purpose.
    Layout,
}

/// A kind of data that a recording may hold, and a rule may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// Stacks of events or of live blocks.
    Stacks,
    /// Events of the device.
    Events,
    /// Steps that torch announced.
    Announced,
    /// Segments with their blocks.
    Segments,
}

/// The kind of evidence that a rule shows for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EvidenceKind {
    /// The size alone.
    Size,
    /// A label, as it was given.
    Label,
    /// The frame that decided.
    Frame,
    /// The event that freed it, or that none did.
    Fate,
    /// Blocks of its size, and their categories.
    Blocks,
    /// Another allocation.
    Other,
    /// The allocation of a later iteration that the program named.
    Later,
    /// The pool that it lies in.
    Pool,
}

/// A rule: one row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name in output, filters and documentation; it does not change.
    pub id: &'static str,
    /// The category of its verdicts, unless it says another of a block; `Unknown` where that always depends on the block.
    pub category: Category,
    /// Its place in the order.
    pub stratum: Stratum,
    /// The basis of its verdicts.
    pub basis: Basis,
    /// The data that a recording must hold.
    pub needs: &'static [Channel],
    /// The evidence that it shows.
    pub evidence: EvidenceKind,
    /// The rules whose verdicts it may replace.
    pub refines: &'static [RuleId],
    /// The observation that decides, in words for people.
    pub says: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $category:ident $stratum:ident $basis:ident [$($needs:ident)*] $evidence:ident [$($refines:ident)*] $says:literal;)*) => {
        /// The id of a rule.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum RuleId {
            $(#[doc = $says] $name,)*
        }

        /// All rules, in the order in which they are asked.
        pub const RULES: [Rule; [$(RuleId::$name),*].len()] = [$(Rule {
            id: $id,
            category: Category::$category,
            stratum: Stratum::$stratum,
            basis: Basis::$basis,
            needs: &[$(Channel::$needs),*],
            evidence: EvidenceKind::$evidence,
            refines: &[$(RuleId::$refines),*],
            says: $says,
        }),*];

        impl RuleId {
            /// All rules, in the order of the table.
            pub const ALL: [Self; RULES.len()] = [$(Self::$name),*];
        }
    };
}

// name, id, category, stratum, basis, channels, evidence, rules that it refines, and the observation in words.
rules! {
    UserRule "rules-file" Unknown Declared Declared [Stacks] Label [] "a rule of your rules file";
    Recorded "recorded-category" Unknown Declared Declared [Events] Label [] "the recording names this category";
    Metadata "metadata" Unknown Declared Declared [Events] Label [] "the program attached this category to it";
    Named "named" Unknown Declared Declared [] Label []
        "the program has it as a parameter, a buffer, a gradient or a state of an optimizer";

    ModuleLoad "module-load" Parameter Stack Seen [Stacks] Frame [] "made, moved or loaded as a part of a module";
    ModuleCall "module-call" Activation Stack Seen [Stacks] Frame [] "allocated within a module's call";
    CacheCode "cache-code" KvCache Stack Seen [Stacks] Frame [] "allocated in the code of a key/value cache";
    KeptPerLayer "kept-per-layer" KvCache Stack Inferred [Stacks Events] Fate []
        "kept after a call without a graph, by one of several lines that keep equally many blocks: probably keys and values";
    Autograd "autograd" Gradient Stack Seen [Stacks] Frame [] "allocated by the autograd engine";
    NoPython "no-python" Gradient Stack Followed [Stacks] Fate []
        "no stack, though others have one, and made during a backward: by the autograd engine";
    Recomputed "recomputed" Activation Stack Seen [Stacks] Frame [] "recomputed by checkpointing during the backward";
    StateSetup "state-setup" OptimizerState Stack Seen [Stacks] Frame [] "allocated where an optimizer sets up its state";
    KeptAfterStep "kept-after-step" OptimizerState Stack Seen [Stacks] Frame [] "allocated in Optimizer.step and kept";
    GoneWithStep "gone-with-step" Temporary Stack Seen [Stacks Events] Fate []
        "allocated in Optimizer.step and given back before it ended";
    UnfinishedStepKeeps "unfinished-step-keeps" OptimizerState Stack Inferred [Events] Size []
        "made in an Optimizer.step that is not over; nothing shows that it will be given back";
    UnfinishedStepDrops "unfinished-step-drops" Temporary Stack Inferred [Events] Size []
        "made in an Optimizer.step that is not over; such steps usually give it back";
    GradientCode "gradient-code" Gradient Stack Seen [Stacks] Frame [] "made as a buffer of gradients, or as a copy of them";
    CommCode "comm-code" Comm Stack Seen [Stacks] Frame [] "allocated by communication code";
    BatchCode "batch-code" Input Stack Seen [Stacks] Frame []
        "allocated where batches are loaded or brought to the device";
    WorkspaceCode "workspace-code" Temporary Stack Seen [Stacks] Frame [] "allocated as a library's workspace";
    PrivatePool "private-pool" GraphPool Stack Seen [] Pool [] "lies in a private pool, and no stack says more";

    Perturbed "perturbed" OptimizerState Program Seen [Stacks Events] Frame []
        "made where parameters are perturbed for a second backward, and kept";
    InputOfCall "input-of-call" Input Program Followed [Stacks Events] Fate []
        "made outside of models before a call, and given back after it, as what its line makes usually is";
    InputLikeOthers "input-like-others" Input Program Inferred [Stacks Events] Frame []
        "made outside of models before a call, by a line whose blocks are usually given back soon after";
    KeptBeforeCalls "kept-before-calls" Input Program Inferred [Stacks] Frame []
        "made outside of models, before a call or before the recording, and not given back before that call";
    WeightCode "weight-code" Parameter Program Inferred [Stacks] Frame []
        "made by a function that initialises weights, or by one that makes blocks of several sizes before the first call, all of which stay";
    StackOnly "stack-only" Unknown Program Unknown [Stacks] Frame []
        "older than the recording, and its stack shows no module or optimizer";
    Loss "loss" Activation Program Followed [Stacks Events] Fate []
        "made outside of models, and part of a graph: after a forward, or given back by a backward";
    Result "result" Other Program Followed [Stacks Events] Fate []
        "made outside of models after a call that does not train";
    BetweenSteps "between-steps" Temporary Program Followed [Stacks Events] Fate []
        "made outside of models, and given back before the next call or backward";
    FunctionalCode "functional-code" Activation Program Seen [Stacks] Frame []
        "computed by a function of torch.nn outside of modules, or by one of the program that works as a model";
    KeptOutside "kept-outside" Other Program Inferred [Stacks Events] Frame []
        "made outside of models and kept";

    NamedLater "named-later" Unknown Structure Inferred [Events] Later
        [ModuleCall KeptPerLayer Autograd NoPython StateSetup KeptAfterStep UnfinishedStepKeeps GradientCode InputOfCall InputLikeOthers
         KeptBeforeCalls WeightCode Loss Result BetweenSteps FunctionalCode KeptOutside]
        "made and kept as, in a later iteration, one that the program has as a parameter, a buffer, a gradient or a state of an optimizer";
    HasGradient "has-gradient" Parameter Structure Inferred [Stacks Events] Blocks
        [InputOfCall InputLikeOthers KeptBeforeCalls KeptOutside BetweenSteps Result]
        "made before the first backward, which leaves a gradient of its size";
    InitOnDevice "init-on-device" Parameter Structure Seen [Stacks Events] Frame
        [KeptBeforeCalls KeptOutside BetweenSteps Result]
        "made in an __init__ with a device set from outside";
    CopyOfParameters "copy-of-parameters" Parameter Structure Inferred [Stacks Events] Blocks
        [KeptBeforeCalls KeptOutside BetweenSteps Result]
        "as large as the parameters, in several sizes, but not made as a part of a module: probably a copy";
    EqualBlocks "equal-blocks" KvCache Structure Inferred [Stacks Events] Blocks
        [WeightCode KeptBeforeCalls KeptOutside InputOfCall InputLikeOthers Result CopyOfParameters]
        "one of many equal blocks made before the first call, in a recording without training";
    ReplacesParameter "replaces-parameter" Parameter Structure Inferred [Stacks Events] Other
        [ModuleCall KeptAfterStep UnfinishedStepKeeps GoneWithStep UnfinishedStepDrops Perturbed InputOfCall InputLikeOthers KeptBeforeCalls
         FunctionalCode Loss Result BetweenSteps KeptOutside CopyOfParameters]
        "made just before a parameter of its size was given back, and kept in its place";
    ComputedWeights "computed-weights" Parameter Structure Inferred [Stacks Events] Blocks [InputOfCall InputLikeOthers]
        "made by a line whose blocks have the sizes of several parameters, and given to a model: probably computed, not a batch";
    WrittenByOwnStep "written-by-own-step" Parameter Structure Inferred [Stacks Events] Blocks
        [InputOfCall InputLikeOthers KeptBeforeCalls KeptOutside Result Loss BetweenSteps]
        "made in a step of the program's own, the last of its lines that write as many sizes as parameters have";
    KeptByOwnStep "kept-by-own-step" OptimizerState Structure Inferred [Stacks Events] Blocks
        [InputOfCall InputLikeOthers KeptBeforeCalls KeptOutside Result Loss BetweenSteps]
        "as large as parameters, made and kept by an optimizer of the program's own";
    WorkspaceOfProduct "workspace-of-product" Temporary Structure Inferred [Stacks Events] Size
        [ModuleCall FunctionalCode Autograd NoPython]
        "as large as a workspace of cuBLAS, made right after another block of the same stack, and kept, or given back at once";

    WorkspaceSize "workspace-size" Temporary Size Inferred [] Size []
        "no stack says more: exactly as large as the workspace that PyTorch sets aside for cuBLAS";
    OldPairs "old-pairs" Unknown Size Inferred [] Blocks []
        "no stack: older than the recording, and one of several blocks of a parameter's size";
    OldUnpaired "old-unpaired" Parameter Size Inferred [] Size []
        "no stack: older than the recording, and nothing pairs with its size";
    OldBucket "old-bucket" Comm Size Inferred [Stacks] Size []
        "no stack: older than the recording, behind the parameters of a model that DDP trains";
    NoStackAtEnd "no-stack-at-end" Gradient Size Inferred [Stacks] Size []
        "no stack, though other blocks have one: probably allocated by the autograd engine";
    GoneInBackward "gone-in-backward" Activation Size Followed [Events] Fate [] "a backward gave it back";
    GoneInStep "gone-in-step" OptimizerState Size Followed [Stacks Events] Fate []
        "no stack: older than the recording, and given back by an optimizer step that left state of its size";
    OldGradient "old-gradient" Gradient Size Inferred [Events] Size []
        "no stack: older than the recording, given back in it, and as large as a gradient";
    LikeThisCall "like-this-call" Unknown Size Inferred [Stacks Events] Size []
        "no stack: older than the recording, and as large as what the calls of models in it make";
    OldAndGone "old-and-gone" Activation Size Inferred [Events] Fate []
        "no stack: older than the recording, and given back in it";
    BucketOfGradients "bucket-of-gradients" Gradient Size Inferred [Stacks Events] Fate [CommCode OldBucket]
        "a bucket of DDP after a backward that left few other gradients";

    MadeFirst "made-first" Parameter Size Inferred [Events] Fate [] "no stack: made before anything is given back, and kept";
    GoneInAnnouncedStep "gone-in-announced-step" Temporary Size Followed [Events Announced] Fate []
        "no stack: made in an Optimizer.step that torch announced, and given back before it ended";
    KeptAfterAnnouncedStep "kept-after-announced-step" OptimizerState Size Followed [Events Announced] Fate []
        "no stack: made in an Optimizer.step that torch announced, and kept";
    GoneInZeroGrad "gone-in-zero-grad" Gradient Size Followed [Events Announced] Fate []
        "no stack: given back where torch announced that gradients are dropped";
    PairsAndGoes "pairs-and-goes" Gradient Size Inferred [Events] Size []
        "no stack: as large as a parameter, and given back";
    PairsAndStays "pairs-and-stays" Unknown Size Inferred [Events] Blocks []
        "no stack: as large as a parameter, made later, and kept";
    PairsWithNothing "pairs-with-nothing" Activation Size Inferred [Events] Fate []
        "no stack: made in a forward or backward, and pairs with no parameter";
    PassMakesNone "pass-makes-none" Activation Size Inferred [Events Announced] Size [PairsAndGoes PairsAndStays]
        "no stack: as large as a gradient, but made before the backward";

    OneNumber "one-number" Unknown Layout Inferred [Segments] Blocks []
        "no stack: every size occurs a multiple of four times: a parameter, its gradient and two states of Adam";
    LayersRepeat "layers-repeat" Parameter Layout Inferred [Segments] Blocks []
        "no stack: sizes are there once, or as often as there are layers, and little lies free between them";
    LiesFirst "lies-first" Parameter Layout Inferred [Segments] Blocks []
        "no stack: lies where memory was used first, and is one of the first of its size";
    LiesLater "lies-later" Unknown Layout Inferred [Segments] Blocks []
        "no stack: as large as a parameter, and lies behind it";

    Implausible "implausible" Unknown Layout Unknown [] Size
        [OldPairs PairsAndStays OneNumber LiesLater UnfinishedStepKeeps KeptByOwnStep]
        "sizes suggest optimizer state, but that would be more than seven times the parameters";

    Nothing "none" Unknown Layout Unknown [] Size []
        "neither a stack nor its size and lifetime tell";
}

impl RuleId {
    /// Its row of the table.
    #[inline]
    pub const fn rule(self) -> &'static Rule {
        const TABLE: &[Rule; RULES.len()] = &RULES;
        &TABLE[self as usize]
    }

    /// The rule with that name.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.rule().id == id)
    }

    /// Whether it may replace another's verdict. All may decide what is open.
    #[inline]
    pub(super) fn refines(self, other: Self) -> bool {
        other == Self::Nothing || REFINES[self as usize] & (1 << other as u32) != 0
    }
}

/// For each rule one bit for every rule whose verdicts it may replace: claims ask this for every allocation.
const REFINES: [u128; RULES.len()] = {
    let mut out = [0; RULES.len()];
    let mut at = 0;
    while at < RULES.len() {
        let refined = RULES[at].refines;
        let mut which = 0;
        while which < refined.len() {
            out[at] |= 1 << refined[which] as u32;
            which += 1;
        }
        at += 1;
    }
    out
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(RuleId::ALL.into_iter().all(|id| RuleId::from_id(id.rule().id) == Some(id)));
    }

    #[test]
    fn no_rule_refines_what_was_declared_nor_a_stronger_stratum_without_structure() {
        for rule in RuleId::ALL {
            for &refined in rule.rule().refines {
                assert!(rule.refines(refined) && refined < rule, "{rule:?} comes after {refined:?}");
                assert_ne!(refined.rule().stratum, Stratum::Declared, "{rule:?}");
            }
        }
    }

    #[test]
    fn strata_are_asked_in_their_order() {
        let strata = RULES.map(|rule| rule.stratum);
        assert!(strata.is_sorted(), "{strata:?}");
    }

    #[test]
    fn what_needs_stacks_or_events_says_so() {
        for rule in RULES {
            if rule.basis == Basis::Seen && rule.evidence == EvidenceKind::Frame {
                assert!(rule.needs.contains(&Channel::Stacks), "{}", rule.id);
            }
        }
    }
}
