//! Names on the command line for values of inner layers, which know nothing of clap.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value with its names on the command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<T> {
    pub(super) value: T,
    pub(super) name: &'static str,
    /// A line for `--help`.
    help: Option<&'static str>,
    /// An older name, which works and is not shown.
    old_name: Option<&'static str>,
}

/// A value with its name.
pub(super) const fn named<T>(name: &'static str, value: T) -> Named<T> {
    Named { value, name, help: None, old_name: None }
}

impl<T: Copy> Named<T> {
    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }

    pub(super) const fn old_name(self, name: &'static str) -> Self {
        Self { old_name: Some(name), ..self }
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.old_name == Some(name)
    }

    fn possible_value(self) -> PossibleValue {
        PossibleValue::new(self.name).help(self.help).aliases(self.old_name)
    }
}

/// A parser of the names in a table, which returns their values.
pub(super) fn one_of<T>(table: impl IntoIterator<Item = Named<T>>) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let table: Vec<Named<T>> = table.into_iter().collect();
    let names: Vec<PossibleValue> = table.iter().copied().map(Named::possible_value).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = table.iter().find(|named| named.answers_to(&given));
        found.map(|named| named.value).ok_or("not one of the names")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    const TABLE: [Named<u8>; 2] = [named("one", 1), named("two", 2).help("a pair").old_name("couple")];

    #[test]
    fn a_value_has_its_name_and_its_old_one() {
        let parsed = |text: &str| {
            let command = clap::Command::new("test");
            one_of(TABLE).parse_ref(&command, None, OsStr::new(text)).ok()
        };
        assert_eq!(["one", "two", "couple", "three"].map(parsed), [Some(1), Some(2), Some(2), None]);
    }

    #[test]
    fn the_old_name_is_not_shown() {
        let parser = one_of(TABLE);
        let shown = parser.possible_values().expect("names").flat_map(|value| {
            let name = value.get_name().to_owned();
            [name, value.get_help().map(ToString::to_string).unwrap_or_default()]
        });
        assert_eq!(shown.collect::<Vec<_>>(), ["one", "", "two", "a pair"]);
    }
}
