//! Several processes explore one program: copies of the process made by `fork`.
//!
//! What is given to copies, and why the result is the same, says [`quotient_stateless::ahead`]. Here is how: a copy has
//! its own block of answers in place of the checker's, prints nowhere, reads its own input, and writes what it has found to
//! a mapping that it shares with its original alone. A copy that dies, hangs, finds more to be shared than was known, or
//! changes files has found nothing: its original does the work again, and meets the same where it can be reported.
//!
//! With symmetry, what is relied on in one execution may turn out to be wrong in another one (`symmetry`), and the two may be made by different processes. So a copy
//! also has found nothing if it has learnt anything that symmetry depends on, or relies on something that its original did not ([`World::knowledge`]). Then what the copy relied
//! on the original relies on, too, and sees broken if its own executions break it; and what the executions of the copy have shown the original knew. After the first
//! hundreds of executions there is little left to be learnt.

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

use quotient_stateless::ahead::{Found, Helpers, Job, Side};
use quotient_stateless::{Algorithm, Configuration, Ending, Observer, Outcome, Progress, Symmetry};

use crate::descriptors::files::{KEPT_INPUT, redirect};
use crate::exploration::found::{Message, words};
use crate::exploration::outcomes::keep;
use crate::exploration::world::world;
use crate::protocol::{OUTCOMES, Shared};
use crate::system::system_call::{READ_WRITE, exit_process, number, system_call};

/// The most processes at a time, those that wait included.
const SLOTS: usize = 64;
/// How long a process waits before it looks again.
const POLL: Duration = Duration::from_millis(5);
/// Executions below which a copy was not worth its making, and above which more of them would be.
const SMALL: u64 = 300;
const LARGE: u64 = 3000;
/// The most executions between two copies made by a process.
const LONGEST_GAP: u64 = 20_000;

const FREE: u32 = 0;
const RUNNING: u32 = 1;
const WAITING: u32 = 2;
const FINISHED: u32 = 3;
/// States are below this; what is above counts the uses of a slot.
const STATES: u32 = 8;

/// A process.
#[repr(C)]
struct Slot {
    /// State, and use of the slot: a process that was given up cannot change its successor's.
    state: AtomicU32,
    /// The slot of its original.
    parent: AtomicU32,
    /// Something that changes while it makes progress.
    pulse: AtomicU64,
}

/// What all processes share.
#[repr(C)]
struct Common {
    stop: AtomicU32,
    executions: AtomicU64,
    /// Executions made while another process was running, too.
    together: AtomicU64,
    slots: [Slot; SLOTS],
}

impl Common {
    /// The number of processes that are not waiting.
    fn running(&self) -> usize {
        self.slots.iter().filter(|slot| slot.state.load(Relaxed) % STATES == RUNNING).count()
    }
}

/// A copy, as its original knows it.
struct Copy {
    job: Job,
    process: usize,
    state: u32,
    message: Message,
}

/// The processes that explore, seen from one of them.
pub struct Workers {
    common: Option<&'static Common>,
    /// The most that run at a time.
    most: usize,
    own: usize,
    own_state: u32,
    copies: Vec<Copy>,
    /// Where to write what was found, in a copy.
    message: Option<Message>,
    /// What was known of symmetry when this copy was made.
    known: u64,
    /// Executions since the last copy was made, and how many there must be.
    since: u64,
    gap: u64,
    outcomes: BTreeSet<u64>,
}

/// Maps zeroed memory that copies share.
fn map_for_copies(length: usize) -> Option<usize> {
    const SHARED_ANONYMOUS: usize = 0x1 | 0x20 | 0x4000;
    let wanted = [0, length, READ_WRITE, SHARED_ANONYMOUS, usize::MAX, 0];
    // SAFETY: a new mapping at an address of the kernel's choice.
    let address = unsafe { system_call(number::MMAP, wanted) };
    (address > 0).then_some(address as usize)
}

