//! Questions to the checker about residual code, and its answers, which are kept.
//!
//! The checker has the program's file and a decoder of instructions; this side has the states. A question is rare: one for
//! every pair of places at which threads that might be symmetric have stopped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::exploration::world::World;
use crate::protocol::{LivePiece, OUTS, question};
use crate::system::system_call::{number, system_call};

/// Residual code that is the same up to renaming: what is live, in both frames.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// Pieces of the frames.
    pub pieces: Vec<LivePiece>,
    /// Registers, by reason.
    pub registers: [u8; OUTS + 1],
}

impl Pairing {
    /// Registers that are live if the caller needs these ([`OUTS`] as bits).
    pub fn live_registers(&self, needed: u8) -> u8 {
        let reasons = (0..OUTS).filter(|r| needed >> r & 1 != 0);
        reasons.fold(self.registers[0], |live, r| live | self.registers[r + 1])
    }
}

/// Answers so far, by places of the file.
pub type Answers = HashMap<(usize, usize), Option<Pairing>>;

fn futex(word: &AtomicU32, operation: usize, value: u32) {
    let address = std::ptr::from_ref(word) as usize;
    // SAFETY: the word is valid; it is shared with another process, so the call is not a private one.
    unsafe { system_call(number::FUTEX, [address, operation, value as usize, 0, 0, 0]) };
}

impl World {
    /// How the code at two places of the program corresponds, if it does.
    pub fn pairing(&mut self, a: usize, b: usize) -> Option<&Pairing> {
        let base = self.shared.program_base as usize;
        let key = (a.wrapping_sub(base), b.wrapping_sub(base));
        if !self.answers.contains_key(&key) {
            let answer = self.ask(key.0 as u64, key.1 as u64);
            self.answers.insert(key, answer);
        }
        self.answers.get(&key).and_then(Option::as_ref)
    }

    fn ask(&mut self, a: u64, b: u64) -> Option<Pairing> {
        if self.is_copy {
            // The checker does not hear it. The original will ask for itself.
            self.grown = true;
            return None;
        }
        let shared = &mut *self.shared;
        shared.question_places = [a, b];
        // SAFETY: a word of the shared block, which both sides change by atomic operations only.
        let state = unsafe { AtomicU32::from_ptr(&raw mut shared.question) };
        state.store(question::ASKED, Ordering::Release);
        futex(state, 1, i32::MAX as u32);
        while state.load(Ordering::Acquire) == question::ASKED {
            futex(state, 0, question::ASKED);
        }
        // The checker sees that the exploration has not stopped meanwhile.
        shared.steps += 1;
        (state.load(Ordering::Acquire) == question::SAME).then(|| Pairing {
            pieces: shared.pieces[..shared.pieces_length as usize].to_vec(),
            registers: shared.live_registers,
        })
    }
}
