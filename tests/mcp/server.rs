//! The server with a client of the SDK, and the program's own command line to compare with.

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The longest text of an answer. docs/mcp.md states it.
pub(crate) const MAX_BYTES: usize = 60_000;

/// No question about a sample takes nearly as long.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots")
}

/// The program, without settings of the caller.
pub(crate) fn oomscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oomscope"));
    for name in ["OOMSCOPE_LOG", "RUST_LOG", "DISPLAY"] {
        command.env_remove(name);
    }
    command.env("OOMSCOPE_CONFIG", "");
    command
}

/// What a command writes as JSON.
pub(crate) fn command_json(args: &[&str]) -> Value {
    let mut command = oomscope();
    let output = command.args(args).current_dir(samples()).stdin(Stdio::null()).output();
    let output = output.expect("the program starts");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A running server.
pub(crate) struct Server {
    client: RunningService<RoleClient, ()>,
    child: tokio::process::Child,
}

impl Server {
    /// Start the program over a folder and greet it.
    pub(crate) async fn over(folder: &Path) -> Self {
        Self::with_settings(folder, Path::new("")).await
    }

    /// The same, with a file of settings.
    pub(crate) async fn with_settings(folder: &Path, settings: &Path) -> Self {
        let mut command = tokio::process::Command::from(oomscope());
        command.env("OOMSCOPE_CONFIG", settings);
        command.arg("mcp").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let pipes = child.stdout.take().zip(child.stdin.take()).expect("both are piped");
        Self { client: ().serve(pipes).await.expect("the server answers"), child }
    }

    pub(crate) fn client(&self) -> &RunningService<RoleClient, ()> {
        &self.client
    }

    /// Call a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answer = tokio::time::timeout(PATIENCE, self.client.call_tool(request)).await;
        answer.expect("it answers in time").expect("the tool is there")
    }

    /// The document of an answer, which must be one, and its remarks.
    pub(crate) async fn answer(&self, tool: &str, arguments: Value) -> (Value, Vec<String>) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
        let mut texts = texts(&result);
        let document = texts.remove(0);
        assert!(document.len() <= MAX_BYTES, "{tool}: {} bytes", document.len());
        (serde_json::from_str(&document).expect("JSON"), texts)
    }

    /// What an answer is refused with.
    pub(crate) async fn refusal(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        serde_json::from_str(&texts(&result)[0]).expect("JSON")
    }

    /// Close it. It must end by itself, and well.
    pub(crate) async fn close(mut self) {
        self.client.cancel().await.expect("the client ends");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it ends in time");
        assert!(ended.expect("it can be waited for").success());
    }
}

fn texts(result: &CallToolResult) -> Vec<String> {
    let text = |content: &rmcp::model::ContentBlock| content.as_text().map(|text| text.text.clone());
    result.content.iter().filter_map(text).collect()
}

/// Run a test that talks to a server.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(test);
}
