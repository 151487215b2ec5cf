//! What single operations do to the types of numbers under autocast.

/// Files of modules that multiply by a parameter.
pub(super) const PRODUCTS: [&str; 3] =
    ["torch/nn/modules/linear.py", "torch/nn/modules/conv.py", "transformers/pytorch_utils.py"];

/// What an operation does to the types of numbers under autocast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::remedies) enum OperationKind {
    /// It multiplies matrices.
    Product,
    /// It normalizes, in fp32.
    Norm,
    /// It looks rows up, in the type of its table.
    Embedding,
    /// It computes in fp32 otherwise.
    Fp32,
    /// Another function of torch, which keeps the type.
    Same,
    /// An operation in the code of the program or a library, such as `a + b`.
    Own,
}

/// What an operation does whose innermost frame is in a function; see the lists of autocast in torch's documentation.
pub(super) fn operation_kind(file: &str, name: &str) -> OperationKind {
    let plain = name.rsplit('.').next().unwrap_or(name);
    let is_product = |file: &str| {
        PRODUCTS.iter().any(|ending| file.ends_with(ending)) || file.ends_with("torch/nn/modules/rnn.py")
    };
    if is_product(file) {
        return OperationKind::Product;
    }
    if file.ends_with("torch/nn/functional.py") {
        return match plain {
            "layer_norm"
            | "group_norm"
            | "instance_norm"
            | "rms_norm"
            | "local_response_norm"
            | "normalize" => OperationKind::Norm,
            "embedding" | "embedding_bag" => OperationKind::Embedding,
            "softmax" | "log_softmax" | "softmin" | "cosine_similarity" => OperationKind::Fp32,
            "multi_head_attention_forward" | "_in_projection_packed" | "_in_projection" => {
                OperationKind::Product
            }
            _ if plain.contains("loss") || plain.contains("entropy") => OperationKind::Fp32,
            _ => OperationKind::Same,
        };
    }
    if file.contains("torch/nn/modules/") || file.ends_with("transformers/activations.py") {
        OperationKind::Same
    } else {
        OperationKind::Own
    }
}
