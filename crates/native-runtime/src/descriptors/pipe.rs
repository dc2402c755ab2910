//! Pipes and pairs of stream sockets between threads; `socket` makes connections of the same kind.
//!
//! The bytes are kept here; the descriptors are real ones, of an empty pipe, so that no other has their numbers. A direction
//! has two objects: what can be read (its value: the bytes in it, or more than any need once nobody can write) and the room
//! to write (the same once nobody can read). Reading takes from the first and adds to the second, writing the other way;
//! both block, or fail if the descriptor does not block, as these values say.

use crate::exploration::object::NOBODY;
use crate::exploration::race::How;
use crate::exploration::world::{Pending, Runtime, World, active, fail, visible, world};
use crate::interruptions::interruption::{Kind, Next, Passed, point};
use crate::peer::Conversation;
use crate::protocol::{FailureKind, Op};
use crate::{pass_on, real};

/// What a pipe holds.
const CAPACITY: i64 = 65_536;
/// Writes up to this size are not divided.
const ATOMIC: usize = 4096;
/// More than any need.
pub const CLOSED: i64 = 1 << 40;
/// Stand for the objects: no addresses of the program.
const FIRST_OBJECT: usize = 0x1000;
/// The most directions that a thread may make.
const MOST: usize = 1024;

const EINTR: i32 = 4;
const EBADF: i32 = 9;
const EAGAIN: i32 = 11;
const EPIPE: i32 = 32;
const NONBLOCK: i32 = 0o4000;

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// The result of a function that fails.
pub fn failed(error: i32) -> isize {
    // SAFETY: the program's errno.
    unsafe { *__errno_location() = error };
    -1
}

/// A descriptor of a pipe.
#[derive(Clone, Copy)]
pub struct End {
    /// The descriptor.
    pub descriptor: i32,
    /// The direction it reads from.
    pub reads: Option<usize>,
    /// The direction it writes to.
    pub writes: Option<usize>,
    /// Does it block?
    pub blocks: bool,
}

/// The pipes of the current execution.
#[derive(Default)]
pub struct Pipes {
    /// The descriptors.
    pub ends: Vec<End>,
    /// Connections to peers that a script plays.
    pub peers: Vec<Peer>,
    directions: Vec<Direction>,
}

/// A peer that a script plays: it hears all of one direction at once, and answers at once in the other.
pub struct Peer {
    /// The direction to it.
    pub there: usize,
    /// The direction back.
    pub back: usize,
    /// What was said.
    pub conversation: Conversation,
}

/// One way through a pipe.
struct Direction {
    /// Stands for its objects.
    address: usize,
    /// The bytes in it.
    content: Vec<u8>,
}

impl Pipes {
    /// None.
    pub fn restart(&mut self) {
        self.ends.clear();
        self.peers.clear();
        self.directions.clear();
    }

    /// The end that this descriptor is.
    pub fn end(&self, descriptor: i32) -> Option<End> {
        self.ends.iter().find(|end| end.descriptor == descriptor).copied()
    }

    /// Is this a descriptor of a pipe?
    pub fn contains(&self, descriptor: i32) -> bool {
        self.end(descriptor).is_some()
    }
}

impl World {
    /// The objects of a direction (bytes, room), and what stands for its address.
    pub fn direction(&mut self, direction: usize) -> (u32, u32, usize) {
        let address = self.pipes.directions[direction].address;
        (self.objects.number(address), self.objects.number(address + 8), address)
    }
}

impl Runtime {
    /// A direction is named by the thread that makes it, and as its how manieth, so that it is the same in all executions.
    pub fn new_direction(mut self) -> usize {
        let direction = self.pipes.directions.len();
        let ordinal = self.me().directions;
        if ordinal >= MOST {
            fail(FailureKind::Refused, "too many pipes or connections", 0);
        }
        self.me().directions += 1;
        if self.current != 0 {
            // Its name is part of the name of what it makes.
            self.identity_used();
        }
        let address = FIRST_OBJECT + (self.current * MOST + ordinal) * 16;
        self.pipes.directions.push(Direction { address, content: Vec::new() });
        let (bytes, room, _) = self.direction(direction);
        for (number, value) in [(bytes, 0), (room, CAPACITY)] {
            let state = self.objects.state(number);
            (state.known, state.value, state.owner) = (true, value, NOBODY);
        }
        direction
    }
}

/// What a peer has said can be read.
pub fn answer(back: usize, text: &[u8], closes: bool) {
    let mut w = world();
    let (bytes, ..) = w.direction(back);
    w.pipes.directions[back].content.extend_from_slice(text);
    w.objects.state(bytes).value += text.len() as i64 + if closes { CLOSED } else { 0 };
    w.release_object(bytes);
}

