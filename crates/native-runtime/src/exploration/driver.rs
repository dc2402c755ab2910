//! From the start of the process to the answer: preparation, exploration, repetition of one schedule.

use std::time::{Duration, Instant};

use quotient_stateless::ahead::explore_ahead;
use quotient_stateless::graph::{self, MemoryModel};
use quotient_stateless::{
    Algorithm, Bound, Choice, Configuration, Execution, ExplorationError, Kind, Operation, Outcome, Report,
    Schedule, Symmetry, Verdict, estimate::estimate, explore, minimise,
};

use crate::environment::quiet_thread::{PROCESS_TIME, nanoseconds};
use crate::exploration::deepening::{Deepening, LONG};
use crate::exploration::outcomes::flush_output;
use crate::exploration::program::Program;
use crate::exploration::workers::Workers;
use crate::exploration::world::{
    NOWHERE, Runtime, Status, World, attach, controlled, reset_output, running, world,
};
use crate::memory::snapshot::Snapshot;
use crate::protocol::{
    CELLS, FailureKind, Op, PEER, Place, STEPS, THREADS, ThreadEnd, WATCHED, memory, met, phase, verdict,
};
use crate::real;
use crate::system::handler::handle;
use crate::system::system_call::{exit_process, map_fixed, number, system_call};
use crate::threads::context;

/// Where the stack for signal handlers lies.
const SIGNAL_STACK: usize = 0x6080_0000_0000;
const SIGNAL_STACK_SIZE: usize = 256 << 10;
/// Random executions for an estimate, and the most work that goes into them, in steps, each with a few accesses to memory.
/// Not a time, so that the same is found meanwhile to be visible on a busy machine; CPU time only ends what does much else.
const PROBES: u32 = 2000;
/// Complete executions among them that suffice, if there are not many more.
const ENOUGH_LEAVES: u32 = 200;
const PROBES_WORK: u64 = 200_000;
const ACCESSES_PER_STEP: u64 = 4;
const PROBES_NANOSECONDS: u64 = 400_000_000;
/// Executions to find a failing schedule with fewer context switches.
const MINIMISING: u64 = 20_000;
/// Explorations that are started again because something was found to be visible.
const MOST_RESTARTS: u64 = 1000;

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    attach_once();
    crate::system::sandbox::enter();
    if controlled() {
        crate::library::imports::bind_own();
    }
}

/// Looks for the shared block, once.
pub fn attach_once() {
    static DONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    if !DONE.swap(true, std::sync::atomic::Ordering::Relaxed) {
        attach();
    }
}

/// Called by the start-up code of every program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_start_main(
    main: usize,
    count: i32,
    arguments: usize,
    init: usize,
    fini: usize,
    linker_fini: usize,
    stack_end: usize,
) -> i32 {
    let start = real!("__libc_start_main", fn(usize, i32, usize, usize, usize, usize, usize) -> i32);
    let mut entry = main;
    if controlled() {
        world().main[0] = main;
        entry = controlled_main as *const () as usize;
    }
    // SAFETY: what the start-up code gives; a `main` of ours takes what the program's takes.
    unsafe { start(entry, count, arguments, init, fini, linker_fini, stack_end) }
}

/// The first function of a thread that runs the program's `main`.
extern "C" fn main_entry() -> ! {
    let [main, count, arguments, environment] = world().main;
    type Main = unsafe extern "C" fn(i32, usize, usize) -> i32;
    crate::memory::unwritten::prepare_frame();
    // SAFETY: the program's main function.
    let status = unsafe { std::mem::transmute::<usize, Main>(main)(count as i32, arguments, environment) };
    // Other threads run on before the program ends, as if `main` had been slower: its variables stay as they were. So what
    // follows uses the stack below everything that the program has used.
    const BELOW: usize = 64 << 10;
    let mut w = world();
    let me = w.me();
    let sp = (me.lowest.saturating_sub(BELOW)).max(me.stack.start + BELOW) & !15;
    // SAFETY: the stack of this thread, of which nothing below is in use; the function called does not return.
    unsafe {
        std::arch::asm!(
            "mov rsp, {}", "call {}", "ud2", in(reg) sp, sym leave_main, in("edi") status, options(noreturn)
        );
    }
}

