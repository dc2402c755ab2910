//! `poll` and `select` of several pipes and sockets.
//!
//! The kernel looks at the descriptors one after the other, and if it found none ready it waits and looks again. So a call is one
//! pass over them, each look a step of its own, in which at least one is ready. The thread decides at the beginning which
//! descriptor will be the first one found ready, if the pass comes to it without having found one: there it waits. As in
//! `interruption`, a decision that does not come true, where another descriptor is ready, makes the execution an
//! infeasible one: another decision stands for what really happens. All ready descriptors that the pass comes to are reported.
//!
//! With a time limit every look is one that does not wait: any time may have passed before, so finding none is the end of the time.

use crate::descriptors::pipe::{CLOSED, failed};
use crate::exploration::world::{Pending, Runtime, World, active, announce, fail, visible, world};
use crate::interruptions::interruption::interrupted_always;
use crate::pass_on;
use crate::protocol::{FailureKind, Op};

const EINTR: i32 = 4;
const IN: i16 = 1;
const OUT: i16 = 4;
const HANG_UP: i16 = 16;
/// Not an open descriptor.
const INVALID: i16 = 32;

/// What `poll` is asked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Asked {
    descriptor: i32,
    events: i16,
    answers: i16,
}

/// What a look at a descriptor is.
#[derive(Clone, Copy)]
enum Look {
    /// Not looked at.
    Skip,
    /// Always the same answer.
    Known(i16),
    /// An object to wait for, what stands for its address, the event that it is, and whether its end is that event, too.
    Wait(u32, usize, i16, bool),
}

impl World {
    /// Is there a descriptor ready, but not the one that `thread` has decided to wait for?
    pub fn polls_in_vain(&self, thread: usize) -> bool {
        let ready =
            |(object, need): &(u32, i64)| self.objects.peek(*object).is_some_and(|o| o.value >= *need);
        self.threads[thread].polled.iter().any(ready)
    }
}

impl Runtime {
    fn look(mut self, asked: &Asked) -> Vec<Look> {
        if asked.descriptor < 0 {
            return vec![Look::Skip];
        }
        if let Some(object) = self.listening(asked.descriptor) {
            return vec![if asked.events & IN == 0 {
                Look::Skip
            } else {
                Look::Wait(object.0, object.1, IN, true)
            }];
        }
        let Some(end) = self.pipes.end(asked.descriptor) else {
            if self.sockets.contains(asked.descriptor) {
                return vec![Look::Known(HANG_UP)];
            }
            if asked.descriptor == 0 {
                crate::environment::outside::note(crate::protocol::Outside::Input, b"");
            }
            // Files, terminals and the null device never let wait.
            return vec![if is_file(asked.descriptor) {
                Look::Known(asked.events & (IN | OUT))
            } else {
                Look::Known(INVALID)
            }];
        };
        let mut looks = Vec::new();
        if let Some(direction) = end.reads.filter(|_| asked.events & IN != 0) {
            let (bytes, _, address) = self.direction(direction);
            looks.push(Look::Wait(bytes, address, IN, end.writes.is_some()));
        }
        if let Some(direction) = end.writes.filter(|_| asked.events & OUT != 0) {
            let (_, room, address) = self.direction(direction);
            looks.push(Look::Wait(room, address, OUT, true));
        }
        looks
    }
}

/// Is this an open descriptor of something that can be polled without waiting?
fn is_file(descriptor: i32) -> bool {
    let mut status = [0u64; 18];
    const FSTAT: usize = 5;
    // SAFETY: room for a struct stat: 144 bytes.
    let result = unsafe {
        crate::system::system_call::system_call(
            FSTAT,
            [descriptor as usize, status.as_mut_ptr() as usize, 0, 0, 0, 0],
        )
    };
    if result != 0 {
        return false;
    }
    const KIND: u64 = 0o170_000;
    match status[3] & KIND {
        // Regular files and character devices.
        0o100_000 | 0o020_000 => true,
        _ => fail(FailureKind::Refused, "poll: of something that is not a pipe or socket of this program", 0),
    }
}

