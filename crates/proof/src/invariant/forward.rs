//! Steps forwards: from a set of states to the sets after one step.
//!
//! A rule read backwards is a rule: with the nodes of the states before and after exchanged, unfolding ([`Step::unfold`]) gives
//! images instead of preimages. Its results contain every image, which is what an invariant needs. Inequalities that are
//! not differences are left out of them; that makes the sets larger, not smaller.

use crate::constraint::{Overflow, Region};
use crate::domain::{Domain, State};
use crate::program::{Program, Rule, Tree};
use crate::step::Step;

/// The rules of a program, forwards, and its facts.
pub struct Forward<'d> {
    domain: &'d Domain,
    facts: Vec<Step>,
    rules: Vec<Step>,
}

fn exchanged(tree: &Tree, k: usize, rule: &Rule) -> Result<Tree, Overflow> {
    let to = |n: usize| match n {
        0 => 0,
        n if n <= k && !rule.unchanged[n - 1] => n + k,
        n if n > k && n <= 2 * k => n - k,
        n => n,
    };
    Ok(match tree {
        Tree::Le(l) => Tree::Le(l.renamed(to)?),
        Tree::And(list) => Tree::And(list.iter().map(|t| exchanged(t, k, rule)).collect::<Result<_, _>>()?),
        Tree::Or(list) => Tree::Or(list.iter().map(|t| exchanged(t, k, rule)).collect::<Result<_, _>>()?),
    })
}

/// The differences of a set of states, without its other inequalities.
fn differences(state: State) -> Result<State, Overflow> {
    if state.region.general().is_empty() {
        return Ok(state);
    }
    let mut region = Region::universe(state.region.nodes());
    for (i, j, c) in state.region.dbm().constraints() {
        region.meet(i, j, c)?;
    }
    Ok(State { region, ..state })
}

impl<'d> Forward<'d> {
    /// Compiles a program.
    pub fn new(program: &Program, domain: &'d Domain) -> Result<Forward<'d>, Overflow> {
        let mut reversed = program.clone();
        for rule in reversed.rules.iter_mut().filter(|r| !r.is_fact) {
            rule.guard = exchanged(&rule.guard, program.width(), rule)?;
        }
        let steps = |fact: bool| {
            let fitting = (0..program.rules.len()).filter(|&r| program.rules[r].is_fact == fact);
            fitting.map(|r| Step::rule(&reversed, domain, r)).collect()
        };
        Ok(Forward { domain, facts: steps(true), rules: steps(false) })
    }

    /// The initial states.
    pub fn initial(&self) -> Result<Vec<State>, Overflow> {
        let mut out = Vec::new();
        for fact in &self.facts {
            fact.unfold(self.domain, &self.domain.universe(), &mut |s, _| out.push(s))?;
        }
        out.into_iter().map(differences).collect()
    }

    /// The states after one step.
    pub fn after(&self, state: &State) -> Result<Vec<State>, Overflow> {
        let mut out = Vec::new();
        for rule in &self.rules {
            rule.unfold(self.domain, state, &mut |s, _| out.push(s))?;
        }
        out.into_iter().map(differences).collect()
    }
}
