//! Random statements.

use super::messages::removing;
use super::scope::*;
use super::{Generator, NOWHERE, Where};
use crate::construct::*;
use quotient_promela::ast::*;

impl Generator {
    /// `count` statements, at least one.
    pub(super) fn statements(&mut self, scope: &Scope, place: Where, count: usize) -> Vec<Statement> {
        let mut list = Vec::new();
        while list.len() < count.max(1) {
            list.extend(self.statement(scope, place));
        }
        self.bare(&mut list);
        list
    }

    /// `unless` comes in a block, because SPIN refuses it as an option's first statement; elsewhere the block is now and then left out.
    fn bare(&mut self, list: &mut [Statement]) {
        for statement in list.iter_mut().skip(1) {
            if let StatementKind::Block(inner) = &mut statement.kind
                && let [only] = &inner.statements[..]
                && matches!(only.kind, StatementKind::Unless(..))
                && statement.labels.is_empty()
                && self.random.chance(40)
            {
                *statement = only.clone();
            }
        }
    }

    /// One statement, or a few that belong together.
    pub(super) fn statement(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        let k = self.knobs.clone();
        let simple_only = place.depth == 0;
        let compound = |weight: u32| if simple_only { 0 } else { weight };
        let free = |weight: u32| if place.d_step { 0 } else { weight };
        let weights = [
            k.assign,
            k.count,
            if place.d_step { k.channel_faults } else { k.condition },
            k.send,
            k.receive,
            compound(k.selection),
            if place.atomic { 0 } else { compound(k.repetition) },
            if place.atomic { compound(1) } else { compound(k.atomic) },
            if place.d_step { compound(1) } else { compound(k.d_step) },
            free(compound(k.unless)),
            if place.d_step || !place.gotos { 0 } else { k.goto },
            compound(k.block),
            k.assert,
            compound(k.for_loop),
            free(k.select),
            k.print,
            free(k.skip),
            if place.atomic { 0 } else { k.carried },
            if place.atomic { 0 } else { k.lock },
            k.declaration,
            if place.d_step { compound(2) } else { 0 },
        ];
        let inner = Where { depth: place.depth.saturating_sub(1), ..place };
        let Some(which) = self.random.weighted(&weights) else { return vec![skip()] };
        match which {
            0 => vec![self.assign(scope)],
            1 => vec![self.count(scope, place)],
            2 => {
                let condition = condition(self.condition(scope, place.d_step));
                vec![self.avoidable(scope, vec![condition], inner)]
            }
            3 => {
                let send = self.send(scope, place);
                vec![self.avoidable(scope, send, inner)]
            }
            4 => {
                let receive = self.receive(scope, place);
                vec![self.avoidable(scope, receive, inner)]
            }
            5 => vec![self.selection(scope, inner)],
            6 => vec![self.repetition(scope, inner)],
            7 => {
                let place = Where { atomic: true, ..inner };
                let count = 1 + self.random.below(3);
                let body = self.statements(scope, place, count);
                vec![statement(StatementKind::Atomic(sequence(body)))]
            }
            8 => vec![self.d_step(scope, inner)],
            9 => vec![self.unless(scope, inner)],
            10 if place.breaks && self.random.chance(40) => vec![statement(StatementKind::Break)],
            10 => vec![self.goto()],
            11 => vec![self.block(scope, inner)],
            12 => vec![statement(StatementKind::Assert(self.comparison(scope, &[])))],
            13 => self.for_loop(scope, inner),
            14 => self.select(scope),
            15 => vec![self.print(scope)],
            16 => vec![skip()],
            17 => self.carried(scope),
            18 => self.locked(scope, inner),
            19 => self.declared(scope),
            _ => vec![self.emptying(scope)],
        }
    }

    /// A declaration between statements, and a use of the variable.
    fn declared(&mut self, scope: &Scope) -> Vec<Statement> {
        let variable = self.fresh("v");
        let init = self.random.chance(60).then(|| Initialiser::Expr(self.expression(scope, 1, &[])));
        let declaration = declare(TypeName::Byte, &variable, None, init);
        let mut list = vec![statement(StatementKind::Declaration(declaration))];
        let to = self.writable(scope).filter(|chosen| !self.is_bit_cell(chosen));
        let small = binary(BinaryOp::Mod, value(name(&variable)), number(3));
        list.extend(to.map(|to| statement(StatementKind::Assign(to.reference, small))));
        list
    }

