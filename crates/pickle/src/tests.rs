//! The decoder against pickles written by hand, with a sink that keeps everything.

use super::{ErrorKind, Handle, Kind, Sink, Value, View, decode};

/// Lists may hold themselves: what lies deeper is not printed.
const MAX_DEPTH: usize = 30;

/// Keeps values as the text that Python would print.
#[derive(Default)]
struct Printer {
    texts: Vec<String>,
    items: Vec<Vec<Value>>,
    shapes: Vec<Vec<Value>>,
}

impl Printer {
    fn add(&mut self) -> Handle {
        self.items.push(Vec::new());
        Handle(self.items.len() as u32 - 1)
    }

    fn print(&self, value: Value) -> String {
        self.print_to(value, MAX_DEPTH)
    }

    fn print_to(&self, value: Value, depth: usize) -> String {
        let list = |handle: Handle| -> Vec<String> {
            let items = self.items[handle.0 as usize].iter();
            items
                .map(|&item| depth.checked_sub(1).map_or("...".into(), |depth| self.print_to(item, depth)))
                .collect()
        };
        match value.view() {
            View::Later(index) => format!("entry {index}"),
            View::None => "None".to_owned(),
            View::Bool(b) => if b { "True" } else { "False" }.to_owned(),
            View::Int(i) => i.to_string(),
            View::Uint(u) => u.to_string(),
            View::BigInt => "big".to_owned(),
            View::Float(f) => format!("{f:?}"),
            View::Ref(Kind::Str, h) => format!("'{}'", self.texts[h.0 as usize]),
            View::Ref(Kind::Bytes, h) => format!("b'{}'", self.texts[h.0 as usize]),
            View::Ref(Kind::List, h) => format!("[{}]", list(h).join(", ")),
            View::Ref(Kind::Tuple, h) => format!("({})", list(h).join(", ")),
            View::Ref(Kind::Set, h) => format!("set({})", list(h).join(", ")),
            View::Ref(Kind::Dict, h) => {
                let pairs: Vec<String> = list(h).chunks(2).map(|pair| pair.join(": ")).collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }
}

impl Sink for Printer {
    fn string(&mut self, text: &[u8]) -> Result<Handle, ErrorKind> {
        self.texts.push(String::from_utf8_lossy(text).into_owned());
        Ok(Handle(self.texts.len() as u32 - 1))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Handle, ErrorKind> {
        self.string(bytes)
    }

    fn list(&mut self) -> Result<Handle, ErrorKind> {
        Ok(self.add())
    }

    fn dict(&mut self) -> Result<Handle, ErrorKind> {
        Ok(self.add())
    }

    fn set(&mut self) -> Result<Handle, ErrorKind> {
        Ok(self.add())
    }

    fn tuple(&mut self, items: &[Value]) -> Result<Handle, ErrorKind> {
        self.items.push(items.to_vec());
        Ok(Handle(self.items.len() as u32 - 1))
    }

    fn extend_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        self.items[list.0 as usize].extend_from_slice(items);
        Ok(())
    }

    fn update_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
        self.extend_list(dict, pairs)
    }

    fn shape(&mut self, keys: &[Value]) -> Option<u32> {
        self.shapes.push(keys.to_vec());
        Some(self.shapes.len() as u32 - 1)
    }

    fn update_dict_shaped(&mut self, dict: Handle, shape: u32, values: &[Value]) -> Result<(), ErrorKind> {
        let keys = self.shapes[shape as usize].clone();
        assert_eq!(keys.len(), values.len());
        let pairs: Vec<Value> = keys.into_iter().zip(values).flat_map(|(key, &value)| [key, value]).collect();
        self.update_dict(dict, &pairs)
    }

    fn extend_set(&mut self, set: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        self.extend_list(set, items)
    }

    fn held_bytes(&self) -> usize {
        0
    }

    fn list_contents(&self, list: Handle) -> Option<u32> {
        Some(list.0)
    }

    fn repeat_list(&mut self, contents: u32) -> Result<Handle, ErrorKind> {
        let items = self.items[contents as usize].clone();
        self.items.push(items);
        Ok(Handle(self.items.len() as u32 - 1))
    }

    fn interrupted_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        self.extend_list(list, items)
    }

