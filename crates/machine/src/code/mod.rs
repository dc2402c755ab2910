//! Compact code: what programs are compiled to, and the compiler.
//!
//! - `mod.rs`: the code. `compile.rs`: functions and transformations. `expression.rs`, `place.rs`, `action.rs`, `initial_values.rs`: what
//!   they consist of. `objects.rs`: what works on objects. `calls.rs`: calls and exceptions. `claim.rs`: claims.
//! - `plain.rs`, `direct.rs`: what needs no interpreter, or less of it.
//!
//! A stack machine whose top lies in a register. Places are bytes of the state: globals at a fixed one, locals
//! relative to their thread's segment. The common cases (bytes, arrays of bytes, comparison with a constant)
//! have instructions of their own.

mod action;
pub(crate) mod calls;
mod claim;
pub(crate) mod compile;
mod direct;
mod expression;
mod initial_values;
pub(crate) mod objects;
mod place;
mod plain;

use quotient_program::{BinaryOp, Part, RangeType};

use calls::{Call, Catch, Slot, Table};
use objects::Access;

use crate::heap::operations::HeapOp;
use crate::state::cell::Cell;
use crate::state::link::Sort;

/// Where a piece of code starts.
pub(crate) type CodeAt = u32;

/// Index into the machine's fault sites.
pub(crate) type SiteAt = u32;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Ends the code; the result is the top.
    Return,
    Const(i32),
    Global8(u32),
    Local8(u32),
    Global(u32, Cell),
    Local(u32, Cell),
    /// Pushes a leaf.
    Leaf(Leaf),
    /// Pushes the result on two leaves.
    BinaryLeaves(BinaryOp, Leaf, Leaf),
    /// Replaces the top by the result with a leaf on the right.
    BinaryLeaf(BinaryOp, Leaf),
    /// Replaces the index on top by the byte of a global array of `len`.
    GlobalIndex8 {
        at: u32,
        len: u32,
        site: SiteAt,
    },
    LocalIndex8 {
        at: u32,
        len: u32,
        site: SiteAt,
    },
    /// Pushes the byte position of a global.
    GlobalPlace(u32),
    LocalPlace(u32),
    /// Replaces a thread id on top by the byte position of a local of that thread.
    RemotePlace {
        function: u32,
        at: u32,
        site: SiteAt,
    },
    /// Pops an index and moves the position below it.
    Index {
        stride: u32,
        len: u32,
        site: SiteAt,
    },
    /// Replaces a position by the value there.
    Load(Cell),

    Binary(BinaryOp),
    /// Division and remainder, which can fault.
    Divide(SiteAt),
    Remainder(SiteAt),
    AddConst(i32),
    Not,
    Complement,
    Negate,
    /// Not zero becomes 1.
    Truth,
    Jump(CodeAt),
    /// Pops; jumps when zero.
    JumpIfZero(CodeAt),
    /// When zero jumps, leaving 0; else pops.
    AndThen(CodeAt),
    /// When not zero jumps, leaving 1; else pops.
    OrElse(CodeAt),

    SelfId,
    ThreadCount,
    Last,
    Timeout,
    /// Replace a channel on top by its length, or whether it is full or empty.
    Length(SiteAt),
    Full(SiteAt),
    Empty(SiteAt),
    /// Replaces a channel by whether the receive with this index would find a message.
    Poll(u32),
    /// Replaces a thread id by whether the thread stands at a location of a function.
    At {
        function: u32,
        location: u32,
    },
    Priority,
    /// Replaces a thread id by whether the thread can move, or by its location.
    Enabled,
    LocationOf,
    /// No thread is at a progress location.
    NonProgress,
    /// How many threads of a function satisfy the code that follows, which ends at `end`.
    Count {
        function: u32,
        end: CodeAt,
    },
    /// Pushes the id of the oldest thread of a function, or -1.
    Oldest(u32),
    /// Pushes the id of the thread that the count at this depth looks at.
    Bound(u32),
    /// Pushes the field of a message that is being received.
    Received,

    // Actions: they pop what they need.
    StoreGlobal8(u32, u8),
    StoreLocal8(u32, u8),
    StoreGlobal(u32, Cell),
    StoreLocal(u32, Cell),
    /// Pops a value for an element with a leaf as its index.
    StoreElement8(u32),
    /// Pops a value, then an index.
    StoreGlobalIndex8 {
        at: u32,
        len_mask: LenMask,
        site: SiteAt,
    },
    StoreLocalIndex8 {
        at: u32,
        len_mask: LenMask,
        site: SiteAt,
    },
    /// Pops a value, then a position.
    Store(Cell),
    Assert(SiteAt),
    /// Starts a thread; `Start` with this index says how. Its arguments are on the stack; pushes the id.
    Start(u32),
    Pop,
    SetPriority,
    /// Zeroes bytes of a local.
    Forget {
        at: u32,
        len: u32,
    },
    /// Notes a `printf` (only when a step is being explained).
    Print(u32),

    // Objects and ranges.
    /// Replaces a reference by the byte position of a field; a table says where it is in each type.
    MemberPlace(u32, u32),
    /// Pops an index and replaces the reference below by the byte position of the element.
    ElementPlace(u32),
    /// Brings the top into a range.
    Fit(u32),
    /// A reference may have been let go.
    Touch,
    /// An instruction on objects that changes nothing.
    Heap(u32),
    /// An instruction on objects of the draft.
    HeapAction(u32),
}

