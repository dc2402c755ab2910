//! Compilation of what dynamic programs have: objects, calls, catches.

use quotient_program as ir;
use quotient_program::{
    Allocation, Expr, Part, Place, Projection, RangeType, RecordId, Referent, Root, Type,
};
use quotient_source::Span;

use super::kind::MOST_TYPES;
use super::operations::HeapOp;
use crate::code::{CodeAt, Op, SiteAt};
use crate::compile::Compiler;
use crate::fault::Fault;
use crate::layout::{Cell, size_of_type};

/// What only dynamic programs have.
#[derive(Clone, Debug, Default)]
pub(crate) struct DynamicCode {
    /// Code that gives a new record, or an element of a new array, its initial values.
    pub(crate) record_inits: Vec<Option<CodeAt>>,
    pub(crate) element_inits: Vec<Option<CodeAt>>,
    pub(crate) operations: Vec<HeapOp>,
    pub(crate) accesses: Vec<Access>,
    /// Where a field is, by the type of the object.
    pub(crate) members: Vec<Vec<u32>>,
    /// Which field that is.
    pub(crate) member_parts: Vec<Part>,
    pub(crate) ranges: Vec<(RangeType, SiteAt)>,
    pub(crate) calls: Vec<Call>,
    pub(crate) functions: Vec<FunctionCode>,
    pub(crate) tables: Vec<Table>,
}

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

/// What is needed to enter a function and to find its catches.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionCode {
    pub(crate) params: Vec<Slot>,
    pub(crate) catches: Vec<Catch>,
    /// Number of locations; location numbers from here on are waits for calls.
    pub(crate) locations: u32,
    /// Its calls, in the order of their location numbers.
    pub(crate) calls: Vec<u32>,
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

/// Why a program cannot be executed, in words.
pub(crate) fn refuse(program: &ir::Program) -> Option<String> {
    let types = [
        program.records.len(),
        program.array_types.len(),
        program.channel_types.len(),
        program.collection_types.len(),
    ];
    if types.iter().any(|n| *n > MOST_TYPES) {
        return Some(format!("more than {MOST_TYPES} types of objects"));
    }
    if program.functions.len() >= usize::from(u16::MAX) {
        return Some("more than 65534 functions".into());
    }
    None
}

