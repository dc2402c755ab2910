//! Unions: fields of messages that mean different things in different kinds of messages.
//!
//! `link!request,_pid` and `link!data,n` put an id and a number into one field. As one class both would be numbers, and the ids would
//! stay. A field is therefore split by the constants of another field of the same message, its *tag* (an `mtype` as a rule), into one class for each of them:
//!
//! - every send to the channels in question names the tag by a constant that fits, and there are no messages in the beginning, so that every message
//!   there ever is has one of these tags;
//! - every receive and every poll that looks at the field names the tag by a constant as well, so that what it looks at was sent under the
//!   same one.
//!
//! So values of two tags never meet by way of the channel, and need not be renamed alike. Messages that are kept in order (`!!`) are
//! compared with each other as a whole: their fields are not split. Which channels are in question is taken from classes that are not split, which hold
//! at least as many.
//!
//! What a renaming does to a message then depends on its tag, before it is renamed itself. The graph has a node for each channel, tag and
//! field, with edges to all three and to the class, so that a renaming that takes the channel and the tag elsewhere takes the class to the one there.

use std::collections::{BTreeMap, BTreeSet};

use crate::ground::{Exp, Op, Pat, Setting, each, each_in_act, each_in_op, range};
use crate::sorts::{ClassId, Sorts};
use crate::specialise::Specialised;

/// The fields of some channels' messages that are split.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    /// The field with the constants.
    pub(crate) tag: usize,
    /// The constants that are sent.
    pub(crate) values: BTreeSet<i32>,
    /// The fields that are split.
    pub(crate) fields: BTreeSet<usize>,
}

/// The unions of a program, by the classes of channels they belong to, as they are without them.
pub(crate) struct Unions<'a> {
    plain: Sorts<'a>,
    of: BTreeMap<ClassId, Union>,
}

impl Unions<'_> {
    /// The union that messages of a channel are.
    pub(crate) fn of(&self, channel: &Exp) -> Option<&Union> {
        self.of.get(&self.plain.class_of(channel)?)
    }

    /// The union that messages of the channel with this index are.
    pub(crate) fn of_channel(&self, index: usize) -> Option<&Union> {
        self.of.get(&self.plain.find(self.plain.channel[index]))
    }
}

/// A part of a message in code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Constant(i32),
    Ignored,
    Other,
}

/// What is done with messages of a class of channels.
#[derive(Default)]
struct Uses {
    sends: Vec<Vec<Written>>,
    receives: Vec<Vec<Written>>,
    sorted: bool,
}

fn written(e: &Exp) -> Written {
    if let Exp::Num(value) = e { Written::Constant(*value) } else { Written::Other }
}

fn received(patterns: &[Pat]) -> Vec<Written> {
    let of = |pattern: &Pat| match pattern {
        Pat::Match(e) => written(e),
        Pat::Ignore => Written::Ignored,
        Pat::Bind(_) => Written::Other,
    };
    patterns.iter().map(of).collect()
}

/// The constant that a pattern compares with.
fn constant(pattern: &Pat) -> Option<i32> {
    if let Pat::Match(Exp::Num(value)) = pattern { Some(*value) } else { None }
}

