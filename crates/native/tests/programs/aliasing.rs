//! References to the state of the runtime: whoever was given one does not ask for a second one.
//!
//! `Runtime` (crates/native-runtime, `exploration/world.rs`) is the way to the state; references are made from it where they are needed. The
//! compiler sees to it that a context is not left, and no second reference made, while one made from the same `Runtime` is in
//! use. What it cannot see is a function that has a reference as a parameter and comes to another one by `world()`, itself or
//! through functions that it calls. This test finds such functions by reading the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Types that are not part of the state: the driver's.
const DRIVERS: [&str; 5] = ["Program", "Workers", "Message", "Runtime", "Deepening"];

/// The state and what it consists of, where functions are given it as a parameter.
const PARTS: [&str; 8] = ["World", "Thread,", "Thread)", "Objects", "Heap", "Races", "StackNotes", "Shared"];

#[derive(Debug)]
struct Function {
    place: String,
    name: String,
    signature: String,
    /// The type that it is a function of.
    of: String,
    body: String,
    /// The module that it is in, and what that imports.
    module: String,
    imports: String,
}

impl Function {
    fn is_method(&self) -> bool {
        self.signature.contains("self,") || self.signature.contains("self)")
    }

    /// Was it given a reference to the state, or to a part of it?
    fn has_reference(&self) -> bool {
        let of_part = self.is_method()
            && self.signature.contains("&mut self")
            && !self.of.is_empty()
            && !DRIVERS.iter().any(|d| self.of.ends_with(d));
        let of_world = self.of == "World" && self.signature.contains("&self");
        let given = |kind: &&str| {
            let parameters = self.signature.split("->").next().unwrap_or_default();
            [format!("&mut {kind}"), format!("&{kind}")].iter().any(|p| parameters.contains(p))
        };
        of_part || of_world || PARTS.iter().any(given)
    }

    /// The free functions that it calls: the module that is named, if any, and the name. Methods and functions of types need no
    /// look: those that lead to a context switch are methods of `Runtime`.
    fn calls(&self) -> BTreeSet<(&str, &str)> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let last_word = |text: &'_ str| text.rfind(|c| !is_word(c)).map_or(0, |i| i + 1);
        let call = |(open, _)| {
            let before = &self.body[..open];
            let (path, name) = before.split_at(last_word(before));
            let module = path.strip_suffix("::").map(|path| &path[last_word(path)..]);
            let is_local =
                [format!("let {name} ="), format!("let mut {name} =")].iter().any(|l| self.body.contains(l));
            let is_free = !name.is_empty() && !path.ends_with('.') && !is_local;
            is_free.then_some((module.unwrap_or_default(), name))
        };
        self.body.match_indices('(').filter_map(call).collect()
    }
}

fn functions(file: &Path, all: &mut Vec<Function>) {
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let module = if stem == "mod" { name_of(file.parent().unwrap()) } else { stem };
    let imports = text.split(';').filter(|s| s.trim_start().starts_with("use ")).collect::<String>();
    let mut of = String::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.starts_with("impl") {
            of = line.trim_end_matches(" {").rsplit(' ').next().unwrap_or_default().to_owned();
        } else if line == "}" {
            of.clear();
        }
        let indent = line.len() - line.trim_start().len();
        let is_function = !line.trim_start().starts_with("//")
            && (line.trim_start().starts_with("fn ") || line.contains(" fn "))
            && indent <= 4
            && !line.contains("#[");
        if is_function {
            let open = (at..lines.len()).find(|&i| lines[i].ends_with(['{', '}', ';'])).unwrap();
            let end = if lines[open].ends_with('{') {
                let close = format!("{}}}", " ".repeat(indent));
                (open..lines.len()).find(|&i| lines[i] == close).unwrap()
            } else {
                open
            };
            let signature = lines[at..=open].concat();
            let name = signature.split("fn ").nth(1).unwrap().split(['(', '<']).next().unwrap().to_owned();
            let place = format!("{}:{}", name_of(file), at + 1);
            let strip = |l: &&str| l.split("//").next().unwrap_or_default().to_owned() + "\n";
            let body = lines[open..=end].iter().skip(usize::from(end > open)).map(strip).collect();
            let (module, imports) = (module.clone(), imports.clone());
            all.push(Function { place, name, signature, of: of.clone(), body, module, imports });
            at = end;
        }
        at += 1;
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn sources(folder: &Path, all: &mut Vec<Function>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            sources(&entry, all);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            functions(&entry, all);
        }
    }
}

/// Functions that have a reference and come to `world()`, with the way there.
fn offenders(all: &[Function]) -> Vec<String> {
    // Why each function comes to `world()`.
    let mut asks: BTreeMap<usize, String> = BTreeMap::new();
    let leads = |caller: &Function, (module, name): (&str, &str), to: &Function| {
        let imported = || caller.imports.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name);
        let named = || match module {
            "" => to.module == caller.module || imported(),
            module => to.module == module,
        };
        to.name == name && !to.is_method() && named()
    };
    let calls: Vec<_> = all.iter().map(Function::calls).collect();
    let mut new: Vec<(usize, String)> = (0..all.len())
        .filter(|&f| calls[f].iter().any(|(_, name)| *name == "world"))
        .map(|f| (f, "world".to_owned()))
        .collect();
    while let Some((to, by)) = new.pop() {
        if asks.contains_key(&to) {
            continue;
        }
        asks.insert(to, by);
        let comes = |f: &usize| calls[*f].iter().any(|call| leads(&all[*f], *call, &all[to]));
        new.extend((0..all.len()).filter(comes).map(|f| (f, all[to].name.clone())));
    }
    let told = |(f, by): (&usize, &String)| {
        let Function { place, name, .. } = &all[*f];
        all[*f].has_reference().then(|| format!("{place} {name}: through {by}()"))
    };
    asks.iter().filter_map(told).collect()
}

#[test]
fn whoever_has_a_reference_to_the_state_does_not_ask_for_another() {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../native-runtime/src"), &mut all);
    assert!(all.len() > 700, "only {} functions were found", all.len());
    assert_eq!(offenders(&all), Vec::<String>::new());
    // No reference for ever, and none handed out without a `Runtime`.
    let for_ever = all.iter().filter(|f| f.signature.contains("-> &'static mut")).map(|f| &f.place);
    assert_eq!(for_ever.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn an_offender_is_found() {
    let function = |module: &str, of: &str, name: &str, signature: &str, body: &str| Function {
        place: String::new(),
        name: name.to_owned(),
        signature: signature.to_owned(),
        of: of.to_owned(),
        body: body.to_owned(),
        module: module.to_owned(),
        imports: String::new(),
    };
    let fail = function("world", "", "fail", "fn fail() -> ! {", "world().leave();");
    let deep = function("heap", "", "deep", "fn deep() {", "crate::world::fail();");
    let good = function("heap", "Heap", "good", "fn good(&mut self) {", "self.deep(); mem::fail()");
    let bad = function("heap", "Heap", "bad", "fn bad(&mut self) {", "deep();");
    assert_eq!(offenders(&[fail, deep, good, bad]), [" bad: through deep()"]);
}
