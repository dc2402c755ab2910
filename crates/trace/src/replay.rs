//! Re-execution of a path.

use std::collections::HashMap;
use std::fmt;

use quotient_machine::{CLAIM_THREAD, Machine, MicroStep, ObjectNames};
use quotient_program::ClaimOrigin;
use quotient_source::SourceMap;
use quotient_system::{Successors, System, Violation, ViolationCode};

/// A path, re-executed.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What happened, in order. One step of the search may be several of these (an atomic sequence, a rendezvous).
    pub steps: Vec<Step>,
    /// Every variable of the initial state.
    pub initial: Vec<(String, String)>,
    /// Every variable of the last state.
    pub last: Vec<(String, String)>,
    /// Where the processes are in the last state.
    pub processes: Vec<ProcessState>,
    /// The number of the first step of a cycle that is repeated for ever; it ends with the trace.
    pub cycle: Option<usize>,
    /// The acceptance sets met on the cycle, as bits; sets that do not exist are among them.
    pub met: u64,
    /// The violation met at the end.
    pub violation: Option<Violation>,
    /// Where the violation is, as `file:line`.
    pub violation_at: Option<String>,
}

/// One statement executed by one process.
#[derive(Clone, Debug)]
pub struct Step {
    /// The step of the search it belongs to, from 1.
    pub number: usize,
    /// Its process: name and number.
    pub process: String,
    /// The process number.
    pub pid: u32,
    /// File of the statement.
    pub file: String,
    /// Line of the statement.
    pub line: u32,
    /// The statement.
    pub statement: String,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What it printed.
    pub output: String,
    /// Every variable after it.
    pub state: Vec<(String, String)>,
}

/// A changed variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Before; `None` when it did not exist.
    pub before: Option<String>,
    /// After; `None` when it exists no more.
    pub after: Option<String>,
}

/// A process in a state.
#[derive(Clone, Debug)]
pub struct ProcessState {
    /// Name and number.
    pub process: String,
    /// Where it stands, as `file:line`.
    pub at: String,
    /// The statements it waits to execute.
    pub waits_for: Vec<String>,
    /// It may stay there for ever.
    pub valid_end: bool,
}

/// A path that the machine cannot repeat: a bug of the checker.
#[derive(Clone, Debug)]
pub struct NotReplayable {
    /// The step that could not be repeated.
    pub step: usize,
}

impl fmt::Display for NotReplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {} of the path cannot be repeated; this is a bug in quotient, please report it",
            self.step
        )
    }
}

impl std::error::Error for NotReplayable {}

/// The next state of a path, in the names its objects have had so far.
fn values(machine: &Machine, state: &[u64], names: &mut ObjectNames) -> Vec<(String, String)> {
    names.meet(machine, state);
    machine.values(state, names).into_iter().map(|v| (v.name, v.text)).collect()
}

