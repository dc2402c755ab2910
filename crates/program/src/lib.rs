//! The intermediate representation every front end translates to: a [`Program`] is a set of
//! [`Function`]s (the bodies of threads), each a graph of [`Location`]s whose edges are
//! [`Transformation`]s: an [`Operation`] that decides whether the edge can be taken, actions, and a
//! jump. Interleaving happens only between locations.
//!
//! What languages promise about atomicity is expressed here, not in a search:
//!
//! - `atomic`: a transformation with [`Transformation::keeps_control`] leaves its thread in exclusive
//!   control; the thread goes on until a transformation without it, or until it blocks.
//! - `d_step`: a location with [`Location::deterministic`] is passed in the same step, by the first
//!   transformation that is executable.
//! - `unless`: transformations carry a [`Transformation::rank`]; those of a lower rank hide those of a
//!   higher one.
//! - rendezvous: [`Operation::Send`] on a channel without capacity is taken together with a matching
//!   [`Operation::Receive`] of another thread.
//! - committed states: while a thread stands at a [`Location::committed`] location, only threads at such locations move.
//!
//! Programs may be dynamic: objects ([`Allocation`]: records with inheritance, arrays, channels, locks, collections) that
//! [`Type::Reference`]s lead to, functions that are called and have frames ([`Action::Call`]), threads that are started and
//! end in any order ([`Type::Thread`]), exceptions ([`Action::Throw`], [`Catch`]). A program without any of these costs
//! nothing extra.
//!
//! The representation names variables by index and keeps source spans and statement texts, so that
//! reports speak of what the user wrote.

mod alone;
mod expr;
mod extension;
mod fault;
mod function;
mod object;
mod types;
pub mod visit;

pub use alone::{Alone, Written};
pub use expr::{BinaryOp, Expr, LockQuery, Pattern, Place, Projection, Root, UnaryOp};
pub use extension::{Bag, Extension, Map, Queue, Refused, Rows, Set, built_in};
pub use function::{
    Action, Callee, Catch, Choice, Function, FunctionId, Label, LabelId, Location, LocationId, LockOperation,
    Operation, Printf, PrintfPart, Transformation,
};
pub use object::{
    Allocation, ArrayType, ArrayTypeId, CollectionType, CollectionTypeId, Part, Record, RecordId, Referent,
    VirtualEntries, VirtualTable, VirtualTableId,
};
pub use types::{
    ChannelType, ChannelTypeId, Enumeration, EnumerationId, Init, IntType, RangeType, Structure, StructureId,
    Type, Variable, VariableId,
};

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Sets of named constants.
    pub enumerations: Vec<Enumeration>,
    /// Structures.
    pub structures: Vec<Structure>,
    /// Kinds of channels: capacity and message fields.
    pub channel_types: Vec<ChannelType>,
    /// Kinds of records.
    pub records: Vec<Record>,
    /// Kinds of array objects.
    pub array_types: Vec<ArrayType>,
    /// Kinds of collections.
    pub collection_types: Vec<CollectionType>,
    /// Tables that virtual calls go through.
    pub virtual_tables: Vec<VirtualTable>,
    /// Global variables.
    pub globals: Vec<Variable>,
    /// Bodies of threads and of what they call.
    pub functions: Vec<Function>,
    /// Labels that expressions refer to.
    pub labels: Vec<Label>,
    /// Threads alive in the initial state, in order of their ids. Their parameters are zero.
    pub initial: Vec<FunctionId>,
    /// What the user calls these threads, if each has a name of its own and none ever ends; otherwise empty.
    pub names: Vec<String>,
    /// What the program as a whole uses of the less common features.
    pub features: Features,
    /// An observer of channel operations (`trace` or `notrace`).
    pub observer: Option<Observer>,
    /// A claim that watches the program, step by step.
    pub claim: Option<Claim>,
    /// The global that says whether processes have channels for themselves where they claim to; it is never written. None where nothing
    /// depends on it.
    pub exclusive: Option<VariableId>,
    /// Statements that no way through their function leads to, as the user wrote them. No location has them.
    pub dead: Vec<(FunctionId, quotient_source::Span, String)>,
}

/// An automaton that moves before each step of the program, on what it sees of the state: a `never` claim, or the
/// automaton of a formula. A run is reported when the claim reaches an end, or is at accepting locations infinitely often.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its control flow: conditions and, for claims written by hand, what Promela allows there. Locations with
    /// [`Location::end`] or [`Operation::Exit`] are ends.
    pub function: Function,
    /// What it stands for, for messages: the formula or the name.
    pub text: String,
    /// What it comes from.
    pub origin: ClaimOrigin,
    /// Whether it accepts a word depends only on how the letters follow each other, not on how long each one stays: proved
    /// for formulas without `X`.
    pub stutter_invariant: bool,
    /// Accepting locations of the program's threads count too.
    pub accept_labels: bool,
    /// Acceptance on moves instead of locations: the sets each transformation is in, as bits, by location. A run is reported
    /// when it takes moves of all sets infinitely often.
    pub acceptance: Option<MoveAcceptance>,
    /// Runs can be reported that go on for ever; otherwise only ends of the claim count.
    pub cycles: bool,
}

