//! What single operations do to the types of numbers under autocast.

use oomscope_analysis::TorchOperation;

/// What an operation does to the types of numbers under autocast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
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

/// See the lists of autocast in torch's documentation.
impl From<TorchOperation> for OperationKind {
    fn from(operation: TorchOperation) -> Self {
        match operation {
            TorchOperation::Product | TorchOperation::Recurrent | TorchOperation::Attention => Self::Product,
            TorchOperation::Norm => Self::Norm,
            TorchOperation::Embedding => Self::Embedding,
            TorchOperation::Softmax
            | TorchOperation::LogSoftmax
            | TorchOperation::CrossEntropy
            | TorchOperation::Loss
            | TorchOperation::Fp32 => Self::Fp32,
            TorchOperation::Dropout | TorchOperation::MaxPool | TorchOperation::Other => Self::Same,
            TorchOperation::None => Self::Own,
        }
    }
}
