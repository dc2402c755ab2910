//! What is asked of a model, and the claims that answer it.
//!
//! A formula is asked by the automaton of its negation: a run that the automaton accepts is a counterexample. Where the
//! automaton has come to a state from which it accepts whatever follows, the run so far is one already; such states become
//! ends of the claim. A formula all of whose accepting states are ends is a safety property, and a search for reachable
//! states is enough.

use std::fmt;

use quotient_front_end::{Claim, ClaimKind};
use quotient_logic::{Formula, Generalised, Label};
use quotient_program as ir;
use quotient_program::{
    BinaryOp, ClaimOrigin, Expr, Function, Location, LocationId, Operation, Transformation,
};
use quotient_source::Span;

/// One question about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Deadlocks, assertions, faults.
    Safety,
    /// The claim with this number.
    Claim(usize),
    /// Is there a run through accept labels of processes infinitely often?
    Acceptance,
    /// Is there a run through progress labels only finitely often?
    Progress,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Safety => f.write_str("safety"),
            Question::Claim(number) => write!(f, "claim {number}"),
            Question::Acceptance => f.write_str("acceptance"),
            Question::Progress => f.write_str("progress"),
        }
    }
}

impl std::str::FromStr for Question {
    type Err = String;

    fn from_str(text: &str) -> Result<Question, String> {
        match text {
            "safety" => Ok(Question::Safety),
            "acceptance" => Ok(Question::Acceptance),
            "progress" => Ok(Question::Progress),
            _ => text
                .strip_prefix("claim ")
                .and_then(|n| n.parse().ok())
                .map(Question::Claim)
                .ok_or_else(|| format!("`{text}` is not a question")),
        }
    }
}

/// Why a claim cannot be checked, as a sentence.
pub(crate) type Refused = String;

/// The claim of a promela claim; `None` for formulas of branching time, which are answered otherwise.
pub(crate) fn claim(program: &ir::Program, claim: &Claim) -> Result<Option<ir::Claim>, Refused> {
    let span = claim.span;
    Ok(Some(match &claim.kind {
        ClaimKind::Ctl(_) => return Ok(None),
        ClaimKind::Never(function) => ir::Claim {
            function: (**function).clone(),
            text: claim.name.clone(),
            origin: ClaimOrigin::Never,
            stutter_invariant: quotient_residual::stutter::is_invariant(program, function),
            accept_labels: false,
            acceptance: None,
            cycles: function.locations.iter().any(|l| l.accept),
        },
        ClaimKind::Ltl(formula) => {
            let automaton = quotient_logic::translate_generalised(&formula.clone().negated())
                .map_err(|e| format!("{} {}: {e}", claim.keyword, claim.text))?;
            ir::Claim {
                text: claim.text.clone(),
                origin: ClaimOrigin::Formula,
                stutter_invariant: !formula.uses_next(),
                ..automaton_claim(&automaton, &claim.propositions, span)
            }
        }
        ClaimKind::Invariant => {
            let negated = Formula::prop(0).always().negated();
            let automaton = quotient_logic::translate_generalised(&negated).map_err(|e| e.to_string())?;
            ir::Claim {
                text: claim.text.clone(),
                origin: ClaimOrigin::Invariant,
                ..automaton_claim(&automaton, &claim.propositions, span)
            }
        }
    }))
}

/// The claim that follows every run and accepts nothing of its own: accept labels of processes decide.
pub(crate) fn acceptance(span: Span) -> ir::Claim {
    let stay = transformation(Operation::Always, 0, span);
    ir::Claim {
        function: function(vec![location(vec![stay], span)], 0, span),
        text: String::new(),
        origin: ClaimOrigin::Acceptance,
        stutter_invariant: true,
        accept_labels: true,
        acceptance: None,
        cycles: true,
    }
}

/// The claim that guesses when progress ends.
pub(crate) fn non_progress(span: Span) -> ir::Claim {
    let without = |target| transformation(Operation::When(Expr::NonProgress), target, span);
    let watch = location(vec![transformation(Operation::Always, 0, span), without(1)], span);
    let accept = Location { accept: true, ..location(vec![without(1)], span) };
    ir::Claim {
        function: function(vec![watch, accept], 0, span),
        text: String::new(),
        origin: ClaimOrigin::NonProgress,
        stutter_invariant: true,
        accept_labels: false,
        acceptance: None,
        cycles: true,
    }
}