    /// A loop inside a `d_step` that takes everything out of a channel.
    fn emptying(&mut self, scope: &Scope) -> Statement {
        let buffered: Vec<Chan> = scope.chans.iter().filter(|c| c.capacity > 0).cloned().collect();
        let chan = self.random.pick(&buffered).cloned();
        let Some(receive) = chan.and_then(|c| self.receive_on(scope, &c)) else { return self.assign(scope) };
        let leave = vec![statement(StatementKind::Else), statement(StatementKind::Break)];
        let take = vec![removing(receive), self.assign(scope)];
        statement(StatementKind::Do(vec![choice(take), choice(leave)]))
    }

    /// A variable used as a lock: it is taken, something is done, it is given back. Now and then a part is missing.
    fn locked(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        let Some(lock) = self.lock(scope) else { return vec![skip()] };
        let free = self.random.below(4) as i32 / 3;
        let is_free = binary(BinaryOp::Eq, value(lock.clone()), number(free));
        let is_free = match (self.random.below(6), self.lock(scope)) {
            (0, Some(other)) => {
                let also = binary(BinaryOp::Ne, value(other), number(self.random.between(0, 1)));
                binary(BinaryOp::And, is_free, also)
            }
            (1, _) => binary(BinaryOp::Lt, value(lock.clone()), number(free + 1)),
            _ => is_free,
        };
        let set = |to| statement(StatementKind::Assign(lock.clone(), number(to)));
        let take = vec![condition(is_free), set(1 - free)];
        let mut all = match self.random.below(8) {
            0..=3 => vec![statement(StatementKind::Atomic(sequence(take)))],
            4 | 5 => vec![statement(StatementKind::DStep(sequence(take)))],
            6 => take,
            _ => Vec::new(),
        };
        if self.random.chance(70) {
            all.extend(self.statement(scope, Where { depth: place.depth.min(1), ..place }));
        }
        if self.random.chance(80) || all.is_empty() {
            all.push(set(free));
        }
        all
    }

    /// One of few variables, so that they meet.
    fn lock(&mut self, scope: &Scope) -> Option<Reference> {
        let usable =
            |v: &&Var| v.readable && v.writable && matches!(&v.ty, Type::Scalar(ty, _) if is_number(ty));
        let few: Vec<&Var> = scope.vars.iter().filter(usable).take(2).collect();
        let var = *self.random.pick(&few)?;
        Some(match var.length {
            None => name(&var.name),
            Some(length) => element(&var.name, number(self.random.below(length.min(2)) as i32)),
        })
    }

    /// A statement that may block, often with an alternative: else most programs would stop early.
    fn avoidable(&mut self, scope: &Scope, statements: Vec<Statement>, place: Where) -> Statement {
        if !place.d_step && self.random.chance(45) {
            let other = match self.random.below(4) {
                0 => vec![statement(StatementKind::Else)],
                1 => vec![condition(expr(ExprKind::Timeout))],
                _ => self.guard(scope, Where { depth: 0, ..place }),
            };
            return statement(StatementKind::If(vec![choice(statements), choice(other)]));
        }
        let mut statements = statements;
        match (statements.len(), statements.pop()) {
            (1, Some(only)) => only,
            (_, last) => {
                statement(StatementKind::Block(sequence(statements.into_iter().chain(last).collect())))
            }
        }
    }

    /// A loop for the whole of a body, as servers have it.
    pub(super) fn server(&mut self, scope: &Scope, place: Where) -> Statement {
        let place = Where { looping: true, breaks: true, depth: place.depth.saturating_sub(1), ..place };
        let count = 2 + self.random.below(2);
        statement(StatementKind::Do((0..count).map(|_| choice(self.option(scope, place))).collect()))
    }

    /// A value that keeps `chosen` within few values: state spaces stay small.
    fn small_value(&mut self, scope: &Scope, chosen: &Chosen) -> Expr {
        let (low, high) = range(&chosen.ty, chosen.width);
        let own = value(chosen.reference.clone());
        match self.random.below(10) {
            0..=3 => self.constant(),
            4 if high - low <= 7 => binary(BinaryOp::Add, own, number(1)),
            4 | 5 => {
                let sum = binary(BinaryOp::Add, own, number(1));
                binary(BinaryOp::Mod, sum, number(self.random.between(2, 3)))
            }
            6 => {
                let inner = self.expression(scope, 2, &[]);
                binary(BinaryOp::BitAnd, inner, number(3))
            }
            7 if high - low <= 7 => self.expression(scope, 2, &[]),
            7 => binary(BinaryOp::Mod, self.expression(scope, 2, &[]), number(3)),
            _ => match self.readable(scope, &[]) {
                Some(other) => value(other.reference),
                None => self.constant(),
            },
        }
    }

