//! The remedies that simulate what a finding advises. Where they were simulated, only those count that apply to this program.

use oomscope_diagnosis::Finding;
use oomscope_remedies::Predictions;

/// The ids of these remedies; `NAME=VALUE` and `N` stand for others.
pub(super) fn simulated_by(finding: &Finding, predictions: Option<&Predictions>) -> Vec<&'static str> {
    let all = finding.id.kind().remedies.iter().copied();
    match predictions {
        None => all.collect(),
        Some(found) => all.filter(|id| found.remedies.iter().any(|remedy| is_one(id, &remedy.id))).collect(),
    }
}

/// Whether a remedy is the one that an id names, or one of those that it stands for.
fn is_one(id: &str, remedy: &str) -> bool {
    let before = id.strip_suffix("NAME=VALUE").or_else(|| id.strip_suffix('N'));
    before.map_or(id == remedy, |before| remedy.starts_with(before) && !remedy.contains('+'))
}

/// Where the saving of a finding's advice is told, if remedies simulate it.
pub fn simulated_text(finding: &Finding, predictions: Option<&Predictions>) -> Option<String> {
    text_of(&simulated_by(finding, predictions), predictions)
}

/// The words for such ids.
pub(super) fn text_of(ids: &[&str], predictions: Option<&Predictions>) -> Option<String> {
    let ids = ids.join(", ");
    let condition = if predictions.is_none() { ", where they apply" } else { "" };
    (!ids.is_empty()).then(|| format!("What it would save: see oomscope fixes ({ids}){condition}"))
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn ids_with_a_value_stand_for_all_values() {
        assert!(is_one("set:NAME=VALUE", "set:expandable_segments=True") && is_one("shard-N", "shard-8"));
        assert!(is_one("sgd", "sgd") && !is_one("sgd", "sgd-momentum"));
        assert!(!is_one("shard-N", "shard-8+sgd"));
    }
}
