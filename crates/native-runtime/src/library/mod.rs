//! Calls of the program to functions of other libraries, which have no hooks.
//!
//! What such a function does to memory that it is given are accesses of the calling thread, checked like those that hooks
//! announce. What it does to things outside of memory (files, descriptors, the environment, generators of random numbers …)
//! makes the call a visible operation on the objects of [`external`], right before it is done: two calls that touch one
//! thing, one of them changing it, are explored in both orders. All of this is in one table ([`table`]). A
//! function that is not there, called while several threads exist, ends in "undecided".
//!
//! Why that is enough: a call has at most one visible operation, and nothing of another thread happens between it and the
//! end of the call. So a call is one step on its objects, and all else that it does are plain accesses, for which the
//! argument of the crate's documentation holds.

mod accesses;
mod external;
mod format;
pub mod imports;
pub mod stub;
pub mod table;

pub use external::External;

use std::ffi::CStr;

use crate::environment::outside;
use crate::exploration::world::{World, active, fail, world};
use crate::interruptions::interruption::{Kind, Next, point};
use crate::library::imports::{Import, Object};
use crate::library::stub::{Call, Saved};
use crate::protocol::{FailureKind, Outside};
use table::{Function, Opened, VARIABLES};

/// A function that the program imports.
pub struct Imported {
    name: &'static CStr,
    /// Where the program keeps its address.
    slot: usize,
    target: usize,
    /// What it does, if that is known.
    function: Option<Function>,
}

impl Imported {
    fn name(&self) -> &'static str {
        self.name.to_str().unwrap_or("a function with a strange name")
    }
}

/// The functions that have stubs. Filled in once, before the program starts.
#[derive(Default)]
pub struct Library {
    /// Kept for good, outside of the state: who is in a call has hold of what it calls.
    imported: Vec<&'static Imported>,
    /// Streams of C++ that are the standard output.
    outputs: [usize; 3],
    /// Where the C library's variables are; 0: nowhere.
    variables: [usize; VARIABLES.len()],
}

/// Is the function behind this import one that needs no stub?
fn is_left_alone(import: &Import, function: Option<&Function>, objects: &[Object]) -> bool {
    if let Some(function) = function {
        return function.is_pure();
    }
    let target = import.target();
    let here = is_left_alone as *const () as usize;
    // Functions of this runtime, and the mathematical ones: what is given a pointer there is in the table.
    let of_mathematics = |o: &Object| o.name.to_bytes().windows(8).any(|w| w == b"/libm.so");
    objects.iter().any(|o| o.contains(target) && (o.contains(here) || of_mathematics(o)))
}

