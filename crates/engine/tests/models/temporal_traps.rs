//! Where reductions are known to give wrong answers to temporal questions. Each test shows that the naive way does go wrong on
//! the model, and that the answer here is the one of the unreduced search.

use std::collections::HashSet;

use quotient_ample::{AmpleSets, Independence, Question as Preserve};
use quotient_engine::PropertyKeyword;
use quotient_engine::{Answer, Check, Model, PartialOrder, Question, Symmetry, Verdict};
use quotient_machine::{Fair, Machine, Renaming};
use quotient_seams::{All, Ample, Representative, Scope, Successors, System, Worker};
use quotient_search::{Options, Seams, Stop, liveness};
use quotient_symmetry::{Order, Ordered};
use quotient_visited::NumberedTree;

fn model(text: &str, formula: &str) -> Model {
    Model::from_text_with("trap.pml", text, &[(PropertyKeyword::Ltl, formula.to_owned())]).expect("correct")
}

/// The answer to the formula.
fn answer(model: &Model, symmetry: Symmetry, partial_order: PartialOrder, fair: bool) -> Answer {
    let check = Check { symmetry: Some(symmetry), partial_order, fair, ..Check::default() };
    let outcome = model.check(&check).expect("an answer whose counterexample replays");
    outcome.answers.into_iter().find(|a| a.question == Question::Claim(0)).expect("the formula was asked")
}

/// The unreduced answer, which all reductions must give too.
fn agreed(model: &Model, fair: bool) -> Verdict {
    let unreduced = answer(model, Symmetry::Off, PartialOrder::Off, fair).verdict;
    for symmetry in [Symmetry::Exact, Symmetry::ProgramCounter] {
        for order in [PartialOrder::Off, PartialOrder::On] {
            assert_eq!(answer(model, symmetry, order, fair).verdict, unreduced, "{symmetry:?} {order:?}");
        }
    }
    unreduced
}

/// The machine of the formula.
fn machine(model: &Model) -> Machine {
    model.question_machine(Question::Claim(0), quotient_engine::Compile::REDUCED).expect("small enough").0
}

/// The canonical form of the program's states, whatever a formula may ask.
struct Naive(Ordered<Renaming>);

impl Naive {
    fn new(machine: &Machine) -> Naive {
        Naive(Ordered::new(Renaming::new(machine, Vec::new(), Default::default()), Order::Exact))
    }
}

impl Representative<Machine> for Naive {
    fn representative(&mut self, system: &Machine, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.0.representative(system, state, out)
    }

    fn name(&self) -> &'static str {
        "naive"
    }

    fn is_canonical(&self) -> bool {
        true
    }

    fn renames(&self) -> bool {
        true
    }
}

impl Representative<Fair> for Naive {
    fn representative(&mut self, system: &Fair, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.0.representative(&system.0, state, out)
    }

    fn name(&self) -> &'static str {
        "naive"
    }

    fn is_canonical(&self) -> bool {
        true
    }

    fn renames(&self) -> bool {
        true
    }
}

/// Two processes that take a lock in turns or do not: one may starve the other.
const LOCK: &str = "bit taken;
active [2] proctype user() {
  do
  :: atomic { taken == 0 -> taken = 1 };
critical:
     taken = 0
  od
}";

/// Two interchangeable processes that starve one another. Each of them may be left outside for ever. Up to exchanging them there
/// is one state with the lock taken, and its representative calls the one inside always by the same name: a search that
/// evaluates `user[i]@critical` there says that this one comes in again and again.
#[test]
fn a_process_starves_behind_its_twin() {
    let mut naive_holds = 0;
    for process in 0..2 {
        let model = model(LOCK, &format!("[]<> user[{process}]@critical"));
        let mut machine = machine(&model);
        let mut naive = Naive::new(&machine);
        let visited = &mut NumberedTree::new();
        let seams = Seams { system: &mut machine, representative: &mut naive, ample: &mut All, visited };
        naive_holds += u32::from(liveness(seams, &mut Options::default()).stop == Stop::Complete);
        assert_eq!(agreed(&model, false), Verdict::Violated);
        // The formula names a process, which leaves nothing to exchange.
        assert_eq!(answer(&model, Symmetry::Exact, PartialOrder::Off, false).applied.symmetry.order, "off");
    }
    assert_eq!(naive_holds, 1, "the naive answer is wrong for one of the two");
}