impl Workers {
    /// As many as the request says.
    pub fn new() -> Workers {
        let shared = &world().shared;
        // Copies do not tell what their executions have printed.
        let most = if world().wants_outcomes() { 1 } else { (shared.workers as usize).clamp(1, SLOTS / 2) };
        let gap = u64::from(shared.split_after);
        let common = if most > 1 { map_for_copies(size_of::<Common>()) } else { None };
        // SAFETY: a mapping of this size, zeroed, never unmapped; all its fields are atomic.
        let common = common.map(|address| unsafe { &*(address as *const Common) });
        Workers {
            common,
            most,
            own: 0,
            own_state: 0,
            copies: Vec::new(),
            message: None,
            known: 0,
            since: 0,
            gap,
            outcomes: BTreeSet::new(),
        }
    }

    /// Can they help with this?
    pub fn can_help(&self, configuration: &Configuration) -> bool {
        self.common.is_some()
            && configuration.algorithm == Algorithm::Optimal
            && (configuration.symmetry == Symmetry::Off || configuration.images)
    }

    /// A new exploration begins.
    pub fn restart(&mut self) {
        self.outcomes.clear();
        world().shared.records_length = 0;
        self.since = 0;
        if let Some(common) = self.common {
            common.stop.store(0, Relaxed);
            common.executions.store(0, Relaxed);
            common.together.store(0, Relaxed);
            common.together.store(0, Relaxed);
            common.slots[0].state.store(RUNNING, Relaxed);
            self.own_state = RUNNING;
        }
    }

    fn set_own_state(&mut self, state: u32) {
        if let Some(common) = self.common {
            let word = self.own_state - self.own_state % STATES + state;
            let _ = common.slots[self.own].state.compare_exchange(self.own_state, word, SeqCst, SeqCst);
            self.own_state = word;
        }
    }

    /// Frees the slot of a process that has ended, and those of its copies, which end with it.
    fn free_slot(&self, slot: usize) {
        let Some(common) = self.common else { return };
        let mut gone = vec![slot];
        while let Some(slot) = gone.pop() {
            let word = common.slots[slot].state.load(SeqCst);
            let copies = (0..SLOTS).filter(|&c| {
                common.slots[c].state.load(SeqCst) % STATES != FREE
                    && common.slots[c].parent.load(SeqCst) as usize == slot
                    && c != slot
            });
            gone.extend(copies);
            common.slots[slot].parent.store(u32::MAX, SeqCst);
            common.slots[slot].state.store((word / STATES).wrapping_add(1).wrapping_mul(STATES), SeqCst);
        }
    }

    fn take(&mut self, job: Job) -> Option<Copy> {
        let position = self.copies.iter().position(|copy| copy.job == job)?;
        Some(self.copies.swap_remove(position))
    }

    fn end(&mut self, copy: &Copy, kill: bool) {
        const KILL: usize = 62;
        const WAIT4: usize = 61;
        // SAFETY: a child of this process that nobody else waits for.
        unsafe {
            if kill {
                system_call(KILL, [copy.process, 9, 0, 0, 0, 0]);
            }
            system_call(WAIT4, [copy.process, 0, 0, 0, 0, 0]);
        }
        copy.message.unmap();
        self.free_slot(copy.job);
    }

    /// Waits until a copy has finished; says whether it has.
    fn has_finished(&self, copy: &Copy) -> bool {
        let Some(common) = self.common else { return false };
        let slot = &common.slots[copy.job];
        let patience = Duration::from_millis(world().shared.patience_milliseconds.max(100));
        let (mut pulse, mut since) = (0, Instant::now());
        loop {
            let word = slot.state.load(SeqCst);
            if word == copy.state - RUNNING + FINISHED {
                return true;
            }
            if has_ended(copy.process) || since.elapsed() > patience {
                return slot.state.load(SeqCst) == copy.state - RUNNING + FINISHED;
            }
            wait_for_change(&slot.state, word);
            if slot.pulse.load(Relaxed) != pulse || word % STATES == WAITING {
                (pulse, since) = (slot.pulse.load(Relaxed), Instant::now());
            }
            // The checker, or the original, sees that somebody works.
            world().shared.steps += 1;
            self.beat();
        }
    }

    fn beat(&self) {
        if let Some(common) = self.common {
            common.slots[self.own].pulse.fetch_add(1, Relaxed);
        }
    }

