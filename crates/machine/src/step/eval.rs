//! The interpreter of compact code.

use quotient_program::{ArrayTypeId, BinaryOp, Part};

use crate::code::{CodeAt, Leaf, Op, SiteAt};
use crate::machine::Machine;
use crate::state::cell::Cell;
use crate::state::kind::Object;
use crate::state::shapes::Shape;

/// A state that code runs on: its bytes, and the thread the code belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// First byte of the state. Guards and other pure code only read; actions run on the machine's draft.
    pub(crate) memory: *mut u8,
    /// Where the thread's segment starts.
    pub(crate) base: u32,
    /// The thread's id.
    pub(crate) thread: u32,
    /// The field of a message being received.
    pub(crate) received: i32,
}

/// Stack for ordinary code: a small frame is cheap to set up.
pub(crate) const SHALLOW: usize = 32;

/// Stack for programs with deeply nested expressions; the front ends bound the nesting below this.
pub(crate) const DEEP: usize = 4096;

impl Machine {
    /// The shape of the state that starts at `memory`.
    #[inline(always)]
    pub(crate) fn shape_at(&self, memory: *const u8) -> &Shape {
        // SAFETY: every state starts with a shape number that `Shapes` gave out.
        unsafe {
            let number = if self.layout.shape_size == 2 {
                u32::from(memory.cast::<u16>().read_unaligned())
            } else {
                memory.cast::<u32>().read_unaligned()
            };
            self.shapes.list.get_unchecked(number as usize)
        }
    }

    /// Runs code to its end; the result is the top of the stack, or the site of a fault.
    ///
    /// Positions in the code are inside the state because the compiler computed them from the layout of the
    /// shape the state has, indices are checked against their array, and remote positions against the shape.
    #[inline(always)]
    pub(crate) fn run(&mut self, at: CodeAt, frame: Frame) -> Result<i32, SiteAt> {
        if self.code.deep { self.run_deep(at, frame) } else { self.run_shallow(at, frame) }
    }

    #[inline(never)]
    fn run_shallow(&mut self, at: CodeAt, frame: Frame) -> Result<i32, SiteAt> {
        self.interpret::<SHALLOW>(at, frame)
    }

    #[inline(never)]
    fn run_deep(&mut self, at: CodeAt, frame: Frame) -> Result<i32, SiteAt> {
        self.interpret::<DEEP>(at, frame)
    }

