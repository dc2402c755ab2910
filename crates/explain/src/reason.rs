//! Why a statement cannot be executed now, in values.

use quotient_machine::Raw;
use quotient_outcome::Value;
use quotient_program::{BinaryOp, Expr, Function, Location, LockQuery, Operation, Pattern, Transformation};

use crate::evaluate::{Evaluation, NoValue, Read};
use crate::look::Look;
use crate::text::Text;

/// Why a statement cannot be executed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A part of its condition is false.
    False {
        /// The part.
        part: String,
        /// What it reads.
        reads: Vec<Read>,
    },
    /// The channel has no room.
    Full(String),
    /// The channel has no message.
    Empty(String),
    /// Nobody takes what is offered on a channel without capacity, or nobody offers.
    NoPartner(String),
    /// The message at the front is another one.
    Other {
        /// The channel.
        channel: String,
        /// The message.
        first: Vec<Value>,
        /// No message fits, not only the first.
        any: bool,
    },
    /// Another thread holds the lock.
    Held {
        /// The lock's object.
        object: String,
        /// Who holds it.
        holder: u32,
    },
    /// `else`, and another way can be taken.
    Else,
    /// `timeout`, and somebody can go on.
    Timeout,
    /// Younger processes have not ended.
    Younger,
    /// Its process must not move now.
    NotAllowed(String),
    /// The escape of an `unless` comes first.
    Escape,
    /// Not known.
    Unknown,
}

impl Reason {
    /// The reason as a sentence without a full stop.
    pub fn sentence(&self, name: &dyn Fn(u32) -> String) -> String {
        let values = |reads: &[Read]| {
            let parts: Vec<String> = reads.iter().map(|r| format!("{} is {}", r.name, r.value)).collect();
            match parts.split_last() {
                None => String::new(),
                Some((last, [])) => last.clone(),
                Some((last, before)) => format!("{} and {last}", before.join(", ")),
            }
        };
        match self {
            // What is `false` whatever the state is.
            Reason::False { part, reads } if reads.is_empty() && part == "0" => "this is never true".into(),
            Reason::False { part, reads } if reads.is_empty() => format!("{part} is false"),
            // A variable that is tested for truth says it all.
            Reason::False { part, reads } if reads.len() == 1 && reads[0].name == *part => values(reads),
            Reason::False { part, reads } => format!("{part} is false: {}", values(reads)),
            Reason::Full(channel) => format!("{channel} is full"),
            Reason::Empty(channel) => format!("{channel} is empty"),
            Reason::NoPartner(channel) => format!("nobody is ready at the other end of {channel}"),
            Reason::Other { channel, any: true, .. } => format!("no message in {channel} fits"),
            Reason::Other { channel, first, .. } => {
                let fields: Vec<String> = first.iter().map(ToString::to_string).collect();
                format!("the first message in {channel} is {}", fields.join(", "))
            }
            Reason::Held { object, holder } => format!("{} holds the lock of {object}", name(*holder)),
            Reason::Else => "another way can be taken".into(),
            Reason::Timeout => "timeout comes only when nobody else can go on".into(),
            Reason::Younger => "younger processes have not ended".into(),
            Reason::NotAllowed(why) => why.clone(),
            Reason::Escape => "the escape comes first".into(),
            Reason::Unknown => "it cannot be executed now".into(),
        }
    }
}

/// Why a transformation of a thread, which stands at its location, cannot be taken. That it cannot must be known.
pub fn reason(
    look: &Look<'_>,
    thread: u32,
    function: &Function,
    location: &Location,
    transformation: &Transformation,
) -> Reason {
    let mut evaluation = Evaluation::new(look, Some(thread));
    if let Some(provided) = &function.provided
        && evaluation.value(provided) == Ok(0)
    {
        let text = Text { program: look.program(), function: Some(function) };
        return Reason::NotAllowed(format!("provided {} is false", text.expr(provided)));
    }
    let found = operation(look, thread, function, transformation);
    if found != Reason::Unknown {
        return found;
    }
    let better = |t: &&Transformation| t.rank < transformation.rank;
    if location.transformations.iter().find(better).is_some() {
        return Reason::Escape;
    }
    if look.program().commits() && !location.committed {
        return Reason::NotAllowed("another process is at a committed place and goes first".into());
    }
    if look.program().features.priorities {
        return Reason::NotAllowed("a process with a higher priority goes first".into());
    }
    Reason::Unknown
}

