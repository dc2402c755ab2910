//! Stream sockets between threads of the program: a server and its clients in one process, over the loopback interface or
//! with Unix addresses.
//!
//! An address is one object, whose value is the number of connections that wait to be accepted. Binding, listening, connecting
//! and closing the listening socket write it; accepting waits until it is one. A connection is two directions as of a
//! pair of sockets (`pipe`), named by the thread that connects. Whoever connects does not wait to be accepted.
//!
//! Reading gives all that has arrived, as far as there is room; that the network may hand out a stream in smaller pieces is not
//! explored. A peer outside can be played by a script (`--peer`): it has heard what is sent to it, and has answered, when the call
//! that sends returns, so it has no steps of its own. Datagrams, and any address outside, are refused by name.

use crate::descriptors::pipe::{CLOSED, End, Peer, answer, failed, interrupted};
use crate::environment::outside::note;
use crate::exploration::race::How;
use crate::exploration::world::{Pending, World, active, fail, visible, world};
use crate::pass_on;
use crate::peer::Conversation;
use crate::protocol::{FailureKind, Op, Outside};
use crate::system::system_call::{number, system_call};

const EINTR: i32 = 4;
const EAGAIN: i32 = 11;
const EINVAL: i32 = 22;
const EADDRINUSE: i32 = 98;
const EISCONN: i32 = 106;
const ENOTCONN: i32 = 107;
const ECONNREFUSED: i32 = 111;

const UNIX: u16 = 1;
const INTERNET: u16 = 2;
const INTERNET_6: u16 = 10;
const NONBLOCK: i32 = 0o4000;
const CLOSE_ON_EXEC: i32 = 0o2_000_000;
/// The first port that is given to who asks for any.
const FIRST_PORT: usize = 40_000;
/// Stand for the objects: no addresses of the program, and none of a pipe.
const FIRST_OBJECT: usize = 0x10_0000;

/// A socket that is not connected.
pub struct Socket {
    descriptor: i32,
    domain: u16,
    /// Does it block?
    pub blocks: bool,
    /// The number of its address.
    address: Option<usize>,
    listens: bool,
}

/// The sockets of the current execution.
#[derive(Default)]
pub struct Sockets {
    sockets: Vec<Socket>,
    /// Connections that wait to be accepted: number of the address, directions to read from and write to.
    waiting: Vec<(usize, usize, usize)>,
    /// Addresses of connected sockets: descriptor, own and other number.
    connected: Vec<(i32, Option<usize>, Option<usize>)>,
    /// Addresses in use, by number.
    bound: Vec<usize>,
    /// All addresses: the same in every execution.
    names: Vec<Vec<u8>>,
}

impl Sockets {
    /// None.
    pub fn restart(&mut self) {
        self.sockets.clear();
        self.waiting.clear();
        self.connected.clear();
        self.bound.clear();
    }

    /// The socket that this descriptor is, if it is not connected.
    pub fn find(&mut self, descriptor: i32) -> Option<&mut Socket> {
        self.sockets.iter_mut().find(|s| s.descriptor == descriptor)
    }

    /// Is this a socket that is not connected?
    pub fn contains(&self, descriptor: i32) -> bool {
        self.sockets.iter().any(|s| s.descriptor == descriptor)
    }

    fn name(&mut self, name: &[u8]) -> usize {
        self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_vec());
            self.names.len() - 1
        })
    }
}

impl World {
    fn address_object(&mut self, address: usize) -> (u32, usize) {
        let stands = FIRST_OBJECT + 16 * address;
        (self.objects.number(stands), stands)
    }
}

impl World {
    /// The object of the address at which this socket listens, and what stands for its address.
    pub fn listening(&mut self, descriptor: i32) -> Option<(u32, usize)> {
        let sockets = &self.sockets.sockets;
        let address = sockets.iter().find(|s| s.descriptor == descriptor && s.listens)?.address?;
        Some(self.address_object(address))
    }
}

