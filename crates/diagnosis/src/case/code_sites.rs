//! The lines of code that stacks lead to, and whose code they are.

use crate::finding::{Role, Site, StackBytes};
use foldhash::HashMap;
use oomscope_analysis::{
    FrameCode, FrameKey, FrameName, FrameNames, Owner, is_named_after_evaluation, site_frame,
};
use oomscope_model::{Bytes, Snapshot, StackId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Starts of the names of functions that put tensors together.
const JOINING: [&str; 8] =
    ["cat", "concat", "stack", "vstack", "hstack", "default_collate", "pad_sequence", "structured_cat"];

/// The readable frames of a file, and whose code they are.
#[derive(Debug)]
pub struct CodeSites<'a> {
    snapshot: &'a Snapshot,
    names: FrameNames,
    owners: Vec<Owner>,
}

impl<'a> CodeSites<'a> {
    /// Look at every frame of a file once.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let names = FrameNames::new(snapshot);
        let owners = names.all().iter().map(FrameName::owner).collect();
        Self { snapshot, names, owners }
    }

    /// The frames of a stack that are the user's own, innermost first.
    pub fn own_path(&self, stack: StackId) -> Vec<FrameKey> {
        self.keys(stack).filter(|key| self.owners[key.index()] == Owner::User).collect()
    }

    /// The innermost line of the user's own code.
    pub fn own_line(&self, stack: StackId) -> Option<FrameKey> {
        self.keys(stack).find(|key| self.owners[key.index()] == Owner::User)
    }

    /// The function of the user's own that called all others of a stack, which is a thread's in a thread of its own.
    pub fn outermost_function(&self, stack: StackId) -> Option<&str> {
        self.own_path(stack).last().map(|&key| self.names.get(key).function())
    }

    /// Whether an allocation was made in a hook of the user's own, which torch's modules call: in a function of another name
    /// than `forward`.
    pub fn is_in_hook(&self, stack: StackId) -> bool {
        let mut outer = self.keys(stack).skip_while(|key| self.owners[key.index()] != Owner::User).peekable();
        let mut hook = None;
        while let Some(own) = outer.next_if(|key| self.owners[key.index()] == Owner::User) {
            hook = Some(own);
        }
        let is_called_by_module = outer.next().is_some_and(|key| self.is(key, |code| code.is_module_class()));
        is_called_by_module && hook.is_some_and(|key| !self.names.get(key).function().contains("forward"))
    }

    /// Whether torch's modules or optimizers made an allocation for the user's own code, as when a model is built, moved or
    /// copied.
    pub fn is_made_by_module(&self, stack: StackId) -> bool {
        let inner = self.keys(stack).take_while(|key| self.owners[key.index()] != Owner::User);
        inner.into_iter().any(|key| self.is(key, |code| code.is_of_torch_nn() || code.is_of_torch_optim()))
    }

    /// The innermost line of one of torch's optimizers that led to an allocation.
    pub fn optimizer_line(&self, stack: StackId) -> Option<FrameKey> {
        self.keys(stack).find(|&key| self.is(key, |code| code.torch_optimizer().is_some()))
    }

    /// Whether a function that puts tensors together was called for an allocation.
    pub fn puts_together(&self, stack: StackId) -> bool {
        let inner = self.keys(stack).take_while(|key| self.owners[key.index()] != Owner::User);
        inner.into_iter().any(|key| {
            let name = self.names.get(key);
            let function = name.function();
            let function = function.rsplit("::").next().unwrap_or(function);
            JOINING.iter().any(|word| function.starts_with(word))
        })
    }

    /// Whether a function on the way to an allocation is named after evaluation or inference.
    pub fn says_evaluation(&self, stack: StackId) -> bool {
        let mut own = self.own_path(stack).into_iter();
        own.any(|key| is_named_after_evaluation(self.names.get(key).function()))
    }

    /// Whether an allocation was made below such code.
    pub fn is_below(&self, stack: StackId, is_such: impl Fn(FrameCode<'_>) -> bool) -> bool {
        self.keys(stack).any(|key| self.is(key, &is_such))
    }

    /// The lines that answer for a stack: the innermost of the user's own code and, if that called another package, the
    /// innermost of the package.
    pub fn lines(&self, stack: StackId) -> Vec<FrameKey> {
        let mut lines = Vec::new();
        for key in self.keys(stack) {
            match self.owners[key.index()] {
                Owner::User => {
                    lines.insert(0, key);
                    break;
                }
                Owner::Package if lines.is_empty() => lines.push(key),
                _ => {}
            }
        }
        lines
    }

    /// The lines that answer for some stacks, most bytes first. A package's line stands behind the user's own line that
    /// called it for most of its bytes.
    pub fn sites(&self, stacks: &[StackBytes], role: Role) -> Vec<Site> {
        let mut by_line: BTreeMap<FrameKey, (Bytes, usize)> = BTreeMap::new();
        let mut calls: BTreeMap<(FrameKey, FrameKey), Bytes> = BTreeMap::new();
        for row in stacks {
            let lines = self.lines(row.stack);
            if let [own, package] = lines[..] {
                let bytes = calls.entry((package, own)).or_default();
                *bytes += row.bytes;
            }
            for key in lines {
                let (bytes, count) = by_line.entry(key).or_default();
                *bytes += row.bytes;
                *count += row.count;
            }
        }
        let mut callers: BTreeMap<FrameKey, (Bytes, FrameKey)> = BTreeMap::new();
        for ((package, own), bytes) in calls {
            let most = callers.entry(package).or_insert((bytes, own));
            if most.0 < bytes {
                *most = (bytes, own);
            }
        }
        let rank = |key: FrameKey, bytes: Bytes| {
            let caller = callers.get(&key).map(|&(_, own)| own);
            let leader = caller.unwrap_or(key);
            let leading = by_line.get(&leader).map_or(bytes, |&(bytes, _)| bytes);
            (Reverse(leading), leader, caller.is_some(), Reverse(bytes), key)
        };
        let mut sites: Vec<_> = by_line.iter().map(|(&key, &row)| (key, row)).collect();
        sites.sort_by_key(|&(key, (bytes, _))| rank(key, bytes));
        sites.into_iter().map(|(key, (bytes, count))| self.site(key, bytes, count, role)).collect()
    }

    /// A note for stacks whose bytes count for two lines: a package's line, and the one that called it.
    pub fn overlap(&self, stacks: &[StackBytes]) -> Option<&'static str> {
        stacks.iter().any(|row| row.bytes != 0 && 1 < self.lines(row.stack).len()).then_some(
            "Lines overlap: what a package's line allocated counts for the line that called it as well.",
        )
    }

    /// A line, and the bytes that it answers for.
    pub fn site(&self, key: FrameKey, bytes: Bytes, count: usize, role: Role) -> Site {
        let frame = self.names.get(key).frame.map(|frame| site_frame(self.snapshot, frame));
        let (file, line, name) = frame.map_or_else(Default::default, |f| (f.file, f.line, f.name));
        Site { file, line, name, bytes, count, role }
    }

    /// The frames that run a line.
    pub(crate) fn lines_at(&self, site: &Site) -> Vec<FrameKey> {
        let is_there = |name: &FrameName| {
            let frame = name.frame.map(|frame| site_frame(self.snapshot, frame));
            frame.is_some_and(|frame| (frame.line, &frame.file) == (site.line, &site.file))
        };
        (0..).zip(self.names.all()).filter(|(_, name)| is_there(name)).map(|(key, _)| FrameKey(key)).collect()
    }

    /// Whether a stack leads through one of some frames.
    pub(crate) fn passes(&self, stack: StackId, through: &[FrameKey]) -> bool {
        self.keys(stack).any(|key| through.contains(&key))
    }

    /// A line as text: `train.py:55 attention`.
    pub fn label(&self, key: FrameKey) -> &str {
        &self.names.get(key).label
    }

    fn is(&self, key: FrameKey, is_such: impl Fn(FrameCode<'_>) -> bool) -> bool {
        let name = self.names.get(key);
        name.frame.is_some_and(|frame| {
            let file = self.snapshot.strings.path(self.snapshot.frames.get(frame).file);
            is_such(FrameCode { file: &file, function: name.function() })
        })
    }

    fn keys(&self, stack: StackId) -> impl Iterator<Item = FrameKey> + '_ {
        self.snapshot.stacks.frames(stack).iter().map(|&frame| self.names.key(frame))
    }
}