    pub(super) fn assign(&mut self, scope: &Scope) -> Statement {
        let Some(chosen) = self.writable(scope) else { return skip() };
        let readable = scope.vars.iter().any(|v| v.name == chosen.base && v.readable);
        let with = if readable { self.small_value(scope, &chosen) } else { self.expression(scope, 1, &[]) };
        let with = if self.is_bit_cell(&chosen) { binary(BinaryOp::BitAnd, with, number(1)) } else { with };
        statement(StatementKind::Assign(chosen.reference, with))
    }

    /// An element of an array of bits that must stay 0 or 1.
    fn is_bit_cell(&self, chosen: &Chosen) -> bool {
        chosen.element && matches!(chosen.ty, TypeName::Bit | TypeName::Bool) && !self.knobs.wide_bits
    }

    /// `x++`, on types that wrap soon or after a guard that stops it.
    fn count(&mut self, scope: &Scope, place: Where) -> Statement {
        let Some(chosen) = self.writable(scope) else { return skip() };
        if !scope.vars.iter().any(|v| v.name == chosen.base && v.readable) {
            return skip();
        }
        if self.is_bit_cell(&chosen) {
            let flipped = binary(BinaryOp::Sub, number(1), value(chosen.reference.clone()));
            return statement(StatementKind::Assign(chosen.reference, flipped));
        }
        let (low, high) = range(&chosen.ty, chosen.width);
        let up = self.random.chance(60);
        let step = statement(if up {
            StatementKind::Increment(chosen.reference.clone())
        } else {
            StatementKind::Decrement(chosen.reference.clone())
        });
        if high - low <= 7 && !chosen.element || !place.looping && self.random.chance(50) {
            return step;
        }
        let op = if up { BinaryOp::Lt } else { BinaryOp::Gt };
        let bound = if up { self.random.between(1, 3) } else { 0 };
        let guard = condition(binary(op, value(chosen.reference), number(bound)));
        let other = choice(vec![statement(StatementKind::Else)]);
        statement(StatementKind::If(vec![choice(vec![guard, step]), other]))
    }

    /// An `if` or `do` that a `d_step` begins with, guarded by receives and conditions.
    fn first_choice(&mut self, scope: &Scope) -> Statement {
        let repeated = self.random.chance(40);
        let count = 1 + self.random.below(3);
        let mut choices = Vec::new();
        for _ in 0..count {
            let send = Where { d_step: true, depth: 0, ..NOWHERE };
            let send = self.usable(scope, send).and_then(|c| self.send_on(scope, &c));
            let mut body = vec![match (self.random.below(6), send) {
                (0, Some(send)) => send,
                (1 | 2, _) => condition(self.condition(scope, true)),
                _ => self.first_receive(scope),
            }];
            if self.random.chance(60) {
                body.push(self.assign(scope));
            }
            if repeated {
                body.push(statement(StatementKind::Break));
            }
            choices.push(choice(body));
        }
        if self.random.chance(20) {
            let mut body = vec![statement(StatementKind::Else)];
            body.extend(repeated.then(|| statement(StatementKind::Break)));
            choices.push(choice(body));
        }
        statement(if repeated { StatementKind::Do(choices) } else { StatementKind::If(choices) })
    }

    /// What an option begins with.
    fn guard(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        if !place.d_step && self.random.chance(self.knobs.timeout) {
            return vec![condition(expr(ExprKind::Timeout))];
        }
        match self.random.below(12) {
            0..=2 if !place.d_step => self.receive(scope, place),
            3 | 4 if !place.d_step => self.send(scope, place),
            5 if !place.d_step => vec![self.assign(scope)],
            6 if !place.d_step && place.depth > 0 => self.statement(scope, place),
            7 if !place.d_step => vec![skip()],
            8 if place.breaks && !place.d_step && self.random.chance(10) => {
                vec![statement(StatementKind::Break)]
            }
            0 if place.d_step => {
                let send = self.usable(scope, place).and_then(|c| self.send_on(scope, &c));
                vec![send.unwrap_or_else(|| condition(self.condition(scope, true)))]
            }
            _ => vec![condition(self.condition(scope, place.d_step))],
        }
    }

