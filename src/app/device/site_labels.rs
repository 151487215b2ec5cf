//! The labels of all stacks of a file, put together in the background.

use crate::analysis::SiteLabels;
use crate::app::work::worker::Task;
use crate::model::Snapshot;
use std::sync::Arc;

/// Puts the labels of a file's stacks together.
#[derive(Clone)]
pub(in crate::app) struct LabelTask(pub(in crate::app) Arc<Snapshot>);

impl Task for LabelTask {
    type Request = ();
    type Response = Arc<SiteLabels>;

    fn run(&self, (): &()) -> Arc<SiteLabels> {
        Arc::new(SiteLabels::new(&self.0))
    }
}