/// What is asked of all processes alike keeps the symmetry, and the run that is shown is one of real processes: in the quotient
/// the cycle has one round, in real names it must end where it began.
#[test]
fn what_is_asked_of_all_keeps_the_symmetry() {
    let holds = model(LOCK, "[]<> (exists p: user . p@critical)");
    assert_eq!(agreed(&holds, false), Verdict::Holds);
    let answer = answer(&holds, Symmetry::Exact, PartialOrder::Off, false);
    assert_eq!(answer.applied.symmetry.found, ["2 user: all permutations"]);
    let violated = model(LOCK, "<>[] (forall p: user . !p@critical)");
    assert_eq!(agreed(&violated, false), Verdict::Violated);

    // A token goes round: after one round in the quotient another process has it.
    let ring = "byte token; active [3] proctype P() { do :: token == _pid -> token = (_pid + 1) % 3 od }";
    let ring = model(ring, "<>[] (forall p: P . token == p)");
    let check = Check { partial_order: PartialOrder::Off, ..Check::default() };
    let outcome = ring.check(&check).expect("it replays");
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert_eq!(outcome.answers[0].applied.symmetry.found, ["3 P: rotations"]);
    assert_eq!(outcome.violations[0].cycle % 3, 0, "three processes take part in the cycle");
}

/// Fairness on a quotient. Both processes can always move. Each counts to three and raises its mark; when both marks are up, both
/// are taken down. A fair run takes them down again and again. If only one process moves, its counter goes past the other's,
/// and in the canonical form the two change names on the way: each name moves, and the run looks fair although one process
/// stands still. (The comparison of the counters is never true; it keeps their values from being exchanged.)
#[test]
fn a_run_that_looks_fair_in_the_quotient() {
    let text = "byte x[2]; bit up[2];
active [2] proctype P() {
  do
  :: atomic {
       x[_pid] = (x[_pid] + 1) % 3;
       if
       :: up[1 - _pid] == 1 || (x[_pid] > x[1 - _pid] && up[_pid] > 1) -> up[_pid] = 0; up[1 - _pid] = 0
       :: else -> up[_pid] = 1
       fi
     }
  od
}";
    let model = model(text, "[]<> (forall p: P . up[p] == 0)");
    let machine = machine(&model);
    let mut naive = Naive::new(&machine);
    let (system, visited) = (&mut Fair(machine.another()), &mut NumberedTree::new());
    let seams = Seams { system, representative: &mut naive, ample: &mut All, visited };
    // It goes on to look for the fair run in real names, and there is none.
    assert_ne!(liveness(seams, &mut Options::default()).stop, Stop::Complete, "the naive answer is wrong");

    assert_eq!(agreed(&model, true), Verdict::Holds);
    let fair = answer(&model, Symmetry::Exact, PartialOrder::Off, true);
    assert_eq!(fair.applied.symmetry.order, "exact");
    // Without fairness one process may stand still, and the symmetry is used.
    assert_eq!(agreed(&model, false), Verdict::Violated);
    assert_eq!(answer(&model, Symmetry::Exact, PartialOrder::Off, false).applied.symmetry.order, "exact");
}

/// A process that goes round for ever, and one that does something once.
const SPINNER: &str = "bit x; bit y;
active proctype once() { y = 1 }
active proctype spinner() { do :: x == 0 -> x = 1 :: x == 1 -> x = 0 od }";

