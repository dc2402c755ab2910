//! Invariants at loop heads as SMT-LIB: one file for each run between heads, and for each run that ends in a violation.
//!
//! Which runs there are is read off the evidence; how it distinguishes cases within a run is not: a solver decides a run with all its
//! disjunctions at once. A state at a head is in one of its cells, and a state before a violation violates nothing.

use crate::cells::points;
use crate::format::{Cells, Evidence, Program, Right};
use crate::smtlib::{Writer, and, le, number, or, tree};

/// The files written.
type Files = Vec<(String, String)>;

/// A condition on columns, given their terms and those of the parameters.
type Condition<'a> = Box<dyn Fn(&[String], &[String]) -> String + 'a>;

struct Export<'a> {
    program: &'a Program,
    proof: &'a Cells,
    label: String,
    /// Points before and after each rule.
    steps: Vec<(Option<i64>, i64)>,
    bad: Condition<'a>,
    good: bool,
    own: usize,
}

/// A run so far.
#[derive(Clone)]
struct Run<'a> {
    writer: Writer<'a>,
    asserts: Vec<String>,
    state: Vec<String>,
    point: i64,
    name: String,
}

/// Every run of a proof.
pub(crate) fn export(program: &Program, label: &str, assertion: usize, proof: &Cells, out: &mut Files) {
    let k = program.columns.len();
    let claim = &program.assertions[assertion];
    let Right::Constraint(right) = &claim.right else { return };
    let Ok(steps) = program.rules.iter().map(|r| points(r, proof.control, k)).collect() else { return };
    let bad = |state: &[String], own: &[String]| {
        let names = |n: usize| if n <= k { state[n - 1].clone() } else { own[n - 2 * k - 1].clone() };
        and(vec![tree(&claim.left, &names), format!("(not {})", tree(right, &names))])
    };
    let own = claim.nodes - (2 * k + 1);
    let bad = Box::new(bad);
    let export = Export { program, proof, label: label.into(), steps, bad, good: own == 0, own };
    export.all(out);
}

