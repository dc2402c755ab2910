//! Checking a relative claim state by state, for programs with few reachable states.
//!
//! Three things, each by evaluation: every state of the list is derived by a step from an earlier one, so all are reachable;
//! no step leaves the list ([`crate::inductive`]), so there are no others; and for every left state, whatever the other variables of
//! the left side are, some state of the list fits the right side.

use std::collections::HashMap;

use crate::format::{Assertion, Derived, Program, Right, States, Tree};
use crate::inductive;
use crate::smtlib::{Writer, and, number, or, tree};
use crate::trees::{Refusal, System, expand};
use crate::unreachable::Context;

/// Values of a variable that are tried one by one.
const FEW_VALUES: i128 = 64;

/// Checks the claim.
pub fn check(context: &Context, assertion: &Assertion, list: &[Derived]) -> Result<(), Refusal> {
    let Right::State(right) = &assertion.right else { return Err("not a relative assertion".into()) };
    let k = context.width();
    for (at, one) in list.iter().enumerate() {
        let rule = &context.program.rules[one.rule];
        let mut system = System::new(rule.nodes);
        fix(&mut system, 1, &one.state);
        if let Some(before) = one.before {
            let before = &list[before].state;
            let kept = (0..k).all(|c| !rule.unchanged[c] || before[c] == one.state[c]);
            if !kept {
                return Err(format!("state {at} is not what its rule leads to"));
            }
            fix(&mut system, k + 1, before);
        }
        if expand(&rule.guard, &system, &|n| n, context.effort)?.is_empty() {
            return Err(format!("state {at} is not what its rule leads to"));
        }
    }
    let cells = list.iter().map(|one| cell(context, &one.state)).collect::<Result<Vec<States>, _>>()?;
    inductive::check(context, &cells, &Default::default())?;
    let index: HashMap<&[i64], usize> =
        list.iter().enumerate().map(|(at, one)| (one.state.as_slice(), at)).collect();
    let partners = Partners { context, assertion, right, list, index };
    for one in list {
        let mut system = System::new(assertion.nodes);
        fix(&mut system, 1, &one.state);
        for left in expand(&assertion.left, &system, &|n| n, context.effort)? {
            partners.exist(left, 2 * k + 1)?;
        }
    }
    Ok(())
}

/// Gives consecutive nodes values.
fn fix(system: &mut System, first: usize, values: &[i64]) {
    let equal = |(at, &v): (usize, &i64)| [(first + at, 0, i128::from(v)), (0, first + at, -i128::from(v))];
    system.matrix.add(values.iter().enumerate().flat_map(equal));
}

/// The set of one state.
fn cell(context: &Context, state: &[i64]) -> Result<States, Refusal> {
    let finite = &context.program.finite;
    if finite.iter().any(|f| f.values.binary_search(&state[f.column]).is_err()) {
        return Err("a state has a value that its column never has".into());
    }
    let open = (0..state.len()).filter(|c| finite.iter().all(|f| f.column != *c));
    let bound = |c: usize, sign: i64| crate::format::Inequality {
        terms: vec![(c + 1, sign)],
        bound: sign * state[c],
    };
    Ok(States {
        values: finite.iter().map(|f| vec![state[f.column]]).collect(),
        bounds: open.flat_map(|c| [bound(c, 1), bound(c, -1)]).collect(),
    })
}

struct Partners<'a> {
    context: &'a Context<'a>,
    assertion: &'a Assertion,
    right: &'a Tree,
    list: &'a [Derived],
    index: HashMap<&'a [i64], usize>,
}