/// An operand that needs no stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaf {
    Const(i32),
    Local8(u32),
    Global8(u32),
    SelfId,
    /// A byte of an array, by a leaf: index into [`Code::elements`].
    Element(u32),
}

/// An element of an array of bytes whose index is a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) local: bool,
    pub(crate) at: u32,
    pub(crate) len: u32,
    pub(crate) mask: u8,
    pub(crate) site: SiteAt,
    /// Never an element itself.
    pub(crate) index: Leaf,
}

/// Length of an array of bytes and the mask of its elements, packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LenMask(u32);

impl LenMask {
    pub(crate) fn new(len: u32, mask: u8) -> Option<LenMask> {
        (len < 1 << 24).then_some(LenMask(len << 8 | u32::from(mask)))
    }

    #[inline(always)]
    pub(crate) fn len(self) -> u32 {
        self.0 >> 8
    }

    #[inline(always)]
    pub(crate) fn mask(self) -> u8 {
        self.0 as u8
    }
}

/// A compiled transformation.
#[derive(Clone, Debug)]
pub(crate) struct Transformation {
    pub(crate) operation: Operation,
    /// Code of the actions.
    pub(crate) actions: Option<CodeAt>,
    /// Where the thread goes.
    pub(crate) target: u32,
    pub(crate) keeps_control: bool,
    /// It may end otherwise than by going to the target: calls, returns, exceptions, the end of the thread, assumptions, picks; or
    /// temporaries have to be forgotten, or a caller keeps control. See `step/finish.rs`.
    pub(crate) ends_specially: bool,
    /// It picks values, and is taken once for each.
    pub(crate) picks: bool,
    pub(crate) rank: u16,
    /// Its number among all transformations of the program.
    pub(crate) number: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Always,
    When(CodeAt),
    Else,
    Send(u32),
    Receive(u32),
    /// Only in the observer: a send or a receive with these patterns.
    Event {
        send: bool,
        receive: u32,
    },
    /// With the sites of blocking midway and of never ending.
    Enter {
        blocked: SiteAt,
        endless: SiteAt,
    },
    Exit,
}

/// A compiled send.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    pub(crate) guard: Option<CodeAt>,
    pub(crate) channel: CodeAt,
    pub(crate) sorted: bool,
    pub(crate) args: Vec<CodeAt>,
    /// What the values name; nothing where they fit every channel.
    pub(crate) sorts: Vec<Sort>,
    pub(crate) site: SiteAt,
    pub(crate) too_many: SiteAt,
    pub(crate) too_few: SiteAt,
    pub(crate) wrong: SiteAt,
    /// The channel has no capacity, and the send is inside a `d_step`.
    pub(crate) in_d_step: SiteAt,
}

/// A compiled receive or poll.
#[derive(Clone, Debug)]
pub(crate) struct Receive {
    pub(crate) guard: Option<CodeAt>,
    /// The channel (a poll has it on the stack instead).
    pub(crate) channel: CodeAt,
    pub(crate) any: bool,
    pub(crate) peek: bool,
    pub(crate) patterns: Vec<Pattern>,
    /// What the fields must name; nothing where every channel fits.
    pub(crate) sorts: Vec<Sort>,
    pub(crate) site: SiteAt,
    pub(crate) too_many: SiteAt,
    pub(crate) too_few: SiteAt,
    pub(crate) wrong: SiteAt,
    /// A poll or peek of a channel without capacity.
    pub(crate) polled: SiteAt,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// Code that stores the field ([`Op::Received`]).
    Bind(CodeAt),
    Ignore,
    Match(CodeAt),
    /// The field must have this value.
    Equal(i32),
}

/// A compiled thread start.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) function: u32,
    /// How many arguments are on the stack.
    pub(crate) args: u32,
    /// A priority is on top of the arguments.
    pub(crate) has_priority: bool,
}

