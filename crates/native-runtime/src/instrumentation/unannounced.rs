//! Accesses to memory that the compiler announces by no hook: inline assembly, structures passed or returned by value,
//! functions that are not to be instrumented.
//!
//! The checker finds these instructions by a scan of the program's code (`native/holes.rs`) and describes their memory
//! operands. Here each of them is replaced by a breakpoint. When it is met, the access is noted like one with a hook, on the
//! thread's own stack, then a copy of the instruction is executed elsewhere, and the program goes on after the original. An
//! instruction with a `lock` prefix, or an exchange, is an atomic operation, sequentially consistent, and so a step; `mfence`, and a
//! `lock` prefix for the stack's sake, are fences. What is not
//! understood (string instructions, for instance) ends in "undecided" if it is met while several threads exist.
//!
//! The kernel's signal handler only finds out where to go on: it puts a few words below the red zone of the thread's stack
//! and returns to [`quotient_unannounced_enter`], which saves all registers that the copy may use.

use std::arch::global_asm;

use crate::exploration::race::How;
use crate::exploration::world::{World, fail, running, world};
use crate::protocol::{FailureKind, HOLES, Hole, hole};
use crate::system::handler::handle;
use crate::system::system_call::{number, system_call};

/// Room for the copy of an instruction and the jump back.
pub(super) const COPY: usize = 32;
/// The instruction that stops the program.
pub(super) const BREAKPOINT: u8 = 0xcc;
/// What functions may use below their stack pointer.
const RED_ZONE: usize = 128;

global_asm!(
    ".globl quotient_unannounced_enter",
    ".hidden quotient_unannounced_enter",
    "quotient_unannounced_enter:",
    // On the stack: where the program is, the number of the hole, the address accessed, where to go on; then the red zone.
    "push rbp",
    "mov rbp, rsp",
    "pushfq",
    "cld",
    "push rax",
    "push rbx",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov rbx, rsp",
    "sub rsp, 256",
    "and rsp, -16",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "movups [rsp + 128], xmm8",
    "movups [rsp + 144], xmm9",
    "movups [rsp + 160], xmm10",
    "movups [rsp + 176], xmm11",
    "movups [rsp + 192], xmm12",
    "movups [rsp + 208], xmm13",
    "movups [rsp + 224], xmm14",
    "movups [rsp + 240], xmm15",
    "mov rdi, [rbp + 16]",
    "mov rsi, [rbp + 24]",
    "mov rdx, [rbp - 16]",
    "call {access}",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "movups xmm8, [rsp + 128]",
    "movups xmm9, [rsp + 144]",
    "movups xmm10, [rsp + 160]",
    "movups xmm11, [rsp + 176]",
    "movups xmm12, [rsp + 192]",
    "movups xmm13, [rsp + 208]",
    "movups xmm14, [rsp + 224]",
    "movups xmm15, [rsp + 240]",
    "mov rsp, rbx",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rbx",
    "pop rax",
    "popfq",
    "pop rbp",
    "lea rsp, [rsp + 24]",
    "ret 128",
    access = sym access,
);

unsafe extern "C" {
    fn quotient_unannounced_enter();
}

/// The access of a hole is about to happen. `rax` is what a compare-and-swap expects.
extern "C" fn access(number: usize, address: usize, rax: usize) {
    if !running() {
        return;
    }
    let mut w = world();
    let hole = w.shared.holes[number];
    let size = hole.size as usize;
    if hole.kind == hole::FENCE {
        return crate::instrumentation::atomics::assembly_fence();
    }
    w.identity_used();
    match hole.kind {
        hole::READ => crate::exploration::race::access(address, size, How::READ),
        hole::WRITE => crate::exploration::race::access(address, size, How::WRITE),
        hole::UPDATE => crate::exploration::race::update(address, size),
        hole::ATOMIC_UPDATE => crate::instrumentation::atomics::assembly_update(address, size, None),
        hole::COMPARE_AND_SWAP => crate::instrumentation::atomics::assembly_update(address, size, Some(rax)),
        _ if w.threaded => fail(
            FailureKind::Refused,
            "an instruction that is not understood: what it accesses, or what it gives",
            address,
        ),
        _ => {}
    }
}

/// Where the copies of instructions lie, and the program.
#[derive(Default)]
pub struct Unannounced {
    copies: usize,
    base: usize,
    count: usize,
}

