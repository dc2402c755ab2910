//! Signals that the program sends to itself: dispositions, masks, sending, handlers.
//!
//! All of this is kept here; the kernel is not asked. Everything that other threads can notice of it is one object: sending and
//! changing dispositions or masks writes it, a point at which a thread may run a handler (`interruption`) reads it. As with
//! cancellation, threads pay for this only if some execution sends them a signal that they handle ([`Signals::receivers`]).
//!
//! A signal to the process goes to a thread that does not block it or waits for it: which one is a choice, made when it
//! is sent. If that thread blocks the signal before it has handled it, or ends, the signal goes to another one: that is what
//! would have happened had the other one been chosen at once, so such an execution is left out as infeasible; if there is no
//! other one the signal stays pending for the process. A signal that is pending twice is pending once.
//!
//! Handlers run at visible operations of the receiver. Real-time signals do not queue up. A signal whose default action ends the
//! program is a crash. Signals from outside never come.

use crate::exploration::world::{Pending, Runtime, Status, World, announce, fail, visible, world};
use crate::protocol::{FailureKind, Op, THREADS, why};

const EINVAL: i32 = 22;
/// The number of signals, and one more.
const SIGNALS: usize = 65;
/// Stands for the object: no address of the program.
const OBJECT: usize = 0x800;
/// The same for what threads receive.
const FIRST_RECEIVER: usize = 0xa00;

/// No handler: what happens by default.
pub const DEFAULT: usize = 0;
const IGNORE: usize = 1;
// Flags of `sigaction`.
const WITH_INFORMATION: i32 = 4;
/// What a handler interrupts is done again.
pub const RESTART: i32 = 0x1000_0000;
const NO_DEFER: i32 = 0x4000_0000;
const RESET: i32 = i32::MIN;

/// SIGKILL and SIGSTOP can be neither blocked nor handled.
pub const FREE: u64 = !(1 << 8 | 1 << 18);
/// Signals that do nothing by default: SIGCHLD, SIGCONT, SIGURG, SIGWINCH.
pub const HARMLESS: [i32; 4] = [17, 18, 23, 28];
/// Signals that stop the process by default: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
pub const STOPPING: [i32; 4] = [19, 20, 21, 22];
/// SIGPIPE.
const BROKEN_PIPE: i32 = 13;

/// What a signal does.
#[derive(Clone, Copy, Default)]
pub struct Action {
    /// The handler, or what stands for none.
    pub handler: usize,
    /// Signals blocked while it runs.
    pub mask: u64,
    /// Flags of `sigaction`.
    pub flags: i32,
}

/// The state of the process.
pub struct Signals {
    /// Does any execution send signals?
    pub used: bool,
    /// Threads that handle signals in some execution, as a set.
    pub receivers: u64,
    actions: [Action; SIGNALS],
    /// At the start of every execution.
    initial: [Action; SIGNALS],
    /// Sent to the process, blocked by all.
    pending: u64,
    /// Have dispositions changed?
    changed: bool,
    /// The number of the object of all this, once it is known.
    pub object: u32,
}

impl Default for Signals {
    fn default() -> Signals {
        let actions = [Action::default(); SIGNALS];
        Signals {
            used: false,
            receivers: 0,
            actions,
            initial: actions,
            pending: 0,
            changed: false,
            object: 0,
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    /// Nothing.
    #[default]
    Nothing,
    /// One of these, to take it.
    Take(u64),
    /// One that it handles.
    Handle,
}

/// The state of a thread.
#[derive(Clone, Default)]
pub struct ThreadSignals {
    /// What it blocks.
    pub mask: u64,
    /// Sent to it.
    pending: u64,
    /// Sent to the process, and this thread was chosen.
    chosen: u64,
    /// Threads that could have been chosen instead.
    rivals: u64,
    /// What it waits for.
    pub wanted: Wanted,
    /// Has it decided to be interrupted where it waits?
    pub decided: bool,
    /// Where the innermost handler that it runs was called; 0 if there is none.
    pub handler_frame: usize,
}

/// The bit of a signal.
pub fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

pub fn is_signal(signal: i32) -> bool {
    (1..SIGNALS as i32).contains(&signal)
}

impl Signals {
    /// What constructors did holds at the start of every execution.
    pub fn set_baseline(&mut self) {
        (self.initial, self.changed) = (self.actions, false);
    }

    /// Back to the start.
    pub fn restart(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.actions = self.initial;
        }
        self.pending = 0;
    }

    /// What a signal does.
    pub fn action(&self, signal: i32) -> Action {
        self.actions[signal as usize]
    }

    /// Changes what a signal does.
    pub fn set_action(&mut self, signal: i32, new: Action) {
        self.actions[signal as usize] = new;
        self.changed = true;
    }

    fn is_ignored(&self, signal: i32) -> bool {
        let handler = self.action(signal).handler;
        handler == IGNORE || handler == DEFAULT && HARMLESS.contains(&signal)
    }

    fn is_handled(&self, signal: i32) -> bool {
        self.action(signal).handler > IGNORE
    }
}

impl World {
    /// The object of all that concerns signals.
    pub fn signal_object(&mut self) -> u32 {
        self.signals.object = self.objects.number(OBJECT);
        self.signals.object
    }