    fn interrupted_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
        self.extend_list(dict, pairs)
    }
}

/// The content of a pickle, and the damage that ended it.
fn read(pickle: &[u8]) -> (String, Option<String>) {
    let mut printer = Printer::default();
    match decode(pickle, &mut printer, None) {
        Err(error) => (String::new(), Some(error.to_string())),
        Ok(decoded) => {
            let root = decoded.root.map(|root| printer.print(root)).unwrap_or_default();
            (root, decoded.damage.map(|error| error.to_string()))
        }
    }
}

/// The content of a pickle that must be whole.
pub(super) fn whole(pickle: &[u8]) -> String {
    let (root, damage) = read(pickle);
    assert_eq!(damage, None, "{root}");
    root
}

#[test]
fn protocol_0_is_lines() {
    let pickle = b"(dp0\nVa\np1\nI1\nsVb\np2\n(lp3\nL5L\naF1.5\naI01\naNasS'c'\n(I1\nI2\nts.";
    assert_eq!(whole(pickle), "{'a': 1, 'b': [5, 1.5, True, None], 'c': (1, 2)}");
    assert_eq!(whole(b"(Vx\nVy\nd."), "{'x': 'y'}");
    assert_eq!(whole(b"(lp0\nVx\np1\nag1\na."), "['x', 'x']");
}

#[test]
fn every_binary_value_is_read() {
    let pickle = [
        b"\x80\x05](NK\x07M\x01\x01J\xff\xff\xff\xff\x8a\x01\x80\x8b\x02\x00\x00\x00\x00\x01".as_slice(),
        b"\x88\x89G\x3f\xf8\x00\x00\x00\x00\x00\x00",
        b"U\x01aT\x01\x00\x00\x00bX\x01\x00\x00\x00c\x8c\x01d\x8d\x01\x00\x00\x00\x00\x00\x00\x00e",
        b"C\x01fB\x01\x00\x00\x00g\x8e\x01\x00\x00\x00\x00\x00\x00\x00h\x96\x01\x00\x00\x00\x00\x00\x00\x00i",
        b")K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87(K\x04t\x8f(K\x05\x90(K\x06\x91e.",
    ]
    .concat();
    assert_eq!(
        whole(&pickle),
        "[None, 7, 257, -1, -128, 256, True, False, 1.5, 'a', 'b', 'c', 'd', 'e', b'f', b'g', b'h', b'i', \
         (), (1), (1, 2), (1, 2, 3), (4), set(5), set(6)]"
    );
}

#[test]
fn the_memo_is_read_in_every_way() {
    assert_eq!(
        whole(b"\x80\x02](X\x01\x00\x00\x00aq\x05h\x05j\x05\x00\x00\x00g5\ne."),
        "['a', 'a', 'a', 'a']"
    );
    assert_eq!(whole(b"\x80\x04](\x8c\x01a\x94\x8c\x01b\x94h\x00h\x01e."), "['a', 'b', 'a', 'b']");
    assert_eq!(whole(b"\x80\x02](K\x05q\x01h\x01r\xff\xff\xff\x7fj\xff\xff\xff\x7fe."), "[5, 5, 5]");
}

#[test]
fn a_memo_entry_that_is_replaced_changes_the_lists_that_refer_to_it() {
    // The same bytes `(h\x00h\x00e` stand for other items after the second PUT.
    let list: &[u8] = b"]\x94(h\x00h\x00e";
    let pickle =
        [b"\x80\x04](\x8c\x01aq\x00".as_slice(), list, list, b"\x8c\x01bq\x00", list, b"e.", &[0; 20]]
            .concat();
    assert_eq!(whole(&pickle), "['a', ['a', 'a'], ['a', 'a'], 'b', ['b', 'b']]");
}

