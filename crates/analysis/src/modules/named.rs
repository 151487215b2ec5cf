//! Modules that the program names in metadata: `{"module": "h.0.attn"}`, set with `torch.cuda.memory._set_memory_metadata` while
//! a module runs, or noted of a tensor with `_annotate_tensor`.

use crate::annotated::annotated;
use crate::named_module;
use foldhash::HashMap;
use oomscope_model::{AllocId, Recording, StrId, Timeline};

/// The modules that metadata names. Each is known by the first text that does.
#[derive(Debug, Default)]
pub(super) struct NamedModules {
    /// By text, the named modules around the one that it names, outermost first, with that one.
    by_text: HashMap<StrId, Vec<StrId>>,
    /// The latest note about each allocation that names one.
    by_allocation: HashMap<AllocId, StrId>,
}

impl NamedModules {
    /// Read the metadata of a device; each different text is read once.
    pub(super) fn of(recording: &Recording) -> Self {
        let mut texts: Vec<StrId> =
            recording.events.contexts().iter().filter_map(|context| context.user_metadata).collect();
        texts.sort_unstable();
        texts.dedup();
        let name = |id: StrId| named_module(&recording.snapshot().strings.name(id)).map(str::to_owned);
        let mut names: Vec<(String, StrId)> =
            texts.into_iter().filter_map(|id| Some((name(id)?, id))).collect();
        // A module comes right before those within it.
        names.sort_by(|(a, _), (b, _)| a.split('.').cmp(b.split('.')));
        let mut around: Vec<(&str, StrId)> = Vec::new();
        let mut by_text = HashMap::default();
        for (name, id) in &names {
            while around.last().is_some_and(|(outer, _)| !is_at_or_within(name, outer)) {
                around.pop();
            }
            if around.last().is_none_or(|(outer, _)| outer != name) {
                around.push((name, *id));
            }
            by_text.insert(*id, around.iter().map(|&(_, id)| id).collect());
        }
        let notes = if by_text.is_empty() { Vec::new() } else { annotated(recording) };
        let by_allocation = notes.into_iter().filter(|(_, text)| by_text.contains_key(text)).collect();
        Self { by_text, by_allocation }
    }

    /// The modules that metadata names for an allocation, outermost first, each by a text that names it.
    pub(super) fn path(&self, timeline: &Timeline, id: AllocId) -> Option<&[StrId]> {
        let noted = self.by_allocation.get(&id).copied();
        let text = noted.or_else(|| {
            let event = timeline.lifetimes.start(id).event()?;
            timeline.events.contexts().get(timeline.events.context_index(event))?.user_metadata
        });
        self.by_text.get(&text?).map(Vec::as_slice)
    }
}

fn is_at_or_within(name: &str, outer: &str) -> bool {
    name.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
