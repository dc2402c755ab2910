//! Expressions to compact code.

use quotient_program as ir;
use quotient_program::{BinaryOp, Expr, Place, UnaryOp};
use quotient_source::Span;

use super::compile::{Compiler, PER_LEVEL, Taking};
use super::place::Simple;
use super::{Element, Leaf, Op, SiteAt};
use crate::explain::fault::Fault;
use crate::state::cell::Cell;

impl Compiler<'_> {
    pub(crate) fn expr(&mut self, function: u32, expr: &Expr) {
        self.nesting += 1;
        self.deepest = self.deepest.max(self.nesting * PER_LEVEL + 2);
        self.expr_inside(function, expr);
        self.nesting -= 1;
    }

    fn expr_inside(&mut self, function: u32, expr: &Expr) {
        match expr {
            Expr::Const(value) => {
                self.emit(Op::Const(*value));
            }
            Expr::Load(place) => self.load(function, place),
            Expr::Unary(op, a) => {
                self.expr(function, a);
                self.emit(match op {
                    UnaryOp::Not => Op::Not,
                    UnaryOp::Complement => Op::Complement,
                    UnaryOp::Negate => Op::Negate,
                });
            }
            Expr::Binary(op, a, b) => self.binary(function, *op, a, b),
            Expr::Conditional(c, a, b) => {
                self.expr(function, c);
                let to_else = self.emit(Op::JumpIfZero(0));
                self.expr(function, a);
                let to_end = self.emit(Op::Jump(0));
                self.code.ops[to_else] = Op::JumpIfZero(self.here());
                self.expr(function, b);
                self.code.ops[to_end] = Op::Jump(self.here());
            }
            Expr::SelfId => {
                self.emit(Op::SelfId);
            }
            Expr::ThreadCount => {
                self.emit(Op::ThreadCount);
            }
            Expr::Last => {
                self.emit(Op::Last);
            }
            Expr::Timeout => {
                self.emit(Op::Timeout);
            }
            Expr::Length(c) => self.channel_query(function, c, Op::Length),
            Expr::Full(c) => self.channel_query(function, c, Op::Full),
            Expr::Empty(c) => self.channel_query(function, c, Op::Empty),
            Expr::Poll { channel, any, patterns } => {
                self.expr(function, channel);
                let jump = self.emit(Op::Jump(0));
                let span = self.current_span();
                // A poll binds nothing: a variable stands for any value.
                let patterns: Vec<_> = patterns
                    .iter()
                    .map(|p| match p {
                        ir::Pattern::Match(e) => ir::Pattern::Match(e.clone()),
                        _ => ir::Pattern::Ignore,
                    })
                    .collect();
                let index = self.receive(function, 0, Taking { any: *any, peek: true }, &patterns, span);
                self.code.ops[jump] = Op::Jump(self.here());
                self.emit(Op::Poll(index));
            }
            Expr::At { thread, label } => {
                self.expr(function, thread);
                let label = self.program.labels[label.0 as usize];
                self.emit(Op::At { function: label.function.0, location: label.location.0 });
            }
            Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::NonProgress
            | Expr::Oldest(_)
            | Expr::Bound(_)
            | Expr::Count { .. } => self.claim_expr(function, expr),
            Expr::Priority(thread) => {
                self.expr(function, thread);
                self.emit(Op::Priority);
            }
            Expr::SelfThread
            | Expr::Terminated(_)
            | Expr::InstanceOf { .. }
            | Expr::Cast { .. }
            | Expr::ArrayLength(_)
            | Expr::Lock(..)
            | Expr::Query { .. }
            | Expr::Reachable(..)
            | Expr::Function(_) => self.object_expr(function, expr),
            Expr::Spanned(inner, span) => {
                let outer = self.span.replace(*span);
                self.expr(function, inner);
                self.span = outer;
            }
        }
    }

    pub(crate) fn current_span(&self) -> Span {
        // Every function, transformation and initialiser sets it before code is emitted.
        self.span.expect("code is compiled only inside something that has a place")
    }

    fn channel_query(&mut self, function: u32, channel: &Expr, op: fn(SiteAt) -> Op) {
        self.expr(function, channel);
        let site = self.site(Fault::NoChannel, self.current_span());
        self.emit(op(site));
    }

    fn binary(&mut self, function: u32, op: BinaryOp, a: &Expr, b: &Expr) {
        if !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Div | BinaryOp::Mod)
            && let Some(right) = self.leaf(function, b)
        {
            match self.leaf(function, a) {
                Some(left) => self.emit(Op::BinaryLeaves(op, left, right)),
                None => {
                    self.expr(function, a);
                    self.emit(Op::BinaryLeaf(op, right))
                }
            };
            return;
        }
        self.expr(function, a);
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let jump = self.emit(Op::Pop);
                self.expr(function, b);
                self.emit(Op::Truth);
                let end = self.here();
                self.code.ops[jump] = if op == BinaryOp::And { Op::AndThen(end) } else { Op::OrElse(end) };
                return;
            }
            _ => {}
        }
        self.expr(function, b);
        let op = match op {
            BinaryOp::Div => Op::Divide(self.site(Fault::Division, self.current_span())),
            BinaryOp::Mod => Op::Remainder(self.site(Fault::Division, self.current_span())),
            op => Op::Binary(op),
        };
        self.emit(op);
    }

    /// The operand that an expression is, if it needs no code of its own.
    fn leaf(&mut self, function: u32, expr: &Expr) -> Option<Leaf> {
        match expr {
            Expr::Const(value) => Some(Leaf::Const(*value)),
            Expr::SelfId => Some(Leaf::SelfId),
            Expr::Spanned(inner, _) => self.leaf(function, inner),
            Expr::Load(place) => {
                let Cell::U8(_) = Cell::of(&place.ty) else { return None };
                match self.simple(function, place) {
                    Simple::Fixed { local: true, at } => Some(Leaf::Local8(at)),
                    Simple::Fixed { local: false, at } => Some(Leaf::Global8(at)),
                    _ => self.element(function, place).map(Leaf::Element),
                }
            }
            _ => None,
        }
    }

    /// The number of an element of a byte array with a leaf as its index.
    pub(super) fn element(&mut self, function: u32, place: &Place) -> Option<u32> {
        let (Simple::Element { local, at, len, index }, Cell::U8(mask)) =
            (self.simple(function, place), Cell::of(&place.ty))
        else {
            return None;
        };
        let index = self.leaf(function, &index).filter(|l| !matches!(l, Leaf::Element(_)))?;
        let site = self.index_site(place, len);
        self.code.elements.push(Element { local, at, len, mask, site, index });
        Some(self.code.elements.len() as u32 - 1)
    }
}
