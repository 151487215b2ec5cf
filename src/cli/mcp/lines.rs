//! Standard input and output as lines of JSON. What is no JSON is answered here, as JSON-RPC wants it: the protocol's own parser drops it.

use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Stdin, Stdout,
};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Longest request in bytes. Arguments are names and numbers.
pub(super) const MAX_REQUEST_BYTES: usize = 1 << 20;

/// Bytes that wait between both ends.
const BUFFERED_BYTES: usize = 1 << 16;

/// JSON-RPC's codes: what is no JSON, and what is no request.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// Standard input and output, as the protocol sees them.
pub(super) struct Lines {
    /// Lines that are JSON.
    pub(super) requests: DuplexStream,
    pub(super) answers: DuplexStream,
    /// Ends once everything is written.
    pub(super) writer: JoinHandle<()>,
}

impl Lines {
    /// Begin to read and to write.
    pub(super) fn start() -> Self {
        let (requests, to_protocol) = tokio::io::duplex(BUFFERED_BYTES);
        let (answers, from_protocol) = tokio::io::duplex(BUFFERED_BYTES);
        let stdout = Arc::new(Mutex::new(tokio::io::stdout()));
        tokio::spawn(read_requests(tokio::io::stdin(), to_protocol, Arc::clone(&stdout)));
        let writer = tokio::spawn(write_answers(from_protocol, stdout));
        Self { requests, answers, writer }
    }
}

async fn read_requests(stdin: Stdin, mut to_protocol: DuplexStream, stdout: Arc<Mutex<Stdout>>) {
    let mut stdin = BufReader::new(stdin);
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = MAX_REQUEST_BYTES as u64 + 1;
        match (&mut stdin).take(most).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let refused = if line.len() as u64 == most && line.last() != Some(&b'\n') {
            skip_line(&mut stdin).await;
            Some((INVALID_REQUEST, format!("a request has at most {MAX_REQUEST_BYTES} bytes")))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            let parsed = serde_json::from_slice::<Value>(&line);
            parsed.err().map(|error| (PARSE_ERROR, format!("no JSON: {error}")))
        };
        let sent = match refused {
            None => to_protocol.write_all(&line).await,
            Some((code, message)) => {
                let answer =
                    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
                write_line(&stdout, format!("{answer}\n").as_bytes()).await
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Read to the end of a line that is too long to be kept.
async fn skip_line(stdin: &mut BufReader<Stdin>) {
    while let Ok(bytes) = stdin.fill_buf().await {
        let (length, is_end) = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        stdin.consume(length);
        if is_end {
            return;
        }
    }
}

async fn write_answers(from_protocol: DuplexStream, stdout: Arc<Mutex<Stdout>>) {
    let mut lines = BufReader::new(from_protocol);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if write_line(&stdout, &line).await.is_err() => return,
            Ok(_) => {}
        }
    }
}

async fn write_line(stdout: &Mutex<Stdout>, line: &[u8]) -> std::io::Result<()> {
    let mut stdout = stdout.lock().await;
    stdout.write_all(line).await?;
    stdout.flush().await
}
