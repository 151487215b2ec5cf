//! The labels of all stacks of a file, put together in the background.

use crate::work::worker::Task;
use oomscope_analysis::SiteLabels;
use oomscope_model::Snapshot;
use std::sync::Arc;

/// Puts the labels of a file's stacks together.
#[derive(Clone)]
pub(crate) struct LabelTask(pub(crate) Arc<Snapshot>);

impl Task for LabelTask {
    type Request = ();
    type Response = Arc<SiteLabels>;

    fn run(&self, (): &()) -> Arc<SiteLabels> {
        Arc::new(SiteLabels::new(&self.0))
    }
}