fn changes(before: &[(String, String)], after: &[(String, String)]) -> Vec<Change> {
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

/// The name of a process in a state.
fn process_name(machine: &Machine, state: &[u64], pid: u32) -> String {
    let threads = machine.threads(state);
    let name = threads.iter().find(|t| t.id == pid).map_or("?", |t| {
        let name = machine.program().functions[t.body as usize].name.as_str();
        if name == ":init:" { "init" } else { name }
    });
    format!("{name}({pid})")
}

impl Trace {
    /// Repeats a path. The first choice is among the initial states.
    pub fn replay(
        machine: &mut Machine,
        sources: &SourceMap,
        choices: &[u32],
    ) -> Result<Trace, NotReplayable> {
        Trace::replay_lasso(machine, sources, choices, 0)
    }

    /// Repeats a path whose last `cycle` steps lead back to the state before them and meet what the claim accepts; any other
    /// path is not replayable.
    pub fn replay_lasso(
        machine: &mut Machine,
        sources: &SourceMap,
        choices: &[u32],
        cycle: usize,
    ) -> Result<Trace, NotReplayable> {
        let mut trace = Trace::replay_path(machine, sources, choices, cycle)?;
        if cycle > 0 {
            if trace.met != u64::MAX {
                return Err(NotReplayable { step: choices.len() - 1 });
            }
            let claim = machine.program().claim.as_ref();
            trace.violation =
                claim.map(|c| Violation { kind: c.origin.kind().into(), message: c.message(true) });
        }
        Ok(trace)
    }

    /// Repeats a path whose last `cycle` steps lead back to the state before them.
    pub fn replay_path(
        machine: &mut Machine,
        sources: &SourceMap,
        choices: &[u32],
        cycle: usize,
    ) -> Result<Trace, NotReplayable> {
        let mut initial = Successors::new();
        let lost = |step| NotReplayable { step };
        machine.initial(&mut initial).map_err(|_| lost(0))?;
        let (&first, rest) = choices.split_first().ok_or(lost(0))?;
        if first as usize >= initial.len() {
            return Err(lost(0));
        }
        let mut code = initial.entry(first as usize).violation;
        let mut state = initial.state(first as usize).to_vec();
        if state.is_empty() {
            // A violation of the initial state: show the state it is about.
            let with_state = (0..initial.len()).find(|i| initial.entry(*i).has_state());
            state = with_state.map_or_else(Vec::new, |i| initial.state(i).to_vec());
        }
        let mut names = ObjectNames::default();
        let mut trace = Trace {
            steps: Vec::new(),
            initial: values(machine, &state, &mut names),
            last: Vec::new(),
            processes: Vec::new(),
            cycle: None,
            met: 0,
            violation: None,
            violation_at: None,
        };
        let mut before = trace.initial.clone();
        let mut anchor: Option<Vec<u64>> = None;
        let mut met = 0;
        for (index, &choice) in rest.iter().enumerate() {
            if cycle > 0 && index + cycle == rest.len() {
                anchor = Some(state.clone());
                trace.cycle = Some(index + 1);
            }
            let in_state = machine.acceptance(&state);
            let records = machine.explain(&state);
            let record = records.into_iter().nth(choice as usize).ok_or(lost(index + 1))?;
            if anchor.is_some() {
                met |= in_state | record.marks;
            }
            if record.steps().iter().all(|s| s.thread == CLAIM_THREAD) && record.state.is_some() {
                trace.steps.push(stutter(index + 1, &before));
            }
            // What the automaton of a formula does is no news; a claim written by hand is shown.
            let shown = |s: &&MicroStep| s.thread != CLAIM_THREAD || claim_is_shown(machine);
            for micro in record.steps().into_iter().filter(shown) {
                let after = values(machine, &micro.state, &mut names);
                let step = step(machine, sources, index + 1, micro, &state, &before, &after);
                trace.steps.push(step);
                before = after;
            }
            code = record.violation;
            match record.state {
                Some(next) => {
                    state = next;
                    before = values(machine, &state, &mut names);
                }
                None if index + 1 == rest.len() => {
                    if let Some(last) = record.steps().last() {
                        state = last.state.clone();
                    }
                }
                None => return Err(lost(index + 1)),
            }
        }
        trace.last = values(machine, &state, &mut names);
        trace.finish(machine, sources, &state, code);
        if cycle > 0 && anchor.is_none_or(|a| a != state) {
            return Err(lost(rest.len()));
        }
        trace.met = met;
        Ok(trace)
    }

    fn finish(
        &mut self,
        machine: &mut Machine,
        sources: &SourceMap,
        state: &[u64],
        code: Option<ViolationCode>,
    ) {
        self.processes = processes(machine, sources, state);
        if let Some(code) = code {
            self.violation = Some(machine.violation(code));
            self.violation_at = Some(sources.file_line(machine.site(code).span));
        } else if machine.program().claim.is_none()
            && machine.explain(state).is_empty()
            && !machine.is_valid_end(state)
        {
            self.violation =
                Some(Violation { kind: "deadlock".into(), message: "deadlock: invalid end state".into() });
        }
    }
}

/// A claim written by hand.
fn claim_is_shown(machine: &Machine) -> bool {
    machine.program().claim.as_ref().is_some_and(|c| c.origin == ClaimOrigin::Never)
}

/// The step of a system that cannot move.
fn stutter(number: usize, state: &[(String, String)]) -> Step {
    Step {
        number,
        process: "-".into(),
        pid: u32::MAX,
        file: String::new(),
        line: 0,
        statement: "no process can move".into(),
        changes: Vec::new(),
        output: String::new(),
        state: state.to_vec(),
    }
}

/// Where all processes of a state stand.
pub(crate) fn processes(machine: &Machine, sources: &SourceMap, state: &[u64]) -> Vec<ProcessState> {
    machine
        .threads(state)
        .iter()
        .map(|t| {
            let function = &machine.program().functions[t.function as usize];
            let location = &function.locations[t.location as usize];
            ProcessState {
                process: process_name(machine, state, t.id),
                at: sources.file_line(location.span),
                waits_for: location.transformations.iter().map(|t| t.text.clone()).collect(),
                valid_end: location.end,
            }
        })
        .collect()
}

/// One statement in the user's terms.
pub(crate) fn step(
    machine: &Machine,
    sources: &SourceMap,
    number: usize,
    micro: &MicroStep,
    from: &[u64],
    before: &[(String, String)],
    after: &[(String, String)],
) -> Step {
    let (file, line, mut statement) = match machine.transformation(micro.transformation) {
        Some((_, _, t)) => {
            (sources.name(t.span.file).to_owned(), sources.position(t.span).line, t.text.clone())
        }
        None => (String::new(), 0, String::new()),
    };
    if statement == "-end-" {
        statement = "ends".into();
    }
    if let Some(partner) = micro.partner {
        statement.push_str(&format!("   (to {})", process_name(machine, from, partner)));
    }
    if micro.thread == CLAIM_THREAD {
        return Step {
            number,
            process: "claim".into(),
            pid: u32::MAX,
            file,
            line,
            statement,
            changes: Vec::new(),
            output: String::new(),
            state: after.to_vec(),
        };
    }
    // A process that ends is found in the state before, one that was just started only in the state after.
    let known = machine.threads(from).iter().any(|t| t.id == micro.thread);
    let named_in = if known { from } else { &micro.state };
    Step {
        number,
        process: process_name(machine, named_in, micro.thread),
        pid: micro.thread,
        file,
        line,
        statement,
        changes: changes(before, after),
        output: micro.output.clone(),
        state: after.to_vec(),
    }
}
