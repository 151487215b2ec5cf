//! The census that the recorder writes as JSON into its own key: columns of tensors, and what they number.

use super::builder::Builder;
use super::containers::DictState;
use oomscope_model::{
    Block, Bytes, Census, CensusIx, CensusModule, CensusOwner, DeviceId, Missing, ModuleClass, NamedTensor,
    TensorHolder, TensorRole,
};
use oomscope_pickle::{Kind, Value};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The key of the census, within that of the recorder.
pub(super) const CENSUS: &str = "census";

/// The version of the census that this version reads.
pub(crate) const VERSION: u32 = 1;

/// The columns of tensors that are read.
pub(crate) const TENSOR_COLUMNS: [&str; 13] = [
    "device",
    "address",
    "bytes",
    "dtype",
    "shape",
    "requires_grad",
    "grad_fn",
    "role",
    "name",
    "owner",
    "key",
    "whole",
    "holder",
];

/// A column that a file may lack.
pub(crate) const PARAMETER_OWNER: &str = "parameter_owner";

/// The columns of modules.
pub(crate) const MODULE_COLUMNS: [&str; 3] = ["owner", "path", "class"];

/// The columns of classes of modules.
pub(crate) const CLASS_COLUMNS: [&str; 4] = ["name", "file", "line", "last"];

/// The columns of owners.
pub(crate) const OWNER_COLUMNS: [&str; 3] = ["kind", "class", "number"];

/// The most bytes of a census that are read: ten times what 100,000 tensors take. What is read takes up to ten times as much.
const MAX_BYTES: usize = 32 << 20;

/// The most characters of a text: paths of modules have dozens.
const MAX_TEXT_CHARS: usize = 500;

/// The text of the file: tables by the names of their columns. `-1` stands where there is nothing.
#[derive(Deserialize)]
struct CensusText {
    version: u32,
    /// A file may lack what follows.
    complete: Option<bool>,
    holders_complete: Option<bool>,
    began_us: Option<i64>,
    texts: Vec<String>,
    shapes: Vec<Vec<i64>>,
    owners: Columns,
    holders: Columns,
    tensors: Columns,
    /// A file may lack them.
    #[serde(default)]
    modules: Columns,
    #[serde(default)]
    classes: Columns,
}

/// Columns of the same length.
type Columns = BTreeMap<String, Vec<i64>>;

/// Some columns of a table, and how many rows they have; `None` where one is missing, or they differ in length.
fn columns<'t>(table: &'t Columns, names: &[&str]) -> Option<(Vec<&'t [i64]>, usize)> {
    let found: Option<Vec<&[i64]>> = names.iter().map(|name| table.get(*name).map(Vec::as_slice)).collect();
    let found = found?;
    let rows = found.first()?.len();
    found.iter().all(|column| column.len() == rows).then_some((found, rows))
}

/// A place in a list, where a number is one.
fn index(at: i64) -> Option<CensusIx> {
    u32::try_from(at).ok().map(CensusIx)
}

impl Builder {
    /// The census in the recorder's own dict; a note where it cannot be read.
    pub(super) fn census(&mut self, recorder: Value) -> Census {
        let Some(text) = self.census_text(recorder) else { return Census::default() };
        read(&text).unwrap_or_else(|| {
            self.notes.skipped("names of tensors that cannot be read", 1);
            Census::default()
        })
    }

    fn census_text(&self, recorder: Value) -> Option<Vec<u8>> {
        let Some(DictState::Loose(container)) = recorder.handle(Kind::Dict).map(|dict| self.dicts.get(dict))
        else {
            return None;
        };
        let text = |value: Value| value.handle(Kind::Str).map(Self::str_id);
        let mut pairs = self.loose.get(container).chunks_exact(2);
        let is_it = |pair: &&[Value]| text(pair[0]).is_some_and(|id| self.strings.name(id) == CENSUS);
        let found = text(pairs.find(is_it)?[1])?;
        Some(self.strings.whole_bytes(found).to_vec())
    }
}