/// What comes after `main`.
extern "C" fn leave_main(status: i32) -> ! {
    world().me().returned = true;
    crate::environment::exit_handlers::run(status);
    crate::environment::process::leave_program(status)
}

extern "C" fn controlled_main(count: i32, arguments: usize, environment: usize) -> i32 {
    let mut w = world();
    w.main = [w.main[0], count as usize, arguments, environment];
    std::panic::set_hook(Box::new(|info| {
        let mut w = world();
        (w.failed, w.stopped) = (false, false);
        w.record_failure(FailureKind::None, &format!("{info}"), NOWHERE, NOWHERE);
        w.shared.phase = phase::BROKEN;
        exit_process(70);
    }));
    if !has_fs_base() {
        refuse(
            &mut w,
            "this processor or kernel lacks the instructions to switch thread control blocks (FSGSBASE)",
        );
    }
    w.driver_fs = context::fs_base();
    w.errno_below = w.driver_fs - crate::memory::heap::errno_address();
    w.keep_process();
    w.has_input = rewind_input() > 0;
    if crate::descriptors::files::opened_already() {
        refuse(&mut w, "a file is opened before main: it could not be put back between executions");
    }
    crate::threads::donor::create(&mut w);
    crate::symmetry::frames::prepare_unwinder();
    catch_faults();
    crate::library::interpose(&mut w);
    crate::library::prepare(&mut w);
    w.external.prepare();
    let length = (w.shared.peer_length as usize).min(PEER);
    // Whoever has sent it has read it.
    w.peer_rules = crate::peer::rules(&w.shared.peer[..length]).unwrap_or_default();
    w.heap.set_start();
    w.objects.set_baseline();
    w.signals.set_baseline();
    w.exit_handlers.set_baseline();
    let snapshot = Snapshot::take(&mut w);
    w.snapshot = Some(snapshot);
    let base = w.shared.program_base as usize;
    w.watch_unannounced(base);
    w.watch_counted_loops(base);
    crate::primitives::verifier::replace_definitions(&w);
    crate::system::sandbox::limit_memory(w.shared.max_memory);
    w.shared.phase = phase::RUNNING;
    if w.replays() {
        replay();
    } else {
        if !w.wants_outcomes() {
            w.discard_output();
        }
        explore_all();
    }
    world().shared.phase = phase::DONE;
    exit_process(0)
}

fn has_fs_base() -> bool {
    unsafe extern "C" {
        fn getauxval(kind: u64) -> u64;
    }
    // SAFETY: AT_HWCAP2.
    unsafe { getauxval(26) & 2 != 0 }
}

/// The program cannot be checked.
pub fn refuse(w: &mut World, text: &str) -> ! {
    w.record_failure(FailureKind::Refused, text, NOWHERE, NOWHERE);
    w.shared.verdict = verdict::REFUSED;
    w.shared.phase = phase::DONE;
    exit_process(0)
}

impl World {
    /// Back to the start: the main thread is about to enter `main`.
    pub fn restart(&mut self) {
        if self.snapshot.is_some() && !self.kernel_threads() {
            self.restore();
        }
        let named = self.named.min(THREADS);
        for thread in &mut self.threads[..named] {
            if thread.status != Status::Unborn {
                thread.restart();
            }
        }
        self.restarts_made += 1;
        self.objects.restart();
        self.races.restart();
        self.counts.restart();
        self.stale.restart();
        self.own_handles.restart();
        self.kept_handles.restart();
        self.histories.restart();
        self.mappings.restart();
        self.external.restart();
        self.exit_handlers.restart();
        self.take_back_mappings();
        self.pipes.restart();
        self.sockets.restart();
        self.signals.restart();
        (self.failed, self.stopped, self.abandoned, self.threaded) = (false, false, false, false);
        (self.observed, self.clock_ticks, self.random) = (0, 0, 0);
        self.observed_memory.clear();
        self.ongoing = None;
        self.shared.schedule_length = 0;
        self.shared.failure.kind = FailureKind::None as u8;
        reset_output(self.shared.output);
        if self.has_input {
            rewind_input();
        }
        self.restore_files();
        let main = &mut self.threads[0];
        main.status = Status::Starting;
        main.clock[0] = 1;
        self.starting = 0;
        crate::threads::donor::prepare(self, 0, main_entry);
    }
}