fn create(out: *mut [i32; 2], flags: i32, both_ways: bool) -> i32 {
    crate::descriptors::files::note(false);
    let mut pair = [0i32; 2];
    // SAFETY: room for two descriptors. They are closed before the next execution.
    let status = unsafe { real!("pipe", fn(*mut [i32; 2]) -> i32)(&mut pair) };
    if status != 0 {
        return status;
    }
    let mut w = world();
    let pair = pair.map(|descriptor| w.place(descriptor));
    let there = w.new_direction();
    let back = both_ways.then(|| w.new_direction());
    let blocks = flags & NONBLOCK == 0;
    w.pipes.ends.push(End { descriptor: pair[0], reads: Some(there), writes: back, blocks });
    w.pipes.ends.push(End { descriptor: pair[1], reads: back, writes: Some(there), blocks });
    crate::exploration::race::access(out as usize, 8, How::WRITE);
    // SAFETY: the caller gives room for two descriptors.
    unsafe { *out = pair };
    0
}

/// `pipe`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pipe(out: *mut [i32; 2]) -> i32 {
    if !active() {
        return pass_on!("pipe", fn(*mut [i32; 2]) -> i32; out);
    }
    create(out, 0, false)
}

/// `pipe2`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pipe2(out: *mut [i32; 2], flags: i32) -> i32 {
    if !active() {
        return pass_on!("pipe2", fn(*mut [i32; 2], i32) -> i32; out, flags);
    }
    create(out, flags, false)
}

/// `socketpair`: of stream sockets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn socketpair(domain: i32, kind: i32, protocol: i32, out: *mut [i32; 2]) -> i32 {
    if !active() {
        let real = real!("socketpair", fn(i32, i32, i32, *mut [i32; 2]) -> i32);
        // SAFETY: `out` is room for two descriptors, as the caller owes.
        return unsafe { real(domain, kind, protocol, out) };
    }
    const STREAM: i32 = 1;
    const CLOSE_ON_EXEC: i32 = 0o2_000_000;
    if kind & !(NONBLOCK | CLOSE_ON_EXEC) != STREAM {
        fail(FailureKind::Refused, "socketpair: only stream sockets are supported", 0);
    }
    create(out, kind, true)
}

/// A point of interruption before an operation on a pipe: has a handler run that does not let it be done again?
pub fn interrupted(may_block: bool) -> bool {
    loop {
        match point(Kind::Cancellation, Next::may_block(may_block)) {
            Passed::Through => return false,
            Passed::Interrupted { restarts: true } => {}
            Passed::Interrupted { restarts: false } => return true,
        }
    }
}

fn receive(end: End, buffer: usize, size: usize, blocks: bool) -> isize {
    let Some(direction) = end.reads else { return failed(EBADF) };
    if size == 0 {
        return 0;
    }
    if interrupted(blocks && end.blocks) {
        return failed(EINTR);
    }
    let (bytes, room, address) = world().direction(direction);
    let op = if blocks && end.blocks { Op::PipeRead } else { Op::PipeTryRead };
    visible(Pending { other: room, need: 1, ..Pending::on(op, bytes, address) });
    let mut w = world();
    let count = size.min(w.pipes.directions[direction].content.len());
    if count == 0 {
        return if w.objects.state(bytes).value >= CLOSED { 0 } else { failed(EAGAIN) };
    }
    let taken: Vec<u8> = w.pipes.directions[direction].content.drain(..count).collect();
    w.objects.state(bytes).value -= count as i64;
    w.objects.state(room).value += count as i64;
    w.acquire_object(bytes);
    crate::instrumentation::hooks::range(buffer, count, How::WRITE);
    // SAFETY: the caller gives room for `size` bytes.
    unsafe { (buffer as *mut u8).copy_from_nonoverlapping(taken.as_ptr(), count) };
    count as isize
}

fn send_some(end: End, buffer: usize, size: usize, blocks: bool) -> isize {
    let Some(direction) = end.writes else { return failed(EBADF) };
    if size == 0 {
        return 0;
    }
    if interrupted(blocks && end.blocks) {
        return failed(EINTR);
    }
    crate::instrumentation::hooks::range(buffer, size, How::READ);
    let (bytes, room, address) = world().direction(direction);
    let op = if blocks && end.blocks { Op::PipeWrite } else { Op::PipeTryWrite };
    let peer = world().pipes.peers.iter().position(|peer| peer.there == direction);
    // Who waits for the answer of a peer waits for this.
    let other = peer.map_or(bytes, |peer| {
        let back = world().pipes.peers[peer].back;
        world().direction(back).0
    });
    visible(Pending { other, need: size as i64, ..Pending::on(op, room, address) });
    let mut w = world();
    if w.objects.state(room).value >= CLOSED {
        crate::interruptions::signal::broken_pipe();
        return failed(EPIPE);
    }
    if let Some(peer) = peer {
        let w = &mut *w;
        let peer = &mut w.pipes.peers[peer];
        // SAFETY: the caller's bytes.
        let given = unsafe { std::slice::from_raw_parts(buffer as *const u8, size) };
        if let Some((text, closes)) = peer.conversation.hear(&w.peer_rules, given) {
            let back = peer.back;
            answer(back, &text, closes);
        }
        return size as isize;
    }
    if w.objects.state(room).value < size as i64 {
        return failed(EAGAIN);
    }
    // SAFETY: the caller's bytes.
    let given = unsafe { std::slice::from_raw_parts(buffer as *const u8, size) };
    w.pipes.directions[direction].content.extend_from_slice(given);
    w.objects.state(bytes).value += size as i64;
    w.objects.state(room).value -= size as i64;
    w.release_object(bytes);
    size as isize
}