/// A claim that follows every run and has the propositions as the conditions of a location it never comes to: see
/// `Machine::claim_conditions`.
pub(crate) fn observation(text: &str, propositions: &[Expr], span: Span) -> ir::Claim {
    let stay = transformation(Operation::Always, 0, span);
    let conditions =
        propositions.iter().map(|p| transformation(Operation::When(p.clone()), 0, span)).collect();
    let locations = vec![location(vec![stay], span), location(conditions, span)];
    ir::Claim {
        function: function(locations, 0, span),
        text: text.into(),
        origin: ClaimOrigin::Formula,
        stutter_invariant: false,
        accept_labels: false,
        acceptance: None,
        cycles: false,
    }
}

/// Does the claim allow staying where it starts whatever the program does? Then its product has every state of the program.
pub(crate) fn follows_everything(claim: &ir::Claim) -> bool {
    let entry = claim.function.entry;
    let ts = &claim.function.locations[entry.0 as usize].transformations;
    ts.iter().any(|t| {
        let always = match &t.operation {
            Operation::Always => true,
            Operation::When(e) => e.constant().is_some_and(|c| c != 0),
            _ => false,
        };
        always && t.target == Some(entry) && t.actions.is_empty() && t.rank == ts[0].rank
    })
}

/// An automaton as a claim.
fn automaton_claim(automaton: &Generalised, propositions: &[Expr], span: Span) -> ir::Claim {
    let ends: Vec<bool> = (0..automaton.states.len()).map(|s| automaton.accepts_everything(s)).collect();
    let accepting = automaton.accepting_states();
    let mut locations: Vec<Location> = Vec::new();
    let mut marks: Vec<Vec<u64>> = Vec::new();
    for (edges, end) in automaton.states.iter().zip(&ends) {
        let edges: Vec<_> = edges.iter().filter(|_| !end).collect();
        let ts =
            edges.iter().map(|e| transformation(condition(e.label, propositions), e.target, span)).collect();
        locations.push(Location { end: *end, ..location(ts, span) });
        marks.push(edges.iter().map(|e| e.marks).collect());
    }
    let mut entry = automaton.initial;
    if ends[entry] {
        // An end is seen when the claim moves there.
        locations.push(location(vec![transformation(Operation::Always, entry, span)], span));
        marks.push(vec![0]);
        entry = locations.len() - 1;
    }
    ir::Claim {
        function: function(locations, entry, span),
        text: String::new(),
        origin: ClaimOrigin::Formula,
        stutter_invariant: true,
        accept_labels: false,
        acceptance: Some(ir::MoveAcceptance { sets: automaton.sets, marks }),
        cycles: accepting.iter().zip(&ends).any(|(accepting, end)| *accepting && !end),
    }
}

/// The letters of a label as a condition.
fn condition(label: Label, propositions: &[Expr]) -> Operation {
    let mut parts = Vec::new();
    for (number, proposition) in propositions.iter().enumerate().take(64) {
        if label.must >> number & 1 == 1 {
            parts.push(proposition.clone());
        } else if label.must_not >> number & 1 == 1 {
            parts.push(proposition.clone().negated());
        }
    }
    let all = parts.into_iter().reduce(|a, b| Expr::Binary(BinaryOp::And, Box::new(a), Box::new(b)));
    all.map_or(Operation::Always, Operation::When)
}

fn transformation(operation: Operation, target: usize, span: Span) -> Transformation {
    Transformation {
        operation,
        actions: Vec::new(),
        target: Some(LocationId(target as u32)),
        keeps_control: false,
        rank: 0,
        span,
        text: String::new(),
    }
}

fn location(transformations: Vec<Transformation>, span: Span) -> Location {
    Location { transformations, ..Location::new(span) }
}

fn function(locations: Vec<Location>, entry: usize, span: Span) -> Function {
    Function {
        catches: Vec::new(),
        name: "claim".into(),
        params: 0,
        locals: Vec::new(),
        dead_at_start: Vec::new(),
        locations,
        entry: LocationId(entry as u32),
        provided: None,
        priority: 1,
        span,
    }
}
