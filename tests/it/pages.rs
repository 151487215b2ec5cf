//! The report as a page: it is whole, stands alone, runs nothing but its own script, and its figures are exact.

use crate::reports::{document, hostile};
use crate::support::{self, sample, stdout};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_draw::Future;
use oomscope_export::{PageSubject, report_parts};
use oomscope_report::report_html;
use oomscope_units as units;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The most bytes of a page of a sample.
const MAX_PAGE_BYTES: usize = 1 << 20;

fn page(name: &str, more: &[&str]) -> String {
    let file = sample(name).to_string_lossy().into_owned();
    stdout(["report", &file, "--format", "html"].iter().chain(more))
}

/// The content of the element that begins with `open`.
fn between<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let start = page.find(open).map(|at| at + open.len()).expect("the element");
    &page[start..start + page[start..].find(close).expect("its end")]
}

/// The page without what is inside of scripts and the style, which has no tags.
fn markup(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = ["<script", "<style"].iter().filter_map(|tag| rest.find(tag)).min() {
        let close = if rest[at..].starts_with("<script") { "</script>" } else { "</style>" };
        let open = at + rest[at..].find('>').expect("the end of a tag") + 1;
        out.push_str(&rest[..open]);
        rest = &rest[open + rest[open..].find(close).expect("the end of the element")..];
        out.push_str(close);
        rest = &rest[close.len()..];
    }
    out + rest
}

/// Names of elements and attributes in their order; fails where a tag is not closed or closes another one.
fn well_formed(page: &str) -> Vec<String> {
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    let markup = markup(page);
    let (_, body) = markup.split_once("<!DOCTYPE html>").expect("a document type");
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("the end of a tag");
        assert!(!text.contains('>'), "an end without a beginning: {text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{tag} closes something else");
            continue;
        }
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        // What stands outside of quotes.
        let outside: Vec<&str> = tag.split('"').step_by(2).collect();
        assert!(!outside.iter().any(|part| part.contains(" on") || part.contains(" style=")), "{tag}");
        let is_empty = tag.ends_with('/') || ["meta", "img", "source", "br"].contains(&name.as_str());
        if !is_empty {
            open.push(name.clone());
        }
        seen.push(name);
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    seen
}

