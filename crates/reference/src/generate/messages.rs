//! Random sends and receives.

use super::scope::*;
use super::{Generator, Where};
use crate::construct::*;
use quotient_promela::ast::*;

impl Generator {
    pub(super) fn usable(&mut self, scope: &Scope, place: Where) -> Option<Chan> {
        // A rendezvous inside d_step is an error, unless it is the first thing there.
        let all = !place.d_step || self.random.chance(2 * self.knobs.channel_faults);
        let usable: Vec<Chan> = scope.chans.iter().filter(|c| all || c.capacity > 0).cloned().collect();
        self.random.pick(&usable).cloned()
    }

    /// A receive that a `d_step` may begin with, on any kind of channel.
    pub(super) fn first_receive(&mut self, scope: &Scope) -> Statement {
        let chan = self.random.pick(&scope.chans).cloned();
        match chan.and_then(|c| self.receive_on(scope, &c)) {
            Some(receive) => removing(receive),
            None => condition(self.condition(scope, true)),
        }
    }

    pub(super) fn send(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        let Some(chan) = self.usable(scope, place) else { return vec![self.assign(scope)] };
        let Some(send) = self.send_on(scope, &chan) else { return vec![self.assign(scope)] };
        if place.d_step && !self.random.chance(self.knobs.d_step_blocks) {
            let StatementKind::Send { channel, .. } = &send.kind else { return vec![send] };
            let guard = condition(expr(ExprKind::Nfull(channel.clone())));
            return vec![self.guarded(guard, send)];
        }
        vec![send]
    }

    pub(super) fn guarded(&mut self, guard: Statement, then: Statement) -> Statement {
        let other = choice(vec![statement(StatementKind::Else)]);
        statement(StatementKind::If(vec![choice(vec![guard, then]), other]))
    }

    pub(super) fn send_on(&mut self, scope: &Scope, chan: &Chan) -> Option<Statement> {
        let channel = match chan.length {
            Some(length) => element(&chan.name, self.index(scope, length, &chan.name)),
            None => name(&chan.name),
        };
        let mut args = Vec::new();
        for field in &chan.fields {
            args.push(match field {
                TypeName::Chan => {
                    let lasting: Vec<Chan> = carried(scope);
                    let sent = self.random.pick(&lasting)?.clone();
                    value(scope.channel(&mut self.random, &sent))
                }
                TypeName::Named(ty) => value(name(&self.message_variable(scope, &ty.name)?)),
                TypeName::Bit | TypeName::Bool if chan.fields.len() == 1 && !self.knobs.wide_bits => {
                    binary(BinaryOp::BitAnd, self.expression(scope, 1, &[]), number(1))
                }
                TypeName::Mtype(_) if self.random.chance(80) => self.field_constant(scope, field),
                _ if self.random.chance(40) => self.constant(),
                _ => binary(BinaryOp::Mod, self.expression(scope, 1, &[]), number(3)),
            });
        }
        let plain = chan.fields.iter().all(|f| !matches!(f, TypeName::Chan));
        let sorted = plain && self.random.chance(20);
        let whole = chan.fields.iter().all(|f| !matches!(f, TypeName::Named(_)));
        if whole && args.len() > 1 && self.random.chance(self.knobs.channel_faults) {
            args.pop();
        }
        Some(statement(StatementKind::Send { channel, sorted, args }))
    }

    pub(super) fn message_variable(&mut self, scope: &Scope, ty: &str) -> Option<String> {
        let index = self.struct_names.iter().position(|n| n == ty)?;
        let of_type = |v: &&Var| matches!(v.ty, Type::Struct(s) if s == index) && v.length.is_none();
        let found: Vec<String> = scope.vars.iter().filter(of_type).map(|v| v.name.clone()).collect();
        self.random.pick(&found).cloned()
    }

    pub(super) fn receive(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        let Some(chan) = self.usable(scope, place) else { return vec![self.assign(scope)] };
        let Some(receive) = self.receive_on(scope, &chan) else { return vec![self.assign(scope)] };
        if place.d_step && !self.random.chance(self.knobs.d_step_blocks) {
            if chan.capacity == 0 && self.random.chance(50) {
                return vec![receive];
            }
            // In a selection's guard a receive may fail; elsewhere in d_step it may not.
            let other = choice(vec![statement(StatementKind::Else)]);
            return vec![statement(StatementKind::If(vec![choice(vec![removing(receive)]), other]))];
        }
        vec![receive]
    }

