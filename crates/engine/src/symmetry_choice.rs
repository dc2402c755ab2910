//! Which representative a check uses, and what is said about it.

use std::sync::Arc;

use quotient_machine::{Asked, Difference, Effort, Machine, Move, Renaming};
use quotient_program::{BinaryOp, Claim, ClaimOrigin, Expr, LocationId, Operation};
use quotient_residual::liveness;
use quotient_seams::{Successors, System, Worker};
use quotient_source::{SourceMap, Span};
use quotient_symmetry::thread_order::ThreadOrder;
use quotient_symmetry::{Order, Ordered};

use crate::{Check, PartialOrder, fairness};

/// Which states stand for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None: every state stands for itself.
    Off,
    /// Objects are renamed, threads are not.
    Heap,
    /// Threads are ordered by location.
    ProgramCounter,
    /// The same, with the heap numbered in the original order of the threads.
    ProgramCounterOriginal,
    /// Threads are ordered by what they reach in this many steps (`None`: any number).
    Bounded(Option<u32>),
    /// The canonical form: one state for each orbit.
    Exact,
}

impl Symmetry {
    fn order(self) -> Option<Order> {
        Some(match self {
            Symmetry::Off => return None,
            Symmetry::Heap => Order::Heap(ThreadOrder::None),
            Symmetry::ProgramCounter => Order::Heap(ThreadOrder::ProgramCounter),
            Symmetry::ProgramCounterOriginal => Order::Original(ThreadOrder::ProgramCounter),
            Symmetry::Bounded(k) => Order::Heap(ThreadOrder::Bounded(k)),
            Symmetry::Exact => Order::Exact,
        })
    }

    /// The values without a number, with the names that options and reports use.
    const NAMES: [(Symmetry, &'static str); 6] = [
        (Symmetry::Off, "off"),
        (Symmetry::Heap, "heap"),
        (Symmetry::ProgramCounter, "pc"),
        (Symmetry::ProgramCounterOriginal, "pc-original"),
        (Symmetry::Bounded(None), "kbots"),
        (Symmetry::Exact, "exact"),
    ];

    /// The name that options and reports use.
    pub fn name(self) -> String {
        match (self, Symmetry::NAMES.iter().find(|(symmetry, _)| *symmetry == self)) {
            (_, Some((_, name))) => (*name).to_owned(),
            (Symmetry::Bounded(Some(k)), _) => format!("kbots={k}"),
            (other, None) => format!("{other:?}"),
        }
    }
}

impl std::str::FromStr for Symmetry {
    type Err = String;

    fn from_str(text: &str) -> Result<Symmetry, String> {
        let bound = text.strip_prefix("kbots=").and_then(|bound| bound.parse().ok());
        let named = Symmetry::NAMES.iter().find(|(_, name)| *name == text).map(|(symmetry, _)| *symmetry);
        let parsed = named.or(bound.map(|k| Symmetry::Bounded(Some(k))));
        parsed.ok_or_else(|| "write exact, kbots, kbots=K, pc, pc-original, heap or off".to_owned())
    }
}

/// What was found and done about symmetry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymmetryReport {
    /// The order used; `off` when nothing could be renamed.
    pub order: String,
    /// What can be renamed, for example "11 phil: rotations".
    pub found: Vec<String>,
    /// How many renamings there are in all, in words.
    pub renamings: Option<String>,
    /// Some renaming was found, and no state was ever renamed: all states are stored.
    pub without_effect: bool,
    /// How many states one that was gone on from stands for, on average.
    pub for_one: Option<ForOne>,
    /// What limits it: reason and place, or the lines that tell threads apart.
    pub limit: Option<String>,
    /// More, where it was asked for: what is exchanged with what.
    pub explained: Vec<String>,
    /// States whose representative may not be canonical, because the search for it was cut.
    pub over_budget: u64,
    /// States compared with their representatives by an audit, and how many of them were renamed.
    pub audited: Option<(u64, u64)>,
}

/// How many states one stands for, on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForOne {
    /// Ten times as many.
    pub tenths: u64,
    /// Every state was counted, not only some.
    pub exact: bool,
}

