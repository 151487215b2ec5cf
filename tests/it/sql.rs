//! `oomscope sql` and `export --format sqlite`, in builds with the feature `sql`; others say how to get it.

use crate::support::{run, sample};

#[cfg(not(feature = "sql"))]
#[test]
fn a_build_without_it_says_where_it_is() {
    let output = run(["sql", &sample("frag_oom.pickle").display().to_string(), "select 1"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors.contains("this oomscope was built without 'sql'") && errors.contains("--features sql"),
        "{errors}"
    );
}

#[cfg(feature = "sql")]
mod with_it {
    use super::{run, sample};
    use crate::support::{json, stdout};

    fn answer(query: &str, format: &str) -> String {
        stdout(["sql", &sample("frag_oom.pickle").display().to_string(), query, "--format", format])
    }

    #[test]
    fn answers_agree_with_stats() {
        let file = sample("frag_oom.pickle").display().to_string();
        let stats = json(["stats", &file, "--format", "json"]);
        let query = "select count(*) as events, sum(action = 'oom') as ooms from events";
        let expected = format!("events,ooms\n{},1\n", stats[0]["events"]);
        assert_eq!(answer(query, "csv"), expected);
        assert_eq!(answer(query, "jsonl"), format!("{{\"events\":{},\"ooms\":1}}\n", stats[0]["events"]));
        assert_eq!(answer(query, "text"), format!("events  ooms\n  {}     1\n", stats[0]["events"]));
    }

    #[test]
    fn a_database_answers_as_the_command_does() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("all.db").display().to_string();
        let file = sample("two_devices_oom.pickle").display().to_string();
        stdout(["export", &file, "--format", "sqlite", "-o", &out]);
        let bytes = std::fs::read(&out).expect("it is written");
        assert!(bytes.starts_with(b"SQLite format 3\0"));
        assert!(
            answer("select name from sqlite_schema order by name", "csv").starts_with("name\nallocations\n")
        );
    }

    #[test]
    fn what_is_no_question_is_refused_with_a_hint() {
        let file = sample("frag_oom.pickle").display().to_string();
        for query in ["delete from events", "select * from nothing", "hello"] {
            let output = run(["sql", &file, query]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{query}");
            assert!(
                errors.contains("the query is not answered: ") && errors.contains("docs/export.md"),
                "{errors}"
            );
        }
    }
}