/// Puts stubs between the program and what it imports.
pub fn interpose(w: &mut World) {
    let objects = crate::library::imports::objects();
    let mut redirected: Vec<(&Import, usize)> = Vec::new();
    let here = interpose as *const () as usize;
    let program = objects.iter().enumerate().filter(|(n, o)| *n == 0 || o.has_hooks());
    for (_, object) in program.filter(|(_, o)| !o.contains(here)) {
        for import in object.imports.iter().filter(|i| i.target() != 0 && !i.is_defined) {
            let function = table::find(import.name.to_str().unwrap_or_default());
            // What another part of the program defines is the program's.
            let own = objects
                .iter()
                .enumerate()
                .any(|(n, o)| (n == 0 || o.has_hooks()) && !o.contains(here) && o.contains(import.target()));
            if own || is_left_alone(import, function.as_ref(), &objects) {
                continue;
            }
            redirected.push((import, w.library.imported.len()));
            w.library.imported.push(Box::leak(Box::new(Imported {
                name: import.name,
                slot: import.slot,
                target: import.target(),
                function,
            })));
        }
    }
    let stub = crate::library::stub::make(w.library.imported.len());
    for (import, number) in redirected {
        import.redirect(stub(number));
    }
    // SAFETY: a terminated name; 0 if there is none.
    let find = |name: &CStr| unsafe { dlsym(0, name.as_ptr()) };
    w.library.outputs = [c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"].map(find);
    w.library.variables = VARIABLES.map(find);
}

/// Lets the C library allocate the buffers of the standard streams now: later they would belong to the thread that prints first.
fn allocate_buffers() {
    unsafe extern "C" {
        static stdin: usize;
        static stdout: usize;
        static stderr: usize;
    }
    // SAFETY: a terminated name.
    let allocate = unsafe { dlsym(0, c"_IO_doallocbuf".as_ptr()) };
    if allocate != 0 {
        // SAFETY: the C library's function, which takes a stream; it does nothing where there is a buffer.
        unsafe {
            let allocate = std::mem::transmute::<usize, unsafe extern "C" fn(usize)>(allocate);
            [stdin, stdout, stderr].into_iter().for_each(|stream| allocate(stream));
        }
    }
}

/// Lets libraries make the mappings now that they would make in every execution, and keep afterwards: languages.
pub fn prepare(w: &mut World) {
    allocate_buffers();
    // Libraries of C++ look at `errno` without telling.
    w.errno_read |= w.library.imported.iter().any(|i| i.name().starts_with("_Z"));
    const ALL: i32 = 6;
    let called = |name: &CStr| w.library.imported.iter().any(|i| i.name == name);
    if called(c"setlocale") || called(c"newlocale") {
        let set = crate::real!("setlocale", fn(i32, *const std::ffi::c_char) -> usize);
        // SAFETY: terminated names.
        unsafe {
            set(ALL, c"".as_ptr());
            set(ALL, c"C".as_ptr());
        }
    }
}

unsafe extern "C" {
    fn dlsym(handle: usize, name: *const std::ffi::c_char) -> usize;
}

impl World {
    /// Is the running thread in a call of a function that keeps the memory which it allocates?
    pub fn is_kept_by_library(&mut self) -> bool {
        let Some(stub) = self.me().calls.last().map(|call| call.stub) else { return false };
        self.library.imported[stub].function.as_ref().is_some_and(Function::keeps_memory)
    }

    /// Is there anybody beside the running thread?
    fn has_company(&mut self) -> bool {
        let me = self.current;
        self.threaded
            && (self.me().owed != 0
                || self.threads.iter().enumerate().any(|(number, t)| number != me && t.lives()))
    }
}

/// Called by a stub before the function; gives where to go on.
pub extern "C" fn before(stub: usize, saved: &mut Saved) -> usize {
    let imported = world().library.imported[stub];
    let (target, slot) = (imported.target, imported.slot);
    if !active() {
        return target;
    }
    let Some(function) = &imported.function else {
        world().distrust_stale();
        world().note_errno_read();
        if world().has_company() {
            unknown(imported, "its effects are not known");
        }
        // It may give anything. Functions of C++ lead to those that are known wherever they leave the program.
        if !imported.name().starts_with("_Z") {
            outside::note(Outside::Machine, imported.name().as_bytes());
        }
        return target;
    };
    if function.never {
        unknown(imported, "it is not supported");
    }
    if world().gives_buffer(function, saved) {
        unknown(imported, "streams with a buffer of the program are not supported");
    }
    if function.alone && world().has_company() {
        unknown(imported, "its effects on other threads are not known");
    }
    if function.ostream && !world().library.outputs.contains(&saved.arguments[0]) && world().has_company() {
        unknown(imported, "streams of C++ other than the standard output are not supported");
    }
    if world().is_channel(function, saved) {
        // A pipe or socket between threads: the runtime's own function does everything.
        return target;
    }
    if let Some(argument) = function.thread {
        crate::threads::handle::used(saved.arguments[argument as usize], imported.name());
    }
    match function.from {
        Some(Outside::Descriptors) => world().number_asked(),
        Some(from) => note_asked(from, imported, saved),
        None => {}
    }
    if function.errno {
        world().note_errno_read();
    }
    if function.point {
        point(Kind::Cancellation, Next::GoesOn);
    }
    if function.changes {
        crate::descriptors::files::note(true);
    }
    let afterwards = function.has_afterwards();
    let owed = world().me().owed;
    if afterwards && owed != 0 {
        crate::threads::thread::settle(owed);
    }
    let steps = accesses::visible_steps(function, &saved.arguments)
        + usize::from(world().is_external_step(function, saved));
    if steps > 1 {
        unknown(imported, "it makes several accesses that race, which cannot be one step");
    }
    accesses::before(function, saved);
    world().touch(slot, function, saved);
    if afterwards {
        let on_stack = saved.on_stack.as_ptr() as usize;
        let call = Call {
            stub,
            arguments: saved.arguments,
            slot: on_stack - 8,
            return_address: saved.return_address,
            list: format::list_of(function, &saved.arguments),
            words: accesses::words_before(function, &saved.arguments),
        };
        world().me().calls.push(call);
        crate::library::stub::replace_return(saved);
    }
    target
}

/// Called after a function of which something is known only then; gives its result.
pub extern "C" fn after(result: usize, slot: &mut usize) -> usize {
    let here = std::ptr::from_mut(slot) as usize;
    let mut w = world();
    let call = loop {
        match w.me().calls.pop() {
            Some(call) if call.slot == here => break call,
            // Calls that were never returned from.
            Some(_) => {}
            None => crate::system::system_call::die(b"quotient: a return from an unknown call\n"),
        }
    };
    *slot = call.return_address;
    let imported = w.library.imported[call.stub];
    let Some(function) = &imported.function else { return result };
    let result = match function.opened {
        Opened::Nothing => result,
        kind => world().opened(kind, function, &call, result),
    };
    accesses::after(function, &call, result, imported.name());
    result
}

/// The program asks for something that comes from outside.
fn note_asked(from: Outside, imported: &Imported, saved: &Saved) {
    let name = match (from, saved.arguments[0]) {
        (Outside::Environment, 0) | (Outside::Clock | Outside::Random | Outside::Machine, _) => imported.name,
        // SAFETY: the name of a variable, as the table says.
        (_, variable) => unsafe { CStr::from_ptr(variable as *const std::ffi::c_char) },
    };
    outside::note(from, name.to_bytes());
}

fn unknown(imported: &Imported, why: &str) -> ! {
    fail(FailureKind::Refused, &format!("calls {}: {why}", imported.name()), 0)
}
