//! Processes of a dynamic program end in any order.
//!
//! In Promela a process that has come to its end ceases to exist only when it is the youngest. Until then it does nothing,
//! holds nothing that others can reach, and blocks nobody but older processes at their own ends. What can be noticed of it
//! is its number: by `_pid`, by the result of `run`, by `_nr_pr`, by `_last`, by priorities, by references to labels or
//! variables of a process from outside. In a program that uses none of these, a process may as well cease to exist at once:
//! the states without the ended processes behave like those with them, so that assertions, faults and deadlocks (an ended
//! process is at a valid end) are the same. Then nothing depends on the order of the processes any more, and they can be
//! renamed.
//!
//! Only dynamic programs are changed: in others the shape of a state has threads in the order of their ages.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Action, Expr, Operation, Place, Program, Root, Type};

struct Numbers(bool);

impl Visitor for Numbers {
    fn expr(&mut self, expr: &Expr) {
        self.0 |= matches!(
            expr,
            Expr::SelfId | Expr::ThreadCount | Expr::Last | Expr::At { .. } | Expr::Priority(_)
        );
    }

    fn place(&mut self, place: &Place, _: Use) {
        self.0 |= matches!(place.root, Root::Remote { .. });
    }
}

/// Does anything depend on the numbers of threads, or on how many there are?
fn uses_numbers(program: &Program) -> bool {
    let features = program.features;
    let mut numbers = Numbers(features.last || features.priorities || program.observer.is_some());
    for function in &program.functions {
        function.provided.iter().for_each(|e| visit::expr(e, &mut numbers));
        for t in function.locations.iter().flat_map(|l| &l.transformations) {
            visit::transformation(t, &mut numbers);
            numbers.0 |= t
                .actions
                .iter()
                .any(|a| matches!(a, Action::Start { result: Some(place), .. } if place.ty != Type::Thread));
        }
    }
    numbers.0
}

/// Lets processes end in any order where nobody notices; gives the number of ends.
pub fn end_in_any_order(program: &mut Program) -> usize {
    if !program.features.dynamic || uses_numbers(program) {
        return 0;
    }
    let mut ends = 0;
    let locations = program.functions.iter_mut().flat_map(|f| &mut f.locations);
    for t in locations.flat_map(|l| &mut l.transformations) {
        if matches!(t.operation, Operation::Exit) {
            t.operation = Operation::Always;
            t.actions.push(Action::EndThread);
            t.target = None;
            ends += 1;
        }
    }
    ends
}
