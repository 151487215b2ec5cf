//! Settings of the allocator, and what else a recording states by name.

/// Keys under which a snapshot has the text of the environment variable.
///
/// The first is of torch before 2.9, the second since then. Builds for other devices name it after theirs
/// (`memory_snapshot.cpp` of `torch_npu` and `torch_mlu`).
pub const CONF_VARIABLES: [&str; 6] = [
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_XPU_ALLOC_CONF",
    "PYTORCH_NPU_ALLOC_CONF",
    "PYTORCH_MLU_ALLOC_CONF",
];

/// A value of an allocator setting.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    /// `None`, or a value of a type that settings do not have.
    None,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// A text, such as `PYTORCH_CUDA_ALLOC_CONF`.
    Text(String),
    /// A table, such as `roundup_power2_divisions`.
    Table(Vec<Setting>),
    /// A list. The allocator has none; the recorder does.
    List(Vec<Self>),
}

impl SettingValue {
    /// The entries, if it is a table.
    pub(super) fn table(&self) -> Option<&[Setting]> {
        match self {
            Self::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The values, if it is a list.
    pub(super) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The switch, if it is one.
    pub(super) fn bool(&self) -> Option<bool> {
        match self {
            Self::Bool(switch) => Some(*switch),
            _ => None,
        }
    }

    /// The number, whole or not, if it is one.
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            Self::Int(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// The number, if it is a whole one.
    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }
}

/// The value of a name.
pub(super) fn entry<'a>(table: &'a [Setting], name: &str) -> Option<&'a SettingValue> {
    table.iter().find(|entry| entry.name == name).map(|entry| &entry.value)
}

/// One allocator setting that the recording process ran with.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The setting's name.
    pub name: String,
    /// Its value.
    pub value: SettingValue,
}
