//! Writing down why cells are an invariant, and why no violation is among them, for `quotient-proof-check`.
//!
//! Forwards: from each fact and each cell all runs are followed until they are impossible or end in a cell. Backwards: a
//! violation is in a cell, or came from somewhere, up to a few rules back; on the way the states before it violate
//! nothing, since it may be taken to be the first. This is also the proof search of the last step: what unfolding backwards closes under the
//! invariant is found here.

use quotient_proof_check::format as out;

use super::flow::Flow;
use super::growth::{Cell, Item, Plan};
use super::proofs::{absurd, sharpen};
use super::walk::Walk;
use crate::constraint::{Linear, Overflow};
use crate::integer::{Congruence, System};
use crate::limits::{Limits, Progress};
use crate::program::{Program, Tree};

/// Why there is no evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Something could not be closed.
    Open,
    /// It would be too long, or take too long.
    TooLong,
    /// Arithmetic left the exact range.
    Overflow,
}

impl From<Overflow> for Missing {
    fn from(_: Overflow) -> Missing {
        Missing::Overflow
    }
}

/// A proof with more entries than this is not short.
const MOST: usize = 60_000;
/// Case distinctions on one variable that has no whole value, one inside the other.
const DEEPEST_CASES: usize = 3;

/// What the claim is.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    /// The violations, over nodes of one state and own variables.
    pub bad: &'a Tree,
    /// Nodes of it.
    pub nodes: usize,
    /// The opposite, if it can be said: a violation with own variables has none.
    pub good: Option<&'a Tree>,
}

/// Evidence being written.
pub struct Writer<'a> {
    pub(super) program: &'a Program,
    pub(super) flow: &'a Flow,
    plan: &'a Plan,
    cells: &'a [Cell],
    pub(super) claim: Claim<'a>,
    limits: &'a Limits,
    /// Heads to unfold backwards through, at most.
    depth: usize,
    list: Vec<out::Evidence>,
}

type Written = Result<usize, Missing>;

/// The whole proof of a claim.
pub fn write(
    program: &Program,
    flow: &Flow,
    plan: &Plan,
    cells: &[Cell],
    claim: Claim,
    depth: usize,
    limits: &Limits,
) -> Result<out::Cells, Missing> {
    let mut writer = Writer { program, flow, plan, cells, claim, limits, depth, list: Vec::new() };
    let k = program.width();
    // What may fail comes first.
    let mut points: Vec<usize> = (0..flow.points.len()).collect();
    points.sort_by_key(|&p| flow.points[p]);
    let mut claims = Vec::new();
    for point in points {
        let mut walk = Walk::new(k);
        flow.place(&mut walk, point)?;
        walk.require(claim.bad, claim.nodes)?;
        claims.push(writer.back(walk, point, Behind::default(), Known::Nothing)?);
    }
    let mut facts = Vec::new();
    for &(rule, point) in &flow.facts {
        let walk = Walk::new(k).forwards(&program.rules[rule])?;
        facts.push(writer.ahead(walk, point, true)?);
    }
    let mut steps = Vec::new();
    for cell in cells {
        let mut walk = Walk::new(k);
        writer.enter(&mut walk, cell)?;
        steps.push(writer.ahead(walk, flow.heads[cell.head], false)?);
    }
    Ok(pruned(out::Cells {
        control: flow.column,
        heads: flow.heads.iter().map(|&h| flow.points[h]).collect(),
        cells: cells.iter().map(|c| described(flow, plan, c)).collect(),
        evidence: writer.list,
        facts,
        steps,
        claims,
    }))
}

/// A cell as certificates have it.
pub(super) fn described(flow: &Flow, plan: &Plan, cell: &Cell) -> out::Cell {
    let node = |terms: &[(usize, i64)]| terms.iter().map(|t| (t.0 + 1, t.1)).collect();
    let rests = cell.rests(plan);
    let congruences = cell.congruences.iter().chain(&rests).map(|c| out::Congruence {
        terms: node(&c.terms),
        residue: c.residue,
        modulus: c.modulus,
    });
    let bounds = cell.rows(plan);
    out::Cell {
        point: flow.points[flow.heads[cell.head]],
        bounds: bounds
            .iter()
            .map(|(sum, bound)| out::Inequality { terms: node(sum), bound: *bound })
            .collect(),
        congruences: congruences.collect(),
    }
}

/// Where the children of a piece of evidence are.
fn children(evidence: &mut out::Evidence) -> Vec<&mut usize> {
    match evidence {
        out::Evidence::Absurd(_) | out::Evidence::Inside { .. } => Vec::new(),
        out::Evidence::Earlier(child)
        | out::Evidence::Forced(_, child)
        | out::Evidence::Outside(_, child) => vec![child],
        out::Evidence::Cases(_, yes, no) => vec![yes, no],
        out::Evidence::Follow(list)
        | out::Evidence::Before(list)
        | out::Evidence::Among(list)
        | out::Evidence::Choose(_, list)
        | out::Evidence::Rests(.., list) => list.iter_mut().collect(),
    }
}

