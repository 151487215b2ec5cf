//! Parameters of tools: their names and types, for clients as JSON Schema and for the parsers of the command line.

use super::refusal::Refusal;
use serde_json::{Map, Value, json};

/// One parameter of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    /// Its name. The option of the command line has the same one, with hyphens.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    /// A number that stands for an argument that is left out.
    default: Option<i64>,
    /// For the client.
    pub(super) about: &'static str,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A path, which [`Folders`](super::folders::Folders) allow or refuse.
    Path,
    /// A text that the command takes without the name of an option.
    Operand,
    Text,
    Number,
    /// An option without a value.
    Flag,
    /// True or false, for the tool itself: no option of the command has its name.
    Switch,
}

impl Parameter {
    /// A parameter that a call may leave out.
    pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, is_required: false, default: None, about }
    }

    /// A parameter that every call needs.
    pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, is_required: true, default: None, about }
    }

    /// A number that is `default` where a call leaves it out.
    pub(super) const fn number(name: &'static str, default: i64, about: &'static str) -> Self {
        Self { name, kind: Kind::Number, is_required: false, default: Some(default), about }
    }

    /// Whether a value has the parameter's type.
    fn takes(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Path | Kind::Operand | Kind::Text => value.is_string(),
            Kind::Number => value.is_i64(),
            Kind::Flag | Kind::Switch => value.is_boolean(),
        }
    }

    fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Path | Kind::Operand | Kind::Text => "string",
            Kind::Number => "integer",
            Kind::Flag | Kind::Switch => "boolean",
        }
    }

    /// The option with a value, in one word, so that no value is taken for another option.
    pub(super) fn option(&self, value: Option<&Value>) -> Option<String> {
        let name = self.name.replace('_', "-");
        match (self.kind, value.filter(|value| !value.is_null())) {
            (Kind::Text, Some(Value::String(text))) => Some(format!("--{name}={text}")),
            (Kind::Number, Some(number)) => Some(format!("--{name}={number}")),
            (Kind::Number, None) => Some(format!("--{name}={}", self.default?)),
            (Kind::Flag, Some(Value::Bool(true))) => Some(format!("--{name}")),
            _ => None,
        }
    }
}

/// The parameters of a tool as JSON Schema.
pub(super) fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let property = |parameter: &Parameter| {
        let mut is = json!({ "type": parameter.type_name(), "description": parameter.about });
        if let Some(default) = parameter.default {
            is["default"] = default.into();
        }
        (parameter.name.to_owned(), is)
    };
    let properties: Map<String, Value> = parameters.iter().map(property).collect();
    let required = parameters.iter().filter(|parameter| parameter.is_required);
    let required: Vec<&str> = required.map(|parameter| parameter.name).collect();
    let mut out = Map::new();
    out.insert("type".to_owned(), "object".into());
    out.insert("properties".to_owned(), properties.into());
    out.insert("required".to_owned(), required.into());
    out.insert("additionalProperties".to_owned(), false.into());
    out
}

/// Refuse arguments that are missing, unknown or of another type. Null stands for an argument that is left out.
pub(super) fn check(parameters: &[Parameter], arguments: &Map<String, Value>) -> Result<(), Refusal> {
    for (name, value) in arguments {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
            let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
            let known = known.join(", ");
            return Err(Refusal::Arguments(format!("there is no argument {name:?}; it takes {known}")));
        };
        if !value.is_null() && !parameter.takes(value) {
            let wanted = parameter.type_name();
            return Err(Refusal::Arguments(format!("the argument {name} must be of type {wanted}")));
        }
    }
    let is_there = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
    match parameters.iter().find(|parameter| parameter.is_required && !is_there(parameter.name)) {
        Some(missing) => Err(Refusal::Arguments(format!("the argument {} is missing", missing.name))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [Parameter; 4] = [
        Parameter::required("file", Kind::Path, "A file"),
        Parameter::optional("at_a", Kind::Text, "A moment"),
        Parameter::number("top", 20, "Rows"),
        Parameter::optional("one_gpu", Kind::Flag, "Of one GPU"),
    ];

    fn checked(arguments: Value) -> Result<(), String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        check(&PARAMETERS, &arguments).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn arguments_of_other_names_and_types_are_refused() {
        assert_eq!(checked(json!({"file": "a", "top": 3, "at_a": null, "one_gpu": true})), Ok(()));
        assert_eq!(checked(json!({})), Err("the argument file is missing".to_owned()));
        for (arguments, named) in [
            (json!({"file": 1}), "file must be of type string"),
            (json!({"file": "a", "top": "3"}), "top must be of type integer"),
            (json!({"file": "a", "top": 1e300}), "top must be of type integer"),
            (
                json!({"file": "a", "output": "/tmp/x"}),
                "no argument \"output\"; it takes file, at_a, top, one_gpu",
            ),
        ] {
            assert!(checked(arguments.clone()).is_err_and(|error| error.contains(named)), "{arguments}");
        }
    }

    #[test]
    fn a_value_is_never_an_option_of_its_own() {
        assert_eq!(PARAMETERS[1].option(Some(&json!("--output=x"))).as_deref(), Some("--at-a=--output=x"));
        assert_eq!(PARAMETERS[2].option(Some(&json!(-1))).as_deref(), Some("--top=-1"));
        assert_eq!(PARAMETERS[2].option(None).as_deref(), Some("--top=20"));
        assert_eq!(PARAMETERS[1].option(None), None);
        assert_eq!(PARAMETERS[3].option(Some(&json!(true))).as_deref(), Some("--one-gpu"));
        assert_eq!(PARAMETERS[3].option(Some(&json!(false))), None);
        assert_eq!(PARAMETERS[0].option(Some(&json!("a"))), None);
    }
}
