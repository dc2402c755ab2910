//! Runs as steps of the program as written.

use quotient_machine::Machine;
use quotient_trace::{NotReplayable, Run, Told};

use crate::Model;
use crate::check::{CheckError, Compile};
use crate::question::Question;

/// A path of the program as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPath {
    /// Choices among the successors of a machine made by [`Model::as_written`]; the first is among the initial states.
    pub choices: Vec<u32>,
    /// How many of the choices, at the end, are repeated for ever.
    pub cycle: usize,
}

impl Model {
    /// The program as written, as traces show it.
    pub fn as_written(&self) -> Result<Machine, CheckError> {
        let (machine, _) = self.machine(Compile::REDUCED)?;
        self.unreduced(&machine)
    }

    /// The program as written, in which processes stay at their ends as long as nobody notices; none where that changes nothing. Its steps are
    /// those of the program as written, without the ends ([`quotient_residual::ended`]).
    pub fn without_ends(&self) -> Option<Machine> {
        let mut program = self.program.clone();
        let left_out = quotient_residual::ended::keep_ended(&mut program);
        (left_out > 0).then(|| Machine::wide(program, &self.sources).ok())?
    }

    /// A path that answers a question, whose last `cycle` steps are a cycle, in the program as written. `how`: the program in which it was found.
    pub fn written_path(
        &self,
        question: Question,
        choices: &[u32],
        cycle: usize,
        how: Compile,
    ) -> Result<WrittenPath, CheckError> {
        let lost = |step| CheckError::NotReplayable(NotReplayable { step });
        let (mut machine, _) = self.question_machine(question, Compile { wide: true, ..how })?;
        let mut unreduced = self.unreduced(&machine)?;
        let (&first, rest) = choices.split_first().ok_or(lost(0))?;
        let mut run = Run::start(&mut machine, Some(&mut unreduced), &self.sources, first, Told::Changes)
            .map_err(CheckError::NotReplayable)?;
        let length = |run: &Run<'_>| run.unreduced_choices().map_or(0, |c| c.len());
        let mut before_cycle = 0;
        for (index, &choice) in rest.iter().enumerate() {
            if cycle > 0 && index + cycle == rest.len() {
                before_cycle = length(&run);
            }
            let record = run.possible().into_iter().nth(choice as usize).ok_or(lost(index + 1))?;
            run.take(&record).map_err(CheckError::NotReplayable)?;
        }
        let choices = run.unreduced_choices().unwrap_or_default();
        let cycle = if cycle > 0 { choices.len() - before_cycle } else { 0 };
        Ok(WrittenPath { choices, cycle })
    }
}