/// Without what was tried in vain.
pub(super) fn pruned(mut cells: out::Cells) -> out::Cells {
    let mut used = vec![false; cells.evidence.len()];
    cells.facts.iter().chain(&cells.steps).chain(&cells.claims).for_each(|&e| used[e] = true);
    // Children come before their parents.
    for at in (0..used.len()).rev().filter(|&at| used[at]).collect::<Vec<_>>() {
        let mut agenda = vec![at];
        while let Some(at) = agenda.pop() {
            for child in children(&mut cells.evidence[at]) {
                if !std::mem::replace(&mut used[*child], true) {
                    agenda.push(*child);
                }
            }
        }
    }
    let place: Vec<usize> =
        used.iter().scan(0, |next, u| Some(std::mem::replace(next, *next + usize::from(*u)))).collect();
    let list = std::mem::take(&mut cells.evidence);
    for (mut evidence, _) in list.into_iter().zip(&used).filter(|(_, used)| **used) {
        children(&mut evidence).into_iter().for_each(|child| *child = place[*child]);
        cells.evidence.push(evidence);
    }
    for root in cells.facts.iter_mut().chain(&mut cells.steps).chain(&mut cells.claims) {
        *root = place[*root];
    }
    cells
}

/// How far back a state is.
#[derive(Clone, Copy, Default)]
struct Behind {
    rules: usize,
    heads: usize,
}

/// What a state on the way back is known to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// No violation.
    Good,
    /// In a cell, and no violation.
    InCell,
}

