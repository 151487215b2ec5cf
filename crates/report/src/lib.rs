//! From analysis results to text: the same figures for people and for programs.
//!
//! Functions here write to whatever they are given. They do not decide what is worth saying, and
//! they do not know where the text goes.
//!
//! This package knows no windows and no files.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_analysis::{Attribution, UserRules};
//! use oomscope_remedies::predict_all;
//! use oomscope_report::remedies_headline;
//! use oomscope_model::Recording;
//! use std::sync::Arc;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = Arc::new(load(&Input::File(sample.into()), &Progress::default())?);
//! let recording = Recording::main(&snapshot).ok_or("no device")?;
//! let attribution = Attribution::of(&recording, &UserRules::default());
//! let found = predict_all(&recording, &attribution, None).ok_or("no trace to change")?;
//! assert!(remedies_headline(&found).starts_with("The cheapest change"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod notes;

mod baseline;
mod because_text;
mod category_text;
mod columns;
mod comparison;
mod csv_text;
mod damage;
mod diagnosis;
mod explain;
mod fits;
mod flame_svg;
mod folders;
mod gate;
mod headline;
mod iterations;
mod json;
mod kept;
mod lay_out;
mod listing;
mod live;
mod modules;
mod named_tensor;
mod needs;
mod note_places;
mod position;
mod predicted;
mod prices;
mod projection;
mod projection_parts;
pub mod ranks;
mod remedies;
mod series;
mod settings;
mod simulation;
mod stand_ins;
mod stated_error;
mod stats;
mod stats_request;
mod summary;
mod table;
mod tables;
mod text_style;
mod trust;
mod verdict_questions;
mod weights;

pub use baseline::read_baseline;
pub use because_text::{allocation_name, because_text};
pub use category_text::{CATEGORY_LEGEND, category_amount, category_text};
pub use columns::{CsvRows, columns_text};
pub use comparison::{
    CompareBy, ComparisonReport, NamedRow, Promises, comparison_html, comparison_json, comparison_markdown,
    comparison_sentence, comparison_svg, comparison_text, operators_remark,
    side_text as comparison_side_text,
};
pub use csv_text::{io_error as csv_error, spreadsheet_safe};
pub use diagnosis::{
    Answer, Document, Drawing, FigureColumn, FigureInstant, FigureMark, Fix, MAX_MARKDOWN_CHARS, MarkKind,
    MemoryFigure, PageParts, PageTimeline, Picture, Plot, Readings, RemedyText, ReportInput, TextDetail,
    Theme, answer, fix, fix_of, kind_text, quoted, report_html, report_json, report_markdown, report_text,
    simulated_heading, simulated_text, verdict_json,
};
pub use explain::{Explanation, explain_json, explain_text};
pub use fits::{fit_words, outcome_in_short, outcome_text};
pub use flame_svg::{FlameSvg, flame_svg};
pub use folders::{ListedFile, ListedFolder, folders_json};
pub use gate::{
    GateFailure, GateLine, GateReport, GrownRow, SourceLine, gate_github, gate_json, gate_junit,
    gate_markdown, gate_name, gate_source, gate_text,
};
pub use headline::{caption_lines, headline, moment_name, moment_text, when_text};
pub use iterations::{ITERATION_COLUMNS, iteration_cells, iteration_name, iteration_phases, iterations_csv};
pub use json::write_text as write_json_text;
pub use kept::{KeptError, KeptPromises, MAX_PROMISES_BYTES, Promise, RecordingMark, kept_promises};
pub use lay_out::{LaidDevice, LaidOn, laid_out_json};
pub use listing::{GlanceText, ListedGlance, listing_text};
pub use live::{LiveRow, LiveSet, live_csv, live_json, live_rows, live_text};
pub use modules::{
    main_module_rows, module_calls_text, module_cells, module_columns, module_indent, module_label,
    modules_csv,
};
pub use named_tensor::named_text;
pub use note_places::place_words;
pub use predicted::{predicted_line, predicted_title};
pub use prices::{NO_PRICE, price_text};
pub use projection::projection_lines;
pub use projection_parts::projection_text;
pub use remedies::{
    RemediesReport, fits_or_until, largest_batch_line, recording_mark, remedies_headline, remedies_in_words,
    remedies_json, remedies_text, remedy_basis, remedy_change, remedy_fits, unchanged_name,
    without_effect_line, yes_or_no,
};
pub use series::{DeviceSeries, series_json};
pub use settings::non_default_settings;
pub use simulation::{Simulation, export_line, fidelity_text, simulation_json, simulation_text};
pub use stand_ins::stand_ins;
pub use stated_error::to_spare;
pub use stats::{stats_json, stats_text};
pub use stats_request::{FindMoment, StatsRequest};
pub use summary::{MemorySummary, summary_text};
pub use tables::{allocations_csv, events_csv};
pub use text_style::{MAX_WIDTH, TextStyle};
pub use trust::{device_lines, start_text, trust_lines, trust_sentences};
pub use verdict_questions::verdict_questions_text;
pub use weights::{measure_name, measure_text, weight_text};
