//! Channels: sends, receives, and what two processes that meet must not do.
//!
//! In a rendezvous the value is computed first and stored, then come the effects of the receiver, then those of the sender.
//! Where messages are held, versions of DiVinE differ in whether effects come before or after the message: a transition
//! where that makes a difference is refused.

use std::collections::HashSet;

use quotient_program::{Expr, Operation, Pattern, Place, Root, Type};
use quotient_source::Span;

use super::{At, Lower};
use crate::ast::{self, ExprKind, Sync, Transition};

impl Lower<'_> {
    /// The operation of a transition that synchronises.
    pub(super) fn sync(&mut self, t: &Transition, sync: &Sync, guard: Option<Expr>, at: At<'_>) -> Operation {
        let name = &sync.channel;
        let Some(channel) = self.channels.get(&name.text) else {
            let known = self.channels.keys().cloned().collect();
            self.unknown(name, format!("there is no channel `{}`", name.text), known);
            return Operation::Always;
        };
        let (variable, buffered, declared) = (channel.variable, channel.buffered, channel.span);
        let fields = self.program.channel_types[channel.kind.0 as usize].fields.len();
        if fields != sync.values.len() {
            let found = sync.values.len();
            self.error(sync.span, format!("{found} values, but messages of `{}` have {fields}", name.text))
                .related(declared, "declared here")
                .help("every use of a channel has the same number of values");
        }
        let place =
            Place { root: Root::Global(variable), path: Vec::new(), ty: Type::Channel, span: name.span };
        let channel = Expr::Load(place);
        if buffered {
            self.check_order(t, sync);
        }
        if sync.send {
            let args = sync.values.iter().map(|e| self.expr(e, at)).collect();
            return Operation::Send { guard, channel, sorted: false, args };
        }
        self.check_indices(sync);
        let mut patterns = Vec::new();
        for e in &sync.values {
            patterns.push(match self.target(e, at) {
                Some(place) => Pattern::Bind(place),
                None => Pattern::Ignore,
            });
        }
        Operation::Receive { guard, channel, any: false, peek: false, patterns }
    }

    /// Indices of a receive see the state before it: none may depend on what the same message brings.
    fn check_indices(&mut self, sync: &Sync) {
        let mut received: HashSet<&str> = HashSet::new();
        for value in &sync.values {
            if let ExprKind::Index(_, index) = &value.kind
                && let Some(name) = read(index).find(|n| received.contains(n.text.as_ref() as &str))
            {
                let message = format!("the index uses `{}`, which the same message changes", name.text);
                self.error(name.span, message)
                    .help("receive into a variable and assign the element in the effect");
            }
            received.extend(target_name(value).map(|n| &*n.text));
        }
    }

    /// Where a message is held, the effects must not touch what it is made of or stored in.
    fn check_order(&mut self, t: &Transition, sync: &Sync) {
        let used: Vec<&ast::Name> = sync.values.iter().flat_map(read).collect();
        for effect in &t.effects {
            let target = target_name(&effect.target);
            // A send reads what it sends; a receive writes what it receives.
            let mut touched: Vec<&ast::Name> = target.into_iter().collect();
            if !sync.send {
                touched.extend(read(&effect.value));
                touched.extend(read(&effect.target));
            }
            if let Some(name) = touched.into_iter().find(|n| used.iter().any(|u| u.text == n.text)) {
                let message = format!("the effect and the message both use `{}`", name.text);
                self.error(name.span, message).related(sync.span, "the message").help(
                    "which of them comes first differs between versions of DiVinE; use two transitions",
                );
                return;
            }
        }
    }

    /// Two transitions that meet must not change the same global variable.
    pub(super) fn conflicts(&mut self) {
        let system = self.system;
        let mut found: Vec<(Span, Span, String)> = Vec::new();
        for channel in system.channels.iter().filter(|c| c.capacity.unwrap_or(0) == 0) {
            let uses = |send: bool| {
                system.processes.iter().flat_map(move |p| {
                    let of = move |t: &&Transition| {
                        t.sync.as_ref().is_some_and(|s| s.send == send && s.channel.text == channel.name.text)
                    };
                    p.transitions.iter().filter(of).map(move |t| (p, t))
                })
            };
            for (sender, sending) in uses(true) {
                let written = self.changes(sender, sending);
                if written.is_empty() {
                    continue;
                }
                for (receiver, receiving) in uses(false) {
                    if receiver.name.text == sender.name.text {
                        continue;
                    }
                    let both = self.changes(receiver, receiving).into_iter().find(|v| written.contains(v));
                    found.extend(both.map(|v| (sending.span, receiving.span, v.to_owned())));
                }
            }
        }
        for (sending, receiving, name) in found.into_iter().take(10) {
            self.error(sending, format!("two transitions that can meet both change `{name}`"))
                .related(receiving, "the other one")
                .help("this is an error in DVE; let one of them do it");
        }
    }

    /// Global variables that a transition changes.
    fn changes<'t>(&self, process: &ast::Process, t: &'t Transition) -> HashSet<&'t str> {
        let received = t.sync.iter().filter(|s| !s.send).flat_map(|s| &s.values);
        let targets = t.effects.iter().map(|e| &e.target).chain(received).filter_map(target_name);
        let own = self.processes.get(&process.name.text);
        let global = |n: &&ast::Name| own.is_none_or(|p| !p.variables.contains_key(&n.text));
        targets.filter(global).map(|n| &*n.text).collect()
    }
}

/// The variables that an expression mentions.
fn read(e: &ast::Expr) -> impl Iterator<Item = &ast::Name> {
    let mut names = Vec::new();
    e.walk(&mut |e| match &e.kind {
        ExprKind::Name(name) | ExprKind::Index(name, _) => names.push(name),
        _ => {}
    });
    names.into_iter()
}

/// The variable that is changed.
fn target_name(e: &ast::Expr) -> Option<&ast::Name> {
    match &e.kind {
        ExprKind::Name(name) | ExprKind::Index(name, _) => Some(name),
        _ => None,
    }
}
