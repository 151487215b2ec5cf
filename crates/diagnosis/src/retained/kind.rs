//! What retained memory is, which decides what to do about it: a table of questions.

use super::batches::{Batches, is_below_a_model};
use super::graphs::GraphKind;
use crate::answered::Answered;
use crate::case::Case;
use crate::figure;
use crate::finding::StackBytes;
use crate::sentence::say;
use oomscope_analysis::{Basis, Category, Phase};
use oomscope_model::{Allocation, Bytes, Moment};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::{MOST, NEARLY_ALL, Share, WORTH};

/// What retained memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole models and the state of optimizers.
    Models,
    /// Whole models, with activations of theirs.
    ModelsInGraphs,
    /// The state of optimizers.
    Optimizers,
    /// Copies of a model's weights.
    Weights,
    /// Batches that stay after their use.
    Inputs,
    /// Batches that wait for their use.
    InputsAhead,
    /// Caches of keys and values whose generation is over.
    KvCaches,
    /// A graph.
    Graph(GraphKind),
    /// What forward hooks made.
    Hooks,
    /// Other results.
    Results,
    /// Results of training that no model made: what is computed from outputs, as losses and metrics are.
    Computed,
}

/// A question about retained memory.
struct Question {
    /// The question in words: what a part of it is.
    asks: &'static str,
    /// The bytes of that part.
    bytes: fn(&Memory<'_>) -> Bytes,
    /// The least share that the part has to be for a yes.
    least: Share,
    /// What else a yes needs.
    and: fn(&Memory<'_>) -> bool,
    /// What the memory is then.
    kind: fn(&Memory<'_>) -> Kind,
}

/// The questions in their order: the first that is answered with yes decides. What is sure by its category comes before what
/// is known by how it was made, and that before what only sizes and phases suggest.
const QUESTIONS: [Question; 11] = [
    Question {
        asks: "Is nearly all of it the state of optimizers?",
        bytes: |it| it.of_category(Category::OptimizerState),
        least: NEARLY_ALL,
        and: |_| true,
        kind: |_| Kind::Optimizers,
    },
    Question {
        asks: "Is most of it parameters that no module made, such as copies?",
        bytes: |it| it.models(),
        least: MOST,
        and: |it| !it.case.goes_by_size() && !MOST.is_reached(it.made_by_modules(), it.bytes),
        kind: |_| Kind::Weights,
    },
    Question {
        asks: "Is most of it models, with activations beside them?",
        bytes: |it| it.models(),
        least: MOST,
        and: |it| WORTH.is_reached(it.of_category(Category::Activation), it.bytes),
        kind: |_| Kind::ModelsInGraphs,
    },
    Question {
        asks: "Is most of it models?",
        bytes: |it| it.models(),
        least: MOST,
        and: |_| true,
        kind: |_| Kind::Models,
    },
    Question {
        asks: "Is most of it caches of keys and values?",
        bytes: |it| it.known_caches(),
        least: MOST,
        and: |_| true,
        kind: |_| Kind::KvCaches,
    },
    Question {
        asks: "Did hooks make nearly all of it?",
        bytes: |it| it.hooked(),
        least: NEARLY_ALL,
        and: |_| true,
        kind: |_| Kind::Hooks,
    },
    Question {
        asks: "Do graphs hold most of it?",
        bytes: |it| it.graph.map_or(Bytes::ZERO, |_| it.bytes),
        least: MOST,
        and: |_| true,
        kind: |it| it.graph.map_or(Kind::Results, Kind::Graph),
    },
    Question {
        asks: "Is most of it batches that wait for their use?",
        bytes: |it| it.in_batches(),
        least: MOST,
        and: |it| it.batches.are_ahead(it.case, it.retained),
        kind: |_| Kind::InputsAhead,
    },
    Question {
        asks: "Is most of it batches?",
        bytes: |it| it.in_batches(),
        least: MOST,
        and: |_| true,
        kind: |_| Kind::Inputs,
    },
    Question {
        asks: "Has most of it the sizes of most of the parameters?",
        bytes: |it| it.of_parameter_sizes(),
        least: MOST,
        and: |it| it.covers_the_parameters(),
        kind: |_| Kind::Weights,
    },
    Question {
        asks: "In training, was most of it made outside of models?",
        bytes: |it| it.outside_of_models(),
        least: MOST,
        and: |it| it.case.trains() && !MOST.is_reached(it.of_evaluation(), it.bytes),
        kind: |_| Kind::Computed,
    },
];

/// The memory that the questions are about.
struct Memory<'a> {
    case: &'a Case<'a>,
    retained: &'a [&'a Allocation],
    stacks: &'a [StackBytes],
    graph: Option<GraphKind>,
    batches: Batches,
    bytes: Bytes,
}

impl Kind {
    /// The memory in a title, as far as its kind is beyond doubt.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::ModelsInGraphs => "models and their graphs",
            Self::Optimizers => "optimizer state",
            Self::Weights => "copies of weights",
            Self::InputsAhead => "batches that wait",
            Self::KvCaches => "KV caches",
            Self::Graph(_) => "graphs",
            Self::Hooks => "what hooks stored",
            Self::Inputs | Self::Results | Self::Computed => "tensors",
        }
    }

    /// What some memory is, and the questions that were asked until one was answered with yes.
    pub(super) fn of(
        case: &Case<'_>,
        retained: &[&Allocation],
        stacks: &[StackBytes],
        graph: Option<GraphKind>,
    ) -> (Self, Vec<Answered>) {
        let bytes = retained.iter().map(|a| a.size).sum::<Bytes>();
        let batches = Batches::among(case, retained);
        let memory = Memory { case, retained, stacks, graph, batches, bytes };
        let mut asked = Vec::new();
        for question in &QUESTIONS {
            let part = (question.bytes)(&memory);
            let is_yes = question.least.is_reached(part, bytes) && (question.and)(&memory);
            let figures = say!("{} of {}", figure::bytes(part), figure::bytes(bytes));
            asked.push(Answered { asks: question.asks, figures, is_yes });
            if is_yes {
                return ((question.kind)(&memory), asked);
            }
        }
        (Self::Results, asked)
    }
}

