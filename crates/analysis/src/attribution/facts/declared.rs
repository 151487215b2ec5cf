//! Categories that the user, the program or the recording declares.

use crate::annotated::annotated;
use crate::attribution::{Category, RuleId, Verdict};
use crate::named::named_tensors;
use foldhash::HashMap;
use oomscope_model::{AllocId, Context, Moment, Recording, Snapshot, StackId, StrId, TensorRole, Timeline};

/// Declared categories, by stack and by the context that events share.
#[derive(Debug)]
pub(crate) struct Labels<'a> {
    by_stack: &'a [Option<Category>],
    of_contexts: Vec<Option<Verdict>>,
    /// What the program noted of single allocations, or has them as.
    noted: HashMap<AllocId, Verdict>,
}

impl<'a> Labels<'a> {
    /// The labels of a device; `by_stack` has the category that the user's rules give to each stack.
    pub(crate) fn of(recording: &Recording, by_stack: &'a [Option<Category>]) -> Self {
        let snapshot = recording.snapshot();
        let contexts = recording.events.contexts().iter();
        let of_contexts = contexts.map(|context| label_of_context(snapshot, context)).collect();
        let noted = annotated(recording).into_iter().filter_map(|(id, text)| {
            let category = declared_category(&snapshot.strings.name(text))?;
            Some((id, Verdict::new(category, RuleId::Metadata)))
        });
        let mut noted: HashMap<AllocId, Verdict> = noted.collect();
        if !snapshot.census.tensors().is_empty() {
            let end = Moment(recording.moments().saturating_sub(1) as u32);
            for id in recording.lifetimes.live_at(end) {
                if let Some(category) = named_category(recording, id) {
                    noted.entry(id).or_insert(Verdict::new(category, RuleId::Named));
                }
            }
        }
        Self { by_stack, of_contexts, noted }
    }

    /// Whether nothing is labelled.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_stack.is_empty() && self.noted.is_empty() && self.of_contexts.iter().all(Option::is_none)
    }

    /// The allocations that are labelled each by itself.
    pub(crate) fn noted_ids(&self) -> impl Iterator<Item = AllocId> {
        self.noted.keys().copied()
    }

    /// The category that the user's rules give to a stack.
    #[inline]
    pub(crate) fn of_stack(&self, stack: StackId) -> Option<Verdict> {
        let category = self.by_stack.get(stack.index()).copied().flatten();
        category.map(|category| Verdict::new(category, RuleId::UserRule))
    }

    /// The category that the recording or the program gives to an allocation: in a note about it, else to all that was made then.
    #[inline]
    pub(crate) fn of_allocation(&self, timeline: &Timeline, id: AllocId) -> Option<Verdict> {
        self.noted.get(&id).copied().or_else(|| {
            let event = timeline.lifetimes.start(id).event()?;
            self.of_contexts.get(timeline.events.context_index(event)).copied().flatten()
        })
    }
}

/// The category that the program itself says of a block.
fn named_category(recording: &Recording, id: AllocId) -> Option<Category> {
    named_tensors(recording, id).iter().find_map(|tensor| match tensor.role? {
        TensorRole::Parameter | TensorRole::Buffer | TensorRole::OptimizerParameter => {
            Some(Category::Parameter)
        }
        TensorRole::Gradient => Some(Category::Gradient),
        TensorRole::OptimizerState => Some(Category::OptimizerState),
        // A backward may need anything.
        TensorRole::Saved => None,
    })
}

fn label_of_context(snapshot: &Snapshot, context: &Context) -> Option<Verdict> {
    let text = |id: StrId| snapshot.strings.name(id).into_owned();
    let recorded = context.category.and_then(|id| Category::from_key(&text(id)));
    let recorded = recorded.filter(|&category| category != Category::Unknown);
    let metadata = [context.user_metadata, context.internal_metadata];
    let annotated = || metadata.into_iter().flatten().find_map(|id| declared_category(&text(id)));
    recorded
        .map(|category| Verdict::new(category, RuleId::Recorded))
        .or_else(|| annotated().map(|category| Verdict::new(category, RuleId::Metadata)))
}

/// The category that metadata of an event declares: the name of a category, or a key `category` with one.
pub fn declared_category(text: &str) -> Option<Category> {
    const KEY: &str = "category";
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let keys = text.match_indices(KEY).map(|(at, _)| (at, at + KEY.len()));
    let is_whole =
        |&(at, end): &(usize, usize)| !text[..at].ends_with(is_word) && !text[end..].starts_with(is_word);
    let label = match keys.filter(is_whole).map(|(_, end)| end).next() {
        None => text,
        Some(end) => {
            let value = text[end..].trim_start_matches(['\'', '"', ' ', ':', '=']);
            value.split(['\'', '"', ',', '}', ';', ' ']).next().unwrap_or_default()
        }
    };
    Category::from_key(label).filter(|&category| category != Category::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_a_label_only_where_it_names_a_category() {
        assert_eq!(declared_category("{'step': 0, 'category': 'kv_cache'}"), Some(Category::KvCache));
        assert_eq!(declared_category("category=gradient"), Some(Category::Gradient));
        assert_eq!(declared_category("Activations"), Some(Category::Activation));
        assert_eq!(declared_category("{'step': 0, 'phase': 'forward'}"), None);
        assert_eq!(declared_category("input tokens of step 0"), None);
        assert_eq!(declared_category("Category.PARAMETER"), Some(Category::Parameter));
        for text in
            ["encoder.cache", "layer1.weight", "stage.other", "my subcategory: temp", "categories: input"]
        {
            assert_eq!(declared_category(text), None, "{text}");
        }
    }
}
