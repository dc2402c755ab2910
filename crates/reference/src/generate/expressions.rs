//! Random expressions.

use super::Generator;
use super::scope::*;
use crate::construct::*;
use quotient_promela::ast::*;

impl Generator {
    /// An index into an array of `length`, which does not read the variable `array` itself: SPIN
    /// restores `a[a[0]]` wrongly when it backtracks.
    pub(super) fn index(&mut self, scope: &Scope, length: usize, array: &str) -> Expr {
        let wild = self.random.chance(self.knobs.wild_index);
        if self.random.chance(60) {
            return number(if wild {
                *self.random.one(&[-1, length as i32])
            } else {
                self.random.below(length) as i32
            });
        }
        let simple = |v: &Var| {
            let small = match &v.ty {
                Type::Scalar(ty, width) => range(ty, *width).0 >= 0,
                Type::Struct(_) => false,
            };
            v.readable && v.length.is_none() && v.name != array && small
        };
        let chosen = scope.scalar(&mut self.random, &simple, &mut |_, _, _| number(0));
        match chosen {
            None => number(self.random.below(length) as i32),
            Some(chosen) if wild => value(chosen.reference),
            Some(chosen) => binary(BinaryOp::Mod, value(chosen.reference), number(length as i32)),
        }
    }

    /// A scalar to read.
    pub(super) fn readable(&mut self, scope: &Scope, not: &[String]) -> Option<Chosen> {
        let mut random = self.random.clone();
        let chosen = {
            let generator = &mut *self;
            scope.scalar(&mut random, &|v| v.readable && !not.contains(&v.name), &mut |random, n, array| {
                generator.random = random.clone();
                let index = generator.index_without(scope, n, array, not);
                *random = generator.random.clone();
                index
            })
        };
        self.random = random;
        chosen
    }

    fn index_without(&mut self, scope: &Scope, length: usize, array: &str, not: &[String]) -> Expr {
        if not.is_empty() {
            self.index(scope, length, array)
        } else {
            number(self.random.below(length) as i32)
        }
    }

    /// A scalar to write.
    pub(super) fn writable(&mut self, scope: &Scope) -> Option<Chosen> {
        let mut random = self.random.clone();
        let chosen = {
            let generator = &mut *self;
            scope.scalar(&mut random, &|v| v.writable, &mut |random, n, array| {
                generator.random = random.clone();
                let index = generator.index(scope, n, array);
                *random = generator.random.clone();
                index
            })
        };
        self.random = random;
        chosen
    }

    pub(super) fn constant(&mut self) -> Expr {
        let value = match self.random.below(12) {
            0 => 255,
            1 => -1,
            2 => 256,
            3 => 32767,
            _ => self.random.between(0, 3),
        };
        number(value)
    }

    /// An operand; never reads a variable in `not`.
    fn operand(&mut self, scope: &Scope, not: &[String]) -> Expr {
        match self.random.below(20) {
            0..=4 => self.constant(),
            5 if !scope.mtypes.is_empty() => {
                let index = self.random.below(scope.mtypes.len());
                value(name(&scope.mtypes[index]))
            }
            6 => value(name("_pid")),
            7 if self.random.chance(30) => value(name("_nr_pr")),
            8 => {
                let chans: Vec<Chan> = scope.chans.clone();
                match self.random.pick(&chans).cloned() {
                    Some(chan) => expr(ExprKind::Len(scope.channel(&mut self.random, &chan))),
                    None => self.constant(),
                }
            }
            _ => match self.readable(scope, not) {
                Some(chosen) => value(chosen.reference),
                None => self.constant(),
            },
        }
    }