/// The name of an address, without the interface: `any` port may be asked for. None if it is outside.
///
/// # Safety
/// `address` must point to `length` bytes.
unsafe fn name_of(address: *const u8, length: u32) -> Option<Vec<u8>> {
    // SAFETY: by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(address, length as usize) };
    let family = u16::from_le_bytes([*bytes.first()?, *bytes.get(1)?]);
    let port = || Some([b"port ".as_slice(), bytes.get(2..4)?].concat());
    let none = |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|b| b.iter().all(|b| *b == 0));
    match family {
        UNIX => {
            let path = bytes.get(2..)?;
            let end = path.iter().skip(1).position(|b| *b == 0).map_or(path.len(), |end| end + 1);
            Some([b"path ".as_slice(), &path[..end]].concat())
        }
        INTERNET if bytes.get(4) == Some(&127) || none(4..8) => port(),
        INTERNET_6 if none(8..23) && bytes.get(23).is_some_and(|b| *b <= 1) => port(),
        _ => None,
    }
}

/// The port of a named address.
fn port_of(name: &[u8]) -> Option<u16> {
    let port: [u8; 2] = name.strip_prefix(b"port ")?.try_into().ok()?;
    Some(u16::from_be_bytes(port))
}

/// The name of an address for people.
fn spelled(name: &[u8]) -> Vec<u8> {
    match name.strip_prefix(b"port ") {
        Some([high, low]) => format!("port {}", u16::from_be_bytes([*high, *low])).into_bytes(),
        _ => name.to_vec(),
    }
}

fn reserve_descriptor() -> i32 {
    crate::descriptors::files::note(false);
    // SAFETY: opens the null device, so that nobody else gets the number. Closed before the next execution.
    unsafe { system_call(number::OPEN, [c"/dev/null".as_ptr() as usize, 2, 0, 0, 0, 0]) as i32 }
}

/// `socket`: stream sockets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn socket(domain: i32, kind: i32, protocol: i32) -> i32 {
    if !active() {
        return pass_on!("socket", fn(i32, i32, i32) -> i32; domain, kind, protocol);
    }
    const STREAM: i32 = 1;
    let domain = domain as u16;
    if ![UNIX, INTERNET, INTERNET_6].contains(&domain) || kind & !(NONBLOCK | CLOSE_ON_EXEC) != STREAM {
        fail(FailureKind::Refused, "socket: only stream sockets between threads are supported", 0);
    }
    let descriptor = reserve_descriptor();
    let blocks = kind & NONBLOCK == 0;
    world().sockets.sockets.push(Socket { descriptor, domain, blocks, address: None, listens: false });
    descriptor
}

fn change(address: usize) -> u32 {
    let (object, stands) = world().address_object(address);
    visible(Pending::on(Op::SocketState, object, stands));
    object
}

/// `bind`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bind(descriptor: i32, address: *const u8, length: u32) -> i32 {
    if !active() || !world().sockets.contains(descriptor) {
        return pass_on!("bind", fn(i32, *const u8, u32) -> i32; descriptor, address, length);
    }
    // SAFETY: as the caller says.
    let Some(mut name) = (unsafe { name_of(address, length) }) else {
        fail(FailureKind::Refused, "bind: only addresses of the loopback interface are supported", 0)
    };
    if name.ends_with(b"port \0\0") {
        // Any port: one for each thread and socket, the same in every execution.
        let mut w = world();
        let port = (FIRST_PORT + w.current * 256 + w.me().directions) as u16;
        w.me().directions += 1;
        w.identity_used();
        name = [b"port ".as_slice(), &port.to_be_bytes()].concat();
    }
    if port_of(&name).is_some_and(|port| world().peer_rules.iter().any(|rule| rule.port == port)) {
        // A peer is there.
        return failed(EADDRINUSE) as i32;
    }
    let number = world().sockets.name(&name);
    change(number);
    note(Outside::Listens, &spelled(&name));
    let sockets = &mut world().sockets;
    if sockets.bound.contains(&number) {
        return failed(EADDRINUSE) as i32;
    }
    sockets.bound.push(number);
    if let Some(socket) = sockets.find(descriptor) {
        socket.address = Some(number);
    }
    0
}

