//! Checking invariants at loop heads.
//!
//! What is shown. *Forwards*: from every fact, and from every state of every cell, all rules are followed, until a run is impossible or its
//! state is in a cell; a state at a head has to be in a cell as soon as a rule has led to it. So, by induction on the length of a derivation,
//! every reachable state at a head is in one of its cells. *Backwards*: assume a violation is reachable, and take one with a
//! shortest derivation. Its control point is one of those that rules and facts lead to. Going back, each state came from a
//! fact or by a rule, is in a cell if its point is a head, and violates nothing, since its derivation is shorter. Every way leads to a contradiction.
//! Nothing is assumed about which points are heads or how the prover went through the others: this file follows the rules itself.
//!
//! What is known of a run comes in a fixed order, which numbers variables and rows. A run begins with the columns of a state.
//! A rule adds a variable for each column that it may change, by column, then its own; its conjuncts are rows
//! in the order in which they stand, its disjunctions wait in the order in which they stand; the evidence says which of
//! them is looked into, or which have one alternative left. Being in a cell adds the rows of its
//! control point (at most, at least), its inequalities, then its congruences, each with a variable of its own unless it is
//! an equality. After each of these steps opposite rows become equations ([`crate::integer`]).

use std::rc::Rc;

use crate::effort::Effort;
use crate::format::{
    Assertion, Cell, Cells, Combination, Evidence, Forced, Inequality, Program, Right, Rule, Tree,
};
use crate::integer::Known;
use crate::trees::{Refusal, negated};

/// One inside the other, at most.
const DEEPEST: usize = 600;

/// A disjunction that waits, with the variables that its nodes are.
type Waiting<'c> = (&'c [Tree], Rc<Vec<usize>>);

/// A run, and the state where it stands.
struct Run<'c> {
    known: Known<'c>,
    state: Vec<usize>,
    waiting: Vec<Waiting<'c>>,
    /// The control point.
    point: i64,
    /// How far the state is from where the run began.
    rules: usize,
    /// Backwards: whether it is known not to be a violation. Forwards: not used.
    earlier: bool,
    depth: usize,
}

/// A rule between control points; facts have none before.
struct Step<'c> {
    rule: &'c Rule,
    from: Option<i64>,
    to: i64,
}

struct Checker<'c> {
    proof: &'c Cells,
    steps: Vec<Step<'c>>,
    bad: &'c Tree,
    /// What a state without violation satisfies; none if a violation has variables of its own.
    good: Option<&'c Tree>,
    nodes: usize,
    width: usize,
    /// For each cell, the opposites of what it says, if it can be said without congruences.
    outside: &'c [Option<Vec<Tree>>],
    effort: &'c Effort,
}

/// Checks that no state violates an assertion.
pub fn check(
    program: &Program,
    assertion: &Assertion,
    proof: &Cells,
    effort: &Effort,
) -> Result<(), Refusal> {
    let k = program.columns.len();
    let Right::Constraint(claim) = &assertion.right else { return Err("not a safety assertion".into()) };
    let bad = Tree::And(vec![assertion.left.clone(), negated(claim)?]);
    let good = if assertion.universal > 2 * k + 1 { None } else { Some(negated(&bad)?) };
    let mut steps = Vec::new();
    for rule in &program.rules {
        let (from, to) = points(rule, proof.control, k)?;
        steps.push(Step { rule, from, to });
    }
    let outside: Vec<Option<Vec<Tree>>> = proof.cells.iter().map(opposites).collect();
    let (good, nodes, outside) = (good.as_ref(), assertion.nodes, &outside);
    Checker { proof, steps, bad: &bad, good, nodes, width: k, outside, effort }.run()
}

/// What is true of a state outside of a cell: one of these. `None` if it has congruences.
fn opposites(cell: &Cell) -> Option<Vec<Tree>> {
    let le = |terms: &[(usize, i64)], sign: i64, bound: i64| {
        let terms = terms.iter().map(|&(n, c)| (n, sign * c)).collect();
        Tree::Le(Inequality { terms, bound })
    };
    let mut out: Vec<Tree> = cell.bounds.iter().map(|l| le(&l.terms, -1, -l.bound - 1)).collect();
    for c in &cell.congruences {
        if c.modulus != 0 {
            return None;
        }
        out.extend([le(&c.terms, 1, c.residue - 1), le(&c.terms, -1, -c.residue - 1)]);
    }
    Some(out)
}

