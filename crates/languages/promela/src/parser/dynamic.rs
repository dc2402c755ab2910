//! dSPIN's extensions: pointers, `new`, `delete`, functions.
//!
//! The words `function`, `ftype`, `new`, `delete` and `null` are not reserved words: they mean something only where nothing
//! else could stand.

use quotient_source::Diagnostic;

use super::expression::Tall;
use super::{Parse, Parser};
use crate::ast::{
    CallTarget, DynamicStatement, Expr, ExprKind, Function, Ident, NewObject, PointerValue, StatementKind,
    TypeName,
};
use crate::token::{Kind, is_keyword};

impl Parser<'_> {
    /// Whether a type is followed by a declaration of a pointer.
    pub(super) fn at_pointer_name(&self) -> bool {
        self.ahead(1).is("&") && self.ahead(2).word().is_some()
    }

    /// Whether `function f(` stands here.
    pub(super) fn at_function(&self) -> bool {
        self.is_word("function") && self.ahead(1).word().is_some() && self.ahead(2).is("(")
    }

    /// Whether a call of a function, or through a variable or field of type `ftype`, stands here.
    pub(super) fn at_function_call(&self) -> bool {
        let named = self.word().is_some_and(|w| self.functions.contains(w));
        (named && self.ahead(1).is("(")) || self.at_field_call()
    }

    /// Whether `a.b[i].f(` stands here, with `f` a field of type `ftype`.
    fn at_field_call(&self) -> bool {
        let mut at = 0;
        loop {
            let Some(word) = self.ahead(at).word().filter(|w| !is_keyword(w)) else { return false };
            at += 1;
            if self.ahead(at).is("[") {
                let mut open = 0;
                loop {
                    let token = self.ahead(at);
                    if matches!(token.kind, Kind::End | Kind::Punct(";" | "{" | "}")) {
                        return false;
                    }
                    open += i32::from(token.is("[")) - i32::from(token.is("]"));
                    at += 1;
                    if open == 0 {
                        break;
                    }
                }
            }
            if !self.ahead(at).is(".") {
                return self.ahead(at).is("(") && self.functions.contains(word);
            }
            at += 1;
        }
    }

    /// `function f(int x; T &o) : int { … }`.
    pub(super) fn function(&mut self) -> Parse<Function> {
        self.dynamic = true;
        let start = self.span();
        self.bump();
        let name = self.name("a name for the function")?;
        self.expect("(", "after the name of the function")?;
        let params = self.parameters()?;
        let mut returns = None;
        if self.take(":") {
            let ty = self.type_name()?;
            returns = Some(if self.take("&") { TypeName::Pointer(Box::new(ty)) } else { ty });
        }
        let span = start.to(self.previous);
        self.in_function = true;
        let body = self.body("the body of the function");
        self.in_function = false;
        let (body, end) = body?;
        Ok(Function { name, params, returns, body, span, end })
    }

    /// `&p`, as an operand.
    pub(super) fn address(&mut self) -> Parse<Tall> {
        let start = self.span();
        self.bump();
        let reference = self.reference()?;
        let span = start.to(self.previous);
        let height = self.leaf_height + 1;
        Ok(Tall { expr: Expr { kind: ExprKind::Address(reference), span }, height })
    }

    /// A statement that starts with `&`: an assignment to a pointer, or a condition.
    pub(super) fn starts_with_address(&mut self) -> Parse<StatementKind> {
        let first = self.address()?;
        if !self.is("=") {
            let Tall { expr, .. } = self.expression_after(first)?;
            return Ok(StatementKind::Expr(expr));
        }
        self.bump();
        let ExprKind::Address(to) = first.expr.kind else {
            return Err(self.expected("a pointer", "before `=`"));
        };
        if self.is_word("new") && self.ahead(1).word().is_some() {
            let object = self.new_object()?;
            return Ok(dynamic(DynamicStatement::Point(to, PointerValue::New(object))));
        }
        if self.at_function_call() {
            return self.call(Some(CallTarget { reference: to, pointer: true }));
        }
        let value = self.expression()?;
        Ok(dynamic(DynamicStatement::Point(to, PointerValue::Expr(value))))
    }

    /// `new T`, `new T[n]`, `new chan = [n] of { … }`.
    fn new_object(&mut self) -> Parse<NewObject> {
        let start = self.span();
        self.bump();
        let ty = self.type_name()?;
        let object = if ty == TypeName::Chan {
            self.expect("=", "after `new chan`")?;
            let at = self.span();
            NewObject::Channel(self.channel_initialiser(at)?)
        } else {
            let mut length = None;
            if self.take("[") {
                length = Some(self.expression()?);
                self.expect("]", "after the number of elements")?;
            }
            NewObject::Elements { ty, length, span: start.to(self.previous) }
        };
        // The name of a type ends no statement elsewhere.
        self.line_end = self.in_sequence && self.parentheses == 0 && self.token().line_start;
        Ok(object)
    }

    /// `delete(&p)`.
    pub(super) fn delete(&mut self) -> Parse<StatementKind> {
        self.bump();
        let open = self.span();
        self.expect("(", "after `delete`")?;
        if !self.is("&") {
            let diagnostic = self.error_here("`delete` takes a pointer").help("write `delete(&p)`");
            return Err(self.report(diagnostic));
        }
        let pointer = self.expression()?;
        self.close_parenthesis(open)?;
        Ok(dynamic(DynamicStatement::Delete(pointer)))
    }

    /// `f(args)`, with its value going to `result`.
    pub(super) fn call(&mut self, result: Option<CallTarget>) -> Parse<StatementKind> {
        let callee = self.reference()?;
        self.dynamic = true;
        let open = self.span();
        self.expect("(", "after the name of the function")?;
        let mut args = Vec::new();
        while !self.is(")") {
            args.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.close_parenthesis(open)?;
        Ok(dynamic(DynamicStatement::Call { callee, args, result }))
    }

    /// `return` of a function.
    pub(super) fn function_return(&mut self) -> Parse<StatementKind> {
        let value = match self.kind() {
            Kind::LineEnd | Kind::End | Kind::Punct(";" | "}" | "::" | "->") => None,
            Kind::Word(word) if matches!(&**word, "fi" | "od") => None,
            _ => Some(self.expression()?),
        };
        Ok(dynamic(DynamicStatement::Return(value)))
    }

    /// A call in the middle of an expression.
    pub(super) fn refuse_call_in_expression(&mut self, name: &Ident) -> super::Reported {
        self.report(
            Diagnostic::error(name.span, "a function cannot be called inside an expression")
                .help(format!("a call takes steps of its own: write `x = {}(…)`, then use `x`", name.name)),
        )
    }
}

fn dynamic(statement: DynamicStatement) -> StatementKind {
    StatementKind::Dynamic(Box::new(statement))
}
