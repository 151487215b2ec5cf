//! The words of the language: what parsing, errors and completion know of each key and flag.

/// What a term with a value asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Size,
    Lifetime,
    Stack,
    Site,
    Stream,
    Pool,
    Addr,
    Category,
    Basis,
    Rule,
    Meta,
    Event,
    After,
    Before,
    Live,
}

/// What a term without a value asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    Live,
    Awaiting,
    Kept,
    Before,
}

/// What there is to say about a key.
#[derive(Debug)]
pub(super) struct KeyWord {
    pub(super) key: Key,
    /// The name, then others for the same.
    pub(super) names: &'static [&'static str],
    /// How the name goes on.
    pub(super) start: &'static str,
    /// What a value is, for errors.
    pub(super) expects: &'static str,
    /// What it is for, for completion.
    pub(super) explains: &'static str,
}

/// What there is to say about a flag.
#[derive(Debug)]
pub(super) struct FlagWord {
    pub(super) flag: Flag,
    /// The name, then others for the same.
    pub(super) names: &'static [&'static str],
    /// What it is for, for completion.
    pub(super) explains: &'static str,
}

/// Every key.
pub(super) const KEYS: [KeyWord; 15] = [
    KeyWord {
        key: Key::Size,
        names: &["size"],
        start: "size>",
        expects: "a size such as 100MB, 512KiB or 1MiB..2MiB",
        explains: "requested bytes: size>100MB, size:1MiB..2MiB",
    },
    KeyWord {
        key: Key::Lifetime,
        names: &["lifetime"],
        start: "lifetime<",
        expects: "a time such as 10ms, 2s or 1000events",
        explains: "from alloc to free: lifetime<10ms, lifetime>1000events",
    },
    KeyWord {
        key: Key::Stack,
        names: &["stack"],
        start: "stack:",
        expects: "a text such as attention or train.py:55",
        explains: "text in any frame, as file:line function",
    },
    KeyWord {
        key: Key::Site,
        names: &["site"],
        start: "site:",
        expects: "a text such as attention or train.py:55",
        explains: "text in the first frame of your own code",
    },
    KeyWord {
        key: Key::Stream,
        names: &["stream"],
        start: "stream:",
        expects: "a stream's number such as 7",
        explains: "the stream that it was allocated on",
    },
    KeyWord {
        key: Key::Pool,
        names: &["pool"],
        start: "pool:",
        expects: "private, default, or a pool such as 1.0",
        explains: "the memory pool: private, default or its number",
    },
    KeyWord {
        key: Key::Addr,
        names: &["addr", "address"],
        start: "addr:",
        expects: "an address such as 0x7f21ac000000, or a range of two",
        explains: "contains the address, or touches the range of two",
    },
    KeyWord {
        key: Key::Category,
        names: &["category"],
        start: "category:",
        expects: "a category such as activation",
        explains: "what it is for, or the category that was recorded with it",
    },
    KeyWord {
        key: Key::Basis,
        names: &["basis"],
        start: "basis:",
        expects: "declared, seen, followed, inferred or unknown",
        explains: "how surely its category is known: basis:inferred",
    },
    KeyWord {
        key: Key::Rule,
        names: &["rule"],
        start: "rule:",
        expects: "the name of a rule such as module-call",
        explains: "text in the name of the rule that decided its category",
    },
    KeyWord {
        key: Key::Meta,
        names: &["meta", "metadata", "annotation"],
        start: "meta:",
        expects: "a text of its metadata",
        explains: "text in its metadata or compile context",
    },
    KeyWord {
        key: Key::Event,
        names: &["event", "events"],
        start: "event:",
        expects: "an event's number such as 41220, or a range such as 100..200",
        explains: "allocated by this event, or within event:100..200",
    },
    KeyWord {
        key: Key::After,
        names: &["after"],
        start: "after:",
        expects: "an event's number, peak or oom",
        explains: "allocated later than an event, peak or oom",
    },
    KeyWord {
        key: Key::Before,
        names: &["before"],
        start: "before:",
        expects: "an event's number, peak or oom",
        explains: "allocated earlier than an event, peak or oom",
    },
    KeyWord {
        key: Key::Live,
        names: &["live"],
        start: "live:",
        expects: "an event's number, peak, oom or end",
        explains: "live after an event, at the peak, oom or end",
    },
];

/// Every flag.
pub(super) const FLAGS: [FlagWord; 4] = [
    FlagWord { flag: Flag::Live, names: &["live"], explains: "live at the cursor" },
    FlagWord {
        flag: Flag::Awaiting,
        names: &["awaiting"],
        explains: "given back and still waiting for a stream at the cursor",
    },
    FlagWord { flag: Flag::Kept, names: &["kept", "leaked"], explains: "never freed in the recording" },
    FlagWord { flag: Flag::Before, names: &["before"], explains: "from before the recording" },
];

/// The key of a name.
pub(super) fn key(name: &str) -> Option<&'static KeyWord> {
    KEYS.iter().find(|word| is_one_of(name, word.names))
}

/// The flag of a name.
pub(super) fn flag(name: &str) -> Option<&'static FlagWord> {
    FLAGS.iter().find(|word| is_one_of(name, word.names))
}

/// Whether a text is the name of a key or flag, so that it is no plain text.
pub(super) fn is_word(text: &str) -> bool {
    key(text).is_some() || flag(text).is_some()
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The key that a misspelt name probably means.
pub(super) fn nearest_key(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 24;
    if LONGEST < name.len() {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let all = KEYS.iter().flat_map(|word| word.names.iter().map(move |known| (*known, word.names[0])));
    // A short name is near to everything.
    let near = |known: &str| if known.len().min(name.len()) < 6 { 1 } else { 2 };
    all.map(|(known, first)| (distance(&name, known), near(known), first))
        .filter(|(distance, near, _)| distance <= near)
        .min_by_key(|&(distance, _, _)| distance)
        .map(|(_, _, first)| first)
}

/// Letters to add, remove, replace or swap with their neighbour to get from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if 1 < i && 1 < j && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_keys_find_theirs() {
        let cases = [
            ("sise", Some("size")),
            ("szie", Some("size")),
            ("Steam", Some("stream")),
            ("lifetme", Some("lifetime")),
            ("adress", Some("addr")),
            ("metdata", Some("meta")),
            ("pol", Some("pool")),
            ("thread", None),
            ("x", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest_key(name), expected, "{name}");
        }
    }

    #[test]
    fn every_name_means_one_thing() {
        let keys = KEYS.iter().flat_map(|word| word.names).collect::<Vec<_>>();
        let flags = FLAGS.iter().flat_map(|word| word.names).collect::<Vec<_>>();
        for names in [keys, flags] {
            let different: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(different.len(), names.len());
        }
        for word in &KEYS {
            assert!(word.start.starts_with(word.names[0]));
        }
    }
}
