//! Write what a package of a distribution has beside the program: man pages and completions.
//!
//! ```text
//! cargo run --example share -- target/share
//! ```
//!
//! makes `man/man1`, `bash-completion/completions`, `zsh/site-functions` and `fish/vendor_completions.d` there.

use clap_complete::Shell;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: share FOLDER")?;
    let folder = Path::new(&folder);
    let man = folder.join("man/man1");
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(oomscope::cli::command(), man)?;
    let completions = [
        (Shell::Bash, "bash-completion/completions/oomscope"),
        (Shell::Zsh, "zsh/site-functions/_oomscope"),
        (Shell::Fish, "fish/vendor_completions.d/oomscope.fish"),
    ];
    for (shell, name) in completions {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut oomscope::cli::command(), "oomscope", &mut script);
        let path = folder.join(name);
        fs::create_dir_all(path.parent().ok_or("a completion lies in a folder")?)?;
        fs::write(path, script)?;
    }
    Ok(())
}
