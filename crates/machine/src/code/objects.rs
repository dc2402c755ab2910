//! Objects: how references are followed, and the instructions that work on objects.

use quotient_program as ir;
use quotient_program::{Allocation, Expr, Part, Place, Projection, RangeType, RecordId, Referent, Type};
use quotient_source::Span;

use super::calls::CallPlace;
use super::compile::Compiler;
use super::{CodeAt, Op, SiteAt};
use crate::explain::fault::{Fault, Site};
use crate::heap::operations::HeapOp;
use crate::state::cell::{Cell, size_of_type};
use crate::state::objects::LOCK_SIZE;

/// Following a reference: what can go wrong, and how elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) null: SiteAt,
    pub(crate) dangling: SiteAt,
    pub(crate) bounds: SiteAt,
    /// It is of another type.
    pub(crate) wrong: SiteAt,
    /// The type of an array.
    pub(crate) array: u32,
    pub(crate) header: u32,
    pub(crate) stride: u32,
}

impl Compiler<'_> {
    /// Code that gives new records and elements of new arrays their initial values.
    pub(super) fn object_inits(&mut self) {
        let program = self.program;
        for index in 0..program.records.len() as u32 {
            let code = self.record_init(RecordId(index));
            self.code.record_inits.push(code);
        }
        for array in &program.array_types {
            let init = ir::Init::Default;
            let Some(span) = self.any_span() else { continue };
            let ty = array.element.clone();
            let element = ir::Variable { name: String::new(), ty, init, scratch: false, span };
            let code = self.init_code(&[(&element, 0)]);
            self.code.element_inits.push(code);
        }
    }

    /// Some place of the program, for code that cannot fault.
    fn any_span(&self) -> Option<Span> {
        let functions = self.program.functions.iter().map(|f| f.span);
        // A program without functions has no threads and allocates nothing.
        functions.chain(self.program.globals.iter().map(|g| g.span)).next()
    }

    fn record_init(&mut self, id: RecordId) -> Option<CodeAt> {
        let program = self.program;
        let fields = self.layout.objects.records[id.0 as usize].fields.clone();
        let all: Vec<(&ir::Variable, u32)> = program
            .all_fields(id)
            .into_iter()
            .map(|f| (&program.record(f.0).fields[f.1 as usize], fields[&f]))
            .collect();
        self.init_code(&all)
    }

    /// Code that gives variables at bytes relative to the base their initial values; `None` when there is nothing to do.
    fn init_code(&mut self, variables: &[(&ir::Variable, u32)]) -> Option<CodeAt> {
        let start = self.here();
        for (variable, at) in variables {
            self.init(u32::MAX, variable, *at, true);
        }
        if self.here() == start {
            return None;
        }
        self.emit(Op::Return);
        Some(start)
    }

    /// Code that makes a channel for a variable, or for each element of an array, if these are references.
    pub(crate) fn init_channels(&mut self, kind: ir::ChannelTypeId, ty: &Type, at: u32, local: bool) {
        let (count, element) = match ty {
            Type::Array(element, length) => (*length, &**element),
            ty => (1, ty),
        };
        if *element == Type::Channel {
            return;
        }
        let cell = Cell::of(element);
        for index in 0..count {
            self.heap_action(HeapOp::New { what: Allocation::Channel(kind), negative: 0 });
            let at = at + index * cell.size();
            self.emit(if local { Op::StoreLocal(at, cell) } else { Op::StoreGlobal(at, cell) });
        }
    }

    pub(super) fn range_site(&mut self, range: RangeType, span: Span) -> SiteAt {
        self.site(Fault::Range { low: range.low, high: range.high }, span)
    }

    /// Before a store: brings the top into the range of the type, and notes that a reference may have been let go.
    pub(crate) fn before_store(&mut self, ty: &Type, span: Span) {
        match ty {
            Type::Range(range) => {
                let site = self.range_site(*range, span);
                self.code.ranges.push((*range, site));
                let index = self.code.ranges.len() as u32 - 1;
                self.emit(Op::Fit(index));
            }
            Type::Reference(_) | Type::Thread => {
                self.emit(Op::Touch);
            }
            _ => {}
        }
    }

    fn heap(&mut self, operation: HeapOp) {
        self.code.operations.push(operation);
        let index = self.code.operations.len() as u32 - 1;
        self.emit(Op::Heap(index));
    }

    /// Like [`Compiler::heap`], for what changes the draft.
    pub(super) fn heap_action(&mut self, operation: HeapOp) {
        self.code.operations.push(operation);
        let index = self.code.operations.len() as u32 - 1;
        self.emit(Op::HeapAction(index));
    }

    pub(super) fn text(&self, span: Span) -> String {
        self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Sites of null and of a deleted object.
    fn follow_sites(&mut self, span: Span) -> (SiteAt, SiteAt) {
        let text = self.text(span);
        (self.site(Fault::Null { text: text.clone() }, span), self.site(Fault::Dangling { text }, span))
    }

    pub(crate) fn object_expr(&mut self, function: u32, expr: &Expr) {
        let span = self.current_span();
        match expr {
            Expr::SelfThread => {
                self.emit(Op::SelfId);
                self.emit(Op::AddConst(1));
            }
            Expr::Function(id) => {
                self.emit(Op::Const(id.0 as i32 + 1));
            }
            Expr::Terminated(thread) => {
                self.expr(function, thread);
                let none = self.site(Fault::NoThread, span);
                self.heap(HeapOp::Terminated { none });
            }
            Expr::InstanceOf { reference, record, exact } => {
                self.expr(function, reference);
                self.heap(HeapOp::InstanceOf { record: record.0, exact: *exact });
            }
            Expr::Cast { reference, record } => {
                self.expr(function, reference);
                let name = self.program.record(*record).name.clone();
                let wrong = self.site(Fault::Cast { name }, span);
                let (_, dangling) = self.follow_sites(span);
                self.heap(HeapOp::Cast { record: record.0, wrong, dangling });
            }
            Expr::ArrayLength(array) => {
                self.expr(function, array);
                let (null, dangling) = self.follow_sites(span);
                self.heap(HeapOp::ArrayLength { null, dangling });
            }
            Expr::Lock(query, lock) => {
                self.expr(function, lock);
                let no_lock = self.site(Fault::NoLock, span);
                self.heap(HeapOp::LockQuery { query: *query, no_lock });
            }
            Expr::Reachable(from, to) => {
                self.operands(function, [&**from, &**to].into_iter());
                self.heap(HeapOp::Reachable);
            }
            Expr::Query { collection, operation, args } => {
                self.operands(function, std::iter::once(&**collection).chain(args));
                let operation = self.collection_op(*operation, args.len(), false, span);
                self.heap(operation);
            }
            _ => unreachable!("only expressions about objects come here"),
        }
    }

    /// Pushes several values; they wait on the stack.
    pub(super) fn operands<'e>(&mut self, function: u32, values: impl Iterator<Item = &'e Expr>) {
        let mut pushed = 0;
        for value in values {
            self.expr(function, value);
            self.nesting += 1;
            pushed += 1;
        }
        self.nesting -= pushed;
    }

    fn collection_op(&mut self, operation: u32, args: usize, update: bool, span: Span) -> HeapOp {
        let (null, _) = self.follow_sites(span);
        let refused = self.site(Fault::Refused { text: self.text(span) }, span);
        HeapOp::Collection { operation, args: args as u32, update, null, refused }
    }

    /// An action on objects, or a jump other than to a location.
    pub(crate) fn object_action(&mut self, function: u32, action: &ir::Action, place: &CallPlace) {
        let span = self.current_span();
        match action {
            ir::Action::New { result, what } => {
                let lengths = if let Allocation::Array(_, lengths) = what { &lengths[..] } else { &[] };
                let negative = self.site(Fault::Length, span);
                self.store(function, result, |c| {
                    c.operands(function, lengths.iter());
                    c.heap_action(HeapOp::New { what: what.clone(), negative });
                });
            }
            ir::Action::Delete(reference) => {
                self.expr(function, reference);
                let (null, dangling) = self.follow_sites(span);
                self.heap_action(HeapOp::Delete { null, dangling });
            }
            ir::Action::Lock(operation, lock) => {
                self.expr(function, lock);
                let misuse = self.site(Fault::Lock { text: self.text(span) }, span);
                let no_lock = self.site(Fault::NoLock, span);
                self.heap_action(HeapOp::Lock { operation: *operation, misuse, no_lock });
            }
            ir::Action::Update { collection, operation, args, result } => {
                let op = self.collection_op(*operation, args.len(), true, span);
                let update = |c: &mut Self| {
                    c.operands(function, std::iter::once(collection).chain(args));
                    c.heap_action(op);
                };
                match result {
                    Some(place) => self.store(function, place, update),
                    None => {
                        update(self);
                        self.emit(Op::Pop);
                    }
                }
            }
            ir::Action::Choose { result, choice } => match choice {
                ir::Choice::Range(low, high) => self.store(function, result, |c| {
                    c.operands(function, [low, high].into_iter());
                    c.heap_action(HeapOp::PickRange);
                }),
                ir::Choice::Members(collection) => {
                    let (null, _) = self.follow_sites(span);
                    self.store(function, result, |c| {
                        c.expr(function, collection);
                        c.heap_action(HeapOp::PickMember { null });
                    });
                }
            },
            ir::Action::Call { callee, args, result } => self.call(function, callee, args, result, place),
            ir::Action::Return(value) => {
                match value {
                    Some(value) => self.expr(function, value),
                    None => {
                        self.emit(Op::Const(0));
                    }
                }
                self.heap_action(HeapOp::Return);
            }
            ir::Action::Throw(reference) => {
                self.expr(function, reference);
                let (null, _) = self.follow_sites(span);
                // One site per record, in order: none of them may be shared with another throw.
                let unhandled = self.code.sites.len() as u32;
                for record in &self.program.records {
                    let fault = Fault::Unhandled { name: record.name.clone() };
                    self.code.sites.push(Site { fault, span });
                }
                self.heap_action(HeapOp::Throw { null, unhandled });
            }
            ir::Action::Assume(condition) => {
                self.expr(function, condition);
                self.code.assumes = true;
                self.heap_action(HeapOp::Assume);
            }
            ir::Action::EndThread => self.heap_action(HeapOp::EndThread),
            ir::Action::Halt => self.heap_action(HeapOp::Halt),
            _ => unreachable!("only actions on objects and jumps come here"),
        }
    }

    /// Pushes the byte position that an object's place starts with; gives the type there and how much of the path is done.
    pub(crate) fn object_place<'p>(
        &mut self,
        function: u32,
        reference: &Expr,
        referent: Referent,
        place: &'p Place,
    ) -> (Type, &'p [Projection]) {
        self.expr(function, reference);
        let (null, dangling) = self.follow_sites(place.span);
        let mut access = Access { null, dangling, bounds: null, wrong: null, array: 0, header: 0, stride: 0 };
        match (&place.path[..], referent) {
            ([Projection::Member(record, field), rest @ ..], _) => {
                let program = self.program;
                let records = &self.layout.objects.records;
                let offsets: Vec<u32> = (0..program.records.len())
                    .map(|r| records[r].fields.get(&(*record, *field)).copied().unwrap_or(u32::MAX))
                    .collect();
                access.wrong =
                    self.site(Fault::Cast { name: program.record(*record).name.clone() }, place.span);
                let access = self.access(access);
                self.code.members.push(offsets);
                self.code.member_parts.push(Part::Field(*record, *field));
                let table = self.code.members.len() as u32 - 1;
                self.emit(Op::MemberPlace(access, table));
                (program.record(*record).fields[*field as usize].ty.clone(), rest)
            }
            ([Projection::Index(index), rest @ ..], Referent::Array(id)) => {
                self.nesting += 1;
                self.expr(function, index);
                self.nesting -= 1;
                let array = &self.program.array_types[id.0 as usize];
                let element = array.element.clone();
                access.stride = size_of_type(self.program, &element);
                access.header = if array.lock { LOCK_SIZE } else { 0 };
                access.wrong = self.site(Fault::Cast { name: array.name.clone() }, place.span);
                access.array = id.0;
                access.bounds = self.site(Fault::Bounds { text: self.text(place.span) }, place.span);
                let access = self.access(access);
                self.emit(Op::ElementPlace(access));
                (element, rest)
            }
            _ => unreachable!("front ends give places that fit their types"),
        }
    }

    fn access(&mut self, access: Access) -> u32 {
        self.code.accesses.push(access);
        self.code.accesses.len() as u32 - 1
    }
}
