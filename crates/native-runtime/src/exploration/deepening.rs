//! Programs that do not end: short executions first.
//!
//! A server, or a loop that produces and consumes for ever, has executions that only the limit of steps cuts. With one of them the answer
//! is "undecided" at best. Depth first, the exploration would vary the last of many thousand steps, and what goes
//! wrong early in another order would not be met. So the limit grows:
//!
//! 1. The execution in which every thread runs as long as it can says whether this is of use: not if it ends
//!    within [`LONG`] steps.
//! 2. If it is, executions are cut after [`FIRST`] steps, then after [`FACTOR`] times more as far as [`LONG`], for a while each
//!    ([`TRIAL`]). A violation ends the exploration, as always.
//! 3. Then that execution is made up to the limit that was asked for. If it ends, the program is merely long, and is explored under that limit.
//!    If not, it is explored under growing limits again, each to its end.
//!
//! Nothing is lost: the answer is that of the last exploration. "Holds" is said only if it has cut nothing off, and then
//! it is as if its limit were the one that was asked for; a violation is one under any limit. How long a trial lasts is counted in steps,
//! so that the same is explored on a busy machine.

use quotient_stateless::{Bound, Configuration, Execution, ExplorationError, Report, Verdict};

use crate::exploration::program::Program;
use crate::exploration::world::world;

/// The first limit, in steps.
const FIRST: usize = 250;
/// How much larger the next one is.
const FACTOR: usize = 4;
/// What ends within so many steps is explored at once.
pub const LONG: usize = 2000;
/// Steps for all executions under one of the first limits.
const TRIAL: usize = 4_000_000;

#[derive(Clone, Copy, Default)]
enum Stage {
    /// All at once, unless the program turns out to be long.
    #[default]
    Whole,
    /// For a while under this limit.
    Trial(usize),
    /// Long, but it ends.
    Long,
    /// Under this limit, to the end.
    Endless(usize),
}

/// The limit of steps of the next exploration.
#[derive(Default)]
pub struct Deepening {
    stage: Stage,
    /// Executions under earlier limits.
    spent: u64,
}

impl Deepening {
    /// Before an exploration: sets its limits. Loops that wait are learnt meanwhile, so it is asked again whether the program is long.
    pub fn limit(&mut self, program: &mut Program, configuration: &mut Configuration) {
        let most = configuration.max_steps;
        let short = match self.stage {
            Stage::Long => false,
            Stage::Whole | Stage::Trial(_) => !runs_on(program, most.min(LONG)),
            Stage::Endless(_) => !runs_on(program, most),
        };
        match self.stage {
            _ if short || most <= FIRST => *self = Deepening::default(),
            Stage::Whole => self.stage = Stage::Trial(FIRST),
            _ => {}
        }
        let left = |executions: u64| executions.saturating_sub(self.spent).max(1);
        configuration.max_executions = configuration.max_executions.map(left);
        match self.stage {
            Stage::Whole | Stage::Long => {}
            Stage::Trial(limit) => {
                let executions = (TRIAL / limit) as u64;
                configuration.max_steps = limit;
                configuration.max_executions =
                    Some(configuration.max_executions.map_or(executions, |asked| asked.min(executions)));
            }
            Stage::Endless(limit) => configuration.max_steps = limit.min(most),
        }
    }

    /// Is the whole program explored at once?
    pub fn is_whole(&self) -> bool {
        matches!(self.stage, Stage::Whole | Stage::Long)
    }

    /// After an exploration: is there another one, under another limit than `asked` for the last one?
    pub fn goes_on(
        &mut self,
        program: &mut Program,
        asked: &Configuration,
        report: &Result<Report, ExplorationError>,
    ) -> bool {
        let Ok(Report { verdict: Verdict::Undecided(bound), statistics }) = report else { return false };
        let spent = self.spent + statistics.made();
        let is_used_up = asked.max_executions.is_some_and(|most| spent >= most);
        let next = match (self.stage, bound) {
            (Stage::Trial(limit), Bound::Steps | Bound::Executions) if !is_used_up => {
                let next = limit * FACTOR;
                if next <= asked.max_steps.min(LONG) {
                    Stage::Trial(next)
                } else if runs_on(program, asked.max_steps) {
                    Stage::Endless(FIRST)
                } else {
                    Stage::Long
                }
            }
            (Stage::Endless(limit), Bound::Steps) if limit < asked.max_steps => {
                Stage::Endless(limit * FACTOR)
            }
            _ => return false,
        };
        (self.stage, self.spent) = (next, spent);
        world().shared.stop == 0
    }
}

/// Is the first execution longer than this? That in which a thread goes on as long as it can.
fn runs_on(program: &mut Program, most: usize) -> bool {
    world().memory = 0;
    program.restart();
    let mut thread = 0;
    for _ in 0..most {
        let enabled = program.enabled();
        if !enabled.contains(thread) {
            let Some(first) = enabled.first() else { return false };
            thread = first;
        }
        program.step(thread, 0);
        if world().shared.stop != 0 {
            return false;
        }
    }
    !program.enabled().is_empty()
}
