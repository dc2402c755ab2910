//! The life of a primitive: initialised once, used, destroyed, perhaps initialised again.
//!
//! Everything that uses a mutex, spin lock, condition variable, reader-writer lock, barrier or semaphore asks here first, and
//! asks again after it had to wait for its turn, since the primitive may have been destroyed meanwhile. What is found wrong is
//! undefined by POSIX:
//!
//! - use, or destruction, of a primitive that was destroyed;
//! - initialisation of one that exists, in particular one that somebody has locked or waits on;
//! - destruction of one that somebody has locked or waits on;
//! - use of one that was never initialised.
//!
//! A static initialiser calls nothing, so whether there was one is read off the memory. Mutexes, condition variables and
//! reader-writer locks in zeroed static memory count as initialised. Elsewhere:
//!
//! - Heap blocks are filled with a pattern when they are allocated (`heap`): a primitive whose first words still have it
//!   was written by nobody, not even by code without hooks.
//! - On a stack, the hooks of writes say which words were written since the function that they belong to was entered
//!   (`stack`). Only primitives that instrumented code uses are judged by that.
//! - A destroyed primitive is marked in its first word. If the mark is gone, something new was made of the memory.
//!
//! A second initialisation on a stack, of a primitive that nobody has locked or waits on: in a loop, the variable of the next
//! iteration lies at the same address and is another one. The checker decides that by the debugging information: variables of a whole
//! function are initialised twice, those of a block cannot be judged.
//!
//! An initialisation counts as a plain write: a use by another thread that nothing orders is a data race. If races are
//! allowed, it is a step, so that both orders are explored.

use crate::exploration::object::{NOBODY, Object};
use crate::exploration::race::{How, access};
use crate::exploration::world::{
    NOWHERE, Pending, Runtime, Status, World, active, controlled, fail, fail_at, running, visible, world,
};
use crate::primitives::rwlock::PLACES;
use crate::protocol::{FailureKind, Op, Place};

/// Written to the first word of what is destroyed.
const DESTROYED: u64 = 0x0000_6d6d_6d6d_6d6d;

/// The kinds of primitives that are initialised and destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Primitive {
    Mutex = 1,
    SpinLock,
    Condition,
    ReaderWriterLock,
    Barrier,
    Semaphore,
}

impl Primitive {
    /// With an article.
    fn name(self) -> &'static str {
        match self {
            Primitive::Mutex => "a mutex",
            Primitive::SpinLock => "a spin lock",
            Primitive::Condition => "a condition variable",
            Primitive::ReaderWriterLock => "a reader-writer lock",
            Primitive::Barrier => "a barrier",
            Primitive::Semaphore => "a semaphore",
        }
    }

    /// How large it is at least, on any platform.
    fn bytes(self) -> usize {
        match self {
            Primitive::Mutex => 24,
            Primitive::SpinLock => 4,
            Primitive::Condition => 48,
            Primitive::ReaderWriterLock => 32,
            Primitive::Barrier => 20,
            Primitive::Semaphore => 16,
        }
    }

    /// Can it be initialised without a call?
    fn has_initialiser(self) -> bool {
        matches!(self, Primitive::Mutex | Primitive::Condition | Primitive::ReaderWriterLock)
    }

    /// The value that blocking operations find in a new one.
    fn value(self) -> i64 {
        match self {
            Primitive::Mutex | Primitive::SpinLock => 1,
            Primitive::ReaderWriterLock => PLACES,
            Primitive::Condition | Primitive::Barrier | Primitive::Semaphore => 0,
        }
    }
}

impl Object {
    /// Is this the state of such a primitive?
    fn is(&self, kind: Primitive) -> bool {
        self.known && self.kind == kind as u8
    }
}

/// The first word of a primitive that can be initialised without a call: these have more than one.
fn first_word(address: usize) -> *mut u64 {
    address as *mut u64
}

impl World {
    /// Has nobody written to this memory since it was allocated?
    fn is_untouched(&mut self, kind: Primitive, address: usize) -> bool {
        if crate::memory::heap::contains(address) {
            return crate::memory::heap::is_untouched(address, kind.bytes());
        }
        crate::threads::stack::owner(address).is_some_and(|owner| {
            self.threads[owner].is_untouched(address, kind.bytes()) && self.user_is_instrumented()
        })
    }

    /// A new primitive at `address`.
    fn begin(&mut self, kind: Primitive, number: u32, address: usize) {
        self.objects.state(number).begin(kind as u8, kind.value());
        if let Some(owner) = crate::threads::stack::owner(address) {
            self.threads[owner].stack_notes.has_primitive(address, number);
        }
    }