/// Goes back to the start of the program's input; gives its length.
fn rewind_input() -> isize {
    // SAFETY: no memory is involved.
    let seek = |whence| unsafe {
        system_call(number::LSEEK, [crate::descriptors::files::KEPT_INPUT as usize, 0, whence, 0, 0, 0])
    };
    let length = seek(2);
    seek(0);
    length
}

fn configuration(w: &World) -> Configuration {
    let s = &w.shared;
    Configuration {
        algorithm: match s.algorithm {
            0 => Algorithm::Optimal,
            1 => Algorithm::SourceSets,
            _ => Algorithm::FlanaganGodefroid,
        },
        symmetry: match s.symmetry {
            0 => Symmetry::Off,
            1 => Symmetry::Costarted,
            _ => Symmetry::Dynamic,
        },
        // As published, for comparison: it can lose outcomes, so that nothing holds by it.
        images: s.algorithm != 2,
        stop_at_first: s.all == 0,
        max_executions: (s.max_executions > 0).then_some(s.max_executions),
        max_preemptions: (s.max_preemptions < u32::MAX).then_some(s.max_preemptions),
        max_steps: (s.max_steps as usize).min(STEPS),
        max_time: (s.max_milliseconds > 0).then(|| Duration::from_millis(s.max_milliseconds)),
        ..Configuration::default()
    }
}

/// One execution, to see how many threads there are.
fn probe(program: &mut Program) {
    world().limit = THREADS;
    program.restart();
    let most = (world().shared.max_steps as usize).min(LONG);
    while program.steps < most
        && let Some(thread) = program.enabled().first()
    {
        program.step(thread, 0);
    }
}

/// About how many executions there will be (without symmetry): the mean over random ones, but not over more than there are; and the
/// least and the greatest mean of a quarter of them.
fn estimate_executions(program: &mut Program) -> (u64, [u64; 2]) {
    let work = || world().shared.steps + world().shared.filtered / ACCESSES_PER_STEP;
    let (end, late) = (work() + PROBES_WORK, cpu_nanoseconds() + PROBES_NANOSECONDS);
    let most = (world().shared.max_steps as usize).min(STEPS);
    const QUARTERS: usize = 4;
    let (mut total, mut made, mut complete) = (0.0, 0, 0);
    let mut quarters = [(0.0, 0u32); QUARTERS];
    let enough = |total: f64, made: u32, complete: u32| {
        made >= PROBES || complete >= ENOUGH_LEAVES && f64::from(made) >= total / f64::from(made)
    };
    while !enough(total, made, complete)
        && !world().grown
        && (made == 0 || work() < end && cpu_nanoseconds() < late)
    {
        let leaves = estimate(program, 1, most, u64::from(made) + 1);
        total += leaves;
        let quarter = &mut quarters[made as usize % QUARTERS];
        *quarter = (quarter.0 + leaves, quarter.1 + 1);
        complete += u32::from(leaves > 0.0);
        made += 1;
    }
    // Conversion saturates.
    let means = quarters.iter().filter(|q| q.1 > 0).map(|q| (q.0 / f64::from(q.1)).round() as u64);
    let range = [means.clone().min().unwrap_or(0), means.max().unwrap_or(0)];
    (if made == 0 { 0 } else { (total / f64::from(made)).round() as u64 }, range)
}

/// CPU time of this process so far, in nanoseconds.
fn cpu_nanoseconds() -> u64 {
    nanoseconds(PROCESS_TIME)
}

