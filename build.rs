//! Tells the program which commit it is built from, in `OOMSCOPE_COMMIT`: empty where that is not known.
//!
//! Only for releases: a program under development would be compiled anew after each commit. From a package of cargo's the commit
//! is in a file; from a tarball without either, there is none.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

/// Digits of a commit's hash that are shown: enough to be the only one of a project of any size.
const SHOWN_DIGITS: usize = 10;

fn main() -> io::Result<()> {
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&folder);
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if is_release { packaged(folder).or_else(|| checked_out(folder)) } else { None };
    let shown = commit.map_or_else(String::new, |commit| format!(" ({commit})"));
    let mut out = io::stdout().lock();
    writeln!(out, "cargo::rustc-env=OOMSCOPE_COMMIT={shown}")?;
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    for path in if is_release { watched(folder) } else { Vec::new() } {
        writeln!(out, "cargo::rerun-if-changed={path}")?;
    }
    Ok(())
}

/// The commit that cargo writes into a package.
fn packaged(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let hash = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    short(hash)
}

/// The commit of the checkout, if this folder is its root: a tarball may lie within another one.
fn checked_out(folder: &Path) -> Option<String> {
    let root = git(folder, &["rev-parse", "--show-toplevel"])?;
    let is_root = fs::canonicalize(root).ok()? == fs::canonicalize(folder).ok()?;
    let commit = short(&git(folder, &["rev-parse", "HEAD"])?).filter(|_| is_root)?;
    let is_clean = git(folder, &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_clean { commit } else { format!("{commit}, changed") })
}

/// The files that a commit or a checkout writes.
fn watched(folder: &Path) -> Vec<String> {
    let path = |name: &str| git(folder, &["rev-parse", "--git-path", name]);
    let branch = git(folder, &["symbolic-ref", "-q", "HEAD"]);
    let files = [path("HEAD"), path("index"), branch.and_then(|name| path(&name))];
    files.into_iter().flatten().filter(|file| folder.join(file).exists()).collect()
}

fn short(hash: &str) -> Option<String> {
    let is_hash = SHOWN_DIGITS <= hash.len() && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| hash[..SHOWN_DIGITS].to_owned())
}

fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
