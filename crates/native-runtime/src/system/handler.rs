//! Handlers of the runtime's own: of faults, of calls that the sandbox catches, of breakpoints.

use crate::real;

/// What `sigaction` is told, as glibc has it.
#[repr(C)]
struct Action {
    handler: Handler,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

/// Told the signal, the kernel's `siginfo_t` and the registers.
pub type Handler = extern "C" fn(i32, *const u8, *mut u8);

/// SA_SIGINFO; SA_ONSTACK, as an overflow of the thread's stack may be the reason; SA_NODEFER, as a handler may leave by switching to another thread,
/// and the signal must not stay blocked then.
const FLAGS: i32 = 4 | 0x0800_0000 | 0x4000_0000;

/// Has the signals handled on the alternative stack.
pub fn handle(signals: &[i32], handler: Handler) {
    let action = Action { handler, mask: [0; 16], flags: FLAGS, restorer: 0 };
    for signal in signals {
        // SAFETY: a struct sigaction as glibc has it, which is only read; the old one is not asked for. These signals come from instructions that
        // the program executes, between which the runtime's own state is never half changed.
        unsafe { real!("sigaction", fn(i32, *const Action, usize) -> i32)(*signal, &action, 0) };
    }
}