fn explore_all() {
    let started = Instant::now();
    let mut program = Program::default();
    let mut aside_since = 0;
    probe(&mut program);
    let mut workers = Workers::new();
    let mut deepening = Deepening::default();
    loop {
        let mut w = world();
        w.grown = false;
        w.limit = w.named.min(THREADS);
        w.shared.threads = w.named as u32;
        (w.shared.executions, w.shared.outcomes_length) = (0, 0);
        (w.shared.symmetry_tests, w.shared.symmetry_found) = (0, 0);
        let mut configuration = configuration(&w);
        w.memory = 0;
        let model = w.choose_memory();
        let asked = configuration;
        deepening.limit(&mut program, &mut configuration);
        let estimated = model == 0 && deepening.is_whole();
        let (mean, range) = if estimated { estimate_executions(&mut program) } else { (0, [0; 2]) };
        (w.shared.estimate, w.shared.estimate_range) = (mean, range);
        let mut w = world();
        w.memory = model;
        w.shared.memory_explored = if model == 0 { memory::SC } else { model };
        if w.grown && w.shared.restarts < MOST_RESTARTS {
            w.shared.restarts += 1;
            continue;
        }
        workers.restart();
        w.shared.aside_nanoseconds += cpu_nanoseconds() - aside_since;
        let mut report = if model != 0 {
            let model = if model == memory::TSO { MemoryModel::Tso } else { MemoryModel::Rc11 };
            graph::explore(&mut program, model, &configuration, &mut workers, &mut |_| {})
        } else if workers.can_help(&configuration) {
            explore_ahead(&mut program, &configuration, &mut workers)
        } else {
            explore(&mut program, &configuration, &mut workers)
        };
        aside_since = cpu_nanoseconds();
        if model == 0
            && !world().grown
            && let Ok(Report { verdict: Verdict::Violated(violation), .. }) = &mut report
        {
            minimise_violation(&mut violation.schedule, started);
        }
        let mut w = world();
        if w.grown && w.shared.stop == 0 && w.shared.restarts < MOST_RESTARTS {
            w.shared.restarts += 1;
            w.shared.discarded += w.shared.executions;
            continue;
        }
        if let Err(ExplorationError::CountMatters(cell)) = report
            && w.shared.stop == 0
            && w.shared.restarts < MOST_RESTARTS
        {
            w.counts.set_ordered(cell);
            w.shared.restarts += 1;
            w.shared.discarded += w.shared.executions;
            continue;
        }
        if w.wants_another_model(model, &report) && w.shared.restarts < MOST_RESTARTS {
            w.shared.restarts += 1;
            w.shared.discarded += w.shared.executions;
            continue;
        }
        if w.shared.stop == 0 && deepening.goes_on(&mut program, &asked, &report) {
            w.shared.discarded += w.shared.executions;
            continue;
        }
        w.shared.aside_nanoseconds += cpu_nanoseconds() - aside_since;
        tell_cells(&mut w);
        match report {
            Ok(report) => {
                let s = &report.statistics;
                (w.shared.executions, w.shared.blocked, w.shared.cut) =
                    (s.executions, s.sleep_set_blocked, s.cut);
                w.shared.infeasible = s.infeasible;
                (w.shared.pruned, w.shared.images, w.shared.depth) =
                    (s.pruned_symmetric, s.images, s.depth as u64);
                w.shared.unexchanged = s.symmetry_skipped;
                // Those of copies as well, but not those that an estimate or a shorter trace took.
                w.shared.steps = s.steps;
                answer(w, report.verdict);
            }
            Err(ExplorationError::NotDeterministic { step, .. }) => {
                w.shared.verdict = verdict::UNDECIDED;
                w.shared.bound = 6;
                w.shared.schedule_length = step as u32;
            }
            Err(ExplorationError::Unsupported(what)) if model != 0 => {
                let name = if model == memory::TSO { "tso" } else { "rc11" };
                refuse(&mut w, &format!("--memory {name} does not cover this: {what}; --memory sc does"))
            }
            Err(error) => refuse(&mut w, &error.to_string()),
        }
        return;
    }
}

