//! The things that steps touch, as bits.
//!
//! Two steps are independent when neither writes what the other reads or writes. Each thing has a bit; where there are
//! more things than bits, some share one, which only makes more steps look dependent. Asking whether a step is
//! independent of another is then two `and`s.
//!
//! A channel is two things, its *sending end* and its *receiving end*. A send writes the first, a receive the second: in
//! a state where both are possible they commute, because one appends and the other takes from the front. Which of them is
//! possible depends on the other end, but a message more can only make a receive possible and a message less only a send;
//! what a step *enables* does not matter for independence, unless something senses that it was not possible before
//! (`else`, `len`, an atomic sequence that is cut short): that reads both ends. A send in order (`!!`) can change the first
//! message and writes both ends. A rendezvous is a step of two threads: both write both ends, so that all threads that use
//! the channel depend on each other.
//!
//! Steps have two masks: what they touch *next*, and what they touch as part of somebody's *future*. They differ for the
//! end of a thread: ends never exclude each other (only the youngest thread can end), but they do exclude counting and
//! starting threads. So "ending" is one bit when it comes next and another one in the future, and who counts threads reads
//! accordingly.
//!
//! Of objects, each part (a field, the lock, …) is a thing, the same for all objects that have it; see [`crate::frames`].

use quotient_machine::Machine;
use quotient_program::visit::Use;
use quotient_program::{BinaryOp, Expr, FunctionId, Part, Place, Program, Projection, Root, Type, UnaryOp};
use quotient_residual::access::{
    Accesses, ChannelTouch, ChannelUse, Condition, Guard, Moment, Selector, Touch,
};

use crate::gates::Gate;

/// Bits read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mask {
    /// Read.
    pub read: u128,
    /// Written.
    pub write: u128,
}

impl Mask {
    /// Touches everything, also where other threads stand.
    pub const EVERYTHING: Mask = Mask { read: u128::MAX, write: u128::MAX };

    /// Adds another mask.
    pub fn add(&mut self, other: Mask) {
        self.read |= other.read;
        self.write |= other.write;
    }

    fn reads(bits: u128) -> Mask {
        Mask { read: bits, write: 0 }
    }

    fn writes(bits: u128) -> Mask {
        Mask { read: 0, write: bits }
    }
}

/// Every step writes it: somebody's place in the program. Only [`Mask::EVERYTHING`] reads it.
pub const MOVE: u128 = 1;
/// How many threads were started.
const COUNT: u128 = 1 << 1;
/// A thread ends, as a next step.
const END_NEXT: u128 = 1 << 2;
/// A thread ends, in some future.
const END_LATER: u128 = 1 << 3;
const OBSERVER: u128 = 1 << 4;
const POSITIONS: u32 = 5;
const REMOTES: u32 = 13;
const SHARED: u32 = 8;
const CHANNELS: u32 = 21;
/// Channels that get bits of their own.
const MOST_CHANNELS: u32 = 24;
/// An object is made. Programs without objects have globals from here on.
pub const ALLOCATE: u128 = 1 << 80;
/// A thread has ended.
const ENDED: u128 = 1 << 81;
/// Objects have not been deleted.
pub const EXISTENCE: u128 = 1 << 82;
/// The first bit of the other parts of objects.
const PARTS: u32 = 83;
/// All parts of objects.
pub const ALL_PARTS: u128 = u128::MAX << 82;

/// Where a fixed expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Reads the state.
    pub machine: &'a Machine,
    /// A state.
    pub state: &'a [u64],
    /// The thread; without one, only what is the same for all threads has a value.
    pub thread: Option<usize>,
}

/// Which bit is what.
#[derive(Clone, Debug)]
pub struct Objects {
    /// Channels with bits of their own; later ones share them.
    channels: u32,
    /// Per global: first bit and number of bits; without bits when nobody writes it.
    globals: Vec<(u32, u32)>,
    /// No two globals share a bit.
    apart: bool,
    has_rendezvous: bool,
    /// Functions whose threads bring channels along.
    with_channels: Vec<bool>,
    /// The bits of parts of objects.
    parts: Parts,
}

/// The bits of parts of objects, by what they are parts of.
#[derive(Clone, Debug, Default)]
struct Parts {
    count: u32,
    bits: Vec<Vec<u128>>,
}

impl Parts {
    /// Where the bit of a part is kept.
    fn place(part: Part) -> (usize, usize) {
        match part {
            Part::Field(record, field) => (4 + record.0 as usize, field as usize),
            Part::Elements(array) => (0, array.0 as usize),
            Part::Rows(collection) => (1, collection.0 as usize),
            Part::Messages => (2, 0),
            Part::Lock => (3, 0),
            Part::Existence => (3, 1),
        }
    }