/// A compiled location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) deterministic: bool,
    pub(crate) committed: bool,
    pub(crate) transient: bool,
    pub(crate) valid_end: bool,
    pub(crate) accept: bool,
    pub(crate) progress: bool,
    /// Every transformation is a condition, `else` or nothing, followed by changes of variables: see `plain.rs`.
    pub(crate) plain: bool,
    /// Plain, and no condition needs the interpreter: see `direct.rs`.
    pub(crate) direct: bool,
}

/// A compiled thread body.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) locations: Vec<Location>,
    pub(crate) entry: u32,
    pub(crate) provided: Option<CodeAt>,
    pub(crate) priority: i32,
    /// Code that sets the locals' initial values.
    pub(crate) init: CodeAt,
    pub(crate) params: Vec<Slot>,
    pub(crate) catches: Vec<Catch>,
    /// Its first call. Location numbers after those of its locations are waits for its calls, in order.
    pub(crate) first_call: u32,
}

/// Everything compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    pub(crate) transformations: Vec<Transformation>,
    pub(crate) functions: Vec<Function>,
    pub(crate) sends: Vec<Send>,
    pub(crate) receives: Vec<Receive>,
    pub(crate) elements: Vec<Element>,
    pub(crate) directs: crate::step::direct::Directs,
    pub(crate) starts: Vec<Start>,
    pub(crate) prints: Vec<Print>,
    /// Code that sets the globals' initial values.
    pub(crate) init: CodeAt,
    pub(crate) sites: Vec<crate::explain::fault::Site>,
    /// For each transformation of the program the sites at which it can go wrong.
    pub(crate) sites_of: Vec<Box<[SiteAt]>>,
    /// Some code needs more stack than [`crate::step::eval::SHALLOW`].
    pub(crate) deep: bool,
    pub(crate) observer: Option<Observer>,
    /// Code that gives a new record, or an element of a new array, its initial values.
    pub(crate) record_inits: Vec<Option<CodeAt>>,
    pub(crate) element_inits: Vec<Option<CodeAt>>,
    pub(crate) operations: Vec<HeapOp>,
    pub(crate) accesses: Vec<Access>,
    /// Where a field is, by the type of the object.
    pub(crate) members: Vec<Vec<u32>>,
    /// Which field that is.
    pub(crate) member_parts: Vec<Part>,
    /// Ranges that values must fit.
    pub(crate) ranges: Vec<(RangeType, SiteAt)>,
    /// Calls, function by function.
    pub(crate) calls: Vec<Call>,
    /// Virtual tables.
    pub(crate) tables: Vec<Table>,
    /// Some transformation assumes something.
    pub(crate) assumes: bool,
    pub(crate) claim: Option<Claim>,
}

impl Code {
    /// The call that a frame of a function waits for, if its location says that it does.
    pub(crate) fn awaited(&self, function: u32, location: u32) -> Option<&Call> {
        let function = &self.functions[function as usize];
        let call = location.checked_sub(function.locations.len() as u32)?;
        self.calls.get((function.first_call + call) as usize)
    }
}

/// A compiled claim.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Index of its function in [`Code::functions`].
    pub(crate) function: u32,
    /// Index of its segment's layout.
    pub(crate) layout: u32,
    /// It only looks: no actions, no atomic sequences.
    pub(crate) pure: bool,
    /// Some condition asks for `timeout`.
    pub(crate) asks_timeout: bool,
    /// It has run to its end.
    pub(crate) completed: SiteAt,
    /// Nothing can move in the state it watches.
    pub(crate) deadlock: SiteAt,
    /// Accepting locations of threads count too.
    pub(crate) accept_labels: bool,
    /// The number of its first transformation.
    pub(crate) first: u32,
    /// Acceptance sets of its moves, by transformation from `first` on; `None` when its locations decide.
    pub(crate) marks: Option<Vec<u64>>,
    /// The acceptance sets that do not exist, as bits.
    pub(crate) outside: u64,
    /// Its number of locations, if they are few; else 1.
    pub(crate) layers: u32,
}

/// A compiled observer.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    pub(crate) negated: bool,
    /// Index of its function.
    pub(crate) function: u32,
    pub(crate) site: SiteAt,
}

/// A compiled `printf`.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    pub(crate) parts: Vec<PrintPart>,
}

#[derive(Clone, Debug)]
pub(crate) enum PrintPart {
    Text(String),
    Decimal(CodeAt),
    Unsigned(CodeAt),
    Hex(CodeAt),
    Octal(CodeAt),
    Character(CodeAt),
    Name(CodeAt, Option<u32>),
}
