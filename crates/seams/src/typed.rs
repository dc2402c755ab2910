//! A user's own Rust type as a [`System`].

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Exhausted, Scope, Successors, System, Violation, ViolationCode, ViolationKind, Worker};

/// A transition system written in Rust. Wrap it in [`Typed`] to check it.
pub trait Model {
    /// A state. Two states are the same when their serialised forms are.
    type State: Serialize + DeserializeOwned + Debug;

    /// The initial states.
    fn initial(&self) -> Vec<Self::State>;

    /// Every state reachable in one step, in a fixed order.
    fn next(&self, state: &Self::State) -> Vec<Self::State>;

    /// What must hold in every reachable state; `Err` says what is wrong.
    fn check(&self, _state: &Self::State) -> Result<(), String> {
        Ok(())
    }

    /// May the system stop here for ever? The default calls that a deadlock.
    fn is_valid_end(&self, _state: &Self::State) -> bool {
        false
    }
}

/// A [`Model`] as a [`System`]: states are packed with `postcard`.
#[derive(Debug)]
pub struct Typed<M: Model> {
    model: Arc<M>,
    /// Messages of failed checks, by violation code; the same for all workers.
    messages: Arc<Mutex<Vec<String>>>,
    bytes: Vec<u8>,
    words: Vec<u64>,
}

impl<M: Model> Typed<M> {
    /// Wraps a model.
    pub fn new(model: M) -> Typed<M> {
        Typed { model: Arc::new(model), messages: Arc::default(), bytes: Vec::new(), words: Vec::new() }
    }

    /// The packed form of a state: its length in bytes, then its bytes, in whole words.
    fn pack(&mut self, state: &M::State) -> Result<(), Exhausted> {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; 4]);
        let bytes = postcard::to_extend(state, std::mem::take(&mut self.bytes))
            .map_err(|e| Exhausted { what: format!("a state cannot be serialised: {e}").into() })?;
        self.bytes = bytes;
        let length = (self.bytes.len() - 4) as u32;
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        self.words.clear();
        for chunk in self.bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.words.push(u64::from_le_bytes(word));
        }
        Ok(())
    }

    /// The state after packed words (for printing a path).
    pub fn unpack(&self, words: &[u64]) -> M::State {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        postcard::from_bytes(&bytes[4..4 + length])
            // Only words that `pack` wrote come here; a type whose deserialiser does not read what
            // its serialiser wrote is a bug of that type and cannot be checked.
            .expect("a state must deserialise from what it serialised to")
    }

    fn messages(&self) -> MutexGuard<'_, Vec<String>> {
        // A message is pushed whole or not at all.
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn code(&self, message: String) -> ViolationCode {
        let mut messages = self.messages();
        let index = messages.iter().position(|m| *m == message).unwrap_or_else(|| {
            messages.push(message);
            messages.len() - 1
        });
        ViolationCode::from_index(index)
    }

    fn add(&mut self, state: &M::State, out: &mut Successors) -> Result<(), Exhausted> {
        self.pack(state)?;
        let violation = match self.model.check(state) {
            Ok(()) => None,
            Err(message) => Some(self.code(message)),
        };
        out.push_with(&self.words, violation);
        Ok(())
    }
}

impl<M: Model + Send + Sync> Worker for Typed<M> {
    fn another(&self) -> Typed<M> {
        let (model, messages) = (self.model.clone(), self.messages.clone());
        Typed { model, messages, bytes: Vec::new(), words: Vec::new() }
    }
}

impl<M: Model> System for Typed<M> {
    fn initial(&mut self, out: &mut Successors) -> Result<(), Exhausted> {
        self.model.initial().iter().try_for_each(|state| self.add(state, out))
    }

    fn successors(&mut self, state: &[u64], _scope: Scope, out: &mut Successors) -> Result<(), Exhausted> {
        let state = self.unpack(state);
        self.model.next(&state).iter().try_for_each(|next| self.add(next, out))
    }

    fn is_valid_end(&mut self, state: &[u64]) -> bool {
        self.model.is_valid_end(&self.unpack(state))
    }

    fn violation(&self, code: ViolationCode) -> Violation {
        Violation { kind: ViolationKind::Invariant, message: self.messages()[code.index()].clone() }
    }
}
