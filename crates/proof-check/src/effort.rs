//! How much work a certificate may ask for.
//!
//! A certificate says how many cases there are: alternatives of a rule multiply, and pieces of a set are cut again by
//! every other set. A short file can ask for more than any machine can do, or hold. So the checker counts what it
//! does, in entries of matrices and values looked at, *before* it does it, and refuses a certificate that asks for
//! more than its size justifies. The limit can only turn an acceptance into a refusal.

use std::cell::Cell;

use crate::format::{Certificate, Evidence, Program, Proof};
use crate::trees::Refusal;

/// Operations every certificate may ask for.
const BASE: u64 = 200_000_000;
/// Operations for each rule that is to be unfolded from a set or an obligation.
const PER_UNFOLD: u64 = 2_000_000;

/// Operations left.
#[derive(Debug)]
pub struct Effort {
    left: Cell<u64>,
    limit: u64,
}

/// Conditions that a piece of evidence is about.
fn pieces(evidence: &Evidence) -> usize {
    match evidence {
        Evidence::Forced(list, _) => list.iter().map(|f| 1 + f.others.len()).sum::<usize>() + 1,
        _ => 1,
    }
}

impl Effort {
    /// As much as a certificate of this size may need.
    pub fn for_certificate(certificate: &Certificate) -> Effort {
        Effort::for_proofs(&certificate.program, &certificate.proofs)
    }

    /// As much as these proofs may need.
    pub fn for_proofs(program: &Program, proofs: &[Proof]) -> Effort {
        let unfolded = |proof: &Proof| match proof {
            Proof::Safety { table, found, .. } => table.sets.len() + found.len(),
            Proof::Cells { cells, .. } => cells.evidence.iter().map(pieces).fold(0, usize::saturating_add),
            Proof::Listed { states, .. } => states.len(),
            Proof::Renamed { .. } => 1,
            Proof::Relative { entries, dead, inverse, .. } => {
                entries.len() + dead.sets.len() + inverse.as_ref().map_or(0, Vec::len)
            }
        };
        let sets = proofs.iter().map(unfolded).fold(0, usize::saturating_add);
        let unfolds = sets.saturating_add(1).saturating_mul(program.rules.len());
        Effort::new(BASE.saturating_add(PER_UNFOLD.saturating_mul(unfolds as u64)))
    }

    /// This many operations.
    pub fn new(limit: u64) -> Effort {
        Effort { left: Cell::new(limit), limit }
    }

    /// Operations done so far.
    pub fn spent(&self) -> u64 {
        self.limit - self.left.get()
    }

    /// Takes the operations of the next step, unless there are not as many left.
    pub fn spend(&self, operations: usize) -> Result<(), Refusal> {
        match self.left.get().checked_sub(operations as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(format!("it needs more than {} operations, too many for its size", self.limit))
            }
        }
    }
}
