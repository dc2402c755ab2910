//! Counterexamples as SPIN's trails, and trails as runs.
//!
//! A trail says which process executes which statement, by SPIN's number of it. Written from a run of the model as written, every statement is
//! listed (SPIN then merges nothing when it repeats it), but a `d_step` is one statement, and claims are left out: SPIN repeats what the processes do.
//!
//! Read, a trail chooses among the steps of the model as written. Whatever it says, the result is a run of the model, and what is said about
//! its end is found there. Where SPIN has merged statements they are missing from the trail. Outside of `atomic` they touch nothing but variables
//! of their own process, so it makes no difference to others when they are executed: here just before the next statement of that process, or at
//! the end. Inside of `atomic` they may touch anything, but nobody else moves before them.

use quotient::Model;
use quotient::trace::{Place, Ways};
use quotient_explain::Row;
use quotient_formats::trail::{Line, Trail};
use quotient_machine::{Machine, MicroStep};
use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Expr, Location, LocationId, Operation, Root, Transformation};

/// So many statements of a process are looked for between two of a trail: far more than anybody writes in a row.
const MOST_MERGED: usize = 10_000;

/// SPIN's numbers of a model's statements.
pub(crate) struct Numbers<'a> {
    model: &'a Model,
}

impl<'a> Numbers<'a> {
    /// Those of a model; why there are none otherwise.
    pub(crate) fn of(model: &'a Model) -> Result<Numbers<'a>, String> {
        if model.numbers.is_empty() {
            return Err(
                "SPIN's trails are for models that SPIN reads: Promela without pointers and functions"
                    .to_owned(),
            );
        }
        Ok(Numbers { model })
    }

    fn location(&self, (function, location, _): Place) -> &Location {
        &self.model.program.functions[function as usize].locations[location as usize]
    }

    fn transformation(&self, place: Place) -> &Transformation {
        &self.location(place).transformations[place.2 as usize]
    }

    /// Is the statement inside of a `d_step`?
    fn inside(&self, place: Place) -> bool {
        self.location(place).deterministic
    }

    /// Is the process inside of a `d_step` after this statement?
    fn stays_inside(&self, place: Place) -> bool {
        let target = self.transformation(place).target;
        self.inside(place) && target.is_some_and(|LocationId(to)| self.inside((place.0, to, 0)))
    }

    /// SPIN's number of a statement. That of a `d_step` for its first.
    fn number(&self, place: Place) -> Option<u32> {
        let numbers = self.model.numbers.get(place.0 as usize)?;
        if !self.inside(place) {
            return numbers.get(place.1 as usize)?.get(place.2 as usize).copied();
        }
        let function = &self.model.program.functions[place.0 as usize];
        let entries =
            function.locations.iter().zip(numbers).flat_map(|(l, n)| l.transformations.iter().zip(n));
        let enters = |t: &Transformation| {
            matches!(t.operation, Operation::Enter) && t.target == Some(LocationId(place.1))
        };
        entries.into_iter().find(|(t, _)| enters(t)).map(|(_, number)| *number)
    }

    /// The lines for the statements of a run, and how many of them come before its statement number `cycle`.
    pub(crate) fn lines(
        &self,
        machine: &Machine,
        rows: &[Row],
        cycle: Option<usize>,
    ) -> Result<(Vec<Line>, Option<usize>), String> {
        let places = places(machine);
        let mut lines = Vec::new();
        let mut begin = None;
        let mut inside = false;
        for (index, row) in rows.iter().enumerate() {
            if cycle == Some(index) {
                begin = Some(lines.len());
            }
            let place = places[row.transformation as usize];
            if !inside {
                let lost = || format!("SPIN's number of statement {} is not known", index + 1);
                let statement = self.number(place).ok_or_else(lost)?;
                lines.push(Line { process: row.thread, statement });
            }
            inside = self.stays_inside(place);
        }
        Ok((lines, begin))
    }

    /// The lines for processes that can end, one after the other, from a state on: a deadlock is one of the others.
    pub(crate) fn ends(&self, machine: &mut Machine, mut state: Vec<u64>) -> Vec<Line> {
        let places = places(machine);
        let mut lines = Vec::new();
        loop {
            let next = machine.explain(&state).into_iter().find_map(|record| {
                let steps = record.steps();
                let [only] = steps.as_slice() else { return None };
                let place = places[only.transformation as usize];
                let line = Line { process: only.thread, statement: self.number(place)? };
                self.transformation(place).is_end().then_some((line, record.state.clone()?))
            });
            let Some((line, next)) = next else { return lines };
            lines.push(line);
            state = next;
        }
    }

    /// The choices, in a machine for the model as written, that a trail stands for.
    pub(crate) fn follow(&self, machine: &mut Machine, trail: &Trail) -> Result<Vec<u32>, String> {
        let mut ways = Ways::start(machine).ok_or("the model has no initial state")?;
        for (index, line) in trail.lines.iter().enumerate() {
            let is_it = |own: &MicroStep, place: Place| {
                own.thread == line.process && self.number(place) == Some(line.statement)
            };
            let mut tries = if trail.merged { MOST_MERGED } else { 0 };
            while !ways.follow(is_it) {
                let on = tries > 0
                    && (self.goes_on(&mut ways)
                        || ways.follow(|own, place| own.thread == line.process && self.is_private(place)));
                if !on {
                    let (step, process, statement) = (index + 1, line.process, line.statement);
                    let more = if ways.number() == 0 {
                        ""
                    } else {
                        "; up to there the model does what the trail says"
                    };
                    return Err(format!(
                        "step {step} of the trail: process {process} cannot execute SPIN's statement {statement} there{more}\nhelp: a trail belongs to the model that it was made for, with the same -D; SPIN 6.5 numbers statements in this way"
                    ));
                }
                tries -= 1;
            }
            let is_last = index + 1 == trail.lines.len();
            // The rest of a `d_step`. Where a trail ends, something may go wrong in the middle of it.
            while ways.last().is_some_and(|(_, place)| self.stays_inside(place)) {
                let ended = is_last && ways.gone_wrong();
                if ended || !ways.follow(|own, place| own.thread == line.process && self.inside(place)) {
                    break;
                }
            }
            if is_last && ways.gone_wrong() {
                return Ok(ways.choices());
            }
        }
        let told = ways.choices();
        if !trail.merged || trail.claim || trail.cycle.is_some() {
            return Ok(told);
        }
        // What was merged with the last statements that are listed.
        for _ in 0..MOST_MERGED {
            if !self.goes_on(&mut ways) && !ways.follow(|_, place| self.is_private(place)) {
                return Ok(ways.choices());
            }
        }
        Ok(told)
    }

    /// Where the last statement is followed by another of the same `atomic`, executes that.
    fn goes_on(&self, ways: &mut Ways) -> bool {
        let Some((last, place)) = ways.last() else { return false };
        let thread = last.thread;
        self.transformation(place).keeps_control && ways.follow(|own, _| own.thread == thread)
    }

    /// Outside of `atomic`, may SPIN have merged a statement with the one before it? Only if it touches nothing but its process's own variables.
    fn is_private(&self, place: Place) -> bool {
        let transformation = self.transformation(place);
        let quiet =
            matches!(transformation.operation, Operation::Always | Operation::When(_) | Operation::Else);
        quiet && !touches_others(transformation)
    }
}

/// Does a statement read or write anything that is not its process's own? To say so of too many does no harm.
fn touches_others(transformation: &Transformation) -> bool {
    struct Touches(bool);
    impl Visitor for Touches {
        fn expr(&mut self, expr: &Expr) {
            // What is not made of values of places asks about others: channels, processes, time.
            let own = matches!(
                expr,
                Expr::Const(_) | Expr::Load(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::SelfId
            );
            self.0 |= !own;
        }
        fn place(&mut self, place: &quotient_program::Place, _: Use) {
            self.0 |= !matches!(place.root, Root::Local(_));
        }
    }
    let mut touches = Touches(false);
    visit::transformation(transformation, &mut touches);
    touches.0
}

/// The places of all transformations, by number.
fn places(machine: &Machine) -> Vec<Place> {
    let mut places = Vec::new();
    for (function, f) in machine.program().functions.iter().enumerate() {
        for (location, l) in f.locations.iter().enumerate() {
            places
                .extend((0..l.transformations.len()).map(|at| (function as u32, location as u32, at as u32)));
        }
    }
    places
}