/// The answers to all that is asked; says whether a handler has interrupted the wait.
fn answer(asked: &mut [Asked], waits: bool) -> Result<i32, i32> {
    if interrupted_always(waits) {
        return Err(EINTR);
    }
    let looks: Vec<(usize, Look)> = {
        let w = world();
        let each = asked.iter().enumerate();
        each.flat_map(|(index, a)| w.look(a).into_iter().map(move |l| (index, l))).collect()
    };
    asked.iter_mut().for_each(|a| a.answers = 0);
    let waited: Vec<u32> = looks
        .iter()
        .filter_map(|(_, look)| if let Look::Wait(object, ..) = look { Some(*object) } else { None })
        .collect();
    let known = looks.iter().any(|(_, look)| matches!(look, Look::Known(answer) if *answer != 0));
    let waits = waits && !known;
    if waits && waited.is_empty() {
        fail(FailureKind::Refused, "poll: of nothing, without end", 0);
    }
    let mut decided = waits.then_some(0);
    if waits && waited.len() > 1 {
        let choice = Pending { choices: waited.len() as u16, ..Pending::new(Op::Choose) };
        decided = Some(visible(choice) as usize);
    }
    world().me().passed = false;
    let mut number = 0;
    let mut found = false;
    for (index, look) in looks {
        let events = match look {
            Look::Skip => 0,
            Look::Known(answer) => answer,
            Look::Wait(object, address, event, also_end) => {
                let blocks = decided == Some(number) && !found;
                number += 1;
                if blocks {
                    let others = waited.iter().filter(|&&o| o != object);
                    world().me().polled = others.map(|&o| (o, 1)).collect();
                }
                let op = if blocks { Op::Poll } else { Op::TryPoll };
                announce(Pending { need: 1, ..Pending::on(op, object, address) });
                world().me().polled.clear();
                let value = world().objects.state(object).value;
                let ready = if value % CLOSED >= 1 || value >= CLOSED && also_end { event } else { 0 };
                ready | if value >= CLOSED { HANG_UP } else { 0 }
            }
        };
        asked[index].answers |= events;
        found |= events != 0;
    }
    Ok(asked.iter().filter(|a| a.answers != 0).count() as i32)
}

/// `poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(asked: *mut Asked, count: usize, time: i32) -> i32 {
    if !active() {
        return pass_on!("poll", fn(*mut Asked, usize, i32) -> i32; asked, count, time);
    }
    // SAFETY: as many structures as the caller says.
    let asked = unsafe { std::slice::from_raw_parts_mut(asked, count) };
    answer(asked, time < 0).unwrap_or_else(|error| failed(error) as i32)
}

/// `ppoll`: not with a mask of signals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ppoll(asked: *mut Asked, count: usize, time: usize, mask: usize) -> i32 {
    if !active() {
        return pass_on!("ppoll", fn(*mut Asked, usize, usize, usize) -> i32; asked, count, time, mask);
    }
    if mask != 0 {
        fail(FailureKind::Refused, "ppoll: with a mask of signals", 0);
    }
    // SAFETY: the same.
    unsafe { poll(asked, count, if time == 0 { -1 } else { 0 }) }
}

/// A set of descriptors.
type Set = [u64; 16];

fn selected(count: i32, sets: [*mut Set; 2], waits: bool) -> i32 {
    let contains = |set: *mut Set, n: usize| {
        // SAFETY: the caller gives a set, or none.
        !set.is_null() && unsafe { (*set)[n / 64] } >> (n % 64) & 1 != 0
    };
    let mut asked = Vec::new();
    for n in 0..(count.max(0) as usize).min(1024) {
        let events = if contains(sets[0], n) { IN } else { 0 } | if contains(sets[1], n) { OUT } else { 0 };
        if events != 0 {
            asked.push(Asked { descriptor: n as i32, events, answers: 0 });
        }
    }
    if let Err(error) = answer(&mut asked, waits) {
        return failed(error) as i32;
    }
    let mut ready = 0;
    for (set, event) in sets.into_iter().zip([IN, OUT]) {
        if set.is_null() {
            continue;
        }
        crate::instrumentation::hooks::range(
            set as usize,
            size_of::<Set>(),
            crate::exploration::race::How::WRITE,
        );
        // SAFETY: the caller gives a set.
        let set = unsafe { &mut *set };
        *set = [0; 16];
        // Whoever can read the end of a pipe, or would fail to write, does not wait.
        let counts = |a: &&Asked| a.events & event != 0 && a.answers & (event | HANG_UP) != 0;
        for a in asked.iter().filter(counts) {
            set[a.descriptor as usize / 64] |= 1 << (a.descriptor % 64);
            ready += 1;
        }
    }
    ready
}

/// `select`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn select(
    count: i32,
    read: *mut Set,
    write: *mut Set,
    except: *mut Set,
    time: usize,
) -> i32 {
    if !active() {
        return pass_on!("select", fn(i32, *mut Set, *mut Set, *mut Set, usize) -> i32; count, read, write, except, time);
    }
    if !except.is_null() {
        // SAFETY: the caller gives a set: nothing exceptional happens.
        unsafe { *except = [0; 16] };
    }
    selected(count, [read, write], time == 0)
}

/// `pselect`: not with a mask of signals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pselect(
    count: i32,
    read: *mut Set,
    write: *mut Set,
    except: *mut Set,
    time: usize,
    mask: usize,
) -> i32 {
    if !active() {
        return pass_on!("pselect", fn(i32, *mut Set, *mut Set, *mut Set, usize, usize) -> i32; count, read, write, except, time, mask);
    }
    if mask != 0 {
        fail(FailureKind::Refused, "pselect: with a mask of signals", 0);
    }
    // SAFETY: the same.
    unsafe { select(count, read, write, except, time) }
}
