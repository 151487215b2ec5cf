//! Workspaces that cuBLAS keeps for good, one for each stream, where no C++ frame names them.

use super::{Category, Claims, RuleId, Verdict, View};
use crate::model::{AllocId, StackId};
use foldhash::HashSet;

/// What torch sets aside for cuBLAS: `:4096:2:16:8`, and `:4096:8` on devices of compute capability 9;
/// and for cuBLASLt.
const SIZES_BYTES: [i64; 3] = [(2 * 4096 + 8 * 16) << 10, (8 * 4096) << 10, 1 << 20];

/// The first of these, 8.125 MiB, is no size that tensors have: where no stack says otherwise, it decides.
const TELLING_BYTES: i64 = SIZES_BYTES[0];

/// The second is: a workspace for the forward's thread, and one for the backward's.
const DOUBTFUL_BYTES: i64 = SIZES_BYTES[1];
const MOST_DOUBTFUL: usize = 2;

/// Streams that have a workspace each; more blocks of that size are something else.
const MOST_STREAMS: usize = 8;

/// The workspaces among blocks that no stack explains.
pub(super) fn by_size(view: &View<'_>, open: &[AllocId], claims: &mut Claims) {
    let found: Vec<AllocId> = open.iter().copied().filter(|&id| view.size(id) == TELLING_BYTES).collect();
    if found.len() <= MOST_STREAMS {
        for id in found {
            claims.claim(id, Verdict::new(Category::Temporary, RuleId::WorkspaceSize));
        }
    }
}

/// Blocks but those that are as large as the workspace of compute capability 9, and as few: tensors have that size, too.
pub(super) fn without_doubtful(view: &View<'_>, ids: &[AllocId]) -> Vec<AllocId> {
    let is_doubtful = |id: &AllocId| view.size(*id) == DOUBTFUL_BYTES;
    let few = ids.iter().filter(|id| is_doubtful(id)).count() <= MOST_DOUBTFUL;
    ids.iter().copied().filter(|id| !few || !is_doubtful(id)).collect()
}

/// What is gone within so many events was scratch memory of a single product.
const BRIEF_EVENTS: u32 = 2;

/// A workspace is made together with the result of a product: the allocation before it has the
/// same stack, in the same stream, and only the workspace stays to the end. Later products have none.
/// Where products make blocks of its size for a moment, none keeps one for good.
/// Without stacks, a gradient of that size would look the same.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let mut known: HashSet<(Option<i64>, i64)> = HashSet::default();
    let mut brief: HashSet<i64> = HashSet::default();
    let mut found = Vec::new();
    let mut before: Option<(StackId, i64)> = None;
    for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
        let Some(start) = view.timeline.lifetimes.start(id).event() else { continue };
        let now = (view.timeline.events.stack(start), view.size(id));
        let follows = before
            .replace(now)
            .is_some_and(|(stack, size)| stack != StackId::EMPTY && stack == now.0 && size != now.1);
        let is_work = matches!(claims.get(id).rule, RuleId::ModuleCall | RuleId::Autograd | RuleId::NoPython);
        if !SIZES_BYTES.contains(&now.1) || !is_work {
            continue;
        }
        match view.gone(id) {
            Some(gone) if gone.0 <= start.0.saturating_add(BRIEF_EVENTS) => {
                brief.insert(now.1);
            }
            None if follows && known.insert((view.timeline.events.stream(start), now.1)) => {
                found.push((id, now.1));
            }
            _ => {}
        }
    }
    for (id, _) in found.into_iter().filter(|(_, size)| !brief.contains(size)) {
        claims.claim(id, Verdict::new(Category::Temporary, RuleId::WorkspaceOfProduct));
    }
}
