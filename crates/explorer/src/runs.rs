//! Runs that are kept, and how questions name them.
//!
//! A question names its run by the steps from the start, or shortly: `~7` is the run that was told as number 7, `~7:500.1.0+2` its first 500 steps
//! and then these. What is kept may be dropped at any time; a question about a run that was is refused as [`Refused::Forgotten`], and
//! the page asks again with all steps. `~0` is the run that the page was opened with.

use std::sync::Arc;
use std::time::Duration;

use quotient_explain::position::MOST_MOVES;
use quotient_explain::{Course, Ending, Move, Position};
use quotient_machine::Machine;
use quotient_seams::Interrupt;

use crate::server::Refused;

/// Runs that are kept, and how many statements they have in all.
const KEPT: usize = 6;
const MOST_ROWS: usize = 1_500_000;

/// The time that a run is followed before its beginning is shown.
const AT_ONCE: Duration = Duration::from_millis(600);

/// The runs that are kept, the one that was asked for last at the end.
#[derive(Default)]
pub(crate) struct Runs {
    kept: Vec<(u64, Arc<Course>)>,
}

/// The steps that a question names.
enum Named {
    /// All of them.
    Steps(Vec<Move>),
    /// A run that is kept, by its number.
    Known(u64),
}

fn common(a: &[Move], b: &[Move]) -> usize {
    // Mostly they are the same for long: compared in blocks first.
    let blocks = a.chunks(1024).zip(b.chunks(1024)).take_while(|(a, b)| a == b).count();
    let from = (blocks * 1024).min(a.len()).min(b.len());
    from + a[from..].iter().zip(&b[from..]).take_while(|(a, b)| a == b).count()
}

impl Runs {
    fn known(&self, id: u64) -> Option<&Arc<Course>> {
        self.kept.iter().find(|(known, _)| *known == id).map(|(_, course)| course)
    }

    fn named(&self, text: &str, opening: &Position) -> Result<Named, Refused> {
        let position = |text: &str| -> Result<Vec<Move>, Refused> {
            let position: Position =
                text.parse().map_err(|e: quotient_explain::PositionError| e.to_string())?;
            Ok(position.moves)
        };
        let Some(short) = text.strip_prefix('~') else { return Ok(Named::Steps(position(text)?)) };
        let wrong = || Refused::from(format!("`{}` names no run", text.chars().take(40).collect::<String>()));
        let (id, rest) = short.split_once(':').map_or((short, None), |(id, rest)| (id, Some(rest)));
        let id: u64 = id.parse().map_err(|_| wrong())?;
        let base = match (self.known(id), id) {
            (Some(known), _) => known,
            (None, 0) if rest.is_none() => return Ok(Named::Steps(opening.moves.clone())),
            (None, _) => return Err(Refused::Forgotten),
        };
        let Some(rest) = rest else { return Ok(Named::Known(id)) };
        let (steps, rest) = rest.split_once('.').unwrap_or((rest, ""));
        let steps: usize = steps.parse().map_err(|_| wrong())?;
        let mut moves = base.moves.get(..steps).ok_or_else(wrong)?.to_vec();
        moves.extend(position(&format!("q1:{rest}"))?);
        if moves.len() > MOST_MOVES {
            return Err("the run is longer than a million steps".into());
        }
        Ok(Named::Steps(moves))
    }

    /// A run that is kept.
    fn again(&mut self, machine: &mut Machine, at: usize) -> (u64, Arc<Course>) {
        let (id, mut found) = self.kept.remove(at);
        if matches!(found.ending, Ending::Interrupted(_)) {
            // Of a longer run it was the beginning; of this one it is all.
            found = Arc::new(found.branch(machine, found.len()));
        }
        self.kept.push((id, found.clone()));
        (id, found)
    }

    /// The run that a question names, with its number: one that is kept, or followed now. `number` gives a new one.
    pub(crate) fn asked(
        &mut self,
        machine: &mut Machine,
        text: &str,
        opening: &Position,
        number: impl FnOnce() -> u64,
    ) -> Result<(u64, Arc<Course>), Refused> {
        let moves = match self.named(text, opening)? {
            Named::Steps(moves) => moves,
            Named::Known(id) => {
                let at = self.kept.iter().position(|(known, _)| *known == id).ok_or(Refused::Forgotten)?;
                return Ok(self.again(machine, at));
            }
        };
        if let Some(at) = self.kept.iter().position(|(_, c)| c.moves == moves) {
            return Ok(self.again(machine, at));
        }
        let nearest = self.kept.iter().map(|(_, c)| (common(&c.moves, &moves), c)).max_by_key(|(n, _)| *n);
        let mut course = match nearest {
            Some((same, known)) if same > 0 => known.branch(machine, same),
            _ => Course::start(machine).ok_or_else(|| Refused::from("the model has no initial state"))?,
        };
        // A long run is followed in parts: the page shows the first and asks again.
        let part = Interrupt::within(None, Some(AT_ONCE));
        let known = course.len();
        course.go_on(machine, &moves[known..], &part);
        let (id, course) = (number(), Arc::new(course));
        self.kept.push((id, course.clone()));
        let rows = |kept: &[(u64, Arc<Course>)]| kept.iter().map(|(_, c)| c.rows.len()).sum::<usize>();
        while self.kept.len() > 1 && (self.kept.len() > KEPT || rows(&self.kept) > MOST_ROWS) {
            self.kept.remove(0);
        }
        Ok((id, course))
    }
}