impl<'a> Export<'a> {
    fn begin(&self, name: String, point: i64) -> Run<'a> {
        let mut writer = Writer::new(self.program);
        let state = writer.constants("x", self.program.columns.len());
        Run { writer, asserts: Vec::new(), state, point, name }
    }

    fn all(&self, out: &mut Files) {
        let mut facts = self.proof.facts.iter();
        for rule in (0..self.steps.len()).filter(|&r| self.steps[r].0.is_none()) {
            let Some(&at) = facts.next() else { return };
            let run = self.step(&self.begin(format!("fact{rule}"), 0), rule, true);
            self.ahead(run, vec![at], true, out);
        }
        for (number, (cell, &at)) in self.proof.cells.iter().zip(&self.proof.steps).enumerate() {
            let mut run = self.begin(format!("cell{number}"), cell.point);
            run.asserts.push(self.cell(number, &run.state));
            self.ahead(run, vec![at], false, out);
        }
        let mut points: Vec<i64> = self.steps.iter().flat_map(|s| s.0.into_iter().chain([s.1])).collect();
        points.sort_unstable();
        points.dedup();
        for (point, &at) in points.into_iter().zip(&self.proof.claims) {
            let mut run = self.begin(format!("claim{point}"), point);
            let own = run.writer.constants("u", self.own);
            run.asserts.push((self.bad)(&run.state, &own));
            self.at(&mut run);
            self.back(run, vec![at], out);
        }
    }

    /// The control point as a condition, and the cells if it is a head.
    fn at(&self, run: &mut Run) {
        if let Some(column) = self.proof.control {
            run.asserts.push(format!("(= {} {})", run.state[column], number(run.point)));
        }
        if self.proof.heads.contains(&run.point) {
            run.asserts.push(self.within(run.point, &run.state));
        }
    }

    fn within(&self, point: i64, state: &[String]) -> String {
        let cells = (0..self.proof.cells.len()).filter(|&c| self.proof.cells[c].point == point);
        or(cells.map(|c| self.cell(c, state)).collect())
    }

    fn cell(&self, at: usize, state: &[String]) -> String {
        let cell = &self.proof.cells[at];
        let names = |n: usize| state[n - 1].clone();
        let mut parts = Vec::new();
        if let Some(column) = self.proof.control {
            parts.push(format!("(= {} {})", state[column], number(cell.point)));
        }
        parts.extend(cell.bounds.iter().map(|l| le(l, &names)));
        for c in &cell.congruences {
            let terms: Vec<String> =
                c.terms.iter().map(|&(n, f)| format!("(* {} {})", number(f), names(n))).collect();
            let sum = format!("(+ 0 {})", terms.join(" "));
            parts.push(match c.modulus {
                0 => format!("(= {sum} {})", number(c.residue)),
                m => format!("(= (mod (- {sum} {}) {m}) 0)", number(c.residue)),
            });
        }
        and(parts)
    }

    /// Through what distinguishes cases of one run.
    fn plain(&self, list: &[usize]) -> Vec<&'a Evidence> {
        let (mut out, mut stack) = (Vec::new(), list.to_vec());
        while let Some(at) = stack.pop() {
            match &self.proof.evidence[at] {
                Evidence::Choose(_, list) | Evidence::Among(list) | Evidence::Rests(.., list) => {
                    stack.extend(list);
                }
                Evidence::Cases(_, yes, no) => stack.extend([*yes, *no]),
                Evidence::Earlier(child) | Evidence::Forced(_, child) => stack.push(*child),
                other => out.push(other),
            }
        }
        out
    }

    fn step(&self, run: &Run<'a>, rule: usize, forwards: bool) -> Run<'a> {
        let mut next = run.clone();
        next.state = next.writer.constants("x", self.program.columns.len());
        let own = next.writer.constants("l", next.writer.locals(rule));
        let (before, after) = if forwards { (&run.state, &next.state) } else { (&next.state, &run.state) };
        next.asserts.push(next.writer.rule(rule, before, after, &own));
        next.point = if forwards { self.steps[rule].1 } else { self.steps[rule].0.unwrap_or_default() };
        next.name = format!("{}-rule{rule}", run.name);
        next
    }

    fn emit(&self, run: Run, out: &mut Files) {
        let comment = format!("{}: {}", self.label, run.name);
        out.push((format!("{}-{}.smt2", self.label, run.name), run.writer.finish(&comment, &run.asserts)));
    }

    fn ahead(&self, mut run: Run<'a>, list: Vec<usize>, arrived: bool, out: &mut Files) {
        let plain = self.plain(&list);
        let follow = |e: &&'a Evidence| if let Evidence::Follow(list) = e { Some(list) } else { None };
        let children: Vec<&Vec<usize>> = plain.iter().filter_map(follow).collect();
        let head = self.proof.heads.contains(&run.point);
        if children.is_empty() || arrived && head {
            if arrived && head {
                run.asserts.push(format!("(not {})", self.within(run.point, &run.state)));
            }
            self.emit(run, out);
            return;
        }
        let rules = (0..self.steps.len()).filter(|&r| self.steps[r].0 == Some(run.point));
        for (place, rule) in rules.enumerate() {
            let list = children.iter().filter_map(|c| c.get(place).copied()).collect();
            self.ahead(self.step(&run, rule, true), list, true, out);
        }
    }

    fn back(&self, run: Run<'a>, list: Vec<usize>, out: &mut Files) {
        let plain = self.plain(&list);
        let before = |e: &&'a Evidence| if let Evidence::Before(list) = e { Some(list) } else { None };
        let children: Vec<&Vec<usize>> = plain.iter().filter_map(before).collect();
        if children.is_empty() {
            self.emit(run, out);
            return;
        }
        let rules = (0..self.steps.len()).filter(|&r| self.steps[r].1 == run.point);
        for (place, rule) in rules.enumerate() {
            let list = children.iter().filter_map(|c| c.get(place).copied()).collect();
            let mut next = self.step(&run, rule, false);
            if self.steps[rule].0.is_none() {
                self.emit(next, out);
                continue;
            }
            self.at(&mut next);
            if self.good {
                next.asserts.push(format!("(not {})", (self.bad)(&next.state, &[])));
            }
            self.back(next, list, out);
        }
    }
}