#[test]
fn dicts_with_known_keys_are_read_as_any_others() {
    let keys: &[u8] = b"\x80\x04](\x8c\x01a\x94\x8c\x01b\x94\x8c\x01c\x94";
    let same: &[u8] = b"}\x94(h\x00K\x01h\x01K\x02K\x03\x86\x94u";
    let other_value: &[u8] = b"}\x94(h\x00K\x01h\x01}\x94(h\x00K\x04h\x01K\x05uu";
    let other_key: &[u8] = b"}\x94(h\x00K\x01h\x02K\x06u";
    let more_keys: &[u8] = b"}\x94(h\x00K\x01h\x01K\x07h\x02K\x08u";
    let fewer_keys: &[u8] = b"}\x94(h\x00K\x09u";
    let pickle = [
        keys,
        same,
        same,
        other_value,
        same,
        other_key,
        more_keys,
        more_keys,
        fewer_keys,
        same,
        b"e.",
        &[0; 20],
    ];
    assert_eq!(
        whole(&pickle.concat()),
        "['a', 'b', 'c', {'a': 1, 'b': (2, 3)}, {'a': 1, 'b': (2, 3)}, {'a': 1, 'b': {'a': 4, 'b': 5}}, \
         {'a': 1, 'b': (2, 3)}, {'a': 1, 'c': 6}, {'a': 1, 'b': 7, 'c': 8}, {'a': 1, 'b': 7, 'c': 8}, {'a': 9}, \
         {'a': 1, 'b': (2, 3)}]"
    );
}

#[test]
fn a_dict_with_known_keys_that_is_cut_keeps_its_whole_pairs() {
    let keys: &[u8] = b"\x80\x04](\x8c\x01a\x94\x8c\x01b\x94";
    let dict: &[u8] = b"}\x94(h\x00\x8a\x04\x01\x02\x03\x04h\x01\x8a\x04\x01\x02\x03\x04u";
    let pickle = [keys, dict, dict, dict, dict, dict].concat();
    for cut in keys.len()..pickle.len() {
        let (root, damage) = read(&pickle[..cut]);
        assert!(damage.is_some(), "{root}");
        let dicts = root.matches("'b': 67305985").count();
        assert!((cut - keys.len()) / dict.len() <= dicts + 1, "{cut}: {root}");
        assert!(root.starts_with("['a', 'b'"), "{cut}: {root}");
    }
}

#[test]
fn a_memo_entry_that_memoize_replaces_changes_the_lists_that_refer_to_it() {
    // MEMOIZE numbers by the count of entries, so the fourth one hits entry 3.
    let list: &[u8] = b"]\x94(h\x03e";
    let last: &[u8] = b"](h\x03e";
    let pickle =
        [b"\x80\x04](\x8c\x01aq\x03".as_slice(), list, list, b"\x8c\x01b\x94", last, b"e.", &[0; 20]]
            .concat();
    assert_eq!(whole(&pickle), "['a', ['a'], ['a'], 'b', ['b']]");
}