    /// The object by which what happens before signals were sent to `thread` is known to it.
    fn sent_to(&mut self, thread: usize) -> u32 {
        self.objects.number(FIRST_RECEIVER + 8 * thread)
    }

    /// Does this thread look for signals at its visible operations?
    #[inline]
    pub fn is_receiver(&self, thread: usize) -> bool {
        self.signals.receivers >> thread & 1 != 0
    }

    /// The signals that this thread can handle now.
    fn deliverable(&self, thread: usize) -> u64 {
        let t = &self.threads[thread].signals;
        (t.pending | t.chosen) & !t.mask
    }

    /// Is there a signal for this thread?
    pub fn has_signal(&self, thread: usize) -> bool {
        self.deliverable(thread) != 0
    }

    fn accepts(&self, thread: usize, signal: i32) -> bool {
        let t = &self.threads[thread].signals;
        match t.wanted {
            Wanted::Take(set) => set & bit(signal) != 0,
            _ => t.mask & bit(signal) == 0,
        }
    }

    /// Does a thread that waits for signals go on when it gets this one?
    fn is_woken_by(&self, thread: usize, signal: i32) -> bool {
        let waits = matches!(self.threads[thread].status, Status::Waiting { .. });
        waits
            && match self.threads[thread].signals.wanted {
                Wanted::Nothing => false,
                Wanted::Take(set) => set & bit(signal) != 0,
                Wanted::Handle => self.accepts(thread, signal) && self.signals.is_handled(signal),
            }
    }

    /// Who may get a signal that is sent as `pending` says.
    fn possible_receivers(&self, pending: &Pending) -> Vec<usize> {
        let (signal, target) = decode(pending);
        let lives = |&t: &usize| self.threads[t].lives();
        match target {
            Some(target) => Some(target).filter(lives).into_iter().collect(),
            None => (0..self.named.min(THREADS)).filter(lives).filter(|&t| self.accepts(t, signal)).collect(),
        }
    }

    /// In how many ways a signal can be sent, and who is woken in one of them.
    pub fn ways_to_send(&self, pending: &Pending, alternative: u16) -> (u16, Option<usize>) {
        let receivers = self.possible_receivers(pending);
        let (signal, _) = decode(pending);
        let receiver = receivers.get(alternative as usize).copied();
        (receivers.len().max(1) as u16, receiver.filter(|&t| self.is_woken_by(t, signal)))
    }

    /// Takes one of these signals that are pending for the running thread.
    pub fn take_signal(&mut self, set: u64) -> Option<i32> {
        let me = self.current;
        let t = &self.threads[me].signals;
        let all = (t.pending | t.chosen | self.signals.pending) & set;
        if all == 0 {
            return None;
        }
        let first = all & all.wrapping_neg();
        let (process, own) = (self.signal_object(), self.sent_to(me));
        self.acquire_object(process);
        self.acquire_object(own);
        let t = &mut self.threads[me].signals;
        for pending in [&mut t.pending, &mut t.chosen, &mut self.signals.pending] {
            if *pending & first != 0 {
                *pending &= !first;
                break;
            }
        }
        Some(first.trailing_zeros() as i32 + 1)
    }

    /// Signals to the process that nobody wanted are now for the running thread.
    pub fn adopt_signals(&mut self) {
        let mask = self.me().signals.mask;
        let taken = self.signals.pending & !mask;
        self.signals.pending &= mask;
        self.me().signals.chosen |= taken;
    }