    /// Who has locked it or waits on it, if anybody.
    fn in_use(&self, kind: Primitive, number: u32) -> Option<String> {
        let state = self.objects.peek(number)?;
        match kind {
            Primitive::Mutex | Primitive::SpinLock => {
                (state.owner != NOBODY).then(|| format!("that thread {} has locked", state.owner))
            }
            Primitive::ReaderWriterLock => (state.value != PLACES).then(|| "that is locked".to_owned()),
            Primitive::Condition => {
                (!state.waiters.is_empty()).then(|| format!("with {} waiting", state.waiters.len()))
            }
            Primitive::Barrier => (state.set != 0).then(|| "at which threads wait".to_owned()),
            Primitive::Semaphore => {
                let waits = |t: &usize| {
                    let thread = &self.threads[*t];
                    *t != self.current
                        && thread.status == Status::Ready
                        && thread.pending.op == Op::SemaphoreWait
                        && thread.pending.object == number
                };
                let waiting = (0..self.threads.len()).find(waits).filter(|_| state.value < 1);
                waiting.map(|t| format!("for which thread {t} waits"))
            }
        }
    }
}

impl Runtime {
    /// The number of the primitive at `address`, which is about to be used for `what`.
    pub fn primitive(mut self, kind: Primitive, address: usize, what: &str) -> u32 {
        self.use_primitive(address, kind.bytes());
        let number = self.objects.number(address);
        let state = self.objects.state(number);
        if !state.is(kind) || state.destroyed {
            self.meet(kind, number, address, what);
        }
        number
    }

    /// Looks at a primitive that is not known to exist.
    #[cold]
    fn meet(mut self, kind: Primitive, number: u32, address: usize, what: &str) {
        let state = self.objects.state(number);
        // SAFETY: memory of the program, which is about to use it as such a primitive.
        let first = || unsafe { first_word(address).read_unaligned() };
        if state.is(kind) && (!kind.has_initialiser() || first() == DESTROYED) {
            destroyed(kind, address, what);
        }
        if !kind.has_initialiser() {
            let text = format!("use of {} that was not initialised", kind.name());
            fail(FailureKind::Misuse, &text, address);
        }
        if running() && self.is_untouched(kind, address) {
            let text = format!("{what} of {} that was never initialised", kind.name());
            fail(FailureKind::Misuse, &text, address);
        }
        self.begin(kind, number, address);
    }
}

#[cold]
fn destroyed(kind: Primitive, address: usize, what: &str) -> ! {
    fail(FailureKind::Misuse, &format!("{what} of {} that was destroyed", kind.name()), address)
}

/// Announces an operation on a primitive and waits for its turn; the primitive must still exist then.
pub fn operate(kind: Primitive, pending: Pending, what: &str) -> u16 {
    let alternative = visible(pending);
    if world().objects.state(pending.object).destroyed {
        destroyed(kind, pending.address, what);
    }
    alternative
}

/// Before the C library initialises the primitive at `address`.
pub fn before_initialisation(kind: Primitive, address: usize) {
    if !active() {
        return;
    }
    access(address, kind.bytes(), How::WRITE);
    let mut w = world();
    let number = w.objects.number(address);
    if w.shared.allow_races != 0 && w.threaded {
        visible(Pending::on(Op::Initialise, number, address));
    }
    let mut w = world();
    let state = w.objects.state(number);
    if !state.is(kind) || state.destroyed {
        return;
    }
    if let Some(use_) = w.in_use(kind, number) {
        fail(FailureKind::Misuse, &format!("initialisation of {} {use_}", kind.name()), address);
    }
    let text = format!("initialisation of {} that is initialised already", kind.name());
    let there = match crate::threads::stack::owner(address) {
        Some(_) => w.frame_around(address),
        None => NOWHERE,
    };
    let here = Place { thread: w.current as u8, address: address as u64, stack: w.stack_here(), ..NOWHERE };
    fail_at(FailureKind::Misuse, &text, here, there)
}

/// After that. Gives the number of the primitive, if the program is under control.
pub fn initialised(kind: Primitive, address: usize) -> Option<u32> {
    controlled().then(|| {
        let mut w = world();
        let number = w.objects.number(address);
        w.begin(kind, number, address);
        number
    })
}

/// Destroys the primitive at `address`: nobody may use it any more.
pub fn destroy(kind: Primitive, address: usize) {
    let number = world().primitive(kind, address, "destruction");
    operate(kind, Pending::on(Op::Destroy, number, address), "destruction");
    let mut w = world();
    if let Some(use_) = w.in_use(kind, number) {
        fail(FailureKind::Misuse, &format!("destruction of {} {use_}", kind.name()), address);
    }
    if kind == Primitive::Barrier && w.arrives_unordered(number) {
        let text = "destruction of a barrier at which a thread arrives that may still be on its way";
        fail(FailureKind::Misuse, text, address);
    }
    w.objects.state(number).destroyed = true;
    if kind.has_initialiser() {
        // SAFETY: memory of the program, which says that there is such a primitive, and may not look at it any more.
        unsafe { first_word(address).write_unaligned(DESTROYED) };
    }
}
