//! Where everything lies in a packed state, as far as that does not depend on the state.
//!
//! A state starts with the number of its [shape](crate::state::shapes): which threads, channels and objects exist, and where each
//! lies. Then come the globals, then the segments: of each thread a *head* (which lock it waits for, where the program has locks),
//! its frames (each a location, a priority if the program uses them, and locals) and the channels that it brought along; then the
//! objects ([`crate::state::objects`]). Where a program has no locks, a head has no bytes; where it has no calls, a thread has one
//! frame; where it has no objects, nothing follows the threads.
//!
//! Unused bytes are always zero, so that equal states are equal words.

use quotient_program::visit::{self, Visitor};
use quotient_program::{Action, ChannelTypeId, Expr, Function, Init, LockOperation, Program, Type, Variable};

use super::cell::{Cell, size_of_type};
use super::link::{Link, Sort, links_of, links_of_variables};
use super::objects::Objects;

/// A frame: of a thread's body, or of a function that it calls.
#[derive(Clone, Debug)]
pub(crate) struct ThreadLayout {
    /// Bytes of the location: 1, 2 or 4.
    pub(crate) location_size: u32,
    /// Where the priority is, if the program uses them.
    pub(crate) priority: Option<u32>,
    /// Where each local starts.
    pub(crate) locals: Vec<u32>,
    /// The bytes of temporaries: locals that have a value only inside one transformation.
    pub(crate) scratch: Vec<std::ops::Range<u32>>,
    /// Where the locals name objects and threads.
    pub(crate) links: Vec<Link>,
    /// Size of the segment.
    pub(crate) size: u32,
    /// Channels made when the thread starts: the byte of the variable that gets the number, and the kind.
    pub(crate) channels: Vec<(u32, ChannelTypeId)>,
}

impl ThreadLayout {
    /// Nothing but a location.
    fn idle() -> ThreadLayout {
        ThreadLayout {
            location_size: 1,
            priority: None,
            locals: Vec::new(),
            scratch: Vec::new(),
            links: Vec::new(),
            size: 1,
            channels: Vec::new(),
        }
    }
}

/// The segment of a channel: its length, then its messages.
#[derive(Clone, Debug)]
pub(crate) struct ChannelLayout {
    pub(crate) capacity: u32,
    /// Bytes of the length: 1 or 2.
    pub(crate) length_size: u32,
    /// Fields of a message: byte within the message and cell.
    pub(crate) fields: Vec<(u32, Cell)>,
    /// What each field names.
    pub(crate) sorts: Vec<Sort>,
    /// Links of a message.
    pub(crate) links: Vec<Link>,
    pub(crate) message_size: u32,
    pub(crate) size: u32,
}

/// Everything that is known before the first state.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Bytes of the shape number: 2 or 4.
    pub(crate) shape_size: u32,
    /// Where each global starts.
    pub(crate) globals: Vec<u32>,
    /// Where the id of the last thread is.
    pub(crate) last: Option<u32>,
    /// Where the observer's location is, and in what: two bytes, or four where it has too many.
    pub(crate) observer: Option<(u32, Cell)>,
    /// Where it is noted that the program has stopped and the claim goes on alone (claims that ask for progress).
    pub(crate) stuttered: Option<u32>,
    /// Where the claim's segment is: its location and variables. Its layout is the one after those of the functions.
    pub(crate) claim: Option<u32>,
    /// Scratch variables: zero in every stored state.
    pub(crate) scratch: std::ops::Range<u32>,
    /// First byte after the globals.
    pub(crate) fixed: u32,
    /// Links among the globals, and among the scratch variables.
    pub(crate) global_links: Vec<Link>,
    pub(crate) scratch_links: Vec<Link>,
    /// The number of functions.
    functions: u32,
    /// Frames by function. Behind the functions: the claim or observer, an ended thread, no thread.
    pub(crate) threads: Vec<ThreadLayout>,
    /// Bytes of a thread's head.
    pub(crate) head: u32,
    pub(crate) channels: Vec<ChannelLayout>,
    /// Channels made before the first state: the byte of the global that gets the number, and the kind.
    pub(crate) initial_channels: Vec<(u32, ChannelTypeId)>,
    pub(crate) objects: Objects,
}

/// Bytes of a thread's head in programs with locks: the lock it waits for, how often it held it, whether it was notified.
pub(crate) const HEAD_SIZE: u32 = 4;

