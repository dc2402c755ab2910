//! A compiled program with the memory of one worker.

use std::sync::Arc;

use quotient_program::Program;
use quotient_seams::{
    Exhausted, Incomplete, Interrupt, Scope, Successors, System, Violation, ViolationCode, Worker,
};
use quotient_source::SourceMap;

use crate::code::Code;
use crate::code::compile::compile;
use crate::explain::fault::Site;
use crate::explain::record::Recorder;
use crate::heap::Heap;
use crate::state::kind::MOST_TYPES;
use crate::state::layout::Layout;
use crate::state::shapes::{NumberedElsewhere, Shapes};
use crate::step::Intermediate;
use crate::step::eval::Frame;

/// A program as a [`System`]: one worker's part of it.
///
/// What a program was compiled to never changes and is shared by all workers; so is the registry behind [`Shapes`], through which all
/// of them encode a state alike. Everything else is the worker's own memory. [`Worker::another`] makes a part for another thread.
#[derive(Debug)]
pub struct Machine {
    // Immutable, shared.
    pub(crate) program: Arc<Program>,
    pub(crate) layout: Arc<Layout>,
    pub(crate) code: Arc<Code>,
    /// Some location is passed in the step that reaches it.
    pub(crate) has_transient: bool,
    /// Some threads may not always move: `provided`, committed locations, priorities.
    pub(crate) restricted: bool,
    /// Some location is committed.
    pub(crate) commits: bool,
    /// Something must be done to every state before it is stored: scratch variables, `_last`.
    pub(crate) must_clean: bool,

    /// A view of what all workers have met.
    pub(crate) shapes: Shapes,

    // How to work.
    /// Report deadlocks of the program that a claim watches.
    pub(crate) claim_deadlocks: bool,
    /// Raised when a step that takes long is to be left.
    pub(crate) interrupt: Option<Interrupt>,

    // The worker's memory.
    /// How often transformations were taken, by number.
    pub(crate) taken: Vec<u64>,
    /// Locations as machine code.
    #[cfg(all(target_arch = "x86_64", unix))]
    pub(crate) translated: crate::x86::Translated,
    pub(crate) heap: Heap,
    /// The state being made.
    pub(crate) draft: Vec<u64>,
    /// States inside an atomic sequence, waiting to go on.
    pub(crate) pool: Vec<Intermediate>,
    pub(crate) free: Vec<Vec<u64>>,
    /// Nothing else can move: `timeout` is true.
    pub(crate) timeout: bool,
    /// The rendezvous channel that a message is passing through: while a partner is looked for, its length is 1, as in
    /// SPIN. 0 when there is none.
    pub(crate) passing: i32,
    /// The message that is passing.
    pub(crate) offered: Vec<i32>,
    /// The thread that moved last.
    pub(crate) mover: u32,
    pub(crate) failed_assertions: Vec<u32>,
    pub(crate) start_args: Vec<i32>,
    pub(crate) values: Vec<i32>,
    pub(crate) exhausted: Option<Incomplete>,
    /// A state that a `d_step` has passed.
    pub(crate) round: Vec<u64>,
    /// Set while a step is being explained.
    pub(crate) recorder: Option<Recorder>,
    /// Threads that the counts being evaluated look at, outermost first.
    pub(crate) bound: Vec<u32>,
    /// Locations the claim can go to from the state being expanded, with the transformations that lead there.
    pub(crate) claim_moves: Vec<(u32, u32)>,
    /// The state being expanded, after a move of the claim.
    pub(crate) claim_state: Vec<u64>,
}

impl Worker for Machine {
    fn another(&self) -> Machine {
        let (program, layout, code) = (self.program.clone(), self.layout.clone(), self.code.clone());
        #[allow(unused_mut, reason = "there is machine code for one kind of processor only")]
        let mut another = Machine {
            claim_deadlocks: self.claim_deadlocks,
            interrupt: self.interrupt.clone(),
            ..Machine::assemble(program, layout, code, self.shapes.share())
        };
        #[cfg(all(target_arch = "x86_64", unix))]
        if !self.translated.is_enabled() {
            another.interpret_only();
        }
        another
    }

