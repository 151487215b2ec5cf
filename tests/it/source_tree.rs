//! The packages' own sources, read as Rust: which module names which, with tests left out.

use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// A path that code names, such as `crate::model::AllocId`, and the line that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) line: usize,
    pub(crate) path: Vec<String>,
}

impl Mention {
    /// Whether the path is `word` or something inside it, such as `std::fs`.
    pub(crate) fn is_within(&self, word: &str) -> bool {
        let words: Vec<_> = word.split("::").collect();
        self.path.len() >= words.len() && self.path.iter().zip(words).all(|(name, word)| name == word)
    }
}

/// One module of a file: the file's own or one that is written inside it.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file, below the root of the repository.
    pub(crate) file: PathBuf,
    /// Names that the module declares, without its child modules.
    items: BTreeSet<String>,
    children: BTreeSet<String>,
    /// Names that `use` brings in, with the paths that they stand for.
    imports: BTreeMap<String, Vec<String>>,
    /// Modules whose names are all brought in.
    globs: Vec<Vec<String>>,
    /// What the code depends on. A `pub use` only hands a name on, so it is not one of these.
    pub(crate) mentions: Vec<Mention>,
    /// What `pub use` hands on.
    pub(crate) handed_on: Vec<Mention>,
    /// Macros that the code calls.
    pub(crate) macros: Vec<Mention>,
    /// Methods that the code calls, by their names.
    pub(crate) methods: Vec<Mention>,
}

/// The folders of all packages, below the root of the repository: the root's is empty.
pub(crate) fn packages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("crates")).expect("the folder can be listed");
    let names = entries.map(|entry| entry.expect("the folder can be listed").file_name());
    let mut all: Vec<PathBuf> = names.map(|name| Path::new("crates").join(name)).collect();
    all.push(PathBuf::new());
    all.sort();
    all
}

/// All modules of a package, by path; the root is the empty path.
#[derive(Debug, Default)]
pub(crate) struct SourceTree {
    pub(crate) modules: BTreeMap<Vec<String>, Module>,
    /// Files that only tests use, below the root of the repository.
    pub(crate) test_files: BTreeSet<PathBuf>,
}

impl SourceTree {
    /// The modules of every package: of the program, and of those below `crates/`.
    pub(crate) fn all() -> Vec<Self> {
        packages().iter().map(|package| Self::read(&package.join("src/lib.rs"))).collect()
    }

    /// Read a root and every module that it declares.
    fn read(file: &Path) -> Self {
        let mut tree = Self::default();
        tree.read_file(file, Vec::new());
        tree
    }

    fn read_file(&mut self, file: &Path, path: Vec<String>) {
        let text = std::fs::read_to_string(root().join(file)).expect("the module has a file");
        let parsed = syn::parse_file(&text).expect("the sources are Rust");
        self.add(file, path, &parsed.items);
    }

    fn add(&mut self, file: &Path, path: Vec<String>, items: &[syn::Item]) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            match item {
                syn::Item::Mod(child) if is_for_tests(&child.attrs) => {
                    if child.content.is_none() {
                        self.test_files.insert(file_of(file, child));
                    }
                }
                syn::Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let below: Vec<_> = path.iter().cloned().chain([name.clone()]).collect();
                    module.children.insert(name);
                    match &child.content {
                        Some((_, items)) => self.add(file, below, items),
                        None => self.read_file(&file_of(file, child), below),
                    }
                }
                item => module.read(item),
            }
        }
        self.modules.insert(path, module);
    }

    /// The files whose production code declares an item of some name.
    pub(crate) fn files_that_declare(&self, name: &str) -> Vec<&Path> {
        let declares = |module: &&Module| module.items.contains(name);
        self.modules.values().filter(declares).map(|module| module.file.as_path()).collect()
    }

    /// The module that declares what `path` names, as seen from `from`; `None` for other packages.
    /// Names that are only handed on are followed to where they are declared.
    pub(crate) fn declaring(&self, from: &[String], path: &[String]) -> Option<Vec<String>> {
        self.declaring_within(from, path, 0)
    }

    fn declaring_within(&self, from: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        const MAX_HANDS: usize = 20;
        if depth > MAX_HANDS {
            return None;
        }
        let (mut at, rest) = self.start(from, path)?;
        for (n, name) in rest.iter().enumerate() {
            let module = &self.modules[&at];
            if module.children.contains(name) {
                at.push(name.clone());
                continue;
            }
            if module.items.contains(name) {
                return Some(at);
            }
            if let Some(import) = module.imports.get(name) {
                let whole: Vec<_> = import.iter().chain(&rest[n + 1..]).cloned().collect();
                return self.declaring_within(&at, &whole, depth + 1);
            }
            let by_glob = module.globs.iter().find_map(|glob| {
                let whole: Vec<_> = glob.iter().chain(&rest[n..]).cloned().collect();
                self.declaring_within(&at, &whole, depth + 1)
            });
            // Not found at all: a macro of this module declares it.
            return by_glob.or(Some(at));
        }
        Some(at)
    }

    /// The module that a path starts in, and what of the path is left.
    fn start<'p>(&self, from: &[String], path: &'p [String]) -> Option<(Vec<String>, &'p [String])> {
        let mut at = from.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            name => {
                let module = self.modules.get(from)?;
                let is_known = module.children.contains(name) || module.imports.contains_key(name);
                return is_known.then_some((at, rest));
            }
        }
        Some((at, rest))
    }

    /// For every file, the other files whose declarations it names.
    pub(crate) fn dependencies(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut out: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let others = out.entry(&module.file).or_default();
            for mention in &module.mentions {
                let declared = self.declaring(path, &mention.path);
                others.extend(declared.map(|at| self.modules[&at].file.as_path()));
            }
            others.remove(module.file.as_path());
        }
        out
    }
}

