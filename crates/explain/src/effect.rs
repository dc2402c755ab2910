//! What one statement did: reads, writes, and the event that others notice.

use quotient_machine::{MicroStep, Raw};
use quotient_outcome::Value;
use quotient_program::{Action, Expr, LockOperation, Operation, Pattern, Place, Transformation, Type};

use crate::evaluate::{Evaluation, Read};
use crate::look::{Leaf, Look};
use crate::text::Text;

pub use quotient_outcome::{Effect, Event, Failed, Synchronisation, Write};

/// What a statement did between two states; `after` is missing where it ended in a fault.
pub fn effect(step: &MicroStep, before: &Look<'_>, after: Option<&Look<'_>>) -> Effect {
    followed(step, before, after).0
}

/// What goes wrong in a statement that ends in a fault, in words with values, where that is seen from its expressions.
pub fn fault(step: &MicroStep, before: &Look<'_>) -> Option<String> {
    followed(step, before, None).1
}

fn followed(step: &MicroStep, before: &Look<'_>, after: Option<&Look<'_>>) -> (Effect, Option<String>) {
    let Some((function, _, transformation)) = before.machine.transformation(step.transformation) else {
        return Default::default();
    };
    let mut evaluation = Evaluation::new(before, Some(step.thread));
    let text = Text { program: before.program(), function: Some(function) };
    let mut effect = Effect::default();
    operation(&mut evaluation, transformation, step.partner, after, &mut effect);
    for action in &transformation.actions {
        perform(&mut evaluation, &text, action, after, &mut effect);
        if effect.failed.is_some() {
            break;
        }
    }
    effect.reads = evaluation.reads;
    if let Some(after) = after {
        complete(&mut effect, before, after);
    }
    (effect, evaluation.fault)
}

fn fields(look: &Look<'_>, message: &[Raw]) -> Vec<Value> {
    message.iter().map(|f| look.value(f)).collect()
}

fn operation(
    evaluation: &mut Evaluation<'_, '_>,
    transformation: &Transformation,
    partner: Option<u32>,
    after: Option<&Look<'_>>,
    effect: &mut Effect,
) {
    let look = evaluation.look;
    match &transformation.operation {
        Operation::When(condition) => {
            // Asked for what it reads; that it holds is known.
            let _ = evaluation.value(condition);
            if mentions_timeout(condition) {
                effect.events.push(Event::Timeout);
            }
        }
        Operation::Send { channel, args, .. } => {
            let Ok(number) = evaluation.value(channel) else { return };
            let types = look.channel_fields(number);
            let message = args.iter().enumerate().map(|(i, arg)| {
                let value = evaluation.value(arg).ok()?;
                let int = Type::Int(quotient_program::IntType::INT);
                let ty = types.get(i).unwrap_or(&int);
                let value = if let Type::Int(int) = ty { int.wrap(value) } else { value };
                Some(look.scalar(ty, value))
            });
            if let Some(message) = message.collect::<Option<Vec<_>>>() {
                effect.events.push(Event::Send { channel: look.channel_name(number), message, partner });
            }
        }
        Operation::Receive { channel, any, peek, patterns, .. } => {
            let Ok(number) = evaluation.value(channel) else { return };
            let Some((messages, capacity)) = look.channel(number) else { return };
            if capacity == 0 {
                return rendezvous(evaluation, number, patterns, after, effect);
            }
            let messages = messages.clone();
            let Ok(Some(position)) = evaluation.matching(&messages, *any, patterns) else { return };
            let message = &messages[position];
            for (pattern, field) in patterns.iter().zip(message) {
                if let (Pattern::Bind(place), Raw::Scalar(_, value)) = (pattern, field) {
                    assign(evaluation, place, *value, after, effect);
                }
            }
            effect.events.push(Event::Receive {
                channel: look.channel_name(number),
                message: fields(look, message),
                stays: *peek,
            });
        }
        Operation::Exit => effect.events.push(Event::End),
        Operation::Always | Operation::Else | Operation::Event { .. } | Operation::Enter => {}
    }
}

