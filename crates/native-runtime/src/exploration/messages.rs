//! Weak memory: the writes of each atomic variable, in modification order.
//!
//! Under TSO and RC11 a load may see an older write than the last one. So every atomic store leaves a *message* (its value, and what
//! whoever acquires it learns of), and the alternative of a step says which one is read, or where a new one goes:
//! counted from the end, so that 0 is what happens under sequential consistency. Which alternatives are consistent is not known here; the
//! exploration decides it on the graph (`quotient_stateless::graph`).
//!
//! Memory itself always holds the last message. A plain read that is not part of a data race comes after all writes and so sees that
//! one, as it should. A plain write that is not part of a data race comes after all accesses before it and before all that follow:
//! it is the first message of a new location (a new *life* of the cell), and so is what memory holds when it is allocated again.
//! What memory holds at the first atomic access is the first message of all. Plain accesses that race are covered under TSO only
//! (`buffered`).

use quotient_stateless::graph::{Change, Order};

use crate::exploration::buffered;
use crate::exploration::clock::{Clock, join};
use crate::exploration::race::How;
use crate::exploration::world::{Pending, Runtime, World, running, visible, world};
use crate::instrumentation::atomics::read_value;
use crate::protocol::{Op, Step, THREADS, met};

/// A write.
#[derive(Clone, Copy)]
pub struct Message {
    /// What it wrote.
    pub value: u64,
    /// The step that wrote it, counted from 1; 0: none, it is the first one.
    pub step: u32,
    /// What whoever acquires it gets.
    pub clock: Clock,
}

/// The messages of a cell.
#[derive(Clone, Default)]
struct Cell {
    /// The execution that they belong to.
    execution: u64,
    /// How often the memory became something new in this execution.
    life: u32,
    messages: Vec<Message>,
}

/// What an access has done.
#[derive(Clone, Copy)]
struct Seen {
    /// The value read, if any.
    read: Option<u64>,
    /// The value written, if any.
    written: Option<u64>,
    /// One more than the step that wrote what was read; 0: nothing was read.
    source: u32,
    /// The same for the write that comes next in modification order.
    newer: u32,
}

/// The messages of all cells.
#[derive(Default)]
pub struct Messages {
    /// By the numbers of objects.
    cells: Vec<Cell>,
    /// Was memory that has messages written without a hook, in any execution?
    pub hidden: bool,
    /// What the last access has done, for traces.
    seen: Option<Seen>,
}

impl Messages {
    fn cell(&mut self, number: u32, execution: u64) -> &mut Cell {
        let index = number as usize;
        if self.cells.len() <= index {
            self.cells.resize(index + 1, Cell::default());
        }
        let cell = &mut self.cells[index];
        if cell.execution != execution {
            (cell.execution, cell.life) = (execution, 0);
            cell.messages.clear();
        }
        cell
    }

    /// How often the memory of a cell became something new.
    pub fn life(&self, number: u32, execution: u64) -> u32 {
        self.cells.get(number as usize).filter(|cell| cell.execution == execution).map_or(0, |cell| cell.life)
    }
}

/// How an access is announced: operands of a thread.
pub mod operand {
    /// The value.
    pub const VALUE: usize = 0;
    /// The order, and above it that of failure.
    pub const ORDERS: usize = 1;
    /// What is done: a number of [`super::announced`].
    pub const CHANGE: usize = 2;
}

/// A change from what a thread has announced.
pub fn announced(pending: &Pending, operands: &[usize; 3]) -> Option<Change> {
    let value = operands[operand::VALUE] as u64;
    Some(match operands[operand::CHANGE] {
        1 => Change::None,
        2 => Change::Store(value),
        3 => Change::Exchange(value),
        4 => Change::Add(value),
        5 => Change::Subtract(value),
        6 => Change::And(value),
        7 => Change::Or(value),
        8 => Change::Xor(value),
        9 => Change::Nand(value),
        10 => Change::CompareAndSwap { expected: pending.need as u64, new: value },
        _ => return None,
    })
}

fn number(change: Change) -> (Op, usize, u64, i64) {
    match change {
        Change::None => (Op::Load, 1, 0, 0),
        Change::Store(value) => (Op::Store, 2, value, 0),
        Change::Exchange(value) => (Op::Update, 3, value, 0),
        Change::Add(value) => (Op::Update, 4, value, 0),
        Change::Subtract(value) => (Op::Update, 5, value, 0),
        Change::And(value) => (Op::Update, 6, value, 0),
        Change::Or(value) => (Op::Update, 7, value, 0),
        Change::Xor(value) => (Op::Update, 8, value, 0),
        Change::Nand(value) => (Op::Update, 9, value, 0),
        Change::CompareAndSwap { expected, new } => (Op::CompareAndSwap, 10, new, expected as i64),
    }
}

/// The memory order with this number, as compilers number them.
pub fn order(number: usize) -> Order {
    match number & 0xff {
        0 => Order::Relaxed,
        1 | 2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcquireRelease,
        _ => Order::SequentiallyConsistent,
    }
}

/// Is memory weak, and is there anybody who could notice?
#[inline]
pub fn is_weak() -> bool {
    running() && {
        let w = world();
        w.memory != 0 && w.threaded
    }
}

impl World {
    /// The messages of a cell; the first one is what memory holds.
    fn messages_of(&mut self, object: u32, address: usize, size: usize) -> &mut Vec<Message> {
        let execution = self.restarts_made;
        let cell = self.messages.cell(object, execution);
        let value = read_value(address, size) as u64 & mask(size);
        let first = Message { value, step: 0, clock: [0; THREADS] };
        match cell.messages.last() {
            None => cell.messages.push(first),
            // Something without a hook has written to it: who may see that, and when, is not known.
            Some(last) if last.value != value => self.messages.hidden = true,
            Some(_) => {}
        }
        &mut self.messages.cell(object, execution).messages
    }

