//! The unreduced program, run beside a path of a reduced one.
//!
//! A reduced program forgets the values of variables that nobody will read, and takes several steps at once. Its runs are runs of
//! the program as written all the same: every statement that it executes is one that the program as written can execute there.
//! So a path of the reduced program is followed here, statement by statement, in the program as written, whose states have
//! every variable's value.
//!
//! Statements are told by their place: function, location and position among its transformations. Reductions take ways out of
//! a location, all at once, but move none ([`quotient_residual`](../quotient_residual/index.html)). There may be several ways to execute them
//! ([`crate::ways`]). Where the reduced program leaves out the ends of processes (they are at their last location and stay), the program as written
//! may have to end them first: `timeout` waits for that. If no way is left, one of the two programs is wrong, and the path counts as not replayable.

use quotient_machine::{Machine, MicroStep};
use quotient_program::Operation;
use quotient_source::Span;

use crate::ways::{Place, Ways, places};

/// A run of the program as written that does what a path of the reduced program does.
pub(crate) struct Unreduced<'a> {
    ways: Ways<'a>,
    /// Places of the transformations of the reduced program.
    reduced: Vec<Place>,
}

impl<'a> Unreduced<'a> {
    /// Starts beside a path of `reduced`; none if the program as written has no initial state.
    pub(crate) fn start(machine: &'a mut Machine, reduced: &Machine) -> Option<Unreduced<'a>> {
        Some(Unreduced { ways: Ways::start(machine)?, reduced: places(reduced) })
    }

    /// The machine of the program as written.
    pub(crate) fn machine(&self) -> &Machine {
        self.ways.machine
    }

    /// Follows a statement of the reduced program; `false`, and nothing changes, if the program as written has none like it here. A process
    /// may have to end before it has ([`Unreduced::end_a_process`]).
    #[must_use]
    pub(crate) fn follow(&mut self, statement: &MicroStep) -> bool {
        let place = self.reduced.get(statement.transformation as usize).copied();
        self.ways.follow(|own, written| {
            (own.thread, own.partner, &own.picks) == (statement.thread, statement.partner, &statement.picks)
                && Some(written) == place
        })
    }

    /// Goes wrong at a place of the model before any statement is executed; nothing changes if the program as written does not.
    pub(crate) fn fault(&mut self, at: Span) {
        self.ways.fault(|machine, code| machine.site(code).span == at);
    }

    /// Leaves only the ways in which the statement that was followed last goes wrong, if there are any.
    pub(crate) fn goes_wrong(&mut self) {
        self.ways.gone_wrong();
    }

    /// Lets a process end that has come to its end, if one can, and gives that statement of the program as written; it makes no
    /// difference which way it is done in.
    pub(crate) fn end_a_process(&mut self) -> Option<MicroStep> {
        let ends: Vec<bool> = (0..self.ways.statements())
            .map(|number| {
                let found = self.ways.machine.transformation(number);
                found.is_some_and(|(_, _, t)| matches!(t.operation, Operation::Exit))
            })
            .collect();
        self.ways.begin(|own| ends.get(own.transformation as usize) == Some(&true))
    }

    /// The statement of the program as written that was followed last.
    pub(crate) fn last(&self) -> Option<&MicroStep> {
        self.ways.last().map(|(last, _)| last)
    }

    /// How many steps of the program as written have been made or begun.
    pub(crate) fn number(&self) -> usize {
        self.ways.number()
    }

    /// The state that has been come to.
    pub(crate) fn state(&self) -> &[u64] {
        self.ways.state()
    }

    /// The choices, among the steps of the program as written, that have led here. A step that has been followed only in part
    /// counts as a whole.
    pub(crate) fn choices(&self) -> Vec<u32> {
        self.ways.choices()
    }
}