    /// The signals that are pending for the running thread.
    pub fn pending_signals(&self) -> u64 {
        let t = &self.threads[self.current].signals;
        (t.pending | t.chosen | self.signals.pending) & t.mask
    }
}

impl Runtime {
    /// The running thread does not want these signals to the process any more. Says whether that is possible: not if somebody
    /// else could have been chosen.
    fn give_back(mut self, set: u64) -> bool {
        let me = self.current;
        let given = self.threads[me].signals.chosen & set;
        self.threads[me].signals.chosen &= !set;
        self.signals.pending |= given;
        let others = (0..self.named.min(THREADS)).filter(|&t| t != me && self.threads[t].lives());
        let rivals = self.threads[me].signals.rivals;
        let signals = || (1..SIGNALS as i32).filter(|&s| given & bit(s) != 0);
        let accepts = |t: usize| signals().any(|s| self.accepts(t, s));
        if others.clone().any(|t| rivals >> t & 1 != 0 && accepts(t)) {
            return false;
        }
        if others.clone().any(accepts) {
            refuse_second_receiver();
        }
        true
    }

    /// The running thread can take these signals now. If one of them is on its way to another thread, that would have to be
    /// a choice.
    fn check_no_theft(self, set: u64) {
        let me = self.current;
        let stolen = |t: &ThreadSignals| t.chosen & set != 0 && t.rivals >> me & 1 == 0;
        if self
            .threads
            .iter()
            .enumerate()
            .any(|(t, thread)| t != me && thread.lives() && stolen(&thread.signals))
        {
            refuse_second_receiver();
        }
    }

