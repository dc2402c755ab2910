//! Certificates as SMT-LIB: one file for each step, which a solver must answer `unsat`.
//!
//! Each file asks for a counterexample to one step of a proof: a state in a set with a predecessor
//! that no cover takes into a set, or a reduct of an obligation that no closing closes. Unlike the
//! checker, a solver decides the step with all its disjunctions at once. (That finite columns hold only the values
//! listed is the one thing taken from the checker; [`crate::check`] establishes it.)

use std::collections::HashSet;
use std::fmt::Write;

use crate::format::{
    Certificate, Closing, Cover, Entry, Inequality, Program, Proof, Right, States, Tree, Unreachable,
};
use crate::inverse::inverse as inverse_of;

/// Names of the constants standing for nodes.
pub(crate) type Names<'a> = &'a dyn Fn(usize) -> String;

pub(crate) fn number(value: i64) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

pub(crate) fn le(l: &Inequality, names: Names) -> String {
    let terms: Vec<String> = l
        .terms
        .iter()
        .map(|&(n, c)| if c == 1 { names(n) } else { format!("(* {} {})", number(c), names(n)) })
        .collect();
    let sum = match terms.len() {
        0 => "0".to_string(),
        1 => terms[0].clone(),
        _ => format!("(+ {})", terms.join(" ")),
    };
    format!("(<= {sum} {})", number(l.bound))
}

fn join(operator: &str, empty: &str, parts: Vec<String>) -> String {
    match parts.len() {
        0 => empty.to_string(),
        1 => parts.into_iter().next().unwrap_or_default(),
        _ => format!("({operator} {})", parts.join(" ")),
    }
}

pub(crate) fn and(parts: Vec<String>) -> String {
    join("and", "true", parts)
}

pub(crate) fn or(parts: Vec<String>) -> String {
    join("or", "false", parts)
}

pub(crate) fn tree(t: &Tree, names: Names) -> String {
    match t {
        Tree::Le(l) => le(l, names),
        Tree::And(list) => and(list.iter().map(|t| tree(t, names)).collect()),
        Tree::Or(list) => or(list.iter().map(|t| tree(t, names)).collect()),
    }
}

