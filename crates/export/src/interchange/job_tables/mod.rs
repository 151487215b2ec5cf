//! Tables of a job's recordings: one file and one line in [`JOB_TABLES`] each.
//!
//! They are small, so that each node of a large job writes those of its own recordings, and engines read all of them.

mod iterations;
mod lines;
mod ranks;
mod row;
mod table;

pub use table::JobTable;

/// All tables of a job, in the order of the documentation.
pub const JOB_TABLES: [&JobTable; 3] = [&ranks::TABLE, &iterations::TABLE, &lines::TABLE];

#[cfg(test)]
mod tests;