    /// The state of signals is about to be changed by the running thread, or looked at.
    pub fn touch_signals(mut self, op: Op) {
        if self.signals.used {
            let number = self.signal_object();
            visible(Pending::on(op, number, 0));
        }
    }
}

fn refuse_second_receiver() -> ! {
    fail(FailureKind::Refused, "a signal to the process that a second thread unblocks while it is pending", 0)
}

/// Signal and target of an operation that sends.
fn decode(pending: &Pending) -> (i32, Option<usize>) {
    ((pending.address & 0xff) as i32, (pending.address >> 8).checked_sub(1))
}

/// The running thread leaves the exploration: what it stands for is covered elsewhere.
fn leave_as_infeasible() -> ! {
    world().me().status = Status::Assumed;
    loop {
        world().leave();
    }
}

/// Sends a signal to a thread, or to the process.
pub fn send(signal: i32, target: Option<usize>) -> i32 {
    if signal == 0 {
        return 0;
    }
    if !is_signal(signal) {
        return EINVAL;
    }
    let mut w = world();
    if STOPPING.contains(&signal) && !w.signals.is_handled(signal) {
        fail(FailureKind::Refused, &format!("signal {signal}: stopping processes is not supported"), 0);
    }
    if !w.signals.used {
        // What was done to masks and dispositions so far was not a step: everything starts again.
        (w.signals.used, w.grown) = (true, true);
        w.signal_object();
        w.abandon();
    }
    let everybody = u64::MAX >> (64 - w.named.clamp(1, THREADS));
    w.break_symmetry(target.map_or(everybody, |t| 1 << t), why::IDENTITY);
    let number = w.signal_object();
    let address = signal as usize | target.map_or(0, |t| t + 1) << 8;
    let pending = Pending { address, ..Pending::on(Op::SendSignal, number, 0) };
    let alternative = visible(pending);
    let mut w = world();
    let receivers = w.possible_receivers(&pending);
    let Some(receiver) = receivers.get(alternative as usize).copied() else {
        if target.is_none() && !w.signals.is_ignored(signal) {
            w.release_object(number);
            w.signals.pending |= bit(signal);
        }
        return 0;
    };
    let blocked = w.threads[receiver].signals.mask & bit(signal) != 0;
    let woken = w.is_woken_by(receiver, signal);
    let taken = woken && w.threads[receiver].signals.wanted != Wanted::Handle;
    if !blocked && !taken {
        if w.signals.is_ignored(signal) {
            return 0;
        }
        if !w.signals.is_handled(signal) {
            end_program(signal);
        }
        if receiver != w.current && !w.is_receiver(receiver) {
            // It did not look for signals so far.
            w.signals.receivers |= 1 << receiver;
            w.grown = true;
            w.abandon();
        }
    }
    let own = w.sent_to(receiver);
    w.release_object(own);
    let t = &mut w.threads[receiver];
    if target.is_some() {
        t.signals.pending |= bit(signal);
    } else {
        t.signals.chosen |= bit(signal);
        t.signals.rivals |= receivers.iter().fold(0, |set, t| set | 1 << t);
    }
    if woken {
        let timed = matches!(t.status, Status::Waiting { timed: true });
        t.status = Status::Reacquiring { timed_out: false, timed };
    }
    0
}

pub fn end_program(signal: i32) -> ! {
    fail(FailureKind::Crash, &format!("signal {signal} ends the program: it has no handler"), 0)
}

/// Runs the handler of one of the signals of the running thread, if there is any; says whether what it interrupted is to
/// be done again. To be called where the object of signals was just accessed.
pub fn handle_one() -> Option<bool> {
    let mut w = world();
    let deliverable = w.deliverable(w.current);
    let signal = w.take_signal(deliverable)?;
    if w.signals.is_ignored(signal) {
        return Some(true);
    }
    let Action { handler, mask, flags } = w.signals.action(signal);
    if handler == DEFAULT {
        end_program(signal);
    }
    let itself = if flags & NO_DEFER == 0 { bit(signal) } else { 0 };
    let before = w.me().signals.mask;
    w.me().signals.mask = before | (mask | itself) & FREE;
    if flags & RESET != 0 {
        let number = w.signal_object();
        announce(Pending::on(Op::SignalState, number, 0));
        world().signals.set_action(signal, Action::default());
    }
    let here = 0u8;
    let outer = std::mem::replace(&mut world().me().signals.handler_frame, &raw const here as usize);
    call(handler, signal, flags);
    world().me().signals.handler_frame = outer;
    // Whoever sends signals looks at masks.
    let number = world().signal_object();
    announce(Pending::on(Op::SignalReturn, number, 0));
    world().me().signals.mask = before;
    Some(flags & RESTART != 0)
}

fn call(handler: usize, signal: i32, flags: i32) {
    if flags & WITH_INFORMATION == 0 {
        // SAFETY: the program's handler.
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(i32)>(handler)(signal) };
        return;
    }
    const FROM_USER: i32 = 0;
    let mut information = [0i32; 32];
    (information[0], information[2], information[4]) = (signal, FROM_USER, 1000);
    let context = [0u64; 128];
    type Handler = unsafe extern "C" fn(i32, *mut i32, *const u64);
    // SAFETY: the program's handler; a siginfo_t and a ucontext_t are not larger.
    unsafe {
        std::mem::transmute::<usize, Handler>(handler)(signal, information.as_mut_ptr(), context.as_ptr())
    };
}

/// The running thread has written to a pipe that nobody reads.
pub fn broken_pipe() {
    let mut w = world();
    let blocked = w.me().signals.mask & bit(BROKEN_PIPE) != 0;
    if w.signals.is_ignored(BROKEN_PIPE) {
        return;
    }
    if !blocked && !w.signals.is_handled(BROKEN_PIPE) {
        fail(FailureKind::Crash, "SIGPIPE: a write to a pipe that nobody can read", 0);
    }
    let me = w.current;
    send(BROKEN_PIPE, Some(me));
    handle_all();
}

/// Runs the handlers of signals that the running thread does not block.
pub fn handle_all() {
    while handle_one().is_some() {
        let number = world().signal_object();
        announce(Pending::on(Op::SignalReturn, number, 0));
    }
}

/// Replaces the mask of the running thread. Signals to the process that it blocks now go elsewhere.
pub fn set_mask(new: u64) {
    let mut w = world();
    w.me().signals.mask = new & FREE;
    if w.signals.used {
        if !w.give_back(new & FREE) {
            leave_as_infeasible();
        }
        w.check_no_theft(!new);
        w.adopt_signals();
    }
}

/// The running thread ends: signals to the process that it has not handled go elsewhere.
pub fn end_of_thread() {
    world().touch_signals(Op::SignalState);
    if !world().give_back(u64::MAX) {
        leave_as_infeasible();
    }
}
