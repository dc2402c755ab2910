//! One location of one thread: its transformations in order, each a condition, a copy of the state, and changes to it.
//!
//! Registers: `rdi` the state, `rsi` the successor being written, `r8` its entry, `r9` the index of its first word, `r10` the
//! thread's first entry, `r11` where the channel lies, `rbx` the list of channels, `r12` the thread after the last one to
//! be done; `rax`, `rcx`, `rdx` hold values. At its end the code of one thread goes on with that of the next one, at the
//! location where it stands. It returns the next entry, in `rax`, and the thread that is to be done next, in `rdx`.

use quotient_program::{Action, Location, Operation, Program, Transformation};

use super::ThreadCode;
use super::assembler::{Alu, Assembler, Cond, Label, Mem, Reg};
use crate::machine::Machine;
use crate::state::cell::size_of_type;
use crate::state::layout::Layout;
use crate::state::shapes::Shape;

/// Which state an expression looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// The one being expanded.
    State,
    /// The successor being made.
    Draft,
}

impl On {
    pub(super) fn register(self) -> Reg {
        match self {
            On::State => Reg::Rdi,
            On::Draft => Reg::Rsi,
        }
    }
}

/// Which sequences of transformations without a stop in between are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    None,
    /// Those through plain locations.
    Plain,
    Any,
}

/// Transformations of such a sequence, and bytes of code with several, at most.
const LONGEST_CHAIN: usize = 16;
const MOST_CODE: usize = 4096;

/// Translates one location.
pub(super) struct Translator<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) shape: &'a Shape,
    pub(super) function: u32,
    pub(super) thread: u32,
    /// First byte of the thread's segment.
    pub(super) base: u32,
    pub(super) asm: Assembler,
    pub(super) give_up: Label,
    words: i32,
    /// A state of this shape, as an example.
    pub(super) example: &'a [u64],
    /// First of the marks of transformations that were taken.
    taken: *const u64,
    /// Number of the first transformation of each location.
    first: &'a [crate::code::Location],
}

/// Code that returns: the next entry, and the thread to be done next.
fn leave(asm: &mut Assembler, entry: Reg, thread: u32) {
    asm.copy_wide(Reg::Rax, entry);
    asm.constant(Reg::Rdx, thread as i32);
    asm.pop(Reg::R12);
    asm.pop(Reg::Rbx);
    asm.ret();
}

/// Code that stands for all locations of a thread that are not translated: it stops there.
pub(super) fn stop(thread: u32) -> Vec<u8> {
    let mut asm = Assembler::default();
    leave(&mut asm, Reg::R8, thread);
    asm.finish()
}

/// The way into translated code of a shape whose channels are listed at this address: see [`super::Enter`].
pub(super) fn enter(channels: u64) -> Vec<u8> {
    let mut asm = Assembler::default();
    asm.push(Reg::Rbx);
    asm.push(Reg::R12);
    asm.copy_wide(Reg::Rax, Reg::R8);
    asm.copy_wide(Reg::R12, Reg::R9);
    asm.copy_wide(Reg::R8, Reg::Rdx);
    asm.copy_wide(Reg::R9, Reg::Rcx);
    asm.address(Reg::Rbx, channels);
    asm.jump_to(Reg::Rax);
    asm.finish()
}

/// Eight bytes from this base on.
fn at(base: Reg, at: i32) -> Mem {
    Mem { base, index: None, at }
}

