//! Rules compiled for backward unfolding: from a set of states after a step to the sets before it.
//!
//! `unfold` is complete: it yields one reduct for each way to choose an alternative in every
//! disjunction, in source order, and leaves one out only when it was derived to be empty.
//! Alternatives are chosen one disjunction at a time, so that an impossible choice cuts every
//! combination with it (an await over N processes has 2^(N-1) cases, few of them possible).

use crate::constraint::{Linear, Overflow};
use crate::domain::{Domain, Place, State};
use crate::program::{Program, Tree};

/// One condition. Node numbers below the domain's node count are the state's own; those from there
/// on are temporaries, placed after whatever nodes the state has.
#[derive(Clone, Debug)]
enum Test {
    /// `x_i - x_j <= c`
    Difference(usize, usize, i64),
    /// Any other inequality.
    General(Linear),
    /// A finite column lies in a set.
    Set(usize, u128),
}

/// A conjunction of tests and disjunctions.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    tests: Vec<Test>,
    choices: Vec<Vec<Guard>>,
    /// A disjunction without alternatives was met.
    never: bool,
}

/// A rule, fact or condition, compiled.
#[derive(Clone, Debug)]
pub struct Step {
    /// Index of the rule in the program; for a condition, `usize::MAX`.
    pub rule: usize,
    /// Whether it is a fact.
    pub is_fact: bool,
    base: usize,
    changed_sets: Vec<usize>,
    displaced: Vec<usize>,
    locals: usize,
    guard: Guard,
}

/// Where a node of a source tree went.
enum Target {
    Node(usize),
    Set(usize, usize),
}

fn compile(tree: &Tree, domain: &Domain, target: &dyn Fn(usize) -> Target, out: &mut Guard) {
    match tree {
        Tree::And(list) => list.iter().for_each(|t| compile(t, domain, target, out)),
        Tree::Or(list) => {
            if list.is_empty() {
                out.never = true;
            } else if let Some((slot, mask)) = unary(tree, domain, target) {
                out.tests.push(Test::Set(slot, mask));
            } else {
                out.choices.push(
                    list.iter()
                        .map(|t| {
                            let mut guard = Guard::default();
                            compile(t, domain, target, &mut guard);
                            guard
                        })
                        .collect(),
                );
            }
        }
        Tree::Le(linear) => {
            if let Some((slot, mask)) = unary(tree, domain, target) {
                out.tests.push(Test::Set(slot, mask));
                return;
            }
            let node = |n: usize| match target(n) {
                Target::Node(n) => n,
                Target::Set(..) => unreachable!("a finite column occurs in unary inequalities only"),
            };
            out.tests.push(match linear.terms[..] {
                [] if linear.bound >= 0 => return,
                [] => {
                    out.never = true;
                    return;
                }
                [(i, 1)] => Test::Difference(node(i), 0, linear.bound),
                [(j, -1)] => Test::Difference(0, node(j), linear.bound),
                [(i, 1), (j, -1)] | [(j, -1), (i, 1)] => Test::Difference(node(i), node(j), linear.bound),
                _ => {
                    let mut renamed = linear.clone();
                    renamed.terms.iter_mut().for_each(|t| t.0 = node(t.0));
                    renamed.terms.sort_by_key(|t| t.0);
                    Test::General(renamed)
                }
            });
        }
    }
}

/// The tree as a set of values of one finite column, if it speaks of nothing else.
fn unary(tree: &Tree, domain: &Domain, target: &dyn Fn(usize) -> Target) -> Option<(usize, u128)> {
    let (mut only, mut single) = (None, true);
    tree.each(&mut |l| {
        single &= l.terms.len() == 1 && *only.get_or_insert(l.terms[0].0) == l.terms[0].0;
    });
    let node = only.filter(|_| single)?;
    let Target::Set(slot, finite) = target(node) else { return None };
    let mut values = vec![0; node + 1];
    let mut mask = 0;
    for (bit, &value) in domain.finite[finite].values.iter().enumerate() {
        values[node] = value;
        mask |= u128::from(tree.holds(&values)) << bit;
    }
    Some((slot, mask))
}

impl Step {
    /// Compiles a fact or rule.
    pub fn rule(program: &Program, domain: &Domain, index: usize) -> Step {
        let rule = &program.rules[index];
        let (k, base) = (program.width(), domain.nodes());
        let moves = |column: usize| !rule.is_fact && !rule.unchanged[column];
        let displaced: Vec<usize> =
            domain.data.iter().enumerate().filter(|(_, c)| moves(**c)).map(|(n, _)| n + 1).collect();
        let changed_sets: Vec<usize> =
            (0..domain.finite.len()).filter(|&f| moves(domain.finite[f].column)).collect();
        let sets = domain.finite.len();
        let target = |node: usize| -> Target {
            if node == 0 {
                return Target::Node(0);
            }
            if node > 2 * k {
                return Target::Node(base + displaced.len() + (node - 2 * k - 1));
            }
            let (column, after) = ((node - 1) % k, node <= k);
            match domain.places[column] {
                // Sets before the step come first, then those after it.
                Place::Set(f) if after && moves(column) => Target::Set(sets + f, f),
                Place::Set(f) => Target::Set(f, f),
                Place::Node(n) if after && moves(column) => {
                    let at =
                        displaced.iter().position(|&d| d == n).expect("moved data columns are displaced");
                    Target::Node(base + at)
                }
                Place::Node(n) => Target::Node(n),
            }
        };
        let mut guard = Guard::default();
        compile(&rule.guard, domain, &target, &mut guard);
        let locals = rule.nodes - (2 * k + 1);
        Step { rule: index, is_fact: rule.is_fact, base, changed_sets, displaced, locals, guard }
    }

