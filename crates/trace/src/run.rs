//! A run, one step at a time, written down in the user's terms.
//!
//! Steps are those of a machine, usually of a reduced program; what is shown of states comes from the program as written, which is
//! run beside it where one is given ([`mod@crate::unreduced`]). So do the numbers of steps: step 7 is the same step whatever reductions found
//! the run, in traces, in simulations and in the explorer.

use std::collections::HashMap;

use quotient_explain::{Effect, Handed, Look, effect};
use quotient_machine::{CLAIM_THREAD, Machine, MicroStep, ObjectNames, StepRecord};
use quotient_program::{Action, ClaimOrigin, Function, Location, Operation, Transformation};
use quotient_seams::{Scope, Successors, System, Violation, ViolationCode, ViolationKind, Walk};
use quotient_source::SourceMap;

use crate::unreduced::Unreduced;
use crate::{Change, NotReplayable, ProcessState, Step, Trace};

/// How much of a run is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// Every variable after each statement, and what statements read and wrote.
    #[default]
    Everything,
    /// What each statement changed; what it read and wrote only where it asserts something or goes wrong.
    Changes,
}

/// A run so far.
pub struct Run<'a> {
    machine: &'a mut Machine,
    beside: Option<Unreduced<'a>>,
    sources: &'a SourceMap,
    /// Where it has come to.
    walk: Walk,
    /// Steps taken.
    taken: usize,
    /// Those of them in which only the claim moved; the program as written makes none then.
    alone: usize,
    names: ObjectNames,
    /// What the last state shown had as values.
    shown: Vec<(String, String)>,
    /// What went wrong in the last step.
    violation: Option<ViolationCode>,
    told: Told,
}