    /// Gives a part a bit, if it has none. Where there are too many, some share one.
    fn add(&mut self, part: Part) {
        let (row, column) = Parts::place(part);
        self.bits.resize(self.bits.len().max(row + 1), Vec::new());
        let row = &mut self.bits[row];
        row.resize(row.len().max(column + 1), 0);
        if row[column] == 0 {
            row[column] = 1 << (PARTS + self.count % (128 - PARTS));
            self.count += 1;
        }
    }

    #[inline]
    fn bit(&self, part: Part) -> u128 {
        let (row, column) = Parts::place(part);
        self.bits.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0)
    }
}

/// How a channel operation may be blocked, for a thread that rests at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The channel.
    pub channel: i32,
    /// The bit that is read while the channel does not permit it: the other end.
    pub other_end: u32,
    /// It is not possible while the channel is full, rather than while it is empty.
    pub needs_room: bool,
    /// A send or receive, rather than a condition.
    pub operation: bool,
}

impl Objects {
    /// Gives out the bits.
    pub fn new(machine: &Machine, accesses: &Accesses) -> Objects {
        let program = machine.program();
        let with_channels: Vec<bool> =
            (0..program.functions.len()).map(|f| machine.brings_channels(FunctionId(f as u32))).collect();
        let initial_channels = machine.initial_channel_total();
        let more = if with_channels.contains(&true) { 12 } else { 0 };
        let channels = (initial_channels as u32 + more).clamp(1, MOST_CHANNELS);
        let mut written = vec![false; program.globals.len()];
        for touch in accesses.steps.iter().flatten().flat_map(|s| &s.touches) {
            if let Touch::Global { variable, how: Use::Write, .. } = touch {
                written[variable.0 as usize] = true;
            }
        }
        let start = CHANNELS + 2 * channels;
        let room = if program.features.dynamic { ALLOCATE.trailing_zeros() } else { 128 } - start;
        let mut parts = Parts::default();
        for touch in accesses.steps.iter().flatten().flat_map(|s| &s.touches) {
            if let Touch::Object { part, .. } = touch {
                parts.add(*part);
            }
        }
        let cells = |v: usize| program.scalars(&program.globals[v].ty).max(1) as u32;
        let all: Vec<usize> = (0..written.len()).filter(|v| written[*v]).collect();
        // The finest division that fits.
        let most = [128, 64, 32, 16, 8, 4, 2, 1].into_iter();
        let most = most
            .clone()
            .find(|most| all.iter().map(|v| cells(*v).min(*most)).sum::<u32>() <= room)
            .unwrap_or(1);
        let mut globals = vec![(0, 0); written.len()];
        let (mut next, mut apart) = (0, true);
        for v in all {
            let bits = cells(v).min(most);
            if next + bits > room {
                (next, apart) = (0, false);
            }
            globals[v] = (start + next, bits);
            next += bits;
        }
        let has_rendezvous = program.channel_types.iter().any(|c| c.capacity == 0);
        Objects { channels, globals, apart, has_rendezvous, with_channels, parts }
    }

    /// The sending and the receiving end of a channel; of all channels for `None`.
    fn ends(&self, channel: Option<i32>) -> (u128, u128) {
        match channel {
            Some(number) => {
                let at = CHANNELS + 2 * ((number - 1) as u32 % self.channels);
                (1 << at, 1 << (at + 1))
            }
            None => {
                let all = ((1u128 << (2 * self.channels)) - 1) << CHANNELS;
                let sending = all / 3;
                (sending & all, (sending << 1) & all)
            }
        }
    }

    fn global(&self, variable: u32, from: usize, to: usize) -> u128 {
        let (first, bits) = self.globals[variable as usize];
        let mut mask = 0;
        if bits > 0 {
            for cell in (from..to).take(bits as usize) {
                mask |= 1 << (first + cell as u32 % bits);
            }
        }
        mask
    }

    /// The gate that a condition is, if its scalar has a bit of its own.
    pub(crate) fn gate(&self, condition: &Condition, site: Site<'_>) -> Option<Gate> {
        let program = site.machine.program();
        let Condition { variable, path, comparison, with } = condition;
        let ty = &program.globals[variable.0 as usize].ty;
        let (from, to) = range(program, ty, path, site);
        let (first, bits) = self.globals[variable.0 as usize];
        let alone = self.apart && to == from + 1 && bits as usize == program.scalars(ty);
        let at = alone.then(|| site.machine.global_at(*variable, from))??;
        let bit = (first + from as u32) as u8;
        Some(Gate { bit, at, comparison: *comparison, with: evaluate(with, site)? })
    }

