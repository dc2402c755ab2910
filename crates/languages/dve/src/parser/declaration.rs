//! Variables, constants and channels.

use quotient_formula::Parse;

use super::Parser;
use crate::ast::{Channel, Init, Type, Variable};
use crate::token::Kind;

impl Parser<'_> {
    fn ty(&mut self) -> Parse<Type> {
        match () {
            () if self.eat("byte") => Ok(Type::Byte),
            () if self.eat("int") => Ok(Type::Int),
            () => Err(self.unexpected("`byte` or `int`", "DVE has no other types")),
        }
    }

    /// `const byte a = 1, b[3] = {1, 2, 3};`
    pub(super) fn variables(&mut self, out: &mut Vec<Variable>) -> Parse<()> {
        let constant = self.eat("const");
        let ty = self.ty()?;
        loop {
            let name = self.name("the name of a variable")?;
            let mut length = None;
            if self.eat("[") {
                length = Some(self.expression()?);
                self.expect("]", "")?;
                if self.is("[") {
                    return Err(self.unexpected("`;`", "arrays have one dimension"));
                }
            }
            let init = if self.eat("=") { Some(self.init()?) } else { None };
            out.push(Variable { constant, ty, name, length, init });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "declarations end with `;`")?;
        Ok(())
    }

    fn init(&mut self) -> Parse<Init> {
        if !self.is("{") {
            return self.expression().map(Init::One);
        }
        self.braced_list().map(Init::List)
    }

    /// `{e, …}`
    pub(super) fn braced_list(&mut self) -> Parse<Vec<crate::ast::Expr>> {
        self.expect("{", "")?;
        let mut list = vec![self.expression()?];
        while self.eat(",") {
            list.push(self.expression()?);
        }
        self.expect("}", "close the list with `}`")?;
        Ok(list)
    }

    /// `channel a, b;` or `channel {byte, int} c[3];`
    pub(super) fn channels(&mut self, out: &mut Vec<Channel>) -> Parse<()> {
        self.bump();
        let mut types = None;
        if self.eat("{") {
            let mut list = vec![self.ty()?];
            while self.eat(",") {
                list.push(self.ty()?);
            }
            self.expect("}", "close the list of types with `}`")?;
            types = Some(list);
        }
        loop {
            let name = self.name("the name of a channel")?;
            let mut capacity = None;
            if self.is("[") {
                let bracket = self.bump().span;
                let Kind::Number(number) = self.token().kind else {
                    return Err(self.unexpected("a number", "the number of messages that the channel holds"));
                };
                let span = bracket.to(self.bump().span);
                self.expect("]", "")?;
                if types.is_none() {
                    let message = format!("`{}` holds messages, so their types must be known", name.text);
                    return Err(self.error(span, message, "write `channel {byte} c[2];`"));
                }
                capacity = Some(number);
            } else if types.is_some() {
                return Err(self.unexpected(
                    "`[`",
                    "a channel with types has a size: `channel {byte} c[2];`, or 0 for a rendezvous",
                ));
            }
            out.push(Channel { name, types: types.clone(), capacity });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "declarations end with `;`")?;
        Ok(())
    }
}
