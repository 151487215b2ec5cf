//! What the decoder hands over, and what is left of damaged input.

use crate::json::{decode, is_json};
use oomscope_pickle::{ErrorKind, Handle, Sink, Value, View};

/// Writes what it is given as text.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    texts: Vec<String>,
    containers: u32,
    refuses: bool,
}

impl Log {
    fn shown(&self, values: &[Value]) -> String {
        let value = |value: &Value| match value.view() {
            View::Ref(oomscope_pickle::Kind::Str, Handle(at)) => self.texts[at as usize].clone(),
            View::Ref(_, Handle(at)) => format!("#{at}"),
            other => format!("{other:?}"),
        };
        values.iter().map(value).collect::<Vec<_>>().join(" ")
    }

    fn add(&mut self, line: String) -> Result<Handle, ErrorKind> {
        if self.refuses {
            return Err(ErrorKind::Limit { what: "lines", limit: 0 });
        }
        self.lines.push(line);
        self.containers += 1;
        Ok(Handle(self.containers))
    }

    fn note(&mut self, what: &str, Handle(at): Handle, items: &[Value]) {
        let line = format!("{what} #{at}: {}", self.shown(items));
        self.lines.push(line);
    }
}

impl Sink for Log {
    fn string(&mut self, text: &[u8]) -> Result<Handle, ErrorKind> {
        self.texts.push(String::from_utf8_lossy(text).into_owned());
        Ok(Handle(self.texts.len() as u32 - 1))
    }

    fn bytes(&mut self, _bytes: &[u8]) -> Result<Handle, ErrorKind> {
        Ok(Handle(0))
    }

    fn list(&mut self) -> Result<Handle, ErrorKind> {
        self.add("list".to_owned())
    }

    fn dict(&mut self) -> Result<Handle, ErrorKind> {
        self.add("dict".to_owned())
    }

    fn set(&mut self) -> Result<Handle, ErrorKind> {
        self.add("set".to_owned())
    }

    fn tuple(&mut self, items: &[Value]) -> Result<Handle, ErrorKind> {
        let line = format!("tuple {}", self.shown(items));
        self.add(line)
    }

    fn extend_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        self.note("extend", list, items);
        Ok(())
    }

    fn update_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
        self.note("update", dict, pairs);
        Ok(())
    }

    fn shape(&mut self, _keys: &[Value]) -> Option<u32> {
        None
    }

    fn update_dict_shaped(&mut self, _dict: Handle, _shape: u32, _values: &[Value]) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn extend_set(&mut self, _set: Handle, _items: &[Value]) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        0
    }

    fn list_contents(&self, _list: Handle) -> Option<u32> {
        None
    }

    fn repeat_list(&mut self, _contents: u32) -> Result<Handle, ErrorKind> {
        Ok(Handle(0))
    }

    fn interrupted_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind> {
        self.note("cut list", list, items);
        Ok(())
    }

    fn interrupted_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind> {
        self.note("cut dict", dict, pairs);
        Ok(())
    }
}

fn lines(text: &str) -> (Vec<String>, Option<String>) {
    let mut log = Log::default();
    let decoded = decode(text.as_bytes(), &mut log).expect("damage is no error");
    (log.lines, decoded.damage.map(|damage| damage.to_string()))
}

#[test]
fn values_are_handed_over_inside_out() {
    let (lines, damage) =
        lines(r#"{"a": [1, -2, 18446744073709551615, 1.5, null, true], "p": [0, 3], "e": []}"#);
    assert_eq!(
        lines,
        [
            "dict",
            "list",
            "extend #2: Int(1) Int(-2) Uint(18446744073709551615) Float(1.5) None Bool(true)",
            "tuple Int(0) Int(3)",
            "list",
            "extend #4: ",
            "update #1: a #2 p #3 e #4",
        ]
    );
    assert_eq!(damage, None);
}

#[test]
fn halves_of_surrogate_pairs_that_stand_alone_are_replaced() {
    let (lines, damage) = lines(r#"{"file": "caf\udce9.py", "name": "\ud83d\ude00 \\ud800"}"#);
    assert_eq!(lines, ["dict", "update #1: file caf\u{fffd}.py name 😀 \\ud800"]);
    assert_eq!(damage, None);
}

#[test]
fn long_lists_come_in_batches() {
    let (lines, _) = lines(&format!("[{}0]", "0,".repeat(1000)));
    assert_eq!(lines.iter().map(|line| line.matches("Int").count()).collect::<Vec<_>>(), [0, 1000, 1]);
}

#[test]
fn what_is_whole_before_damage_is_handed_over() {
    let (lines, damage) = lines(r#"{"a": [{"b": 1}, {"c": 2, "d"#);
    let expected = [
        "dict",
        "dict",
        "update #2: b Int(1)",
        "dict",
        "cut dict #3: c Int(2)",
        "list",
        "cut list #4: #2 #3",
        "cut dict #1: a #4",
    ];
    assert_eq!(lines, expected);
    assert_eq!(
        damage.as_deref(),
        Some("at byte 28: expected the rest of the JSON, found the end of the file")
    );
}

#[test]
fn deep_nesting_ends_early_and_refusals_are_errors() {
    assert!(lines(&"[".repeat(100_000)).1.is_some_and(|damage| damage.contains("recursion")));
    let mut log = Log { refuses: true, ..Log::default() };
    let error = decode(&b"[[1]]"[..], &mut log).expect_err("the sink refuses").to_string();
    assert!(error.contains("more than 0 lines"), "{error}");
}

#[test]
fn json_is_known_by_its_first_byte() {
    assert!(is_json(b" \n{\"a\"") && is_json(b"[ {"));
    assert!(!is_json(b"[package]"));
    assert!(!is_json(b"\x80\x04") && !is_json(b"(dp0") && !is_json(b"]q\0") && !is_json(b""));
}