impl World {
    /// The memory model to explore graphs under; 0: sequential consistency, by sequences.
    fn choose_memory(&mut self) -> u32 {
        let weak = self.shared.met & met::WEAK_ORDER != 0;
        match self.shared.memory {
            memory::BY_PROGRAM if weak => {
                let s = &self.shared;
                let unsuited = [
                    (s.symmetry == 2, "--symmetry dynamic"),
                    (s.algorithm != 0, "--dpor"),
                    (s.max_preemptions != u32::MAX, "--max-preemptions"),
                    (s.spurious != 0, "--spurious"),
                ];
                if let Some((_, option)) = unsuited.into_iter().find(|(given, _)| *given) {
                    self.explain_memory(&format!("{option} is for sequential consistency"));
                }
                if self.shared.memory_why_length == 0 { memory::RC11 } else { 0 }
            }
            memory::BY_PROGRAM | memory::SC => 0,
            model => model,
        }
    }

    /// Takes note why the model of the program's memory orders is not used.
    fn explain_memory(&mut self, why: &str) {
        let length = why.len().min(self.shared.memory_why.len());
        self.shared.memory_why[..length].copy_from_slice(&why.as_bytes()[..length]);
        self.shared.memory_why_length = length as u32;
    }

    /// Is everything to be explored again under another memory model?
    fn wants_another_model(&mut self, explored: u32, report: &Result<Report, ExplorationError>) -> bool {
        if self.shared.memory != memory::BY_PROGRAM || self.shared.stop != 0 {
            return false;
        }
        match report {
            Err(ExplorationError::Unsupported(what)) if explored != 0 => {
                self.explain_memory(&format!("rc11 does not cover {what}"));
                true
            }
            // Orders that were not seen before. What goes wrong under sequential consistency goes wrong anyway.
            Ok(Report { verdict: Verdict::Holds, .. }) if explored == 0 => self.choose_memory() != 0,
            _ => false,
        }
    }
}

/// Tells which memory was visible because it races.
fn tell_cells(w: &mut World) {
    let mut cells = w.objects.racing_cells();
    cells.extend(w.interruptions());
    cells.extend(w.told_names());
    cells.extend(w.told_unasked());
    cells.extend(w.told_loops());
    cells.extend(w.told_meetings());
    cells.extend(w.external.told());
    for (slot, (address, size)) in w.shared.cells.iter_mut().zip(&cells) {
        *slot = (*address as u64, *size as u64);
    }
    w.shared.cells_length = cells.len().min(CELLS) as u32;
}

fn answer(mut w: Runtime, found: Verdict) {
    match found {
        Verdict::Holds => w.shared.verdict = verdict::HOLDS,
        Verdict::Violated(violation) => {
            let choices = with_single_joins(&violation.schedule.choices);
            let refused = w.shared.failure.kind == FailureKind::Refused as u8;
            w.shared.verdict = if refused { verdict::REFUSED } else { verdict::VIOLATED };
            for (slot, choice) in w.shared.schedule.iter_mut().zip(&choices) {
                (slot.thread, slot.alternative) = (u16::from(choice.thread), choice.alternative);
            }
            w.shared.schedule_length = choices.len().min(STEPS) as u32;
        }
        Verdict::Undecided(bound) => {
            w.shared.verdict = verdict::UNDECIDED;
            w.shared.bound = match bound {
                Bound::Executions => 1,
                Bound::Preemptions => 2,
                Bound::Steps => 3,
                Bound::Time => 4,
                Bound::Stopped => 5,
                Bound::LossySymmetry => 7,
            };
        }
    }
}

/// May a violation that was found be made more readable? That takes half of the time that is left at most: what was found must be repeated and told in time.
fn readable_in_time(started: Instant) -> impl FnMut() -> bool {
    let most = Duration::from_millis(world().shared.max_milliseconds);
    let late = (most > Duration::ZERO).then(|| Instant::now() + most.saturating_sub(started.elapsed()) / 2);
    move || world().shared.stop == 0 && late.is_none_or(|late| Instant::now() < late)
}