impl Partners<'_> {
    /// For all values of the universal variables from `node` on, some state of the list fits the right side.
    fn exist(&self, left: System, node: usize) -> Result<(), Refusal> {
        let (k, effort) = (self.context.width(), self.context.effort);
        if node < self.assertion.universal {
            let low = left.matrix.get(0, node).map(|l| -l);
            let (Some(low), Some(high)) = (low, left.matrix.get(node, 0)) else {
                return Err("a variable of the claim has no bounds".into());
            };
            if high - low >= FEW_VALUES {
                return Err("a variable of the claim has too many values".into());
            }
            for value in low..=high {
                let mut one = left.clone();
                effort.spend(one.matrix.nodes() * one.matrix.nodes())?;
                one.matrix.add([(node, 0, value), (0, node, -value)]);
                if !one.is_empty() {
                    self.exist(one, node + 1)?;
                }
            }
            return Ok(());
        }
        for found in expand(self.right, &left, &|n| n, effort)? {
            let value = |n: usize| found.matrix.constant(n).and_then(|v| i64::try_from(v).ok());
            if let Some(partner) = (k + 1..=2 * k).map(value).collect::<Option<Vec<i64>>>() {
                if self.index.contains_key(partner.as_slice()) {
                    return Ok(());
                }
                continue;
            }
            for one in self.list {
                let mut system = found.clone();
                effort.spend(system.matrix.nodes() * system.matrix.nodes())?;
                fix(&mut system, k + 1, &one.state);
                if !system.is_empty() {
                    return Ok(());
                }
            }
        }
        Err("a left state has no partner".into())
    }
}

/// The same three questions for a solver; each answer must be `unsat`.
pub(crate) fn export(
    program: &Program,
    label: &str,
    assertion: &Assertion,
    list: &[Derived],
    out: &mut Vec<(String, String)>,
) {
    let Right::State(right) = &assertion.right else { return };
    let k = program.columns.len();
    let values = |one: &Derived| one.state.iter().map(|v| number(*v)).collect::<Vec<String>>();
    let quantified = |names: &[String], body: String| match names {
        [] => body,
        _ => {
            let names: Vec<String> = names.iter().map(|n| format!("({n} Int)")).collect();
            format!("(exists ({}) {body})", names.join(" "))
        }
    };
    let within = |state: &[String]| {
        or(list
            .iter()
            .map(|one| and(values(one).iter().zip(state).map(|(v, s)| format!("(= {s} {v})")).collect()))
            .collect())
    };
    let mut w = Writer::new(program);
    let steps = list.iter().map(|one| {
        let own = w.bound("l", w.locals(one.rule));
        let before = one.before.map_or_else(|| values(one), |b| values(&list[b]));
        let step = w.rule(one.rule, &before, &values(one), &own);
        format!("(not {})", quantified(&own, step))
    });
    let wrong = [or(steps.collect())];
    out.push((
        format!("{label}-derived.smt2"),
        w.finish(&format!("{label}: every state is derived"), &wrong),
    ));
    for (index, rule) in program.rules.iter().enumerate() {
        let mut w = Writer::new(program);
        let (after, before) = (w.constants("a", k), w.constants("x", k));
        let own = w.constants("l", w.locals(index));
        let mut asserts = vec![w.rule(index, &before, &after, &own), format!("(not {})", within(&after))];
        if !rule.fact {
            asserts.push(within(&before));
        }
        let comment = format!("{label}: rule {index} does not leave the list");
        out.push((format!("{label}-rule{index}.smt2"), w.finish(&comment, &asserts)));
    }
    let mut w = Writer::new(program);
    let state = w.constants("x", k);
    let universal = w.constants("u", assertion.universal - (2 * k + 1));
    let existential = w.bound("e", assertion.nodes - assertion.universal);
    let own = [universal, existential.clone()].concat();
    let names = |n: usize, partner: &[String]| match n {
        n if n <= k => state[n - 1].clone(),
        n if n <= 2 * k => partner[n - k - 1].clone(),
        n => own[n - 2 * k - 1].clone(),
    };
    let mut asserts = vec![within(&state), tree(&assertion.left, &|n| names(n, &[]))];
    for one in list {
        let partner = values(one);
        let fits = quantified(&existential, tree(right, &|n| names(n, &partner)));
        asserts.push(format!("(not {fits})"));
    }
    out.push((
        format!("{label}-partners.smt2"),
        w.finish(&format!("{label}: a left state has a partner"), &asserts),
    ));
}
