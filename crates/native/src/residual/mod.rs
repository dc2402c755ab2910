//! Residual code: what the rest of a stopped thread can still do, on machine code.
//!
//! Yang, Chen, Gopalakrishnan and Wang ("Automatic discovery of transition symmetry in multithreaded programs using dynamic
//! analysis", 2009), figure 3, compare the residual source code of two threads and their live locals. Here the same
//! is done on the compiled program, so that it does not depend on the source language: residual code is everything
//! reachable from where a function goes on, frame by frame.
//!
//! | module | question |
//! |---|---|
//! | [`image`] | which instructions, functions, imported names are there? |
//! | [`escape`] | can memory of a frame be reached other than by its own function? |
//! | [`liveness`] | which bytes of a frame and which registers can still be read? |
//! | [`scalars`] | which bytes of a frame are single numbers or pointers? |
//! | [`count`] | is the result of an atomic addition compared with a few values only? |
//! | [`own_handle`] | does the result of a call of `pthread_self` decide something? |
//! | [`lockstep`] | do two places go on with the same code, up to a renaming of bytes of their frames? |
//!
//! What is not understood (vector registers across calls, `alloca`, arguments on the stack, indirect jumps) gives no answer, and the
//! threads are not symmetric.

pub mod count;
pub mod escape;
pub mod image;
pub mod liveness;
pub mod lockstep;
pub mod own_handle;
pub mod scalars;

use std::collections::HashMap;
use std::path::Path;

use image::Image;
use liveness::Liveness;

use crate::protocol::{LivePiece, OUTS, question};

/// Two places whose residual code is the same up to renaming.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pairing {
    /// What may be read of the frames.
    pub pieces: Vec<LivePiece>,
    /// Which of these registers may be read, as bits: always; then, if the caller needs the
    /// `k`-th of [`liveness::OUT_REGISTERS`].
    pub registers: [u8; OUTS + 1],
}

/// Answers about one program. Answers are kept.
pub struct Residual {
    image: Image,
    liveness: HashMap<u64, Result<Liveness, String>>,
    pairings: HashMap<(u64, u64), Result<Pairing, String>>,
}

impl Residual {
    /// Of the program in this file.
    pub fn new(path: &Path) -> Option<Residual> {
        Some(Residual { image: Image::read(path)?, liveness: HashMap::new(), pairings: HashMap::new() })
    }

    /// Does a function that goes on at `a` do the same as one that goes on at `b`? Addresses are those of the file. If not,
    /// the reason. If `b` is [`question::FATE`]: what becomes of the result of the call that returns to `a`, as the first of `registers`. From
    /// [`question::COUNT`] on: what becomes of it if it is the result of an atomic addition and how much beyond; the values it is compared with, and by how much it differs
    /// when it is returned.
    ///
    /// # Errors
    /// Why they differ, or what was not understood; how the result is used.
    pub fn pairing(&mut self, a: u64, b: u64) -> Result<Pairing, String> {
        if let Some(known) = self.pairings.get(&(a, b)) {
            return known.clone();
        }
        let answer = match b.checked_sub(question::COUNT) {
            Some(_) if b == question::FATE => self.fate(a),
            Some(added) => self.count(a, i64::from(added as u8 as i8)),
            None => self.find(a, b),
        };
        self.pairings.insert((a, b), answer.clone());
        answer
    }

    fn fate(&self, place: u64) -> Result<Pairing, String> {
        let fate = match own_handle::fate(&self.image, place)? {
            own_handle::Fate::Stored => question::STORED,
            own_handle::Fate::Compared => question::COMPARED,
        };
        let mut registers = [0; OUTS + 1];
        registers[0] = fate;
        Ok(Pairing { pieces: Vec::new(), registers })
    }

    fn count(&self, place: u64, added: i64) -> Result<Pairing, String> {
        let found = count::uses(&self.image, place, added)?;
        let mut registers = [0; OUTS + 1];
        registers[0] = found.watched;
        if let Some(added) = found.returned {
            let byte = i8::try_from(added).map_err(|_| "returned after more was added")?;
            (registers[0], registers[1]) = (found.watched | question::RETURNED, byte as u8);
        }
        Ok(Pairing { pieces: Vec::new(), registers })
    }

    fn live(&mut self, place: u64) -> Result<liveness::Live, String> {
        let function = self.image.function(place).ok_or("code outside of known functions")?;
        let image = &self.image;
        let known = self.liveness.entry(function.start).or_insert_with(|| Liveness::new(image, function));
        known.as_ref().map_err(Clone::clone)?.at(place)
    }

    fn find(&mut self, a: u64, b: u64) -> Result<Pairing, String> {
        let live = self.live(a)?;
        let slots = if a == b { lockstep::Slots::identity() } else { lockstep::compare(&self.image, a, b)? };
        let mut pairing = Pairing { pieces: Vec::new(), registers: live.registers };
        for &(offset, needs) in &live.bytes {
            let second =
                slots.second(offset).ok_or_else(|| format!("bytes at {offset} have no counterpart"))?;
            match pairing.pieces.last_mut() {
                Some(last)
                    if last.needs == needs
                        && last.first + last.length as i32 == offset
                        && last.second + last.length as i32 == second =>
                {
                    last.length += 1;
                }
                _ => pairing.pieces.push(LivePiece { first: offset, second, length: 1, needs }),
            }
        }
        Ok(pairing)
    }
}