/// Replaces the schedule of a violation by one with few context switches that fails in the same way. If something more turns
/// out to be visible meanwhile, the exploration starts again.
fn minimise_violation(schedule: &mut Schedule, started: Instant) {
    let signature = || {
        let failure = &world().shared.failure;
        (failure.kind, failure.text[..failure.text_length as usize].to_vec())
    };
    with_single_joins(&schedule.choices);
    let expected = signature();
    if expected.0 == FailureKind::Refused as u8 {
        return;
    }
    let mut same =
        |_: &mut Program, outcome: Outcome| outcome.ending.is_violation() && signature() == expected;
    let mut goes_on = readable_in_time(started);
    let found = minimise(&mut Program::default(), schedule, MINIMISING, &mut goes_on, &mut same);
    let mut w = world();
    (w.shared.switches, w.shared.fewest) = (found.switches as u32, u32::from(found.fewest));
    *schedule = found.schedule;
}

/// Repeats the execution of a violation, so that it is the last one that was made; gives the schedule in which threads are
/// joined one by one, not in sets (see `thread`): for a process that knows nothing of this exploration.
fn with_single_joins(choices: &[Choice]) -> Vec<Choice> {
    let mut program = Program::default();
    program.restart();
    let mut single = Vec::new();
    for choice in choices {
        let joins = |operation: &Operation| operation.kind == Kind::Join;
        let joined = program.pending(choice.thread, 0).filter(joins).map_or(0, |o| o.awaits.len());
        single.extend(std::iter::repeat_n(*choice, joined.max(1)));
        program.step(choice.thread, choice.alternative);
    }
    program.outcome();
    single
}

/// Repeats the schedule of the shared block and writes down every step.
fn replay() {
    let mut program = Program::default();
    let mut w = world();
    w.limit = THREADS;
    w.memory = if w.shared.memory == memory::SC { 0 } else { w.shared.memory };
    for index in 0..(w.shared.cells_length as usize).min(CELLS) {
        let (address, size) = w.shared.cells[index];
        if w.note_interruptions(address, size)
            || w.note_told_names(address, size)
            || w.note_told_unasked(address)
            || w.external.note_told(address)
            || w.note_told_loop(address as usize, size as usize)
            || w.note_told_meeting(address as usize, size as usize)
        {
            continue;
        }
        w.objects.make_visible(address as usize, size as usize);
    }
    let length = w.shared.schedule_length as usize;
    let schedule = w.shared.schedule[..length.min(STEPS)].to_vec();
    w.repeated.clone_from(&schedule);
    program.restart();
    let mut lost = false;
    for choice in schedule {
        let thread = choice.thread as u8;
        if !program.enabled().contains(thread) {
            lost = true;
            break;
        }
        program.step(thread, choice.alternative);
    }
    // Joins of threads that have ended: the schedule may come from an exploration in which they were put off.
    let can_join = |program: &Program| {
        program.enabled().iter().find(|&t| program.pending(t, 0).is_some_and(|o| o.kind == Kind::Join))
    };
    while !lost && let Some(thread) = can_join(&program) {
        program.step(thread, 0);
    }
    world().let_waiting_stay();
    let enabled = program.enabled();
    let ended = enabled.is_empty();
    let ways: Vec<u32> = {
        let ways = |t| program.pending(t, 0).map_or(0, |operation| u32::from(operation.alternatives));
        (0..THREADS as u8).map(ways).collect()
    };
    if ended {
        program.outcome();
    }
    let mut w = world();
    for thread in 0..THREADS {
        let (can, ways) = (u8::from(enabled.contains(thread as u8)), ways[thread]);
        w.shared.ends[thread] = ThreadEnd { enabled: can, alternatives: ways, ..w.thread_end(thread) };
    }
    w.shared.bound = if lost { 6 } else { 0 };
    w.shared.threads = w.named as u32;
    w.shared.verdict = match FailureKind::from_number(w.shared.failure.kind) {
        Some(FailureKind::None) | None if ended => verdict::HOLDS,
        Some(FailureKind::None) | None => verdict::UNDECIDED,
        Some(_) => verdict::VIOLATED,
    };
    flush_output();
}

