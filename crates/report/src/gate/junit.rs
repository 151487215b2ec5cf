//! The XML of `JUnit`, which GitLab, Jenkins and others show as tests: a suite for each device of a file, a case for each check.
//!
//! <https://github.com/testmoapp/junitxml> describes what its readers agree on.

use super::{GateFailure, GateLine, GateReport};
use oomscope_units as units;
use quick_xml::Writer;
use quick_xml::events::{BytesText, Event};
use std::io;

/// The outcome of all checks as XML of `JUnit`.
///
/// # Errors
/// Never, as memory can be written.
pub fn gate_junit(report: &GateReport) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(quick_xml::events::BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let tests = report.lines.len() + report.failures.len();
    writer
        .create_element("testsuites")
        .with_attributes([
            ("name", "oomscope check"),
            ("tests", tests.to_string().as_str()),
            ("failures", report.exceeded().count().to_string().as_str()),
            ("errors", report.failures.len().to_string().as_str()),
        ])
        .write_inner_content(|writer| {
            for lines in report.lines.chunk_by(|a, b| (&a.file, a.device) == (&b.file, b.device)) {
                suite(writer, lines)?;
            }
            report.failures.iter().try_for_each(|failure| unchecked(writer, failure))
        })?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn suite(writer: &mut Writer<Vec<u8>>, lines: &[GateLine]) -> io::Result<()> {
    let name = lines.first().map(|line| units::printable(&line.place())).unwrap_or_default();
    let failed = lines.iter().filter(|line| !line.holds).count();
    writer
        .create_element("testsuite")
        .with_attributes([
            ("name", name.as_str()),
            ("tests", lines.len().to_string().as_str()),
            ("failures", failed.to_string().as_str()),
        ])
        .write_inner_content(|writer| lines.iter().try_for_each(|line| case(writer, &name, line)))?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, suite: &str, line: &GateLine) -> io::Result<()> {
    let text = units::printable(&line.text);
    let element = writer
        .create_element("testcase")
        .with_attributes([("classname", suite), ("name", units::printable(&line.name).as_str())]);
    if line.holds {
        element.write_empty()?;
        return Ok(());
    }
    element.write_inner_content(|writer| {
        let failure = writer.create_element("failure");
        let failure = failure.with_attributes([("type", line.check), ("message", text.as_str())]);
        let source = line.source.as_ref();
        let place = source.map(|source| format!("{}:{}", units::printable(&source.file), source.line));
        failure.write_text_content(BytesText::new(place.as_deref().unwrap_or(&text)))?;
        Ok(())
    })?;
    Ok(())
}

fn unchecked(writer: &mut Writer<Vec<u8>>, failure: &GateFailure) -> io::Result<()> {
    let [file, message, hint] =
        [&failure.file, &failure.message, &failure.hint].map(|text| units::printable(text));
    writer
        .create_element("testsuite")
        .with_attributes([("name", file.as_str()), ("tests", "1"), ("errors", "1")])
        .write_inner_content(|writer| {
            let case = writer.create_element("testcase");
            case.with_attributes([("classname", file.as_str()), ("name", "read")]).write_inner_content(
                |writer| {
                    let error = writer.create_element("error").with_attribute(("message", message.as_str()));
                    error.write_text_content(BytesText::new(&hint))?;
                    Ok(())
                },
            )?;
            Ok(())
        })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::samples::report;
    use super::*;
    use quick_xml::Reader;

    #[test]
    fn each_check_is_a_case_and_names_are_escaped() {
        let text = gate_junit(&report()).expect("memory can be written");
        assert!(
            text.contains(r#"<testsuites name="oomscope check" tests="3" failures="1" errors="1">"#),
            "{text}"
        );
        assert!(text.contains("&lt;c&gt;&amp;"), "{text}");
        assert!(text.contains(">/work/repo/train.py:7</failure>"), "{text}");
        let (mut reader, mut cases) = (Reader::from_str(&text), 0);
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Eof => break,
                Event::Start(tag) | Event::Empty(tag) => {
                    cases += usize::from(tag.name().as_ref() == b"testcase");
                }
                _ => {}
            }
        }
        assert_eq!(cases, 3);
    }
}