impl Compiler<'_> {
    pub(crate) fn dynamic_tables(&mut self) {
        let program = self.program;
        self.code.dynamic.tables = program
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
        for function in &program.functions {
            let locations = function.locations.len() as u32;
            self.code.dynamic.functions.push(FunctionCode { locations, ..FunctionCode::default() });
        }
        for index in 0..program.functions.len() {
            let function = &program.functions[index];
            let layout = &self.layout.threads[index];
            let mut params = Vec::new();
            for (v, at) in function.locals[..function.params].iter().zip(&layout.locals) {
                let (mut types, mut at) = (Vec::new(), *at);
                program.scalar_types(&v.ty, &mut types);
                for ty in types {
                    params.push(self.slot(ty, at, v.span));
                    at += Cell::of(ty).size();
                }
            }
            let catches = function.catches.iter().map(|c| Catch {
                record: c.exception.0,
                locations: c.locations.iter().map(|l| l.0).collect(),
                variable: c.variable.map(|v| layout.locals[v.0 as usize]),
                target: c.target.0,
            });
            let catches = catches.collect();
            let code = &mut self.code.dynamic.functions[index];
            (code.params, code.catches) = (params, catches);
        }
        for index in 0..program.records.len() as u32 {
            let code = self.record_init(RecordId(index));
            self.code.dynamic.record_inits.push(code);
        }
        for array in &program.array_types {
            let init = ir::Init::Default;
            let Some(span) = self.any_span() else { continue };
            let ty = array.element.clone();
            let element = ir::Variable { name: String::new(), ty, init, scratch: false, span };
            let code = self.init_code(&[(&element, 0)]);
            self.code.dynamic.element_inits.push(code);
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
        let fields = self.segments.records[id.0 as usize].fields.clone();
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

    /// Code that makes a channel for a variable, or for each element of an array.
    pub(crate) fn init_channels(&mut self, kind: ir::ChannelTypeId, ty: &Type, at: u32, local: bool) {
        let (count, cell) = match ty {
            Type::Array(element, length) => (*length, Cell::of(element)),
            ty => (1, Cell::of(ty)),
        };
        for index in 0..count {
            self.heap_action(HeapOp::New { what: Allocation::Channel(kind), negative: 0 });
            let at = at + index * cell.size();
            self.emit(if local { Op::StoreLocal(at, cell) } else { Op::StoreGlobal(at, cell) });
        }
    }

    /// The functions of an ended thread and of no thread: one location, where nothing can be done.
    pub(crate) fn idle_functions(&mut self) {
        let init = self.here();
        self.emit(Op::Return);
        let nothing = self.code.transformations.len() as u32;
        let location = crate::code::Location {
            accept: false,
            progress: false,
            first: nothing,
            end: nothing,
            deterministic: false,
            committed: false,
            transient: false,
            valid_end: true,
            plain: false,
            direct: false,
        };
        let function =
            crate::code::Function { locations: vec![location], entry: 0, provided: None, priority: 1, init };
        self.code.functions.resize(self.program.functions.len() + 3, function);
    }

    fn slot(&mut self, ty: &Type, at: u32, span: Span) -> Slot {
        let range = match ty {
            Type::Range(range) => Some((*range, self.range_site(*range, span))),
            _ => None,
        };
        Slot { at, cell: Cell::of(ty), range }
    }

    fn range_site(&mut self, range: RangeType, span: Span) -> SiteAt {
        self.site(Fault::Range { low: range.low, high: range.high }, span)
    }

    /// Before a store: brings the top into the range of the type, and notes that a reference may have been let go.
    pub(crate) fn before_store(&mut self, ty: &Type, span: Span) {
        match ty {
            Type::Range(range) => {
                let site = self.range_site(*range, span);
                self.code.dynamic.ranges.push((*range, site));
                let index = self.code.dynamic.ranges.len() as u32 - 1;
                self.emit(Op::Fit(index));
            }
            Type::Reference(_) | Type::Thread => {
                self.emit(Op::Touch);
            }
            _ => {}
        }
    }

    fn heap(&mut self, operation: HeapOp) {
        self.code.dynamic.operations.push(operation);
        let index = self.code.dynamic.operations.len() as u32 - 1;
        self.emit(Op::Heap(index));
    }

    /// Like [`Compiler::heap`], for what changes the draft.
    fn heap_action(&mut self, operation: HeapOp) {
        self.code.dynamic.operations.push(operation);
        let index = self.code.dynamic.operations.len() as u32 - 1;
        self.emit(Op::HeapAction(index));
    }

    fn text(&self, span: Span) -> String {
        self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Sites of null and of a deleted object.
    fn follow_sites(&mut self, span: Span) -> (SiteAt, SiteAt) {
        let text = self.text(span);
        (self.site(Fault::Null { text: text.clone() }, span), self.site(Fault::Dangling { text }, span))
    }

    pub(crate) fn dynamic_expr(&mut self, function: u32, expr: &Expr) {
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
            _ => unreachable!("only expressions of dynamic programs come here"),
        }
    }

    /// Pushes several values; they wait on the stack.
    fn operands<'e>(&mut self, function: u32, values: impl Iterator<Item = &'e Expr>) {
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

    /// An action that only dynamic programs have.
    pub(crate) fn dynamic_action(&mut self, function: u32, action: &ir::Action, place: &CallPlace) {
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
                    self.code.sites.push(crate::fault::Site { fault, span });
                }
                self.heap_action(HeapOp::Throw { null, unhandled });
            }
            ir::Action::Assume(condition) => {
                self.expr(function, condition);
                self.heap_action(HeapOp::Assume);
            }
            ir::Action::EndThread => self.heap_action(HeapOp::EndThread),
            ir::Action::Halt => self.heap_action(HeapOp::Halt),
            _ => unreachable!("only actions of dynamic programs come here"),
        }
    }

    fn call(
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
        let call = self.code.dynamic.calls.len() as u32;
        let code = &mut self.code.dynamic.functions[function as usize];
        let waiting = code.locations + code.calls.len() as u32;
        code.calls.push(call);
        let none = self.site(Fault::NoFunction { text: self.text(span) }, span);
        let arguments = self.site(Fault::Arguments { text: self.text(span) }, span);
        self.code.dynamic.calls.push(Call {
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
                let segments = &self.segments;
                let offsets: Vec<u32> = (0..program.records.len())
                    .map(|r| segments.records[r].fields.get(&(*record, *field)).copied().unwrap_or(u32::MAX))
                    .collect();
                access.wrong =
                    self.site(Fault::Cast { name: program.record(*record).name.clone() }, place.span);
                let access = self.access(access);
                self.code.dynamic.members.push(offsets);
                self.code.dynamic.member_parts.push(Part::Field(*record, *field));
                let table = self.code.dynamic.members.len() as u32 - 1;
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
                access.header = if array.lock { super::segments::LOCK_SIZE } else { 0 };
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
        self.code.dynamic.accesses.push(access);
        self.code.dynamic.accesses.len() as u32 - 1
    }
}

/// Where a transformation is: what a call made by it needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPlace {
    pub(crate) location: u32,
    pub(crate) target: u32,
    pub(crate) keeps_control: bool,
}
