//! Bytes of categories in words, with the part that is only inferred.

use oomscope_analysis::{CategoryBytes, InferredPart};
use oomscope_units as units;

/// The legend of `≈`, for the end of a text that uses it.
pub const CATEGORY_LEGEND: &str = "≈: inferred from sizes, numbers, order or places";

/// `12.3 GiB`; `≈ 12.3 GiB` where all of it is inferred, `12.3 GiB (≈ 4.00 GiB inferred)` where a part is.
pub fn category_amount(of: &CategoryBytes) -> String {
    let bytes = units::bytes(of.bytes);
    match InferredPart::of(of.bytes, of.inferred_bytes) {
        InferredPart::None => bytes,
        InferredPart::All => format!("≈ {bytes}"),
        InferredPart::Less | InferredPart::Most => {
            format!("{bytes} (≈ {} inferred)", units::bytes(of.inferred_bytes))
        }
    }
}

/// The category's name and its amount: `parameters 4.00 MiB`.
pub fn category_text(of: &CategoryBytes) -> String {
    format!("{} {}", of.category.label(), category_amount(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_analysis::Category;
    use oomscope_model::Bytes;

    #[test]
    fn what_is_inferred_is_marked() {
        let text = |inferred_bytes| {
            category_text(&CategoryBytes {
                category: Category::Parameter,
                bytes: Bytes(4 << 20),
                inferred_bytes,
                count: 1,
            })
        };
        assert_eq!(text(Bytes::ZERO), "parameters 4.00 MiB");
        assert_eq!(text(Bytes(1 << 20)), "parameters 4.00 MiB (≈ 1.00 MiB inferred)");
        assert_eq!(text(Bytes(4 << 20)), "parameters ≈ 4.00 MiB");
    }
}