impl<'a> Run<'a> {
    /// Starts at the initial state with this number; values are those of `unreduced`, where it is given.
    pub fn start(
        machine: &'a mut Machine,
        unreduced: Option<&'a mut Machine>,
        sources: &'a SourceMap,
        first: u32,
        told: Told,
    ) -> Result<Run<'a>, NotReplayable> {
        let lost = NotReplayable { step: 0 };
        let mut walk = Walk::start(machine, first).map_err(|_| lost.clone())?;
        let initial = walk.looked();
        let violation = initial.entry(first as usize).violation;
        // A violation of the initial state: show the state it is about.
        let with_state = (0..initial.len()).find(|i| initial.entry(*i).has_state());
        if let (true, Some(with_state)) = (walk.state().is_empty(), with_state) {
            walk.take(with_state).map_err(|_| lost.clone())?;
        }
        let beside = match unreduced {
            Some(unreduced) => Some(Unreduced::start(unreduced, machine).ok_or(lost)?),
            None => None,
        };
        let (names, shown) = (ObjectNames::default(), Vec::new());
        let mut run =
            Run { machine, beside, sources, walk, taken: 0, alone: 0, names, shown, violation, told };
        run.shown = run.values();
        Ok(run)
    }

    /// The state it has come to.
    pub fn state(&self) -> &[u64] {
        self.walk.state()
    }

    /// The machine whose steps are taken.
    pub fn machine(&mut self) -> &mut Machine {
        self.machine
    }

    /// The steps that can be taken next, in the order of the machine's successors.
    pub fn possible(&mut self) -> Vec<StepRecord> {
        self.machine.explain(self.walk.state())
    }

    /// Every variable's value, after the last step.
    pub fn shown(&self) -> &[(String, String)] {
        &self.shown
    }

    /// What went wrong in the last step.
    pub fn violation(&self) -> Option<ViolationCode> {
        self.violation
    }

    /// The number of the last step: among those of the program as written, where it is run beside.
    pub fn number(&self) -> usize {
        self.beside.as_ref().map_or(self.taken, |beside| beside.number() + self.alone)
    }

    /// The choices of the program as written that have led here; none if it is not run beside.
    pub fn unreduced_choices(&self) -> Option<Vec<u32>> {
        self.beside.as_ref().map(Unreduced::choices)
    }

    /// Takes a step, one of [`Run::possible`]'s; gives its statements. It is not replayable if the program as written, run beside,
    /// cannot do the same.
    pub fn take(&mut self, record: &StepRecord) -> Result<Vec<Step>, NotReplayable> {
        let lost = NotReplayable { step: self.number() + 1 };
        self.taken += 1;
        let mut steps = Vec::new();
        let statements = record.steps();
        // What the automaton of a formula does is not shown; a claim written by hand is.
        let shows_claim = claim_is_shown(self.machine);
        if statements.iter().all(|s| s.thread == CLAIM_THREAD) && (record.state.is_some() || shows_claim) {
            self.alone += 1;
            if record.state.is_some() {
                steps.push(self.line(self.number(), "-", "no process can move"));
            }
        }
        let (mut claims, mut handed) = (Vec::new(), Handed::default());
        for &statement in &statements {
            if statement.thread == CLAIM_THREAD {
                claims.push(statement);
                continue;
            }
            let is_last = statements.last().is_some_and(|last| std::ptr::eq(*last, statement));
            let goes_wrong = is_last && record.violation.is_some();
            let explained = self.told == Told::Everything || goes_wrong || self.asserts(statement);
            let before = if explained { self.view().1.to_vec() } else { Vec::new() };
            while self.beside.as_mut().is_some_and(|beside| !beside.follow(statement)) {
                let end = self.beside.as_mut().and_then(Unreduced::end_a_process).ok_or(lost.clone())?;
                steps.push(self.end_step(&end));
            }
            let number = self.number();
            for claim in claims.drain(..).filter(|_| shows_claim) {
                steps.push(self.claim_step(number, claim));
            }
            let mut step = self.thread_step(number, statement);
            if explained {
                step.effect = self.effect(&before, statement, goes_wrong);
                step.effect.iter_mut().for_each(|effect| handed.pass(effect));
            }
            steps.push(step);
        }
        for claim in claims.into_iter().filter(|_| shows_claim) {
            steps.push(self.claim_step(self.number(), claim));
        }
        if let (Some(beside), Some(code), None) = (&mut self.beside, record.violation, &record.state) {
            let site = self.machine.site(code);
            // What no statement does is a step of the program all the same (a `provided` clause cannot be evaluated), unless the claim does it.
            if statements.is_empty() {
                beside.fault(site.span);
            } else {
                beside.goes_wrong();
            }
        }
        self.violation = record.violation;
        match (&record.state, statements.last()) {
            (Some(next), _) => self.walk.go(next),
            (None, Some(last)) => self.walk.go(&last.state),
            (None, None) => {}
        }
        if let Some(next) = &record.state {
            // Values of the state that the last statement led to are known.
            let same = |last: &&MicroStep| {
                last.thread != CLAIM_THREAD && self.beside.is_none() && last.state == *next
            };
            if !statements.last().is_some_and(same) {
                self.shown = self.values();
            }
        }
        Ok(steps)
    }

    /// Where all processes stand.
    pub fn processes(&self) -> Vec<ProcessState> {
        let (machine, state) = self.view();
        let threads = machine.threads(state);
        threads
            .iter()
            .map(|t| {
                let function = &machine.program().functions[t.function as usize];
                let location = &function.locations[t.location as usize];
                ProcessState {
                    process: machine.thread_name(state, t.id, &self.names),
                    pid: t.id,
                    at: self.sources.file_line(location.span),
                    waits_for: waits_for(function, location),
                    valid_end: location.end,
                    finished: waits_for_end(location),
                    ..ProcessState::default()
                }
            })
            .collect()
    }

    /// The violation met, with its place as `file:line`; a deadlock has none.
    pub fn verdict(&mut self) -> Option<(Violation, Option<String>)> {
        if let Some(code) = self.violation {
            let at = self.sources.file_line(self.machine.site(code).span);
            return Some((self.machine.violation(code), Some(at)));
        }
        let mut next = Successors::new();
        let stuck = self.machine.program().claim.is_none()
            && self.machine.successors(self.walk.state(), Scope::All, &mut next).is_ok()
            && next.is_still(0..next.len())
            && !self.machine.is_valid_end(self.walk.state());
        let message = "deadlock: invalid end state".to_owned();
        stuck.then_some((Violation { kind: ViolationKind::Deadlock, message }, None))
    }

    /// The trace of the steps taken.
    pub(crate) fn finish(mut self, steps: Vec<Step>, initial: Vec<(String, String)>) -> Trace {
        self.shown = self.values();
        let processes = self.processes();
        let (violation, violation_at) = self.verdict().unzip();
        let last = self.shown;
        let violation_at = violation_at.flatten();
        Trace { steps, initial, last, processes, violation, violation_at, ..Trace::default() }
    }

    /// The machine and state that values are shown of.
    fn view(&self) -> (&Machine, &[u64]) {
        match &self.beside {
            Some(beside) => (beside.machine(), beside.state()),
            None => (self.machine, self.walk.state()),
        }
    }

    /// The values of the state that was come to, in the names its objects have had so far.
    fn values(&mut self) -> Vec<(String, String)> {
        let mut names = std::mem::take(&mut self.names);
        let (machine, state) = self.view();
        let values = values(machine, state, &mut names);
        self.names = names;
        values
    }

    /// A line that is about no statement of a process.
    fn line(&self, number: usize, process: &str, statement: &str) -> Step {
        Step {
            number,
            process: process.into(),
            pid: u32::MAX,
            statement: statement.into(),
            state: if self.told == Told::Everything { self.shown.clone() } else { Vec::new() },
            ..Step::default()
        }
    }

    /// A line about a transformation.
    fn source(&self, number: usize, process: &str, transformation: u32) -> Step {
        let Some((_, _, t)) = self.machine.transformation(transformation) else {
            return self.line(number, process, "");
        };
        Step {
            file: self.sources.name(self.sources.written(t.span).file).to_owned(),
            line: self.sources.position(t.span).line,
            called_at: self.sources.call(t.span).map(|call| self.sources.file_line(call)),
            ..self.line(number, process, &t.text)
        }
    }

    /// Does a statement assert something? What is wrong with it is told also where the run goes on.
    fn asserts(&self, statement: &MicroStep) -> bool {
        let found = self.machine.transformation(statement.transformation);
        found.is_some_and(|(_, _, t)| t.actions.iter().any(|a| matches!(a, Action::Assert(..))))
    }

    fn claim_step(&self, number: usize, statement: &MicroStep) -> Step {
        self.source(number, "claim", statement.transformation)
    }

    /// What a statement, which has just been followed, read and wrote. Behind what goes wrong there is no state to look at.
    fn effect(&self, before: &[u64], statement: &MicroStep, goes_wrong: bool) -> Option<Effect> {
        let statement = match &self.beside {
            Some(beside) => beside.last()?,
            None => statement,
        };
        let machine = self.view().0;
        let after = match &self.beside {
            Some(beside) => beside.state(),
            None => &statement.state[..],
        };
        let after = (!goes_wrong && !after.is_empty()).then(|| Look::new(machine, after, &self.names));
        Some(effect(statement, &Look::new(machine, before, &self.names), after.as_ref()))
    }

    /// The end of a process that the reduced program leaves out.
    fn end_step(&mut self, end: &MicroStep) -> Step {
        let found = self.beside.as_ref().and_then(|b| b.machine().transformation(end.transformation));
        let span = found.map(|(_, _, t)| t.span);
        let process = self.names.thread(end.thread).unwrap_or("?").to_owned();
        self.shown = self.values();
        let step = Step { pid: end.thread, ..self.line(self.number(), &process, "ends") };
        match span {
            Some(span) => Step {
                file: self.sources.name(self.sources.written(span).file).to_owned(),
                line: self.sources.position(span).line,
                ..step
            },
            None => step,
        }
    }

    /// A statement of a thread, which has just been followed.
    fn thread_step(&mut self, number: usize, statement: &MicroStep) -> Step {
        // A process that ends is named before it does.
        let before = self.names.clone();
        let mut names = std::mem::take(&mut self.names);
        let (machine, after) = match &self.beside {
            Some(beside) => (beside.machine(), beside.state()),
            None => (&*self.machine, &statement.state[..]),
        };
        let shown = values(machine, after, &mut names);
        let name = |pid| before.thread(pid).or_else(|| names.thread(pid)).unwrap_or("?").to_owned();
        let (process, partner) = (name(statement.thread), statement.partner.map(name));
        self.names = names;
        let changes = changes(&self.shown, &shown);
        self.shown = shown;
        let mut step = self.source(number, &process, statement.transformation);
        if let Some(partner) = partner {
            step.statement.push_str(&format!("   (to {partner})"));
        }
        Step { pid: statement.thread, changes, output: statement.output.clone(), ..step }
    }
}

