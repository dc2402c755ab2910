//! Mutexes of all kinds, and spin locks.
//!
//! An object's value is 1 if the mutex is free and 0 if somebody has it. The kind (normal, recursive, error checking, robust)
//! is what the C library's own initialisation writes into the `pthread_mutex_t`. A timed lock gets the mutex if it is free
//! and times out if it is not: waiting is being scheduled later.

use crate::exploration::object::NOBODY;
use crate::exploration::race::How;
use crate::exploration::world::{Pending, Runtime, World, active, fail, running, visible, world};
use crate::pass_on;
use crate::primitives::lifecycle::{Primitive, before_initialisation, destroy, initialised, operate};
use crate::protocol::{FailureKind, Op};

const EPERM: i32 = 1;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const EDEADLK: i32 = 35;
const ETIMEDOUT: i32 = 110;
const EOWNERDEAD: i32 = 130;
const ENOTRECOVERABLE: i32 = 131;

/// States of a robust mutex, in `set`: as any other; its owner has ended; locked since then; given up.
const SOUND: u64 = 0;
const ORPHANED: u64 = 1;
const INCONSISTENT: u64 = 2;
const LOST: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Recursive,
    ErrorCheck,
}

/// The kind of the mutex, and whether it is robust, from glibc's layout.
fn kind(mutex: usize) -> (Kind, bool) {
    // SAFETY: a pthread_mutex_t of the program: its kind is the fifth word.
    let word = unsafe { *((mutex + 16) as *const i32) };
    let kind = match word & 3 {
        1 => Kind::Recursive,
        2 => Kind::ErrorCheck,
        _ => Kind::Normal,
    };
    (kind, word & 16 != 0)
}

impl World {
    /// The running thread has got the mutex.
    pub fn take_mutex(&mut self, number: u32) {
        let me = self.current as u8;
        let state = self.objects.state(number);
        (state.owner, state.count, state.value) = (me, 1, 0);
        self.acquire_object(number);
        self.note_taken(number);
    }

    /// The running thread gives the mutex back.
    pub fn give_mutex(&mut self, number: u32) {
        let state = self.objects.state(number);
        (state.owner, state.count, state.value) = (NOBODY, 0, 1);
        self.release_object(number);
        self.note_given(number);
    }
}

impl Runtime {
    /// Takes note of the use of a primitive: its memory must exist, and nothing may free it meanwhile.
    pub fn use_primitive(mut self, address: usize, size: usize) {
        if running() {
            self.check_address(address, size, true);
            if self.threaded {
                self.note_access(address, 1, How { write: true, atomic: true });
                // The runtime looks at it without a hook.
                self.note_stale(address, size, false);
            }
        }
    }

    /// The number of the mutex at `address`, which is about to be used for `what`.
    pub fn mutex(self, address: usize, what: &str) -> u32 {
        self.primitive(Primitive::Mutex, address, what)
    }
}

/// The result of taking a mutex whose owner may have ended.
fn taken(number: u32, mutex: usize, robust: bool) -> i32 {
    if !robust {
        return 0;
    }
    world().me().robust.push(mutex);
    let mut w = world();
    let state = w.objects.state(number);
    if state.set == ORPHANED {
        state.set = INCONSISTENT;
        return EOWNERDEAD;
    }
    0
}

/// The running thread ends: robust mutexes that it has are given to others, who are told.
pub fn abandon_robust() {
    while let Some(mutex) = world().me().robust.pop() {
        let number = world().objects.number(mutex);
        visible(Pending::on(Op::OwnerDies, number, mutex));
        let mut w = world();
        w.give_mutex(number);
        let state = w.objects.state(number);
        state.set = if state.set == INCONSISTENT || state.set == SOUND { ORPHANED } else { state.set };
    }
}

fn lock(mutex: usize, op: Op) -> i32 {
    let mut w = world();
    let number = w.mutex(mutex, "lock");
    let (kind, robust) = kind(mutex);
    if kind != Kind::Normal && w.objects.state(number).owner == w.current as u8 {
        // Only the owner itself can be here, so this is nobody else's business.
        w.note_changed();
        return match (kind, op) {
            (Kind::Recursive, _) => {
                w.objects.state(number).count += 1;
                0
            }
            (_, Op::TryLock) => EBUSY,
            _ => EDEADLK,
        };
    }
    operate(Primitive::Mutex, Pending::on(op, number, mutex), "lock");
    let mut w = world();
    if op != Op::Lock && w.objects.state(number).value == 0 {
        w.note_looked(number);
        return if op == Op::TryLock { EBUSY } else { ETIMEDOUT };
    }
    if robust {
        w.note_changed();
    }
    if robust && w.objects.state(number).set == LOST {
        return ENOTRECOVERABLE;
    }
    w.take_mutex(number);
    w.note_lock(number);
    taken(number, mutex, robust)
}