    fn join(&mut self, other: Machine) {
        self.taken.iter_mut().zip(other.taken).for_each(|(taken, other)| *taken += other);
    }

    /// How often transformations were taken.
    fn notes(&self) -> Vec<u8> {
        self.taken.iter().flat_map(|taken| taken.to_le_bytes()).collect()
    }

    fn take_notes(&mut self, notes: &[u8]) -> bool {
        let (numbers, rest) = notes.as_chunks::<8>();
        self.taken.iter_mut().zip(numbers).for_each(|(taken, note)| *taken += u64::from_le_bytes(*note));
        self.taken.len() == numbers.len() && rest.is_empty()
    }

    fn shared_since(&self, from: usize, out: &mut Vec<u32>) -> usize {
        self.shapes.descriptions_since(from, out)
    }

    fn share_again(&mut self, written: &[u32]) -> bool {
        self.shapes.describe_again(written)
    }
}

/// Several processes encode states alike when one of them numbers shapes for all.
impl Machine {
    /// Says how shapes are numbered: those after the first so many, after one has got a number. Can be asked by any thread.
    pub fn shape_numbers(&self) -> impl Fn(usize, Option<&[u32]>) -> Option<Vec<Vec<u32>>> + Send + use<> {
        self.shapes.numbered()
    }

    /// Has shapes numbered by another process. `false` if it has numbered those known here otherwise: then it is another program.
    pub fn number_shapes_elsewhere(&mut self, elsewhere: NumberedElsewhere) -> bool {
        self.shapes.number_elsewhere(elsewhere)
    }
}

impl Machine {
    /// Compiles a program. Fails when the initial state alone has too many threads or channels.
    pub fn new(program: Program, sources: &SourceMap) -> Result<Machine, Exhausted> {
        Machine::with_shapes(program, sources, false)
    }

    /// Like [`Machine::new`], for programs with more than 65536 combinations of threads.
    pub fn wide(program: Program, sources: &SourceMap) -> Result<Machine, Exhausted> {
        Machine::with_shapes(program, sources, true)
    }

    fn with_shapes(program: Program, sources: &SourceMap, wide: bool) -> Result<Machine, Exhausted> {
        if let Some(what) = refusal(&program) {
            return Err(Exhausted { what: what.into() });
        }
        // Combinations of objects are many.
        let layout = Arc::new(Layout::new(&program, wide || program.features.dynamic));
        let code = Arc::new(compile(&program, &layout, sources));
        let shapes = Shapes::new(layout.clone()).map_err(|what| Exhausted { what })?;
        Ok(Machine::assemble(Arc::new(program), layout, code, shapes))
    }

    /// A worker with memory of its own.
    fn assemble(program: Arc<Program>, layout: Arc<Layout>, code: Arc<Code>, shapes: Shapes) -> Machine {
        Machine {
            has_transient: program.functions.iter().flat_map(|f| &f.locations).any(|l| l.transient),
            restricted: program.commits()
                || program.features.priorities
                || program.functions.iter().any(|f| f.provided.is_some()),
            commits: program.commits(),
            must_clean: !layout.scratch.is_empty() || layout.last.is_some(),
            #[cfg(all(target_arch = "x86_64", unix))]
            translated: crate::x86::Translated::new(program.observer.is_none() && !program.features.dynamic),
            taken: vec![0; code.transformations.len()],
            heap: Heap::new(&layout),
            program,
            layout,
            code,
            shapes,
            claim_deadlocks: false,
            interrupt: None,
            draft: Vec::new(),
            pool: Vec::new(),
            free: Vec::new(),
            timeout: false,
            passing: 0,
            offered: Vec::new(),
            mover: 0,
            failed_assertions: Vec::new(),
            start_args: Vec::new(),
            values: Vec::new(),
            exhausted: None,
            round: Vec::new(),
            recorder: None,
            bound: Vec::new(),
            claim_moves: Vec::new(),
            claim_state: Vec::new(),
        }
    }

