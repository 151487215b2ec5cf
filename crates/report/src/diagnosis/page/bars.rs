//! Bars before amounts. All begin where their list begins, and those of a list have one scale.

use super::super::sink::{Amount, Cell, Table};
use super::markup::Html;
use oomscope_analysis::Category;
use oomscope_model::Bytes;

/// Width and height of a full bar, in units of its own.
pub(super) const SIZE: [f64; 2] = [72.0, 9.0];

/// The colour of amounts that are for several things.
const PLAIN: &str = "fill-plain";

/// A part of a bar: its share of the full one, and the classes of its colour.
pub(super) struct BarPart {
    pub(super) share: f64,
    pub(super) fill: String,
}

impl BarPart {
    /// A part of a bar that is full at some bytes.
    pub(super) fn of(amount: &Amount, full: Bytes) -> Self {
        let inferred = if amount.is_inferred { " inferred" } else { "" };
        let fill = amount.category.map_or_else(|| PLAIN.to_owned(), fill);
        Self { share: share(amount.bytes, full), fill: format!("{fill}{inferred}") }
    }
}

/// The class with the colour of a category.
pub(super) fn fill(category: Category) -> String {
    format!("fill-{}", category.key())
}

/// A share of a full bar, whatever a file says.
pub(super) fn share(bytes: Bytes, full: Bytes) -> f64 {
    (bytes.as_f64() / full.max(Bytes(1)).as_f64()).clamp(0.0, 1.0)
}

fn amounts(row: &[Cell]) -> Vec<&Amount> {
    row.iter().filter_map(Cell::amount).collect()
}

impl Html {
    /// The bytes of a full bar of a table that compares amounts; `None` for others.
    pub(super) fn full_bar(table: &Table) -> Option<Bytes> {
        let rows = table.rows.iter().map(|row| amounts(row)).filter(|amounts| !amounts.is_empty());
        let sums: Vec<Bytes> = rows.map(|amounts| amounts.iter().map(|amount| amount.bytes).sum()).collect();
        sums.iter().copied().max().filter(|full| 1 < sums.len() && 0 < *full)
    }

    /// Write the cell with the bar of a row, of all its amounts. It is empty where the row has none.
    pub(super) fn row_bar(&mut self, row: &[Cell], full: Bytes) {
        let amounts = amounts(row);
        let is_alone = amounts.len() == 1;
        let shown = amounts.into_iter().filter(|amount| is_alone || 0 < amount.bytes);
        let parts: Vec<BarPart> = shown.map(|amount| BarPart::of(amount, full)).collect();
        self.bar(&parts);
    }

    /// Write the cell with the bar of a share that is for several things.
    pub(super) fn share_bar(&mut self, share: f64) {
        self.bar(&[BarPart { share, fill: PLAIN.to_owned() }]);
    }

    /// Write a cell with a bar of parts, one behind the other.
    pub(super) fn bar(&mut self, parts: &[BarPart]) {
        let [width, height] = SIZE;
        let Some(first) = parts.first() else {
            self.markup("<td class=\"bar\"></td>");
            return;
        };
        // The full bar, in a shade of its colour: that says which one it is even where there is nothing.
        let track = if parts.len() == 1 { &first.fill } else { PLAIN };
        self.computed(&format!(
            "<td class=\"bar\"><svg viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
             <rect class=\"track {track}\" width=\"{width}\" height=\"{height}\"/>"
        ));
        let mut start = 0.0;
        for BarPart { share, fill } in parts {
            let long = (share * width).min(width - start);
            self.computed(&format!(
                "<rect class=\"{fill}\" x=\"{start:.1}\" width=\"{long:.1}\" height=\"{height}\"/>"
            ));
            start += long;
        }
        self.markup("</svg></td>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::Column;

    fn table(rows: Vec<Vec<Cell>>) -> Table {
        Table { style: None, columns: vec![Column { title: "", is_number: true }], rows }
    }

    #[test]
    fn bars_of_a_table_have_one_scale_and_the_colours_of_categories() {
        let amount = |bytes, category| Cell::Amount(Amount { category, ..Amount::of(Bytes(bytes)) });
        let stacked = vec![amount(30, Some(Category::Gradient)), amount(10, Some(Category::Activation))];
        let table = table(vec![vec![amount(20, None)], stacked, vec![Cell::Number("7".to_owned())]]);
        let full = Html::full_bar(&table).expect("it compares amounts");
        let mut page = Html::default();
        table.rows.iter().for_each(|row| page.row_bar(row, full));
        let rect = |fill, x, width| {
            format!("<rect class=\"fill-{fill}\" x=\"{x}\" width=\"{width}\" height=\"9\"/>")
        };
        for bar in [
            rect("plain", "0.0", "36.0") + "</svg></td><td class=\"bar\">",
            rect("gradient", "0.0", "54.0") + &rect("activation", "54.0", "18.0") + "</svg></td>",
        ] {
            assert!(page.out.contains(&bar), "{bar} is not in {}", page.out);
        }
        assert_eq!(page.out.matches("class=\"track fill-plain\" width=\"72\"").count(), 2);
        assert!(page.out.ends_with("<td class=\"bar\"></td>"), "no amount, no bar");
    }

    #[test]
    fn what_compares_no_amounts_has_no_bars() {
        let amount = |bytes| vec![Cell::Amount(Amount::of(Bytes(bytes)))];
        let count = vec![Cell::Number("7".to_owned())];
        assert!(Html::full_bar(&table(vec![amount(5), count])).is_none());
        assert!(Html::full_bar(&table(vec![amount(0), amount(-5)])).is_none(), "of a damaged file");
        assert_eq!(share(Bytes(-5), Bytes(7)), 0.0);
        assert_eq!(share(Bytes(9), Bytes(0)), 1.0);
    }
}