impl World {
    /// Puts breakpoints into the program.
    pub fn watch_unannounced(&mut self, base: usize) {
        // A debugger would stop at each of them.
        let count = if self.shared.trap != 0 { 0 } else { (self.shared.holes_length as usize).min(HOLES) };
        if count == 0 {
            return;
        }
        let length = (count * COPY).next_multiple_of(4096);
        let Some(copies) = map_near(base, length) else { return self.cannot_watch() };
        for number in 0..count {
            let hole = self.shared.holes[number];
            let address = base + hole.address as usize;
            // SAFETY: the program's code; its instruction as the checker has decoded it.
            unsafe {
                if !make_writable(address) {
                    return self.cannot_watch();
                }
                copy_instruction(&hole, address, base, copies + number * COPY);
                *(address as *mut u8) = BREAKPOINT;
            }
        }
        self.unannounced = Unannounced { copies, base, count };
        catch_breakpoints();
    }

    fn cannot_watch(&mut self) {
        self.shared.holes_unwatched = 1;
    }

    /// The hole at this address of the program.
    fn hole_at(&self, address: usize) -> Option<usize> {
        let wanted = address.checked_sub(self.unannounced.base)? as u64;
        self.shared.holes[..self.unannounced.count].binary_search_by_key(&wanted, |hole| hole.address).ok()
    }
}

/// Lets the program's code at this address be changed, if that can be.
///
/// # Safety
/// The address must be in the program's code.
pub(super) unsafe fn make_writable(address: usize) -> bool {
    const PAGE: usize = 4096;
    const ALL: usize = 7;
    let page = address & !(PAGE - 1);
    // SAFETY: by the caller; the instruction may go on in the next page.
    unsafe {
        system_call(number::MPROTECT, [page, 2 * PAGE, ALL, 0, 0, 0]) >= 0
            || system_call(number::MPROTECT, [page, PAGE, ALL, 0, 0, 0]) >= 0
    }
}

/// Maps memory for code within reach of the program's.
pub(super) fn map_near(base: usize, length: usize) -> Option<usize> {
    const ALL: usize = 7;
    const FIXED: usize = 0x2 | 0x20 | 0x10_0000;
    (1..64usize).find_map(|distance| {
        let address = (base & !0xfff).checked_sub(distance << 20)?.checked_sub(length & !0xfff)?;
        if address < 1 << 16 {
            return None;
        }
        // SAFETY: a new mapping where none is.
        let mapped = unsafe { system_call(number::MMAP, [address, length, ALL, FIXED, usize::MAX, 0]) };
        (mapped == address as isize).then_some(address)
    })
}

/// Copies an instruction, followed by a jump to what comes after it.
///
/// # Safety
/// The instruction must be there, and room at `to`.
pub(super) unsafe fn copy_instruction(hole: &Hole, from: usize, base: usize, to: usize) {
    let length = hole.length as usize;
    // SAFETY: by the caller.
    unsafe {
        (to as *mut u8).copy_from_nonoverlapping(from as *const u8, length);
        if hole.base == hole::ABSOLUTE {
            // Relative to the end of the instruction, which is elsewhere now.
            let target = base.wrapping_add(hole.displacement as usize);
            let distance = target.wrapping_sub(to + length) as i32;
            ((to + hole.displacement_at as usize) as *mut i32).write_unaligned(distance);
        }
        let jump = (to + length) as *mut u8;
        *jump = 0xe9;
        let distance = (from + length).wrapping_sub(to + length + 5) as i32;
        jump.add(1).cast::<i32>().write_unaligned(distance);
    }
}

pub(super) fn catch_breakpoints() {
    const SIGTRAP: i32 = 5;
    handle(&[SIGTRAP], on_breakpoint);
}

extern "C" fn on_breakpoint(signal: i32, information: *const u8, context: *mut u8) {
    const RSP: usize = 15;
    const RIP: usize = 16;
    // SAFETY: the kernel's ucontext_t: general registers.
    let registers = unsafe { std::slice::from_raw_parts_mut(context.add(40).cast::<usize>(), 17) };
    // The breakpoint is one byte long.
    let Some(number) = world().hole_at(registers[RIP] - 1) else {
        if world().at_counted_loop(registers) {
            return;
        }
        return crate::exploration::driver::on_fault(signal, information, context);
    };
    let w = world();
    let hole = w.shared.holes[number];
    let copy = w.unannounced.copies + number * COPY;
    let value = |register: u8| registers.get(register as usize).copied().unwrap_or(0);
    let address = if hole.base == hole::ABSOLUTE {
        w.unannounced.base.wrapping_add(hole.displacement as usize)
    } else {
        let index = value(hole.index).wrapping_mul(hole.scale as usize);
        value(hole.base).wrapping_add(index).wrapping_add(hole.displacement as usize)
    };
    let stack = registers[RSP] - RED_ZONE - 32;
    let behind = registers[RIP] - 1 + hole.length as usize;
    // SAFETY: below what the thread uses of its stack.
    unsafe { (stack as *mut [usize; 4]).write([behind, number, address, copy]) };
    registers[RSP] = stack;
    registers[RIP] = quotient_unannounced_enter as *const () as usize;
}