/// A file under construction: constants are declared as they are named.
#[derive(Clone)]
pub(crate) struct Writer<'a> {
    program: &'a Program,
    declared: Vec<String>,
    fresh: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(program: &'a Program) -> Writer<'a> {
        Writer { program, declared: Vec::new(), fresh: 0 }
    }

    fn k(&self) -> usize {
        self.program.columns.len()
    }

    /// New constants.
    pub(crate) fn constants(&mut self, prefix: &str, count: usize) -> Vec<String> {
        let list = self.bound(prefix, count);
        self.declared.extend(list.clone());
        list
    }

    /// New names, for quantifiers.
    pub(crate) fn bound(&mut self, prefix: &str, count: usize) -> Vec<String> {
        self.fresh += 1;
        (1..=count).map(|i| format!("{prefix}{}_{i}", self.fresh)).collect()
    }

    /// A state's finite columns have their listed values.
    pub(crate) fn domain(&self, state: &[String]) -> String {
        and(self
            .program
            .finite
            .iter()
            .map(|f| or(f.values.iter().map(|v| format!("(= {} {})", state[f.column], number(*v))).collect()))
            .collect())
    }

    pub(crate) fn states(&self, states: &States, state: &[String]) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (f, values) in self.program.finite.iter().zip(&states.values) {
            parts
                .push(or(values.iter().map(|v| format!("(= {} {})", state[f.column], number(*v))).collect()));
        }
        parts.extend(states.bounds.iter().map(|l| le(l, &|n| state[n - 1].clone())));
        and(parts)
    }

    /// In one of the sets of an invariant that was found; true when there is none.
    fn within(&self, found: &[States], state: &[String]) -> String {
        if found.is_empty() {
            return "true".into();
        }
        or(found.iter().map(|s| self.states(s, state)).collect())
    }

    /// A rule from `before` to `after`; its own variables are `own`.
    pub(crate) fn rule(&self, rule: usize, before: &[String], after: &[String], own: &[String]) -> String {
        let (k, rule) = (self.k(), &self.program.rules[rule]);
        let mut parts = vec![tree(&rule.guard, &|n| match n {
            n if n <= k => after[n - 1].clone(),
            n if n <= 2 * k => before[n - k - 1].clone(),
            n => own[n - 2 * k - 1].clone(),
        })];
        if !rule.fact {
            let kept = (0..k).filter(|&c| rule.unchanged[c]);
            parts.extend(kept.map(|c| format!("(= {} {})", before[c], after[c])));
        }
        and(parts)
    }

    pub(crate) fn locals(&self, rule: usize) -> usize {
        self.program.rules[rule].nodes - (2 * self.k() + 1)
    }

    /// "This cover does not take `state` into its set."
    fn uncovered(&mut self, cover: &[usize], set: &States, state: &[String]) -> String {
        let Some((&map, rest)) = cover.split_first() else {
            return format!("(not {})", self.states(set, state));
        };
        let (k, assertion) = (self.k(), &self.program.assertions[map]);
        let image = self.constants("y", k);
        let right = match &assertion.right {
            Right::State(t) | Right::Constraint(t) => tree(t, &|n| {
                if n <= k { state[n - 1].clone() } else { image[n - k - 1].clone() }
            }),
        };
        let left = tree(&assertion.left, &|n| state[n - 1].clone());
        let later = self.uncovered(rest, set, &image);
        let inside = self.domain(&image);
        format!("(or (not {left}) (and {right} {inside} {later}))")
    }

    fn uncovered_by_all(&mut self, covers: &[Cover], sets: &[States], state: &[String]) -> Vec<String> {
        covers.iter().map(|c| self.uncovered(&c.path, &sets[c.set], state)).collect()
    }

    pub(crate) fn finish(self, comment: &str, asserts: &[String]) -> String {
        let mut out = format!("; {comment}\n(set-logic ALL)\n");
        for name in &self.declared {
            let _ = writeln!(out, "(declare-const {name} Int)");
        }
        for assert in asserts {
            let _ = writeln!(out, "(assert {assert})");
        }
        out.push_str("(check-sat)\n");
        out
    }

    fn entry_side(&self, list: &[Inequality], state: &[String], frame: &[String]) -> String {
        let k = state.len();
        and(list
            .iter()
            .map(|l| le(l, &|n| if n <= k { state[n - 1].clone() } else { frame[n - k - 1].clone() }))
            .collect())
    }

    /// "The right side is reached from `state` by these right unfolds" (outermost first).
    fn reached(
        &mut self,
        entry: &Entry,
        path: &[usize],
        state: &[String],
        frame: &[String],
        fact: bool,
    ) -> String {
        let right = entry.right.as_deref().unwrap_or_default();
        let k = self.k();
        let (mut parts, mut quantified) = (Vec::new(), Vec::new());
        // y0 is the right state, each rule leads from the next one to it; the last is `state`.
        let steps = path.len();
        let mut chain: Vec<Vec<String>> = Vec::new();
        for _ in 0..steps {
            let y = self.bound("z", k);
            quantified.extend(y.clone());
            chain.push(y);
        }
        if !fact || steps == 0 {
            chain.push(state.to_vec());
        }
        parts.push(self.entry_side(right, &chain[0], frame));
        for (at, &rule) in path.iter().enumerate() {
            let own = self.bound("w", self.locals(rule));
            quantified.extend(own.clone());
            let before = chain.get(at + 1).cloned().unwrap_or_else(|| chain[at].clone());
            parts.push(self.rule(rule, &before, &chain[at], &own));
        }
        if quantified.is_empty() {
            return and(parts);
        }
        let list: Vec<String> = quantified.iter().map(|q| format!("({q} Int)")).collect();
        format!("(exists ({}) {})", list.join(" "), and(parts))
    }

    /// "This closing does not close the reduct."
    fn open(
        &mut self,
        proof: &Steps,
        entry: &Entry,
        closing: &Closing,
        state: &[String],
        frame: &[String],
    ) -> String {
        let (k, Steps { entries, dead, .. }) = (self.k(), proof);
        match closing {
            Closing::Unreachable => {
                let parts = dead.sets.iter().map(|s| format!("(not {})", self.states(s, state))).collect();
                and(parts)
            }
            Closing::Fact(path) => format!("(not {})", self.reached(entry, path, state, frame, true)),
            Closing::Itself(path) => format!("(not {})", self.reached(entry, path, state, frame, false)),
            Closing::Assertion(index, path) => {
                let assertion = &self.program.assertions[*index];
                let Right::State(right) = &assertion.right else { return "true".into() };
                let (image, own) =
                    (self.constants("b", k), self.constants("u", assertion.nodes - (2 * k + 1)));
                let names = |n: usize| match n {
                    n if n <= k => state[n - 1].clone(),
                    n if n <= 2 * k => image[n - k - 1].clone(),
                    n => own[n - 2 * k - 1].clone(),
                };
                let (left, right) = (tree(&assertion.left, &names), tree(right, &names));
                let reached = self.reached(entry, path, &image, frame, false);
                let promised = format!("(and {left} {right} (not {reached}))");
                if own.is_empty() {
                    return format!("(or (not {left}) {promised})");
                }
                let some = self.bound("v", own.len());
                let other =
                    |n: usize| if n <= k { state[n - 1].clone() } else { some[n - 2 * k - 1].clone() };
                let list: Vec<String> = some.iter().map(|q| format!("({q} Int)")).collect();
                let never = format!("(forall ({}) (not {}))", list.join(" "), tree(&assertion.left, &other));
                format!("(or {never} {promised})")
            }
            Closing::Entry(index, path) | Closing::SameFrame(index, path) => {
                let by = &entries[*index];
                let same = matches!(closing, Closing::SameFrame(..));
                let image = self.constants("b", k);
                let own = if same { frame.to_vec() } else { self.constants("f", by.frame) };
                let left = self.entry_side(&by.left, state, &own);
                let right = by.right.as_ref().map_or("false".into(), |r| self.entry_side(r, &image, &own));
                let reached = self.reached(entry, path, &image, frame, false);
                let promised = format!("(and {left} {right} (not {reached}))");
                if same {
                    return format!("(or (not {left}) {promised})");
                }
                let some = self.bound("v", by.frame);
                let list: Vec<String> = some.iter().map(|q| format!("({q} Int)")).collect();
                let never = format!(
                    "(forall ({}) (not {}))",
                    list.join(" "),
                    self.entry_side(&by.left, state, &some)
                );
                format!("(or {never} {promised})")
            }
        }
    }
}

