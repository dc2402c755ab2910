//! Where a thread stopped: the program's frames on its stack, with the registers as each of them will find them again.
//!
//! Found by the unwinder when a visible operation is announced, on the thread's own stack, because the registers that a called
//! function keeps are saved somewhere in the frames of this library.

use crate::exploration::world::World;
use crate::symmetry::kept_handle::RETURNED;
use crate::symmetry::stale::chain;

/// The most frames that are kept.
pub const MOST: usize = 16;

/// A frame of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Where it goes on.
    pub place: usize,
    /// Its frame pointer.
    pub pointer: usize,
    /// Its stack pointer: where its part of the stack begins.
    pub low: usize,
    /// rbx, r12 to r15.
    pub registers: [usize; 5],
}

/// The frames of a thread.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// The function of this library that the program called.
    pub entry: usize,
    /// There are no more of the program's, and all were understood.
    pub complete: bool,
}

unsafe extern "C" {
    fn _Unwind_Backtrace(callback: extern "C" fn(usize, *mut u8) -> i32, data: *mut u8) -> i32;
    fn _Unwind_GetIP(context: usize) -> usize;
    fn _Unwind_GetCFA(context: usize) -> usize;
    fn _Unwind_GetGR(context: usize, register: i32) -> usize;
    fn _Unwind_FindEnclosingFunction(place: usize) -> usize;
}

struct Walk {
    own: std::ops::Range<usize>,
    last_own: usize,
    frames: Frames,
}

extern "C" fn visit(context: usize, walk: *mut u8) -> i32 {
    const GO_ON: i32 = 0;
    const STOP: i32 = 4;
    // SAFETY: called by the unwinder with what `capture` passes; the registers are those that functions keep.
    let (walk, place) = unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(context)) };
    // SAFETY: as above.
    let register = |number: i32| unsafe { _Unwind_GetGR(context, number) };
    if walk.own.contains(&place) {
        if walk.frames.frames.is_empty() {
            walk.last_own = place;
            return GO_ON;
        }
        // Back in this library, which called the thread's routine or `main`.
        walk.frames.complete = true;
        return STOP;
    }
    if walk.frames.frames.len() == MOST {
        return STOP;
    }
    let registers = [3, 12, 13, 14, 15].map(register);
    // SAFETY: as above. To the frame that goes on, the end of the one that it has called is its own stack pointer.
    let low = unsafe { _Unwind_GetCFA(context) };
    walk.frames.frames.push(Frame { place, pointer: register(6), low, registers });
    GO_ON
}

extern "C" fn nothing(_context: usize, _data: *mut u8) -> i32 {
    const STOP: i32 = 4;
    STOP
}

/// Lets the unwinder set itself up, which it does once and under a `pthread_once`: before the program comes under control, so that
/// the ends of threads do not wait for each other.
pub fn prepare_unwinder() {
    // SAFETY: the callback does nothing.
    unsafe { _Unwind_Backtrace(nothing, std::ptr::null_mut()) };
}

/// Finds the frames of the running thread; `own` is the code of this library.
#[inline(never)]
pub fn capture(own: &std::ops::Range<usize>, into: &mut Frames) {
    let mut frames = std::mem::take(into);
    frames.frames.clear();
    frames.complete = false;
    let mut walk = Walk { own: own.clone(), last_own: 0, frames };
    crate::exploration::world::inactive(|| {
        // SAFETY: the callback only uses what it is given.
        unsafe {
            _Unwind_Backtrace(visit, (&raw mut walk).cast());
            walk.frames.entry = _Unwind_FindEnclosingFunction(walk.last_own);
        }
    });
    *into = walk.frames;
}

impl World {
    /// Takes note of where the running thread is.
    #[inline(never)]
    pub fn capture_frames(&mut self) {
        let current = self.current;
        let mut frames = std::mem::take(&mut self.me().frames);
        capture(&self.code.own, &mut frames);
        // The walk ends at a frame that was made by hand (`leave_main`), unless a handler of the program is running.
        if self.me().returned && frames.frames.iter().all(|frame| frame.place == 0) {
            frames.frames.clear();
            let (pointer, low) = (self.me().top & !7, self.me().lowest);
            frames.frames.push(Frame { place: RETURNED, pointer, low, registers: [0; 5] });
            frames.complete = true;
        }
        self.stale.stop(current, &frames.frames);
        if current == 0 {
            let place = frames.frames.iter().fold(0, |called, frame| chain(called, frame.place));
            self.kept_handles.stop(place);
        }
        self.me().frames = frames;
    }
}