impl ForOne {
    /// In a sentence.
    pub fn words(self) -> String {
        let about = if self.exact { "" } else { "about " };
        let number = match self.tenths {
            0..10_000 => format!("{}.{}", self.tenths / 10, self.tenths % 10),
            // Three digits say enough.
            many => format!("{:.2e}", many as f64 / 10.0),
        };
        format!("{about}{number} states for one stored")
    }
}

/// The representative a check uses.
pub type Representative = Ordered<Renaming>;

/// The symmetry a check asks for.
pub(crate) fn asked(check: &Check<'_>) -> Symmetry {
    check.symmetry.unwrap_or(if check.raw { Symmetry::Off } else { Symmetry::Exact })
}

/// Why threads must keep their names, although objects may be renamed.
fn keeps_threads(machine: &Machine, check: &Check<'_>) -> Option<&'static str> {
    let fair = asked(check) != Symmetry::Off && fairness::asked(machine, check);
    if fair { fairness::refusal(machine.program(), asked(check)) } else { None }
}

/// Why nothing may be renamed whatever the program is.
fn refusal(machine: &Machine) -> Option<&'static str> {
    let claim = machine.program().claim.as_ref()?;
    let mut transformations = claim.function.locations.iter().flat_map(|l| &l.transformations);
    (!claim.function.locals.is_empty() || transformations.any(|t| !t.actions.is_empty()))
        .then_some("the claim has variables or assertions of its own")
}

/// What a claim asks of states: renamings must keep the value of each condition. What it names by number stays where it is.
///
/// Or, of a formula, they may take the moves of its automaton to other moves of it, and its locations with them, so that a conjunction over all processes
/// (`[]<> p[0]@CS && []<> p[1]@CS`) names them alike: then the state of program and automaton is renamed as a whole. Marks stay,
/// and so does what a location is, so that an image of a run is accepted if the run is. Not beside ample sets for formulas: what
/// stands for a state of the program would depend on the automaton's location, and so would the ample set, by which an automaton can miss the runs
/// that it accepts (S. F. Siegel, "What's wrong with on-the-fly partial order reduction", CAV 2019).
///
/// Moves of a formula's automaton between the same locations with the same marks are one move: which of their conditions
/// holds makes no difference. So `[] (!(a && b) && !(b && c) && !(a && c))`, whose automaton has a move for each of the three, names all alike.
fn asked_of(machine: &Machine, check: &Check<'_>) -> Asked {
    let Some(claim) = &machine.program().claim else { return Asked::default() };
    if let Some(exchanged) = exchanged(claim, !may_be_ample(machine, check)) {
        return exchanged;
    }
    let mut all: Vec<(Option<MoveAt>, Expr)> = Vec::new();
    for (at, location) in claim.function.locations.iter().enumerate() {
        for (which, t) in location.transformations.iter().enumerate() {
            let Operation::When(condition) = &t.operation else { continue };
            // Conditions of other claims are asked one by one.
            let marks = claim.acceptance.as_ref().and_then(|a| a.marks.get(at)?.get(which).copied());
            let this = marks.map(|marks| (at, t.target, marks, t.rank, t.span));
            let condition = Expr::Spanned(Box::new(condition.clone()), t.span);
            let same = all.iter_mut().find(|(other, _)| this.is_some() && *other == this);
            match same {
                Some((_, Expr::Spanned(either, _))) => {
                    let known = std::mem::replace(&mut **either, Expr::Const(0));
                    **either = Expr::Binary(BinaryOp::Or, Box::new(known), Box::new(condition));
                }
                _ => all.push((this, condition)),
            }
        }
    }
    Asked { properties: all.into_iter().map(|(_, condition)| condition).collect(), ..Asked::default() }
}

/// Where a move of a claim begins and ends, its marks, rank and place.
type MoveAt = (usize, Option<LocationId>, u64, u16, Span);

/// May a question about this machine be answered with ample sets?
fn may_be_ample(machine: &Machine, check: &Check<'_>) -> bool {
    let counts_steps = machine.program().claim.as_ref().is_some_and(|c| !c.stutter_invariant);
    let off = check.raw || check.partial_order == PartialOrder::Off;
    !off && !counts_steps && !fairness::asked(machine, check)
}

