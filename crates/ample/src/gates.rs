//! Gates: who cannot touch a variable for now.
//!
//! A *gate* is a condition on one scalar x, such as `x == 0`. A thread is *behind* it, where it stands, if whatever way it goes
//! on it must find the condition true before it touches x in any manner (or never does). While the gate is *closed*, its condition false, those
//! behind it do not touch x unless somebody else changes x first. So if all that may still get in the way of a step of thread t
//! do so by touching x alone, and are behind closed gates of x, then nobody gets in its way before t itself moves: on a path of
//! others' steps consider the first that touches x (that writes it, if t only reads it). Until then x is as it was, and
//! the thread that takes the step was behind a closed gate of x and has taken only steps that do not touch x, so it still is:
//! it cannot take this one. This is how a lock that is taken by `atomic { x == 0 -> x = 1 }` and given back by `x = 0` is
//! no obstacle to giving it back: whoever else may ever touch x has to find it free first.
//!
//! What a thread that is still to be started touches counts as touched by the step that starts it, without conditions. Where several scalars share a bit
//! ([`crate::objects`]) there are no gates.

use quotient_machine::{Machine, ScalarAt};
use quotient_program::BinaryOp;
use quotient_residual::access::Step;

/// A condition on a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    /// The bit of the scalar.
    pub(crate) bit: u8,
    /// Where it lies.
    pub(crate) at: ScalarAt,
    /// It compares like this,
    pub(crate) comparison: BinaryOp,
    /// with this value.
    pub(crate) with: i32,
}

/// The gates of a program. Sets of them are words with a bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    gates: Vec<Gate>,
    /// The bits of all their scalars.
    pub(crate) bits: u128,
}

impl Gates {
    /// Numbers a gate, unless there are too many.
    pub(crate) fn add(&mut self, gate: Gate) {
        if self.gates.len() < u64::BITS as usize && self.find(gate) == 0 {
            self.gates.push(gate);
            self.bits |= 1 << gate.bit;
        }
    }

    /// The set with this gate only, if it has a number.
    pub(crate) fn find(&self, gate: Gate) -> u64 {
        let same = |g: &Gate| (g.bit, g.comparison, g.with) == (gate.bit, gate.comparison, gate.with);
        self.gates.iter().position(same).map_or(0, |number| 1 << number)
    }

    /// The gates whose scalars are among these bits.
    pub(crate) fn about(&self, bits: u128) -> u64 {
        let about = self.gates.iter().enumerate().filter(|(_, gate)| bits >> gate.bit & 1 == 1);
        about.fold(0, |set, (number, _)| set | 1 << number)
    }

    /// Those of these gates that are closed in a state.
    #[inline]
    pub(crate) fn closed(&self, machine: &Machine, state: &[u64], mut among: u64) -> u64 {
        let mut closed = 0;
        while among != 0 {
            let gate = &self.gates[among.trailing_zeros() as usize];
            let open = gate.comparison.apply(machine.global_value(state, gate.at), gate.with);
            if open == Some(0) {
                closed |= among & among.wrapping_neg();
            }
            among &= among - 1;
        }
        closed
    }
}

/// What is known of the ways on from a location, gate by gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    /// Gates whose scalars every step from here touches, whatever the conditions.
    pub(crate) touched: u64,
    /// Per way: gates whose scalars it touches, and gates that must be open for it to be taken.
    pub(crate) each: Vec<(u64, u64)>,
}

/// Which gates a thread is behind at each location, of those that its own steps have to pass.
pub(crate) fn behind(steps: &[Step], ways: &[Ways]) -> Vec<u64> {
    let all = ways.iter().flat_map(|w| &w.each).fold(0, |set, (_, must)| set | must);
    // Gates whose scalars may be touched without passing them.
    let mut open: Vec<u64> = ways.iter().map(|w| w.touched).collect();
    let mut changed = all != 0;
    while changed {
        changed = false;
        for (location, step) in steps.iter().enumerate().rev() {
            let mut sum = open[location];
            for (way, (touched, must)) in step.ways.iter().zip(&ways[location].each) {
                let later = way.target.map_or(0, |target| open[target.0 as usize]);
                sum |= (touched | later) & !must;
            }
            changed |= sum != open[location];
            open[location] = sum;
        }
    }
    open.iter().map(|open| all & !open).collect()
}
