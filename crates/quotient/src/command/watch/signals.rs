//! Signals that ask the process to end.
//!
//! A handler only notes which one came; the clock looks at it. A signal that was ignored when the process started stays ignored:
//! that is what `nohup` and shells that start something in the background ask for.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

const SIGNALS: [(i32, &str); 3] =
    [(libc::SIGINT, "SIGINT"), (libc::SIGTERM, "SIGTERM"), (libc::SIGHUP, "SIGHUP")];

static FIRST: AtomicI32 = AtomicI32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

extern "C" fn note(signal: i32) {
    // Atomic operations only, as a handler must.
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Catches them from now on.
pub(super) fn catch() {
    for (signal, _) in SIGNALS {
        // SAFETY: the handler is safe to run at any time; the structures are valid, zeroes are a value of them.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// The first one that came.
pub(super) fn caught() -> Option<&'static str> {
    let first = FIRST.load(Ordering::Relaxed);
    SIGNALS.iter().find(|(signal, _)| *signal == first).map(|(_, name)| *name)
}

/// Was the process asked more than once?
pub(super) fn again() -> bool {
    COUNT.load(Ordering::Relaxed) > 1
}