/// The automaton of a formula, whose locations may be exchanged.
fn exchanged(claim: &Claim, alone: bool) -> Option<Asked> {
    let acceptance = claim.acceptance.as_ref().filter(|_| alone)?;
    let mut out = Asked::default();
    for (at, location) in claim.function.locations.iter().enumerate() {
        let flags = [location.end, location.accept, location.progress, location.deterministic];
        out.locations.push(flags.iter().enumerate().map(|(bit, flag)| u32::from(*flag) << bit).sum());
        for (which, t) in location.transformations.iter().enumerate() {
            let condition = match &t.operation {
                Operation::When(condition) => condition.clone(),
                Operation::Always => Expr::Const(1),
                _ => return None,
            };
            let marks = *acceptance.marks.get(at)?.get(which)?;
            let this = Move { from: at as u32, to: t.target.map(|to| to.0), marks };
            if t.rank != 0 || t.keeps_control || !t.actions.is_empty() {
                return None;
            }
            // As above: which of several conditions lets the same move happen makes no difference.
            match out.moves.iter().position(|known| *known == this) {
                Some(known) => {
                    if let Expr::Spanned(either, _) = &mut out.properties[known] {
                        let before = std::mem::replace(&mut **either, Expr::Const(0));
                        **either = Expr::Binary(BinaryOp::Or, Box::new(before), Box::new(condition));
                    }
                }
                None => {
                    out.moves.push(this);
                    out.properties.push(Expr::Spanned(Box::new(condition), t.span));
                }
            }
        }
    }
    Some(out)
}

/// What was chosen, and what is known about renamings.
#[derive(Default)]
pub(crate) struct Chosen {
    /// What stands for states; none when nothing can be renamed in any state.
    pub(crate) stands: Option<Representative>,
    /// Where nothing can be renamed: the analysis that says so.
    pub(crate) nothing: Option<Renaming>,
    /// Transitions of the search, once it has ended: what is spent on reasons afterwards grows with them.
    pub(crate) transitions: u64,
}

impl From<Representative> for Chosen {
    fn from(stands: Representative) -> Chosen {
        Chosen { stands: Some(stands), ..Chosen::default() }
    }
}

/// The representative for a check of this machine; `None` when nothing can be renamed in any state.
pub fn representative(machine: &mut Machine, check: &Check<'_>) -> Option<Representative> {
    choose(machine, check).stands
}

/// Are the threads of the program as written on rings that can only be turned?
pub fn is_ring(machine: &mut Machine) -> bool {
    let renaming = Renaming::new(machine, Vec::new(), asked_of(machine, &Check::default()));
    let found = renaming.finally(machine).or_else(|| initially(machine, &renaming));
    found.is_some_and(|symmetry| symmetry.is_ring())
}

/// Chooses the representative for a check of this machine.
///
/// Where a claim watches, states are renamed only in ways that keep the value of all its conditions; the claim's location
/// stays what it is, and accept and progress labels move with their processes. So claim and program, seen together, have the
/// renamings of the program that the conditions allow, and the graph of representatives is bisimilar to theirs.
pub(crate) fn choose(machine: &mut Machine, check: &Check<'_>) -> Chosen {
    let Some(mut order) = asked(check).order().filter(|_| refusal(machine).is_none()) else {
        return Chosen::default();
    };
    if keeps_threads(machine, check).is_some() {
        order = Order::Heap(ThreadOrder::None);
    }
    // Without the reductions a dead variable keeps its value.
    let dead = if check.raw { Vec::new() } else { dead_locals(machine.program()) };
    let renaming = Renaming::new(machine, dead, asked_of(machine, check));
    if renaming.opaque().is_some() {
        return Ordered::new(renaming, order).into();
    }
    if order == Order::Heap(ThreadOrder::None) {
        // There are no objects, and nothing else may move.
        return Chosen::default();
    }
    if renaming.is_refused() {
        return Chosen { nothing: Some(renaming), ..Chosen::default() };
    }
    // Where it is not known which threads are still to be started, what they may be called is found out later.
    match renaming.finally(machine).or_else(|| initially(machine, &renaming)) {
        Some(settled) if settled.is_trivial() => Chosen { nothing: Some(renaming), ..Chosen::default() },
        _ => Ordered::new(renaming, order).into(),
    }
}