    /// From now on a step that takes long is left when this is raised, and the search ends as when something runs out. Steps that are
    /// explained always come to their end.
    pub fn set_interrupt(&mut self, interrupt: Option<Interrupt>) {
        self.interrupt = interrupt;
    }

    /// Leaves everything to the interpreter from now on: no machine code. For comparison; it is slower.
    pub fn interpret_only(&mut self) {
        #[cfg(all(target_arch = "x86_64", unix))]
        self.translated.disable();
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What a violation code of this machine stands for.
    pub fn site(&self, code: ViolationCode) -> &Site {
        &self.code.sites[code.index()]
    }

    /// The violations that the transformation with this number (see [`Machine::taken`]) can end in.
    pub fn violations_of(&self, number: usize) -> impl Iterator<Item = ViolationCode> + '_ {
        self.code.sites_of[number].iter().map(|site| ViolationCode::from_index(*site as usize))
    }

    /// How often the transformation with this number (counted over all functions and locations in order) has been
    /// taken.
    pub fn taken(&self, number: usize) -> u64 {
        self.taken[number]
    }

    #[inline(always)]
    pub(crate) fn location(&self, memory: *const u8, base: u32, function: u32) -> u32 {
        // SAFETY: a thread's segment starts with its location.
        unsafe {
            let at = memory.add(base as usize);
            match self.layout.threads.get_unchecked(function as usize).location_size {
                1 => u32::from(*at),
                2 => u32::from(at.cast::<u16>().read_unaligned()),
                _ => at.cast::<u32>().read_unaligned(),
            }
        }
    }

    /// Moves a thread of the draft.
    #[inline(always)]
    pub(crate) fn set_location(&mut self, base: u32, function: u32, location: u32) {
        let memory = self.draft.as_mut_ptr().cast();
        self.put_location(memory, base, function, location);
    }

    /// Moves a thread of the state at `memory`.
    #[inline(always)]
    pub(crate) fn put_location(&self, memory: *mut u8, base: u32, function: u32, location: u32) {
        // SAFETY: as above.
        unsafe {
            let at = memory.add(base as usize);
            match self.layout.threads.get_unchecked(function as usize).location_size {
                1 => *at = location as u8,
                2 => at.cast::<u16>().write_unaligned(location as u16),
                _ => at.cast::<u32>().write_unaligned(location),
            }
        }
    }

    pub(crate) fn shape_number(&self, memory: *const u8) -> u32 {
        // SAFETY: every state starts with its shape number.
        unsafe {
            if self.layout.shape_size == 2 {
                u32::from(memory.cast::<u16>().read_unaligned())
            } else {
                memory.cast::<u32>().read_unaligned()
            }
        }
    }

    pub(crate) fn set_shape_number(&mut self, shape: u32) {
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        self.put_shape_number(memory, shape);
    }

    /// Gives the state at `memory` another shape number.
    pub(crate) fn put_shape_number(&self, memory: *mut u8, shape: u32) {
        // SAFETY: as above.
        unsafe {
            if self.layout.shape_size == 2 {
                memory.cast::<u16>().write_unaligned(shape as u16);
            } else {
                memory.cast::<u32>().write_unaligned(shape);
            }
        }
    }

    pub(crate) fn priority(&self, memory: *const u8, thread: u32) -> i32 {
        let Some(instance) = self.shape_at(memory).threads.get(thread as usize) else { return 0 };
        match self.layout.threads[instance.kind as usize].priority {
            // SAFETY: the priority is inside the thread's segment.
            Some(at) => i32::from(unsafe { *memory.add((instance.at + at) as usize) }),
            None => 1,
        }
    }

    pub(crate) fn set_priority(&self, memory: *mut u8, thread: u32, priority: i32) {
        if let Some(instance) = self.shape_at(memory).threads.get(thread as usize)
            && let Some(at) = self.layout.threads[instance.kind as usize].priority
        {
            // SAFETY: as above.
            unsafe { *memory.add((instance.at + at) as usize) = priority as u8 };
        }
    }

