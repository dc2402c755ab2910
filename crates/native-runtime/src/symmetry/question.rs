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

    /// What becomes of the result of the call that returns to this place of the program: [`question::STORED`] or
    /// [`question::COMPARED`], if it decides nothing.
    pub fn fate(&mut self, place: usize) -> Option<u8> {
        if !self.code.program.contains(&place) {
            return None;
        }
        let base = self.shared.program_base as usize;
        let key = (place.wrapping_sub(base), usize::MAX);
        if !self.answers.contains_key(&key) {
            let answer = self.ask(key.0 as u64, question::FATE);
            self.answers.insert(key, answer);
        }
        self.answers[&key].as_ref().map(|answer| answer.registers[0])
    }

    /// Which values the result of the atomic addition that returns to this place, and `added`, is compared with, as bits; and
    /// what else was added to it when it is returned. `None` if it is used in another way.
    pub fn count_use(&mut self, place: usize, added: i64) -> Option<(u8, Option<i64>)> {
        let byte = i8::try_from(added).ok()? as u8;
        if !self.code.program.contains(&place) {
            return None;
        }
        let base = self.shared.program_base as usize;
        let question = question::COUNT + u64::from(byte);
        let key = (place.wrapping_sub(base), question as usize);
        if !self.answers.contains_key(&key) {
            let answer = self.ask(key.0 as u64, question);
            self.answers.insert(key, answer);
        }
        let [watched, more, ..] = self.answers[&key].as_ref()?.registers;
        let returned = watched & question::RETURNED != 0;
        Some((watched & !question::RETURNED, returned.then_some(i64::from(more as i8))))
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