impl<'a> Sorts<'a> {
    /// The classes with fields split, if that is possible and makes names of something.
    pub(crate) fn split(self, of: &Specialised) -> Option<Sorts<'a>> {
        let unions = self.unions(of);
        if unions.is_empty() {
            return None;
        }
        let setting = self.setting;
        let split = Sorts::with(setting, of, Some(Box::new(Unions { plain: self, of: unions })));
        split.differs().then_some(split)
    }

    /// The tag by which a field of a message is split; `constant` gives the constants in the message.
    fn tag(&self, channel: &Exp, field: usize, constant: impl Fn(usize) -> Option<i32>) -> Option<i32> {
        let union = self.unions.as_ref()?.of(channel)?;
        if union.fields.contains(&field) { constant(union.tag) } else { None }
    }

    /// The same, of a message that is sent: parts that are not written are zero.
    pub(crate) fn tag_sent(&self, channel: &Exp, field: usize, args: &[Exp]) -> Option<i32> {
        self.tag(channel, field, |at| match args.get(at) {
            Some(Exp::Num(value)) => Some(*value),
            Some(_) => None,
            None => Some(0),
        })
    }

    /// The same, of a message that is received.
    pub(crate) fn tag_received(&self, channel: &Exp, field: usize, patterns: &[Pat]) -> Option<i32> {
        self.tag(channel, field, |at| patterns.get(at).and_then(constant))
    }

    /// Does some field have different classes under different tags, of which one is names?
    fn differs(&self) -> bool {
        (0..self.channel.len()).any(|index| {
            let Some(union) = self.unions.as_ref().and_then(|u| u.of_channel(index)) else { return false };
            union.fields.iter().any(|field| {
                let classes: BTreeSet<ClassId> = self.under_tags(self.channel[index], *field).collect();
                classes.len() > 1 && classes.iter().any(|class| self.is_names(*class))
            })
        })
    }

    /// The classes of a field under all tags there are in messages and in code.
    fn under_tags(&self, channels: ClassId, field: usize) -> impl Iterator<Item = ClassId> {
        let of_field = move |((_, f), class): (&(i32, usize), &ClassId)| (*f == field).then_some(*class);
        self.get(channels).tagged.iter().filter_map(of_field).map(|class| self.find(class))
    }

    fn unions(&self, of: &Specialised) -> BTreeMap<ClassId, Union> {
        let mut uses: BTreeMap<ClassId, Uses> = BTreeMap::new();
        let poll = |e: &Exp, uses: &mut BTreeMap<ClassId, Uses>| {
            if let Exp::Poll(channel, _, patterns) = e
                && let Some(class) = self.class_of(channel)
            {
                uses.entry(class).or_default().receives.push(received(patterns));
            }
        };
        of.properties.iter().for_each(|e| each(e, &mut |e| poll(e, &mut uses)));
        for thread in &of.threads {
            thread.provided.iter().for_each(|e| each(e, &mut |e| poll(e, &mut uses)));
            for step in thread.locs.iter().flatten().flat_map(|l| &l.steps) {
                each_in_op(&step.op, &mut |e| poll(e, &mut uses));
                step.acts.iter().for_each(|act| each_in_act(act, &mut |e| poll(e, &mut uses)));
                match &step.op {
                    Op::Send { channel, sorted, args, .. } => {
                        let Some(class) = self.class_of(channel) else { continue };
                        let uses = uses.entry(class).or_default();
                        uses.sorted |= *sorted;
                        uses.sends.push(args.iter().map(written).collect());
                    }
                    Op::Receive { channel, patterns, .. } => {
                        let Some(class) = self.class_of(channel) else { continue };
                        uses.entry(class).or_default().receives.push(received(patterns));
                    }
                    _ => {}
                }
            }
        }
        let setting = self.setting;
        uses.into_iter()
            .filter_map(|(class, uses)| Some((class, self.union(setting, class, &uses)?)))
            .collect()
    }

    fn union(&self, setting: &Setting<'_>, class: ClassId, uses: &Uses) -> Option<Union> {
        let channels: Vec<usize> =
            (0..self.channel.len()).filter(|at| self.find(self.channel[*at]) == class).collect();
        let empty = |at: &usize| {
            let known = setting.before.messages.get(*at);
            known.is_some_and(|fields| fields.iter().all(|v| v.known.is_empty() && !v.any))
        };
        if uses.sorted || channels.is_empty() || !self.is_names(class) || !channels.iter().all(empty) {
            return None;
        }
        let types =
            |at: &usize| &setting.program.channel_types[setting.channels[*at].kind.0 as usize].fields[..];
        let count = channels.iter().map(|at| types(at).len()).min()?;
        // A part that is not written is sent as zero, and not looked at when received.
        let sent = |m: &Vec<Written>, field: usize| m.get(field).copied().unwrap_or(Written::Constant(0));
        let met = |m: &Vec<Written>, field: usize| m.get(field).copied().unwrap_or(Written::Ignored);
        (0..count).find_map(|tag| {
            let mut values = BTreeSet::new();
            // What is only asked for is never met, and is told apart as well.
            let mut named: BTreeSet<i32> = BTreeSet::new();
            for message in &uses.receives {
                if let Written::Constant(value) = met(message, tag) {
                    named.insert(value);
                }
            }
            for message in &uses.sends {
                let Written::Constant(value) = sent(message, tag) else { return None };
                values.insert(value);
            }
            let fits = |at: &usize| {
                let (low, high) = range(&types(at)[tag]);
                values.iter().all(|v| (low..=high).contains(v))
            };
            if named.union(&values).count() < 2 || !channels.iter().all(fits) {
                return None;
            }
            let clear = |message: &Vec<Written>, field: usize| {
                met(message, field) == Written::Ignored || matches!(met(message, tag), Written::Constant(_))
            };
            let splits = |field: &usize| *field != tag && uses.receives.iter().all(|m| clear(m, *field));
            let fields: BTreeSet<usize> = (0..count).filter(splits).collect();
            (!fields.is_empty()).then_some(Union { tag, values, fields })
        })
    }
}