impl Module {
    fn read(&mut self, item: &syn::Item) {
        let mut reader = Reader { module: self };
        reader.visit_item(item);
        let name = match item {
            syn::Item::Const(item) => &item.ident,
            syn::Item::Enum(item) => &item.ident,
            syn::Item::Fn(item) => &item.sig.ident,
            syn::Item::Static(item) => &item.ident,
            syn::Item::Struct(item) => &item.ident,
            syn::Item::Trait(item) => &item.ident,
            syn::Item::Type(item) => &item.ident,
            _ => return,
        };
        self.items.insert(name.to_string());
    }

    fn import(&mut self, tree: &syn::UseTree, before: &[String], hands_on: bool) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        let line = tree.span().start().line;
        match tree {
            syn::UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident), hands_on),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, before, hands_on));
            }
            syn::UseTree::Glob(_) => self.globs.push(before.to_vec()),
            syn::UseTree::Name(name) if name.ident == "self" => {
                let last = before.last().expect("self stands behind a path");
                self.imports.insert(last.clone(), before.to_vec());
            }
            syn::UseTree::Name(name) => {
                self.imports.insert(name.ident.to_string(), with(&name.ident));
            }
            syn::UseTree::Rename(name) => {
                self.imports.insert(name.rename.to_string(), with(&name.ident));
            }
        }
        let path = match tree {
            syn::UseTree::Name(name) if name.ident != "self" => with(&name.ident),
            syn::UseTree::Rename(name) => with(&name.ident),
            _ => before.to_vec(),
        };
        let list = if hands_on { &mut self.handed_on } else { &mut self.mentions };
        list.push(Mention { line, path });
    }
}

/// Collects what the code of a module names.
struct Reader<'m> {
    module: &'m mut Module,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let hands_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.module.import(&item.tree, &[], hands_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.module.mentions.push(Mention { line: path.span().start().line, path: names });
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let line = call.method.span().start().line;
        self.module.methods.push(Mention { line, path: vec![call.method.to_string()] });
        visit::visit_expr_method_call(self, call);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in crate::app)` names a layer without depending on it.
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let names = call.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.module.macros.push(Mention { line: call.span().start().line, path: names });
        paths_in(call.tokens.clone(), &mut self.module.mentions);
    }
}

/// Paths among the tokens of a macro, which are not parsed.
fn paths_in(tokens: proc_macro2::TokenStream, out: &mut Vec<Mention>) {
    use proc_macro2::TokenTree;
    let mut path: Option<Mention> = None;
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => match &mut path {
                Some(path) if colons == 2 => path.path.push(name.to_string()),
                _ => {
                    let line = name.span().start().line;
                    out.extend(path.replace(Mention { line, path: vec![name.to_string()] }));
                }
            },
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                colons += 1;
                continue;
            }
            // `pub(crate)` depends on nothing.
            TokenTree::Group(_) if path.as_ref().is_some_and(|path| path.is_within("pub")) => path = None,
            TokenTree::Group(group) => {
                out.extend(path.take());
                paths_in(group.stream(), out);
            }
            _ => out.extend(path.take()),
        }
        colons = 0;
    }
    out.extend(path);
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item has `#[cfg(test)]` or `#[test]`.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    })
}

/// The file of a module that `parent` declares.
fn file_of(parent: &Path, child: &syn::ItemMod) -> PathBuf {
    let is_folder = parent.ends_with("mod.rs") || parent.ends_with("lib.rs");
    let folder = parent.parent().expect("a file is in a folder");
    if let Some(given) = child.attrs.iter().find_map(given_path) {
        return folder.join(given);
    }
    let folder = if is_folder { folder.to_owned() } else { parent.with_extension("") };
    let name = child.ident.to_string();
    let file = folder.join(format!("{name}.rs"));
    if root().join(&file).exists() { file } else { folder.join(name).join("mod.rs") }
}

/// The file that `#[path = "…"]` gives.
fn given_path(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(value) = &pair.value else { return None };
    match &value.lit {
        syn::Lit::Str(text) if pair.path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

/// What a text of Rust names, for tests of this module.
pub(crate) fn mentions_in(text: &str) -> Vec<String> {
    let mut module = Module::default();
    let file = syn::parse_file(text).expect("the text is Rust");
    file.items.iter().for_each(|item| module.read(item));
    module.mentions.iter().map(|mention| mention.path.join("::")).collect()
}