impl World {
    fn thread_end(&mut self, number: usize) -> ThreadEnd {
        let thread = &self.threads[number];
        let pending = thread.pending;
        let object = if pending.op == Op::Reacquire { pending.other } else { pending.object };
        let blocks_on_object = pending.address != 0;
        ThreadEnd {
            state: match thread.status {
                Status::Unborn => 0,
                Status::Finished => 2,
                _ => 1,
            },
            op: match thread.status {
                Status::Waiting { .. } => Op::Wait as u8,
                Status::Spinning => Op::Spin as u8,
                _ => pending.op as u8,
            },
            owner: if blocks_on_object { self.objects.peek(object).map_or(255, |o| o.owner) } else { 255 },
            enabled: 0,
            alternatives: 0,
            awaits: if pending.op == Op::Join { pending.set } else { 0 },
            address: pending.address as u64,
            watched: if thread.status == Status::Spinning { self.watched(number) } else { [0; WATCHED] },
            routine: if number == 0 { self.main[0] as u64 } else { thread.routine as u64 },
            stack: if thread.lives() { thread.saved_stack(&self.code) } else { [0; crate::protocol::FRAMES] },
        }
    }
}

/// A fault of the program is a crash.
pub extern "C" fn on_fault(signal: i32, information: *const u8, context: *mut u8) {
    if !running() {
        exit_process(128 + signal);
    }
    // SAFETY: the kernel's siginfo_t and ucontext_t: the fault's address, rbp, rsp and rip.
    let (address, frame, sp, pc) = unsafe {
        let registers = context.add(40).cast::<usize>();
        (*information.add(16).cast::<usize>(), *registers.add(10), *registers.add(15), *registers.add(16))
    };
    let mut w = world();
    if w.me().owed != 0 {
        // It may have read what is not yet written. Nothing can be waited for here.
        (w.no_debts, w.grown) = (true, true);
        w.abandon();
    }
    let me = w.me();
    let (stack, number) = (me.stack.clone(), w.current as u8);
    let below = stack.start - 4096..stack.start;
    let text = match signal {
        11 | 7 if below.contains(&address) => "stack overflow".to_owned(),
        11 if address < 4096 => format!("SIGSEGV: null pointer dereference (address {address:#x})"),
        11 => format!("SIGSEGV: invalid memory access (address {address:#x})"),
        7 => format!("SIGBUS (address {address:#x})"),
        8 => "SIGFPE: division by zero or overflow".to_owned(),
        4 => "SIGILL: illegal instruction".to_owned(),
        5 => "SIGTRAP: a breakpoint".to_owned(),
        _ => "SIGABRT".to_owned(),
    };
    let mut place = Place { thread: number, address: address as u64, ..NOWHERE };
    let callers = context::walk(frame, stack.start, stack.end, &w.code);
    place.stack[0] = pc as u64;
    if !w.code.program.contains(&pc) && sp >= stack.start && frame <= stack.end {
        // In a library, where frames are not marked: who of the program has called it.
        // SAFETY: within the stack of the thread.
        place.stack[0] = unsafe { context::caller(sp..frame, &w.code) }.unwrap_or(pc) as u64;
    }
    place.stack[1..].copy_from_slice(&callers[..crate::protocol::FRAMES - 1]);
    w.record_failure(FailureKind::Crash, &text, place, NOWHERE);
    loop {
        world().leave();
    }
}

fn catch_faults() {
    let base = map_fixed(SIGNAL_STACK, SIGNAL_STACK_SIZE) as usize;
    let stack = [base, 0, SIGNAL_STACK_SIZE];
    // SAFETY: a stack_t, whose memory was mapped for it and stays.
    unsafe { real!("sigaltstack", fn(*const usize, usize) -> i32)(stack.as_ptr(), 0) };
    handle(&[4, 6, 7, 8, 11], on_fault);
}