fn transmit(end: End, buffer: usize, size: usize, blocks: bool) -> isize {
    let mut done = 0;
    while done < size {
        let result = send_some(end, buffer + done, (size - done).min(ATOMIC), blocks);
        if result < 0 {
            return if done > 0 { done as isize } else { result };
        }
        done += result as usize;
    }
    done as isize
}

/// The end that `descriptor` is, if user code runs and it is one.
fn end_of(descriptor: i32) -> Option<End> {
    if active() { world().pipes.end(descriptor) } else { None }
}

/// `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(descriptor: i32, buffer: usize, size: usize) -> isize {
    match end_of(descriptor) {
        Some(end) => receive(end, buffer, size, true),
        None => pass_on!("read", fn(i32, usize, usize) -> isize; descriptor, buffer, size),
    }
}

/// `write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(descriptor: i32, buffer: usize, size: usize) -> isize {
    match end_of(descriptor) {
        Some(end) => transmit(end, buffer, size, true),
        None => pass_on!("write", fn(i32, usize, usize) -> isize; descriptor, buffer, size),
    }
}

const DONT_WAIT: i32 = 0x40;

/// `recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(descriptor: i32, buffer: usize, size: usize, flags: i32) -> isize {
    match end_of(descriptor) {
        Some(end) => receive(end, buffer, size, flags & DONT_WAIT == 0),
        None => pass_on!("recv", fn(i32, usize, usize, i32) -> isize; descriptor, buffer, size, flags),
    }
}

/// `send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn send(descriptor: i32, buffer: usize, size: usize, flags: i32) -> isize {
    match end_of(descriptor) {
        Some(end) => transmit(end, buffer, size, flags & DONT_WAIT == 0),
        None => pass_on!("send", fn(i32, usize, usize, i32) -> isize; descriptor, buffer, size, flags),
    }
}

/// Nobody reads, or writes, this direction any more.
pub fn shut(direction: usize) {
    let (bytes, room, address) = world().direction(direction);
    visible(Pending { other: room, ..Pending::on(Op::PipeClose, bytes, address) });
    let mut w = world();
    w.objects.state(bytes).value += CLOSED;
    w.objects.state(room).value += CLOSED;
    w.release_object(bytes);
}

/// `close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(descriptor: i32) -> i32 {
    if active() && (world().pipes.contains(descriptor) || world().sockets.contains(descriptor)) {
        // For others this point was made before the call.
        point(Kind::Cancellation, Next::GoesOn);
        crate::descriptors::socket::closed(descriptor);
    }
    if let Some(end) = end_of(descriptor) {
        for direction in end.reads.into_iter().chain(end.writes) {
            shut(direction);
        }
        world().pipes.ends.retain(|e| e.descriptor != descriptor);
    }
    pass_on!("close", fn(i32) -> i32; descriptor)
}

/// `shutdown`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shutdown(descriptor: i32, how: i32) -> i32 {
    let Some(end) = end_of(descriptor) else {
        if active() && crate::descriptors::socket::shut_down(descriptor) {
            return 0;
        }
        return pass_on!("shutdown", fn(i32, i32) -> i32; descriptor, how);
    };
    let reads = end.reads.filter(|_| how != 1);
    let writes = end.writes.filter(|_| how != 0);
    for direction in reads.into_iter().chain(writes) {
        shut(direction);
    }
    0
}

/// `fcntl`: of a pipe, only whether it blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fcntl(descriptor: i32, command: i32, argument: usize) -> i32 {
    const GET_FLAGS: i32 = 3;
    const SET_FLAGS: i32 = 4;
    const DUPLICATE: [i32; 2] = [0, 1030];
    if active()
        && command == SET_FLAGS
        && let Some(socket) = world().sockets.find(descriptor)
    {
        socket.blocks = argument as i32 & NONBLOCK == 0;
        return 0;
    }
    if end_of(descriptor).is_some() {
        if DUPLICATE.contains(&command) {
            fail(FailureKind::Refused, "fcntl: duplicates of a pipe's descriptor", 0);
        }
        let mut w = world();
        let end = w.pipes.ends.iter_mut().find(|end| end.descriptor == descriptor);
        if let Some(end) = end
            && command == SET_FLAGS
        {
            end.blocks = argument as i32 & NONBLOCK == 0;
            return 0;
        } else if command == GET_FLAGS {
            return if end_of(descriptor).is_some_and(|end| end.blocks) { 2 } else { 2 | NONBLOCK };
        }
    }
    pass_on!("fcntl", fn(i32, i32, usize) -> i32; descriptor, command, argument)
}