/// The invariants named, about a state.
fn invariants(program: &Program, list: &[usize], state: &[String]) -> String {
    let about = |index: &usize| {
        let assertion = &program.assertions[*index];
        let names = |n: usize| state[n - 1].clone();
        match &assertion.right {
            Right::Constraint(claim) => {
                format!("(=> {} {})", tree(&assertion.left, &names), tree(claim, &names))
            }
            Right::State(_) => "true".into(),
        }
    };
    and(list.iter().map(about).collect())
}

/// No fact is outside of an invariant that was found, and no step leaves it.
fn inductive(program: &Program, label: &str, found: &[States], out: &mut Vec<(String, String)>) {
    if found.is_empty() {
        return;
    }
    let k = program.columns.len();
    for (index, rule) in program.rules.iter().enumerate() {
        let mut w = Writer::new(program);
        let (after, before) = (w.constants("a", k), w.constants("x", k));
        let own = w.constants("l", w.locals(index));
        let mut asserts = vec![w.rule(index, &before, &after, &own), w.domain(&after)];
        asserts.push(format!("(not {})", w.within(found, &after)));
        if !rule.fact {
            asserts.push(w.within(found, &before));
        }
        let comment = format!("{label}: rule {index} does not leave the invariant");
        out.push((format!("{label}-invariant-rule{index}.smt2"), w.finish(&comment, &asserts)));
    }
}

