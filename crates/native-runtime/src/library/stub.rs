//! Stubs between the program and the functions of other libraries that it calls.
//!
//! A stub says which function is called and jumps to one piece of code for all, which saves the arguments, lets
//! [`crate::library`] take note of the call, and goes on to the function with everything as it was: further arguments
//! on the stack are where the function expects them, so this works for any number of them. Where there is something to be done
//! after the call (what was written is known only then), the return address is replaced meanwhile; the true one is kept
//! with the arguments in [`Call`].
//!
//! Nothing of the program can run between such a replacement and the return: functions with callbacks or points of
//! interruption are never treated like this (see `library`), so nobody unwinds or jumps across it.

use std::arch::global_asm;

use crate::system::system_call::{map_fixed, number, system_call};

/// Where the stubs lie.
const STUBS: usize = 0x6090_0000_0000;
const SIZE: usize = 32;
/// Room for so many.
const MOST: usize = 1 << 15;

// The frame of `quotient_stub_enter` is laid out as [`Saved`].
global_asm!(
    ".globl quotient_stub_enter",
    ".hidden quotient_stub_enter",
    "quotient_stub_enter:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, 192",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "mov [rsp + 48], rax",
    // For functions of any number of arguments: how many are in vector registers. No other function here has any.
    "test al, al",
    "je 2f",
    "movups [rsp + 64], xmm0",
    "movups [rsp + 80], xmm1",
    "movups [rsp + 96], xmm2",
    "movups [rsp + 112], xmm3",
    "movups [rsp + 128], xmm4",
    "movups [rsp + 144], xmm5",
    "movups [rsp + 160], xmm6",
    "movups [rsp + 176], xmm7",
    "2:",
    "mov rdi, r11",
    "mov rsi, rsp",
    "call {before}",
    "mov r11, rax",
    "mov rax, [rsp + 48]",
    "test al, al",
    "je 3f",
    "movups xmm0, [rsp + 64]",
    "movups xmm1, [rsp + 80]",
    "movups xmm2, [rsp + 96]",
    "movups xmm3, [rsp + 112]",
    "movups xmm4, [rsp + 128]",
    "movups xmm5, [rsp + 144]",
    "movups xmm6, [rsp + 160]",
    "movups xmm7, [rsp + 176]",
    "3:",
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "jmp r11",
    ".cfi_endproc",
    ".globl quotient_stub_return",
    ".hidden quotient_stub_return",
    "quotient_stub_return:",
    // The place of the return address, which is filled in again by the function called here.
    "sub rsp, 8",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 48",
    "mov [rsp + 8], rdx",
    "movups [rsp + 16], xmm0",
    "movups [rsp + 32], xmm1",
    "mov rdi, rax",
    "lea rsi, [rbp + 8]",
    "call {after}",
    "mov rdx, [rsp + 8]",
    "movups xmm0, [rsp + 16]",
    "movups xmm1, [rsp + 32]",
    "mov rsp, rbp",
    "pop rbp",
    "ret",
    before = sym crate::library::before,
    after = sym crate::library::after,
);

unsafe extern "C" {
    fn quotient_stub_enter();
    fn quotient_stub_return();
}

/// The arguments of a call, where they were saved.
#[repr(C)]
pub struct Saved {
    /// In general registers.
    pub arguments: [usize; 6],
    rax: usize,
    padding: usize,
    vectors: [u128; 8],
    frame: usize,
    /// Where the call returns to.
    pub return_address: usize,
    /// More arguments follow here.
    pub on_stack: [usize; 0],
}

/// A call that is followed by something.
#[derive(Clone, Copy)]
pub struct Call {
    /// Number of the stub.
    pub stub: usize,
    /// Its arguments.
    pub arguments: [usize; 6],
    /// Where the return address is kept, and the arguments on the stack follow.
    pub slot: usize,
    /// The return address.
    pub return_address: usize,
    /// A list of arguments (`va_list`) as it was before the call.
    pub list: [usize; 3],
    /// A hash of words that it may change, before the call.
    pub words: u64,
}

/// Makes the call return to [`crate::library::after`] first.
pub fn replace_return(saved: &mut Saved) {
    saved.return_address = quotient_stub_return as *const () as usize;
}

/// Makes a stub for each of `count` calls; gives the address of the first. They follow each other at a distance of [`SIZE`].
pub fn make(count: usize) -> impl Fn(usize) -> usize {
    let count = count.min(MOST);
    if count > 0 {
        let length = (count * SIZE).next_multiple_of(4096);
        map_fixed(STUBS, length);
        for number in 0..count {
            // mov r11d, number; jmp [rip]; the address
            let mut code = [0u8; SIZE];
            code[..2].copy_from_slice(&[0x41, 0xbb]);
            code[2..6].copy_from_slice(&(number as u32).to_le_bytes());
            code[6..12].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
            code[12..20].copy_from_slice(&(quotient_stub_enter as *const () as usize).to_le_bytes());
            // SAFETY: within the new mapping.
            unsafe { ((STUBS + number * SIZE) as *mut [u8; SIZE]).write(code) };
        }
        const READ_EXECUTE: usize = 5;
        // SAFETY: the mapping made above.
        unsafe { system_call(number::MPROTECT, [STUBS, length, READ_EXECUTE, 0, 0, 0]) };
    }
    |number| STUBS + number.min(MOST - 1) * SIZE
}