impl Layout {
    pub(crate) fn new(program: &Program, wide_shapes: bool) -> Layout {
        let shape_size = if wide_shapes { 4 } else { 2 };
        let mut at = shape_size;
        let mut globals = vec![0; program.globals.len()];
        let mut initial_channels = Vec::new();
        for (index, variable) in program.globals.iter().enumerate().filter(|(_, v)| !v.scratch) {
            globals[index] = at;
            channels_of(program, variable, at, &mut initial_channels);
            at += size_of_type(program, &variable.ty);
        }
        let mut reserve = |wanted: bool, size: u32| {
            let place = at;
            wanted.then(|| {
                at += size;
                place
            })
        };
        let last = reserve(program.features.last, 1);
        let many = program.observer.as_ref().is_some_and(|o| o.function.locations.len() > 1 << 16);
        let location = if many { Cell::U32(u32::MAX) } else { Cell::U16(u16::MAX) };
        let observer = reserve(program.observer.is_some(), if many { 4 } else { 2 }).map(|at| (at, location));
        let stuttered = reserve(program.claim.as_ref().is_some_and(asks_for_progress), 1);
        let mut threads: Vec<ThreadLayout> =
            program.functions.iter().map(|f| thread_layout(program, f)).collect();
        let watcher = program.claim.as_ref().map(|c| thread_layout(program, &c.function));
        let claim = reserve(watcher.is_some(), watcher.as_ref().map_or(0, |l| l.size));
        // A claim with variables of its own is refused where these could name objects.
        let watcher = watcher.map(|l| ThreadLayout { links: Vec::new(), ..l });
        threads.extend([
            watcher.unwrap_or_else(ThreadLayout::idle),
            ThreadLayout::idle(),
            ThreadLayout::idle(),
        ]);
        let scratch_start = at;
        for (index, variable) in program.globals.iter().enumerate().filter(|(_, v)| v.scratch) {
            globals[index] = at;
            at += size_of_type(program, &variable.ty);
        }
        let links = |scratch: bool| {
            let all = program.globals.iter().zip(&globals);
            links_of_variables(program, all.filter(move |(v, _)| v.scratch == scratch))
        };
        Layout {
            shape_size,
            last,
            observer,
            stuttered,
            claim,
            scratch: scratch_start..at,
            fixed: at,
            global_links: links(false),
            scratch_links: links(true),
            globals,
            functions: program.functions.len() as u32,
            threads,
            head: if waits_for_locks(program) { HEAD_SIZE } else { 0 },
            channels: program.channel_types.iter().map(|c| channel_layout(program, c)).collect(),
            initial_channels,
            objects: Objects::new(program),
        }
    }

    /// The kind of a thread that has ended and is still referred to.
    pub(crate) fn ended(&self) -> u32 {
        self.functions + 1
    }

    /// The kind of a thread number that is not in use.
    pub(crate) fn nobody(&self) -> u32 {
        self.functions + 2
    }

    /// Does an instance of this kind run something?
    #[inline]
    pub(crate) fn runs(&self, kind: u32) -> bool {
        kind < self.functions
    }
}

/// Does a claim ask whether there is progress?
fn asks_for_progress(claim: &quotient_program::Claim) -> bool {
    struct Asks(bool);
    impl Visitor for Asks {
        fn expr(&mut self, e: &Expr) {
            self.0 |= matches!(e, Expr::NonProgress);
        }
    }
    let mut asks = Asks(false);
    let locations = claim.function.locations.iter();
    locations.flat_map(|l| &l.transformations).for_each(|t| visit::transformation(t, &mut asks));
    asks.0
}

/// Can a thread wait for a lock?
fn waits_for_locks(program: &Program) -> bool {
    let locations = program.functions.iter().flat_map(|f| &f.locations);
    let mut actions = locations.flat_map(|l| &l.transformations).flat_map(|t| &t.actions);
    actions.any(|a| matches!(a, Action::Lock(LockOperation::Wait, _)))
}

/// Channels that a variable's initial value makes and that exist as long as the variable does, in order. Where channels are named by
/// references, they are objects.
fn channels_of(program: &Program, variable: &Variable, at: u32, out: &mut Vec<(u32, ChannelTypeId)>) {
    match (&variable.init, &variable.ty) {
        (Init::Channels(kind), Type::Channel) => out.push((at, *kind)),
        (Init::Channels(kind), Type::Array(element, length)) if **element == Type::Channel => {
            out.extend((0..*length).map(|i| (at + i * Cell::of(element).size(), *kind)));
        }
        (Init::Channels(_), _) => {}
        (_, Type::Structure(id)) => {
            let mut field_at = at;
            for field in &program.structure(*id).fields {
                channels_of(program, field, field_at, out);
                field_at += size_of_type(program, &field.ty);
            }
        }
        (_, Type::Array(element, length)) if matches!(**element, Type::Structure(_)) => {
            let inner = Variable { ty: (**element).clone(), ..variable.clone() };
            let size = size_of_type(program, element);
            for index in 0..*length {
                channels_of(program, &inner, at + index * size, out);
            }
        }
        _ => {}
    }
}

fn thread_layout(program: &Program, function: &Function) -> ThreadLayout {
    // While a frame waits for a call to return, its location says which call (see `step/frames.rs`).
    let calls = function.locations.iter().flat_map(|l| &l.transformations).flat_map(|t| &t.actions);
    let calls = calls.filter(|a| matches!(a, Action::Call { .. })).count();
    let location_size = match function.locations.len() + calls {
        ..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    };
    let mut at = location_size;
    let priority = program.features.priorities.then(|| {
        at += 1;
        at - 1
    });
    let mut locals = Vec::new();
    let mut channels = Vec::new();
    for variable in &function.locals {
        locals.push(at);
        channels_of(program, variable, at, &mut channels);
        at += size_of_type(program, &variable.ty);
    }
    let scratch = function.locals.iter().zip(&locals).filter(|(variable, _)| variable.scratch);
    let scratch = scratch.map(|(variable, at)| *at..*at + size_of_type(program, &variable.ty)).collect();
    let links = links_of_variables(program, function.locals.iter().zip(&locals));
    ThreadLayout { location_size, priority, locals, scratch, links, size: at, channels }
}

fn channel_layout(program: &Program, channel: &quotient_program::ChannelType) -> ChannelLayout {
    let length_size = if channel.capacity < 256 { 1 } else { 2 };
    let (mut fields, mut links, mut message_size) = (Vec::new(), Vec::new(), 0);
    for ty in &channel.fields {
        let cell = Cell::of(ty);
        links_of(program, ty, message_size, &mut links);
        fields.push((message_size, cell));
        message_size += cell.size();
    }
    let size = length_size + channel.capacity * message_size;
    let sorts = channel.fields.iter().map(Sort::of_type).collect();
    ChannelLayout { capacity: channel.capacity, length_size, fields, sorts, links, message_size, size }
}
