//! Leaves out what names users, hosts and projects: folders of paths, addresses and names of machines.
//!
//! They are known by their form. A bare word such as `gpu17` is not: it could be the name of anything.

use super::basename;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What stands for a machine or somebody's address.
const HIDDEN: &str = "[host]";

/// Last parts of names of machines that no module of a program has.
const DOMAINS: [&str; 11] =
    ["arpa", "com", "corp", "edu", "gov", "internal", "intranet", "lan", "localdomain", "mil", "org"];

/// Last parts that modules have, too, as in `agent.net`, and that need a hyphen before them. So do those of countries.
const AMBIGUOUS_DOMAINS: [&str; 10] =
    ["academy", "cloud", "cluster", "compute", "dev", "home", "info", "local", "net", "svc"];

/// Endings of two letters that files have, and so no countries.
const ENDINGS: [&str; 10] = ["cc", "cu", "gz", "js", "md", "ml", "pt", "py", "rs", "so"];

/// A text without folders and addresses.
///
/// Every word that looks like a path is its last part (`/home/me/train.py:5` reads `train.py:5`), and every address or name of a
/// machine (`me@node7`, `10.0.0.7`, `node7.example.com`, `ssh://node7`) reads `[host]`.
pub fn without_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let end = word.trim_end().len();
        let (word, space) = word.split_at(end);
        out.push_str(&without_hosts(word));
        out.push_str(space);
    }
    out
}

/// A word without folders and hosts.
fn without_hosts(word: &str) -> String {
    let word = without_authority(word);
    let word = if is_path(&word) { basename(&word) } else { &word };
    let mut out = String::with_capacity(word.len());
    for part in word.split_inclusive(is_separator) {
        let name = part.trim_end_matches(is_separator);
        out.push_str(if is_host(name) { HIDDEN } else { name });
        out.push_str(&part[name.len()..]);
    }
    out
}

/// A word without the machine of an address on the web: `http://user@node7:80/a` reads `http:[host]/a`.
fn without_authority(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let end = rest.find(['/', '\\', '"', '\'', ')', ',', '?', '#']).unwrap_or(rest.len());
    format!("{scheme}:{HIDDEN}{}", &rest[end..])
}

fn is_path(word: &str) -> bool {
    let bare = word.trim_start_matches(['"', '\'', '(', '[', '{', '<', '`', '=']);
    let has_folders =
        2 <= word.matches(['/', '\\']).count() || word.contains(":\\") || bare.starts_with("\\\\");
    let from_home = bare.starts_with("~/") || bare.starts_with('/');
    has_folders || (from_home && 1 < bare.len())
}

/// Whether a character ends the name of a machine or an address.
fn is_separator(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | ':' | '+' | '%'))
}

/// Whether a word has the form of an address or of the name of a machine.
fn is_host(word: &str) -> bool {
    // A port, or the line of a file, may follow.
    let word = word.trim_matches([':', '.']);
    let name = word.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = name.map_or(word, |(name, _)| name);
    is_of_somebody(word) || name.parse::<Ipv4Addr>().is_ok() || is_ipv6(word) || is_name(name)
}

/// `me@node7`. A decorator has nothing before the `@`; versions of symbols in libraries are `malloc@@GLIBC_2.2.5`.
fn is_of_somebody(word: &str) -> bool {
    let is_version = |at: &str| at.starts_with(char::is_uppercase) && at.contains('_');
    let is_symbol = |at: &str| at == "plt" || at.starts_with('@') || is_version(at);
    word.split_once('@').is_some_and(|(user, at)| !user.is_empty() && !at.is_empty() && !is_symbol(at))
}

/// An address such as `fe80::1`. `c10::` and `a::b` of C++ are none.
fn is_ipv6(word: &str) -> bool {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    has_digit && !word.starts_with("c10:") && word.parse::<Ipv6Addr>().is_ok()
}

/// `node7.example.com`, `gpu-17.cluster.local`. Modules of Python look like it, but end otherwise.
fn is_name(word: &str) -> bool {
    let Some((rest, last)) = word.rsplit_once('.') else { return false };
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_country =
        last.len() == 2 && last.bytes().all(|b| b.is_ascii_lowercase()) && !ENDINGS.contains(&last);
    // No identifier has a hyphen.
    let is_likely = rest.contains('-') && (is_country || AMBIGUOUS_DOMAINS.contains(&last));
    rest.split('.').all(is_label) && (is_likely || DOMAINS.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_paths_lose_their_folders() {
        let text = "see /home/me/train.py:5 main, C:\\Users\\me\\a.py and ~/x 5 / 6, read/write";
        assert_eq!(without_names(text), "see train.py:5 main, a.py and x 5 / 6, read/write");
        assert_eq!(without_names("/srv/a b\tc"), "a b\tc");
        assert_eq!(without_names("('/me' \"/home/me/x\") x=/home/me/y"), "me' x\") y");
    }

    #[test]
    fn machines_and_addresses_are_hidden() {
        for hidden in [
            "me@node7",
            "me.you@node7.example.com",
            "node7.example.com",
            "node7.example.com:8080",
            "gpu-17.cluster.local",
            "ip-10-0-0-7.ec2.internal",
            "a-1.uni.de",
            "10.20.30.40",
            "10.20.30.40:22",
            "fe80::1",
            "2001:db8::7",
        ] {
            assert_eq!(without_names(hidden), HIDDEN, "{hidden}");
            assert_eq!(without_names(&format!("train_on({hidden}, 5)")), format!("train_on({HIDDEN}, 5)"));
            assert_eq!(without_names(&format!("at {hidden}: x")), format!("at {HIDDEN} x"), "{hidden}");
        }
        assert_eq!(without_names("http://me@node7:80/a"), format!("http:{HIDDEN}/a"));
        assert_eq!(without_names("see tcp://node7, node8"), format!("see tcp:{HIDDEN}, node8"));
    }

    #[test]
    fn code_stays_as_it_is() {
        for code in [
            "at::native::add(at::Tensor const&, c10::Scalar const&)",
            "c10::cuda::CUDACachingAllocator::malloc",
            "torch.nn.functional.linear",
            "model.layers.0.fc",
            "agent.net",
            "train.py:5",
            "train-2.run.py:17",
            "libtorch_cuda.so",
            "malloc@@GLIBC_2.2.5",
            "_ZN2at6nativeE@plt",
            "@torch.no_grad",
            "torch 2.15.0+cu132",
            "<lambda>",
            "Torch-Compiled Region: 0/0",
            "12:34:56.789",
            "max_split_size_mb:128,expandable_segments:True",
            "operator<<",
            "std::function<void ()>::operator()() const",
        ] {
            assert_eq!(without_names(code), code);
        }
    }
}