    #[inline(always)]
    fn interpret<const STACK: usize>(&mut self, at: CodeAt, frame: Frame) -> Result<i32, SiteAt> {
        let mut stack = [std::mem::MaybeUninit::<i32>::uninit(); STACK];
        // Stores to the state cannot change the code; the compiler does not know that.
        let ops = self.code.ops.as_ptr();
        let elements = self.code.elements.as_ptr();
        let mut sp = 0usize;
        let mut top = 0i32;
        let mut pc = at as usize;
        let mut memory = frame.memory;
        let base = frame.base as usize;

        macro_rules! push {
            ($value:expr) => {{
                let value = $value;
                // SAFETY: the compiler emits balanced code and the compiler measures its depth (`Code::deep`).
                unsafe { stack.get_unchecked_mut(sp) }.write(top);
                sp += 1;
                top = value;
            }};
        }
        macro_rules! pop {
            () => {{
                let value = top;
                sp -= 1;
                // SAFETY: as above; every slot below `sp` was written by a push.
                top = unsafe { stack.get_unchecked(sp).assume_init() };
                value
            }};
        }
        // SAFETY (all four): positions lie inside the state; see the function's comment.
        macro_rules! byte {
            ($at:expr) => {{
                let at = $at;
                // SAFETY: as above.
                unsafe { *memory.add(at) }
            }};
        }
        macro_rules! set_byte {
            ($at:expr, $value:expr) => {{
                let (at, value) = ($at, $value);
                // SAFETY: as above.
                unsafe { *memory.add(at) = value }
            }};
        }
        macro_rules! load {
            ($cell:expr, $at:expr) => {{
                let (cell, at) = ($cell, $at);
                // SAFETY: as above.
                unsafe { cell.load(memory.add(at)) }
            }};
        }
        macro_rules! store {
            ($cell:expr, $at:expr, $value:expr) => {{
                let (cell, at, value) = ($cell, $at, $value);
                // SAFETY: as above.
                unsafe { cell.store(memory.add(at), value) }
            }};
        }
        macro_rules! element {
            ($element:expr) => {{
                let element = $element;
                let index = match element.index {
                    Leaf::Local8(at) => u32::from(byte!(base + at as usize)),
                    Leaf::Global8(at) => u32::from(byte!(at as usize)),
                    Leaf::Const(value) => value as u32,
                    Leaf::SelfId | Leaf::Element(_) => frame.thread,
                };
                if index >= element.len {
                    return Err(element.site);
                }
                let start = if element.local { base } else { 0 };
                start + element.at as usize + index as usize
            }};
        }
        macro_rules! leaf {
            ($leaf:expr) => {
                match $leaf {
                    Leaf::Const(value) => value,
                    Leaf::Local8(at) => i32::from(byte!(base + at as usize)),
                    Leaf::Global8(at) => i32::from(byte!(at as usize)),
                    Leaf::SelfId => frame.thread as i32,
                    Leaf::Element(number) => {
                        // SAFETY: the compiler made the element.
                        let element = unsafe { &*elements.add(number as usize) };
                        i32::from(byte!(element!(element)))
                    }
                }
            };
        }
        loop {
            // SAFETY: code ends with `Return`, and jumps stay inside it.
            let op = unsafe { &*ops.add(pc) };
            pc += 1;
            match *op {
                Op::Return => return Ok(top),
                Op::Const(value) => push!(value),
                Op::Global8(at) => push!(i32::from(byte!(at as usize))),
                Op::Local8(at) => push!(i32::from(byte!(base + at as usize))),
                Op::Global(at, cell) => push!(load!(cell, at as usize)),
                Op::Local(at, cell) => push!(load!(cell, base + at as usize)),
                Op::Leaf(leaf) => push!(leaf!(leaf)),
                Op::BinaryLeaves(op, left, right) => {
                    let (left, right) = (leaf!(left), leaf!(right));
                    push!(binary(op, left, right));
                }
                Op::BinaryLeaf(op, right) => {
                    let right = leaf!(right);
                    top = binary(op, top, right);
                }
                Op::GlobalIndex8 { at, len, site } => {
                    if top as u32 >= len {
                        return Err(site);
                    }
                    top = i32::from(byte!(at as usize + top as usize));
                }
                Op::LocalIndex8 { at, len, site } => {
                    if top as u32 >= len {
                        return Err(site);
                    }
                    top = i32::from(byte!(base + at as usize + top as usize));
                }
                Op::GlobalPlace(at) => push!(at as i32),
                Op::LocalPlace(at) => push!((base + at as usize) as i32),
                Op::RemotePlace { function, at, site } => {
                    match self.shape_at(memory).threads.get(top as usize) {
                        Some(thread) if thread.kind == function => top = (thread.at + at) as i32,
                        Some(_) => match self.outermost(memory, top as usize) {
                            Some(frame) if frame.kind == function => top = (frame.at + at) as i32,
                            _ => return Err(site),
                        },
                        None => return Err(site),
                    }
                }
                Op::Index { stride, len, site } => {
                    let index = pop!();
                    if index as u32 >= len {
                        return Err(site);
                    }
                    top += index * stride as i32;
                }
                Op::Load(cell) => top = load!(cell, top as usize),

                Op::Binary(op) => {
                    let b = pop!();
                    top = binary(op, top, b);
                }
                Op::Divide(site) => {
                    let b = pop!();
                    if b == 0 {
                        return Err(site);
                    }
                    top = top.wrapping_div(b);
                }
                Op::Remainder(site) => {
                    let b = pop!();
                    if b == 0 {
                        return Err(site);
                    }
                    top = top.wrapping_rem(b);
                }
                Op::AddConst(value) => top = top.wrapping_add(value),
                Op::Not => top = i32::from(top == 0),
                Op::Complement => top = !top,
                Op::Negate => top = top.wrapping_neg(),
                Op::Truth => top = i32::from(top != 0),
                Op::Jump(to) => pc = to as usize,
                Op::JumpIfZero(to) => {
                    if pop!() == 0 {
                        pc = to as usize;
                    }
                }
                Op::AndThen(to) => {
                    if top == 0 {
                        pc = to as usize;
                    } else {
                        pop!();
                    }
                }
                Op::OrElse(to) => {
                    if top != 0 {
                        top = 1;
                        pc = to as usize;
                    } else {
                        pop!();
                    }
                }

                Op::SelfId => push!(frame.thread as i32),
                Op::ThreadCount => push!(self.shape_at(memory).alive as i32),
                Op::Last => {
                    push!(self.layout.last.map_or(0, |at| i32::from(byte!(at as usize))));
                }
                Op::Timeout => push!(i32::from(self.timeout)),
                Op::Length(site) => {
                    self.note(top, Part::Messages);
                    let passing = i32::from(top == self.passing);
                    top = self.channel(memory, top).ok_or(site)?.length() as i32 + passing;
                }
                Op::Full(site) => {
                    self.note(top, Part::Messages);
                    // A rendezvous channel is never full: SPIN gives it one slot, for the message in passing.
                    let passing = u32::from(top == self.passing);
                    let channel = self.channel(memory, top).ok_or(site)?;
                    top = i32::from(channel.length() + passing == channel.layout.capacity.max(1));
                }
                Op::Empty(site) => {
                    self.note(top, Part::Messages);
                    let passing = top == self.passing;
                    let channel = self.channel(memory, top).ok_or(site)?;
                    top = i32::from(channel.length() == 0 && !passing);
                }
                Op::Poll(index) => {
                    let found = self.find_message(index, top, Frame { memory, ..frame })?;
                    top = i32::from(found.is_some());
                }
                Op::At { function, location } => {
                    let frame = self.outermost(memory, top as usize);
                    top = i32::from(
                        frame.is_some_and(|f| f.kind == function && self.origin(memory, f) == location),
                    );
                }
                Op::Priority => top = self.priority(memory, top as u32),
                Op::Received => push!(frame.received),
                Op::Enabled => {
                    let exists = (top as usize) < self.shape_at(memory).threads.len();
                    top = i32::from(exists && self.can_move(memory, top as u32)?);
                }
                Op::LocationOf => {
                    let thread = self.shape_at(memory).threads.get(top as usize);
                    top = thread.map_or(0, |t| self.location(memory, t.at, t.kind) as i32);
                }
                Op::NonProgress => push!(i32::from(self.lacks_progress(memory))),
                Op::Oldest(function) => {
                    let threads = self.shape_at(memory).threads.len();
                    let runs = |t: &usize| self.outermost(memory, *t).is_some_and(|t| t.kind == function);
                    push!((0..threads).find(runs).map_or(-1, |id| id as i32));
                }
                Op::Bound(depth) => push!(self.bound.get(depth as usize).map_or(0, |t| *t as i32)),
                Op::Count { function, end } => {
                    push!(self.count(function, pc as CodeAt, frame)?);
                    pc = end as usize;
                }

                Op::StoreGlobal8(at, mask) => {
                    let value = pop!();
                    set_byte!(at as usize, value as u8 & mask);
                }
                Op::StoreLocal8(at, mask) => {
                    let value = pop!();
                    set_byte!(base + at as usize, value as u8 & mask);
                }
                Op::StoreGlobal(at, cell) => {
                    let value = pop!();
                    store!(cell, at as usize, value);
                }
                Op::StoreLocal(at, cell) => {
                    let value = pop!();
                    store!(cell, base + at as usize, value);
                }
                Op::StoreElement8(number) => {
                    let value = pop!();
                    // SAFETY: the compiler made the element.
                    let element = unsafe { &*elements.add(number as usize) };
                    set_byte!(element!(element), value as u8 & element.mask);
                }
                Op::StoreGlobalIndex8 { at, len_mask, site } => {
                    let value = pop!();
                    let index = pop!();
                    if index as u32 >= len_mask.len() {
                        return Err(site);
                    }
                    set_byte!(at as usize + index as usize, value as u8 & len_mask.mask());
                }
                Op::StoreLocalIndex8 { at, len_mask, site } => {
                    let value = pop!();
                    let index = pop!();
                    if index as u32 >= len_mask.len() {
                        return Err(site);
                    }
                    set_byte!(base + at as usize + index as usize, value as u8 & len_mask.mask());
                }
                Op::Store(cell) => {
                    let value = pop!();
                    let place = pop!();
                    store!(cell, place as usize, value);
                }
                Op::Assert(site) => {
                    if pop!() == 0 {
                        self.failed_assertions.push(site);
                    }
                }
                Op::Start(index) => {
                    let start = &self.code.starts[index as usize];
                    let (function, arguments) = (start.function, start.args);
                    let priority = if start.has_priority { Some(pop!()) } else { None };
                    let mut args = std::mem::take(&mut self.start_args);
                    args.clear();
                    for _ in 0..arguments {
                        args.push(pop!());
                    }
                    args.reverse();
                    let id = self.start_thread(function, &args, priority);
                    self.start_args = args;
                    let id = id?;
                    memory = self.draft.as_mut_ptr().cast();
                    push!(id as i32);
                }
                Op::Pop => {
                    pop!();
                }
                Op::SetPriority => {
                    let priority = pop!();
                    let thread = pop!();
                    self.set_priority(memory, thread as u32, priority);
                }
                Op::Forget { at, len } => {
                    // SAFETY: as above; the compiler took both from the layout of one local.
                    unsafe { memory.add(base + at as usize).write_bytes(0, len as usize) };
                }
                Op::Print(index) => {
                    if self.recorder.is_some() {
                        self.print(index, Frame { memory, ..frame })?;
                    }
                }

                Op::MemberPlace(access, table) => {
                    self.note(top, self.code.member_parts[table as usize]);
                    let access = &self.code.accesses[access as usize];
                    let (kind, at) = self.existing(memory, top, access.null, access.dangling)?;
                    let Object::Record(record) = kind.object() else { return Err(access.wrong) };
                    let offset = self.code.members[table as usize][record.0 as usize];
                    if offset == u32::MAX {
                        return Err(access.wrong);
                    }
                    top = (at + offset) as i32;
                }
                Op::ElementPlace(access) => {
                    let index = pop!();
                    let array = self.code.accesses[access as usize].array;
                    self.note(top, Part::Elements(ArrayTypeId(array)));
                    let access = &self.code.accesses[access as usize];
                    let (kind, at) = self.existing(memory, top, access.null, access.dangling)?;
                    match kind.object() {
                        Object::Array(id, length) if id.0 == access.array => {
                            if index as u32 >= length {
                                return Err(access.bounds);
                            }
                            top = (at + access.header + index as u32 * access.stride) as i32;
                        }
                        _ => return Err(access.wrong),
                    }
                }
                Op::Fit(index) => {
                    let (range, site) = self.code.ranges[index as usize];
                    top = range.fit(top).ok_or(site)?;
                }
                Op::Touch => self.heap.dirty = true,
                Op::Heap(index) | Op::HeapAction(index) => {
                    let count = self.code.operations[index as usize].operands(&self.code.calls);
                    let mut operands = std::mem::take(&mut self.heap.operands);
                    operands.clear();
                    for _ in 0..count {
                        operands.push(pop!());
                    }
                    operands.reverse();
                    self.heap.operands = operands;
                    let result = self.heap_operation(index, Frame { memory, ..frame })?;
                    if let Op::HeapAction(_) = op {
                        memory = self.draft.as_mut_ptr().cast();
                    }
                    if let Some(value) = result {
                        push!(value);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn binary(op: BinaryOp, a: i32, b: i32) -> i32 {
    match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr => a.wrapping_shr(b as u32),
        BinaryOp::Lt => i32::from(a < b),
        BinaryOp::Le => i32::from(a <= b),
        BinaryOp::Gt => i32::from(a > b),
        BinaryOp::Ge => i32::from(a >= b),
        BinaryOp::Eq => i32::from(a == b),
        BinaryOp::Ne => i32::from(a != b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
        // The compiler has instructions of their own for these.
        BinaryOp::Div | BinaryOp::Mod | BinaryOp::And | BinaryOp::Or => unreachable!(),
    }
}

/// Reads a scalar of a state; for names in traces.
pub(crate) fn read(state: &[u64], at: u32, cell: Cell) -> i32 {
    // SAFETY: callers take `at` from the layout of the state's shape.
    unsafe { cell.load(state.as_ptr().cast::<u8>().add(at as usize)) }
}