/// What the receiver in a rendezvous does: the message is not in the channel before, so what was stored is seen in the state after.
fn rendezvous(
    evaluation: &mut Evaluation<'_, '_>,
    number: i32,
    patterns: &[Pattern],
    after: Option<&Look<'_>>,
    effect: &mut Effect,
) {
    let Some(after) = after else { return };
    let types = evaluation.look.channel_fields(number);
    let mut message = Vec::new();
    for (pattern, ty) in patterns.iter().zip(types) {
        let value = match pattern {
            Pattern::Ignore => None,
            Pattern::Match(e) => evaluation.value(e).ok(),
            Pattern::Bind(place) => {
                let found =
                    evaluation.elsewhere(after).and_then(|mut e| e.place(place).ok()).map(|s| s.value);
                if let Some(value) = found {
                    assign(evaluation, place, value, Some(after), effect);
                }
                found
            }
        };
        message.push(value.map_or(Value::Nothing, |value| evaluation.look.scalar(ty, value)));
    }
    let channel = evaluation.look.channel_name(number);
    effect.events.push(Event::Receive { channel, message, stays: false });
}

/// What was handed over in a rendezvous, from the statement that sends to the one that receives: of what a receive takes no notice of (`_`),
/// only its sender knows the value.
#[derive(Default)]
pub struct Handed(Option<(String, Vec<Value>)>);

impl Handed {
    /// To be told of the effects of a step, one after the other.
    pub fn pass(&mut self, effect: &mut Effect) {
        for event in &mut effect.events {
            match event {
                Event::Send { channel, message, partner: Some(_) } => {
                    self.0 = Some((channel.clone(), message.clone()));
                }
                Event::Receive { channel, message, .. } => {
                    if let Some((_, sent)) = self.0.take().filter(|(over, _)| over == channel) {
                        *message = sent;
                    }
                }
                _ => {}
            }
        }
    }
}

fn mentions_timeout(expr: &Expr) -> bool {
    match expr {
        Expr::Timeout => true,
        Expr::Spanned(inner, _) | Expr::Unary(_, inner) => mentions_timeout(inner),
        Expr::Binary(_, a, b) => mentions_timeout(a) || mentions_timeout(b),
        _ => false,
    }
}

/// Notes that a place gets a value.
fn assign(
    evaluation: &mut Evaluation<'_, '_>,
    place: &Place,
    value: i32,
    after: Option<&Look<'_>>,
    effect: &mut Effect,
) {
    let Ok(scalar) = evaluation.place(place) else { return };
    let value = match &scalar.ty {
        Type::Int(int) => int.wrap(value),
        // A value outside of the range is a fault, and nothing is stored.
        Type::Range(range) => match range.fit(value) {
            Some(value) => value,
            None => return,
        },
        _ => value,
    };
    let look = evaluation.look;
    effect.writes.push(Write {
        full: scalar.full.clone(),
        name: scalar.name,
        before: Some(look.scalar(&scalar.ty, scalar.value)),
        // What was made in this statement has its name from the state after it.
        after: Some(after.unwrap_or(look).scalar(&scalar.ty, value)),
    });
    evaluation.written.insert(scalar.full, value);
}

/// Notes that a place gets a value that only the machine knows: it is seen in the state after.
fn stored(evaluation: &mut Evaluation<'_, '_>, place: &Place, after: Option<&Look<'_>>, effect: &mut Effect) {
    let Some(after) = after else { return };
    if let Some(Ok(scalar)) = evaluation.elsewhere(after).map(|mut e| e.place(place)) {
        assign(evaluation, place, scalar.value, Some(after), effect);
    }
}

fn perform(
    evaluation: &mut Evaluation<'_, '_>,
    text: &Text<'_>,
    action: &Action,
    after: Option<&Look<'_>>,
    effect: &mut Effect,
) {
    match action {
        Action::Assign(place, expr) => {
            if let Ok(value) = evaluation.value(expr) {
                assign(evaluation, place, value, after, effect);
            }
        }
        Action::Assert(condition, _) => {
            let mut apart = Evaluation::new(evaluation.look, evaluation.thread);
            apart.written.clone_from(&evaluation.written);
            let holds = apart.value(condition);
            let written = text.expr(condition);
            if holds == Ok(0) {
                effect.failed = Some(Failed {
                    values: with_values(&written, &apart.reads),
                    text: written.clone(),
                    reads: apart.reads.clone(),
                });
            }
            for read in apart.reads {
                if !evaluation.reads.contains(&read) {
                    evaluation.reads.push(read);
                }
            }
            effect.events.push(Event::Assert(written, holds != Ok(0)));
        }
        Action::Start { function, args, result, .. } => {
            args.iter().for_each(|a| drop(evaluation.value(a)));
            result.iter().for_each(|place| stored(evaluation, place, after, effect));
            // Numbers of processes that have ended are given again.
            let known: Vec<u32> =
                evaluation.look.machine.threads(evaluation.look.state).iter().map(|t| t.id).collect();
            let new = after.and_then(|after| {
                let threads = after.machine.threads(after.state);
                threads.iter().map(|t| t.id).find(|id| !known.contains(id))
            });
            effect.events.push(Event::Start(text.program.function(*function).name.clone(), new));
        }
        Action::Lock(operation, lock) => {
            if let Ok(reference) = evaluation.value(lock) {
                let object = evaluation.look.names.of(reference);
                let operation = synchronisation(*operation);
                effect.events.push(Event::Lock { operation, object, wakes: Vec::new() });
            }
        }
        Action::New { result, .. } => {
            stored(evaluation, result, after, effect);
            // The object's name is known when it exists.
            if let Some(after) = after
                && let Some(Ok(scalar)) = evaluation.elsewhere(after).map(|mut e| e.place(result))
            {
                effect.events.push(Event::New(after.names.of(scalar.value)));
            }
        }
        Action::EndThread | Action::Halt => effect.events.push(Event::End),
        Action::Assume(e) | Action::Delete(e) | Action::Throw(e) => drop(evaluation.value(e)),
        Action::Return(Some(e)) => drop(evaluation.value(e)),
        Action::Call { args, .. } => args.iter().for_each(|a| drop(evaluation.value(a))),
        Action::Update { collection, args, result, .. } => {
            drop(evaluation.value(collection));
            args.iter().for_each(|a| drop(evaluation.value(a)));
            result.iter().for_each(|place| stored(evaluation, place, after, effect));
        }
        Action::Choose { result, .. } => stored(evaluation, result, after, effect),
        Action::Print(_) | Action::SetPriority(..) | Action::Forget(_) | Action::Return(None) => {}
    }
}

