//! Re-execution of a path.

use quotient_machine::{Machine, claim_kind};
use quotient_seams::Violation;
use quotient_source::SourceMap;

use crate::{NotReplayable, Run, Told, Trace};

/// What a path is re-executed on.
pub struct Replay<'a> {
    /// The machine that the path's choices are about.
    pub machine: &'a mut Machine,
    /// The program as written, without claim, where the machine's program is a reduced one: values are its.
    pub unreduced: Option<&'a mut Machine>,
    /// Where the statements come from.
    pub sources: &'a SourceMap,
    /// How much is written down.
    pub told: Told,
}

impl Replay<'_> {
    /// Repeats a path whose last `cycle` steps lead back to the state before them and meet what the claim accepts; any other
    /// path is not replayable. The first choice is among the initial states.
    pub fn lasso(&mut self, choices: &[u32], cycle: usize) -> Result<Trace, NotReplayable> {
        let mut trace = self.path(choices, cycle)?;
        if cycle > 0 {
            if trace.met != u64::MAX {
                return Err(NotReplayable { step: choices.len() - 1 });
            }
            let claim = self.machine.program().claim.as_ref();
            trace.violation =
                claim.map(|c| Violation { kind: claim_kind(c.origin), message: c.message(true) });
        }
        Ok(trace)
    }

    /// Repeats a path whose last `cycle` steps lead back to the state before them.
    pub fn path(&mut self, choices: &[u32], cycle: usize) -> Result<Trace, NotReplayable> {
        let lost = |step| NotReplayable { step };
        let (&first, rest) = choices.split_first().ok_or(lost(0))?;
        let mut run =
            Run::start(self.machine, self.unreduced.as_deref_mut(), self.sources, first, self.told)?;
        let initial = run.shown().to_vec();
        let mut steps = Vec::new();
        let mut anchor: Option<Vec<u64>> = None;
        let mut begin = None;
        let mut met = 0;
        let mut reached = Vec::new();
        for (index, &choice) in rest.iter().enumerate() {
            if cycle > 0 && index + cycle == rest.len() {
                anchor = Some(run.state().to_vec());
                begin = Some(run.number() + 1);
            }
            let state = run.state().to_vec();
            let in_state = run.machine().acceptance(&state);
            let record = run.possible().into_iter().nth(choice as usize).ok_or(lost(run.number() + 1))?;
            if anchor.is_some() {
                met |= in_state | record.marks;
            }
            steps.extend(run.take(&record)?);
            reached.push(run.number());
            if record.state.is_none() && index + 1 < rest.len() {
                return Err(lost(run.number() + 1));
            }
        }
        if cycle > 0 && anchor.is_none_or(|a| a != run.state()) {
            return Err(lost(run.number()));
        }
        Ok(Trace { cycle: begin, met, reached, ..run.finish(steps, initial) })
    }
}
