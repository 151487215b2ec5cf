//! The census as the recorder writes it: JSON in columns, with every text once.

use super::part::{Rewrite, TextKind};
use oomscope_model::{Census, CensusIx, CensusModule, ModuleClass};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What stands where there is nothing.
const NOTHING: i64 = -1;

/// The census of a snapshot as a text, with its names rewritten.
pub(super) fn census_text(census: &Census, rewrite: &dyn Rewrite) -> String {
    let mut texts = Texts { census, rewrite, written: Vec::new(), known: BTreeMap::new() };
    let mut shapes = Once::default();
    let (mut owners, mut holders) = (Once::default(), Once::default());
    let mut rows: Vec<Vec<i64>> = Vec::with_capacity(census.tensors().len());
    for tensor in census.tensors() {
        rows.push(vec![
            tensor.device.0,
            i64::try_from(tensor.addr).unwrap_or(NOTHING),
            tensor.bytes.0,
            texts.number(TextKind::Function, Some(tensor.dtype)),
            shapes.number(Some(tensor.shape)),
            i64::from(tensor.requires_grad),
            texts.number(TextKind::Function, tensor.grad_fn),
            tensor.role.map_or(NOTHING, |role| texts.number_of(role.key().to_owned())),
            texts.number(TextKind::Function, tensor.name),
            owners.number(tensor.owner),
            texts.number(TextKind::Function, tensor.key),
            shapes.number(tensor.whole),
            holders.number(tensor.holder),
            owners.number(tensor.parameter_owner),
        ]);
    }
    // Modules come with owners that are written, and with the classes that they have.
    let mut classes = Once::default();
    let written = census.modules().iter().filter(|module| owners.known.contains_key(&module.owner));
    let written: Vec<&CensusModule> = written.collect();
    let modules: Vec<Vec<i64>> = written
        .into_iter()
        .map(|module| {
            let path = texts.number(TextKind::Function, Some(module.path));
            vec![owners.number(Some(module.owner)), path, classes.number(Some(module.class))]
        })
        .collect();
    let classes: Vec<Vec<i64>> = classes
        .places
        .iter()
        .map(|&at| {
            let ModuleClass { name, file, line, last_line } = census.classes()[at.0 as usize];
            let name = texts.number(TextKind::Function, Some(name));
            vec![name, texts.number(TextKind::File, file), i64::from(line), i64::from(last_line)]
        })
        .collect();
    let owners: Vec<Vec<i64>> = owners
        .places
        .iter()
        .map(|&at| {
            let owner = census.owner(at);
            let kind = if owner.is_optimizer { "optimizer" } else { "module" };
            vec![
                texts.number_of(kind.to_owned()),
                texts.number(TextKind::Function, Some(owner.class)),
                i64::from(owner.number),
                holders.number(owner.holder),
                owner.is_trained.map_or(NOTHING, i64::from),
            ]
        })
        .collect();
    let holders: Vec<Vec<i64>> = holders
        .places
        .iter()
        .map(|&at| {
            let holder = census.holder(at);
            let mut name = |text| texts.number(TextKind::Function, text);
            let [variable, example] = [holder.variable, holder.example].map(|text| name(Some(text)));
            let [function, collection] = [Some(holder.function), holder.collection].map(name);
            let file = texts.number(TextKind::File, Some(holder.file));
            vec![variable, example, function, file, i64::from(holder.line), collection]
        })
        .collect();
    let shapes: Vec<&[i64]> = shapes.places.iter().map(|&at| census.dimensions(at)).collect();
    let mut tensor_columns = crate::census::TENSOR_COLUMNS.to_vec();
    tensor_columns.push(crate::census::PARAMETER_OWNER);
    let tensors = columns(&tensor_columns, &rows);
    let modules = columns(&crate::census::MODULE_COLUMNS, &modules);
    let classes = columns(&crate::census::CLASS_COLUMNS, &classes);
    let owners = columns(&OWNER_COLUMNS, &owners);
    let holders = columns(&HOLDER_COLUMNS, &holders);
    json!({
        "version": crate::census::VERSION,
        "complete": !census.missing().tensors,
        "holders_complete": !census.missing().holders,
        "began_us": census.began_us(),
        "texts": texts.written,
        "shapes": shapes,
        "owners": owners,
        "holders": holders,
        "tensors": tensors,
        "modules": modules,
        "classes": classes,
    })
    .to_string()
}

const OWNER_COLUMNS: [&str; 5] = ["kind", "class", "number", "holder", "trained"];

const HOLDER_COLUMNS: [&str; 6] = ["variable", "example", "function", "file", "line", "collection"];

fn columns(names: &[&str], rows: &[Vec<i64>]) -> Map<String, Value> {
    let column = |at: usize| rows.iter().map(|row| Value::from(row[at])).collect::<Vec<_>>();
    names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), column(at).into())).collect()
}

/// Places in the order in which they come first.
#[derive(Default)]
struct Once {
    places: Vec<CensusIx>,
    known: BTreeMap<CensusIx, i64>,
}

impl Once {
    fn number(&mut self, at: Option<CensusIx>) -> i64 {
        let Some(at) = at else { return NOTHING };
        let next = self.places.len() as i64;
        *self.known.entry(at).or_insert_with(|| {
            self.places.push(at);
            next
        })
    }
}

/// Texts as they are written, each once.
struct Texts<'a> {
    census: &'a Census,
    rewrite: &'a dyn Rewrite,
    written: Vec<String>,
    known: BTreeMap<String, i64>,
}

impl Texts<'_> {
    fn number(&mut self, kind: TextKind, at: Option<CensusIx>) -> i64 {
        let Some(at) = at else { return NOTHING };
        let text = self.rewrite.text(kind, self.census.text(at).as_bytes()).unwrap_or_default();
        self.number_of(String::from_utf8_lossy(&text).into_owned())
    }

    fn number_of(&mut self, text: String) -> i64 {
        let next = self.written.len() as i64;
        if let Some(&number) = self.known.get(&text) {
            return number;
        }
        self.written.push(text.clone());
        self.known.insert(text, next);
        next
    }
}
