//! Weak fairness together with renamings of threads: random programs and formulas, and the traps, against a search for fair
//! components of the unreduced product that knows nothing of representatives.
//!
//! `QUOTIENT_FAIR_FORMULAS` sets how many programs (a slice by default), `QUOTIENT_SEED` the first seed.

use std::collections::HashMap;

use crate::formulas::{linear, of_each};
use crate::symmetric_formulas::processes;
use quotient_engine::PropertyKeyword::Ltl;
use quotient_engine::{Answer, Check, LoadOptions, Model, Question, Symmetry, Verdict};
use quotient_machine::{CLAIM_THREAD, Machine};
use quotient_reference::bir::generate::generate;
use quotient_reference::symmetric::symmetric;
use quotient_seams::{Scope, Successors, System};
use quotient_testing::{Random, setting};

/// Products with more states than this are skipped.
const LIMIT: usize = 3_000;

/// A step: where it leads, what it accepts, who takes part.
type Step = (usize, u64, u64);

/// The unreduced product of program and claim.
#[derive(Default)]
struct Product {
    steps: Vec<Vec<Step>>,
    /// What is accepted in a state, and who can begin a step there.
    accepts: Vec<u64>,
    able: Vec<u64>,
}

/// `None`: too large, something goes wrong on the way, or no infinite runs are asked for.
fn product(machine: &mut Machine) -> Option<Product> {
    if !machine.program().claim.as_ref()?.cycles {
        return None;
    }
    let mut out = Successors::new();
    machine.initial(&mut out).ok()?;
    let mut states = vec![out.state(0).to_vec()];
    let mut number = HashMap::from([(states[0].clone(), 0)]);
    let mut product = Product::default();
    while product.steps.len() < states.len() {
        let state = states[product.steps.len()].clone();
        out.clear();
        machine.successors(&state, Scope::All, &mut out).ok()?;
        let (mut able, mut steps) = (0, Vec::new());
        for (index, record) in machine.explain_moves(&state).iter().enumerate() {
            let entry = out.entry(index);
            if entry.violation.is_some() || !entry.has_state() || states.len() > LIMIT {
                return None;
            }
            let mut moves = 0;
            for (position, step) in record.steps().iter().filter(|s| s.thread != CLAIM_THREAD).enumerate() {
                able |= u64::from(position == 0) << step.thread;
                moves |= 1 << step.thread | step.partner.map_or(0, |p| 1 << p);
            }
            let next = out.state(index).to_vec();
            let to = *number.entry(next.clone()).or_insert_with(|| {
                states.push(next);
                states.len() - 1
            });
            steps.push((to, out.marks(index), moves));
        }
        product.steps.push(steps);
        product.accepts.push(machine.acceptance(&state));
        product.able.push(able);
    }
    Some(product)
}

/// Everything that can be reached.
fn reach(from: usize, edges: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut open = vec![from];
    seen[from] = true;
    while let Some(state) = open.pop() {
        for &next in &edges[state] {
            if !std::mem::replace(&mut seen[next], true) {
                open.push(next);
            }
        }
    }
    seen
}

impl Product {
    /// Is there a run that is accepted, and fair to everyone? Every component is looked at, by what leads there and back.
    fn has_fair_run(&self) -> bool {
        let forth: Vec<Vec<usize>> = self.steps.iter().map(|s| s.iter().map(|t| t.0).collect()).collect();
        let mut back = vec![Vec::new(); forth.len()];
        forth.iter().enumerate().for_each(|(from, to)| to.iter().for_each(|t| back[*t].push(from)));
        let mut done = vec![false; forth.len()];
        for state in 0..forth.len() {
            if done[state] {
                continue;
            }
            let (after, before) = (reach(state, &forth), reach(state, &back));
            let inside: Vec<usize> = (0..forth.len()).filter(|s| after[*s] && before[*s]).collect();
            let (mut accepted, mut fair_to, mut turns) = (0, 0, false);
            for &at in &inside {
                done[at] = true;
                accepted |= self.accepts[at];
                fair_to |= !self.able[at];
                for (to, accepts, moves) in &self.steps[at] {
                    if after[*to] && before[*to] {
                        (turns, accepted, fair_to) = (true, accepted | accepts, fair_to | moves);
                    }
                }
            }
            if turns && accepted == u64::MAX && fair_to == u64::MAX {
                return true;
            }
        }
        false
    }
}

/// What the unreduced product says; `None` when it is not asked.
fn expected(model: &Model) -> Option<bool> {
    let (mut machine, _) =
        model.question_machine(Question::Claim(0), quotient_engine::Compile::AS_WRITTEN).ok()?;
    Some(!product(&mut machine)?.has_fair_run())
}

fn ask(model: &Model, symmetry: Symmetry, fair: bool) -> Answer {
    let check = Check { symmetry: Some(symmetry), fair, all: true, ..Check::default() };
    // A counterexample is executed again, and its fairness looked at again: an error is a wrong one.
    let outcome = model.check(&check).unwrap_or_else(|e| panic!("{symmetry:?}: {e}"));
    outcome.answers.into_iter().find(|a| a.question == Question::Claim(0)).expect("an answer")
}

