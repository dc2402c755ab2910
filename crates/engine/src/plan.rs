//! The plan of a search: which seams it is put together from, with the reasons for what is left off.
//!
//! A plan is made before anything is explored, from the machine, the representative and what was asked. Running it adds nothing
//! to it, so that a report about what was applied is a report about the plan.
//!
//! Representatives and ample sets go together as in section 4 of seed 002: the graph of representatives is bisimilar to the
//! full one for the propositions that the representative was made for, threads that change places have the same choices, and
//! ample sets are chosen for the representative at hand, from what that very state permits.

use quotient_ample::{AmpleSets, Independence, Question};
use quotient_machine::{Machine, Renaming};
use quotient_program::visit;
use quotient_program::{Expr, Operation};
use quotient_seams::{
    Ample, Identity, Passing, Proposals, Proviso, Representative, Scope, Successors, Worker,
};
use quotient_symmetry::Ordered;

use crate::relative::Orbits;
use crate::{Check, PartialOrder, SearchKind, StoreKind, fairness};

/// Why a reduction does not apply, as a sentence.
pub(crate) type Why = &'static str;

/// How one question is answered.
pub(crate) struct Plan {
    pub(crate) search: Search,
    pub(crate) store: StoreKind,
    pub(crate) moves: Moves,
    /// The partial order reduction, or why there is none.
    pub(crate) partial_order: Result<PartialOrder, Why>,
}

/// The search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Reachable states, nearest first.
    BreadthFirst,
    /// Reachable states, deepest first.
    DepthFirst,
    /// Infinite runs.
    Cycles,
    /// Infinite runs that are fair to every thread.
    FairCycles,
}

/// Which moves of a state are explored.
///
/// An [`Ample`] itself, for searches in which choosing between the two for each state costs nothing beside what else is done for it: one search is
/// compiled instead of two.
#[derive(Clone)]
pub(crate) enum Moves {
    /// All of them.
    All,
    /// Ample sets.
    Ample(Box<AmpleSets>),
}

impl Worker for Moves {
    fn another(&self) -> Moves {
        self.clone()
    }
}

impl Ample<Machine> for Moves {
    const PROPOSALS: u32 = AmpleSets::PROPOSALS;

    fn proposals(&mut self, machine: &mut Machine, state: &[u64]) -> Proposals {
        match self {
            Moves::All => Proposals::default(),
            Moves::Ample(sets) => sets.proposals(machine, state),
        }
    }

    fn proposal(&mut self, machine: &mut Machine, state: &[u64], number: u32) -> Scope {
        match self {
            Moves::All => Scope::All,
            Moves::Ample(sets) => sets.proposal(machine, state, number),
        }
    }

    fn one_by_one(&self) -> bool {
        matches!(self, Moves::Ample(sets) if sets.one_by_one())
    }

    fn passing(&mut self, machine: &mut Machine, from: &[u64], to: &[u64]) -> Passing {
        match self {
            Moves::All => Passing::default(),
            Moves::Ample(sets) => sets.passing(machine, from, to),
        }
    }

    fn next_passing(
        &mut self,
        machine: &mut Machine,
        from: &[u64],
        successors: &Successors,
        first: usize,
    ) -> Option<(usize, Passing)> {
        match self {
            Moves::All => None,
            Moves::Ample(sets) => sets.next_passing(machine, from, successors, first),
        }
    }

    fn proviso(&self) -> Proviso {
        match self {
            Moves::All => Proviso::None,
            Moves::Ample(sets) => sets.proviso(),
        }
    }

