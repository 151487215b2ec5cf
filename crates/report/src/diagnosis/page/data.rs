//! The figures behind the timeline, for the script of the page: exact bytes of every column and mark.

use super::bars;
use super::drawings::NARROW;
use super::figure::{FigureInstant, MarkKind, MemoryFigure};
use super::parts::{Plot, Readings};
use oomscope_analysis::{Category, Phase};
use oomscope_model::Bytes;
use serde_json::{Value, json};

impl Readings {
    /// The data as JSON that can stand in a script. They are numbers and words of the program's own: no text of a file is
    /// among them. All the same, nothing in them can end the script or a line of it.
    pub(super) fn data(&self) -> String {
        let mut data = self.figure.json();
        data["narrow"] = json!(NARROW);
        data["plots"] = json!([plot(self.wide), plot(self.narrow)]);
        let text = data.to_string();
        text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }
}

impl MemoryFigure {
    fn json(&self) -> Value {
        let of = |value: fn(&FigureInstant) -> Value| self.instants().map(value).collect::<Vec<_>>();
        let marks = self.marks.iter().map(|mark| {
            json!({
                "kind": kind(mark.kind), "column": mark.column, "title": mark.title(),
            })
        });
        let bands = self.categories().into_iter().rev().map(|category| self.band_json(category));
        json!({
            "columns": self.columns.len(),
            "full": self.full_bytes(),
            "bar": bars::SIZE[0],
            // Instants of the columns, then those of the marks.
            "event": of(|instant| json!(i64::from(instant.moment.0) - 1)),
            "time_us": of(|instant| json!(instant.time_us)),
            "allocated": of(|instant| json!(instant.allocated)),
            "active": of(|instant| json!(instant.active)),
            "reserved": of(|instant| json!(instant.reserved)),
            "most_reserved": self.columns.iter().map(|column| column.most_reserved).collect::<Vec<_>>(),
            "iteration": of(|instant| json!(instant.iteration)),
            "is_numbered": self.is_numbered,
            "phases": Phase::ALL.map(Phase::key),
            "phase": of(|instant| json!(instant.phase.and_then(|key| Phase::ALL.iter().position(|phase| phase.key() == key)))),
            "bands": bands.collect::<Vec<_>>(),
            "marks": marks.collect::<Vec<_>>(),
            "at": self.at,
        })
    }

    fn band_json(&self, category: Category) -> Value {
        let column = |part: usize| -> Vec<Bytes> {
            self.instants().map(|instant| instant.bytes_of(category)[part]).collect()
        };
        let inferred = column(1);
        let inferred = inferred.iter().any(|&bytes| bytes != 0).then_some(inferred);
        json!({"name": category.label(), "bytes": column(0), "inferred": inferred})
    }
}

/// The place of columns in a drawing: left, right, top and bottom, in hundredths of its width and height.
fn plot(plot: Plot) -> Value {
    let hundredths = |[from, to]: [f64; 2]| [from, to].map(|part| (part * 1e4).round() / 1e2);
    json!({"x": hundredths(plot.x), "y": hundredths(plot.y)})
}

fn kind(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Peak => "peak",
        MarkKind::OutOfMemory => "oom",
        MarkKind::Report => "report",
    }
}