/// `listen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn listen(descriptor: i32, backlog: i32) -> i32 {
    if !active() || !world().sockets.contains(descriptor) {
        return pass_on!("listen", fn(i32, i32) -> i32; descriptor, backlog);
    }
    let Some(address) = world().sockets.find(descriptor).and_then(|s| s.address) else {
        fail(FailureKind::Refused, "listen: a socket without address", 0)
    };
    let object = change(address);
    let name = world().sockets.names.get(address).cloned().unwrap_or_default();
    note(Outside::Offers, &spelled(&name));
    let mut w = world();
    let state = w.objects.state(object);
    if state.value >= CLOSED {
        state.value = 0;
    }
    if let Some(socket) = world().sockets.find(descriptor) {
        socket.listens = true;
    }
    0
}

/// `connect`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(descriptor: i32, address: *const u8, length: u32) -> i32 {
    if !active() {
        return pass_on!("connect", fn(i32, *const u8, u32) -> i32; descriptor, address, length);
    }
    if world().pipes.contains(descriptor) {
        return failed(EISCONN) as i32;
    }
    // SAFETY: as the caller says.
    let Some(name) = (unsafe { name_of(address, length) }) else {
        fail(FailureKind::Refused, "connect: only to sockets of this program on the loopback interface", 0)
    };
    if interrupted(false) {
        return failed(EINTR) as i32;
    }
    if let Some((first, closes, conversation)) =
        port_of(&name).and_then(|port| Conversation::begin(&world().peer_rules, port))
    {
        let mut w = world();
        let Some(position) = w.sockets.sockets.iter().position(|s| s.descriptor == descriptor) else {
            return failed(EINVAL) as i32;
        };
        let own = w.sockets.sockets.remove(position);
        let number = w.sockets.name(&name);
        let (there, back) = (w.new_direction(), w.new_direction());
        w.pipes.ends.push(End { descriptor, reads: Some(back), writes: Some(there), blocks: own.blocks });
        w.sockets.connected.push((descriptor, own.address, Some(number)));
        w.pipes.peers.push(Peer { there, back, conversation });
        answer(back, &first, closes);
        return 0;
    }
    let number = world().sockets.name(&name);
    let object = change(number);
    if !world().sockets.sockets.iter().any(|s| s.listens && s.address == Some(number)) {
        note(Outside::Peers, &spelled(&name));
        return failed(ECONNREFUSED) as i32;
    }
    note(Outside::Connects, &spelled(&name));
    let mut w = world();
    let Some(position) = w.sockets.sockets.iter().position(|s| s.descriptor == descriptor) else {
        return failed(EINVAL) as i32;
    };
    let own = w.sockets.sockets.remove(position);
    let (there, back) = (w.new_direction(), w.new_direction());
    w.pipes.ends.push(End { descriptor, reads: Some(back), writes: Some(there), blocks: own.blocks });
    w.sockets.connected.push((descriptor, own.address, Some(number)));
    w.sockets.waiting.push((number, there, back));
    w.objects.state(object).value += 1;
    w.release_object(object);
    0
}

