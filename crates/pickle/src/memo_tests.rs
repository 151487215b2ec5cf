//! Random pickles that write memo entries again, against a memo that is a plain map.
//!
//! Knowledge of runs and dicts by their bytes must never outlive the entries that those bytes refer to. The pickles repeat a few dicts and lists, and between and inside of them PUT and
//! MEMOIZE hit entries that were written before.

use super::tests::whole;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Entries that PUT and the references of lists and dicts choose from. MEMOIZE counts through them.
const ENTRIES: u8 = 40;

/// The longest text of a memo entry that others may refer to.
const MAX_TEXT: usize = 200;

/// The way in which an object is memoized after it was pushed.
#[derive(Debug, Clone, Copy)]
enum Store {
    Not,
    Memoize,
    Put(u8),
}

#[derive(Debug, Clone)]
enum Item {
    Int(u8),
    Get(u8),
    Text(u8, Store),
    Pair(u8, Store),
    List(Vec<u8>, Store),
}

#[derive(Debug, Clone)]
enum Statement {
    Item(Item),
    /// A dict with one of the recurring sets of keys.
    Dict(usize, Store, Vec<Item>),
}

/// Writes a pickle, and what Python would make of it as text. Invalid steps are left out.
#[derive(Default)]
struct Writer {
    pickle: Vec<u8>,
    memo: BTreeMap<usize, String>,
}

impl Writer {
    fn store(&mut self, store: Store, value: &str) {
        let entry = match store {
            Store::Not => return,
            Store::Memoize => {
                self.pickle.push(b'\x94');
                self.memo.len()
            }
            Store::Put(entry) => {
                self.pickle.extend([b'q', entry]);
                usize::from(entry)
            }
        };
        self.memo.insert(entry, value.to_owned());
    }

    /// Push a memo entry, if it was written. Long ones are left alone: lists of lists grow exponentially.
    fn get(&mut self, entry: u8) -> Option<String> {
        let value = self.memo.get(&usize::from(entry)).filter(|value| value.len() < MAX_TEXT)?.clone();
        self.pickle.extend([b'h', entry]);
        Some(value)
    }

    fn item(&mut self, item: &Item) -> Option<String> {
        let (text, store) = match item {
            Item::Get(entry) => return self.get(*entry),
            Item::Int(n) => {
                self.pickle.extend([b'K', *n]);
                return Some(n.to_string());
            }
            Item::Text(n, store) => {
                self.pickle.extend([b'\x8c', 1, b'a' + n % 26]);
                (format!("'{}'", char::from(b'a' + n % 26)), *store)
            }
            Item::Pair(n, store) => {
                self.pickle.extend([b'K', *n, b'K', 7, b'\x86']);
                (format!("({n}, 7)"), *store)
            }
            Item::List(entries, store) => return Some(self.list(entries, *store)),
        };
        self.store(store, &text);
        Some(text)
    }

    /// A list of references. Picklers memoize a list before they fill it, so what it holds is told by
    /// the memo after that; references to itself are left out.
    fn list(&mut self, entries: &[u8], store: Store) -> String {
        const ITSELF: &str = "itself";
        self.pickle.push(b']');
        self.store(store, ITSELF);
        self.pickle.push(b'(');
        let mut items = Vec::new();
        for &entry in entries {
            if self.memo.get(&usize::from(entry)).is_some_and(|value| value != ITSELF) {
                items.extend(self.get(entry));
            }
        }
        self.pickle.push(b'e');
        self.settle(ITSELF, format!("[{}]", items.join(", ")))
    }

    fn dict(&mut self, keys: &[u8], store: Store, values: &[Item]) -> String {
        const ITSELF: &str = "the dict itself";
        self.pickle.push(b'}');
        self.store(store, ITSELF);
        self.pickle.push(b'(');
        let mut pairs = Vec::new();
        for (&key, value) in keys.iter().zip(values) {
            let is_text = self.memo.get(&usize::from(key)).is_some_and(|key| key.starts_with('\''));
            let refers_to_itself =
                |entry: &u8| self.memo.get(&usize::from(*entry)).is_some_and(|v| v == ITSELF);
            let is_whole = match value {
                Item::Get(entry) => {
                    let found = self.memo.get(&usize::from(*entry));
                    found.is_some_and(|value| value.len() < MAX_TEXT) && !refers_to_itself(entry)
                }
                Item::List(entries, _) => !entries.iter().any(refers_to_itself),
                _ => true,
            };
            if is_text && is_whole {
                let key = self.get(key).unwrap_or_default();
                let value = self.item(value).unwrap_or_default();
                pairs.push(format!("{key}: {value}"));
            }
        }
        self.pickle.push(b'u');
        self.settle(ITSELF, format!("{{{}}}", pairs.join(", ")))
    }

    /// Whoever refers to an object that is finished now refers to all of it.
    fn settle(&mut self, placeholder: &str, text: String) -> String {
        for value in self.memo.values_mut().filter(|value| *value == placeholder) {
            value.clone_from(&text);
        }
        text
    }
}

/// The pickle of a list of all that the statements make, and that list as text.
fn written(prelude: &[u8], key_sets: &[Vec<u8>], statements: &[Statement]) -> (Vec<u8>, String) {
    let mut writer = Writer { pickle: b"\x80\x04](".to_vec(), ..Writer::default() };
    let mut items = Vec::new();
    for (n, &entry) in prelude.iter().enumerate() {
        items.extend(writer.item(&Item::Text(n as u8, Store::Put(entry))));
    }
    for statement in statements {
        items.extend(match statement {
            Statement::Item(item) => writer.item(item),
            Statement::Dict(set, store, values) => {
                Some(writer.dict(&key_sets[set % key_sets.len()], *store, values))
            }
        });
    }
    writer.pickle.extend(b"e.");
    // So that even the last opcodes go through the fast path.
    writer.pickle.extend([0; 32]);
    (writer.pickle, format!("[{}]", items.join(", ")))
}

fn store() -> impl Strategy<Value = Store> {
    prop_oneof![
        2 => Just(Store::Not),
        6 => Just(Store::Memoize),
        1 => (0..ENTRIES).prop_map(Store::Put),
    ]
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        any::<u8>().prop_map(Item::Int),
        (0..ENTRIES).prop_map(Item::Get),
        (any::<u8>(), store()).prop_map(|(n, store)| Item::Text(n, store)),
        (any::<u8>(), store()).prop_map(|(n, store)| Item::Pair(n, store)),
        // Few different lists, so that they recur.
        (prop_oneof![Just(vec![0, 30]), Just(vec![25]), Just(vec![35, 5, 20])], store())
            .prop_map(|(entries, store)| Item::List(entries, store)),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    prop_oneof![
        1 => item().prop_map(Statement::Item),
        3 => (0..2_usize, store(), vec(item(), 5)).prop_map(|(set, store, values)| Statement::Dict(set, store, values)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn entries_that_are_written_again_change_what_the_same_bytes_mean(
        prelude in vec(0..ENTRIES, 5..20),
        key_sets in vec(vec(0..ENTRIES, 2..5), 2),
        statements in vec(statement(), 1..24),
    ) {
        let (pickle, text) = written(&prelude, &key_sets, &statements);
        prop_assert_eq!(whole(&pickle), text);
    }
}