fn read(text: &[u8]) -> Option<Census> {
    let found = (text.len() <= MAX_BYTES).then(|| serde_json::from_slice::<CensusText>(text).ok())??;
    if found.version != VERSION {
        return None;
    }
    let (tensors, owners, holders) = (tensors(&found)?, owners(&found)?, holders(&found)?);
    let (modules, classes) = (modules(&found).unwrap_or_default(), classes(&found).unwrap_or_default());
    let missing = Missing {
        tensors: found.complete == Some(false),
        // Where they were not looked for, none is there.
        holders: found.holders_complete == Some(false) && !holders.is_empty(),
    };
    let CensusText { mut texts, shapes, began_us, .. } = found;
    for text in &mut texts {
        if let Some((end, _)) = text.char_indices().nth(MAX_TEXT_CHARS) {
            text.truncate(end);
        }
    }
    let census = Census::new(tensors, texts, shapes, owners, holders);
    Some(census.with_modules(modules, classes).begun_at(began_us).without(missing))
}

fn tensors(found: &CensusText) -> Option<Vec<NamedTensor>> {
    let roles: Vec<Option<TensorRole>> = found.texts.iter().map(|text| TensorRole::from_key(text)).collect();
    let role = |at: i64| roles.get(usize::try_from(at).ok()?).copied().flatten();
    let (of, count) = columns(&found.tensors, &TENSOR_COLUMNS)?;
    let parameter_owners = columns(&found.tensors, &["device", PARAMETER_OWNER]).map(|(both, _)| both[1]);
    let tensor = |at: usize| {
        Some(NamedTensor {
            device: DeviceId(of[0][at]),
            addr: u64::try_from(of[1][at]).ok()?,
            bytes: Bytes::of_size(u64::try_from(of[2][at]).ok()?),
            dtype: index(of[3][at])?,
            shape: index(of[4][at])?,
            requires_grad: of[5][at] == 1,
            grad_fn: index(of[6][at]),
            role: role(of[7][at]),
            name: index(of[8][at]),
            owner: index(of[9][at]),
            key: index(of[10][at]),
            whole: index(of[11][at]),
            holder: index(of[12][at]),
            parameter_owner: parameter_owners.and_then(|owners| index(owners[at])),
        })
    };
    (0..count).map(tensor).collect()
}

fn modules(found: &CensusText) -> Option<Vec<CensusModule>> {
    let (of, count) = columns(&found.modules, &MODULE_COLUMNS)?;
    let module = |at: usize| {
        Some(CensusModule { owner: index(of[0][at])?, path: index(of[1][at])?, class: index(of[2][at])? })
    };
    (0..count).map(module).collect()
}

fn classes(found: &CensusText) -> Option<Vec<ModuleClass>> {
    let (of, count) = columns(&found.classes, &CLASS_COLUMNS)?;
    let class = |at: usize| {
        let [line, last_line] = [2, 3].map(|column: usize| u32::try_from(of[column][at]).ok());
        Some(ModuleClass {
            name: index(of[0][at])?,
            file: index(of[1][at]),
            line: line?,
            last_line: last_line?,
        })
    };
    (0..count).map(class).collect()
}

fn owners(found: &CensusText) -> Option<Vec<CensusOwner>> {
    let (of, count) = columns(&found.owners, &OWNER_COLUMNS)?;
    // A file may lack it.
    let holders = columns(&found.owners, &["kind", "holder"]).map(|(both, _)| both[1]);
    let trained = columns(&found.owners, &["kind", "trained"]).map(|(both, _)| both[1]);
    let owner = |at: usize| {
        let kind = found.texts.get(usize::try_from(of[0][at]).ok()?)?;
        let number = u32::try_from(of[2][at]).ok()?;
        let holder = holders.and_then(|numbers| index(numbers[at]));
        let is_trained = trained.and_then(|said| (0 <= said[at]).then_some(said[at] == 1));
        let (is_optimizer, class) = (kind == "optimizer", index(of[1][at])?);
        Some(CensusOwner { is_optimizer, class, number, holder, is_trained })
    };
    (0..count).map(owner).collect()
}

fn holders(found: &CensusText) -> Option<Vec<TensorHolder>> {
    let names = ["variable", "example", "function", "file", "line"];
    let (of, count) = columns(&found.holders, &names)?;
    // A file may lack it.
    let collections = columns(&found.holders, &["variable", "collection"]).map(|(both, _)| both[1]);
    let holder = |at: usize| {
        Some(TensorHolder {
            variable: index(of[0][at])?,
            example: index(of[1][at])?,
            function: index(of[2][at])?,
            file: index(of[3][at])?,
            line: u32::try_from(of[4][at]).ok()?,
            collection: collections.and_then(|numbers| index(numbers[at])),
        })
    };
    (0..count).map(holder).collect()
}

