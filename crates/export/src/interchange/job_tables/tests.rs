//! The documentation of the tables, and categories that are all there.

use super::{JOB_TABLES, ranks};
use crate::interchange::documentation::section;
use oomscope_analysis::Category;

#[test]
fn every_category_has_its_column() {
    let columns = ranks::TABLE.columns();
    for category in Category::ALL {
        let name = format!("{}_bytes", category.key());
        assert_eq!(columns.iter().filter(|column| column.name == name).count(), 1, "{name}");
    }
}

#[test]
fn the_documentation_lists_all_columns() {
    let documented = include_str!("../../../../../docs/ranks.md");
    let sections = JOB_TABLES.map(|table| section(table.name, table.about, &table.columns()));
    let expected = sections.concat();
    assert!(documented.contains(expected.trim_end()), "docs/ranks.md must contain:\n{expected}");
}