const ORDERS: [Symmetry; 5] =
    [Symmetry::Off, Symmetry::Heap, Symmetry::ProgramCounter, Symmetry::Bounded(Some(2)), Symmetry::Exact];

/// How often something was compared, and with how much force.
#[derive(Debug, Default)]
struct Compared {
    formulas: u64,
    violated: u64,
    /// Fairness changes the verdict.
    by_fairness: u64,
    renamed: u64,
    smaller: u64,
}

impl Compared {
    fn compare(&mut self, model: &Model, name: &dyn Fn() -> String) {
        let Some(holds) = expected(model) else { return };
        let answers = ORDERS.map(|symmetry| ask(model, symmetry, true));
        for (answer, symmetry) in answers.iter().zip(ORDERS) {
            let said = match &answer.verdict {
                Verdict::Holds => true,
                Verdict::Violated => false,
                Verdict::Undecided(why) => panic!("{symmetry:?}: undecided, {why}: {}", name()),
            };
            assert_eq!(said, holds, "{symmetry:?}: {}", name());
        }
        self.formulas += 1;
        self.violated += u64::from(!holds);
        self.by_fairness += u64::from(holds && ask(model, Symmetry::Off, false).verdict == Verdict::Violated);
        self.renamed += u64::from(answers[4].applied.symmetry.order == "exact");
        self.smaller += u64::from(holds && answers[4].statistics.states < answers[1].statistics.states);
    }
}

#[test]
fn random_symmetric_programs() {
    let programs = setting("QUOTIENT_FAIR_FORMULAS", 150);
    let first = setting("QUOTIENT_SEED", 5_000_000);
    let mut compared = Compared::default();
    for seed in first..first + programs {
        let text = symmetric(seed);
        let mut atoms: Vec<String> = ["(x == 0)", "(x > 1)", "(start == 1)"].map(str::to_owned).into();
        if text.contains("active [") {
            let all = ["a[p] == 1", "b[p] == 1", "owner == p", "a[p] > b[p]"];
            atoms.extend(all.iter().map(|e| format!("(exists p: P . {e})")));
            atoms.extend(all.iter().map(|e| format!("(forall p: P . {e})")));
        }
        let mut random = Random::new(seed);
        let each = processes(&text).filter(|_| text.contains("active ["));
        for round in 0..4 {
            let formula = match each {
                Some((processes, first)) if round == 3 => of_each(&mut random, first..first + processes),
                _ => linear(&mut random, &atoms, &mut 3, 3, false),
            };
            let model = Model::from_text_with("random.pml", &text, &[(Ltl, formula.clone())]);
            let model = model.unwrap_or_else(|e| panic!("{e}\n{text}"));
            compared.compare(&model, &|| format!("seed {seed}: {formula}\n\n{text}"));
        }
    }
    println!("{compared:?}");
    assert!(compared.formulas * 2 > programs, "{compared:?}: few");
    assert!(compared.by_fairness > 0 && compared.smaller * 20 > compared.formulas, "{compared:?}: no force");
    assert!(compared.violated * 10 > compared.formulas, "{compared:?}: no force");
}

#[test]
fn random_programs_with_pointers() {
    let programs = setting("QUOTIENT_FAIR_FORMULAS", 60);
    let first = setting("QUOTIENT_SEED", 0);
    let mut compared = Compared::default();
    for seed in first..first + programs {
        let text = quotient_reference::pointers::program(seed, true);
        let Some((text, _)) = text.split_once("init") else { continue };
        let text = text
            .replace("proctype P0", "active [2] proctype P0")
            .replace("proctype P1", "active proctype P1");
        let atoms = [
            "(count == 1)",
            "(&g == null)",
            "(&h != null)",
            "(exists p: P0 . p@middle)",
            "(forall p: P0 . p:i == 0)",
        ];
        let atoms: Vec<String> = atoms.map(str::to_owned).into();
        let mut random = Random::new(seed);
        for _ in 0..2 {
            let formula = linear(&mut random, &atoms, &mut 3, 3, false);
            let model = Model::from_text_with("random.pml", &text, &[(Ltl, formula.clone())]);
            let model = model.unwrap_or_else(|e| panic!("{e}\n{text}"));
            compared.compare(&model, &|| format!("seed {seed}: {formula}\n\n{text}"));
        }
    }
    println!("{compared:?}");
    assert!(compared.formulas * 3 > programs && compared.renamed > 0, "{compared:?}: few");
    assert!(compared.smaller > 0 && compared.violated > 0, "{compared:?}: no force");
}