    fn most_moves(&self) -> usize {
        match self {
            Moves::All => usize::MAX,
            Moves::Ample(sets) => sets.most_moves(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Moves::All => "off",
            Moves::Ample(sets) => sets.name(),
        }
    }
}

impl Plan {
    /// The plan for the question that a machine was compiled for.
    pub(crate) fn new<R: Stands>(machine: &Machine, representative: &R, check: &Check<'_>) -> Plan {
        let cycles = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
        let search = match check.search {
            _ if fairness::asked(machine, check) => Search::FairCycles,
            _ if cycles => Search::Cycles,
            SearchKind::DepthFirst => Search::DepthFirst,
            SearchKind::Usual if representative.keeps_found() => Search::DepthFirst,
            SearchKind::Usual | SearchKind::BreadthFirst | SearchKind::Random => Search::BreadthFirst,
        };
        let (moves, partial_order) = match search {
            Search::FairCycles => (Moves::All, Err("only fair runs count")),
            _ => moves(machine, representative, question(machine), check),
        };
        Plan { search, store: check.store, moves, partial_order }
    }
}

/// A representative, and the renamings that it is one of, where that is what it is made of.
pub(crate) trait Stands: Representative<Machine> {
    fn renaming(&self) -> Option<&Renaming> {
        None
    }
}

impl Stands for Identity {}

impl Stands for Orbits<'_> {}

impl Stands for Ordered<Renaming> {
    fn renaming(&self) -> Option<&Renaming> {
        Some(&self.states)
    }
}

/// The moves to explore so that a question keeps its answer, and the partial order reduction that they are.
pub(crate) fn moves<R: Stands>(
    machine: &Machine,
    representative: &R,
    question: Result<Question, Why>,
    check: &Check<'_>,
) -> (Moves, Result<PartialOrder, Why>) {
    if check.raw || check.partial_order == PartialOrder::Off {
        return (Moves::All, Ok(PartialOrder::Off));
    }
    check.enter("computing ample sets");
    let found = question.and_then(|question| {
        if !representative.is_canonical() {
            return Err(NOT_CANONICAL);
        }
        let sets = AmpleSets::new(machine, &question, independence(representative, check))?;
        Ok(Moves::Ample(Box::new(match representative.renaming() {
            Some(renaming) => sets.beside(renaming),
            None => sets,
        })))
    });
    match found {
        Ok(moves) => (moves, Ok(check.partial_order)),
        Err(why) => (Moves::All, Err(why)),
    }
}

/// Which steps count as independent in a check.
pub(crate) fn independence<R: Representative<Machine>>(
    representative: &R,
    check: &Check<'_>,
) -> Independence {
    Independence {
        symmetric: check.partial_order == PartialOrder::SymmetricIndependence,
        renamed: representative.renames(),
    }
}

const NOT_CANONICAL: Why = "--symmetry pc, pc-original and kbots are not canonical, and partial order reduction needs a canonical order";

/// The question that a reduced search of this machine must answer.
fn question(machine: &Machine) -> Result<Question, Why> {
    match machine.program().claim {
        None => Ok(Question::Safety),
        Some(_) => propositions(machine).map(|visible| Question::LtlX { visible }),
    }
}

/// What a claim looks at, if ample sets can preserve the answer: it must not count steps, and only look at what steps write.
fn propositions(machine: &Machine) -> Result<Vec<Expr>, Why> {
    let Some(claim) = &machine.program().claim else { return Ok(Vec::new()) };
    if !claim.stutter_invariant {
        return Err("the claim can count steps (X, or written by hand)");
    }
    if claim.accept_labels {
        return Err("accept or progress labels of processes count");
    }
    let transformations = claim.function.locations.iter().flat_map(|l| &l.transformations);
    let conditions = transformations.filter_map(|t| match &t.operation {
        Operation::When(condition) => Some(condition.clone()),
        _ => None,
    });
    visible(conditions.collect())
}

/// Propositions, if it is known which steps can change them.
pub(crate) fn visible(propositions: Vec<Expr>) -> Result<Vec<Expr>, Why> {
    let unknown = |e: &Expr| {
        !matches!(
            e,
            Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Conditional(..)
                | Expr::Length(_)
                | Expr::Full(_)
                | Expr::Empty(_)
                | Expr::At { .. }
                | Expr::Count { .. }
                | Expr::Bound(_)
                | Expr::Oldest(_)
                | Expr::Spanned(..)
                | Expr::Terminated(_)
                | Expr::InstanceOf { .. }
                | Expr::Cast { .. }
                | Expr::ArrayLength(_)
                | Expr::Query { .. }
                | Expr::Reachable(..)
        )
    };
    match propositions.iter().any(|e| visit::any(e, unknown)) {
        true => Err("the claim asks for more than values and locations"),
        false => Ok(propositions),
    }
}
