//! The categories.

/// The purpose of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Category {
    /// A parameter or buffer of a model.
    Parameter,
    /// A gradient, finished or on its way through the graph.
    Gradient,
    /// State that an optimizer keeps from step to step.
    OptimizerState,
    /// Made in a model's forward, or for the loss.
    Activation,
    /// A batch, or another tensor that a model is given.
    Input,
    /// Needed briefly, within an optimizer's step or between steps; also a library's workspace.
    Temporary,
    /// A buffer for communication between devices.
    Comm,
    /// Keys and values that inference keeps.
    KvCache,
    /// In a private pool: of a CUDA graph, or one that the program made.
    GraphPool,
    /// Known to be none of these: results, accumulators, copies that the program keeps.
    Other,
    /// Nothing in the recording shows the purpose.
    Unknown,
}

impl Category {
    /// All categories, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Parameter,
        Self::Gradient,
        Self::OptimizerState,
        Self::Activation,
        Self::Input,
        Self::Temporary,
        Self::Comm,
        Self::KvCache,
        Self::GraphPool,
        Self::Other,
        Self::Unknown,
    ];

    /// Its name in JSON, CSV, filters and rules.
    pub fn key(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Gradient => "gradient",
            Self::OptimizerState => "optimizer_state",
            Self::Activation => "activation",
            Self::Input => "input",
            Self::Temporary => "temporary",
            Self::Comm => "comm",
            Self::KvCache => "kv_cache",
            Self::GraphPool => "graph_pool",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }

    /// Its name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Parameter => "parameters",
            Self::Gradient => "gradients",
            Self::OptimizerState => "optimizer state",
            Self::Activation => "activations",
            Self::Input => "inputs",
            Self::Temporary => "temporaries",
            Self::Comm => "communication",
            Self::KvCache => "KV cache",
            Self::GraphPool => "private pools",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }

    /// The category with a key, or with the name that PyTorch's profiler has for it.
    pub fn from_key(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let text = text.strip_prefix("category.").unwrap_or(&text);
        let known = Self::ALL.into_iter().find(|category| category.key() == text || category.label() == text);
        known.or(match text {
            "weight" | "weights" | "param" | "params" | "parameters" | "buffer" | "buffers" => {
                Some(Self::Parameter)
            }
            "grad" | "grads" | "gradients" => Some(Self::Gradient),
            "optimizer" | "optim_state" | "optimizer_states" => Some(Self::OptimizerState),
            "activations" | "autograd_detail" => Some(Self::Activation),
            "inputs" => Some(Self::Input),
            "temporaries" | "temp" | "workspace" => Some(Self::Temporary),
            "communication" => Some(Self::Comm),
            "kvcache" | "cache" => Some(Self::KvCache),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back() {
        for category in Category::ALL {
            assert_eq!(Category::from_key(category.key()), Some(category));
            assert_eq!(Category::ALL[category as usize], category);
        }
        assert_eq!(Category::from_key("Category.OPTIMIZER_STATE"), Some(Category::OptimizerState));
        assert_eq!(Category::from_key("phase"), None);
    }
}