/// The values of the next state of a path, in the names its objects have had so far.
fn values(machine: &Machine, state: &[u64], names: &mut ObjectNames) -> Vec<(String, String)> {
    if state.is_empty() {
        return Vec::new();
    }
    names.meet(machine, state);
    machine.values(state, names).into_iter().map(|v| (v.name, v.text)).collect()
}

/// What changed, in the order of the values after, then what is gone.
fn changes(before: &[(String, String)], after: &[(String, String)]) -> Vec<Change> {
    // Mostly the names are the same.
    if before.len() == after.len() && before.iter().zip(after).all(|(b, a)| b.0 == a.0) {
        let changed = before.iter().zip(after).filter(|(b, a)| b.1 != a.1);
        return changed
            .map(|(b, a)| Change { name: a.0.clone(), before: Some(b.1.clone()), after: Some(a.1.clone()) })
            .collect();
    }
    let old: HashMap<&str, &str> = before.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let new: HashMap<&str, &str> = after.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let mut out = Vec::new();
    for (name, value) in after {
        let was = old.get(name.as_str());
        if was != Some(&value.as_str()) {
            out.push(Change {
                name: name.clone(),
                before: was.map(|v| (*v).to_owned()),
                after: Some(value.clone()),
            });
        }
    }
    for (name, value) in before {
        if !new.contains_key(name.as_str()) {
            out.push(Change { name: name.clone(), before: Some(value.clone()), after: None });
        }
    }
    out
}

/// Has a process come to its end?
fn waits_for_end(location: &Location) -> bool {
    let ends = |t: &Transformation| {
        // Where processes end in any order, all that is left to do at a valid end is that.
        t.is_end() || location.end && matches!(t.actions[..], [Action::EndThread])
    };
    location.transformations.first().is_some_and(ends)
}

/// The statements that lead on from a location; of a `d_step` those that it opens with.
fn waits_for(function: &Function, location: &Location) -> Vec<String> {
    let statement = |t: &Transformation| match (&t.operation, t.target) {
        (Operation::Enter, Some(target)) => {
            let inside = waits_for(function, &function.locations[target.0 as usize]);
            format!("{} {{ {} }}", t.text, inside.join("  or  "))
        }
        _ => t.text.clone(),
    };
    location.transformations.iter().map(statement).collect()
}

/// A claim written by hand.
fn claim_is_shown(machine: &Machine) -> bool {
    machine.program().claim.as_ref().is_some_and(|c| c.origin == ClaimOrigin::Never)
}