    /// Runs code that gives initial values to the segment at `base` of the draft.
    fn run_initial(&mut self, code: crate::code::CodeAt, base: u32) {
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        if let Err(site) = self.run(code, Frame { memory, base, thread: 0, received: 0 }) {
            self.failed_assertions.push(site);
        }
    }

    fn initial_state(&mut self) {
        let words = self.shapes.begin().words as usize;
        self.draft.clear();
        self.draft.resize(words, 0);
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        for (index, (at, _)) in self.layout.initial_channels.iter().enumerate() {
            // SAFETY: the layout's positions are inside the state.
            unsafe { *memory.add(*at as usize) = (index + 1) as u8 };
        }
        if let Some(observer) = &self.code.observer {
            let entry = self.code.functions[observer.function as usize].entry;
            self.set_observer(entry);
        }
        if let Some(claim) = self.code.claim.clone() {
            let base = self.layout.claim.unwrap_or(0);
            let function = &self.code.functions[claim.function as usize];
            let (entry, init) = (function.entry, function.init);
            self.set_location(base, claim.layout, entry);
            self.run_initial(init, base);
        }
        let init = self.code.init;
        self.run_initial(init, 0);
        for function in self.program.initial.clone() {
            if let Err(site) = self.start_thread(function.0, &[], None) {
                self.failed_assertions.push(site);
            }
            if self.exhausted.is_some() {
                return;
            }
        }
    }
}

/// Why a program cannot be executed, in words.
fn refusal(program: &Program) -> Option<String> {
    let types = [
        program.records.len(),
        program.array_types.len(),
        program.channel_types.len(),
        program.collection_types.len(),
    ];
    let dynamic = program.features.dynamic;
    if dynamic && types.iter().any(|n| *n > MOST_TYPES) {
        return Some(format!("more than {MOST_TYPES} types of objects"));
    }
    if dynamic && program.functions.len() >= usize::from(u16::MAX) {
        return Some("more than 65534 functions".into());
    }
    let mut locations = program.functions.iter().flat_map(|f| &f.locations);
    (program.features.receiver_first && (dynamic || locations.any(|l| l.deterministic))).then(|| {
        "a receiver that moves before the sender cannot be combined with objects or deterministic steps"
            .into()
    })
}

impl System for Machine {
    fn initial(&mut self, out: &mut Successors) -> Result<(), Exhausted> {
        self.initial_state();
        if let Some(what) = self.exhausted.take() {
            return Err(Exhausted { what });
        }
        self.report_assertions(out);
        self.mover = 0;
        self.emit(out);
        self.exhausted.take().map_or(Ok(()), |what| Err(Exhausted { what }))
    }

    #[inline]
    fn successors(&mut self, state: &[u64], scope: Scope, out: &mut Successors) -> Result<(), Exhausted> {
        self.meet_state(state);
        self.expand(state, scope, out);
        match self.exhausted.take() {
            None => Ok(()),
            Some(what) => Err(Exhausted { what }),
        }
    }

    fn is_valid_end(&mut self, state: &[u64]) -> bool {
        // Where an assumption forbids a step, stopping is not a deadlock.
        if self.code.assumes && self.is_cut(state) {
            return true;
        }
        // Where a claim watches, a state without successors is one where the claim gave up: no deadlock.
        self.code.claim.is_some() || self.may_stop(state)
    }

    fn violation(&self, code: ViolationCode) -> Violation {
        let fault = &self.site(code).fault;
        Violation { kind: fault.kind(), message: fault.message() }
    }
}

impl Machine {
    /// Do all threads stand where they may stay for ever?
    pub(crate) fn may_stop(&self, state: &[u64]) -> bool {
        let memory = state.as_ptr().cast::<u8>();
        self.shape_at(memory).threads.iter().all(|t| {
            let location = self.location(memory, t.at, t.kind);
            self.code.functions[t.kind as usize].locations[location as usize].valid_end
        })
    }
}