impl<'a> Writer<'a> {
    /// Nothing written yet, and no cells.
    pub(super) fn new(
        program: &'a Program,
        flow: &'a Flow,
        plan: &'a Plan,
        claim: Claim<'a>,
        limits: &'a Limits,
    ) -> Writer<'a> {
        Writer { program, flow, plan, cells: &[], claim, limits, depth: 0, list: Vec::new() }
    }

    /// How much was written.
    pub(super) fn written(&self) -> usize {
        self.list.len()
    }

    /// Takes back what was written since then.
    pub(super) fn forget(&mut self, written: usize) {
        self.list.truncate(written);
    }

    /// What was written.
    pub(super) fn evidence(&mut self) -> Vec<out::Evidence> {
        std::mem::take(&mut self.list)
    }

    /// Whether to go on.
    pub(super) fn tick(&self) -> Result<(), Missing> {
        let progress =
            Progress { doing: "writing a proof", goals: self.list.len(), stored: self.cells.len() };
        if self.list.len() >= MOST || self.limits.reached(progress).is_some() {
            return Err(Missing::TooLong);
        }
        Ok(())
    }

    pub(super) fn add(&mut self, evidence: out::Evidence) -> Written {
        self.tick()?;
        self.list.push(evidence);
        Ok(self.list.len() - 1)
    }

    /// Says of the state of a walk that it is in a cell.
    fn enter(&self, walk: &mut Walk<'a>, cell: &Cell) -> Result<(), Overflow> {
        self.flow.place(walk, self.flow.heads[cell.head])?;
        let state = walk.state.clone();
        cell.describe(self.plan, &mut walk.system, &state)
    }

    /// Evidence that a system is impossible, by cases if need be.
    fn impossible(&mut self, system: &System, cases: usize) -> Result<Option<usize>, Missing> {
        if let Some(steps) = absurd(system)? {
            return self.add(out::Evidence::Absurd(steps)).map(Some);
        }
        if cases == 0 {
            return Ok(None);
        }
        let mut sharp = system.clone();
        let Some(simplex) = sharpen(&mut sharp, &mut Vec::new())? else { return Ok(None) };
        if simplex.fraction().is_none() {
            return Ok(None);
        }
        // A variable without a whole value where the tableau stands.
        for variable in 0..sharp.variables() {
            let form = sharp.form(variable);
            if form.terms.is_empty() || simplex.value(form)?.is_some() {
                continue;
            }
            let value = simplex.at(form)?.floor();
            let mut below = system.clone();
            below.le(&[(variable, 1)], value)?;
            below.settle()?;
            let Some(below) = self.impossible(&below, cases - 1)? else { return Ok(None) };
            let mut above = system.clone();
            above.le(&[(variable, -1)], -value - 1)?;
            above.settle()?;
            let Some(above) = self.impossible(&above, cases - 1)? else { return Ok(None) };
            let case = out::Inequality { terms: vec![(variable, 1)], bound: value };
            return self.add(out::Evidence::Cases(case, below, above)).map(Some);
        }
        Ok(None)
    }

    fn choose(&mut self, walk: Walk<'a>, go_on: &mut dyn FnMut(&mut Self, Walk<'a>) -> Written) -> Written {
        let mut children = Vec::new();
        for one in walk.choices(0)? {
            children.push(go_on(self, one)?);
        }
        self.add(out::Evidence::Choose(0, children))
    }

    /// Follows all runs from a state; `arrived` if a rule has led to it.
    fn ahead(&mut self, walk: Walk<'a>, point: usize, arrived: bool) -> Written {
        if let Some(done) = self.impossible(&walk.system, 0)? {
            return Ok(done);
        }
        if !walk.is_closed() {
            return self.choose(walk, &mut |me, one| me.ahead(one, point, arrived));
        }
        if let Some(head) = self.flow.heads.iter().position(|h| *h == point).filter(|_| arrived) {
            return self.inside(&walk.system, &walk.state, head, Vec::new());
        }
        let mut children = Vec::new();
        let flow = self.flow;
        for step in flow.steps.iter().filter(|s| s.from == point) {
            let next = walk.forwards(&self.program.rules[step.rule])?;
            children.push(self.ahead(next, step.to, true)?);
        }
        self.add(out::Evidence::Follow(children))
    }

    /// A state at a head is in a cell of it: by the items of the key, one after the other.
    fn inside(&mut self, system: &System, state: &[usize], head: usize, key: Vec<i64>) -> Written {
        let plan = self.plan;
        if let Some(item) = plan.keys[head].get(key.len()) {
            return self.by_item(item, system, state, head, key);
        }
        let found = self.cells.iter().position(|c| c.head == head && c.key == key);
        let Some(at) = found else {
            return match self.impossible(system, DEEPEST_CASES)? {
                Some(done) => Ok(done),
                None => Err(Missing::Open),
            };
        };
        let mut system = system.clone();
        let mut given = Vec::new();
        if sharpen(&mut system, &mut given)?.is_none() {
            return self.add(out::Evidence::Absurd(given));
        }
        let cell = &self.cells[at];
        for congruence in cell.congruences.iter().chain(&cell.rests(plan)) {
            if !follows(&system, state, congruence)? {
                return Err(Missing::Open);
            }
        }
        let mut bounds = Vec::new();
        for (sum, bound) in cell.rows(plan) {
            let mut opposite = system.clone();
            let terms: Vec<(usize, i64)> = sum.iter().map(|&(c, f)| (state[c], -f)).collect();
            opposite.le(&terms, bound.checked_add(1).and_then(i64::checked_neg).ok_or(Overflow)?)?;
            match absurd(&opposite)? {
                Some(steps) => bounds.push(steps),
                None => return Err(Missing::Open),
            }
        }
        self.add(out::Evidence::Inside { cell: at, given, bounds })
    }

    fn by_item(
        &mut self,
        item: &Item,
        system: &System,
        state: &[usize],
        head: usize,
        key: Vec<i64>,
    ) -> Written {
        let with = |value: i64| {
            let mut key = key.clone();
            key.push(value);
            key
        };
        let go_on = |me: &mut Self, part: &System, value: i64| {
            if let Some(done) = me.impossible(part, 0)? {
                return Ok(done);
            }
            me.inside(part, state, head, with(value))
        };
        match item {
            Item::Value(column, values) => {
                let form = system.form(state[*column]);
                if form.terms.is_empty() {
                    let value = form.constant;
                    return self.inside(system, state, head, with(value));
                }
                self.by_value(system, state[*column], values, &mut |me, part, value| go_on(me, part, value))
            }
            Item::Atom(sum, bound) => {
                let terms: Vec<(usize, i64)> = sum.iter().map(|&(c, f)| (state[c], f)).collect();
                let merged = Linear::new(terms.iter().map(|t| (t.0 + 1, t.1)), *bound)?;
                let terms: Vec<(usize, i64)> = merged.terms.iter().map(|t| (t.0 - 1, t.1)).collect();
                let opposite: Vec<(usize, i64)> = terms.iter().map(|t| (t.0, -t.1)).collect();
                let mut yes = system.clone();
                yes.le(&terms, *bound)?;
                yes.settle()?;
                let yes = go_on(self, &yes, 1)?;
                let mut no = system.clone();
                no.le(&opposite, -bound - 1)?;
                no.settle()?;
                let no = go_on(self, &no, 0)?;
                self.add(out::Evidence::Cases(out::Inequality { terms, bound: *bound }, yes, no))
            }
            Item::Rest(column, modulus) => {
                let mut children = Vec::new();
                for residue in 0..*modulus {
                    let mut part = system.clone();
                    let congruence = Congruence { terms: vec![(*column, 1)], residue, modulus: *modulus };
                    super::growth::congruent(&mut part, state, &congruence)?;
                    part.settle()?;
                    children.push(go_on(self, &part, residue)?);
                }
                self.add(out::Evidence::Rests(*column, *modulus, children))
            }
        }
    }

    /// One value after the other; below and above there are none.
    fn by_value(
        &mut self,
        system: &System,
        variable: usize,
        values: &[i64],
        go_on: &mut dyn FnMut(&mut Self, &System, i64) -> Written,
    ) -> Written {
        if let Some(done) = self.impossible(system, 0)? {
            return Ok(done);
        }
        let Some((&value, rest)) = values.split_first() else {
            return Err(Missing::Open);
        };
        let mut lower = system.clone();
        lower.le(&[(variable, 1)], value - 1)?;
        lower.settle()?;
        let Some(below) = self.impossible(&lower, 0)? else { return Err(Missing::Open) };
        let mut from = system.clone();
        from.le(&[(variable, -1)], -value)?;
        from.settle()?;
        let mut here = from.clone();
        here.le(&[(variable, 1)], value)?;
        here.settle()?;
        let here = go_on(self, &here, value)?;
        let mut higher = from;
        higher.le(&[(variable, -1)], -value - 1)?;
        higher.settle()?;
        let above = self.by_value(&higher, variable, rest, go_on)?;
        let case = |bound: i64| out::Inequality { terms: vec![(variable, 1)], bound };
        let upper = self.add(out::Evidence::Cases(case(value), here, above))?;
        self.add(out::Evidence::Cases(case(value - 1), below, upper))
    }

    /// A run that ends in a violation does not exist; the end of it is known.
    fn back(&mut self, walk: Walk<'a>, point: usize, behind: Behind, known: Known) -> Written {
        let last = known == Known::InCell && behind.heads >= self.depth;
        let cases = if walk.is_closed() && last { DEEPEST_CASES } else { 0 };
        if let Some(done) = self.impossible(&walk.system, cases)? {
            return Ok(done);
        }
        if !walk.is_closed() {
            return self.choose(walk, &mut |me, one| me.back(one, point, behind, known));
        }
        if known == Known::Nothing && behind.rules > 0 {
            let mut good = walk.clone();
            if let Some(tree) = self.claim.good {
                good.require(tree, self.claim.nodes)?;
                let child = self.back(good, point, behind, Known::Good)?;
                return self.add(out::Evidence::Earlier(child));
            }
        }
        if known != Known::InCell
            && let Some(head) = self.flow.heads.iter().position(|h| *h == point)
        {
            let cells = self.cells;
            let mut children = Vec::new();
            for cell in cells.iter().filter(|c| c.head == head) {
                let mut one = walk.clone();
                self.enter(&mut one, cell)?;
                children.push(self.back(one, point, behind, Known::InCell)?);
            }
            return self.add(out::Evidence::Among(children));
        }
        if last {
            return Err(Missing::Open);
        }
        let flow = self.flow;
        let mut into: Vec<(usize, Option<usize>)> =
            flow.facts.iter().filter(|f| f.1 == point).map(|f| (f.0, None)).collect();
        into.extend(flow.steps.iter().filter(|s| s.to == point).map(|s| (s.rule, Some(s.from))));
        into.sort_unstable();
        let heads = behind.heads + usize::from(known == Known::InCell);
        let further = Behind { rules: behind.rules + 1, heads };
        let mut children = Vec::new();
        for (rule, from) in into {
            let next = walk.backwards(&self.program.rules[rule])?;
            children.push(match from {
                Some(from) => self.back(next, from, further, Known::Nothing)?,
                None => self.nothing(next)?,
            });
        }
        self.add(out::Evidence::Before(children))
    }

    /// No fact begins such a run.
    fn nothing(&mut self, walk: Walk<'a>) -> Written {
        let cases = if walk.is_closed() { DEEPEST_CASES } else { 0 };
        if let Some(done) = self.impossible(&walk.system, cases)? {
            return Ok(done);
        }
        if walk.is_closed() {
            return Err(Missing::Open);
        }
        self.choose(walk, &mut |me, one| me.nothing(one))
    }
}

/// Whether a congruence about the state is plain from the equations.
fn follows(system: &System, state: &[usize], congruence: &Congruence) -> Result<bool, Overflow> {
    let terms: Vec<(usize, i64)> = congruence.terms.iter().map(|&(c, f)| (state[c], f)).collect();
    let form = system.sum(&terms)?;
    let rest = i128::from(form.constant) - i128::from(congruence.residue);
    Ok(match congruence.modulus {
        0 => form.terms.is_empty() && rest == 0,
        m => rest % i128::from(m) == 0 && form.terms.iter().all(|t| t.1 % m == 0),
    })
}
