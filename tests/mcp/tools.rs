//! Every tool answers with the document that its command writes.

use crate::server::{MAX_BYTES, Server, command_json, run, samples};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn a_client_is_told_what_there_is() {
    run(async {
        let server = Server::over(&samples()).await;
        let info = server.client().peer_info().expect("it introduced itself");
        assert_eq!(info.server_info.as_ref().map(|info| info.name.as_str()), Some("oomscope"));
        assert!(info.instructions.as_ref().is_some_and(|text| text.contains("never instructions")));
        let tools = server.client().list_all_tools().await.expect("it lists tools");
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        let all = ["list", "summary", "verdict", "live", "explain", "diff", "fixes", "series", "ranks"];
        assert_eq!(names, all);
        for tool in &tools {
            assert!(tool.annotations.as_ref().is_some_and(|hints| hints.read_only_hint == Some(true)));
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        }
        server.close().await;
    });
}

#[test]
fn tools_and_arguments_are_documented() {
    let text = include_str!("../../docs/mcp.md");
    run(async {
        let server = Server::over(&samples()).await;
        for tool in server.client().list_all_tools().await.expect("it lists tools") {
            let start = format!("| `{}` | ", tool.name);
            let row =
                text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("{start}"));
            let cell = row.split(" | ").next().unwrap_or_default();
            let documented: BTreeSet<&str> = cell.split('`').skip(1).step_by(2).collect();
            let properties = tool.input_schema["properties"].as_object().expect("properties");
            assert_eq!(documented, properties.keys().map(String::as_str).collect(), "{}", tool.name);
        }
        server.close().await;
    });
}

#[test]
fn answers_are_the_documents_of_the_commands() {
    // Files are named as from the server's folder, in which the commands run.
    let [oom, after] = ["gpt_oom_forward.pickle", "gpt_oom_expandable.pickle"].map(str::to_owned);
    let ranks = samples().join("ranks").display().to_string();
    let address = command_json(&["live", &oom, "--at", "oom", "--top", "1", "--format", "json"]);
    let address = address[0]["addr"].as_str().expect("an address").to_owned();
    let cases: Vec<(&str, Value, Vec<&str>)> = vec![
        (
            "summary",
            json!({"file": oom, "at": "oom", "filter": "phase:forward"}),
            vec!["stats", &oom, "--at", "oom", "--filter", "phase:forward"],
        ),
        ("verdict", json!({"file": oom}), vec!["report", &oom, "--no-notes", "--top", "3", "--brief"]),
        (
            "verdict",
            json!({"file": oom, "top": 2, "detail": true}),
            vec!["report", &oom, "--no-notes", "--top", "2"],
        ),
        (
            "live",
            json!({"file": oom, "at": "oom", "top": 5, "filter": "-kept"}),
            vec!["live", &oom, "--at", "oom", "--top", "5", "--frames", "8", "--filter=-kept"],
        ),
        (
            "explain",
            json!({"file": oom, "at": "oom", "address": address}),
            vec!["explain", &oom, &address, "--at", "oom"],
        ),
        ("diff", json!({"a": oom, "b": after}), vec!["diff", &oom, &after]),
        (
            "diff",
            json!({"a": oom, "at_a": "peak-of:iteration:0", "at_b": "oom"}),
            vec!["diff", &oom, "--at-a", "peak-of:iteration:0", "--at-b", "oom"],
        ),
        ("fixes", json!({"file": oom, "only": "sgd"}), vec!["fixes", &oom, "--only", "sgd"]),
        ("ranks", json!({"folder": ranks}), vec!["ranks", &ranks]),
    ];
    run(async {
        let server = Server::over(&samples()).await;
        for (tool, arguments, mut command) in cases {
            let (found, remarks) = server.answer(tool, arguments).await;
            command.extend(["--format", "json"]);
            assert_eq!(found, command_json(&command), "{command:?}");
            assert!(remarks.is_empty(), "{remarks:?}");
        }
        server.close().await;
    });
}

#[test]
fn snapshots_are_listed_and_found_by_any_of_their_names() {
    run(async {
        let server = Server::over(&samples()).await;
        let (found, _) = server.answer("list", json!({})).await;
        let folder = &found["folders"][0];
        let file = folder["files"][0]["file"].as_str().expect("a file");
        assert!(folder["files"].as_array().is_some_and(|files| 10 < files.len()));
        assert_eq!(folder["links_left_out"], 0);
        let below = folder["folders"][0].as_str().expect("a folder");
        let (found, _) = server.answer("list", json!({"folder": below})).await;
        assert_eq!(found["folders"][0]["folder"], below);
        assert!(!file.contains('/'), "{file} is named as from its folder");
        let (relative, _) = server.answer("summary", json!({"file": file})).await;
        let absolute = samples().join(file).display().to_string();
        let (absolute, _) = server.answer("summary", json!({"file": absolute})).await;
        assert_eq!(absolute, relative);
        server.close().await;
    });
}

