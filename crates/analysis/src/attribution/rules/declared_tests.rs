//! The user's rules against sizes and lifetimes.

use crate::{Attribution, Category, RuleId, UserRules, Verdict};
use oomscope_fixtures::programs::{EVALUATE, LOAD, Program, SIZES};
use oomscope_model::{AllocId, Recording};

const MIB: i64 = 1 << 20;
const STORE: &[&str] = &["/home/me/store.py __init__", "/home/me/serve.py <module>"];

/// A server that keeps four equal blocks, and infers.
fn server() -> Recording {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    for _ in 0..4 {
        program.alloc(32 * MIB, STORE);
    }
    let output = program.alloc(2 * MIB, EVALUATE);
    program.free(output, EVALUATE);
    program.finish()
}

/// The verdicts on the four blocks.
fn store(rules: &str) -> Vec<Verdict> {
    let (server, rules) = (server(), UserRules::parse(rules).expect("these are rules"));
    let found = Attribution::of(&server, &rules).categories;
    let first = SIZES.len() as u32;
    (first..first + 4).map(AllocId).map(|id| found.verdict(id)).collect()
}

#[test]
fn blocks_that_look_like_a_cache_are_what_a_rule_says() {
    assert_eq!(store(""), [Verdict::new(Category::KvCache, RuleId::EqualBlocks); 4]);
    for category in Category::ALL {
        let rule = format!("[[rule]]\ncategory = '{}'\nfile = 'store\\.py$'\n", category.key());
        assert_eq!(store(&rule), [Verdict::new(category, RuleId::UserRule); 4]);
    }
}
