//! The labels of all stacks of a file, put together in the background.

use crate::work::worker::Task;
use oomscope_analysis::{StackLabels, module_labels};
use oomscope_model::Snapshot;
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