/// Bytes by stack, most first.
pub(crate) fn by_stack<B: Into<Bytes>>(parts: impl IntoIterator<Item = (StackId, B)>) -> Vec<StackBytes> {
    let mut totals: HashMap<StackId, (Bytes, usize)> = HashMap::default();
    for (stack, size) in parts {
        let (bytes, count) = totals.entry(stack).or_default();
        *bytes += size.into();
        *count += 1;
    }
    let mut rows: Vec<StackBytes> =
        totals.into_iter().map(|(stack, (bytes, count))| StackBytes { stack, bytes, count }).collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.bytes), row.stack));
    rows
}

/// Add those of `more` that are not among `sites`, until there are `limit`.
pub(crate) fn add_sites(sites: &mut Vec<Site>, more: Vec<Site>, limit: usize) {
    for site in more {
        if limit <= sites.len() {
            break;
        }
        if !sites
            .iter()
            .any(|known| (&known.file, known.line, known.role) == (&site.file, site.line, site.role))
        {
            sites.push(site);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::stacks::Recording;

    #[test]
    fn a_stack_leads_to_own_code_and_to_the_package_that_it_called() {
        let mut recording = Recording::default();
        let own = recording.stack(&["/x/torch/nn.py:1 linear", "model.py:3 forward", "train.py:9 main"]);
        let package = recording.stack(&[
            "/x/torch/nn.py:1 linear",
            "/x/site-packages/lib/llama.py:7 attend",
            "/x/site-packages/lib/llama.py:8 forward",
            "train.py:9 main",
        ]);
        let other = recording.stack(&["/x/site-packages/lib/llama.py:7 attend", "train.py:5 main"]);
        let snapshot = recording.finish();
        let code = CodeSites::new(&snapshot);
        let labels = |stack| code.lines(stack).iter().map(|&key| code.label(key)).collect::<Vec<_>>();
        assert_eq!(labels(own), ["model.py:3 forward"]);
        assert_eq!(labels(package), ["train.py:9 main", "llama.py:7 attend"]);
        assert_eq!(labels(StackId::EMPTY), Vec::<&str>::new());
        let sites = code.sites(&by_stack([(own, 5), (package, 7), (own, 3)]), Role::Live);
        let found: Vec<_> = sites.iter().map(|s| (s.file.as_str(), s.line, s.bytes.0, s.count)).collect();
        assert_eq!(found[0], ("model.py", 3, 8, 2));
        assert_eq!(found.len(), 3);
        // The package's line has more bytes than the one that called it for most of them.
        let sites = code.sites(&by_stack([(own, 8), (package, 7), (other, 3)]), Role::Live);
        let found: Vec<_> = sites.iter().map(|s| (s.line, s.bytes.0)).collect();
        assert_eq!(found, [(3, 8), (9, 7), (7, 10), (5, 3)]);
        assert!(code.overlap(&by_stack([(own, 8), (package, 7)])).is_some());
        assert_eq!(code.overlap(&by_stack([(own, 8)])), None);
    }
}
