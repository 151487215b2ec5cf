//! The categories.

use super::worded::worded;

worded! {
    /// The purpose of an allocation.
    #[repr(u8)]
    Category
    /// Its name for people.
    label

    /// A parameter or buffer of a model.
    Parameter "parameter" "parameters";
    /// A gradient, finished or on its way through the graph.
    Gradient "gradient" "gradients";
    /// State that an optimizer keeps from step to step.
    OptimizerState "optimizer_state" "optimizer state";
    /// Made in a model's forward, or for the loss.
    Activation "activation" "activations";
    /// A batch, or another tensor that a model is given.
    Input "input" "inputs";
    /// Needed briefly, within an optimizer's step or between steps; also a library's workspace.
    Temporary "temporary" "temporaries";
    /// A buffer for communication between devices.
    Comm "comm" "communication";
    /// Keys and values that inference keeps.
    KvCache "kv_cache" "KV cache";
    /// In a private pool: of a CUDA graph, or one that the program made.
    GraphPool "graph_pool" "private pools";
    /// Known to be none of these: results, accumulators, copies that the program keeps.
    Other "other" "other";
    /// Nothing in the recording shows the purpose.
    Unknown "unknown" "unknown";
}

impl Category {
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
