//! Requests that no client sends: broken JSON, unknown methods, a line without end, and requests to cancel.

use crate::server::{oomscope, samples};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

struct Raw {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Raw {
    fn start() -> Self {
        Self::over(&samples())
    }

    fn over(folder: &Path) -> Self {
        let mut command = oomscope();
        command.arg("mcp").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).expect("both are piped");
        Self { child, stdin, stdout: BufReader::new(stdout) }
    }

    fn greeted() -> Self {
        let mut raw = Self::start();
        raw.greet();
        raw
    }

    fn greet(&mut self) {
        let client = json!({"name": "by hand", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string());
        assert_eq!(self.receive()["result"]["serverInfo"]["name"], "oomscope");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("the server reads");
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string());
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the server writes");
        serde_json::from_str(&line).expect("a line of JSON")
    }

    /// The answer with an id; others before it are passed over.
    fn answer(&mut self, id: u32) -> Value {
        loop {
            let found = self.receive();
            if found["id"] == id {
                return found;
            }
        }
    }

    fn close(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().expect("it can be waited for").success());
    }
}

#[test]
fn malformed_requests_do_no_harm() {
    let mut raw = Raw::greeted();
    let long = format!("{{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"{}\"}}", "x".repeat(3 << 20));
    let deep = "[".repeat(100_000);
    let odd = [
        "{",
        "null",
        "[]",
        "\u{0}",
        "\"text\"",
        "{\"jsonrpc\": \"2.0\"}",
        "{\"jsonrpc\": \"1.0\", \"id\": 5}",
        &long,
        &deep,
    ];
    for line in odd {
        raw.send(line);
    }
    raw.stdin.write_all(b"\xff\xfe\n\n\r\n").expect("the server reads");
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/shell", "params": {}}).to_string());
    assert!(raw.answer(1)["error"]["code"].is_i64());
    raw.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 7}}).to_string());
    raw.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "summary", "arguments": []}}).to_string());
    raw.call(4, "summary", &json!({"file": "frag_oom.pickle"}));
    assert_eq!(raw.answer(4)["result"]["isError"], false);
    raw.close();
}

#[test]
fn what_is_no_json_is_answered() {
    let mut raw = Raw::greeted();
    raw.send("{\"jsonrpc\": \"2.0\", ");
    let found = raw.receive();
    assert_eq!((&found["id"], &found["error"]["code"]), (&Value::Null, &json!(-32700)), "{found}");
    assert!(found["error"]["message"].as_str().is_some_and(|text| text.starts_with("no JSON: ")), "{found}");
    raw.send(&"x".repeat(3 << 20));
    let found = raw.receive();
    assert_eq!(found["error"]["code"], -32600, "{found}");
    raw.call(1, "list", &json!({}));
    assert_eq!(raw.answer(1)["result"]["isError"], false);
    raw.close();
}

#[test]
fn a_cancelled_request_has_no_answer_and_the_next_one_has() {
    let mut raw = Raw::greeted();
    raw.call(1, "fixes", &json!({"file": "gpt_oom_forward.pickle"}));
    raw.call(2, "verdict", &json!({"file": "gpt_oom_expandable.pickle"}));
    for id in [1, 2] {
        let params = json!({"requestId": id, "reason": "not needed"});
        raw.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string(),
        );
    }
    raw.call(3, "summary", &json!({"file": "frag_oom.pickle"}));
    let found = raw.receive();
    assert_eq!((&found["id"], &found["result"]["isError"]), (&json!(3), &json!(false)), "{found}");
    raw.close();
}

/// A recording of 2,000 allocations whose frames share one name of 10 MB.
fn with_a_long_name() -> Vec<u8> {
    let mut pickle = b"\x80\x04".to_vec();
    let text = |pickle: &mut Vec<u8>, text: &str| {
        pickle.push(b'X');
        pickle.extend(u32::try_from(text.len()).expect("a short text").to_le_bytes());
        pickle.extend(text.as_bytes());
    };
    let int = |pickle: &mut Vec<u8>, value: u32| {
        pickle.push(b'J');
        pickle.extend(value.to_le_bytes());
    };
    // The name is the first entry of the memo, and nothing else yet.
    text(&mut pickle, &"/home/step 1/forward {phase=eval} ".repeat(300_000));
    pickle.extend(b"\x940}(");
    text(&mut pickle, "device_traces");
    pickle.extend(b"](](");
    for at in 0..2_000 {
        pickle.extend(b"}(");
        for (key, value) in [("addr", (at + 1) << 19), ("size", 1 << 18), ("stream", 0)] {
            text(&mut pickle, key);
            int(&mut pickle, value);
        }
        text(&mut pickle, "action");
        text(&mut pickle, if at == 1_999 { "oom" } else { "alloc" });
        text(&mut pickle, "frames");
        pickle.extend(b"](}(");
        for key in ["filename", "name"] {
            text(&mut pickle, key);
            pickle.extend(b"h\x00");
        }
        text(&mut pickle, "line");
        int(&mut pickle, at);
        pickle.extend(b"ueu");
    }
    pickle.extend(b"eeu.");
    pickle
}

#[test]
fn a_name_of_megabytes_does_not_keep_others_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("long.pickle"), with_a_long_name()).expect("it can be written");
    let mut raw = Raw::over(folder.path());
    raw.greet();
    for (id, tool) in [(1, "summary"), (2, "verdict"), (3, "live"), (4, "fixes"), (5, "series")] {
        let began = Instant::now();
        raw.call(id, tool, &json!({"file": "long.pickle"}));
        if id % 2 == 0 {
            let params = json!({"requestId": id, "reason": "not needed"});
            raw.send(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string(),
            );
        }
        raw.call(id + 10, "list", &json!({}));
        let found = raw.answer(id + 10);
        assert_eq!(found["result"]["isError"], false, "{found}");
        assert!(began.elapsed() < Duration::from_secs(10), "{tool}: {:?}", began.elapsed());
    }
    raw.call(20, "verdict", &json!({"file": "long.pickle"}));
    let found = raw.answer(20);
    assert_eq!(found["result"]["isError"], false, "{found}");
    assert!(found.to_string().len() < 1 << 20, "long names are cut");
    raw.close();
}

#[test]
fn a_server_that_is_closed_early_ends() {
    Raw::start().close();
    let mut raw = Raw::greeted();
    raw.call(1, "fixes", &json!({"file": "gpt_oom_forward.pickle"}));
    raw.close();
}

#[test]
fn folders_that_are_none_are_refused_at_once() {
    for args in [vec!["mcp"], vec!["mcp", "/no/such/folder"], vec!["mcp", env!("CARGO_BIN_EXE_oomscope")]] {
        let output = oomscope().args(&args).stdin(Stdio::null()).output().expect("the program starts");
        assert!(!output.status.success(), "{args:?}");
        assert!(output.stdout.is_empty());
    }
}
