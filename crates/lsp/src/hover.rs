//! What is said about a name: its declaration, who reads and writes it, and what a check has found about the symmetry of its process.
//!
//! Reads and writes are those of the program, so that macros and inlines count where they are called; they are known only while the model
//! has no errors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Expr, Function, Operation, Place, Program, Root, Transformation};
use quotient_source::SourceMap;

use crate::document::Document;
use crate::names::{Kind, Meaning, Symbol};

/// So many lines are listed for each process.
const MOST_LINES: usize = 12;

/// The word at a byte and what is said about it, as Markdown.
pub(crate) fn hover(document: &Document, at: usize) -> Option<(Range<usize>, String)> {
    let (range, meaning) = document.index.at(at)?;
    let symbol = document.index.symbol(meaning);
    let text = match meaning.file {
        Some(file) => document.index.included[file].text.as_str(),
        None => document.text.as_str(),
    };
    let mut parts = vec![format!("```{}\n{}\n```", document.language.name(), declaration(text, symbol))];
    let owner =
        symbol.owner.filter(|_| meaning.file.is_none()).map(|o| document.index.symbols[o].name.as_str());
    parts.push(match owner {
        Some(owner) => format!("{} of `{owner}`", symbol.kind.word()),
        None => symbol.kind.word().to_owned(),
    });
    match symbol.kind {
        Kind::Variable | Kind::Parameter => parts.extend(accesses(document, symbol, owner)),
        Kind::Thread => parts.extend(
            document.symmetry.iter().filter(|s| names(s, &symbol.name)).map(|s| format!("symmetry: {s}")),
        ),
        _ => {}
    }
    if matches!(symbol.kind, Kind::Label | Kind::Macro | Kind::Function | Kind::Constant | Kind::Field) {
        let uses = document.index.places(Meaning { ..meaning }).count().saturating_sub(1);
        parts.push(format!("used {uses} time{}", if uses == 1 { "" } else { "s" }));
    }
    Some((range, parts.join("\n\n")))
}

/// Does a sentence have this word?
fn names(sentence: &str, name: &str) -> bool {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// A declaration on one line; that of a process only its head.
fn declaration(text: &str, symbol: &Symbol) -> String {
    let whole = text.get(symbol.whole.clone()).unwrap_or(&symbol.name);
    let head = match symbol.kind {
        Kind::Thread | Kind::Function | Kind::Claim => whole.split('{').next().unwrap_or(whole),
        _ => whole,
    };
    let words: Vec<&str> = head.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

/// What a process does with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Write,
    Read,
    Send,
    Receive,
}

struct Accesses<'a> {
    /// The place is the variable that is asked about.
    is: &'a dyn Fn(&Place) -> bool,
    found: BTreeSet<Access>,
}

impl Visitor for Accesses<'_> {
    fn place(&mut self, place: &Place, how: Use) {
        if (self.is)(place) {
            self.found.insert(if how == Use::Write { Access::Write } else { Access::Read });
        }
    }
}

fn loads(e: &Expr, is: &dyn Fn(&Place) -> bool) -> bool {
    match e {
        Expr::Load(place) => is(place),
        Expr::Spanned(e, _) => loads(e, is),
        _ => false,
    }
}

/// What a statement does with a variable.
fn done(t: &Transformation, is: &dyn Fn(&Place) -> bool) -> BTreeSet<Access> {
    let mut accesses = Accesses { is, found: BTreeSet::new() };
    visit::transformation(t, &mut accesses);
    let (channel, access) = match &t.operation {
        Operation::Send { channel, .. } => (channel, Access::Send),
        Operation::Receive { channel, .. } => (channel, Access::Receive),
        _ => return accesses.found,
    };
    if loads(channel, is) {
        accesses.found.insert(access);
        accesses.found.remove(&Access::Read);
    }
    accesses.found
}

/// Who does what with a variable.
fn accesses(document: &Document, symbol: &Symbol, owner: Option<&str>) -> Vec<String> {
    let Ok(loaded) = &document.read.loaded else {
        return vec!["the model has errors: who reads and writes it is not known".to_owned()];
    };
    let program = &loaded.program;
    let here = |span| {
        let written = document.read.sources.written(span);
        written.file == document.read.file
            && (written.start as usize) < symbol.range.end
            && symbol.range.start < written.end as usize
    };
    // A name may be declared in several blocks, or another file; the place of the declaration decides where it can.
    let pick = |variables: &[quotient_program::Variable]| -> Vec<u32> {
        let named = || variables.iter().enumerate().filter(|(_, v)| v.name == symbol.name);
        let placed: Vec<u32> = named().filter(|(_, v)| here(v.span)).map(|(i, _)| i as u32).collect();
        if placed.is_empty() { named().map(|(i, _)| i as u32).collect() } else { placed }
    };
    let mut said: BTreeMap<Access, BTreeMap<&str, BTreeSet<u32>>> = BTreeMap::new();
    let globals = if owner.is_none() { pick(&program.globals) } else { Vec::new() };
    let owners: Vec<(u32, Vec<u32>)> = match owner {
        Some(owner) => of_owner(program, owner).map(|(id, f)| (id, pick(&f.locals))).collect(),
        None => Vec::new(),
    };
    for (id, function) in program.functions.iter().enumerate() {
        let own: &[u32] = owners.iter().find(|(f, _)| *f as usize == id).map_or(&[], |(_, locals)| locals);
        let is = |place: &Place| match &place.root {
            Root::Global(v) => globals.contains(&v.0),
            Root::Local(v) => own.contains(&v.0),
            Root::Remote { function, variable, .. } => {
                owners.iter().any(|(f, locals)| *f == function.0 && locals.contains(&variable.0))
            }
            Root::Object { .. } => false,
        };
        for t in function.locations.iter().flat_map(|l| &l.transformations) {
            for access in done(t, &is) {
                let lines = said.entry(access).or_default().entry(&function.name).or_default();
                lines.insert(line(&document.read.sources, t));
            }
        }
    }
    if said.is_empty() {
        return vec!["nobody reads or writes it".to_owned()];
    }
    let sentence = |(access, by): (Access, BTreeMap<&str, BTreeSet<u32>>)| {
        let word = match access {
            Access::Write => "written by",
            Access::Read => "read by",
            Access::Send => "sent to by",
            Access::Receive => "received from by",
        };
        let by: Vec<String> =
            by.iter().map(|(name, lines)| format!("`{name}` ({})", listed(lines))).collect();
        format!("{word} {}", by.join(", "))
    };
    said.into_iter().map(sentence).collect()
}

fn of_owner<'a>(program: &'a Program, owner: &'a str) -> impl Iterator<Item = (u32, &'a Function)> {
    // What a macro or a claim is called owns nothing here.
    program.functions.iter().enumerate().filter(move |(_, f)| f.name == owner).map(|(id, f)| (id as u32, f))
}

fn line(sources: &SourceMap, t: &Transformation) -> u32 {
    sources.position(t.span).line
}

fn listed(lines: &BTreeSet<u32>) -> String {
    let shown: Vec<String> = lines.iter().take(MOST_LINES).map(u32::to_string).collect();
    let more = if lines.len() > MOST_LINES { ", …" } else { "" };
    format!("line{} {}{more}", if lines.len() == 1 { "" } else { "s" }, shown.join(", "))
}