    /// A receive that SPIN undoes correctly when it backtracks: it restores the message from the
    /// variables, so these must be distinct, wide enough, at constant indices, and not read by an `eval`.
    pub(super) fn receive_on(&mut self, scope: &Scope, chan: &Chan) -> Option<Statement> {
        let channel = scope.channel(&mut self.random, chan);
        let mut args = Vec::new();
        let mut written: Vec<String> = Vec::new();
        for field in &chan.fields {
            if let TypeName::Named(ty) = field {
                args.push(ReceiveArg::Variable(name(&self.message_variable(scope, &ty.name)?)));
                continue;
            }
            let what = self.random.below(10);
            // A message that is a single bit is kept in a byte.
            let stored = if chan.fields.len() == 1 { range(&TypeName::Byte, 0) } else { (0, 0) };
            let (low, high) = range(field, 0);
            let (low, high) = (low.min(stored.0), high.max(stored.1));
            let wide = |v: &Var| match &v.ty {
                Type::Scalar(ty, width) => {
                    let (l, h) = range(ty, *width);
                    v.writable && l <= low && h >= high && !matches!(ty, TypeName::Chan)
                }
                Type::Struct(_) => false,
            };
            let fresh = |v: &Var| wide(v) && !written.contains(&v.name);
            let target = match field {
                TypeName::Chan => None,
                _ if what < 6 => scope.scalar(&mut self.random, &fresh, &mut |random, length, _| {
                    number(random.below(length) as i32)
                }),
                _ => None,
            };
            args.push(match target {
                Some(chosen) => {
                    written.push(chosen.base.clone());
                    ReceiveArg::Variable(chosen.reference)
                }
                None if what == 9 || matches!(field, TypeName::Chan) => ReceiveArg::Ignore(nowhere()),
                None => ReceiveArg::Constant(self.field_constant(scope, field)),
            });
        }
        for (arg, field) in args.iter_mut().zip(&chan.fields) {
            let replace = matches!(arg, ReceiveArg::Constant(_)) && self.random.chance(30);
            if replace && !matches!(field, TypeName::Named(_)) {
                *arg = ReceiveArg::Eval(self.operand_for_eval(scope, &written), nowhere());
            }
        }
        let any = self.random.chance(30);
        let fault = self.random.chance(self.knobs.channel_faults);
        let peek = if chan.capacity > 0 {
            self.random.chance(15)
        } else {
            self.random.chance(2 * self.knobs.channel_faults)
        };
        let whole = chan.fields.iter().all(|f| !matches!(f, TypeName::Named(_)));
        if whole && !peek && args.len() > 1 && fault {
            args.pop();
        }
        Some(statement(StatementKind::Receive { channel, any, peek, args }))
    }

    pub(super) fn operand_for_eval(&mut self, scope: &Scope, not: &[String]) -> Expr {
        match self.readable(scope, not) {
            Some(chosen) => value(chosen.reference),
            None => number(self.random.between(0, 2)),
        }
    }

    /// A channel received in a message and used at once.
    pub(super) fn carried(&mut self, scope: &Scope) -> Vec<Statement> {
        let carriers: Vec<Chan> =
            scope.chans.iter().filter(|c| matches!(c.fields[..], [TypeName::Chan])).cloned().collect();
        let (Some(carrier), Some(variable), Some(model)) = (
            self.random.pick(&carriers).cloned(),
            self.random.pick(&scope.chan_vars).cloned(),
            carried(scope).first().cloned(),
        ) else {
            return vec![self.assign(scope)];
        };
        let channel = scope.channel(&mut self.random, &carrier);
        if self.random.chance(40) {
            return self.send_on(scope, &carrier).into_iter().collect();
        }
        let args = vec![ReceiveArg::Variable(name(&variable))];
        let receive = statement(StatementKind::Receive { channel, any: false, peek: false, args });
        let alias = Chan { name: variable, length: None, lasting: false, ..model };
        let used = match self.random.below(2) {
            0 => self.send_on(scope, &alias),
            _ => self.receive_on(scope, &alias),
        };
        std::iter::once(receive).chain(used).collect()
    }

    /// A buffered channel of structures, with a variable for its messages.
    pub(super) fn messages(&mut self, scope: &Scope) -> Option<(String, String)> {
        let of_messages = |c: &&Chan| {
            let declared = c.length.is_none() && c.capacity > 0 && c.name.starts_with('c');
            declared && matches!(c.fields[..], [TypeName::Named(_)])
        };
        let channels: Vec<String> = scope.chans.iter().filter(of_messages).map(|c| c.name.clone()).collect();
        let channel = self.random.pick(&channels)?.clone();
        Some((channel, self.message_variable(scope, "T0")?))
    }
}

/// The same receive, but one that removes the message.
pub(super) fn removing(mut receive: Statement) -> Statement {
    if let StatementKind::Receive { peek, .. } = &mut receive.kind {
        *peek = false;
    }
    receive
}

/// The channels that messages may carry: all with the message type of the first lasting one.
pub(super) fn carried(scope: &Scope) -> Vec<Chan> {
    let lasting = |c: &&Chan| {
        let plain = |f: &TypeName| !matches!(f, TypeName::Chan | TypeName::Named(_));
        c.lasting && c.fields.iter().all(plain)
    };
    let all: Vec<Chan> = scope.chans.iter().filter(lasting).cloned().collect();
    match all.first() {
        None => Vec::new(),
        Some(first) => {
            let (fields, capacity) = (first.fields.clone(), first.capacity);
            all.into_iter().filter(|c| c.fields == fields && c.capacity == capacity).collect()
        }
    }
}