    /// The program in this process becomes one that only the original knows of. Says whether that was possible.
    fn settle(&mut self, slot: usize, state: u32, message: Message) -> bool {
        const PRCTL: usize = 157;
        (self.own, self.own_state, self.message) = (slot, state, Some(message));
        self.copies.clear();
        self.outcomes.clear();
        self.since = 0;
        // SAFETY: PR_SET_PDEATHSIG, SIGKILL: this process ends with its original.
        unsafe { system_call(PRCTL, [1, 9, 0, 0, 0, 0]) };
        let mut w = world();
        if w.has_input && !redirect(c"/proc/self/fd/0", 0, &[0, KEPT_INPUT]) {
            return false;
        }
        // A block of its own at the same address.
        const PRIVATE_FIXED: usize = 0x2 | 0x10 | 0x20 | 0x4000;
        let address = &raw mut *w.shared as usize;
        let used = offset_of!(Shared, schedule);
        // SAFETY: plain numbers, copied; the mapping of this process is replaced, the checker's stays.
        let replaced = unsafe {
            let header = std::slice::from_raw_parts(address as *const u8, used).to_vec();
            let wanted = [address, size_of::<Shared>(), READ_WRITE, PRIVATE_FIXED, usize::MAX, 0];
            let replaced = system_call(number::MMAP, wanted) == address as isize;
            if replaced {
                (address as *mut u8).copy_from_nonoverlapping(header.as_ptr(), used);
            }
            replaced
        };
        (w.shared.filtered, w.shared.leaked, w.shared.waiting) = (0, 0, 0);
        (w.shared.copies, w.shared.copies_lost) = (0, 0);
        (w.shared.symmetry_tests, w.shared.symmetry_found) = (0, 0);
        self.known = w.knowledge();
        (w.outside_noted, w.is_copy) = (false, true);
        w.rewatch();
        replaced
    }
}

fn has_ended(process: usize) -> bool {
    const WAITID: usize = 247;
    // P_PID; WNOHANG, WEXITED, WNOWAIT: the process stays to be waited for.
    let mut information = [0i32; 32];
    let address = information.as_mut_ptr() as usize;
    // SAFETY: room for a siginfo_t.
    let result = unsafe { system_call(WAITID, [1, process, address, 1 | 4 | 0x0100_0000, 0, 0]) };
    result < 0 || information[0] != 0
}

/// Waits while the word, which other processes see, has this value; not for long.
fn wait_for_change(word: &AtomicU32, value: u32) {
    let time = [0usize, POLL.as_nanos() as usize];
    let address = std::ptr::from_ref(word) as usize;
    // SAFETY: FUTEX_WAIT on a valid word with a timeout.
    unsafe { system_call(number::FUTEX, [address, 0, value as usize, time.as_ptr() as usize, 0, 0]) };
}

impl Observer for Workers {
    fn execution(&mut self, outcome: Outcome, progress: &Progress<'_>) -> ControlFlow<()> {
        self.made(progress, 1)?;
        if world().memory != 0 && outcome.ending == Ending::Infeasible {
            // A graph that is not completed: nothing was seen of it.
            return ControlFlow::Continue(());
        }
        let code = (outcome.ending as u64) << 56 | outcome.hash >> 8;
        let new = self.note(code);
        keep(code, new);
        ControlFlow::Continue(())
    }

    fn cut(&mut self, progress: &Progress<'_>) -> ControlFlow<()> {
        self.made(progress, 0)
    }
}

impl Workers {
    /// An execution was made, which counts as so many complete ones.
    fn made(&mut self, progress: &Progress<'_>, complete: u64) -> ControlFlow<()> {
        let mut w = world();
        let s = progress.statistics;
        let learnt = w.shared.symmetry != 0 && w.knowledge() != self.known;
        if self.message.is_some() && (w.grown || w.files_ever_changed || w.outside_noted || learnt) {
            // The original must see this for itself.
            self.finish(None);
        }
        self.since += 1;
        w.shared.executions = s.executions;
        if let Some(common) = self.common {
            w.shared.executions = common.executions.fetch_add(complete, Relaxed) + complete;
            if common.running() > 1 {
                w.shared.together = common.together.fetch_add(complete, Relaxed) + complete;
            }
        }
        (w.shared.blocked, w.shared.cut, w.shared.pruned) = (s.sleep_set_blocked, s.cut, s.pruned_symmetric);
        (w.shared.depth, w.shared.images, w.shared.infeasible) = (s.depth as u64, s.images, s.infeasible);
        if self.message.is_some() {
            self.beat();
        }
        let ends = w.grown || w.shared.stop != 0;
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Says whether there was no such outcome before.
    fn note(&mut self, code: u64) -> bool {
        let mut w = world();
        let new = self.outcomes.len() < OUTCOMES && self.outcomes.insert(code);
        if new {
            let index = self.outcomes.len() - 1;
            w.shared.outcomes[index] = code;
            w.shared.outcomes_length = index as u32 + 1;
        }
        new
    }
}

impl Helpers for Workers {
    fn wanted(&mut self) -> bool {
        let Some(common) = self.common else { return false };
        if self.since < self.gap || world().files_ever_changed {
            return false;
        }
        common.running() < self.most
    }