/// Values in place of names, where each name stands by itself.
fn with_values(text: &str, reads: &[Read]) -> String {
    let mut out = String::new();
    let mut rest = text;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let inside = out.chars().last().is_some_and(|c| is_name(c) || c == '.');
        let found = reads.iter().filter(|_| !inside).filter(|r| {
            let after = rest.strip_prefix(r.name.as_str());
            after.is_some_and(|a| !a.starts_with(|c| is_name(c) || c == '[' || c == '.'))
        });
        match found.max_by_key(|r| r.name.len()) {
            Some(read) => {
                out.push_str(&read.value.to_string());
                rest = &rest[read.name.len()..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

/// Adds what changed without having been followed: the places that a partner's receive wrote, channels, threads, objects. What was stored is
/// what the state after the statement says: another action may have stored something else, an object may have been made, or the
/// statement may have ended in a fault before.
fn complete(effect: &mut Effect, before: &Look<'_>, after: &Look<'_>) {
    let (old, new, is_all) = before.unlike(after);
    for index in 0..effect.writes.len() {
        let full = &effect.writes[index].full;
        let stored = match new.iter().find(|l| l.full == *full) {
            Some(leaf) => Some(leaf.value.clone()),
            None if is_all => None,
            // Nothing around it has changed: it holds what it held before the first of these writes.
            None => effect.writes.iter().find(|w| w.full == *full).and_then(|w| w.before.clone()),
        };
        if stored.is_some() {
            effect.writes[index].after = stored;
        }
    }
    for write in unlike(&old, &new) {
        if !effect.writes.iter().any(|w| w.full == write.full) {
            effect.writes.push(write);
        }
    }
}

/// The leaves that differ.
pub fn differences(before: &Look<'_>, after: &Look<'_>) -> Vec<Write> {
    let (old, new, _) = before.unlike(after);
    unlike(&old, &new)
}

fn unlike(old: &[Leaf], new: &[Leaf]) -> Vec<Write> {
    let mut out = Vec::new();
    for leaf in new {
        let was = old.iter().find(|l| l.full == leaf.full);
        if was.map(|w| &w.value) != Some(&leaf.value) {
            out.push(Write {
                full: leaf.full.clone(),
                name: leaf.name.clone(),
                before: was.map(|w| w.value.clone()),
                after: Some(leaf.value.clone()),
            });
        }
    }
    for leaf in old.iter().filter(|l| new.iter().all(|n| n.full != l.full)) {
        out.push(Write {
            full: leaf.full.clone(),
            name: leaf.name.clone(),
            before: Some(leaf.value.clone()),
            after: None,
        });
    }
    out
}

fn synchronisation(operation: LockOperation) -> Synchronisation {
    match operation {
        LockOperation::Lock => Synchronisation::Lock,
        LockOperation::Unlock => Synchronisation::Unlock,
        LockOperation::Wait => Synchronisation::Wait,
        LockOperation::Unwait => Synchronisation::Wake,
        LockOperation::Notify => Synchronisation::Notify,
        LockOperation::NotifyAll => Synchronisation::NotifyAll,
    }
}
