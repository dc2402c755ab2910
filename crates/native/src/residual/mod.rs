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
//! | [`lockstep`] | do two places go on with the same code, up to a renaming of bytes of their frames? |
//!
//! What is not understood (vector registers across calls, `alloca`, arguments on the stack, indirect jumps) gives no answer, and the
//! threads are not symmetric.

pub mod escape;
pub mod image;
pub mod liveness;
pub mod lockstep;
pub mod scalars;

use std::collections::HashMap;
use std::path::Path;

use image::Image;
use liveness::Liveness;

use crate::protocol::{LivePiece, OUTS};

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
    /// the reason.
    ///
    /// # Errors
    /// Why they differ, or what was not understood.
    pub fn pairing(&mut self, a: u64, b: u64) -> Result<Pairing, String> {
        if let Some(known) = self.pairings.get(&(a, b)) {
            return known.clone();
        }
        let answer = self.find(a, b);
        self.pairings.insert((a, b), answer.clone());
        answer
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