    fn duplicate(&mut self) -> Option<Side> {
        const FORK: usize = 57;
        let common = self.common?;
        let message = Message::new(map_for_copies(words() * 8)?);
        let claim = (0..SLOTS).find_map(|slot| {
            let word = common.slots[slot].state.load(SeqCst);
            let claimed = word % STATES == FREE
                && common.slots[slot].state.compare_exchange(word, word + RUNNING, SeqCst, SeqCst).is_ok();
            claimed.then_some((slot, word + RUNNING))
        });
        let Some((slot, state)) = claim else {
            message.unmap();
            return None;
        };
        common.slots[slot].parent.store(self.own as u32, SeqCst);
        self.since = 0;
        // SAFETY: the copy has this kernel thread alone; the donors' stacks and control blocks are memory.
        let process = unsafe { system_call(FORK, [0; 6]) };
        if process == 0 {
            if !self.settle(slot, state, message) {
                self.finish(None);
            }
            return Some(Side::Copy);
        }
        if process < 0 {
            message.unmap();
            self.free_slot(slot);
            return None;
        }
        world().shared.copies += 1;
        self.copies.push(Copy { job: slot, process: process as usize, state, message });
        Some(Side::Original(slot))
    }

    fn wait(&mut self, job: Job) -> Option<Found> {
        let copy = self.take(job)?;
        self.set_own_state(WAITING);
        let finished = self.has_finished(&copy);
        self.set_own_state(RUNNING);
        let found = if finished { copy.message.read() } else { None };
        self.end(&copy, !finished);
        world().shared.together = self.common.map_or(0, |common| common.together.load(Relaxed));
        let Some((found, outcomes)) = found else {
            world().shared.copies_lost += 1;
            return None;
        };
        for code in outcomes {
            self.note(code);
        }
        let executions = found.statistics.executions;
        if executions < SMALL {
            self.gap = (self.gap * 2 + 50).min(LONGEST_GAP);
        } else if executions > LARGE {
            self.gap /= 2;
        }
        Some(found)
    }

    fn cancel(&mut self, job: Job) {
        if let Some(copy) = self.take(job) {
            world().shared.copies_lost += 1;
            self.end(&copy, true);
            self.gap = (self.gap * 2 + 50).min(LONGEST_GAP);
        }
    }

    fn finish(&mut self, found: Option<Found>) -> ! {
        let written = match (&self.message, found) {
            (Some(message), Some(found)) => message.write(&found, &self.outcomes),
            _ => false,
        };
        while let Some(copy) = self.copies.pop() {
            self.end(&copy, true);
        }
        if written {
            self.set_own_state(FINISHED);
        }
        if let Some(common) = self.common {
            let address = &raw const common.slots[self.own].state as usize;
            // SAFETY: FUTEX_WAKE on a valid word.
            unsafe { system_call(number::FUTEX, [address, 1, i32::MAX as usize, 0, 0, 0]) };
        }
        exit_process(0)
    }

    fn executions(&self) -> u64 {
        self.common.map_or(0, |common| common.executions.load(Relaxed))
    }

    fn stopped(&self) -> bool {
        self.common.is_some_and(|common| common.stop.load(Relaxed) != 0)
    }

    fn stop(&mut self) {
        if let Some(common) = self.common {
            common.stop.store(1, Relaxed);
        }
    }
}
