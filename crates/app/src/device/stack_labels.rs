//! The labels of all stacks of a file, and of the tensors of a device, put together in the background.

use crate::work::worker::Task;
use oomscope_analysis::{Attribution, StackLabels, TensorLabels, module_labels};
use oomscope_model::{Recording, Snapshot};
use std::sync::Arc;

/// What stacks are called.
pub(crate) struct Labels {
    /// By their sites.
    pub(crate) sites: Arc<StackLabels>,
    /// By their innermost modules.
    pub(crate) modules: Arc<StackLabels>,
}

/// Puts the labels of a file's stacks together.
#[derive(Clone)]
pub(crate) struct LabelTask(pub(crate) Arc<Snapshot>);

impl Task for LabelTask {
    type Request = ();
    type Response = Labels;

    fn run(&self, (): &()) -> Labels {
        Labels { sites: Arc::new(StackLabels::of_sites(&self.0)), modules: Arc::new(module_labels(&self.0)) }
    }
}

/// Puts the labels of a device's tensors together.
#[derive(Clone)]
pub(crate) struct TensorTask(pub(crate) Recording, pub(crate) Arc<Attribution>);

impl Task for TensorTask {
    type Request = ();
    type Response = Arc<TensorLabels>;

    fn run(&self, (): &()) -> Arc<TensorLabels> {
        Arc::new(TensorLabels::of(&self.0, &self.1.categories))
    }
}