fn table(
    program: &Program,
    label: &str,
    listed: &[usize],
    found: &[States],
    unreachable: &Unreachable,
    out: &mut Vec<(String, String)>,
) {
    let k = program.columns.len();
    for (number, (set, covers)) in unreachable.sets.iter().zip(&unreachable.covers).enumerate() {
        for (index, rule) in program.rules.iter().enumerate() {
            let mut w = Writer::new(program);
            let (after, before) = (w.constants("a", k), w.constants("x", k));
            let own = w.constants("l", w.locals(index));
            let mut asserts = vec![w.states(set, &after), w.rule(index, &before, &after, &own)];
            if !rule.fact {
                asserts.push(w.domain(&before));
                asserts.push(invariants(program, listed, &before));
                asserts.push(w.within(found, &before));
                asserts.extend(w.uncovered_by_all(&covers[index], &unreachable.sets, &before));
            }
            let comment = format!("{label}: set {number}, rule {index}");
            out.push((format!("{label}-set{number}-rule{index}.smt2"), w.finish(&comment, &asserts)));
        }
    }
}

/// Every step of every proof: file name and text.
pub fn export(certificate: &Certificate) -> Vec<(String, String)> {
    let program = &certificate.program;
    let k = program.columns.len();
    let mut out = Vec::new();
    for (number, proof) in certificate.proofs.iter().enumerate() {
        match proof {
            Proof::Safety {
                assertion, invariants: listed, start, table: unreachable, found, under, ..
            } => {
                let label = format!("proof{number}");
                match under {
                    Some(under) => crate::orbits::export(program, &label, *assertion, found, under, &mut out),
                    None => inductive(program, &label, found, &mut out),
                }
                let claim = &program.assertions[*assertion];
                let mut w = Writer::new(program);
                let state = w.constants("x", k);
                let own = w.constants("u", claim.nodes - (2 * k + 1));
                let names = |n: usize| if n <= k { state[n - 1].clone() } else { own[n - 2 * k - 1].clone() };
                let Right::Constraint(right) = &claim.right else { continue };
                let mut asserts = vec![
                    tree(&claim.left, &names),
                    format!("(not {})", tree(right, &names)),
                    w.domain(&state),
                    invariants(program, listed, &state),
                    w.within(found, &state),
                ];
                let covers: Vec<Cover> = start.iter().flat_map(|s| s.covers.iter().cloned()).collect();
                asserts.extend(w.uncovered_by_all(&covers, &unreachable.sets, &state));
                out.push((
                    format!("{label}-start.smt2"),
                    w.finish(&format!("{label}: violating states"), &asserts),
                ));
                table(program, &label, listed, found, unreachable, &mut out);
            }
            Proof::Cells { assertion, cells } => {
                crate::cells_smtlib::export(program, &format!("proof{number}"), *assertion, cells, &mut out);
            }
            Proof::Renamed { assertion } => {
                let claim = &program.assertions[*assertion];
                crate::renamed::export(program, &format!("proof{number}"), claim, &mut out);
            }
            Proof::Listed { assertion, states } => {
                let claim = &program.assertions[*assertion];
                crate::listed::export(program, &format!("proof{number}"), claim, states, &mut out);
            }
            Proof::Relative { group, invariants: listed, entries, dead, inverse, .. } => {
                let label = format!("proof{number}");
                table(program, &format!("{label}-dead"), listed, &[], dead, &mut out);
                relative(&Steps { program, label, listed, group, entries, dead }, &mut out);
                let wide = inverse.as_ref().and_then(|entries| {
                    let [index] = group[..] else { return None };
                    let mut wide = program.clone();
                    wide.assertions.push(inverse_of(&program.assertions[index], k).ok()?);
                    Some((wide, entries))
                });
                if let Some((wide, entries)) = &wide {
                    let (label, dead) = (format!("proof{number}-inverse"), &Unreachable::default());
                    let group = &[wide.assertions.len() - 1];
                    relative(&Steps { program: wide, label, listed: &[], group, entries, dead }, &mut out);
                }
            }
        }
    }
    out
}

/// A relative proof, or that of an inverse.
struct Steps<'a> {
    program: &'a Program,
    label: String,
    listed: &'a [usize],
    group: &'a [usize],
    entries: &'a [Entry],
    dead: &'a Unreachable,
}