    /// The bits of a touch: as a next step, as part of a future, and what a thread that rests there waits for.
    pub fn masks(&self, program: &Program, touch: &Touch, site: Site<'_>) -> (Mask, Mask, Option<Wait>) {
        let by_use = |bits, how| if how == Use::Write { Mask::writes(bits) } else { Mask::reads(bits) };
        let both = |mask| (mask, mask, None);
        match touch {
            Touch::Global { variable, path, how } => {
                let ty = &program.globals[variable.0 as usize].ty;
                let (from, to) = range(program, ty, path, site);
                both(by_use(self.global(variable.0, from, to), *how))
            }
            Touch::Channel(touch) => self.channel(touch, site),
            Touch::Remote { function, variable, how } => {
                both(by_use(1 << (REMOTES + (3 * function.0 + variable.0) % SHARED), *how))
            }
            Touch::Position { function, how } => both(by_use(1 << (POSITIONS + function.0 % SHARED), *how)),
            Touch::Threads => (Mask::reads(COUNT | END_LATER), Mask::reads(COUNT | END_NEXT), None),
            Touch::Start(function) => {
                let mut mask = Mask::writes(COUNT);
                if self.with_channels[function.0 as usize] {
                    // A channel that existed before may be taken for the new one.
                    let (sending, receiving) = self.ends(None);
                    mask.write |= sending | receiving;
                }
                both(mask)
            }
            Touch::Exit => {
                let mut own = 0;
                match site.thread {
                    Some(thread) => {
                        for channel in site.machine.own_channels(site.state, thread) {
                            let (sending, receiving) = self.ends(Some(channel));
                            own |= sending | receiving;
                        }
                    }
                    None if self.with_channels.contains(&true) => {
                        let (sending, receiving) = self.ends(None);
                        own = sending | receiving;
                    }
                    None => {}
                }
                let next = Mask { read: COUNT, write: END_NEXT | own };
                (next, Mask { read: COUNT, write: END_LATER | own }, None)
            }
            Touch::Observer => both(Mask::writes(OBSERVER)),
            Touch::Object { part, how, guard } => {
                let mask = by_use(self.part(*part), *how);
                // What others do under an object's lock is for the caller to look at; what they do to objects that only they
                // can reach is in nobody's way.
                (mask, if *guard == Guard::None { mask } else { Mask::default() }, None)
            }
            Touch::Allocate => both(Mask::writes(ALLOCATE)),
            Touch::Ended(Use::Read) => both(Mask::reads(ENDED)),
            Touch::Ended(Use::Write) => {
                (Mask::writes(ENDED | END_NEXT), Mask::writes(ENDED | END_LATER), None)
            }
            Touch::Everything => both(Mask::EVERYTHING),
        }
    }

    /// The bit of a part of objects.
    pub fn part(&self, part: Part) -> u128 {
        // A part that no step was said to touch is touched by nobody else either.
        if part == Part::Existence { EXISTENCE } else { self.parts.bit(part) }
    }

    /// The bit that a thread which is not the youngest reads at its end.
    pub fn end_of_others() -> u32 {
        END_LATER.trailing_zeros()
    }

    fn channel(&self, touch: &ChannelTouch, site: Site<'_>) -> (Mask, Mask, Option<Wait>) {
        let number = touch.channel.as_ref().and_then(|e| evaluate(e, site));
        let fill = number.and_then(|n| site.machine.fill(site.state, n));
        let known = fill.and(number);
        let rendezvous = fill.map_or(self.has_rendezvous, |f| f.capacity == 0);
        let (sending, receiving) = self.ends(known);
        let mut mask = match touch.how {
            ChannelUse::Send { sorted: false } => Mask::writes(sending),
            ChannelUse::Send { sorted: true } => Mask::writes(sending | receiving),
            ChannelUse::Receive { peek: false, .. } => Mask::writes(receiving),
            ChannelUse::Receive { peek: true, .. } | ChannelUse::NotEmpty { .. } => Mask::reads(receiving),
            ChannelUse::NotFull => Mask::reads(sending),
            ChannelUse::Look => Mask::reads(sending | receiving),
        };
        let operation = touch.how.is_operation();
        if rendezvous && operation {
            mask.write |= sending | receiving;
        }
        let cut_short = touch.moment == Moment::Later || rendezvous && touch.moment == Moment::Assured;
        let mut future = mask;
        if touch.sensed || cut_short {
            future.read |= sending | receiving;
        }
        // Whether a rendezvous is possible depends on where the other thread stands.
        let send = matches!(touch.how, ChannelUse::Send { .. });
        if rendezvous && operation && (touch.sensed || cut_short && send) {
            future = Mask::EVERYTHING;
        }
        let mut next = mask;
        let mut wait = None;
        if touch.moment != Moment::First {
            if cut_short {
                next.read |= sending | receiving;
            }
        } else {
            let any = matches!(
                touch.how,
                ChannelUse::Receive { any: true, .. } | ChannelUse::NotEmpty { any: true }
            );
            match known {
                // A message that does not match now may be followed by one that does.
                _ if any => next.read |= sending | receiving,
                None => next.read |= sending | receiving,
                Some(channel) => {
                    let needs_room = matches!(touch.how, ChannelUse::Send { .. } | ChannelUse::NotFull);
                    let other_end = if needs_room { receiving } else { sending }.trailing_zeros();
                    wait = Some(Wait { channel, other_end, needs_room, operation });
                }
            }
        }
        (next, future, wait)
    }

