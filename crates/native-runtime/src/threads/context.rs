//! User-level contexts.
//!
//! A switch saves the callee-saved registers and the floating-point control words on the stack, and sets the base of the
//! FS segment: thread-local variables, `errno` and `pthread_self` are those of the thread whose stack is entered.

use std::arch::{asm, naked_asm};
use std::ops::Range;

use crate::protocol::{FRAMES, Stack};

/// Saves the current context, its stack pointer at `save`, and continues the one saved at `to`.
///
/// # Safety
/// `to` must be a saved or fresh context whose stack is intact, `fs` the FS base of its thread.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(save: *mut usize, to: usize, fs: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov eax, [rsp]",
        "movzx ecx, word ptr [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "wrfsbase rdx",
        // Loading a control word takes long, and nearly all threads have the same.
        "cmp eax, [rsp]",
        "jne 2f",
        "cmp cx, [rsp + 4]",
        "je 3f",
        "2:",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "3:",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Prepares a context that starts with `entry` on the stack that ends at `top`; gives its stack pointer.
///
/// # Safety
/// The 128 bytes below `top` must be free.
pub unsafe fn fresh(top: usize, entry: extern "C" fn() -> !) -> usize {
    let top = top & !15;
    let sp = top - 11 * 8;
    let words = sp as *mut usize;
    // SAFETY: within the 128 bytes. After the last `pop`, `ret` leaves the stack pointer at `top - 24`: at the entry of a
    // function it is 8 above a multiple of 16.
    unsafe {
        words.write_bytes(0, 11);
        words.cast::<u32>().write(0x1f80);
        words.cast::<u16>().add(2).write(0x37f);
        words.add(7).write(entry as usize);
    }
    sp
}

/// The FS base of the running thread.
pub fn fs_base() -> usize {
    let base: usize;
    // SAFETY: reads a register; the driver has checked that the instruction exists.
    unsafe { asm!("rdfsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    base
}

/// The frame pointer of the function this is inlined into.
#[inline(always)]
pub fn frame_pointer() -> usize {
    let frame: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

/// Code, as a walk along a stack knows it.
#[derive(Clone, Default)]
pub struct Code {
    /// Of this library: not shown.
    pub own: Range<usize>,
    /// Of the program.
    pub program: Range<usize>,
}

/// Follows the frame pointers from `frame` within the stack `low..high`; gives the return addresses outside of this library,
/// innermost first. Functions of other libraries keep no frame pointers; whoever of the program has called them is found by
/// its return address among the words up to the next frame.
pub fn walk(mut frame: usize, low: usize, high: usize, code: &Code) -> Stack {
    let mut stack = [0; FRAMES];
    let mut length = 0;
    while length < FRAMES && frame >= low && frame + 16 <= high && frame.is_multiple_of(8) {
        // SAFETY: within the thread's stack, which is mapped.
        let (next, address) = unsafe { (*(frame as *const usize), *((frame + 8) as *const usize)) };
        if address < 4096 {
            break;
        }
        let foreign = !code.own.contains(&address) && !code.program.contains(&address);
        let shown = if foreign {
            // SAFETY: as above, below the next frame.
            unsafe { caller(frame + 16..next.min(high), code) }.unwrap_or(address)
        } else {
            address
        };
        if !code.own.contains(&shown) {
            stack[length] = shown as u64;
            length += 1;
        }
        if next <= frame {
            break;
        }
        frame = next;
    }
    stack
}

/// The first return address to the program among the words of a part of a stack.
///
/// # Safety
/// The words must be mapped.
pub unsafe fn caller(words: Range<usize>, code: &Code) -> Option<usize> {
    // SAFETY: mapped, as the caller says.
    let mut values = words.step_by(8).map(|at| unsafe { *(at as *const usize) });
    values.find(|word| is_return_address(*word, &code.program))
}

/// Is this an address of the code after a call?
fn is_return_address(address: usize, code: &Range<usize>) -> bool {
    if !code.contains(&address) || address < code.start + 7 {
        return false;
    }
    // SAFETY: code of the program, which can be read.
    let before = unsafe { std::slice::from_raw_parts((address - 7) as *const u8, 7) };
    // A call of a fixed place; calls by register or memory, of two to seven bytes.
    before[2] == 0xe8 || (0..6).any(|at| before[at] == 0xff && before[at + 1] >> 3 & 7 == 2)
}

/// The frame pointer saved in a context that [`switch`] left with this stack pointer.
///
/// # Safety
/// `sp` must come from [`switch`].
pub unsafe fn saved_frame(sp: usize) -> usize {
    // SAFETY: the layout that `switch` makes: control words, r15, r14, r13, r12, rbx, rbp.
    unsafe { *(sp as *const usize).add(6) }
}