/// `pthread_mutex_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(mutex: usize, attributes: usize) -> i32 {
    before_initialisation(Primitive::Mutex, mutex);
    // It writes the kind.
    let result = pass_on!("pthread_mutex_init", fn(usize, usize) -> i32; mutex, attributes);
    if result == 0 {
        initialised(Primitive::Mutex, mutex);
    }
    result
}

/// `pthread_mutex_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_destroy(mutex: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_mutex_destroy", fn(usize) -> i32; mutex);
    }
    destroy(Primitive::Mutex, mutex);
    0
}

/// `pthread_mutex_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(mutex: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_mutex_lock", fn(usize) -> i32; mutex);
    }
    lock(mutex, Op::Lock)
}

/// `pthread_mutex_trylock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_trylock(mutex: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_mutex_trylock", fn(usize) -> i32; mutex);
    }
    lock(mutex, Op::TryLock)
}

/// `pthread_mutex_timedlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_timedlock(mutex: usize, time: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_mutex_timedlock", fn(usize, usize) -> i32; mutex, time);
    }
    lock(mutex, Op::TimedLock)
}

/// `pthread_mutex_clocklock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_clocklock(mutex: usize, clock: i32, time: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_mutex_clocklock", fn(usize, i32, usize) -> i32; mutex, clock, time);
    }
    lock(mutex, Op::TimedLock)
}

/// `pthread_mutex_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_unlock(mutex: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_mutex_unlock", fn(usize) -> i32; mutex);
    }
    let mut w = world();
    let number = w.mutex(mutex, "unlock");
    let (kind, robust) = kind(mutex);
    let (owner, count) = (w.objects.state(number).owner, w.objects.state(number).count);
    if owner != w.current as u8 {
        if kind != Kind::Normal || robust {
            return EPERM;
        }
        let text = match owner {
            NOBODY => "unlock of a mutex that is not locked".to_owned(),
            owner => format!("unlock of a mutex that thread {owner} has locked"),
        };
        fail(FailureKind::Misuse, &text, mutex);
    }
    if count > 1 {
        w.note_changed();
        w.objects.state(number).count -= 1;
        return 0;
    }
    visible(Pending::on(Op::Unlock, number, mutex));
    world().give_mutex(number);
    world().note_unlock(number);
    if robust {
        let mut w = world();
        w.me().robust.retain(|held| *held != mutex);
        let state = w.objects.state(number);
        if state.set == INCONSISTENT {
            state.set = LOST;
        }
    }
    0
}

/// `pthread_mutex_consistent`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_consistent(mutex: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_mutex_consistent", fn(usize) -> i32; mutex);
    }
    let mut w = world();
    let number = w.mutex(mutex, "repair");
    let me = w.current as u8;
    let state = w.objects.state(number);
    if state.owner != me || state.set != INCONSISTENT {
        return EINVAL;
    }
    state.set = SOUND;
    0
}

/// `pthread_spin_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_init(lock: usize, shared: i32) -> i32 {
    before_initialisation(Primitive::SpinLock, lock);
    let result = pass_on!("pthread_spin_init", fn(usize, i32) -> i32; lock, shared);
    initialised(Primitive::SpinLock, lock);
    result
}

/// `pthread_spin_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_destroy(lock: usize) -> i32 {
    if active() {
        destroy(Primitive::SpinLock, lock);
    }
    0
}

fn spin(address: usize, op: Op) -> i32 {
    let number = world().primitive(Primitive::SpinLock, address, "lock");
    operate(Primitive::SpinLock, Pending::on(op, number, address), "lock");
    let mut w = world();
    if op == Op::TryLock && w.objects.state(number).value == 0 {
        w.note_looked(number);
        return EBUSY;
    }
    w.take_mutex(number);
    w.note_lock(number);
    0
}

/// `pthread_spin_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_lock(lock: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_spin_lock", fn(usize) -> i32; lock);
    }
    spin(lock, Op::Lock)
}

/// `pthread_spin_trylock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_trylock(lock: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_spin_trylock", fn(usize) -> i32; lock);
    }
    spin(lock, Op::TryLock)
}

/// `pthread_spin_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_unlock(lock: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_spin_unlock", fn(usize) -> i32; lock);
    }
    let number = world().primitive(Primitive::SpinLock, lock, "unlock");
    if world().objects.state(number).owner != world().current as u8 {
        fail(FailureKind::Misuse, "unlock of a spin lock by a thread that does not have it", lock);
    }
    visible(Pending::on(Op::Unlock, number, lock));
    world().give_mutex(number);
    world().note_unlock(number);
    0
}
