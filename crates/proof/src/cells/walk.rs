//! Runs between control points, as conjunctions.
//!
//! A [`Walk`] is a run of some rules: the variables of its states and what the rules say about them. Conjuncts are adopted in the
//! order in which they stand; disjunctions wait in the order in which they are met. Certificates rely on this order: it numbers the
//! rows. Which disjunction is opened next is free, and said in the certificate; here it is the oldest one, in
//! `decide.rs` one that matters.

use std::rc::Rc;

use super::flow::Flow;
use crate::constraint::Overflow;
use crate::integer::{Simplex, System};
use crate::program::{Program, Rule, Tree};

/// What the nodes of a condition are here.
pub type Places = Rc<Vec<usize>>;

/// A run, or the end of one.
#[derive(Clone)]
pub struct Walk<'t> {
    /// What is known.
    pub system: System,
    /// The variables of the state where it stands: the last one of a run forwards, the first one of a run backwards.
    pub state: Vec<usize>,
    /// What the nodes of the rule or condition are that was last adopted.
    pub places: Places,
    /// Disjunctions not looked into yet.
    open: Vec<(&'t [Tree], Places)>,
}

impl<'t> Walk<'t> {
    /// A state of which nothing is known.
    pub fn new(width: usize) -> Walk<'t> {
        let mut system = System::default();
        let state = (0..width).map(|_| system.variable()).collect();
        Walk { system, state, places: Rc::default(), open: Vec::new() }
    }

    /// The disjunctions not looked into yet, oldest first.
    pub fn waiting(&self) -> &[(&'t [Tree], Places)] {
        &self.open
    }

    /// Another disjunction that waits.
    pub fn wait(&mut self, list: &'t [Tree], places: Places) {
        self.open.push((list, places));
    }

    /// Takes a disjunction that waits for looked into.
    pub fn take(&mut self, which: usize) -> (&'t [Tree], Places) {
        self.open.remove(which)
    }

    /// The same without the disjunctions that wait.
    pub fn bare(&self) -> Walk<'t> {
        let (system, state, places) = (self.system.clone(), self.state.clone(), self.places.clone());
        Walk { system, state, places, open: Vec::new() }
    }

    /// Whether no disjunction waits.
    pub fn is_closed(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes a condition for true.
    pub fn adopt(&mut self, tree: &'t Tree, places: &Places) -> Result<(), Overflow> {
        match tree {
            Tree::Le(l) => {
                let terms: Vec<(usize, i64)> = l.terms.iter().map(|&(n, c)| (places[n], c)).collect();
                self.system.le(&terms, l.bound)
            }
            Tree::And(list) => list.iter().try_for_each(|t| self.adopt(t, places)),
            Tree::Or(list) => {
                self.open.push((list, places.clone()));
                Ok(())
            }
        }
    }

    /// The alternatives of a disjunction that waits.
    pub fn choices(mut self, which: usize) -> Result<Vec<Walk<'t>>, Overflow> {
        let (list, places) = self.take(which);
        let choose = |tree: &'t Tree| {
            let mut one = self.clone();
            one.adopt(tree, &places)?;
            one.system.settle()?;
            Ok(one)
        };
        list.iter().map(choose).collect()
    }

    fn step(&mut self, rule: &'t Rule, k: usize, places: Vec<usize>) -> Result<(), Overflow> {
        let mut places = places;
        for _ in 2 * k + 1..rule.nodes {
            places.push(self.system.variable());
        }
        self.places = Rc::new(places);
        let places = self.places.clone();
        self.adopt(&rule.guard, &places)?;
        self.system.settle()?;
        Ok(())
    }

    /// Goes on by a rule.
    pub fn forwards(&self, rule: &'t Rule) -> Result<Walk<'t>, Overflow> {
        let mut next = self.clone();
        let k = self.state.len();
        for column in 0..k {
            if rule.is_fact || !rule.unchanged[column] {
                next.state[column] = next.system.variable();
            }
        }
        let places = std::iter::once(0).chain(next.state.iter().copied()).chain(self.state.iter().copied());
        next.step(rule, k, places.collect())?;
        Ok(next)
    }

    /// Where the state may have come from by a rule. Behind a fact there is nothing.
    pub fn backwards(&self, rule: &'t Rule) -> Result<Walk<'t>, Overflow> {
        let mut next = self.clone();
        let k = self.state.len();
        for column in 0..k {
            if rule.is_fact || !rule.unchanged[column] {
                next.state[column] = next.system.variable();
            }
        }
        let places = std::iter::once(0).chain(self.state.iter().copied()).chain(next.state.iter().copied());
        next.step(rule, k, places.collect())?;
        Ok(next)
    }

    /// Adds a condition on the state; its `own` variables come after the nodes of two states.
    pub fn require(&mut self, tree: &'t Tree, nodes: usize) -> Result<(), Overflow> {
        let k = self.state.len();
        let mut places: Vec<usize> = std::iter::once(0).chain(self.state.iter().copied()).collect();
        // The nodes of a second state are not used by conditions on one.
        places.resize(2 * k + 1, 0);
        for _ in 2 * k + 1..nodes {
            places.push(self.system.variable());
        }
        self.places = Rc::new(places);
        let places = self.places.clone();
        self.adopt(tree, &places)?;
        self.system.settle()?;
        Ok(())
    }

    /// Whether it is seen to be impossible.
    pub fn is_impossible(&self) -> Result<bool, Overflow> {
        Ok(self.system.is_empty() || Simplex::new(&self.system).conflict()?.is_some())
    }
}

/// Where a leaf leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// A head.
    Head(usize),
    /// A violation of the claim.
    Bad,
}

