//! Proofs as certificates for the independent checker (`quotient-proof-check`).

use std::collections::HashMap;

use quotient_proof_check::format as out;

use crate::canonical::Map;
use crate::constraint::{Linear, Overflow};
use crate::domain::{Domain, State};
use crate::program::{Assertion, Program, Right, Tree};
use crate::prove::{Proof, Report, invariant, violations};
use crate::relative::{Closing, Frame, Grain, RelativeProof, Used};
use crate::safety::{Cover, Prover, Table};

fn inequality(l: &Linear) -> out::Inequality {
    out::Inequality { terms: l.terms.clone(), bound: l.bound }
}

fn tree(t: &Tree) -> out::Tree {
    match t {
        Tree::Le(l) => out::Tree::Le(inequality(l)),
        Tree::And(list) => out::Tree::And(list.iter().map(tree).collect()),
        Tree::Or(list) => out::Tree::Or(list.iter().map(tree).collect()),
    }
}

fn untree(t: &out::Tree) -> Option<Tree> {
    Some(match t {
        out::Tree::Le(l) => Tree::Le(Linear::new(l.terms.iter().copied(), l.bound).ok()?),
        out::Tree::And(list) => Tree::And(list.iter().map(untree).collect::<Option<_>>()?),
        out::Tree::Or(list) => Tree::Or(list.iter().map(untree).collect::<Option<_>>()?),
    })
}

/// An assertion from the certificate's form; `None` when a constant is too large.
pub fn assertion(a: &out::Assertion) -> Option<Assertion> {
    Some(Assertion {
        name: a.name.clone(),
        span: None,
        assumed: a.assumed,
        nonincreasing: a.nonincreasing,
        using: Vec::new(),
        nodes: a.nodes,
        universal: a.universal,
        left: untree(&a.left)?,
        right: match &a.right {
            out::Right::State(t) => Right::State(untree(t)?),
            out::Right::Constraint(t) => Right::Constraint(untree(t)?),
        },
    })
}

/// The program in the certificate's form.
pub fn program(program: &Program, domain: &Domain) -> out::Program {
    out::Program {
        columns: program.columns.clone(),
        rules: program
            .rules
            .iter()
            .map(|r| out::Rule {
                fact: r.is_fact,
                unchanged: r.unchanged.clone(),
                nodes: r.nodes,
                guard: tree(&r.guard),
            })
            .collect(),
        assertions: program
            .assertions
            .iter()
            .map(|a| out::Assertion {
                name: a.name.clone(),
                assumed: a.assumed,
                nonincreasing: a.nonincreasing,
                nodes: a.nodes,
                universal: a.universal,
                left: tree(&a.left),
                right: match &a.right {
                    Right::State(t) => out::Right::State(tree(t)),
                    Right::Constraint(t) => out::Right::Constraint(tree(t)),
                },
            })
            .collect(),
        finite: domain
            .finite
            .iter()
            .map(|f| out::Finite { column: f.column, values: f.values.clone() })
            .collect(),
    }
}

fn values(domain: &Domain, state: &State) -> Vec<Vec<i64>> {
    let finite = domain.finite.iter().zip(&state.sets);
    finite
        .map(|(f, set)| {
            f.values.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, v)| *v).collect()
        })
        .collect()
}

fn states(domain: &Domain, state: &State) -> Result<out::States, Overflow> {
    // Data columns are numbered by column in certificates.
    let place = |n: usize| if n == 0 { 0 } else { domain.data[n - 1] + 1 };
    let list = state.region.inequalities();
    let bounds = list.iter().map(|l| Ok(inequality(&l.renamed(place)?))).collect::<Result<_, Overflow>>()?;
    Ok(out::States { values: values(domain, state), bounds })
}

/// A table with the covers of every reduct, found again from the final table.
fn table(prover: &Prover, entries: &[State]) -> Result<Option<out::Unreachable>, Overflow> {
    let domain = prover.domain();
    let lookup = Table::of(domain, entries);
    let mut result = out::Unreachable::default();
    for entry in entries {
        result.sets.push(states(domain, entry)?);
        let mut covers = vec![Vec::new(); prover.program().rules.len()];
        for (rule, reduct) in prover.reducts_by_rule(entry)? {
            let Some(cover) = cover(prover, &lookup, reduct)? else { return Ok(None) };
            if !covers[rule].contains(&cover) {
                covers[rule].push(cover);
            }
        }
        result.covers.push(covers);
    }
    Ok(Some(result))
}

fn cover(prover: &Prover, lookup: &Table, state: State) -> Result<Option<out::Cover>, Overflow> {
    let Cover::By(set, path) = prover.cover(lookup, state)? else { return Ok(None) };
    let path = path.into_iter().map(|m| prover.maps()[m].assertion).collect();
    Ok(Some(out::Cover { set, path }))
}

fn closing(c: &Closing) -> out::Closing {
    match c {
        Closing::Unreachable => out::Closing::Unreachable,
        Closing::By(Used::Assertion(a), path) => out::Closing::Assertion(*a, path.clone()),
        Closing::By(Used::Entry(e, Frame::Any), path) => out::Closing::Entry(*e, path.clone()),
        Closing::By(Used::Entry(e, Frame::Same), path) => out::Closing::SameFrame(*e, path.clone()),
        Closing::By(Used::Itself, path) => out::Closing::Itself(path.clone()),
        Closing::By(Used::Fact, path) => out::Closing::Fact(path.clone()),
        // A reduct that became an entry is closed by it, with the same frame and no right unfold.
        Closing::Stored(e) => out::Closing::SameFrame(*e, Vec::new()),
    }
}