/// `accept4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept4(descriptor: i32, address: *mut u8, length: *mut u32, flags: i32) -> i32 {
    if !active() || !world().sockets.contains(descriptor) {
        return pass_on!("accept4", fn(i32, *mut u8, *mut u32, i32) -> i32; descriptor, address, length, flags);
    }
    let found =
        world().sockets.find(descriptor).map(|s| (s.address.filter(|_| s.listens), s.blocks, s.domain));
    let Some((Some(number), blocks, domain)) = found else { return failed(EINVAL) as i32 };
    if interrupted(blocks) {
        return failed(EINTR) as i32;
    }
    let (object, stands) = world().address_object(number);
    let op = if blocks { Op::Accept } else { Op::TryAccept };
    visible(Pending::on(op, object, stands));
    let mut w = world();
    let Some(position) = w.sockets.waiting.iter().position(|(n, ..)| *n == number) else {
        return failed(if w.sockets.contains(descriptor) { EAGAIN } else { EINVAL }) as i32;
    };
    let (_, there, back) = w.sockets.waiting.remove(position);
    w.objects.state(object).value -= 1;
    w.acquire_object(object);
    let new = reserve_descriptor();
    let blocks = flags & NONBLOCK == 0;
    w.pipes.ends.push(End { descriptor: new, reads: Some(there), writes: Some(back), blocks });
    w.sockets.connected.push((new, Some(number), None));
    // SAFETY: the caller gives room, or none.
    unsafe { write_address(domain, None, address, length) };
    new
}

/// `accept`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept(descriptor: i32, address: *mut u8, length: *mut u32) -> i32 {
    if !active() {
        return pass_on!("accept", fn(i32, *mut u8, *mut u32) -> i32; descriptor, address, length);
    }
    // SAFETY: the same.
    unsafe { accept4(descriptor, address, length, 0) }
}

/// Writes the loopback address with the port of this number, if room is given.
///
/// # Safety
/// `to` must be null or have room for what `length` says.
unsafe fn write_address(domain: u16, number: Option<usize>, to: *mut u8, length: *mut u32) {
    if to.is_null() || length.is_null() {
        return;
    }
    let name = number.and_then(|n| world().sockets.names.get(n).cloned()).unwrap_or_default();
    let mut bytes = domain.to_le_bytes().to_vec();
    let rest = name.get(5..).unwrap_or_default();
    match domain {
        INTERNET => {
            bytes.extend(if rest.len() == 2 { [rest[0], rest[1]] } else { [0, 0] });
            bytes.extend([127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        INTERNET_6 => {
            bytes.extend(if rest.len() == 2 { [rest[0], rest[1]] } else { [0, 0] });
            bytes.extend([0; 19]);
            bytes.extend([1, 0, 0, 0, 0]);
        }
        _ => bytes.extend(rest),
    }
    // SAFETY: by the caller.
    unsafe {
        world().note_stale(length as usize, 4, false);
        let room = (*length as usize).min(bytes.len());
        crate::instrumentation::hooks::range(to as usize, room, How::WRITE);
        to.copy_from_nonoverlapping(bytes.as_ptr(), room);
        *length = bytes.len() as u32;
    }
}

/// The numbers of a socket's own address and of the other side's.
fn addresses(descriptor: i32) -> Option<(u16, Option<usize>, Option<usize>)> {
    let sockets = &mut world().sockets;
    if let Some(socket) = sockets.find(descriptor) {
        return Some((socket.domain, socket.address, None));
    }
    let connected = sockets.connected.iter().find(|(d, ..)| *d == descriptor)?;
    let is_path = |n: &Option<usize>| n.is_some_and(|n| sockets.names[n].starts_with(b"path "));
    let domain = if is_path(&connected.1) || is_path(&connected.2) { UNIX } else { INTERNET };
    Some((domain, connected.1, connected.2))
}

/// `getsockname`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockname(descriptor: i32, address: *mut u8, length: *mut u32) -> i32 {
    let known = if active() { addresses(descriptor) } else { None };
    let Some((domain, own, _)) = known else {
        return pass_on!("getsockname", fn(i32, *mut u8, *mut u32) -> i32; descriptor, address, length);
    };
    // SAFETY: the caller gives room.
    unsafe { write_address(domain, own, address, length) };
    0
}

/// `getpeername`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getpeername(descriptor: i32, address: *mut u8, length: *mut u32) -> i32 {
    let known = if active() { addresses(descriptor) } else { None };
    let Some((domain, _, other)) = known else {
        return pass_on!("getpeername", fn(i32, *mut u8, *mut u32) -> i32; descriptor, address, length);
    };
    if world().sockets.contains(descriptor) {
        return failed(ENOTCONN) as i32;
    }
    // SAFETY: the caller gives room.
    unsafe { write_address(domain, other, address, length) };
    0
}

/// `setsockopt`: options change nothing between threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(descriptor: i32, level: i32, name: i32, value: usize, size: u32) -> i32 {
    const TIMEOUTS: [i32; 2] = [20, 21];
    if active() && (world().sockets.contains(descriptor) || world().pipes.contains(descriptor)) {
        if level == 1 && TIMEOUTS.contains(&name) {
            fail(FailureKind::Refused, "setsockopt: time limits of sockets", 0);
        }
        return 0;
    }
    pass_on!("setsockopt", fn(i32, i32, i32, usize, u32) -> i32; descriptor, level, name, value, size)
}