fn operation(look: &Look<'_>, thread: u32, function: &Function, transformation: &Transformation) -> Reason {
    let mut evaluation = Evaluation::new(look, Some(thread));
    let guarded = |guard: &Option<Expr>| {
        let guard = guard.as_ref()?;
        let found = condition(look, thread, function, guard);
        (found != Reason::Unknown).then_some(found)
    };
    match &transformation.operation {
        Operation::When(expr) => condition(look, thread, function, expr),
        Operation::Else => Reason::Else,
        Operation::Exit => Reason::Younger,
        Operation::Send { guard, channel, .. } => {
            if let Some(found) = guarded(guard) {
                return found;
            }
            let Ok(number) = evaluation.value(channel) else { return Reason::Unknown };
            let name = look.channel_name(number);
            match look.channel(number) {
                Some((_, 0)) => Reason::NoPartner(name),
                Some((messages, capacity)) if messages.len() as u32 >= capacity => Reason::Full(name),
                _ => Reason::Unknown,
            }
        }
        Operation::Receive { guard, channel, any, patterns, .. } => {
            if let Some(found) = guarded(guard) {
                return found;
            }
            let Ok(number) = evaluation.value(channel) else { return Reason::Unknown };
            received(look, &mut evaluation, number, *any, patterns)
        }
        Operation::Enter => {
            // What a d_step waits for is what it opens with.
            let inside = transformation.target.map(|t| &function.locations[t.0 as usize]);
            let reasons = inside.into_iter().flat_map(|l| &l.transformations);
            let mut reasons = reasons.map(|t| operation(look, thread, function, t));
            reasons.find(|r| !matches!(r, Reason::Unknown | Reason::Else)).unwrap_or(Reason::Unknown)
        }
        Operation::Always | Operation::Event { .. } => Reason::Unknown,
    }
}

fn received(
    look: &Look<'_>,
    evaluation: &mut Evaluation<'_, '_>,
    number: i32,
    any: bool,
    patterns: &[Pattern],
) -> Reason {
    let name = look.channel_name(number);
    let Some((messages, capacity)) = look.channel(number) else { return Reason::Unknown };
    let messages: Vec<Vec<Raw>> = messages.clone();
    match messages.first() {
        None if capacity == 0 => Reason::NoPartner(name),
        None => Reason::Empty(name),
        Some(first) => match evaluation.matching(&messages, any, patterns) {
            Ok(None) => {
                let first = first.iter().map(|f| look.value(f)).collect();
                Reason::Other { channel: name, first, any }
            }
            _ => Reason::Unknown,
        },
    }
}

/// Which part of a condition is false.
fn condition(look: &Look<'_>, thread: u32, function: &Function, expr: &Expr) -> Reason {
    let mut evaluation = Evaluation::new(look, Some(thread));
    let value = evaluation.value(expr);
    match expr {
        Expr::Spanned(inner, _) => return condition(look, thread, function, inner),
        Expr::Binary(BinaryOp::And, a, b) => {
            let first = condition(look, thread, function, a);
            return if first == Reason::Unknown { condition(look, thread, function, b) } else { first };
        }
        Expr::Binary(BinaryOp::Or, a, b) if value.is_err() => {
            // One side is not known: the other says something only if it is false.
            let sides = [condition(look, thread, function, a), condition(look, thread, function, b)];
            let known = sides.into_iter().find(|r| !matches!(r, Reason::Unknown));
            return known.unwrap_or(Reason::Unknown);
        }
        Expr::Timeout => return Reason::Timeout,
        Expr::Lock(LockQuery::Available, lock) if value == Ok(0) => {
            let reference = evaluation.value(lock).unwrap_or(0);
            if let Some((Some(holder), _)) = evaluation.lock(reference) {
                return Reason::Held { object: look.names.of(reference), holder };
            }
        }
        _ => {}
    }
    match value {
        Ok(0) => {
            let text = Text { program: look.program(), function: Some(function) };
            Reason::False { part: text.expr(expr), reads: evaluation.reads }
        }
        Err(NoValue::Fault(_) | NoValue::Unknown) | Ok(_) => Reason::Unknown,
    }
}