/// The control points before and after a rule. It must say them itself.
pub(crate) fn points(rule: &Rule, control: Option<usize>, k: usize) -> Result<(Option<i64>, i64), Refusal> {
    let Some(column) = control else { return Ok(((!rule.fact).then_some(0), 0)) };
    let said = |node: usize| -> Option<i64> {
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        let mut stack = vec![&rule.guard];
        while let Some(tree) = stack.pop() {
            match tree {
                Tree::And(list) => stack.extend(list),
                Tree::Le(l) => match l.terms[..] {
                    [(n, 1)] if n == node => high = high.min(l.bound),
                    [(n, -1)] if n == node => low = low.max(-l.bound),
                    _ => {}
                },
                Tree::Or(_) => {}
            }
        }
        (low == high).then_some(low)
    };
    let missing = "a rule does not say its control point";
    let after = said(column + 1).ok_or(missing)?;
    if rule.fact {
        return Ok((None, after));
    }
    let before = if rule.unchanged[column] { after } else { said(k + column + 1).ok_or(missing)? };
    Ok((Some(before), after))
}

fn count(list: &[usize], wanted: usize) -> Result<(), Refusal> {
    if list.len() == wanted {
        Ok(())
    } else {
        Err(format!("{} pieces of evidence where {wanted} are needed", list.len()))
    }
}

impl<'c> Run<'c> {
    fn new(width: usize, point: i64, effort: &'c Effort) -> Run<'c> {
        let mut known = Known::new(effort);
        let state = (0..width).map(|_| known.variable()).collect();
        Run { known, state, waiting: Vec::new(), point, rules: 0, earlier: false, depth: 0 }
    }

    fn copy(&self) -> Result<Run<'c>, Refusal> {
        Ok(Run {
            known: self.known.copy()?,
            state: self.state.clone(),
            waiting: self.waiting.clone(),
            depth: self.depth + 1,
            ..*self
        })
    }

    fn adopt(&mut self, tree: &'c Tree, places: &Rc<Vec<usize>>) -> Result<(), Refusal> {
        match tree {
            Tree::Le(l) => {
                let terms: Vec<(usize, i64)> = l.terms.iter().map(|&(n, c)| (places[n], c)).collect();
                self.known.le(&terms, l.bound)
            }
            Tree::And(list) => list.iter().try_for_each(|t| self.adopt(t, places)),
            Tree::Or(list) => {
                self.waiting.push((list, places.clone()));
                Ok(())
            }
        }
    }

    /// One of the disjunctions that wait, which then waits no more.
    fn take(&mut self, which: usize) -> Result<Waiting<'c>, Refusal> {
        if which >= self.waiting.len() {
            return Err("there is nothing to choose".into());
        }
        Ok(self.waiting.remove(which))
    }

    /// Adopts what is left of a disjunction. The other alternatives are impossible where `before` stands.
    fn force(&mut self, forced: &Forced, before: &Run<'c>) -> Result<(), Refusal> {
        let (list, places) = self.take(forced.which)?;
        let left = list.get(forced.left).ok_or("an alternative is not there")?;
        if forced.others.len() + 1 != list.len() {
            return Err("alternatives of a disjunction do not have evidence each".into());
        }
        let others = list.iter().enumerate().filter(|(at, _)| *at != forced.left);
        for ((_, tree), combinations) in others.zip(&forced.others) {
            // Most are false by themselves, and need no copy.
            if let Tree::Le(l) = tree {
                let terms: Vec<(usize, i64)> = l.terms.iter().map(|&(n, c)| (places[n], c)).collect();
                if before.known.excludes(&terms, l.bound)? {
                    continue;
                }
            }
            let mut other = before.copy()?;
            other.adopt(tree, &places)?;
            other.known.settle()?;
            absurd(&mut other.known, combinations)?;
        }
        self.adopt(left, &places)
    }

    /// A condition on the state.
    fn require(&mut self, tree: &'c Tree, nodes: usize) -> Result<(), Refusal> {
        let k = self.state.len();
        let mut places: Vec<usize> = std::iter::once(0).chain(self.state.iter().copied()).collect();
        // No condition on one state names nodes of a second (`validate.rs`).
        places.resize(2 * k + 1, 0);
        places.extend((2 * k + 1..nodes).map(|_| self.known.variable()));
        self.adopt(tree, &Rc::new(places))?;
        self.known.settle()
    }

    /// The state after a rule, or the one before it.
    fn step(&self, step: &Step<'c>, forwards: bool) -> Result<Run<'c>, Refusal> {
        let mut next = self.copy()?;
        let (k, rule) = (self.state.len(), step.rule);
        for column in (0..k).filter(|&c| rule.fact || !rule.unchanged[c]) {
            next.state[column] = next.known.variable();
        }
        let (after, before) = if forwards { (&next.state, &self.state) } else { (&self.state, &next.state) };
        let mut places: Vec<usize> = std::iter::once(0).chain(after.iter().chain(before).copied()).collect();
        places.extend((2 * k + 1..rule.nodes).map(|_| next.known.variable()));
        next.adopt(&rule.guard, &Rc::new(places))?;
        next.known.settle()?;
        next.rules += 1;
        next.earlier = false;
        Ok(next)
    }

    fn at(&mut self, control: Option<usize>) -> Result<(), Refusal> {
        let Some(column) = control else { return Ok(()) };
        self.known.le(&[(self.state[column], 1)], self.point)?;
        self.known.le(&[(self.state[column], -1)], -self.point)?;
        self.known.settle()
    }

    fn enter(&mut self, cell: &Cell, control: Option<usize>) -> Result<(), Refusal> {
        self.at(control)?;
        let state = self.state.clone();
        let place = |terms: &[(usize, i64)]| -> Vec<(usize, i64)> {
            terms.iter().map(|&(n, c)| (state[n - 1], c)).collect()
        };
        for bound in &cell.bounds {
            self.known.le(&place(&bound.terms), bound.bound)?;
        }
        for congruence in &cell.congruences {
            let mut terms = place(&congruence.terms);
            if congruence.modulus != 0 {
                terms.push((self.known.variable(), -congruence.modulus));
            }
            self.known.equal(&terms, congruence.residue)?;
        }
        self.known.settle()
    }
}

