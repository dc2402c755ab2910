//! Calls.

use quotient_program::{Action, Callee, Expr, Place, Root, VirtualEntries};

use super::types::Ty;
use super::{Item, Lower};
use crate::ast::{self, Invoke};

impl Lower<'_> {
    /// The actions of a call; the last one is the call itself.
    pub(super) fn invoke(&mut self, invoke: &Invoke) -> Option<Vec<Action>> {
        let mut actions = Vec::new();
        let (callee, args, returns) = match self.names.get(&invoke.target.text).cloned() {
            Some(Item::Function(id)) if !invoke.is_virtual => {
                let args =
                    self.call_arguments(id, &invoke.target.text, &invoke.args, invoke.span, &mut actions)?;
                let returns = self.signatures.get(&id)?.returns.clone();
                (Callee::Function(id), args, returns)
            }
            Some(Item::Virtual(id)) => {
                let table = &self.program.virtual_tables[id.0 as usize].entries;
                let first = match table {
                    VirtualEntries::Records(entries) => entries.first().map(|(_, f)| *f),
                    VirtualEntries::Constants(entries) => entries.first().map(|(_, f)| *f),
                }?;
                let (args, returns) = self.virtual_arguments(invoke, id, first, &mut actions)?;
                (Callee::Virtual(id), args, returns)
            }
            Some(other) => {
                let what = other.what();
                let target = &invoke.target;
                let message = match other {
                    Item::Function(_) => format!("`{}` is a function, not a virtual table", target.text),
                    _ => format!("`{}` is {what} and cannot be called", target.text),
                };
                let d = self.error(target.span, message);
                match other {
                    Item::Function(_) => d.help("leave out `virtual`: it is called directly"),
                    Item::Thread(_) => d.help("threads are started: `start T(…);`"),
                    Item::Fun(_) => d.help("a fun is used in expressions: `x := f(…);`"),
                    _ => d,
                };
                return None;
            }
            None => {
                self.unknown(&invoke.target, "function");
                return None;
            }
        };
        let result = match &invoke.result {
            None => None,
            Some(e) => Some(self.result_place(e, returns.as_ref(), &invoke.target)?),
        };
        actions.push(Action::Call { callee, args, result });
        Some(actions)
    }

    /// Where the result goes: a local, since other variables may change while the call runs.
    fn result_place(&mut self, e: &ast::Expr, returns: Option<&Ty>, target: &ast::Name) -> Option<Place> {
        let (place, ty) = self.place(e)?;
        let Some(returns) = returns else {
            self.error(e.span, format!("`{}` returns nothing", target.text));
            return None;
        };
        if !self.fits(returns, &ty) {
            self.mismatch(e.span, returns, &ty);
        }
        if !matches!(place.root, Root::Local(_)) {
            self.error(e.span, "the result of a call goes to a local variable")
                .help("store it in a local first and assign that in the next step");
            return None;
        }
        Some(place)
    }

    /// The first argument decides which function is meant: it must have an entry, itself or through what it extends.
    fn virtual_arguments(
        &mut self,
        invoke: &Invoke,
        table: quotient_program::VirtualTableId,
        first: quotient_program::FunctionId,
        actions: &mut Vec<Action>,
    ) -> Option<(Vec<Expr>, Option<Ty>)> {
        let signature = self.signatures.get(&first)?.clone();
        if signature.params.len() != invoke.args.len() {
            self.wrong_count(invoke.span, &invoke.target.text, signature.params.len(), invoke.args.len());
            return None;
        }
        let mut values = Vec::new();
        for (position, (arg, ty)) in invoke.args.iter().zip(&signature.params).enumerate() {
            let (value, found) = self.argument(arg, actions);
            if position > 0 {
                values.push(self.coerce(arg.span, value, &found, ty));
                continue;
            }
            let entries = self.program.virtual_tables[table.0 as usize].entries.clone();
            match (&entries, &found) {
                (_, Ty::Error) | (VirtualEntries::Constants(_), Ty::Enum(_)) => {}
                (VirtualEntries::Records(_), Ty::Record(record)) => {
                    // Every record that the reference can lead to must have an entry.
                    let heirs = (0..self.program.records.len() as u32).map(quotient_program::RecordId);
                    let missing = heirs
                        .filter(|r| self.program.extends(*r, *record))
                        .find(|r| self.program.virtual_function(table, *r).is_none());
                    if let Some(missing) = missing {
                        let name = self.program.record(missing).name.clone();
                        let message = format!(
                            "the virtual table `{}` has no entry for the record `{name}`",
                            invoke.target.text
                        );
                        self.error(arg.span, message)
                            .help("add an entry for it or for a record that it extends");
                    }
                }
                (_, other) => {
                    let shown = self.show(other);
                    self.error(
                        arg.span,
                        format!("a virtual call does not dispatch on a value of type {shown}"),
                    );
                }
            }
            values.push(value);
        }
        Some((values, signature.returns))
    }
}