/// `getsockopt`: no error, and no option is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    descriptor: i32,
    level: i32,
    name: i32,
    value: *mut i32,
    size: *mut u32,
) -> i32 {
    if active() && (world().sockets.contains(descriptor) || world().pipes.contains(descriptor)) {
        // SAFETY: the caller gives room for an int.
        unsafe { (*value, *size) = (0, 4) };
        return 0;
    }
    pass_on!("getsockopt", fn(i32, i32, i32, *mut i32, *mut u32) -> i32; descriptor, level, name, value, size)
}

/// `sendto`: of a connected socket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendto(
    descriptor: i32,
    buffer: usize,
    size: usize,
    flags: i32,
    to: usize,
    length: u32,
) -> isize {
    if active() && world().pipes.contains(descriptor) {
        // SAFETY: the same.
        return unsafe { crate::descriptors::pipe::send(descriptor, buffer, size, flags) };
    }
    pass_on!("sendto", fn(i32, usize, usize, i32, usize, u32) -> isize; descriptor, buffer, size, flags, to, length)
}

/// `recvfrom`: of a connected socket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvfrom(
    descriptor: i32,
    buffer: usize,
    size: usize,
    flags: i32,
    from: usize,
    length: usize,
) -> isize {
    if active() && world().pipes.contains(descriptor) {
        // SAFETY: the same.
        return unsafe { crate::descriptors::pipe::recv(descriptor, buffer, size, flags) };
    }
    pass_on!("recvfrom", fn(i32, usize, usize, i32, usize, usize) -> isize; descriptor, buffer, size, flags, from, length)
}

/// A descriptor is closed: nobody can connect there any more.
pub fn closed(descriptor: i32) {
    let mut w = world();
    let Some((address, listens)) = w.sockets.find(descriptor).map(|s| (s.address, s.listens)) else {
        w.sockets.connected.retain(|(d, ..)| *d != descriptor);
        return;
    };
    if let Some(address) = address {
        let object = change(address);
        let mut w = world();
        w.sockets.bound.retain(|b| *b != address);
        if listens {
            // Connections that nobody accepted are closed, and whoever waits to accept one fails.
            w.objects.state(object).value = CLOSED;
            let all = std::mem::take(&mut w.sockets.waiting);
            let (dropped, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(|(n, ..)| *n == address);
            w.sockets.waiting = kept;
            for (_, there, back) in dropped {
                crate::descriptors::pipe::shut(there);
                crate::descriptors::pipe::shut(back);
            }
        }
    }
    world().sockets.sockets.retain(|s| s.descriptor != descriptor);
}

/// `shutdown` of a socket that listens: nobody can connect there any more. Says whether it is one.
pub fn shut_down(descriptor: i32) -> bool {
    let listens = world().sockets.find(descriptor).and_then(|s| s.address.filter(|_| s.listens));
    let Some(address) = listens else { return false };
    let object = change(address);
    world().objects.state(object).value = CLOSED;
    if let Some(socket) = world().sockets.find(descriptor) {
        socket.listens = false;
    }
    true
}