    /// Plain memory is written, or given back: what was there before is gone.
    pub fn begin_new_life(&mut self, address: usize, size: usize) {
        if self.memory == 0 {
            return;
        }
        let execution = self.restarts_made;
        for object in self.objects.cells_in(address, size) {
            let cell = self.messages.cell(object, execution);
            if !cell.messages.is_empty() {
                cell.life += 1;
                cell.messages.clear();
            }
        }
    }

    /// The running thread has read a message.
    fn acquire_message(&mut self, message: &Message, order: Order) {
        join(&mut self.me().acquired, &message.clock);
        if order.acquires() {
            self.acquire(&message.clock);
        }
    }

    /// What the running thread releases with a write of this order.
    fn released(&mut self, order: Order) -> Clock {
        if order.releases() { self.release() } else { self.me().fence }
    }
}

/// The bits of this many bytes.
pub fn mask(size: usize) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

/// Writes to memory of the program.
pub fn write_value(address: usize, size: usize, value: u64) {
    // SAFETY: bytes that the program writes itself right now.
    unsafe {
        match size {
            1 => (address as *mut u8).write_unaligned(value as u8),
            2 => (address as *mut u16).write_unaligned(value as u16),
            4 => (address as *mut u32).write_unaligned(value as u32),
            _ => (address as *mut u64).write_unaligned(value),
        }
    }
}

/// An access of these memory orders, or a plain one; gives the value that it has found.
pub fn access(address: usize, size: usize, change: Change, orders: Option<[i32; 2]>) -> u64 {
    buffered::settle();
    let (op, kind, value, need) = number(change);
    let op = if orders.is_none() { buffered::plain(op) } else { op };
    let mut w = world();
    w.check_address(address, size, change != Change::None);
    // A wild pointer is a crash of this thread, here.
    // SAFETY: bytes that the program accesses right now.
    unsafe {
        (address as *const u8).read_volatile();
        ((address + size - 1) as *const u8).read_volatile();
    }
    let (object, changed) = w.objects.cell(address, size);
    w.grown |= changed;
    w.messages_of(object, address, size);
    if orders.is_some_and(|orders| orders.iter().any(|o| o & 0xff != 5)) {
        w.shared.met |= met::WEAK_ORDER;
    }
    let orders = orders.unwrap_or_default();
    let me = w.me();
    me.operands = [value as usize, orders[0] as usize & 0xff | (orders[1] as usize & 0xff) << 32, kind];
    let alternative = visible(Pending { size: size as u8, need, ..Pending::on(op, object, address) });
    done(object, address, size, change, orders, alternative)
}

/// What the access does when its turn has come.
fn done(object: u32, address: usize, size: usize, change: Change, orders: [i32; 2], alternative: u16) -> u64 {
    let mut w = world();
    let step = w.shared.schedule_length;
    let success = order(orders[0] as usize);
    let messages = w.messages_of(object, address, size);
    let last = messages.len() - 1;
    let from = last.saturating_sub(usize::from(alternative));
    if let Change::Store(value) = change {
        let at = (last + 1).saturating_sub(usize::from(alternative)).max(1);
        let value = value & mask(size);
        w.note_access(address, size, How { write: true, atomic: true });
        let clock = w.released(success);
        let messages = w.messages_of(object, address, size);
        let newer = messages.get(at).map_or(0, |m| m.step + 1);
        messages.insert(at, Message { value, step, clock });
        if at > last {
            write_value(address, size, value);
        }
        w.messages.seen = Some(Seen { read: None, written: Some(value), source: 0, newer });
        w.note_changed();
        return 0;
    }
    let read = messages[from];
    let new = change.apply(read.value, size as u8);
    let newer = messages.get(from + 1).map_or(0, |m| m.step + 1);
    w.messages.seen = Some(Seen { read: Some(read.value), written: new, source: read.step + 1, newer });
    w.note_access(address, size, How { write: new.is_some(), atomic: true });
    let is_load = change == Change::None;
    let used = if new.is_some() || is_load { success } else { order(orders[1] as usize) };
    w.acquire_message(&read, used);
    if let Some(value) = new {
        let mut clock = w.released(success);
        join(&mut clock, &read.clock);
        let messages = w.messages_of(object, address, size);
        messages.insert(from + 1, Message { value, step, clock });
        if from == last {
            write_value(address, size, value);
        }
    }
    if new.is_some_and(|new| new != read.value) {
        w.note_changed();
    } else {
        w.note_message(address, size, read.value);
    }
    read.value
}

impl World {
    /// Adds to a step of a trace what it has read and written.
    pub fn complete_weakly(&mut self, step: &mut Step) {
        let Some(seen) = self.messages.seen.take() else { return };
        (step.source, step.newer) = (seen.source, seen.newer);
        if let Some(read) = seen.read {
            step.before = read as i64;
            step.success = u8::from(seen.written.is_some());
        }
        step.after = seen.written.unwrap_or(step.before as u64) as i64;
    }
}

/// A fence.
pub fn fence(number: i32) {
    let mut w = world();
    w.me().operands = [0, number as usize & 0xff, 0];
    if number & 0xff != 5 {
        w.shared.met |= met::WEAK_ORDER;
    }
    visible(Pending::new(Op::Fence));
    fence_clocks(world(), order(number as usize));
}

fn fence_clocks(mut w: Runtime, order: Order) {
    if order.acquires() {
        let acquired = w.me().acquired;
        w.acquire(&acquired);
    }
    if order.releases() {
        let clock = w.release();
        w.me().fence = clock;
    }
}