/// The states reached when the first proposal is always taken.
fn reached(machine: &mut Machine, ample: &mut dyn FnMut(&mut Machine, &[u64]) -> Scope) -> HashSet<Vec<u64>> {
    let mut out = Successors::new();
    machine.initial(&mut out).expect("small");
    let mut seen: HashSet<Vec<u64>> = HashSet::from([out.state(0).to_vec()]);
    let mut open = vec![out.state(0).to_vec()];
    while let Some(state) = open.pop() {
        out.clear();
        let scope = ample(machine, &state);
        machine.successors(&state, scope, &mut out).expect("small");
        if out.is_empty() {
            machine.successors(&state, Scope::All, &mut out).expect("small");
        }
        for index in 0..out.len() {
            if out.entry(index).has_state() && seen.insert(out.state(index).to_vec()) {
                open.push(out.state(index).to_vec());
            }
        }
    }
    seen
}

/// The ignoring problem. The spinner's steps are independent of the other process and invisible; each of them alone is an ample set
/// by C0 to C2. Without C3 the spinner is explored for ever and `y = 1` is never seen.
#[test]
fn nobody_is_ignored_for_ever() {
    let model = model(SPINNER, "[] (y == 0)");
    let (mut plain, _) = model.machine(quotient_engine::Compile::AS_WRITTEN).expect("small");
    let mut naive =
        AmpleSets::new(&plain, &Preserve::Deadlock, Independence::default()).expect("it has ample sets");
    let met = reached(&mut plain, &mut |machine, state| naive.proposals(machine, state).get(0));
    let y = |machine: &Machine, state: &[u64]| {
        let values = machine.values(state, &quotient_machine::ObjectNames::default());
        values.iter().any(|v| v.name == "y" && v.text == "1")
    };
    assert!(!met.iter().any(|s| y(&plain, s)), "without C3 the other process is ignored");

    assert_eq!(agreed(&model, false), Verdict::Violated);
    assert_eq!(agreed(&self::model(SPINNER, "<>[] (y == 1)"), false), Verdict::Violated);
    assert_eq!(agreed(&self::model(SPINNER, "[] ((y == 1) -> [] (y == 1))"), false), Verdict::Holds);
}

/// Nested search with differing ample sets. A nested depth-first search that breaks cycles by its own stack has different stacks in
/// its two passes, takes different ample sets, and can miss a cycle that the first pass found a way to (Holzmann, Peled and
/// Yannakakis, 1996). Here ample sets for formulas are a function of the state: whatever was looked at before, the proposals
/// are the same.
#[test]
fn every_pass_chooses_the_same_ample_sets() {
    let text = "bit x; bit y; byte z;
active proctype A() { do :: x == 0 -> x = 1; z = 1 :: x == 1 -> x = 0 od }
active proctype B() { do :: y == 0 -> y = 1 :: y == 1 -> y = 0; z = 2 od }
active proctype C() { do :: z == 1 -> z = 0 od }";
    let formula = "[]<> (z == 2)";
    let model = model(text, formula);
    let (mut plain, _) = model.machine(quotient_engine::Compile::REDUCED).expect("small");
    let question = Preserve::LtlX { visible: model.claims[0].propositions.clone() };
    let mut first = AmpleSets::new(&plain, &question, Independence::default()).expect("it has ample sets");
    let states = reached(&mut plain, &mut |_, _| Scope::All);
    let mut in_order = Vec::new();
    let mut sorted: Vec<&Vec<u64>> = states.iter().collect();
    sorted.sort();
    let all = |ample: &mut AmpleSets, machine: &mut Machine, state: &[u64]| -> Vec<Scope> {
        let proposals = ample.proposals(machine, state);
        (0..AmpleSets::PROPOSALS).map(|number| proposals.get(number)).collect()
    };
    for state in &sorted {
        in_order.push(all(&mut first, &mut plain, state));
    }
    let mut second = AmpleSets::new(&plain, &question, Independence::default()).expect("it has ample sets");
    for (state, before) in sorted.iter().zip(&in_order).rev() {
        assert_eq!(&all(&mut second, &mut plain, state), before);
    }
    assert!(in_order.iter().any(|p| p[0] != Scope::All), "something is reduced");
    for formula in [formula, "<>[] (z != 1)", "[] ((z == 1) -> <> (z == 0))"] {
        agreed(&self::model(text, formula), false);
    }
}
