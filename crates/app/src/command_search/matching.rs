//! How well what is typed fits the name of a command.

/// How well a command fits: the least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The name starts with what is typed.
    Start,
    /// Every word starts one of the name's.
    Words,
    /// Every word starts one of the name's, or one of the other words to find it by.
    OtherWords,
    /// Every word is somewhere in the name.
    Within,
    /// The letters are in the name, in their order.
    Letters,
}

/// How what is typed fits a name, or the other words to find it by; `None` if it does not.
pub(super) fn fit(typed: &str, name: &str, also: &str) -> Option<Fit> {
    let [typed, name, also] = [typed, name, also].map(normal);
    let words: Vec<&str> = typed.split_whitespace().collect();
    let starts_any = |text: &str, word: &str| words_of(text).any(|known| known.starts_with(word));
    let letters = || {
        let mut rest = name.chars();
        words.concat().chars().all(|letter| rest.any(|known| known == letter))
    };
    if name.starts_with(typed.trim()) {
        Some(Fit::Start)
    } else if words.iter().all(|word| starts_any(&name, word)) {
        Some(Fit::Words)
    } else if words.iter().all(|word| starts_any(&name, word) || starts_any(&also, word)) {
        Some(Fit::OtherWords)
    } else if words.iter().all(|word| name.contains(word)) {
        Some(Fit::Within)
    } else {
        letters().then_some(Fit::Letters)
    }
}

/// In lower case, and spelled as the window spells.
fn normal(text: &str) -> String {
    text.to_lowercase().replace("color", "colour")
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_start_words_other_words_and_letters() {
        let fits = |typed| fit(typed, "Show segment timeline", "pane tab");
        assert_eq!(fits(""), Some(Fit::Start));
        assert_eq!(fits("show seg"), Some(Fit::Start));
        assert_eq!(fits("tim show"), Some(Fit::Words));
        assert_eq!(fits("segment pane"), Some(Fit::OtherWords));
        assert_eq!(fits("line"), Some(Fit::Within));
        assert_eq!(fits("sstl"), Some(Fit::Letters));
        assert_eq!(fits("peak"), None);
        assert_eq!(fit("color", "Colour by stack", ""), Some(Fit::Start));
    }
}