/// What may be renamed in the first initial state, if nobody starts others any more.
fn initially(machine: &mut Machine, renaming: &Renaming) -> Option<Arc<quotient_machine::Symmetry>> {
    let mut initial = Successors::new();
    machine.initial(&mut initial).ok()?;
    let state = (0..initial.len()).find(|i| initial.entry(*i).has_state())?;
    renaming.symmetry(machine, initial.state(state))
}

/// The canonical form for the renamings that a representative draws from: what is a renaming of what is recognised by it. Where threads
/// keep their places, they do so here, too, unless gaps are closed that threads leave which end, and filled by others.
pub(crate) fn canonical(machine: &Machine, representative: &Representative) -> Representative {
    let in_place = Order::Heap(ThreadOrder::None);
    let keeps = representative.order() == in_place && !fairness::starts_threads(machine.program());
    let order = if keeps { in_place } else { Order::Exact };
    Ordered::new(representative.states.another(), order)
}

/// For each function and location the locals that are dead, and zero in a reduced program.
fn dead_locals(program: &quotient_program::Program) -> Vec<Vec<Vec<bool>>> {
    let remote = liveness::remotely_read(program);
    let functions = program.functions.iter().zip(remote);
    functions
        .map(|(function, remote)| {
            // Without an analysis no variable has been forgotten, and every location has an empty list.
            let live = liveness::live(function).unwrap_or_default();
            let dead = |live: &liveness::Locals| {
                remote.iter().enumerate().map(|(v, remote)| !live.contains(v) && !remote).collect()
            };
            live.iter().map(dead).collect()
        })
        .collect()
}

/// The text of the formula that is being checked, if this is where it stands.
fn formula(machine: &Machine, span: Span) -> Option<&str> {
    let claim = machine.program().claim.as_ref()?;
    let written = matches!(claim.origin, ClaimOrigin::Formula | ClaimOrigin::Invariant);
    (written && claim.function.span == span).then_some(claim.text.as_str())
}

/// What to say.
pub(crate) fn report(
    machine: &mut Machine,
    check: &Check<'_>,
    chosen: &Chosen,
    sources: &SourceMap,
) -> SymmetryReport {
    let representative = chosen.stands.as_ref();
    let asked = asked(check);
    let mut report = SymmetryReport { order: "off".into(), ..SymmetryReport::default() };
    if asked == Symmetry::Off {
        return report;
    }
    if let Some(why) = refusal(machine) {
        report.limit = Some(why.into());
        return report;
    }
    if let Some(why) = keeps_threads(machine, check) {
        report.limit = Some(why.into());
        if representative.is_some() {
            report.order = Symmetry::Heap.name();
        }
        return report;
    }
    report.over_budget = representative.map_or(0, |r| r.statistics().over_budget);
    if let Some((found, limit)) = representative.and_then(|r| r.states.opaque()) {
        report.order = asked.name();
        report.found = vec![found.into()];
        report.limit = limit.map(|(why, span)| place(why, span, machine, sources));
        if check.explain_symmetry {
            let why = "references cannot be computed with: what may be exchanged is seen in each state";
            report.explained.push(why.into());
        }
        return report;
    }
    let known = representative.and_then(|r| r.states.largest());
    if known.is_some() {
        report.order = asked.name();
    }
    let mut fresh = None;
    let states = match representative.map(|r| &r.states).or(chosen.nothing.as_ref()) {
        Some(states) => states,
        None => {
            let dead = if check.raw { Vec::new() } else { dead_locals(machine.program()) };
            &*fresh.insert(Renaming::new(machine, dead, asked_of(machine, check)))
        }
    };
    let found = known.or_else(|| states.finally(machine)).or_else(|| initially(machine, states));
    let met = states.found().into_iter().max_by_key(|s| s.threads.len());
    if let Some(symmetry) = found.or(met) {
        report.found = symmetry.found(machine.program());
        if check.explain_symmetry {
            report.explained = symmetry.explained(machine.program());
        }
        report.renamings = (!symmetry.is_trivial()).then(|| symmetry.order());
        report.without_effect = report.renamings.is_some() && !states.has_renamed();
        let average = representative.filter(|_| report.renamings.is_some()).and_then(|r| r.sizes().average());
        report.for_one =
            average.map(|(average, exact)| ForOne { tenths: (average * 10.0).round() as u64, exact });
        if !report.found.is_empty() || !symmetry.resembling.is_empty() {
            let effort = match check.explain_symmetry {
                true => Effort::LARGE,
                false => Effort::after(chosen.transitions, report.renamings.is_some()),
            };
            let refused = symmetry.refused.map(|(why, span)| place(why, span, machine, sources));
            report.limit = refused.or_else(|| told_apart(machine, effort, states, &symmetry, sources));
        }
        if symmetry.cut {
            let cut = "the search for symmetries stopped at its budget; more may exist";
            report.limit = Some(report.limit.map_or(cut.into(), |limit| format!("{limit}; {cut}")));
        }
    }
    report
}

