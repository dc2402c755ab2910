//! What one statement did, typed: reads, writes, and the events that others notice. Of models and of C programs alike.

use serde_json::{Value as Json, json};

use crate::Value;

/// A place that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its name in the whole state: `user(1).k`.
    pub full: String,
    /// Its name for the reader: `k`.
    pub name: String,
    /// What it held.
    pub value: Value,
}

/// A place that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Its name in the whole state.
    pub full: String,
    /// Its name for the writer.
    pub name: String,
    /// Before; none where it did not exist.
    pub before: Option<Value>,
    /// After; none where it exists no more.
    pub after: Option<Value>,
}

/// What is done with a lock or something to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronisation {
    /// It is taken.
    Lock,
    /// It was held by somebody else: the attempt fails.
    LockFails,
    /// It is given back.
    Unlock,
    /// The thread waits until it is woken.
    Wait,
    /// The thread goes on after having waited.
    Wake,
    /// One that waits is woken.
    Notify,
    /// All that wait are woken.
    NotifyAll,
}

impl Synchronisation {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Synchronisation::Lock => "lock",
            Synchronisation::LockFails => "lock fails",
            Synchronisation::Unlock => "unlock",
            Synchronisation::Wait => "wait",
            Synchronisation::Wake => "wake",
            Synchronisation::Notify => "notify",
            Synchronisation::NotifyAll => "notify all",
        }
    }
}

/// How memory is accessed atomically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written at once.
    Exchange,
}

/// What others notice of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message is sent; with the receiver, where it is taken at once.
    Send {
        /// The channel.
        channel: String,
        /// The message.
        message: Vec<Value>,
        /// Who takes it at once.
        partner: Option<u32>,
    },
    /// A message is received.
    Receive {
        /// The channel.
        channel: String,
        /// The message.
        message: Vec<Value>,
        /// The message stays in the channel.
        stays: bool,
    },
    /// Something is done with a lock, or with something to wait for.
    Lock {
        /// What.
        operation: Synchronisation,
        /// The object.
        object: String,
        /// Who is woken.
        wakes: Vec<u32>,
    },
    /// A thread is started: its name, and its number where that is known.
    Start(String, Option<u32>),
    /// The thread ends.
    End,
    /// The ends of these threads are awaited.
    Join(Vec<u32>),
    /// An object is made.
    New(String),
    /// Memory is accessed atomically.
    Atomic {
        /// How.
        access: Atomic,
        /// The memory.
        object: String,
    },
    /// An assertion, and whether it holds.
    Assert(String, bool),
    /// Time passes because nobody else can move.
    Timeout,
    /// Another operation of a library: its name and its object.
    Other(String, String),
}

/// A condition that failed, with what it read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The condition.
    pub text: String,
    /// The condition with values in place of names.
    pub values: String,
    /// What it read.
    pub reads: Vec<Read>,
}

/// What one statement did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Places read, each once, with the value found.
    pub reads: Vec<Read>,
    /// Places written, also where the value stays the same.
    pub writes: Vec<Write>,
    /// What others notice.
    pub events: Vec<Event>,
    /// The assertion that failed.
    pub failed: Option<Failed>,
}

impl Read {
    /// As JSON.
    pub fn json(&self) -> Json {
        json!({ "full": self.full, "name": self.name, "value": self.value.json() })
    }
}

impl Write {
    /// As JSON.
    pub fn json(&self) -> Json {
        json!({
            "full": self.full, "name": self.name,
            "before": self.before.as_ref().map(Value::json), "after": self.after.as_ref().map(Value::json),
        })
    }
}

impl Failed {
    /// As JSON.
    pub fn json(&self) -> Json {
        json!({
            "text": self.text, "values": self.values,
            "reads": self.reads.iter().map(Read::json).collect::<Vec<_>>(),
        })
    }
}

impl Event {
    /// As JSON: an object whose `kind` says what it is.
    pub fn json(&self) -> Json {
        let message = |m: &[Value]| m.iter().map(Value::json).collect::<Json>();
        match self {
            Event::Send { channel, message: m, partner } => {
                json!({ "kind": "send", "channel": channel, "message": message(m), "partner": partner })
            }
            Event::Receive { channel, message: m, stays } => {
                json!({ "kind": "receive", "channel": channel, "message": message(m), "stays": stays })
            }
            Event::Lock { operation, object, wakes } => {
                json!({ "kind": operation.name(), "object": object, "threads": wakes })
            }
            Event::Start(name, thread) => {
                json!({ "kind": "start", "process": name, "threads": thread.as_slice() })
            }
            Event::End => json!({ "kind": "end" }),
            Event::Join(threads) => json!({ "kind": "join", "threads": threads }),
            Event::New(object) => json!({ "kind": "new", "object": object }),
            Event::Atomic { access, object } => {
                let kind = match access {
                    Atomic::Read => "atomic read",
                    Atomic::Write => "atomic write",
                    Atomic::Exchange => "atomic exchange",
                };
                json!({ "kind": kind, "object": object })
            }
            Event::Assert(text, holds) => json!({ "kind": "assert", "text": text, "holds": holds }),
            Event::Timeout => json!({ "kind": "timeout" }),
            Event::Other(name, object) => json!({ "kind": "other", "text": name, "object": object }),
        }
    }
}

impl Effect {
    /// As JSON.
    pub fn json(&self) -> Json {
        json!({
            "reads": self.reads.iter().map(Read::json).collect::<Vec<_>>(),
            "writes": self.writes.iter().map(Write::json).collect::<Vec<_>>(),
            "events": self.events.iter().map(Event::json).collect::<Vec<_>>(),
            "failed": self.failed.as_ref().map(Failed::json),
        })
    }
}