    /// What must not change unseen for an expression to keep its value, in any state.
    pub fn visible(&self, program: &Program, touches: &[Touch], site: Site<'_>) -> u128 {
        let mut bits = 0;
        for touch in touches {
            let (next, future, _) = self.masks(program, touch, Site { thread: None, ..site });
            bits |= next.read | future.read | next.write | future.write;
            if matches!(touch, Touch::Threads) {
                bits |= COUNT | END_NEXT | END_LATER;
            }
        }
        bits
    }
}

/// The scalars of a variable that a path may lead to.
fn range(program: &Program, ty: &Type, path: &[Selector], site: Site<'_>) -> (usize, usize) {
    let (mut from, mut ty) = (0, ty);
    for selector in path {
        let whole = (from, from + program.scalars(ty));
        match (selector, ty) {
            (Selector::Field(field), Type::Structure(id)) => {
                let fields = &program.structure(*id).fields;
                let Some(chosen) = fields.get(*field as usize) else { return whole };
                from += fields[..*field as usize].iter().map(|f| program.scalars(&f.ty)).sum::<usize>();
                ty = &chosen.ty;
            }
            (Selector::Index(e), Type::Array(element, length)) => {
                let Some(index) = evaluate(e, site).filter(|i| (0..*length as i32).contains(i)) else {
                    return whole;
                };
                from += index as usize * program.scalars(element);
                ty = element;
            }
            _ => return whole,
        }
    }
    (from, from + program.scalars(ty))
}

/// The value of a fixed expression, if it has one.
fn evaluate(e: &Expr, site: Site<'_>) -> Option<i32> {
    match e {
        Expr::Const(value) => Some(*value),
        Expr::Spanned(inner, _) => evaluate(inner, site),
        Expr::SelfId => site.thread.map(|t| t as i32),
        Expr::Load(place) => load(place, site),
        Expr::Unary(op, a) => {
            let a = evaluate(a, site)?;
            Some(match op {
                UnaryOp::Not => i32::from(a == 0),
                UnaryOp::Complement => !a,
                UnaryOp::Negate => a.wrapping_neg(),
            })
        }
        Expr::Binary(op, a, b) => {
            let a = evaluate(a, site)?;
            // The right side is not looked at when the left one decides.
            match op {
                BinaryOp::And if a == 0 => return Some(0),
                BinaryOp::Or if a != 0 => return Some(1),
                _ => {}
            }
            op.apply(a, evaluate(b, site)?)
        }
        Expr::Conditional(c, a, b) => {
            if evaluate(c, site)? != 0 {
                evaluate(a, site)
            } else {
                evaluate(b, site)
            }
        }
        _ => None,
    }
}

fn load(place: &Place, site: Site<'_>) -> Option<i32> {
    let program = site.machine.program();
    let path: Vec<Selector> = place
        .path
        .iter()
        .map(|p| match p {
            Projection::Field(f) => Selector::Field(*f),
            Projection::Index(e) => Selector::Index(e.clone()),
            Projection::Member(..) => Selector::Any,
        })
        .collect();
    match place.root {
        Root::Global(v) => {
            let (from, to) = range(program, &program.globals[v.0 as usize].ty, &path, site);
            let at = (to == from + 1).then(|| site.machine.global_at(v, from))??;
            Some(site.machine.global_value(site.state, at))
        }
        Root::Local(v) => {
            let thread = site.machine.thread_at(site.state, site.thread?);
            let function = FunctionId(thread.function);
            let ty = &program.function(function).locals[v.0 as usize].ty;
            let (from, to) = range(program, ty, &path, site);
            let at = (to == from + 1).then(|| site.machine.local_at(function, v, from))??;
            Some(site.machine.local_value(site.state, thread, at))
        }
        Root::Remote { .. } | Root::Object { .. } => None,
    }
}
