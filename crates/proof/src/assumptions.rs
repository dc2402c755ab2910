//! Assumptions that contradict the program are mistakes: from a false premise anything follows.

use quotient_source::{Diagnostic, Diagnostics};

use crate::constraint::Region;
use crate::program::{Program, Right};
use crate::relative::expand;

/// Reports assumptions that no state can satisfy, and those that an initial state violates.
pub fn check_assumptions(program: &Program, diagnostics: &mut Diagnostics) {
    for assertion in &program.assertions {
        let Some(span) = assertion.span else { continue };
        let left = expand(&assertion.left, Region::universe(assertion.nodes), &|n| n);
        if left.as_ref().is_ok_and(Vec::is_empty) {
            let message =
                format!("the left side of `{}` is contradictory: it describes no state", assertion.name);
            diagnostics.push(if assertion.assumed {
                Diagnostic::error(span, message).label("these constraints exclude each other")
            } else {
                Diagnostic::warning(span, message).label("holds trivially")
            });
            continue;
        }
        let Right::Constraint(claim) = &assertion.right else { continue };
        if !assertion.assumed {
            continue;
        }
        let Some(negated) = claim.negated() else { continue };
        for rule in program.rules.iter().filter(|r| r.is_fact) {
            let k = program.width();
            // The fact's own variables after those of the assertion.
            let shift = assertion.nodes - (2 * k + 1);
            let place = move |n: usize| if n > 2 * k { n + shift } else { n };
            let all = Region::universe(assertion.nodes + rule.nodes - (2 * k + 1));
            let found = expand(&rule.guard, all, &place).and_then(|list| {
                let mut bad = Vec::new();
                for region in list {
                    for left in expand(&assertion.left, region, &|n| n)? {
                        bad.extend(expand(&negated, left, &|n| n)?);
                    }
                }
                bad.iter().map(Region::solution).collect::<Result<Vec<_>, _>>()
            });
            if let Ok(points) = found
                && let Some(point) = points.into_iter().flatten().next()
            {
                let mut d = Diagnostic::error(
                    span,
                    format!("the assumption `{}` contradicts the program", assertion.name),
                )
                .label(format!("false in {}", program.show(&point[1..=k])));
                if let Some(fact) = rule.span {
                    d = d.related(fact, "which is an initial state");
                }
                diagnostics.push(d.help("an assumption must at least hold initially"));
                break;
            }
        }
    }
}