/// A run from one head to the next, or to a violation, without disjunctions. Variables: the columns of the first state, then
/// those of the last.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The head it starts from; none for the beginning of a run.
    pub from: Option<usize>,
    /// Where it leads.
    pub to: To,
    /// The conjunction.
    pub system: System,
}

/// Why there are no leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLeaves {
    /// More than are worth it.
    TooMany,
    /// Arithmetic left the exact range.
    Overflow,
}

impl From<Overflow> for NoLeaves {
    fn from(_: Overflow) -> NoLeaves {
        NoLeaves::Overflow
    }
}

/// More runs than this are not looked at.
const MOST: usize = 4_000;

struct Collector<'a> {
    program: &'a Program,
    flow: &'a Flow,
    bad: (&'a Tree, usize),
    from: Option<usize>,
    first: Vec<usize>,
    leaves: Vec<Leaf>,
    visited: usize,
}

/// Every run between heads, and from heads to violations.
pub fn leaves(program: &Program, flow: &Flow, bad: (&Tree, usize)) -> Result<Vec<Leaf>, NoLeaves> {
    let k = program.width();
    let mut all =
        Collector { program, flow, bad, from: None, first: Vec::new(), leaves: Vec::new(), visited: 0 };
    let nowhere = Walk::new(k);
    all.first.clone_from(&nowhere.state);
    for &(rule, point) in &flow.facts {
        let next = nowhere.forwards(&program.rules[rule])?;
        all.arrive(next, point)?;
    }
    for head in 0..flow.heads.len() {
        let mut walk = Walk::new(k);
        flow.place(&mut walk, flow.heads[head])?;
        all.from = Some(head);
        all.first.clone_from(&walk.state);
        all.leave(walk, flow.heads[head])?;
    }
    Ok(all.leaves)
}

impl<'a> Collector<'a> {
    fn emit(&mut self, walk: &Walk, to: To) {
        let variables: Vec<usize> = self.first.iter().chain(&walk.state).copied().collect();
        self.leaves.push(Leaf { from: self.from, to, system: walk.system.select(&variables) });
    }

    /// A state at a point, reached by a rule.
    fn arrive(&mut self, walk: Walk<'a>, point: usize) -> Result<(), NoLeaves> {
        self.visited += 1;
        if self.visited > MOST {
            return Err(NoLeaves::TooMany);
        }
        if walk.is_impossible()? {
            return Ok(());
        }
        if !walk.is_closed() {
            for one in walk.choices(0)? {
                self.arrive(one, point)?;
            }
            return Ok(());
        }
        match self.flow.heads.iter().position(|h| *h == point) {
            Some(head) => {
                self.emit(&walk, To::Head(head));
                Ok(())
            }
            None => self.leave(walk, point),
        }
    }

    /// What follows a state.
    fn leave(&mut self, walk: Walk<'a>, point: usize) -> Result<(), NoLeaves> {
        let mut bad = walk.clone();
        bad.require(self.bad.0, self.bad.1)?;
        self.violate(bad)?;
        let flow = self.flow;
        for step in flow.steps.iter().filter(|s| s.from == point) {
            let next = walk.forwards(&self.program.rules[step.rule])?;
            self.arrive(next, step.to)?;
        }
        Ok(())
    }

    fn violate(&mut self, walk: Walk<'a>) -> Result<(), NoLeaves> {
        self.visited += 1;
        if self.visited > MOST {
            return Err(NoLeaves::TooMany);
        }
        if walk.is_impossible()? {
            return Ok(());
        }
        if walk.is_closed() {
            self.emit(&walk, To::Bad);
            return Ok(());
        }
        for one in walk.choices(0)? {
            self.violate(one)?;
        }
        Ok(())
    }
}