#[test]
fn a_page_is_whole_and_stands_alone() {
    // With a leak, without a failure, without events, of pinned memory, with private pools, with annotations.
    for name in [
        "leak_eval_losses.pickle",
        "compact.pickle.gz",
        "history_state_only.pickle",
        "pinned_host.pickle",
        "pools.pickle",
        "annotated.pickle",
    ] {
        let page = page(name, &["--redact", "--no-remedies"]);
        let elements = well_formed(&page);
        assert!(page.len() <= MAX_PAGE_BYTES, "{name}: {} bytes", page.len());
        for outside in ["http://", "https://", "<link", "<iframe", "<object", "<form", "url(", "@import"] {
            assert!(!page.contains(outside), "{name}: {outside}");
        }
        assert!(elements.iter().filter(|name| *name == "script").count() <= 2, "{name}");
        let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{name}: {ids:?}");
        let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'; img-src data:; style-src 'sha256-"), "{policy}");
        assert!(policy.contains("script-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
        let tag = page.find("Content-Security-Policy");
        assert!(tag < page.find("<style") && tag < page.find("<script"), "{name}: the policy comes first");
    }
}

#[test]
fn a_page_has_both_pictures_in_both_themes_and_the_order_of_an_answer() {
    let page = page("frag_oom.pickle", &[]);
    // The timeline and the segment map, wide and narrow, light and dark.
    assert_eq!(page.matches("data:image/png;base64,iVBORw0KGgo").count(), 8);
    assert_eq!(page.matches("prefers-color-scheme: dark)\" srcset").count(), 4);
    let order = [
        "<h1>Out of memory",
        "index.py:60 add: keeps 1.44 GiB unused",
        "<p class=\"answer\">Fix: Let segments grow",
        "<pre class=\"code\">PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True</pre>",
        "it finishes the step, with",
        "<main>",
        "by line of code</h3>",
        "<figure id=\"over-time\">",
        "<b>Evidence</b></summary>",
        "<h3>What else to do</h3>",
        "<h2>Also</h2>",
        "<h3>What to do</h3>",
        "<h2>How it was recorded</h2>",
    ];
    let places: Vec<Option<usize>> = order.iter().map(|text| page.find(text)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
}

#[test]
fn a_page_has_one_timeline_and_its_values_beside_it() {
    let name = "gpt_oom_forward.pickle";
    let (whole, bare) = (page(name, &[]), page(name, &["--no-remedies"]));
    for page in [&whole, &bare] {
        let figure = between(page, "<figure id=\"over-time\">", "</figure>");
        assert_eq!(page.matches("<figure").count(), 2, "the timeline, and the segment map");
        assert_eq!(figure.matches("<img").count(), 1, "one picture, of which a browser shows one drawing");
        assert_eq!(figure.matches("<source media=\"screen and (max-width: 40rem)").count(), 2);
        assert!(figure.contains("<div id=\"readout\">") && !page.contains("<path"));
    }
    let plots = |page: &str| -> Vec<[f64; 2]> {
        let data: Value = serde_json::from_str(between(page, "id=\"memory\">", "</script>")).expect("JSON");
        let ends = |plot: &Value| [0, 1].map(|at| plot["x"][at].as_f64().expect("a number"));
        data["plots"].as_array().expect("wide and narrow").iter().map(ends).collect()
    };
    // What is projected is part of the picture, behind what can be read.
    let (projected, recorded) = (plots(&whole), plots(&bare));
    assert_eq!((projected.len(), recorded.len()), (2, 2));
    for ([from, to], [recorded_from, recorded_to]) in projected.into_iter().zip(recorded) {
        assert!(from == recorded_from && from < to && to < recorded_to && recorded_to <= 100.0);
    }
}

#[test]
fn a_page_says_its_fix_once() {
    for name in
        ["frag_oom.pickle", "gpt_oom_forward.pickle", "leak_eval_losses.pickle", "copy_best.pickle.gz"]
    {
        let page = page(name, &[]);
        let file = sample(name).to_string_lossy().into_owned();
        let fix = support::json(["report", &file, "--format", "json"])["fix"].clone();
        let of = |key: &str| fix[key].as_str().expect("a text").replace('"', "&quot;").replace('\'', "&#39;");
        for said in [of("text"), of("code")] {
            assert_eq!(page.matches(&said).count(), 1, "{name}: {said}");
            assert!(between(&page, "<div id=\"fix\">", "</div>").contains(&said), "{name}: {said}");
        }
        assert!(page.find("<div id=\"fix\">") < page.find("<main>"), "{name}: it comes first");
        // What is folded points to it.
        let has_pointer = page.contains("href=\"#fix\"");
        assert_eq!(has_pointer, ["leak_eval_losses.pickle", "copy_best.pickle.gz"].contains(&name), "{name}");
    }
}

/// The rows of the tables of a page that have a bar: what comes first in each, and the parts of its bar with their shares.
fn bars(page: &str) -> Vec<(&str, Vec<(&str, f64)>)> {
    let row = |row| {
        let (_, rest) = str::split_once(row, "<td class=\"bar\"><svg ")?;
        let (svg, cells) = rest.split_once("</svg></td>")?;
        let parts = svg.split("<rect ").skip(2).map(|rect| {
            let width = between(rect, "width=\"", "\"").parse::<f64>().expect("a width");
            (between(rect, "class=\"", "\""), width / 72.0)
        });
        Some((cells, parts.collect()))
    };
    page.split("<tr").skip(1).map(|rest| rest.split("</tr>").next().unwrap_or(rest)).filter_map(row).collect()
}

#[test]
fn amounts_have_bars_that_begin_at_one_place_and_have_one_scale() {
    let page = page("annotated.pickle", &["--no-remedies"]);
    for table in page.split("<table").skip(1).filter_map(|rest| rest.split("</table>").next()) {
        let rows: Vec<&str> = table.split("<tr").skip(1).collect();
        let has_bars = table.contains("<td class=\"bar\">");
        let first = rows.iter().filter_map(|row| row.split_once('>')).map(|(_, cells)| cells);
        for cells in first {
            let is_first = cells.starts_with("<td class=\"bar\">") || cells.starts_with("<th></th>");
            assert_eq!(is_first, has_bars, "{cells}");
            assert!(!cells[1..].contains("<td class=\"bar\">"), "{cells}");
        }
    }
    let tree = between(&page, "<table class=\"tree\">", "</table>");
    let shares = tree.split("<td class=\"n quiet\">").skip(1).map(|cell| between(cell, "", " %"));
    for ((_, bar), share) in bars(tree).into_iter().zip(shares) {
        let share = share.parse::<f64>().expect("a share") / 100.0;
        assert!((bar[0].1 - share).abs() < 0.006 && bar[0].0 == "fill-plain", "{bar:?} for {share}");
    }
}

#[test]
fn bars_have_the_colours_of_categories() {
    let page = page("annotated.pickle", &["--no-remedies"]);
    let colors = [
        ("parameters", "fill-parameter"),
        ("gradients", "fill-gradient"),
        ("optimizer state", "fill-optimizer_state"),
        ("activations", "fill-activation"),
    ];
    let readout = between(&page, "<div id=\"readout\">", "</div>");
    let breakdown = between(&page, "info · breakdown", "</section>");
    for list in [readout, breakdown] {
        let bars = bars(list);
        let mut lengths = Vec::new();
        for (name, color) in colors {
            let is_named =
                |(cells, _): &&(&str, Vec<(&str, f64)>)| cells.starts_with(&format!("<td>{name}<"));
            let (_, parts) = bars.iter().find(is_named).expect("a row for each");
            assert_eq!((parts.len(), parts[0].0), (1, color), "{name}");
            lengths.push(parts[0].1);
        }
        // 206, 786, 409 and 821 MiB.
        assert!(lengths[0] < lengths[2] && lengths[2] < lengths[1] && lengths[1] < lengths[3], "{lengths:?}");
    }
    let modules = between(&page, "<summary>Memory by module</summary>", "</details>");
    assert!(bars(modules).iter().any(|(_, parts)| 1 < parts.len()), "one bar for all that a module has");
}

/// The number of pages of a page on paper, or nothing where no browser is there.
fn printed_pages(name: &str) -> Option<usize> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [html, pdf] = ["a.html", "a.pdf"].map(|file| folder.path().join(file));
    std::fs::write(&html, page(name, &[])).expect("a file");
    let browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", html.display()))
        .stderr(Stdio::null())
        .status();
    let Ok(written) = browser.and_then(|_| std::fs::read(&pdf)) else {
        support::skipped("pages on paper: Chromium is missing");
        return None;
    };
    let text = String::from_utf8_lossy(&written);
    let count = text.split("/Count ").nth(1).map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    Some(count.flatten().and_then(|count| count.parse().ok()).expect("a number of pages"))
}

#[test]
fn a_page_takes_three_sheets_of_paper_at_most() {
    for name in [
        "gpt_oom_forward.pickle",
        "frag_oom.pickle",
        "leak_eval_losses.pickle",
        "two_devices_oom.pickle",
        "annotated.pickle",
        "kv_cache_oom.pickle",
    ] {
        let Some(pages) = printed_pages(name) else { return };
        assert!((1..=3).contains(&pages), "{name}: {pages} pages");
    }
}

#[test]
fn a_file_that_is_hostile_gets_nothing_into_a_page() {
    let recording = hostile(8, 6);
    let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
    let at = recording.active.peak().0;
    for is_redacted in [false, true] {
        let parts = report_parts(PageSubject {
            recording: &recording,
            attribution: &attribution,
            future: &Future::default(),
            moment: at,
            marked: None,
            name: "a</title><b>",
            redacts: is_redacted,
        })
        .expect("pictures");
        let page = report_html(&document(&recording, 20, is_redacted), &parts);
        let elements = well_formed(&page);
        assert_eq!(elements.iter().filter(|name| *name == "script").count(), 2, "its data and its script");
        assert_eq!(elements.iter().filter(|name| *name == "img").count(), 2, "its pictures");
        let data: Value = serde_json::from_str(between(&page, "id=\"memory\">", "</script>")).expect("JSON");
        assert!(!data.to_string().contains("alert"), "{data}");
        let is_private = ["alice", "secret", "Users"].iter().any(|word| page.contains(word));
        assert!(is_private != is_redacted);
    }
}

fn numbers(of: &Value) -> Vec<i64> {
    of.as_array().expect("a list").iter().map(|n| n.as_i64().expect("a number")).collect()
}

#[test]
fn the_figure_has_the_exact_bytes_of_the_recording() {
    for name in
        ["frag_oom.pickle", "gpt_oom_forward.pickle", "leak_attempts.pickle.gz", "two_devices_oom.pickle"]
    {
        let page = page(name, &["--no-remedies", "--device", "0"]);
        let data: Value = serde_json::from_str(between(&page, "id=\"memory\">", "</script>")).expect("JSON");
        let file = sample(name).to_string_lossy().into_owned();
        let stats = support::json(["stats", &file, "--format", "json"]);
        let active = numbers(&data["active"]);
        let columns = data["columns"].as_u64().expect("a number") as usize;
        assert!(columns <= 600 && columns < active.len(), "{name}");
        assert_eq!(active.iter().max().copied(), stats[0]["peak"]["active"].as_i64(), "{name}");
        let most_reserved = numbers(&data["most_reserved"]).into_iter().max();
        assert_eq!(most_reserved, stats[0]["peak"]["reserved"].as_i64(), "{name}");
        let mut sums = vec![0; active.len()];
        for band in data["bands"].as_array().expect("bands") {
            let bytes = numbers(&band["bytes"]);
            sums.iter_mut().zip(&bytes).for_each(|(sum, bytes)| *sum += bytes);
            if band["inferred"].is_array() {
                let inferred = numbers(&band["inferred"]);
                assert!(inferred.iter().zip(&bytes).all(|(part, whole)| part <= whole), "{name}");
            }
        }
        assert_eq!(sums, active, "{name}: categories add up to what is active");
        for key in ["event", "time_us", "allocated", "reserved", "iteration", "phase"] {
            assert_eq!(data[key].as_array().map(Vec::len), Some(active.len()), "{name}: {key}");
        }
        assert_eq!(data["marks"].as_array().map(Vec::len), Some(active.len() - columns), "{name}");
    }
}

/// What the script of a page prints for numbers, or nothing where Node.js is missing.
fn script_output(call: &str) -> Option<Value> {
    let page = page("frag_oom.pickle", &["--no-remedies"]);
    let script =
        page.rsplit_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).expect("a script").0;
    let program = format!(
        "const document = {{ querySelectorAll: () => [], getElementById: () => null }};\n\
         {script}\nconsole.log(JSON.stringify({call}));"
    );
    let node = Command::new("node").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut node) = node else {
        support::skipped("the script of pages: Node.js is missing");
        return None;
    };
    node.stdin.take().expect("its input").write_all(program.as_bytes()).expect("it reads");
    let output = node.wait_with_output().expect("it ends");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn the_script_writes_figures_as_the_report_does() {
    let sizes: Vec<i64> = (0..50)
        .flat_map(|bit| [1i64 << bit, (1 << bit) * 17 / 8, (1 << bit) * 9 / 8 * 5, (1 << bit) / 3 * 7])
        .chain([0, 1023, 1024, 1_048_063, 1_048_064, 10_480_517, 104_805_171, -5, -(3 << 20)])
        // Numbers of JavaScript are exact up to here.
        .filter(|size| size.abs() < 1 << 53)
        .collect();
    let times: Vec<i64> =
        (0..40).flat_map(|bit| [1i64 << bit, (1 << bit) * 5 / 4, 1250 * bit, 62_500 * bit]).collect();
    let shares: Vec<[i64; 2]> = (0..=400).map(|part| [part, 400]).chain([[0, 0], [1, 3]]).collect();
    let call = format!(
        "[{sizes:?}.map(bytesText), {times:?}.map(durationText), {shares:?}.map(([a, b]) => shareText(a, b)), {sizes:?}.map(separated)]"
    );
    let Some(found) = script_output(&call) else { return };
    let texts = |at: usize| -> Vec<String> { serde_json::from_value(found[at].clone()).expect("texts") };
    assert_eq!(texts(0), sizes.iter().map(|&size| units::bytes(size)).collect::<Vec<_>>());
    assert_eq!(texts(1), times.iter().map(|&time| units::duration_us(time)).collect::<Vec<_>>());
    assert_eq!(texts(2), shares.iter().map(|&[a, b]| units::percent(a, b)).collect::<Vec<_>>());
    assert_eq!(texts(3), sizes.iter().map(|&size| units::count(size)).collect::<Vec<_>>());
}

#[test]
fn a_redacted_page_has_no_annotations_in_its_pictures() {
    let pictures = |more: &[&str]| page("annotated.pickle", more).matches("data:image/png").count();
    assert_eq!((pictures(&[]), pictures(&["--redact"])), (8, 8));
    let first = |more: &[&str]| {
        let page = page("annotated.pickle", more);
        between(&page, "<img src=\"", "\"").to_owned()
    };
    assert!(first(&["--no-remedies"]) != first(&["--no-remedies", "--redact"]));
}
