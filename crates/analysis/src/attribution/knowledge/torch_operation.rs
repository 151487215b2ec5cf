//! What a function of torch computes, by the file and name of its frame.

/// What a frame computes. The modules and functions of torch are told apart as far as somebody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TorchOperation {
    /// A module that multiplies by a parameter: a linear layer, a convolution.
    Product,
    /// A recurrent module.
    Recurrent,
    /// The products of `nn.MultiheadAttention`.
    Attention,
    /// A norm.
    Norm,
    /// It looks rows of a table up.
    Embedding,
    /// Exponentials that add up to one.
    Softmax,
    /// Their logarithms.
    LogSoftmax,
    /// It leaves numbers out at random.
    Dropout,
    /// The largest of some numbers, and where they are, which takes eight bytes for each.
    MaxPool,
    /// The cross entropy of logits.
    CrossEntropy,
    /// A loss other than cross entropy.
    Loss,
    /// Another function that autocast computes in fp32.
    Fp32,
    /// Another function or module of torch, or an activation function of transformers.
    Other,
    /// Anything else: code of the program or of a library.
    None,
}

impl TorchOperation {
    /// What the frame with a file and a function computes. Folders are separated by slashes.
    pub fn of(file: &str, name: &str) -> Self {
        const PRODUCTS: [&str; 3] =
            ["torch/nn/modules/linear.py", "torch/nn/modules/conv.py", "transformers/pytorch_utils.py"];
        if PRODUCTS.iter().any(|ending| file.ends_with(ending)) {
            Self::Product
        } else if file.ends_with("torch/nn/modules/rnn.py") {
            Self::Recurrent
        } else if file.ends_with("torch/nn/functional.py") {
            Self::of_function(name.rsplit('.').next().unwrap_or(name))
        } else if file.contains("torch/nn/modules/") || file.ends_with("transformers/activations.py") {
            Self::Other
        } else {
            Self::None
        }
    }

    /// What a function of `torch.nn.functional` computes.
    fn of_function(name: &str) -> Self {
        match name {
            "layer_norm"
            | "group_norm"
            | "instance_norm"
            | "rms_norm"
            | "local_response_norm"
            | "normalize" => Self::Norm,
            "embedding" | "embedding_bag" => Self::Embedding,
            "softmax" => Self::Softmax,
            "log_softmax" => Self::LogSoftmax,
            "softmin" | "cosine_similarity" => Self::Fp32,
            "dropout" => Self::Dropout,
            "cross_entropy" => Self::CrossEntropy,
            _ if name.contains("max_pool") => Self::MaxPool,
            "multi_head_attention_forward" | "_in_projection_packed" | "_in_projection" => Self::Attention,
            _ if name.contains("loss") || name.contains("entropy") => Self::Loss,
            _ => Self::Other,
        }
    }

    /// Whether it computes a loss, and returns nothing else.
    pub fn is_loss(self) -> bool {
        matches!(self, Self::CrossEntropy | Self::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::TorchOperation as Is;

    #[test]
    fn functions_and_modules_are_told_apart() {
        let of = |inner: &str, name: &str| Is::of(&format!("/env/site-packages/torch/nn/{inner}"), name);
        assert_eq!(of("modules/linear.py", "forward"), Is::Product);
        assert_eq!(of("modules/rnn.py", "forward"), Is::Recurrent);
        assert_eq!(of("modules/activation.py", "forward"), Is::Other);
        assert_eq!(of("functional.py", "softmax"), Is::Softmax);
        assert_eq!(of("functional.py", "gelu"), Is::Other);
        assert_eq!(of("functional.py", "_max_pool2d"), Is::MaxPool);
        assert!(of("functional.py", "cross_entropy").is_loss() && of("functional.py", "mse_loss").is_loss());
        assert!(!of("functional.py", "log_softmax").is_loss());
        assert_eq!(Is::of("/home/me/model.py", "softmax"), Is::None);
        assert_eq!(Is::of("/env/site-packages/transformers/pytorch_utils.py", "forward"), Is::Product);
    }
}