impl<'a> Translator<'a> {
    pub(super) fn new(machine: &'a Machine, example: &'a [u64], shape: u32, thread: u32) -> Translator<'a> {
        let shape = &machine.shapes.list[shape as usize];
        let instance = shape.threads[thread as usize];
        let mut asm = Assembler::default();
        let give_up = asm.label();
        Translator {
            program: &machine.program,
            layout: &machine.layout,
            shape,
            function: instance.kind,
            thread,
            base: instance.at,
            asm,
            give_up,
            words: example.len() as i32,
            example,
            taken: machine.taken.as_ptr(),
            first: &machine.code.functions[instance.kind as usize].locations,
        }
    }

    /// The code of a location; `None` when something in it is for the interpreter. `next` is the thread after this one, if
    /// there is one, and the list of its locations' code.
    pub(super) fn location(mut self, number: u32, next: Option<(ThreadCode, u64)>) -> Option<Vec<u8>> {
        let location: &Location = &self.program.functions[self.function as usize].locations[number as usize];
        let ranks = location.transformations.windows(2).all(|w| w[0].rank == w[1].rank);
        if !ranks || location.deterministic {
            return None;
        }
        let here = &self.first[number as usize];
        let (first, follows) = (here.first, here.plain && !self.program.features.timeout);
        let last = location.transformations.len().saturating_sub(1);
        self.asm.copy_wide(Reg::R10, Reg::R8);
        for (index, t) in location.transformations.iter().enumerate() {
            if matches!(t.operation, Operation::Exit) {
                if self.shape.threads.len() as u32 == self.thread + 1 {
                    return None;
                }
                // Only the youngest thread can end.
                continue;
            }
            let chain = match (index == last, follows) {
                (true, _) => Chain::Any,
                (false, true) => Chain::Plain,
                (false, false) => Chain::None,
            };
            self.transformation(t, first + index as u32, chain)?;
        }
        if let Some((next, list)) = next {
            let done = self.asm.label();
            self.asm.alu_constant(Alu::Cmp, Reg::R12, self.thread as i32 + 1);
            self.asm.jump_if(Cond::Equal, done);
            let size = next.size;
            self.asm.load(Reg::Rax, at(Reg::Rdi, next.at as i32), size, false);
            self.asm.address(Reg::Rcx, list);
            self.asm.jump_through(Mem { base: Reg::Rcx, index: Some((Reg::Rax, 8)), at: 0 });
            self.asm.bind(done);
        }
        leave(&mut self.asm, Reg::R8, self.thread + 1);
        self.asm.bind(self.give_up);
        // What this thread has added does not count.
        leave(&mut self.asm, Reg::R10, self.thread);
        Some(self.asm.finish())
    }

    fn transformation(&mut self, t: &Transformation, number: u32, chain: Chain) -> Option<()> {
        let next = self.asm.label();
        self.operation(&t.operation, On::State, next)?;
        for action in &t.actions {
            self.action(action)?;
        }
        self.arrive(t, &[number], chain)?;
        self.asm.bind(next);
        Some(())
    }

    /// Tests whether an operation can be done, or goes to `next`; does it on the successor, which is begun if there is none.
    fn operation(&mut self, operation: &Operation, on: On, next: Label) -> Option<()> {
        match operation {
            Operation::Always => {}
            Operation::When(condition) => self.unless(condition, on, 0, next)?,
            Operation::Else if on == On::State => {
                // Something was possible if there is an entry.
                self.asm.alu_wide(Alu::Cmp, Reg::R8, Reg::R10);
                self.asm.jump_if(Cond::NotEqual, next);
            }
            // Nothing else was: see `go_on`.
            Operation::Else => {}
            Operation::Send { guard, channel, sorted: false, args } => {
                if let Some(guard) = guard {
                    self.unless(guard, on, 0, next)?;
                }
                return self.send(channel, args, on, next);
            }
            Operation::Receive { guard, channel, any: false, peek, patterns } => {
                if let Some(guard) = guard {
                    self.unless(guard, on, 0, next)?;
                }
                return self.receive(channel, *peek, patterns, on, next);
            }
            _ => return None,
        }
        if on == On::State {
            self.copy_state();
        }
        Some(())
    }

    /// What follows a transformation: the successor becomes an entry, or the thread goes on at once, because it keeps control or has come to a transient
    /// location. `passed` are the numbers of the transformations taken so far.
    fn arrive(&mut self, t: &Transformation, passed: &[u32], chain: Chain) -> Option<()> {
        let target = t.target?;
        let location = &self.program.functions[self.function as usize].locations[target.0 as usize];
        if t.keeps_control || location.transient {
            return self.go_on(location, target.0, passed, chain);
        }
        let size = self.layout.threads[self.function as usize].location_size;
        self.asm.store_constant(at(Reg::Rsi, self.base as i32), target.0 as i32, size);
        self.commit(passed);
        Some(())
    }

    /// Goes on from a location with the one transformation that can be taken there. Where there is none, or more than one, the interpreter does it all. It adds
    /// the ends of sequences that it does step by step after everything else, so they are translated only where they are the last anyway, or where the
    /// interpreter does them at once, too (`step/plain.rs`).
    fn go_on(&mut self, location: &Location, number: u32, passed: &[u32], chain: Chain) -> Option<()> {
        let ts = &location.transformations;
        let here = &self.first[number as usize];
        let may_follow = match chain {
            Chain::None => false,
            Chain::Plain => here.plain,
            Chain::Any => ts.windows(2).all(|w| w[0].rank == w[1].rank),
        };
        if !may_follow
            || location.deterministic
            || passed.len() >= LONGEST_CHAIN
            || self.asm.len() > MOST_CODE
        {
            return None;
        }
        let (last, others) = ts.split_last()?;
        // What excludes one another has to be asked beforehand.
        let conditions = |t: &Transformation| matches!(t.operation, Operation::When(_));
        let otherwise = matches!(last.operation, Operation::Else);
        if !others.is_empty() && !(others.iter().all(conditions) && (otherwise || conditions(last))) {
            return None;
        }
        let end = self.asm.label();
        for (index, t) in ts.iter().enumerate() {
            let next = self.asm.label();
            self.operation(&t.operation, On::Draft, next)?;
            for other in &ts[index + 1..] {
                if let Operation::When(condition) = &other.operation {
                    self.when(condition, On::Draft, 0, self.give_up)?;
                }
            }
            for action in &t.actions {
                self.action(action)?;
            }
            let passed = [passed, &[here.first + index as u32]].concat();
            self.arrive(t, &passed, chain)?;
            self.asm.jump(end);
            self.asm.bind(next);
        }
        self.asm.jump(self.give_up);
        self.asm.bind(end);
        Some(())
    }

    /// Copies the state to where the successor is made.
    pub(super) fn copy_state(&mut self) {
        for word in (0..self.words - 1).step_by(2) {
            self.asm.copy_16(at(Reg::Rsi, word * 8), at(Reg::Rdi, word * 8));
        }
        if self.words % 2 == 1 {
            let last = (self.words - 1) * 8;
            self.asm.load_wide(Reg::Rdx, at(Reg::Rdi, last));
            self.asm.store_wide(at(Reg::Rsi, last), Reg::Rdx);
        }
    }

    fn action(&mut self, action: &Action) -> Option<()> {
        match action {
            Action::Assign(place, value) => self.assign(place, value)?,
            // The interpreter says what is wrong.
            Action::Assert(condition, _) => self.unless(condition, On::Draft, 0, self.give_up)?,
            Action::Print(printf) => {
                let locals = &self.program.functions[self.function as usize].locals;
                if printf.values().any(|value| value.may_fault(self.program, locals)) {
                    return None;
                }
            }
            Action::Forget(variable) => {
                let ty = &self.program.functions[self.function as usize].locals[variable.0 as usize].ty;
                let first =
                    self.base + self.layout.threads[self.function as usize].locals[variable.0 as usize];
                self.clear(at(Reg::Rsi, first as i32), size_of_type(self.program, ty));
            }
            _ => return None,
        }
        Some(())
    }

    /// Zeroes so many bytes.
    pub(super) fn clear(&mut self, mut from: Mem, mut bytes: u32) {
        while bytes > 0 {
            let size = if bytes >= 4 {
                4
            } else if bytes >= 2 {
                2
            } else {
                1
            };
            self.asm.store_constant(from, 0, size);
            from.at += size as i32;
            bytes -= size;
        }
    }

    /// Makes the successor an entry, to which these transformations have led.
    fn commit(&mut self, passed: &[u32]) {
        let asm = &mut self.asm;
        for &number in passed {
            asm.address(Reg::Rdx, self.taken.wrapping_add(number as usize).expose_provenance() as u64);
            asm.alu_mem_wide(Alu::Add, at(Reg::Rdx, 0), 1);
        }
        asm.store_wide(at(Reg::R8, 0), Reg::R9);
        // The length, and no violation.
        asm.store_constant_wide(at(Reg::R8, 8), self.words);
        asm.alu_constant_wide(Alu::Add, Reg::R8, size_of::<quotient_seams::Entry>() as i32);
        asm.alu_constant_wide(Alu::Add, Reg::R9, self.words);
        asm.alu_constant_wide(Alu::Add, Reg::Rsi, self.words * 8);
    }
}
