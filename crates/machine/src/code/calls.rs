//! Calls, exceptions and arguments: what a function is entered and left with.

use quotient_program as ir;
use quotient_program::{Expr, Place, RangeType, RecordId, Root, Type};
use quotient_source::Span;

use super::SiteAt;
use super::compile::Compiler;
use crate::explain::fault::Fault;
use crate::heap::operations::HeapOp;
use crate::state::cell::Cell;

/// A local that gets a value from outside: a parameter, or the result of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) at: u32,
    pub(crate) cell: Cell,
    pub(crate) range: Option<(RangeType, SiteAt)>,
}

impl Slot {
    /// The value it holds after an assignment, or the site of the fault.
    pub(crate) fn fit(&self, value: i32) -> Result<i32, SiteAt> {
        match self.range {
            None => Ok(value),
            Some((range, site)) => range.fit(value).ok_or(site),
        }
    }
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Target,
    /// Values on the stack: arguments, and the function of a call by value.
    pub(crate) operands: u32,
    /// Where it is made.
    pub(crate) location: u32,
    /// The location number of the caller while it waits.
    pub(crate) waiting: u32,
    /// Where the caller goes on.
    pub(crate) target: u32,
    pub(crate) result: Option<Slot>,
    pub(crate) keeps_control: bool,
    /// There is not a function to call.
    pub(crate) none: SiteAt,
    /// It has another number of parameters.
    pub(crate) arguments: SiteAt,
}

/// What a call calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Function(u32),
    Value,
    Virtual(u32),
}

/// A virtual table: the function for each record, or for each constant.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    Records(Vec<Option<u32>>),
    Constants(Vec<(i32, u32)>),
}

/// A compiled catch.
#[derive(Clone, Debug)]
pub(crate) struct Catch {
    pub(crate) record: u32,
    pub(crate) locations: Vec<u32>,
    /// Where the variable for the reference is in the frame.
    pub(crate) variable: Option<u32>,
    pub(crate) target: u32,
}

/// Where a transformation is: what a call made by it needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPlace {
    pub(crate) location: u32,
    pub(crate) target: u32,
    pub(crate) keeps_control: bool,
}

impl Compiler<'_> {
    /// The virtual tables.
    pub(super) fn virtual_tables(&mut self) {
        let program = self.program;
        self.code.tables = program
            .virtual_tables
            .iter()
            .enumerate()
            .map(|(index, table)| match &table.entries {
                ir::VirtualEntries::Constants(entries) => {
                    Table::Constants(entries.iter().map(|(value, f)| (*value, f.0)).collect())
                }
                ir::VirtualEntries::Records(_) => {
                    let of = |r: u32| program.virtual_function(ir::VirtualTableId(index as u32), RecordId(r));
                    Table::Records((0..program.records.len() as u32).map(|r| of(r).map(|f| f.0)).collect())
                }
            })
            .collect();
    }

    /// The parameters of a function, scalar by scalar.
    pub(super) fn params(&mut self, number: u32, function: &ir::Function) -> Vec<Slot> {
        let (program, layout) = (self.program, self.layout);
        let mut params = Vec::new();
        let Some(layout) = layout.threads.get(number as usize) else { return params };
        for (v, at) in function.locals[..function.params].iter().zip(&layout.locals) {
            let (mut types, mut at) = (Vec::new(), *at);
            program.scalar_types(&v.ty, &mut types);
            for ty in types {
                params.push(self.slot(ty, at, v.span));
                at += Cell::of(ty).size();
            }
        }
        params
    }

    /// The catches of a function.
    pub(super) fn catches(&self, number: u32, function: &ir::Function) -> Vec<Catch> {
        let Some(layout) = self.layout.threads.get(number as usize) else { return Vec::new() };
        let catches = function.catches.iter().map(|c| Catch {
            record: c.exception.0,
            locations: c.locations.iter().map(|l| l.0).collect(),
            variable: c.variable.map(|v| layout.locals[v.0 as usize]),
            target: c.target.0,
        });
        catches.collect()
    }

    fn slot(&mut self, ty: &Type, at: u32, span: Span) -> Slot {
        let range = match ty {
            Type::Range(range) => Some((*range, self.range_site(*range, span))),
            _ => None,
        };
        Slot { at, cell: Cell::of(ty), range }
    }

    pub(super) fn call(
        &mut self,
        function: u32,
        callee: &ir::Callee,
        args: &[Expr],
        result: &Option<Place>,
        place: &CallPlace,
    ) {
        let span = self.current_span();
        let (target, by_value) = match callee {
            ir::Callee::Function(id) => (Target::Function(id.0), None),
            ir::Callee::Value(value) => (Target::Value, Some(value)),
            ir::Callee::Virtual(table) => (Target::Virtual(table.0), None),
        };
        self.operands(function, by_value.into_iter().chain(args));
        let result = result.as_ref().and_then(|place| match place.root {
            Root::Local(v) => {
                let at = self.layout.threads[function as usize].locals[v.0 as usize];
                Some(self.slot(&place.ty, at, place.span))
            }
            // Front ends give whole locals.
            _ => None,
        });
        let call = self.code.calls.len() as u32;
        let locations = self.program.functions[function as usize].locations.len() as u32;
        let waiting = locations + call - self.first_call;
        let none = self.site(Fault::NoFunction { text: self.text(span) }, span);
        let arguments = self.site(Fault::Arguments { text: self.text(span) }, span);
        self.code.calls.push(Call {
            callee: target,
            operands: (args.len() + usize::from(by_value.is_some())) as u32,
            location: place.location,
            waiting,
            target: place.target,
            result,
            keeps_control: place.keeps_control,
            none,
            arguments,
        });
        self.heap_action(HeapOp::Call { call });
    }
}
