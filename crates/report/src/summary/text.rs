//! The table as PyTorch prints it, character by character where all is known.

use super::{Figures, METRICS, MemorySummary, Metric, OVERSIZE, Shown};
use oomscope_simulator::Counters;
use std::fmt::Write as _;

/// Characters between the outer bars.
const WIDTH: usize = 75;

/// The table of `torch.cuda.memory_summary()`. What is at least so much has a `≥`, what is not known a `–`.
pub fn summary_text(summary: &MemorySummary) -> String {
    let statistics = &summary.statistics;
    let [ooms, retries] =
        [statistics.all.num_ooms, statistics.all.num_alloc_retries].map(|count| plain(summary.count(count)));
    let mut lines = vec![
        "=".repeat(WIDTH),
        format!(" {:16} PyTorch CUDA memory summary, device ID {:<17} ", "", summary.device),
        "-".repeat(WIDTH),
        format!("  {:9} CUDA OOMs: {ooms:<12} | {:6} cudaMalloc retries: {retries:<8}  ", "", ""),
        "=".repeat(WIDTH),
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ".to_owned(),
    ];
    for metric in &METRICS {
        lines.push("-".repeat(WIDTH));
        let all = summary.figures(metric, &statistics.all);
        let mut row = |title: &str, counters: &Counters| {
            lines.push(line(metric, title, summary.figures(metric, counters), all));
        };
        row(metric.title, &statistics.all);
        row("      from large pool", &statistics.large);
        row("      from small pool", &statistics.small);
    }
    for metric in &OVERSIZE {
        lines.push("-".repeat(WIDTH));
        let all = summary.figures(metric, &statistics.all);
        lines.push(line(metric, metric.title, all, all));
    }
    lines.push("=".repeat(WIDTH));
    lines.iter().fold(String::new(), |mut out, line| {
        _ = writeln!(out, "|{line}|");
        out
    })
}

/// A row. Its units are those of the row of all memory.
fn line(metric: &Metric, title: &str, figures: Figures, all: Figures) -> String {
    let cell = |shown: Shown, of_all: Shown| {
        let all = of_all.value().unwrap_or(0);
        if metric.is_bytes { size_cell(shown, all) } else { count_cell(shown, all) }
    };
    format!(
        " {title:<21} |{} |{} |{} |{} ",
        cell(figures.current, all.current),
        cell(figures.peak, all.peak),
        cell(figures.allocated, all.allocated),
        cell(figures.freed, all.freed),
    )
}

/// As `_format_size` of torch/cuda/memory.py, with the space before it.
fn size_cell(shown: Shown, all: u64) -> String {
    let mut unit = "B  ";
    let (mut divisor, mut rest) = (1_u64, all as f64);
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if rest < f64::from(768 * 1024) {
            break;
        }
        (unit, divisor, rest) = (larger, divisor * 1024, rest / 1024.0);
    }
    format!("{:>7} {unit}", scaled(shown, divisor))
}

/// As `_format_count`.
fn count_cell(shown: Shown, all: u64) -> String {
    let mut unit = " ";
    let (mut divisor, mut rest) = (1_u64, all as f64);
    for larger in ["K", "M"] {
        if rest < f64::from(750 * 1000) {
            break;
        }
        (unit, divisor, rest) = (larger, divisor * 1000, rest / 1000.0);
    }
    format!("{:>8} {unit} ", scaled(shown, divisor))
}

fn scaled(shown: Shown, divisor: u64) -> String {
    plain(match shown {
        Shown::Exactly(value) => Shown::Exactly(value / divisor),
        Shown::AtLeast(value) => Shown::AtLeast(value / divisor),
        Shown::Unknown => Shown::Unknown,
    })
}

fn plain(shown: Shown) -> String {
    match shown {
        Shown::Exactly(value) => value.to_string(),
        Shown::AtLeast(value) => format!("≥{value}"),
        Shown::Unknown => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_unit_of_the_whole_row() {
        assert_eq!(size_cell(Shown::Exactly(767 << 10), 767 << 10), " 785408 B  ");
        assert_eq!(size_cell(Shown::Exactly(768 << 10), 768 << 10), "    768 KiB");
        assert_eq!(size_cell(Shown::Exactly(1500 << 10), 3 << 30), "      1 MiB");
        assert_eq!(size_cell(Shown::AtLeast(767 << 10), 767 << 10), "≥785408 B  ");
        assert_eq!(size_cell(Shown::Unknown, 0), "      – B  ");
        assert_eq!(count_cell(Shown::Exactly(80), 80), "      80   ");
        assert_eq!(count_cell(Shown::AtLeast(750_000), 750_000), "    ≥750 K ");
    }
}