impl Memory<'_> {
    fn sum(&self, is_counted: impl Fn(&Allocation) -> bool) -> Bytes {
        self.retained.iter().filter(|a| is_counted(a)).map(|a| a.size).sum::<Bytes>()
    }

    fn sum_of_stacks(&self, is_counted: impl Fn(&StackBytes) -> bool) -> Bytes {
        self.stacks.iter().filter(|row| is_counted(row)).map(|row| row.bytes).sum::<Bytes>()
    }

    fn of_category(&self, category: Category) -> Bytes {
        self.sum(|a| self.case.category(a.id) == category)
    }

    fn models(&self) -> Bytes {
        self.of_category(Category::Parameter) + self.of_category(Category::OptimizerState)
    }

    fn made_by_modules(&self) -> Bytes {
        self.sum_of_stacks(|row| self.case.code.is_made_by_module(row.stack))
    }

    fn hooked(&self) -> Bytes {
        self.sum_of_stacks(|row| self.case.code.is_in_hook(row.stack))
    }

    fn outside_of_models(&self) -> Bytes {
        let code = &self.case.code;
        self.sum_of_stacks(|row| {
            code.own_line(row.stack).is_some() && !is_below_a_model(self.case, row.stack)
        })
    }

    fn in_batches(&self) -> Bytes {
        self.sum(|a| self.batches.contains(self.case, a))
    }

    fn of_evaluation(&self) -> Bytes {
        let phase = |event| self.case.phases().phase_at(Moment::after(event));
        self.sum(|a| a.alloc_event().is_some_and(|event| phase(event) == Phase::Eval))
    }

    /// Bytes of what is known to be a cache of keys and values. What is only inferred to be may be anything that each layer
    /// leaves.
    fn known_caches(&self) -> Bytes {
        let basis = |a: &Allocation| self.case.attribution.categories.basis(a.id);
        self.sum(|a| self.case.category(a.id) == Category::KvCache && basis(a) != Basis::Inferred)
    }

    fn of_parameter_sizes(&self) -> Bytes {
        let parameters = self.case.sizes(self.case.live_of(Category::Parameter));
        self.sum(|a| parameters.count(a.size.unsigned_abs()) != 0)
    }

    /// Whether the memory has blocks of the sizes of most of the parameters' bytes.
    fn covers_the_parameters(&self) -> bool {
        let retained = self.case.sizes(self.retained.iter().copied());
        let is_copied = |a: &&Allocation| retained.count(a.size.unsigned_abs()) != 0;
        let all = self.case.sizes(self.case.live_of(Category::Parameter));
        let copied = self.case.sizes(self.case.live_of(Category::Parameter).filter(is_copied));
        SEVERAL.min(all.different()) <= copied.different() && MOST.is_reached(copied.bytes(), all.bytes())
    }
}
