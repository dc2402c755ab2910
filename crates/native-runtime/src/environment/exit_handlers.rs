//! What runs at the end of the program: handlers of `atexit`, destructors of static objects, functions of
//! `.fini_array`.
//!
//! They run under control, on the thread that ends the program, before its last step: what they do is explored together
//! with what the other threads still do, since `exit` does not wait for them. Handlers that libraries without hooks have
//! registered are left out: they have nothing to do with the program's threads.

use crate::exploration::world::{World, active, controlled, fail, world};
use crate::library::imports::objects;
use crate::pass_on;
use crate::protocol::FailureKind;

/// A registered function.
#[derive(Clone, Copy)]
struct Handler {
    function: usize,
    argument: usize,
    /// Is it given the status first (`on_exit`)?
    wants_status: bool,
}

/// All of them, the last one to be called first.
#[derive(Default)]
pub struct ExitHandlers {
    registered: Vec<Handler>,
    /// Those that exist at the start of every execution.
    at_start: Vec<Handler>,
    /// Called after all others, in this order.
    finals: Vec<usize>,
    finals_done: usize,
    /// Memory of the program: other functions are not called.
    code: Vec<std::ops::Range<usize>>,
}

impl ExitHandlers {
    /// What is registered now is so at the start of every execution.
    pub fn set_baseline(&mut self) {
        self.at_start.clone_from(&self.registered);
        let here = crate::environment::exit_handlers::run as *const () as usize;
        for (number, object) in objects().into_iter().enumerate() {
            if (number == 0 || object.has_hooks()) && !object.contains(here) {
                self.finals.extend(object.at_end);
                self.code.extend(object.memory);
            }
        }
    }

    /// Back to the start.
    pub fn restart(&mut self) {
        self.registered.clone_from(&self.at_start);
        self.finals_done = 0;
    }

    fn is_own(&self, function: usize) -> bool {
        self.code.iter().any(|range| range.contains(&function))
    }

    /// Is there anything of the program to be called?
    pub fn is_needed(&self) -> bool {
        self.registered.iter().any(|handler| self.is_own(handler.function))
    }

    fn next(&mut self) -> Option<Handler> {
        while let Some(handler) = self.registered.pop() {
            if self.is_own(handler.function) {
                return Some(handler);
            }
        }
        let function = *self.finals.get(self.finals_done)?;
        self.finals_done += 1;
        Some(Handler { function, argument: 0, wants_status: false })
    }
}

/// Runs everything on the running thread. A handler may register others, or call `exit` itself.
pub fn run(status: i32) {
    crate::threads::unwinding::destroy_locals();
    while let Some(handler) = world().exit_handlers.next() {
        type Function = unsafe extern "C" fn(usize, usize);
        let (first, second) =
            if handler.wants_status { (status as usize, handler.argument) } else { (handler.argument, 0) };
        // SAFETY: a function that the program has registered; superfluous arguments are not looked at.
        unsafe { std::mem::transmute::<usize, Function>(handler.function)(first, second) };
    }
}

impl World {
    fn register(&mut self, function: usize, argument: usize, wants_status: bool) -> i32 {
        self.exit_handlers.registered.push(Handler { function, argument, wants_status });
        0
    }
}

/// `__cxa_atexit`, to which `atexit` leads as well.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_atexit(function: usize, argument: usize, object: usize) -> i32 {
    crate::exploration::driver::attach_once();
    if !controlled() {
        return pass_on!("__cxa_atexit", fn(usize, usize, usize) -> i32; function, argument, object);
    }
    world().register(function, argument, false)
}

/// `on_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn on_exit(function: usize, argument: usize) -> i32 {
    if !controlled() {
        return pass_on!("on_exit", fn(usize, usize) -> i32; function, argument);
    }
    world().register(function, argument, true)
}

/// `at_quick_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn at_quick_exit(function: usize) -> i32 {
    if active() {
        fail(FailureKind::Refused, "at_quick_exit: handlers of quick_exit are not supported", 0);
    }
    pass_on!("at_quick_exit", fn(usize) -> i32; function)
}