    /// Compiles a condition on a state (nodes `1..=k` are its columns, later ones existential).
    pub fn condition(program: &Program, domain: &Domain, tree: &Tree, nodes: usize) -> Step {
        let (k, base) = (program.width(), domain.nodes());
        let target = |node: usize| match node {
            0 => Target::Node(0),
            n if n > k => Target::Node(base + n - k - 1),
            n => match domain.places[n - 1] {
                Place::Set(f) => Target::Set(f, f),
                Place::Node(n) => Target::Node(n),
            },
        };
        let mut guard = Guard::default();
        compile(tree, domain, &target, &mut guard);
        Step {
            rule: usize::MAX,
            is_fact: false,
            base,
            changed_sets: Vec::new(),
            displaced: Vec::new(),
            locals: nodes.saturating_sub(k + 1),
            guard,
        }
    }

    /// Every reduct of `state`, each with whether it is exact (not a superset); `domain` must be
    /// the one used for compilation.
    pub fn unfold(
        &self,
        domain: &Domain,
        state: &State,
        sink: &mut impl FnMut(State, bool),
    ) -> Result<(), Overflow> {
        if self.guard.never {
            return Ok(());
        }
        let nodes = state.region.nodes();
        let mut sets = state.sets.clone();
        sets.extend_from_slice(&state.sets);
        for &f in &self.changed_sets {
            sets[f] = domain.full(f);
        }
        // Sets first: most rules fail here, before the region is copied.
        for test in &self.guard.tests {
            if let Test::Set(slot, mask) = test {
                sets[*slot] &= mask;
                if sets[*slot] == 0 {
                    return Ok(());
                }
            }
        }
        let mut region = state.region.clone();
        if !self.displaced.is_empty() || self.locals > 0 {
            region.displace(&self.displaced, self.locals);
        }
        let mut work = State { sets, region };
        let place = Places { base: self.base, nodes };
        if !place.apply(&self.guard.tests, &mut work)? {
            return Ok(());
        }
        let agenda: Vec<&Vec<Guard>> = self.guard.choices.iter().rev().collect();
        let finite = domain.finite.len();
        place.choose(work, agenda, &mut |mut work: State| {
            let outcome = work.region.truncate(nodes)?;
            if outcome.satisfiable {
                work.sets.truncate(finite);
                sink(work, outcome.exact);
            }
            Ok(())
        })
    }

    /// Whether the condition holds in every state of `state`, by a single choice of alternatives.
    /// Only for conditions without existential variables.
    pub fn covers(&self, state: &State) -> Result<bool, Overflow> {
        fn guard_covers(guard: &Guard, state: &State) -> Result<bool, Overflow> {
            if guard.never {
                return Ok(false);
            }
            for test in &guard.tests {
                let holds = match test {
                    Test::Set(slot, mask) => state.sets[*slot] & !mask == 0,
                    Test::Difference(i, j, c) if state.region.general().is_empty() => {
                        state.region.dbm().entry(*i, *j) <= *c
                    }
                    Test::Difference(i, j, c) => state.region.implies(&Linear::difference(*i, *j, *c))?,
                    Test::General(l) => state.region.implies(l)?,
                };
                if !holds {
                    return Ok(false);
                }
            }
            for choice in &guard.choices {
                let mut any = false;
                for alternative in choice {
                    any = any || guard_covers(alternative, state)?;
                }
                if !any {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Ok(self.locals == 0 && guard_covers(&self.guard, state)?)
    }
}

/// Maps compiled node numbers into a state with `nodes` nodes of its own.
struct Places {
    base: usize,
    nodes: usize,
}

impl Places {
    fn node(&self, n: usize) -> usize {
        if n < self.base { n } else { n - self.base + self.nodes }
    }

    fn apply(&self, tests: &[Test], work: &mut State) -> Result<bool, Overflow> {
        for test in tests {
            let alive = match test {
                Test::Set(slot, mask) => {
                    work.sets[*slot] &= mask;
                    work.sets[*slot] != 0
                }
                Test::Difference(i, j, c) => work.region.meet(self.node(*i), self.node(*j), *c)?,
                Test::General(l) => work.region.meet_linear(&l.renamed(|n| self.node(n))?)?,
            };
            if !alive {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn choose(
        &self,
        work: State,
        mut agenda: Vec<&Vec<Guard>>,
        sink: &mut impl FnMut(State) -> Result<(), Overflow>,
    ) -> Result<(), Overflow> {
        let Some(alternatives) = agenda.pop() else { return sink(work) };
        for alternative in alternatives {
            if alternative.never {
                continue;
            }
            let mut next = work.clone();
            if self.apply(&alternative.tests, &mut next)? {
                let mut agenda = agenda.clone();
                agenda.extend(alternative.choices.iter().rev());
                self.choose(next, agenda, sink)?;
            }
        }
        Ok(())
    }
}

/// Every fact and rule of a program, compiled for a domain.
pub fn steps(program: &Program, domain: &Domain) -> Vec<Step> {
    (0..program.rules.len()).map(|r| Step::rule(program, domain, r)).collect()
}