#[test]
fn a_list_that_replaces_the_memo_entry_of_its_item_holds_itself() {
    // Picklers memoize a list before they fill it: the third one hits entry 3, to which its item refers.
    let list: &[u8] = b"]\x94(h\x03e";
    let pickle = [b"\x80\x04](\x8c\x01aq\x03".as_slice(), list, list, list, b"e.", &[0; 20]].concat();
    let (open, close) = ("[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert_eq!(whole(&pickle), format!("['a', ['a'], ['a'], {open}...{close}]"));
}

#[test]
fn a_list_inside_a_known_dict_may_follow_a_replaced_memo_entry() {
    // The string in the third dict hits entry 6, and the list behind it is all references.
    let keys: &[u8] = b"\x80\x04](\x8c\x01aq\x00\x8c\x01bq\x01\x8c\x01cq\x06";
    let dict: &[u8] = b"}\x94(h\x00K\x01h\x01K\x02u";
    let replacing: &[u8] = b"}\x94(h\x00\x8c\x01d\x94h\x01]\x94(h\x00eu";
    let pickle = [keys, dict, dict, replacing, b"e.", &[0; 20]].concat();
    assert_eq!(whole(&pickle), "['a', 'b', 'c', {'a': 1, 'b': 2}, {'a': 1, 'b': 2}, {'a': 'd', 'b': ['a']}]");
}

#[test]
fn stack_opcodes_work() {
    assert_eq!(whole(b"](K\x01K\x02020K\x03e."), "[1, 3]");
    assert_eq!(whole(b"](K\x01(K\x02K\x031K\x04e."), "[1, 4]");
}

#[test]
fn opcodes_that_run_code_are_refused_by_name_and_place() {
    for (pickle, name) in [
        (b"\x80\x02cos\nsystem\n.".as_slice(), "GLOBAL"),
        (b"\x80\x04\x93.", "STACK_GLOBAL"),
        (b"\x80\x02R.", "REDUCE"),
        (b"\x80\x02b.", "BUILD"),
        (b"\x80\x02(ios\nsystem\n.", "INST"),
        (b"\x80\x02\x81.", "NEWOBJ"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"\x80\x02Pid\n.", "PERSID"),
    ] {
        let (root, damage) = read(pickle);
        let message = damage.unwrap_or_default();
        assert!(root.is_empty() && message.contains(&format!("opcode {name})")), "{name}: {message}");
        assert!(message.starts_with("at byte "), "{message}");
    }
}

#[test]
fn a_cut_pickle_keeps_what_is_whole() {
    let cut = |pickle: &[u8]| read(pickle).0;
    assert_eq!(cut(b"\x80\x04}\x94(\x8c\x01a]\x94(K\x01K\x02K"), "{'a': [1, 2]}");
    assert_eq!(cut(b"\x80\x04}\x94(\x8c\x01a]\x94]\x94(K\x01K\x02"), "{'a': [[1, 2]]}");
    assert_eq!(cut(b"\x80\x04}\x94(\x8c\x01aK\x01\x8c\x01b"), "{'a': 1}");
    assert_eq!(cut(b"\x80\x04](K\x01(K\x02K\x03"), "[1]");
    assert_eq!(cut(b"\x80\x04](K\x01X\xff\xff\xff\x7fabc"), "[1]");
    assert_eq!(cut(b"\x80\x04"), "");
    let (_, damage) = read(b"\x80\x04](K\x01\xffK");
    assert_eq!(damage.as_deref(), Some("at byte 6: expected a pickle opcode, found byte 0xff"));
}

#[test]
fn malformed_pickles_are_errors_and_not_panics() {
    for pickle in [
        b"".as_slice(),
        b".",
        b"e.",
        b"s.",
        b"u.",
        b"t.",
        b"d.",
        b"0.",
        b"1.",
        b"2.",
        b"h\x07.",
        b"](e.K",
        b"}K\x01s.",
    ] {
        assert!(read(pickle).1.is_some() || !read(pickle).0.is_empty(), "{pickle:?}");
    }
    assert!(read(b"\x80\x09.").1.is_some_and(|message| message.contains("protocol 9")));
}

#[test]
fn memoize_takes_no_value_from_below_a_mark() {
    // In the middle of the input, where frequent opcodes are read, and at its end, where all others are.
    for behind in [&[b'N'; 200][..], b"N."] {
        let (_, error) = read(&[b"\x80\x04](N]\x94(\x94", behind].concat());
        let error = error.expect("Python's pickle refuses it, too");
        assert!(error.contains("MEMOIZE found too few values on the stack"), "{error}");
    }
}