/// The obligations are about all of each assertion's left side and promise its right side; each is closed.
fn relative(proof: &Steps, out: &mut Vec<(String, String)>) {
    let Steps { program, label, listed, entries, dead, .. } = proof;
    let k = program.columns.len();
    for &index in proof.group {
        let assertion = &program.assertions[index];
        let Right::State(right) = &assertion.right else { continue };
        let frame_size = k + assertion.universal - (2 * k + 1);
        let root = |e: &&Entry| e.origin == index && e.depth == 0 && e.frame == frame_size;
        let roots: Vec<&Entry> = entries.iter().filter(root).collect();
        let mut w = Writer::new(program);
        let (state, own) = (w.constants("x", k), w.constants("u", frame_size - k));
        let names = |n: usize| if n <= k { state[n - 1].clone() } else { own[n - 2 * k - 1].clone() };
        let frame = [state.clone(), own.clone()].concat();
        let mut asserts =
            vec![tree(&assertion.left, &names), w.domain(&state), invariants(program, listed, &state)];
        asserts.extend(dead.sets.iter().map(|s| format!("(not {})", w.states(s, &state))));
        asserts.extend(roots.iter().map(|e| format!("(not {})", w.entry_side(&e.left, &state, &frame))));
        let comment = format!("{label}: `{}` has an obligation for each left state", assertion.name);
        out.push((format!("{label}-assertion{index}.smt2"), w.finish(&comment, &asserts)));
        for (at, entry) in roots.iter().enumerate() {
            let Some(promise) = &entry.right else { continue };
            let mut w = Writer::new(program);
            let (state, own) = (w.constants("x", k), w.constants("u", frame_size - k));
            let (image, frame) = (w.constants("y", k), [state.clone(), own.clone()].concat());
            let names = |n: usize| match n {
                n if n <= k => state[n - 1].clone(),
                n if n <= 2 * k => image[n - k - 1].clone(),
                n => own[n - 2 * k - 1].clone(),
            };
            let asserts = [
                w.entry_side(&entry.left, &state, &frame),
                w.entry_side(promise, &image, &frame),
                format!("(not {})", tree(right, &names)),
            ];
            let comment = format!("{label}: obligation {at} of `{}` promises its right side", assertion.name);
            out.push((format!("{label}-assertion{index}-promise{at}.smt2"), w.finish(&comment, &asserts)));
        }
    }
    for (at, entry) in entries.iter().enumerate() {
        let mut step = |rule: Option<usize>| {
            let mut w = Writer::new(program);
            let (after, frame) = (w.constants("a", k), w.constants("v", entry.frame));
            let mut asserts = vec![w.entry_side(&entry.left, &after, &frame)];
            let (state, hints) = match rule {
                None => (after, entry.direct.iter().cloned().collect()),
                Some(rule) => {
                    let before = w.constants("x", k);
                    let own = w.constants("l", w.locals(rule));
                    asserts.push(w.rule(rule, &before, &after, &own));
                    (before, entry.closings[rule].clone())
                }
            };
            if rule.is_none_or(|r| !program.rules[r].fact) {
                asserts.push(w.domain(&state));
                asserts.push(invariants(program, listed, &state));
            }
            for hint in &hints {
                asserts.push(w.open(proof, entry, hint, &state, &frame));
            }
            let what = rule.map_or("direct".into(), |r| format!("rule{r}"));
            let comment = format!("{label}: obligation {at}, {what}");
            out.push((format!("{label}-entry{at}-{what}.smt2"), w.finish(&comment, &asserts)));
        };
        if entry.direct.is_some() {
            step(None);
        } else {
            (0..program.rules.len()).for_each(|r| step(Some(r)));
        }
    }
}

/// All steps as the input of one solver process, and how many answers it must give, all `unsat`. Steps that differ only in
/// what they are called are asked once. Each starts from nothing (`reset`): solvers are much slower on a step
/// asked inside `push` and `pop`.
pub fn script(files: &[(String, String)]) -> (String, usize) {
    let (mut asked, mut out) = (HashSet::new(), String::new());
    for (name, text) in files {
        let question = text.split_once('\n').map_or(text.as_str(), |(_, rest)| rest);
        if asked.insert(question) {
            let _ = writeln!(out, "; {name}\n{question}(reset)");
        }
    }
    (out, asked.len())
}