/// That a contradiction follows.
fn absurd(known: &mut Known, combinations: &[Combination]) -> Result<(), Refusal> {
    for combination in combinations {
        if known.is_impossible() {
            break;
        }
        known.combine(combination)?;
        known.settle()?;
    }
    if known.is_impossible() { Ok(()) } else { Err("no contradiction follows".into()) }
}

impl<'c> Checker<'c> {
    fn run(&self) -> Result<(), Refusal> {
        let facts: Vec<&Step> = self.steps.iter().filter(|s| s.from.is_none()).collect();
        count(&self.proof.facts, facts.len())?;
        for (step, &at) in facts.into_iter().zip(&self.proof.facts) {
            let mut run = Run::new(self.width, step.to, self.effort).step(step, true)?;
            run.point = step.to;
            self.ahead(run, at)?;
        }
        count(&self.proof.steps, self.proof.cells.len())?;
        for (cell, &at) in self.proof.cells.iter().zip(&self.proof.steps) {
            if !self.proof.heads.contains(&cell.point) {
                return Err("a cell is at no head".into());
            }
            let mut run = Run::new(self.width, cell.point, self.effort);
            run.enter(cell, self.proof.control)?;
            self.ahead(run, at)?;
        }
        let mut points: Vec<i64> = self.steps.iter().flat_map(|s| s.from.into_iter().chain([s.to])).collect();
        points.sort_unstable();
        points.dedup();
        count(&self.proof.claims, points.len())?;
        for (point, &at) in points.into_iter().zip(&self.proof.claims) {
            let mut run = Run::new(self.width, point, self.effort);
            run.at(self.proof.control)?;
            run.require(self.bad, self.nodes)?;
            self.back(run, at)?;
        }
        Ok(())
    }