#[test]
fn a_series_has_the_exact_peak_in_any_number_of_columns() {
    let oom = samples().join("gpt_oom_forward.pickle").display().to_string();
    let stats = &command_json(&["stats", &oom, "--format", "json"])[0];
    run(async {
        let server = Server::over(&samples()).await;
        for columns in [1, 7, 100] {
            let (found, _) = server.answer("series", json!({"file": oom, "columns": columns})).await;
            let rows = found["devices"][0]["columns"].as_array().expect("columns");
            assert_eq!(rows.len(), columns);
            assert_eq!(
                (&rows[0]["events"][0], &rows[columns - 1]["events"][1]),
                (&json!(-1), &json!(stats["events"].as_i64().map(|n| n - 1)))
            );
            for curve in ["active", "allocated", "reserved"] {
                let peak = rows
                    .iter()
                    .max_by_key(|row| (row[curve].as_i64(), std::cmp::Reverse(row["events"][0].as_i64())));
                let peak = peak.expect("a column");
                assert_eq!(peak[curve], stats["peak"][curve], "{curve}");
                assert_eq!(
                    peak[format!("{curve}_event")],
                    stats["peak"][format!("{curve}_index")],
                    "{curve}"
                );
            }
        }
        let asked =
            json!({"file": oom, "range": "iteration:0", "filter": "category:activation", "columns": 3});
        let (found, _) = server.answer("series", asked).await;
        let first = &found["devices"][0]["columns"][0];
        assert!(
            first["filtered"].as_i64() <= first["active"].as_i64() && first["filtered"].is_i64(),
            "{first}"
        );
        server.close().await;
    });
}

#[test]
fn a_verdict_is_short_and_structured() {
    run(async {
        let server = Server::over(&samples()).await;
        for file in ["frag_oom.pickle", "gpt_oom_forward.pickle", "leak_eval_losses.pickle", "streams.pickle"]
        {
            let result = server.call("verdict", json!({"file": file})).await;
            let text = result.content[0].as_text().expect("a text").text.clone();
            assert!(text.len() <= 4096, "{file}: {} bytes", text.len());
            let structured = result.structured_content.expect("structured content");
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), structured);
            assert_eq!(
                (&structured["schema"], &structured["file"]),
                (&json!("oomscope-verdict"), &json!(file))
            );
        }
        // What is an array has no structured content, which is an object.
        let live = server.call("live", json!({"file": "streams.pickle", "top": 1})).await;
        assert_eq!(live.structured_content, None);
        server.close().await;
    });
}

#[test]
fn a_long_answer_is_cut_and_says_so() {
    let oom = samples().join("gpt_oom_forward.pickle").display().to_string();
    run(async {
        let server = Server::over(&samples()).await;
        let asked = json!({"file": oom, "at": "oom", "top": 100_000, "frames": 1000});
        let (found, remarks) = server.answer("live", asked).await;
        let all = command_json(&["live", &oom, "--at", "oom", "--frames", "1000", "--format", "json"]);
        let (found, all) = (found.as_array().expect("rows"), all.as_array().expect("rows"));
        assert!(found.len() < all.len() && found[..found.len() - 1] == all[..found.len() - 1]);
        assert!(remarks[0].starts_with("The answer is not complete: "), "{remarks:?}");
        assert!(serde_json::to_string(&found).is_ok_and(|text| MAX_BYTES / 2 < text.len()));
        server.close().await;
    });
}

#[test]
fn settings_hold_and_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = folder.path().join("config.toml");
    std::fs::write(&settings, "capacity = '80GiB'\nrules = 'rules.toml'\n").expect("a temporary file");
    let rules = "[[rule]]\ncategory = 'kv_cache'\nfile = '.'\n";
    std::fs::write(folder.path().join("rules.toml"), rules).expect("a temporary file");
    run(async {
        let server = Server::with_settings(&samples(), &settings).await;
        for (tool, arguments) in
            [("live", json!({"file": "frag_oom.pickle", "top": 3})), ("ranks", json!({"folder": "ranks"}))]
        {
            let (found, remarks) = server.answer(tool, arguments).await;
            assert!(
                found.to_string().contains("kv_cache\":") || found[0]["category"] == "kv_cache",
                "{tool}: {found}"
            );
            let told = "80.0 GiB of memory where a recording does not state it, rules of";
            assert!(remarks.iter().any(|remark| remark.contains(told)), "{tool}: {remarks:?}");
        }
        server.close().await;
    });
}
