//! The census that the recorder writes as JSON into its own key: columns of tensors, and what they number.

use super::builder::Builder;
use super::containers::DictState;
use oomscope_model::{Bytes, Census, CensusIx, CensusOwner, DeviceId, NamedTensor, TensorHolder, TensorRole};
use oomscope_pickle::{Kind, Value};
use serde::Deserialize;

/// The key of the census, within that of the recorder.
pub(super) const CENSUS: &str = "census";

/// The version of the census that this version reads.
const VERSION: u32 = 1;

/// The most bytes of a census that are read: ten times what 100,000 tensors take. What is read takes up to ten times as much.
const MAX_BYTES: usize = 32 << 20;

/// The most characters of a text: paths of modules have dozens.
const MAX_TEXT_CHARS: usize = 500;

/// The text of the file.
#[derive(Deserialize)]
struct CensusText {
    version: u32,
    complete: bool,
    texts: Vec<String>,
    shapes: Vec<Box<[i64]>>,
    owners: Vec<OwnerText>,
    #[serde(default)]
    holders: Vec<HolderText>,
    tensors: Columns,
}

#[derive(Deserialize)]
struct OwnerText {
    kind: String,
    class: i64,
    number: u32,
}

#[derive(Deserialize)]
struct HolderText {
    variable: i64,
    example: i64,
    function: i64,
    file: i64,
    line: u32,
}

/// A place in a list; one that there is not for what cannot be one.
fn place(at: i64) -> CensusIx {
    CensusIx(u32::try_from(at).unwrap_or(u32::MAX))
}

/// Columns of the same length. `-1` stands where there is nothing.
#[derive(Deserialize)]
struct Columns {
    device: Vec<i64>,
    address: Vec<u64>,
    bytes: Vec<u64>,
    dtype: Vec<i64>,
    shape: Vec<i64>,
    requires_grad: Vec<i64>,
    grad_fn: Vec<i64>,
    role: Vec<i64>,
    name: Vec<i64>,
    owner: Vec<i64>,
    key: Vec<i64>,
    whole: Vec<i64>,
    holder: Vec<i64>,
}

impl Builder {
    /// The census in the recorder's own dict; a note where it cannot be read.
    pub(super) fn census(&mut self, recorder: Value) -> Census {
        match self.census_text(recorder).map(|text| read(&text)) {
            None => Census::default(),
            Some(Ok(census)) => census,
            Some(Err(what)) => {
                self.notes.skipped(what, 1);
                Census::default()
            }
        }
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

fn read(text: &[u8]) -> Result<Census, &'static str> {
    if MAX_BYTES < text.len() {
        return Err("names of tensors, which are more than 32 MiB");
    }
    let Ok(found) = serde_json::from_slice::<CensusText>(text) else {
        return Err("names of tensors, which cannot be read");
    };
    if found.version != VERSION {
        return Err("names of tensors of another version of the recorder");
    }
    let roles: Vec<Option<TensorRole>> = found.texts.iter().map(|text| TensorRole::from_key(text)).collect();
    let tensors = found.tensors.rows(&roles).ok_or("names of tensors, whose columns do not fit together")?;
    let text = |text: String| text.chars().take(MAX_TEXT_CHARS).collect::<String>().into();
    let owner = |owner: OwnerText| CensusOwner {
        is_optimizer: owner.kind == "optimizer",
        class: place(owner.class),
        number: owner.number,
    };
    let texts = found.texts.into_iter().map(text).collect();
    let owners = found.owners.into_iter().map(owner).collect();
    let holders = found.holders.into_iter().map(|holder| TensorHolder {
        variable: place(holder.variable),
        example: place(holder.example),
        function: place(holder.function),
        file: place(holder.file),
        line: holder.line,
    });
    Ok(Census::new(found.complete, tensors, texts, found.shapes, owners, holders.collect()))
}

impl Columns {
    /// The rows; `None` where the columns differ in length, or hold what they cannot.
    fn rows(&self, roles: &[Option<TensorRole>]) -> Option<Vec<NamedTensor>> {
        let rows = self.address.len();
        let columns = [
            &self.device,
            &self.dtype,
            &self.shape,
            &self.requires_grad,
            &self.grad_fn,
            &self.role,
            &self.name,
            &self.owner,
            &self.key,
            &self.whole,
            &self.holder,
        ];
        if self.bytes.len() != rows || columns.iter().any(|column| column.len() != rows) {
            return None;
        }
        let index = |column: &[i64], at: usize| u32::try_from(column[at]).ok().map(CensusIx);
        let row = |at: usize| {
            let role = usize::try_from(self.role[at]).ok();
            Some(NamedTensor {
                device: DeviceId(self.device[at]),
                addr: self.address[at],
                bytes: Bytes::of_size(self.bytes[at]),
                dtype: index(&self.dtype, at)?,
                shape: index(&self.shape, at)?,
                requires_grad: self.requires_grad[at] == 1,
                grad_fn: index(&self.grad_fn, at),
                role: role.and_then(|role| roles.get(role).copied().flatten()),
                name: index(&self.name, at),
                owner: index(&self.owner, at),
                key: index(&self.key, at),
                whole: index(&self.whole, at),
                holder: index(&self.holder, at),
            })
        };
        (0..rows).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: &str) -> String {
        format!(
            r#"{{"version": 1, "complete": true, "taken_us": 5, "texts": ["float32", "parameter", "a.weight", "GPT"],
            "shapes": [[4, 2]], "owners": [{{"kind": "module", "class": 3, "number": 0}}],
            "holders": [{{"variable": 2, "example": 2, "function": 3, "file": 3, "line": 7}}], "tensors": {rows}}}"#
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
    fn what_strangers_wrote_is_left_out() {
        // Places that there are not.
        for (from, to) in [
            ("\"dtype\": [0]", "\"dtype\": [9]"),
            ("\"owner\": [0]", "\"owner\": [7]"),
            ("\"name\": [2]", "\"name\": [4]"),
            ("\"holder\": [0]", "\"holder\": [1]"),
        ] {
            let census = read(text(&ONE.replace(from, to)).as_bytes()).expect("it is one");
            assert!(census.tensors().is_empty(), "{to}");
        }
        for rows in ["{}", "[]", &ONE.replace("[512]", "[512, 1]"), &ONE.replace("[512]", "[-1]")] {
            assert!(read(text(rows).as_bytes()).is_err(), "{rows}");
        }
        assert!(read(b"[[[").is_err() && read(&vec![b' '; MAX_BYTES + 1]).is_err());
    }
}