/// The lines that tell threads of one proctype apart, and how proctypes first differ that look alike.
fn told_apart(
    machine: &Machine,
    effort: Effort,
    states: &Renaming,
    symmetry: &quotient_machine::Symmetry,
    sources: &SourceMap,
) -> Option<String> {
    let statement = |span: Span| {
        let program = machine.program();
        let functions = program.functions.iter().chain(program.claim.iter().map(|c| &c.function));
        let all = functions.flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
        all.filter(|t| t.span == span).map(|t| t.text.as_str()).next()
    };
    let mut out: Vec<String> = Vec::new();
    if !symmetry.is_full() {
        // Statements by line; the file is named where it is another one than before.
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        let reasons = states.reasons(machine, symmetry, effort);
        let untried = reasons.is_none();
        let reasons = reasons.unwrap_or_default();
        for span in reasons.lines {
            let (place, text) = match formula(machine, span) {
                Some(text) => (format!("the formula {text}"), None),
                None => (sources.file_line(span), statement(span)),
            };
            match lines.last_mut().filter(|(last, _)| *last == place) {
                Some((_, texts)) => texts.extend(text),
                None => lines.push((place, text.into_iter().collect())),
            }
        }
        let mut file = String::new();
        let lines: Vec<String> = lines
            .into_iter()
            .map(|(place, texts)| {
                let own = place.rfind(':').filter(|_| !texts.is_empty()).map_or("", |end| &place[..end]);
                let short = if own == file { place[own.len()..].to_owned() } else { place.clone() };
                let text = if texts.is_empty() { String::new() } else { format!(" ({})", texts.join("; ")) };
                file = own.to_owned();
                short + &text
            })
            .collect();
        if !lines.is_empty() {
            let more = match (reasons.more, effort == Effort::LARGE) {
                (false, _) => "",
                (true, false) => ", and by more that was not looked for (--explain symmetry does)",
                (true, true) => ", and by more, of too many statements to try each of them",
            };
            out.push(format!("told apart by {}{more}", lines.join(", ")));
        } else if untried && effort != Effort::LARGE {
            out.push(
                "processes are told apart; by what was not looked for to the end (--explain symmetry does)"
                    .into(),
            );
        } else if untried {
            out.push("processes are told apart, by too many statements to try each of them".into());
        }
    }
    let name = |thread: u32| machine.program().function(symmetry.threads[thread as usize]).name.as_str();
    let at = |span: Option<Span>| match span {
        Some(span) => {
            format!("{} ({})", sources.file_line(span), statement(span).unwrap_or("a statement"))
        }
        None => "nothing".to_owned(),
    };
    let differences = states.differences(machine, symmetry, effort);
    if differences.is_none() && out.is_empty() {
        out.push(if effort == Effort::LARGE {
            "processes of different proctypes are told apart, in too large a program to say by what".into()
        } else {
            "processes of different proctypes are told apart; by what was not looked for to the end (--explain symmetry does)".into()
        });
    }
    for (a, b, difference) in differences.into_iter().flatten() {
        let (a, b) = (name(a), name(b));
        out.push(match difference {
            Difference::At(x, y) => format!("{a} and {b} differ first by {} and {}", at(x), at(y)),
            Difference::Elsewhere => {
                format!("{a} and {b} do the same, but others treat them in different ways")
            }
        });
    }
    (!out.is_empty()).then(|| out.join("; "))
}

/// A reason, and where to look.
fn place(why: &str, span: Option<Span>, machine: &Machine, sources: &SourceMap) -> String {
    match span {
        None => why.to_owned(),
        Some(span) => match formula(machine, span) {
            Some(text) => format!("{why} (the formula {text})"),
            None => format!("{why} ({})", sources.file_line(span)),
        },
    }
}
