//! Steps explained: what happened inside one step, for traces and simulation.

use std::rc::Rc;

use quotient_seams::{Scope, Successors, ViolationCode};

use crate::code::{PrintPart, SiteAt};
use crate::machine::Machine;
use crate::state::shapes::WORKING;
use crate::step::eval::Frame;

/// One transformation taken inside a step.
#[derive(Clone, Debug)]
pub struct MicroStep {
    /// The thread that took it.
    pub thread: u32,
    /// Its number among all transformations of the program.
    pub transformation: u32,
    /// The thread that receives what it sends, in a rendezvous.
    pub partner: Option<u32>,
    /// What it picked, where it picks values: the number of each among those that it could have picked.
    pub picks: Vec<u32>,
    /// The state after it.
    pub state: Vec<u64>,
    /// What it printed.
    pub output: String,
}

/// One successor, explained.
#[derive(Clone, Debug)]
pub struct StepRecord {
    all: Rc<Vec<Noted>>,
    way: Way,
    /// The state it leads to; `None` when a violation ends the path.
    pub state: Option<Vec<u64>>,
    /// What went wrong.
    pub violation: Option<ViolationCode>,
    /// The acceptance sets that the claim's move is in.
    pub marks: u64,
}

impl StepRecord {
    /// The transformations taken, in order.
    pub fn steps(&self) -> Vec<&MicroStep> {
        let mut steps = Vec::new();
        let mut next = self.way.last;
        while let Some(number) = next {
            let noted = &self.all[number as usize];
            steps.push(&noted.micro);
            next = noted.before;
        }
        steps.extend(&self.way.in_front);
        steps.reverse();
        steps
    }
}

/// A transformation noted. Ways on from it share it.
#[derive(Debug)]
struct Noted {
    micro: MicroStep,
    /// The one before.
    before: Option<u32>,
}

/// The transformations taken to a successor: the last one noted, and what is to be put in front of the first, the nearest first.
#[derive(Clone, Debug)]
struct Way {
    last: Option<u32>,
    in_front: Vec<MicroStep>,
}

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    all: Vec<Noted>,
    /// The last transformation noted.
    pub(crate) last: Option<u32>,
    output: String,
    /// States are not kept.
    moves_only: bool,
    closed: Vec<(Way, Option<Vec<u64>>)>,
}

impl Recorder {
    /// A successor or violation was added.
    pub(crate) fn close(&mut self, state: Option<&[u64]>) {
        let way = Way { last: self.last, in_front: Vec::new() };
        let state = state.filter(|_| !self.moves_only);
        self.closed.push((way, state.map(<[u64]>::to_vec)));
    }

    /// Puts a transformation in front of those of the successors `first..end`.
    pub(crate) fn prefix(&mut self, first: usize, end: usize, micro: &MicroStep) {
        for (way, _) in self.closed.iter_mut().take(end).skip(first) {
            way.in_front.push(micro.clone());
        }
    }
}

impl Machine {
    /// Notes a transformation just taken on the draft.
    #[inline(always)]
    pub(crate) fn record(&mut self, thread: u32, transformation: u32, partner: Option<u32>) {
        if self.recorder.as_ref().is_some_and(|recorder| recorder.moves_only) {
            self.record_state(thread, transformation, partner, &[]);
        } else if self.recorder.is_some() && self.shape_number(self.draft.as_ptr().cast()) == WORKING {
            let state = self.normal_copy();
            self.record_state(thread, transformation, partner, &state);
        } else if self.recorder.is_some() {
            let state = std::mem::take(&mut self.draft);
            self.record_state(thread, transformation, partner, &state);
            self.draft = state;
        }
    }

    /// Notes a transformation that led to this state.
    #[cold]
    pub(crate) fn record_state(
        &mut self,
        thread: u32,
        transformation: u32,
        partner: Option<u32>,
        state: &[u64],
    ) {
        let picks = match self.code.transformations.get(transformation as usize) {
            Some(t) if t.picks => {
                self.heap.picks[..self.heap.picked].iter().map(|(which, _)| *which).collect()
            }
            _ => Vec::new(),
        };
        if let Some(recorder) = &mut self.recorder {
            let output = std::mem::take(&mut recorder.output);
            let state = if recorder.moves_only { &[] } else { state };
            let micro = MicroStep { thread, transformation, partner, picks, state: state.to_vec(), output };
            recorder.all.push(Noted { micro, before: recorder.last });
            recorder.last = Some(recorder.all.len() as u32 - 1);
        }
    }

    /// Forgets the last noted transformation: its successors are complete.
    #[inline(always)]
    pub(crate) fn unrecord(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.last = recorder.last.and_then(|last| recorder.all[last as usize].before);
        }
    }

    /// Forgets the last noted transformations.
    pub(crate) fn unrecord_all(&mut self, count: u32) {
        for _ in 0..count {
            self.unrecord();
        }
    }

    /// The successors of a state, in the order [`quotient_seams::System::successors`] gives them, each with what
    /// happened in it.
    pub fn explain(&mut self, state: &[u64]) -> Vec<StepRecord> {
        self.explained(state, Recorder::default())
    }

    /// As [`Machine::explain`], for whoever asks only which threads move: no state is kept.
    pub fn explain_moves(&mut self, state: &[u64]) -> Vec<StepRecord> {
        self.explained(state, Recorder { moves_only: true, ..Recorder::default() })
    }

    fn explained(&mut self, state: &[u64], recorder: Recorder) -> Vec<StepRecord> {
        self.meet_state(state);
        self.recorder = Some(recorder);
        let taken = self.taken.clone();
        let mut out = Successors::new();
        self.expand(state, Scope::All, &mut out);
        self.exhausted = None;
        // In place: machine code has the address of the list.
        self.taken.copy_from_slice(&taken);
        let recorder = self.recorder.take().unwrap_or_default();
        let all = Rc::new(recorder.all);
        recorder
            .closed
            .into_iter()
            .enumerate()
            .map(|(index, (way, state))| StepRecord {
                all: Rc::clone(&all),
                way,
                state,
                violation: out.entry(index).violation,
                marks: out.marks(index),
            })
            .collect()
    }

    /// Runs a `printf` into the recorder.
    pub(crate) fn print(&mut self, index: u32, frame: Frame) -> Result<(), SiteAt> {
        let parts = self.code.prints[index as usize].parts.clone();
        let mut text = String::new();
        for part in &parts {
            match part {
                PrintPart::Text(literal) => text.push_str(literal),
                PrintPart::Decimal(code) => text.push_str(&self.run(*code, frame)?.to_string()),
                PrintPart::Unsigned(code) => text.push_str(&(self.run(*code, frame)? as u32).to_string()),
                PrintPart::Hex(code) => text.push_str(&format!("{:x}", self.run(*code, frame)?)),
                PrintPart::Octal(code) => text.push_str(&format!("{:o}", self.run(*code, frame)?)),
                PrintPart::Character(code) => text.push((self.run(*code, frame)? as u8) as char),
                PrintPart::Name(code, set) => {
                    let value = self.run(*code, frame)?;
                    text.push_str(&self.constant_name(value, *set));
                }
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.output.push_str(&text);
        }
        Ok(())
    }

    fn constant_name(&self, value: i32, set: Option<u32>) -> String {
        let sets = &self.program.enumerations;
        let name = match set {
            Some(set) => sets[set as usize].name_of(value),
            None => sets.iter().find_map(|s| s.name_of(value)),
        };
        name.map_or_else(|| value.to_string(), str::to_owned)
    }
}