/// Acceptance sets of a claim's moves.
#[derive(Clone, Debug)]
pub struct MoveAcceptance {
    /// How many sets there are: at most 63. With none, every infinite run is reported.
    pub sets: u32,
    /// By location and transformation: the sets, as bits.
    pub marks: Vec<Vec<u64>>,
}

/// Features that cost something in every state or step, found while translating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `_last` is read: the thread that moved last is part of the state.
    pub last: bool,
    /// Threads have priorities, part of the state: only the highest may move.
    pub priorities: bool,
    /// `timeout` is read: a second look at states where nothing can move.
    pub timeout: bool,
    /// In a rendezvous the receiver's actions come before the sender's (DVE), not after them (Promela). What is sent is always
    /// computed first.
    pub receiver_first: bool,
    /// There are objects, frames or threads that end in any order: shapes of states are found by their description.
    pub dynamic: bool,
}

/// An automaton over channel operations: every operation on a channel it mentions must be allowed
/// (`trace`), or the sequence must never complete (`notrace`).
#[derive(Clone, Debug)]
pub struct Observer {
    /// `notrace`.
    pub negated: bool,
    /// Its control flow; the operations are [`Operation::Event`]s. It has ended when it stands at a location with
    /// [`Operation::Exit`].
    pub function: Function,
}

/// What a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaimOrigin {
    /// The negation of a formula of linear time.
    Formula,
    /// The negation of an invariant.
    Invariant,
    /// A `never` claim.
    Never,
    /// Accept labels of the program itself.
    Acceptance,
    /// Progress labels of the program itself.
    NonProgress,
}

impl Claim {
    /// What it means that a run is reported; `cycle` when it is by going around for ever.
    pub fn message(&self, cycle: bool) -> String {
        let name = if self.text.is_empty() { String::new() } else { format!(" {}", self.text) };
        match (self.origin, cycle) {
            (ClaimOrigin::Formula, _) => format!("formula violated:{name}"),
            (ClaimOrigin::Invariant, _) => format!("invariant violated:{name}"),
            (ClaimOrigin::Never, false) => format!("the never claim{name} is followed to its end"),
            (ClaimOrigin::Never, true) => {
                format!("the never claim{name} is followed through an acceptance cycle")
            }
            (ClaimOrigin::Acceptance, _) => "acceptance cycle".into(),
            (ClaimOrigin::NonProgress, _) => "non-progress cycle".into(),
        }
    }
}

impl Program {
    /// The functions of threads, of the observer and of the claim: everything that reads the state.
    pub fn readers(&self) -> impl Iterator<Item = &Function> {
        let observer = self.observer.iter().map(|o| &o.function);
        self.functions.iter().chain(observer).chain(self.claim.iter().map(|c| &c.function))
    }

    /// By function: may a thread ever run it? Those of the initial threads, and what they start, directly or not.
    pub fn startable(&self) -> Vec<bool> {
        // Where functions are values, or called, anything may be run.
        let mut startable = vec![self.features.dynamic; self.functions.len()];
        let mut open = self.initial.clone();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut startable[id.0 as usize], true) {
                continue;
            }
            let steps = self.function(id).locations.iter().flat_map(|l| &l.transformations);
            open.extend(steps.flat_map(|t| &t.actions).filter_map(|action| match action {
                Action::Start { function, .. } => Some(*function),
                _ => None,
            }));
        }
        startable
    }

    /// Is some location committed?
    pub fn commits(&self) -> bool {
        self.functions.iter().flat_map(|f| &f.locations).any(|l| l.committed)
    }

    /// The function with this id.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// Number of scalars in a value of this type.
    pub fn scalars(&self, ty: &Type) -> usize {
        match ty {
            Type::Int(_)
            | Type::Range(_)
            | Type::Enumeration(_)
            | Type::Channel
            | Type::Reference(_)
            | Type::Thread
            | Type::Function => 1,
            Type::Structure(id) => self.structure(*id).fields.iter().map(|f| self.scalars(&f.ty)).sum(),
            Type::Array(element, length) => *length as usize * self.scalars(element),
        }
    }

    /// The types of the scalars in a value of this type, in order.
    pub fn scalar_types<'a>(&'a self, ty: &'a Type, out: &mut Vec<&'a Type>) {
        match ty {
            Type::Structure(id) => {
                self.structure(*id).fields.iter().for_each(|f| self.scalar_types(&f.ty, out));
            }
            Type::Array(element, length) => (0..*length).for_each(|_| self.scalar_types(element, out)),
            scalar => out.push(scalar),
        }
    }

    /// The structure with this id.
    pub fn structure(&self, id: StructureId) -> &Structure {
        &self.structures[id.0 as usize]
    }

    /// The variable a root names, for code of `function`; `None` for an object.
    pub fn variable(&self, function: &Function, root: &Root) -> Option<Variable> {
        match root {
            Root::Global(v) => self.globals.get(v.0 as usize).cloned(),
            Root::Local(v) => function.locals.get(v.0 as usize).cloned(),
            Root::Remote { function, variable, .. } => {
                self.function(*function).locals.get(variable.0 as usize).cloned()
            }
            Root::Object { .. } => None,
        }
    }
}