    /// What both directions have in common; `None` if the evidence is of another kind.
    fn common(
        &self,
        run: &Run<'c>,
        evidence: &'c Evidence,
        go_on: &dyn Fn(Run<'c>, usize) -> Result<(), Refusal>,
    ) -> Result<Option<()>, Refusal> {
        if run.depth > DEEPEST {
            return Err("evidence is nested too deeply".into());
        }
        match evidence {
            Evidence::Absurd(combinations) => absurd(&mut run.known.copy()?, combinations)?,
            Evidence::Choose(which, children) => {
                let mut rest = run.copy()?;
                let (list, places) = rest.take(*which)?;
                count(children, list.len())?;
                for (tree, &child) in list.iter().zip(children) {
                    let mut one = rest.copy()?;
                    one.adopt(tree, &places)?;
                    one.known.settle()?;
                    go_on(one, child)?;
                }
            }
            Evidence::Forced(list, child) => {
                let mut next = run.copy()?;
                for forced in list {
                    next.force(forced, run)?;
                }
                next.known.settle()?;
                go_on(next, *child)?;
            }
            Evidence::Cases(case, yes, no) => {
                let mut one = run.copy()?;
                one.known.le(&case.terms, case.bound)?;
                one.known.settle()?;
                go_on(one, *yes)?;
                let opposite: Vec<(usize, i64)> = case.terms.iter().map(|&(v, c)| (v, -c)).collect();
                let mut other = run.copy()?;
                other.known.le(&opposite, -case.bound - 1)?;
                other.known.settle()?;
                go_on(other, *no)?;
            }
            Evidence::Rests(column, modulus, children) => {
                let rests = usize::try_from(*modulus).unwrap_or(0);
                count(children, rests)?;
                for (rest, &child) in (0..*modulus).zip(children) {
                    let mut one = run.copy()?;
                    let quotient = one.known.variable();
                    one.known.equal(&[(one.state[*column], 1), (quotient, -modulus)], rest)?;
                    one.known.settle()?;
                    go_on(one, child)?;
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    /// Runs from here end in cells, or are impossible.
    fn ahead(&self, run: Run<'c>, at: usize) -> Result<(), Refusal> {
        let evidence = &self.proof.evidence[at];
        if self.common(&run, evidence, &|run, at| self.ahead(run, at))?.is_some() {
            return Ok(());
        }
        let arrived = run.rules > 0 && self.proof.heads.contains(&run.point);
        match evidence {
            Evidence::Inside { cell, given, bounds } => {
                let cell = &self.proof.cells[*cell];
                if cell.point != run.point || run.rules == 0 {
                    return Err("a state is said to be in a cell of another point".into());
                }
                let mut known = run.known.copy()?;
                for combination in given {
                    known.combine(combination)?;
                    known.settle()?;
                }
                let place = |terms: &[(usize, i64)], sign: i64| -> Vec<(usize, i64)> {
                    terms.iter().map(|&(n, c)| (run.state[n - 1], sign * c)).collect()
                };
                for c in &cell.congruences {
                    if !known.is_impossible()
                        && !known.congruent(&place(&c.terms, 1), c.residue, c.modulus)?
                    {
                        return Err("a congruence of a cell does not follow".into());
                    }
                }
                if bounds.len() != cell.bounds.len() {
                    return Err("a cell's inequalities do not have evidence each".into());
                }
                for (bound, combinations) in cell.bounds.iter().zip(bounds) {
                    let mut opposite = known.copy()?;
                    opposite.le(&place(&bound.terms, -1), -bound.bound - 1)?;
                    opposite.settle()?;
                    absurd(&mut opposite, combinations)?;
                }
                Ok(())
            }
            Evidence::Outside(cell, child) => {
                if self.proof.cells[*cell].point != run.point || run.rules == 0 {
                    return Err("a state is said to be in a cell of another point".into());
                }
                let opposites = self.outside[*cell].as_ref().ok_or("a cell has congruences")?;
                let mut next = run.copy()?;
                let places = std::iter::once(0).chain(run.state.iter().copied()).collect();
                next.waiting.push((opposites, Rc::new(places)));
                self.nothing(next, *child)
            }
            Evidence::Follow(children) => {
                if arrived {
                    return Err("a run goes through a head without being in a cell".into());
                }
                let steps: Vec<&Step> = self.steps.iter().filter(|s| s.from == Some(run.point)).collect();
                count(children, steps.len())?;
                for (step, &child) in steps.into_iter().zip(children) {
                    let mut next = run.step(step, true)?;
                    next.point = step.to;
                    self.ahead(next, child)?;
                }
                Ok(())
            }
            _ => Err("evidence of the wrong kind for a run forwards".into()),
        }
    }

    /// No shortest derivation of a violation ends like this.
    fn back(&self, run: Run<'c>, at: usize) -> Result<(), Refusal> {
        let evidence = &self.proof.evidence[at];
        if self.common(&run, evidence, &|run, at| self.back(run, at))?.is_some() {
            return Ok(());
        }
        match evidence {
            Evidence::Earlier(child) => {
                let good = self.good.ok_or("a violation has variables of its own")?;
                if run.rules == 0 || run.earlier {
                    return Err("only states before the violation are none".into());
                }
                let mut next = run.copy()?;
                next.earlier = true;
                next.require(good, self.nodes)?;
                self.back(next, *child)
            }
            Evidence::Among(children) => {
                if !self.proof.heads.contains(&run.point) {
                    return Err("a state at no head is said to be in a cell".into());
                }
                let cells: Vec<&Cell> = self.proof.cells.iter().filter(|c| c.point == run.point).collect();
                count(children, cells.len())?;
                for (cell, &child) in cells.into_iter().zip(children) {
                    let mut one = run.copy()?;
                    one.enter(cell, self.proof.control)?;
                    self.back(one, child)?;
                }
                Ok(())
            }
            Evidence::Before(children) => {
                let steps: Vec<&Step> = self.steps.iter().filter(|s| s.to == run.point).collect();
                count(children, steps.len())?;
                for (step, &child) in steps.into_iter().zip(children) {
                    let mut next = run.step(step, false)?;
                    match step.from {
                        Some(from) => {
                            next.point = from;
                            self.back(next, child)?;
                        }
                        None => self.nothing(next, child)?,
                    }
                }
                Ok(())
            }
            _ => Err("evidence of the wrong kind for a run backwards".into()),
        }
    }

    /// A derivation does not begin like this. There is no state before a fact.
    fn nothing(&self, run: Run<'c>, at: usize) -> Result<(), Refusal> {
        match self.common(&run, &self.proof.evidence[at], &|run, at| self.nothing(run, at))? {
            Some(()) => Ok(()),
            None => Err("evidence of the wrong kind for the beginning of a run".into()),
        }
    }
}
