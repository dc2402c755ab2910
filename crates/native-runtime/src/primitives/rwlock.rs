//! Reader-writer locks: a reader takes one place, a writer all of them.
//!
//! A thread may lock for reading what it has for reading, and unlocks it as often. As by default in the C library, a waiting writer keeps no
//! reader out. Locks that are made to prefer writers (`PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`) do, which can be a deadlock:
//! reading with them is not explored, and ends in "undecided".

use crate::exploration::clock::join;
use crate::exploration::object::NOBODY;
use crate::exploration::world::{Pending, Runtime, active, fail, running, visible, world};
use crate::primitives::lifecycle::{Primitive, before_initialisation, destroy, initialised, operate};
use crate::protocol::{FailureKind, Op};
use crate::{pass_on, real};

/// Places of a lock.
pub const PLACES: i64 = 1 << 20;
const EBUSY: i32 = 16;
const EDEADLK: i32 = 35;
const ETIMEDOUT: i32 = 110;

/// Where the C library keeps the kind of a lock, in four bytes, and the kind whose waiting writers keep readers out (glibc, x86-64).
const KIND: usize = 48;
const PREFERS_WRITERS: i32 = 2;

impl Runtime {
    fn rwlock(self, address: usize, what: &str) -> u32 {
        self.primitive(Primitive::ReaderWriterLock, address, what)
    }
}

fn lock(address: usize, op: Op, failure: i32) -> i32 {
    let number = world().rwlock(address, "lock");
    if world().objects.state(number).owner == world().current as u8 {
        world().note_changed();
        return if failure == 0 { EDEADLK } else { failure };
    }
    let reader = matches!(op, Op::ReadLock | Op::TryReadLock);
    // SAFETY: the program gives the address of a `pthread_rwlock_t`, which has 56 bytes.
    if reader && unsafe { ((address + KIND) as *const i32).read_unaligned() } == PREFERS_WRITERS {
        fail(
            FailureKind::Refused,
            "a reader-writer lock that prefers writers is locked for reading",
            address,
        );
    }
    operate(Primitive::ReaderWriterLock, Pending::on(op, number, address), "lock");
    let mut w = world();
    let me = w.current;
    let state = w.objects.state(number);
    let need = if reader { 1 } else { PLACES };
    if state.value < need {
        w.note_looked(number);
        return failure;
    }
    state.value -= need;
    if reader {
        if state.set >> me & 1 != 0 {
            state.waiters.push(me as u8);
        }
        state.set |= 1 << me;
    } else {
        state.owner = me as u8;
        let readers = state.readers_clock;
        w.acquire(&readers);
    }
    w.acquire_object(number);
    w.note_lock(number);
    0
}

/// `pthread_rwlock_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_init(lock: usize, attributes: usize) -> i32 {
    before_initialisation(Primitive::ReaderWriterLock, lock);
    let result = pass_on!("pthread_rwlock_init", fn(usize, usize) -> i32; lock, attributes);
    if result == 0 {
        initialised(Primitive::ReaderWriterLock, lock);
    }
    result
}

/// `pthread_rwlock_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_destroy(lock: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_rwlock_destroy", fn(usize) -> i32; lock);
    }
    destroy(Primitive::ReaderWriterLock, lock);
    0
}

macro_rules! locks {
    ($($name:ident $op:ident $failure:expr),*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(rwlock: usize, time: usize, time_2: usize) -> i32 {
            if !running() {
                // SAFETY: the program calls the C library's function of this name; arguments that this one has not are not looked at.
                return unsafe { real_lock!($name)(rwlock, time, time_2) };
            }
            lock(rwlock, Op::$op, $failure)
        }
    )* };
}

macro_rules! real_lock {
    (pthread_rwlock_rdlock) => {
        real!("pthread_rwlock_rdlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_wrlock) => {
        real!("pthread_rwlock_wrlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_tryrdlock) => {
        real!("pthread_rwlock_tryrdlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_trywrlock) => {
        real!("pthread_rwlock_trywrlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_timedrdlock) => {
        real!("pthread_rwlock_timedrdlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_timedwrlock) => {
        real!("pthread_rwlock_timedwrlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_clockrdlock) => {
        real!("pthread_rwlock_clockrdlock", fn(usize, usize, usize) -> i32)
    };
    (pthread_rwlock_clockwrlock) => {
        real!("pthread_rwlock_clockwrlock", fn(usize, usize, usize) -> i32)
    };
}

locks! {
    pthread_rwlock_rdlock ReadLock 0, pthread_rwlock_wrlock WriteLock 0,
    pthread_rwlock_tryrdlock TryReadLock EBUSY, pthread_rwlock_trywrlock TryWriteLock EBUSY,
    pthread_rwlock_timedrdlock TryReadLock ETIMEDOUT, pthread_rwlock_timedwrlock TryWriteLock ETIMEDOUT,
    pthread_rwlock_clockrdlock TryReadLock ETIMEDOUT, pthread_rwlock_clockwrlock TryWriteLock ETIMEDOUT
}

/// `pthread_rwlock_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_unlock(lock: usize) -> i32 {
    if !running() {
        return pass_on!("pthread_rwlock_unlock", fn(usize) -> i32; lock);
    }
    let number = world().rwlock(lock, "unlock");
    let me = world().current;
    let mut w = world();
    let state = w.objects.state(number);
    if state.owner != me as u8 && state.set >> me & 1 == 0 {
        fail(FailureKind::Misuse, "unlock of a reader-writer lock by a thread that does not have it", lock);
    }
    visible(Pending::on(Op::LockRelease, number, lock));
    let mut w = world();
    let clock = w.release();
    let state = w.objects.state(number);
    if state.owner == me as u8 {
        state.owner = NOBODY;
        state.value = PLACES;
        join(&mut state.clock, &clock);
    } else {
        state.value += 1;
        match state.waiters.iter().position(|&t| t == me as u8) {
            Some(again) => drop(state.waiters.remove(again)),
            None => state.set &= !(1 << me),
        }
        join(&mut state.readers_clock, &clock);
    }
    w.note_unlock(number);
    0
}