/// How many tensors are larger than the block that begins at their address: what they say of it counts for nothing.
pub(super) fn contradicting(census: &Census, device: DeviceId, blocks: &[Block]) -> u64 {
    if census.tensors().is_empty() {
        return 0;
    }
    let larger = |block: &Block| {
        let tensors = census.at(device, block.addr).iter();
        tensors.filter(|tensor| block.size < tensor.bytes).count() as u64
    };
    blocks.iter().filter(|block| block.is_active()).map(larger).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::{BlockState, StackId};

    fn text(rows: &str) -> String {
        format!(
            r#"{{"version": 1, "complete": true, "taken_us": 5, "texts": ["float32", "parameter", "a.weight", "GPT", "module"],
            "shapes": [[4, 2]], "owners": {{"kind": [4], "class": [3], "number": [0]}},
            "holders": {{"variable": [2], "example": [2], "function": [3], "file": [3], "line": [7], "collection": [3]}}, "tensors": {rows}}}"#
        )
    }

    const ONE: &str = r#"{"device": [0], "address": [512], "bytes": [32], "offset": [0], "dtype": [0], "shape": [0],
        "stride": [-1], "requires_grad": [1], "grad_fn": [-1], "role": [1], "name": [2], "owner": [0], "key": [-1], "whole": [-1], "holder": [0]}"#;

    #[test]
    fn a_census_is_read() {
        let census = read(text(ONE).as_bytes()).expect("it is one");
        let [tensor] = census.at(DeviceId(0), 512) else { panic!("{census:?}") };
        assert_eq!(
            (tensor.role, tensor.bytes, tensor.requires_grad),
            (Some(TensorRole::Parameter), Bytes(32), true)
        );
        assert_eq!(census.dimensions(tensor.shape), [4, 2]);
        assert_eq!(tensor.name.map(|name| census.text(name)), Some("a.weight"));
        let owner = census.owner(tensor.owner.expect("an owner"));
        assert_eq!((census.text(owner.class), owner.is_optimizer), ("GPT", false));
        assert_eq!(census.holder(tensor.holder.expect("a holder")).line, 7);
        assert!(census.at(DeviceId(1), 512).is_empty() && census.at(DeviceId(0), 500).is_empty());
    }

    #[test]
    fn names_contradict_blocks_that_are_smaller() {
        let census = read(text(ONE).as_bytes()).expect("it is one");
        let block = |addr, size, state| Block {
            addr,
            size: Bytes(size),
            requested: Bytes(size),
            state,
            stack: StackId::EMPTY,
        };
        let found = |addr, size, state| contradicting(&census, DeviceId(0), &[block(addr, size, state)]);
        assert_eq!(found(512, 16, BlockState::Allocated), 1);
        assert_eq!(found(512, 32, BlockState::Allocated), 0);
        assert_eq!(found(512, 16, BlockState::Inactive), 0);
        assert_eq!(found(1024, 16, BlockState::Allocated), 0);
        assert_eq!(contradicting(&census, DeviceId(1), &[block(512, 16, BlockState::Allocated)]), 0);
    }

    #[test]
    fn what_strangers_wrote_is_left_out() {
        // Places that there are not.
        for (from, to) in [
            ("\"dtype\": [0]", "\"dtype\": [9]"),
            ("\"owner\": [0]", "\"owner\": [7]"),
            ("\"name\": [2]", "\"name\": [5]"),
            ("\"holder\": [0]", "\"holder\": [1]"),
        ] {
            let census = read(text(&ONE.replace(from, to)).as_bytes()).expect("it is one");
            assert!(census.tensors().is_empty(), "{to}");
        }
        for rows in [
            "{}",
            "[]",
            &ONE.replace("[512]", "[512, 1]"),
            &ONE.replace("[512]", "[-1]"),
            &ONE.replace("[32]", "[-32]"),
        ] {
            assert!(read(text(rows).as_bytes()).is_none(), "{rows}");
        }
        assert!(read(b"[[[").is_none() && read(&vec![b' '; MAX_BYTES + 1]).is_none());
    }
}