/// Threads that are started and end, and take over names: they keep their places, except that gaps are closed.
#[test]
fn random_bir_programs() {
    let programs = setting("QUOTIENT_FAIR_FORMULAS", 60);
    let first = setting("QUOTIENT_SEED", 0);
    let mut compared = Compared::default();
    for seed in first..first + programs {
        let text = generate(seed);
        let atoms = ["(count == 1)", "(level > 0)", "flag", "(shared == null)", "(exists w: Worker . w:b)"];
        let atoms: Vec<String> = atoms.map(str::to_owned).into();
        let mut random = Random::new(seed);
        for _ in 0..2 {
            let formula = linear(&mut random, &atoms, &mut 3, 3, false);
            let properties = vec![(Ltl, formula.clone())];
            let options = LoadOptions { properties, ..LoadOptions::default() };
            let model = Model::from_bir_text("random.bir", &text, &options);
            let model = model.unwrap_or_else(|e| panic!("{e}\n{text}"));
            compared.compare(&model, &|| format!("seed {seed}: {formula}\n\n{text}"));
        }
    }
    println!("{compared:?}");
    assert!(compared.formulas * 3 > programs && compared.violated > 0, "{compared:?}: no force");
}

fn promela(text: &str, formula: &str) -> Model {
    Model::from_text_with("trap.pml", text, &[(Ltl, formula.to_owned())]).expect("correct")
}

/// The verdict, the same in all ways, and how many states it took without and with renamed threads.
fn decided(model: &Model) -> (bool, u64, u64) {
    let holds = expected(model).expect("small enough");
    let answers = ORDERS.map(|symmetry| ask(model, symmetry, true));
    assert!(answers.iter().all(|a| (a.verdict == Verdict::Holds) == holds));
    assert_eq!(answers[4].applied.symmetry.order, "exact");
    (holds, answers[1].statistics.states, answers[4].statistics.states)
}

/// Each process has to move by itself. On a cycle of representatives it is enough that one like it moves only if the names really
/// are exchanged on the way.
#[test]
fn who_starves_behind_a_twin() {
    // Two processes take a lock. Fairly, one may always come too late: it cannot always move.
    let lock = "bit taken; byte in; active [2] proctype P() {
        do :: atomic { taken == 0 -> taken = 1 }; in = 1; in = 0; taken = 0 od }";
    assert!(decided(&promela(lock, "[]<> (in == 1)")).0);
    // Each counts; nobody may count alone for ever, though after each step a representative may call them otherwise.
    let count = "byte x[2]; active [2] proctype P() { do :: x[_pid] = (x[_pid] + 1) % 3 od }";
    assert!(decided(&promela(count, "[]<> (forall p: P . x[p] == 0) || []<> (exists p: P . x[p] == 1)")).0);
    assert!(!decided(&promela(count, "<>[] (forall p: P . x[p] == 0)")).0);
    // A run on which one of them stands still at 1 is not fair: it can always move. Both may avoid being at 0 together.
    assert!(
        decided(&promela(count, "!<>[] (exists p: P . x[p] == 1)")).0
            == decided(&promela(count, "[]<> (forall p: P . x[p] != 1)")).0
    );
    // Everybody arrives, fairly, whatever the number of processes.
    let arrive =
        "byte n; bit go; active [5] proctype P() { n++; do :: n == 5 -> go = 1 :: n < 5 -> skip od }";
    let (holds, all, renamed) = decided(&promela(arrive, "<> (go == 1)"));
    assert!(holds && renamed * 5 < all, "{renamed} and {all} states");
}

/// A ring: only rotations are allowed, and a round of the token exchanges all.
#[test]
fn rotations() {
    let ring = "byte token; bit idle[3]; active [3] proctype P() {
        do :: token == _pid -> token = (_pid + 1) % 3 :: token != _pid -> idle[_pid] = 1 - idle[_pid] od }";
    let (holds, all, renamed) = decided(&promela(ring, "[]<> (exists p: P . token == p && idle[p] == 0)"));
    assert!(!holds || renamed * 2 < all, "{renamed} and {all} states");
    assert!(
        decided(&promela(ring, "[]<> (forall p: P . idle[p] == 0) || []<> (exists p: P . idle[p] == 1)")).0
    );
    assert!(!decided(&promela(ring, "<>[] (forall p: P . idle[p] == 0)")).0);
}

/// Threads that are started get the names of others that have ended: they keep their places, and the report says why.
#[test]
fn started_threads_of_programs_with_objects_are_refused() {
    let text = "system S {
        record Node { Node next; }
        int wrap (0, 3) x;
        thread W() { Node n; n := new Node; x := 1; n := null; x := 0; }
        main thread M() { while true do start W(); end }
    }";
    let options = LoadOptions { properties: vec![(Ltl, "[]<> (x == 1)".into())], ..LoadOptions::default() };
    let model = Model::from_bir_text("test.bir", text, &options).expect("correct");
    let limits = quotient_search::Limits { states: Some(2_000), ..Default::default() };
    let outcome = model.check(&Check { fair: true, limits, ..Check::default() }).expect("checked");
    let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
    assert_eq!(answer.applied.symmetry.order, "heap");
    let why = answer.applied.symmetry.limit.as_deref().unwrap_or_default();
    assert!(why.contains("only fair runs count"), "{why}");
}