    fn option(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        let mut list = self.guard(scope, place);
        let more = self.random.below(3);
        for _ in 0..more {
            list.extend(self.statement(scope, place));
        }
        self.bare(&mut list);
        list
    }

    pub(super) fn selection(&mut self, scope: &Scope, place: Where) -> Statement {
        let count = 1 + self.random.below(3);
        let mut choices: Vec<Choice> = (0..count).map(|_| choice(self.option(scope, place))).collect();
        let with_else =
            if place.d_step { !self.random.chance(self.knobs.d_step_blocks) } else { self.random.chance(40) };
        if with_else {
            let mut body = vec![statement(StatementKind::Else)];
            if self.random.chance(50) {
                body.extend(self.statement(scope, Where { depth: 0, ..place }));
            }
            choices.insert(self.random.below(choices.len() + 1), choice(body));
        }
        statement(StatementKind::If(choices))
    }

    fn repetition(&mut self, scope: &Scope, place: Where) -> Statement {
        let place = Where { looping: true, breaks: true, ..place };
        let count = 1 + self.random.below(3);
        let mut choices = Vec::new();
        for _ in 0..count {
            let mut body = self.option(scope, place);
            if self.random.chance(25) {
                body.push(statement(StatementKind::Break));
            }
            choices.push(choice(body));
        }
        if self.random.chance(40) {
            let mut body = vec![statement(StatementKind::Else)];
            body.extend(match self.random.below(3) {
                0 => vec![statement(StatementKind::Break)],
                1 => vec![self.assign(scope)],
                _ => vec![self.assign(scope), statement(StatementKind::Break)],
            });
            choices.push(choice(body));
        } else if self.random.chance(20) {
            choices.push(choice(vec![statement(StatementKind::Break)]));
        }
        statement(StatementKind::Do(choices))
    }

    /// The first statement decides whether a `d_step` is executable. SPIN looks only at conditions,
    /// receives and sends there, and lets a `d_step` that begins with anything but these or an
    /// assignment run in the middle of a rendezvous; so it begins with one of those.
    fn d_step(&mut self, scope: &Scope, place: Where) -> Statement {
        let place = Where { d_step: true, atomic: true, gotos: false, breaks: false, ..place };
        let mut body = Vec::new();
        match self.random.below(10) {
            0 | 1 => body.push(condition(self.condition(scope, true))),
            2 => body.push(self.selection(scope, Where { depth: place.depth.min(1), ..place })),
            3 | 4 => body.push(self.first_receive(scope)),
            5 => body.push(self.first_choice(scope)),
            7 => body.push(self.count(scope, Where { looping: false, ..place })),
            8 if place.depth > 0 => body.extend(self.for_loop(scope, place)),
            6 => {
                let send = self.usable(scope, place).and_then(|c| self.send_on(scope, &c));
                body.push(send.unwrap_or_else(|| self.assign(scope)));
            }
            _ => body.push(self.assign(scope)),
        }
        let count = self.random.below(3);
        for _ in 0..count {
            body.extend(self.statement(scope, place));
        }
        statement(StatementKind::DStep(sequence(body)))
    }

    fn unless(&mut self, scope: &Scope, place: Where) -> Statement {
        let main_count = 1 + self.random.below(3);
        let main = self.statements(scope, place, main_count);
        let mut escape = match self.random.below(8) {
            0 | 1 => self.receive(scope, place),
            2 => self.send(scope, place),
            3 if !place.atomic && place.depth > 0 => vec![self.d_step(scope, place)],
            4 if place.depth > 0 => vec![self.selection(scope, Where { depth: 0, ..place })],
            5 if self.random.chance(50) => {
                self.statement(scope, Where { depth: place.depth.min(1), ..place })
            }
            _ => vec![condition(self.condition(scope, false))],
        };
        let more = self.random.below(2);
        for _ in 0..more {
            escape.extend(self.statement(scope, Where { depth: place.depth.min(1), ..place }));
        }
        let wrap = |generator: &mut Self, mut list: Vec<Statement>| {
            if list.len() == 1 && generator.random.chance(30) {
                return list.remove(0);
            }
            if !place.atomic && generator.random.chance(15) {
                return statement(StatementKind::Atomic(sequence(list)));
            }
            statement(StatementKind::Block(sequence(list)))
        };
        let main = wrap(self, main);
        let escape = wrap(self, escape);
        let whole = statement(StatementKind::Unless(Box::new(main), Box::new(escape)));
        // Alone in a block: SPIN refuses `unless` as an option's first statement.
        statement(StatementKind::Block(sequence(vec![whole])))
    }