    /// An arithmetic expression without side effect; never reads a variable in `not`.
    pub(super) fn expression(&mut self, scope: &Scope, depth: usize, not: &[String]) -> Expr {
        if depth == 0 || self.random.chance(40) {
            return self.operand(scope, not);
        }
        match self.random.below(14) {
            0..=3 => {
                let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul][self.random.below(3)];
                let left = self.expression(scope, depth - 1, not);
                binary(op, left, self.operand(scope, not))
            }
            4 | 5 => {
                let op = [BinaryOp::Div, BinaryOp::Mod][self.random.below(2)];
                let left = self.expression(scope, depth - 1, not);
                binary(op, left, number(self.random.between(1, 4)))
            }
            6 => {
                let op = [BinaryOp::Shl, BinaryOp::Shr][self.random.below(2)];
                let left = self.expression(scope, depth - 1, not);
                binary(op, left, number(self.random.between(0, 3)))
            }
            7 | 8 => {
                let op = [BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor][self.random.below(3)];
                let left = self.expression(scope, depth - 1, not);
                binary(op, left, self.operand(scope, not))
            }
            9 => {
                let op = [UnaryOp::Negate, UnaryOp::Complement, UnaryOp::Not][self.random.below(3)];
                expr(ExprKind::Unary(op, Box::new(self.expression(scope, depth - 1, not))))
            }
            10 | 11 => {
                let condition = self.comparison(scope, not);
                let yes = self.expression(scope, depth - 1, not);
                let no = self.operand(scope, not);
                expr(ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)))
            }
            _ => self.comparison(scope, not),
        }
    }

    pub(super) fn comparison(&mut self, scope: &Scope, not: &[String]) -> Expr {
        let ops = [
            BinaryOp::Eq,
            BinaryOp::Ne,
            BinaryOp::Lt,
            BinaryOp::Le,
            BinaryOp::Gt,
            BinaryOp::Ge,
            BinaryOp::Eq,
        ];
        let op = ops[self.random.below(ops.len())];
        let left = self.operand(scope, not);
        let right = if self.random.chance(70) {
            number(self.random.between(0, 3))
        } else {
            self.expression(scope, 1, not)
        };
        binary(op, left, right)
    }

    /// A condition for a statement: also channel tests, polls, remote references and `timeout`.
    pub(super) fn condition(&mut self, scope: &Scope, d_step: bool) -> Expr {
        if !d_step && self.random.chance(self.knobs.remote) && !scope.remotes.is_empty() {
            return self.remote(scope);
        }
        match self.random.below(12) {
            0 | 1 => self.channel_test(scope),
            2 => self.poll(scope),
            3 => {
                let op = [BinaryOp::And, BinaryOp::Or][self.random.below(2)];
                let left = self.comparison(scope, &[]);
                let right = if self.random.chance(50) {
                    self.comparison(scope, &[])
                } else {
                    self.channel_test(scope)
                };
                binary(op, left, right)
            }
            4 => expr(ExprKind::Unary(UnaryOp::Not, Box::new(self.comparison(scope, &[])))),
            5 => self.expression(scope, 2, &[]),
            _ => self.comparison(scope, &[]),
        }
    }

    fn channel_test(&mut self, scope: &Scope) -> Expr {
        let chans = scope.chans.clone();
        let Some(chan) = self.random.pick(&chans).cloned() else { return self.comparison(scope, &[]) };
        let reference = scope.channel(&mut self.random, &chan);
        expr(match self.random.below(4) {
            0 => ExprKind::Full(reference),
            1 => ExprKind::Empty(reference),
            2 => ExprKind::Nfull(reference),
            _ => ExprKind::Nempty(reference),
        })
    }

    /// `c?[…]`. Polling a rendezvous channel is an error.
    fn poll(&mut self, scope: &Scope) -> Expr {
        let all = self.random.chance(self.knobs.channel_faults);
        let chans: Vec<Chan> = scope.chans.iter().filter(|c| all || c.capacity > 0).cloned().collect();
        let Some(chan) = self.random.pick(&chans).cloned() else { return self.comparison(scope, &[]) };
        if chan.fields.iter().any(|f| matches!(f, TypeName::Named(_))) {
            return self.comparison(scope, &[]);
        }
        let args = chan
            .fields
            .iter()
            .map(|field| match self.random.below(3) {
                0 => ReceiveArg::Ignore(nowhere()),
                1 => ReceiveArg::Eval(self.operand(scope, &[]), nowhere()),
                _ => ReceiveArg::Constant(self.field_constant(scope, field)),
            })
            .collect();
        let channel = scope.channel(&mut self.random, &chan);
        expr(ExprKind::Poll { channel, any: self.random.chance(50), args })
    }

    pub(super) fn field_constant(&mut self, scope: &Scope, field: &TypeName) -> Expr {
        match field {
            TypeName::Mtype(_) if !scope.mtypes.is_empty() => {
                let index = self.random.below(scope.mtypes.len());
                value(name(&scope.mtypes[index]))
            }
            _ => number(self.random.between(0, 2)),
        }
    }

    fn remote(&mut self, scope: &Scope) -> Expr {
        let index = self.random.below(scope.remotes.len());
        let remote = scope.remotes[index].clone();
        let pid = if remote.only && self.random.chance(30) {
            None
        } else {
            Some(Box::new(number(remote.pid as i32)))
        };
        let proctype = ident(&remote.proctype);
        if !remote.labels.is_empty() && (remote.variables.is_empty() || self.random.chance(50)) {
            let label = ident(&remote.labels[self.random.below(remote.labels.len())]);
            let at = expr(ExprKind::RemoteLabel { proctype, pid, label });
            return if self.random.chance(40) {
                expr(ExprKind::Unary(UnaryOp::Not, Box::new(at)))
            } else {
                at
            };
        }
        match self.random.pick(&remote.variables).cloned() {
            Some(variable) => {
                let variable = name(&variable);
                let there = expr(ExprKind::RemoteVariable { proctype, pid, variable });
                binary(BinaryOp::Lt, there, number(self.random.between(1, 3)))
            }
            None => self.comparison(scope, &[]),
        }
    }
}