fn table_entries(proof: &RelativeProof, rules: usize) -> Vec<out::Entry> {
    let mut entries = Vec::new();
    for entry in &proof.entries {
        let mut closings = vec![Vec::new(); rules];
        for reduct in &entry.reducts {
            let c = closing(&reduct.closing);
            if !closings[reduct.rule].contains(&c) {
                closings[reduct.rule].push(c);
            }
        }
        let direct = entry.direct.as_ref().map(|path| out::Closing::Itself(path.clone()));
        let list =
            |region: &crate::constraint::Region| region.inequalities().iter().map(inequality).collect();
        entries.push(out::Entry {
            origin: entry.origin,
            depth: entry.depth,
            frame: entry.obligation.layout.frame,
            left: list(&entry.obligation.left),
            right: entry.obligation.right.as_ref().map(list),
            direct,
            closings,
        });
    }
    entries
}

fn relative(
    prover: &Prover,
    proof: &RelativeProof,
    group: &[usize],
    invariants: &[usize],
    inverse: Option<&RelativeProof>,
) -> Result<Option<out::Proof>, Overflow> {
    let rules = prover.program().rules.len();
    let Some(dead) = table(prover, &proof.dead)? else { return Ok(None) };
    Ok(Some(out::Proof::Relative {
        group: group.to_vec(),
        invariants: invariants.to_vec(),
        length_bounded: proof.length_bounded,
        one_level: proof.one_level,
        split: proof.grain != Grain::Whole,
        entries: table_entries(proof, rules),
        dead,
        inverse: inverse.map(|i| table_entries(i, rules)),
    }))
}

/// The proof behind a report in the certificate's form. `None` when there is none, or a cover could not be found again, which
/// would be a defect of the prover.
pub(crate) fn proof(
    source: &Program,
    domain: &Domain,
    report: &Report,
) -> Result<Option<out::Proof>, Overflow> {
    let trees = |list: &[usize]| -> Vec<Tree> {
        list.iter().filter_map(|&i| invariant(&source.assertions[i], source.width())).collect()
    };
    match &report.proof {
        None => Ok(None),
        Some(Proof::Safety { proof, maps, invariants, found }) => {
            let mut trees = trees(invariants);
            if let Some(found) = found {
                trees.push(found.tree(domain)?);
            }
            let trees: Vec<&Tree> = trees.iter().collect();
            let map_list = maps.iter().filter_map(|&m| Map::of(source, domain, m).ok()).collect();
            let prover = Prover::new(source, domain, map_list, &trees);
            let entries: Vec<State> = proof.table.live().cloned().collect();
            let Some(out_table) = table(&prover, &entries)? else { return Ok(None) };
            let bad = violations(source, domain, &source.assertions[report.assertion])?;
            let lookup = Table::of(domain, &entries);
            let mut start: Vec<out::Start> = Vec::new();
            let mut known = HashMap::new();
            for state in prover.start(&bad)? {
                let values = values(domain, &state);
                let Some(cover) = cover(&prover, &lookup, state)? else { return Ok(None) };
                let at = *known.entry(values.clone()).or_insert(start.len());
                if at == start.len() {
                    start.push(out::Start { values, covers: Vec::new() });
                }
                if !start[at].covers.contains(&cover) {
                    start[at].covers.push(cover);
                }
            }
            let under = found.as_ref().filter(|f| !f.under.is_empty()).map(|f| out::Orbits {
                maps: f.under.clone(),
                order: (0..domain.finite.len()).filter(|&f| domain.finite[f].location).collect(),
            });
            let found = found.iter().flat_map(|f| &f.cells).map(|c| states(domain, c));
            Ok(Some(out::Proof::Safety {
                assertion: report.assertion,
                invariants: invariants.clone(),
                maps: maps.clone(),
                start,
                table: out_table,
                found: found.collect::<Result<_, _>>()?,
                under,
            }))
        }
        Some(Proof::Cells(cells)) => {
            Ok(Some(out::Proof::Cells { assertion: report.assertion, cells: (**cells).clone() }))
        }
        Some(Proof::Renamed) => Ok(Some(out::Proof::Renamed { assertion: report.assertion })),
        Some(Proof::Listed(states)) => {
            Ok(Some(out::Proof::Listed { assertion: report.assertion, states: states.clone() }))
        }
        Some(Proof::Relative { proof, group, invariants, inverse, .. }) => {
            let trees = trees(invariants);
            let trees: Vec<&Tree> = trees.iter().collect();
            let prover = Prover::new(source, domain, Vec::new(), &trees);
            relative(&prover, proof, group, invariants, inverse.as_deref())
        }
    }
}

/// The certificate of every assertion proved. `None` when a cover could not be found again, which
/// would be a defect of the prover.
pub fn certificate(source: &Program, reports: &[Report]) -> Result<Option<out::Certificate>, Overflow> {
    let domain = Domain::of(source);
    let mut proofs = Vec::new();
    let mut done: Vec<usize> = Vec::new();
    // In the order of dependencies, as they were proved.
    for group in crate::prove::groups(source) {
        for report in group.iter().filter_map(|&g| reports.iter().find(|r| r.assertion == g)) {
            let Some(own) = report.proof.as_ref().filter(|_| !done.contains(&report.assertion)) else {
                continue;
            };
            let Some(written) = proof(source, &domain, report)? else { return Ok(None) };
            proofs.push(written);
            match own {
                Proof::Relative { group, .. } => done.extend(group),
                _ => done.push(report.assertion),
            }
        }
    }
    Ok(Some(out::Certificate { format: out::FORMAT.into(), program: program(source, &domain), proofs }))
}