    fn goto(&mut self) -> Statement {
        let label = format!("L{}", self.random.below(2));
        if !self.used_labels.contains(&label) {
            self.used_labels.push(label.clone());
        }
        statement(StatementKind::Goto(ident(&label)))
    }

    fn block(&mut self, scope: &Scope, place: Where) -> Statement {
        let variable = self.fresh("v");
        let (ty, width) = self.scalar_type();
        let init = self.random.chance(50).then(|| Initialiser::Expr(self.expression(scope, 1, &[])));
        let mut declaration = declare(ty.clone(), &variable, None, init);
        if let TypeName::Unsigned = ty {
            declaration.variables[0].width = Some(number(width as i32));
        }
        let mut inner = scope.clone();
        inner.vars.push(Var {
            name: variable,
            ty: Type::Scalar(ty, width),
            length: None,
            readable: true,
            writable: true,
        });
        let mut body = vec![statement(StatementKind::Declaration(declaration))];
        let count = 1 + self.random.below(3);
        body.extend(self.statements(&inner, place, count));
        statement(StatementKind::Block(sequence(body)))
    }

    fn for_loop(&mut self, scope: &Scope, place: Where) -> Vec<Statement> {
        let Some(counter) = self.counters.pop() else { return vec![self.assign(scope)] };
        let place = Where { looping: true, breaks: !place.d_step, ..place };
        let count = 1 + self.random.below(2);
        let body = sequence(self.statements(scope, place, count));
        let variable = name(&counter);
        self.counters.insert(0, counter);
        let arrays: Vec<String> = scope
            .vars
            .iter()
            .filter(|v| v.length.is_some() && matches!(v.ty, Type::Scalar(..)))
            .map(|v| v.name.clone())
            .collect();
        let messages = self.random.chance(70).then(|| self.messages(scope)).flatten();
        let kind = match self.random.pick(&arrays) {
            _ if messages.is_some() => {
                let (channel, message) = messages.unwrap_or_default();
                StatementKind::ForIn { variable: name(&message), collection: name(&channel), body }
            }
            Some(array) if self.random.chance(40) => {
                StatementKind::ForIn { variable, collection: name(&array.clone()), body }
            }
            _ => {
                let low = self.random.between(0, 1);
                let high = low + self.random.between(0, 2);
                StatementKind::ForRange { variable, from: number(low), to: number(high), body }
            }
        };
        vec![statement(kind)]
    }

    fn select(&mut self, scope: &Scope) -> Vec<Statement> {
        let plain = |v: &Var| v.writable && v.length.is_none() && matches!(v.ty, Type::Scalar(..));
        let chosen = scope.scalar(&mut self.random, &plain, &mut |_, _, _| number(0));
        let Some(chosen) = chosen else { return vec![skip()] };
        let (_, high) = range(&chosen.ty, chosen.width);
        let readable = scope.vars.iter().any(|v| v.name == chosen.base && v.readable);
        if matches!(chosen.ty, TypeName::Chan) || !readable {
            return vec![skip()];
        }
        let low = self.random.between(0, 1);
        let to = low + self.random.between(0, 2);
        // In its general form `select` counts up to the bound, which a narrow variable never reaches.
        let general = high >= 3 && self.random.chance(30);
        let to = if general { binary(BinaryOp::Add, number(to), number(0)) } else { number(to) };
        vec![statement(StatementKind::Select {
            variable: chosen.reference,
            from: number(low),
            to,
            in_inline: false,
        })]
    }

    fn print(&mut self, scope: &Scope) -> Statement {
        if !scope.mtypes.is_empty() && self.random.chance(30) {
            let constant = scope.mtypes[self.random.below(scope.mtypes.len())].clone();
            return statement(StatementKind::Printm(value(name(&constant))));
        }
        let arg = self.expression(scope, 1, &[]);
        statement(StatementKind::Printf("%d\\n".to_string(), vec![arg]))
    }
}

/// May values of the type be compared with any number?
fn is_number(ty: &TypeName) -> bool {
    use TypeName::{Bit, Bool, Byte, Int, Short, Unsigned};
    matches!(ty, Bit | Bool | Byte | Int | Short | Unsigned)
}
