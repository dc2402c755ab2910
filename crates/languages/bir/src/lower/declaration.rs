//! Declarations: constants, enumerations, records, variables, headers of threads and functions, virtual tables.

use std::collections::HashMap;
use std::rc::Rc;

use quotient_program::{
    Enumeration, EnumerationId, Expr, Function, FunctionId, Init, LocationId, Record, RecordId, Variable,
    VariableId, VirtualEntries, VirtualTable, VirtualTableId,
};
use quotient_source::{Diagnostic, Span};

use super::types::Ty;
use super::{Fun, Item, Lower, Signature, Value};
use crate::ast::{self, ExprKind, Member, System};

/// More threads than this at the start are surely a mistake.
const MAX_ACTIVE: i32 = 200;

impl Lower<'_> {
    /// Translates a whole system. Names come first, then types, then signatures, then bodies: a system may use what it
    /// declares later.
    pub(super) fn system(&mut self, system: &System) {
        let mut bodies = Vec::new();
        for member in &system.members {
            self.declare(member);
        }
        self.constants(system);
        self.records(system);
        self.declare_extensions(system);
        self.record_fields(system);
        for member in &system.members {
            match member {
                Member::Global(variable) => self.global(variable),
                Member::Alias(alias) => {
                    self.ty(&alias.ty);
                }
                Member::Fun(fun) => self.fun_header(fun),
                Member::Thread(t) => self.header(&t.name, &t.params, None),
                Member::Function(f) => self.header(&f.name, &f.params, f.returns.as_ref()),
                _ => {}
            }
        }
        for member in &system.members {
            match member {
                Member::Virtual(table) => self.virtual_table(table),
                Member::Fun(fun) => self.check_fun(fun),
                _ => {}
            }
        }
        for member in &system.members {
            match member {
                Member::Thread(t) => bodies.push((&t.name, &t.params, &t.locals, &t.body, true)),
                Member::Function(f) => bodies.push((&f.name, &f.params, &f.locals, &f.body, false)),
                _ => {}
            }
        }
        for (name, params, locals, body, is_thread) in bodies {
            self.function_body(name, params, locals, body, is_thread);
        }
        self.initial_threads(system);
        if self.lock_arrays {
            self.program.array_types.iter_mut().for_each(|t| t.lock = true);
        }
    }

    fn insert(&mut self, name: &ast::Name, item: Item) {
        if let Some(first) = self.spans.get(&name.text).copied() {
            let what = self.names[&name.text].what();
            self.error(name.span, format!("`{}` is declared twice", name.text))
                .related(first, format!("first declared here, as {what}"))
                .help("all declarations of a system share one namespace; choose another name");
            return;
        }
        self.spans.insert(name.text.clone(), name.span);
        self.names.insert(name.text.clone(), item);
    }

    fn declare(&mut self, member: &Member) {
        match member {
            Member::Const(block) => {
                let index = self.constants.len();
                self.constants.push((block.name.text.clone(), HashMap::new()));
                self.insert(&block.name, Item::Const(index));
            }
            Member::Enum(e) => {
                let id = EnumerationId(self.program.enumerations.len() as u32);
                let mut constants: Vec<(String, i32)> = Vec::new();
                for element in &e.elements {
                    if constants.iter().any(|(n, _)| **n == *element.text) {
                        self.error(element.span, format!("the element `{}` is declared twice", element.text));
                    }
                    constants.push((element.text.to_string(), constants.len() as i32));
                }
                if constants.is_empty() {
                    self.error(e.name.span, "an enumeration needs at least one element")
                        .help("write `enum Colour { red, green }`");
                }
                self.program.enumerations.push(Enumeration { name: e.name.text.to_string(), constants });
                self.insert(&e.name, Item::Enum(id));
            }
            Member::Record(r) => {
                let id = RecordId(self.program.records.len() as u32);
                self.program.records.push(Record {
                    name: r.name.text.to_string(),
                    parents: Vec::new(),
                    fields: Vec::new(),
                    lock: false,
                    throwable: r.throwable,
                    span: r.name.span,
                });
                self.field_types.push(Vec::new());
                self.insert(&r.name, Item::Record(id));
            }
            Member::Extension(e) => {
                let index = self.new_extension(e);
                self.insert(&e.name, Item::Extension(index));
            }
            Member::Alias(a) => {
                self.aliases.push(a.clone());
                self.insert(&a.name, Item::Alias(self.aliases.len() - 1));
            }
            Member::Global(v) => {
                let id = VariableId(self.program.globals.len() as u32);
                self.program.globals.push(Variable {
                    name: v.name.text.to_string(),
                    ty: quotient_program::Type::Int(quotient_program::IntType::INT),
                    init: Init::Default,
                    scratch: false,
                    span: v.name.span,
                });
                self.globals.push(Ty::Error);
                self.insert(&v.name, Item::Global(id));
            }
            Member::Thread(t) => {
                let id = self.new_function(&t.name);
                self.insert(&t.name, Item::Thread(id));
            }
            Member::Function(f) => {
                let id = self.new_function(&f.name);
                self.insert(&f.name, Item::Function(id));
            }
            Member::Virtual(v) => {
                let id = VirtualTableId(self.program.virtual_tables.len() as u32);
                let entries = VirtualEntries::Records(Vec::new());
                self.program.virtual_tables.push(VirtualTable { name: v.name.text.to_string(), entries });
                self.insert(&v.name, Item::Virtual(id));
            }
            Member::Fun(f) => {
                let fun = Fun {
                    declaration: Rc::new(f.clone()),
                    params: Vec::new(),
                    returns: Ty::Error,
                    valid: false,
                };
                self.funs.push(fun);
                self.insert(&f.name, Item::Fun(self.funs.len() - 1));
            }
        }
    }

    fn new_function(&mut self, name: &ast::Name) -> FunctionId {
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            name: name.text.to_string(),
            params: 0,
            locals: Vec::new(),
            dead_at_start: Vec::new(),
            locations: Vec::new(),
            entry: LocationId(0),
            provided: None,
            priority: 0,
            catches: Vec::new(),
            span: name.span,
        });
        id
    }

    /// Constants, with their new values from the command line. A constant may be given by another one.
    fn constants(&mut self, system: &System) {
        let blocks = system.members.iter().filter_map(|m| match m {
            Member::Const(block) => Some(block),
            _ => None,
        });
        let mut used = vec![false; self.options.constants.len()];
        for (index, block) in blocks.enumerate() {
            for element in &block.elements {
                if self.constants[index].1.contains_key(&element.name.text) {
                    self.error(
                        element.name.span,
                        format!("the constant `{}` is declared twice", element.name.text),
                    );
                    continue;
                }
                let Some(mut value) = self.constant_value(&element.value) else { continue };
                if let Some(ty) = &element.ty {
                    let ty = self.ty(ty);
                    self.check_constant(element.value.span, &value, &ty);
                    value.ty = ty;
                }
                let qualified = format!("{}.{}", block.name.text, element.name.text);
                let given = self
                    .options
                    .constants
                    .iter()
                    .rposition(|(name, _)| **name == *element.name.text || *name == qualified);
                if let Some(given) = given {
                    used[given] = true;
                    self.override_constant(element, &mut value, given);
                }
                self.constants[index].1.insert(element.name.text.clone(), value);
            }
        }
        for (given, used) in used.into_iter().enumerate() {
            let name = &self.options.constants[given].0;
            let overridden = self.options.constants[given + 1..].iter().any(|(n, _)| n == name);
            if !used && !overridden {
                let d =
                    Diagnostic::global(format!("the system has no constant `{name}` that -D could change"))
                        .help(
                            "-D changes an element of a `const` block: `const Size { N = 3; }` and `-D N=5`",
                        );
                self.diagnostics.start(d);
            }
        }
    }

    fn override_constant(&mut self, element: &ast::Constant, value: &mut Value, given: usize) {
        let text = self.options.constants[given].1.trim().to_owned();
        let parsed = match value.ty {
            Ty::Int(_) => text.parse::<i32>().ok(),
            Ty::Boolean => match text.as_str() {
                "true" | "1" => Some(1),
                "false" | "0" => Some(0),
                _ => None,
            },
            _ => None,
        };
        match parsed {
            Some(parsed) => {
                value.value = parsed;
                let ty = value.ty.clone();
                self.check_constant(element.name.span, value, &ty);
            }
            None => {
                let ty = self.show(&value.ty);
                self.error(
                    element.name.span,
                    format!("`{text}` cannot be the value of this constant of type {ty}"),
                )
                .help("-D gives integer and boolean constants new values");
            }
        }
    }

    /// The value of a literal, or of a constant or element of an enumeration.
    pub(super) fn constant_value(&mut self, e: &ast::Expr) -> Option<Value> {
        match &e.kind {
            ExprKind::Integer(value, _) => match i32::try_from(*value) {
                Ok(value) => Some(Value { value, ty: Ty::Int(None) }),
                Err(_) => {
                    self.error(e.span, format!("`{value}` does not fit into 32 bits"));
                    None
                }
            },
            ExprKind::Boolean(b) => Some(Value { value: i32::from(*b), ty: Ty::Boolean }),
            ExprKind::Null => Some(Value { value: 0, ty: Ty::Null }),
            ExprKind::String(text) => Some(Value { value: self.string(text), ty: Ty::String }),
            ExprKind::Unary(op, inner) => {
                let mut value = self.constant_value(inner)?;
                if *op == ast::Unary::Minus {
                    value.value = value.value.wrapping_neg();
                }
                Some(value)
            }
            ExprKind::Cast(ty, inner) => {
                let value = self.constant_value(inner)?;
                let ty = self.ty(ty);
                self.check_constant(e.span, &value, &ty);
                Some(Value { ty, ..value })
            }
            ExprKind::Field(base, element) => match &base.kind {
                ExprKind::Name(block) => self.qualified(block, element),
                _ => None,
            },
            ExprKind::Real(..) => {
                self.error(e.span, "real numbers are not supported").help("use an `int` with a fixed unit");
                None
            }
            _ => None,
        }
    }

    /// `Block.N` or `Enumeration.element`.
    pub(super) fn qualified(&mut self, block: &ast::Name, element: &ast::Name) -> Option<Value> {
        match self.names.get(&block.text).cloned() {
            Some(Item::Const(index)) => {
                let found = self.constants[index].1.get(&element.text).cloned();
                if found.is_none() {
                    let mut all: Vec<&str> = self.constants[index].1.keys().map(|n| &**n).collect();
                    all.sort_unstable();
                    let help = match all.as_slice() {
                        [] => "a constant is declared before it is used by others".to_owned(),
                        all => format!("its constants are {}", all.join(", ")),
                    };
                    self.error(element.span, format!("`{}` has no constant `{}`", block.text, element.text))
                        .help(help);
                }
                found
            }
            Some(Item::Enum(id)) => {
                let enumeration = &self.program.enumerations[id.0 as usize];
                let found = enumeration.constants.iter().find(|(n, _)| **n == *element.text).map(|(_, v)| *v);
                match found {
                    Some(value) => Some(Value { value, ty: Ty::Enum(id) }),
                    None => {
                        let all: Vec<&str> = enumeration.constants.iter().map(|(n, _)| n.as_str()).collect();
                        let help = format!("its elements are {}", all.join(", "));
                        let message =
                            format!("the enumeration `{}` has no element `{}`", block.text, element.text);
                        self.error(element.span, message).help(help);
                        None
                    }
                }
            }
            Some(other) => {
                let what = other.what();
                self.error(block.span, format!("`{}` is {what}; expected a block of constants", block.text));
                None
            }
            None => {
                self.unknown(block, "block of constants");
                None
            }
        }
    }

    pub(super) fn constant_int(&mut self, e: &ast::Expr) -> Option<i32> {
        let value = self.constant_value(e)?;
        if !matches!(value.ty, Ty::Int(_)) {
            self.mismatch(e.span, &value.ty, &Ty::Int(None));
            return None;
        }
        Some(value.value)
    }

    /// A constant in a place of some type.
    pub(super) fn check_constant(&mut self, span: Span, value: &Value, ty: &Ty) {
        if !self.fits(&value.ty, ty) {
            self.mismatch(span, &value.ty, ty);
        } else if let Ty::Int(Some(range)) = ty
            && range.fit(value.value).is_none()
        {
            let text = format!("{} is outside the range ({}, {})", value.value, range.low, range.high);
            self.error(span, text);
        }
    }

    /// The number of a string; 0 is null.
    pub(super) fn string(&mut self, text: &str) -> i32 {
        let quoted = format!("{text:?}");
        let strings = &mut self.program.enumerations[self.strings.0 as usize].constants;
        if let Some((_, known)) = strings.iter().find(|(n, _)| *n == quoted) {
            return *known;
        }
        let number = strings.len() as i32;
        strings.push((quoted, number));
        number
    }

    /// Parents of records, and what follows from them.
    fn records(&mut self, system: &System) {
        let records: Vec<&ast::Record> = system.members.iter().filter_map(record).collect();
        for (index, r) in records.iter().enumerate() {
            let id = RecordId(index as u32);
            if r.top {
                match self.top {
                    Some(first) => {
                        let span = self.program.record(first).span;
                        self.error(r.name.span, "there is more than one top record")
                            .related(span, "the first one");
                    }
                    None => self.top = Some(id),
                }
                if let Some(parent) = r.parents.first() {
                    self.error(parent.span, "the top record extends nothing");
                    continue;
                }
            }
            for parent in &r.parents {
                match self.names.get(&parent.text) {
                    Some(Item::Record(p)) if self.program.extends(*p, id) => {
                        self.error(parent.span, format!("the record `{}` extends itself", r.name.text));
                    }
                    Some(Item::Record(p)) if self.program.records[index].parents.contains(p) => {
                        self.error(parent.span, format!("`{}` is extended twice", parent.text));
                    }
                    Some(Item::Record(p)) => {
                        let p = *p;
                        self.program.records[index].parents.push(p);
                    }
                    Some(other) => {
                        let what = other.what();
                        self.error(
                            parent.span,
                            format!("`{}` is {what}; a record extends records", parent.text),
                        );
                    }
                    None => self.unknown(parent, "record"),
                }
            }
        }
        // Every record extends the top record, and every heir of a throwable is throwable.
        for index in 0..records.len() {
            let id = RecordId(index as u32);
            if let Some(top) = self.top
                && id != top
                && self.program.records[index].parents.is_empty()
            {
                self.program.records[index].parents.push(top);
            }
        }
        for index in 0..records.len() {
            let id = RecordId(index as u32);
            let inherits = (0..records.len())
                .any(|p| records[p].throwable && self.program.extends(id, RecordId(p as u32)));
            self.program.records[index].throwable |= inherits;
        }
    }

    fn record_fields(&mut self, system: &System) {
        let records: Vec<&ast::Record> = system.members.iter().filter_map(record).collect();
        for (index, r) in records.iter().enumerate() {
            for (ty, name) in &r.fields {
                let known = self.ty(ty);
                let variable = self.variable(&name.text, &known, name.span);
                self.program.records[index].fields.push(variable);
                self.field_types[index].push(known);
            }
        }
        for (index, r) in records.iter().enumerate() {
            let all = self.program.all_fields(RecordId(index as u32));
            let mut seen: HashMap<String, Span> = HashMap::new();
            for (owner, position) in all {
                let field = &self.program.record(owner).fields[position as usize];
                let (name, span) = (field.name.clone(), field.span);
                if let Some(first) = seen.insert(name.clone(), span) {
                    let here = if owner.0 as usize == index { span } else { r.name.span };
                    self.error(here, format!("the record `{}` has two fields `{name}`", r.name.text))
                        .related(first, "the other one")
                        .help("a record and all records it extends share one namespace of fields");
                }
            }
        }
    }

    /// A variable with its type's first value.
    pub(super) fn variable(&mut self, name: &str, ty: &Ty, span: Span) -> Variable {
        let init = match ty {
            Ty::Int(Some(range)) if range.initial() != 0 => Init::Fill(Expr::Const(range.initial())),
            _ => Init::Default,
        };
        Variable { name: name.to_owned(), ty: self.ir(ty), init, scratch: false, span }
    }

    /// A variable as declared, with its initial value.
    pub(super) fn declared(&mut self, declaration: &ast::Variable) -> (Ty, Variable) {
        let ty = self.ty(&declaration.ty);
        let mut variable = self.variable(&declaration.name.text, &ty, declaration.name.span);
        if let Some(e) = &declaration.value
            && let Some(value) = self.constant_value(e)
        {
            self.check_constant(e.span, &value, &ty);
            let stored = match &ty {
                Ty::Int(Some(range)) => range.fit(value.value).unwrap_or(value.value),
                _ => value.value,
            };
            variable.init = Init::Fill(Expr::Const(stored));
        }
        (ty, variable)
    }

    fn global(&mut self, declaration: &ast::Variable) {
        let (ty, variable) = self.declared(declaration);
        if let Some(Item::Global(id)) = self.names.get(&declaration.name.text) {
            let index = id.0 as usize;
            // A second declaration of the name has its own (unnamed) place; it has been reported.
            if self.program.globals[index].span == declaration.name.span {
                self.globals[index] = ty;
                self.program.globals[index] = variable;
            }
        }
    }

    fn header(&mut self, name: &ast::Name, params: &[ast::Variable], returns: Option<&ast::Type>) {
        let params = params.iter().map(|p| self.ty(&p.ty)).collect();
        let returns = returns.map(|t| self.ty(t));
        if let Some(id) = self.function_of(name) {
            self.signatures.insert(id, Signature { params, returns });
        }
    }

    /// The function declared by this very name, unless another declaration has taken the name.
    pub(super) fn function_of(&self, name: &ast::Name) -> Option<FunctionId> {
        match self.names.get(&name.text) {
            Some(Item::Thread(id) | Item::Function(id)) if self.program.function(*id).span == name.span => {
                Some(*id)
            }
            _ => None,
        }
    }

    fn fun_header(&mut self, fun: &ast::Fun) {
        let params: Vec<Ty> = fun.params.iter().map(|p| self.ty(&p.ty)).collect();
        let returns = self.ty(&fun.returns);
        if let Some(Item::Fun(index)) = self.names.get(&fun.name.text) {
            let index = *index;
            (self.funs[index].params, self.funs[index].returns) = (params, returns);
        }
    }

    fn virtual_table(&mut self, table: &ast::VirtualTable) {
        let Some(Item::Virtual(id)) = self.names.get(&table.name.text).cloned() else { return };
        let mut functions: Vec<FunctionId> = Vec::new();
        let mut entries = Vec::new();
        let enumeration = match &table.on {
            None => None,
            Some(name) => match self.names.get(&name.text).cloned() {
                Some(Item::Enum(id)) => Some(id),
                Some(other) => {
                    let what = other.what();
                    self.error(
                        name.span,
                        format!("`{}` is {what}; a virtual table is on an enumeration", name.text),
                    );
                    return;
                }
                None => return self.unknown(name, "enumeration"),
            },
        };
        if table.entries.is_empty() {
            self.error(table.name.span, "a virtual table needs at least one entry");
        }
        for (key, function) in &table.entries {
            let Some(f) = self.table_function(function, functions.first().copied()) else { continue };
            functions.push(f);
            let key_number = match enumeration {
                Some(e) => self.table_element(e, key),
                None => match self.names.get(&key.text).cloned() {
                    Some(Item::Record(r)) => {
                        self.check_receiver(r, key, f, function);
                        Some(r.0 as i32)
                    }
                    _ => {
                        self.unknown(key, "record");
                        None
                    }
                },
            };
            let Some(number) = key_number else { continue };
            if entries.iter().any(|(n, _)| *n == number) {
                self.error(key.span, format!("the virtual table has two entries for `{}`", key.text));
                continue;
            }
            entries.push((number, f));
        }
        self.program.virtual_tables[id.0 as usize].entries = match enumeration {
            None => VirtualEntries::Records(entries.iter().map(|(r, f)| (RecordId(*r as u32), *f)).collect()),
            Some(e) => {
                let all = self.program.enumerations[e.0 as usize].constants.clone();
                let missing: Vec<&str> = all
                    .iter()
                    .filter(|(_, v)| !entries.iter().any(|(n, _)| n == v))
                    .map(|(n, _)| n.as_str())
                    .collect();
                if !missing.is_empty() && functions.len() == table.entries.len() {
                    self.error(
                        table.name.span,
                        format!("the virtual table has no entry for {}", missing.join(", ")),
                    )
                    .help("a virtual table on an enumeration has one entry for each element");
                }
                VirtualEntries::Constants(entries)
            }
        };
    }

    /// A function of a virtual table; all of them have the same parameters (after the first) and result.
    fn table_function(&mut self, name: &ast::Name, first: Option<FunctionId>) -> Option<FunctionId> {
        let id = match self.names.get(&name.text) {
            Some(Item::Function(id)) => *id,
            Some(other) => {
                let what = other.what();
                self.error(name.span, format!("`{}` is {what}, not a function", name.text));
                return None;
            }
            None => {
                self.unknown(name, "function");
                return None;
            }
        };
        let signature = self.signatures.get(&id)?.clone();
        if signature.params.is_empty() {
            self.error(name.span, format!("`{}` has no parameter to dispatch on", name.text));
            return None;
        }
        if let Some(first) = first
            && let Some(other) = self.signatures.get(&first)
            && (other.params.len() != signature.params.len()
                || other.params[1..] != signature.params[1..]
                || other.returns != signature.returns)
        {
            let other = self.program.function(first).name.clone();
            self.error(
                name.span,
                format!("`{}` and `{other}` have different parameters or results", name.text),
            )
            .help("only the first parameter may differ between the functions of a virtual table");
            return None;
        }
        Some(id)
    }

    fn table_element(&mut self, e: EnumerationId, key: &ast::Name) -> Option<i32> {
        let enumeration = &self.program.enumerations[e.0 as usize];
        let found = enumeration.constants.iter().find(|(n, _)| **n == *key.text).map(|(_, v)| *v);
        if found.is_none() {
            let message = format!("the enumeration `{}` has no element `{}`", enumeration.name, key.text);
            self.error(key.span, message);
        }
        found
    }

    fn check_receiver(&mut self, record: RecordId, key: &ast::Name, f: FunctionId, function: &ast::Name) {
        let receiver = self.signatures[&f].params[0].clone();
        if !self.fits(&Ty::Record(record), &receiver) {
            let ty = self.show(&receiver);
            self.error(
                function.span,
                format!("`{}` takes a value of type {ty}, which `{}` is not", function.text, key.text),
            );
        }
    }

    fn initial_threads(&mut self, system: &System) {
        let mut any = false;
        for member in &system.members {
            let Member::Thread(thread) = member else { continue };
            let Some(active) = &thread.active else { continue };
            any = true;
            let Some(count) = self.constant_int(active) else { continue };
            if !(0..=MAX_ACTIVE).contains(&count) {
                let message =
                    format!("the number of threads must be between 0 and {MAX_ACTIVE}, not {count}");
                self.error(active.span, message);
                continue;
            }
            if let Some(param) = thread.params.first() {
                self.error(param.name.span, "a thread that is alive at the start has no parameters")
                    .help("start it from another thread: `start T(x);`");
            }
            if let Some(id) = self.function_of(&thread.name) {
                self.program.initial.extend((0..count).map(|_| id));
            }
        }
        if !any {
            self.error(system.name.span, "no thread is alive at the start")
                .help("write `active thread` or `main thread` for at least one thread");
        }
    }
}

fn record(member: &Member) -> Option<&ast::Record> {
    match member {
        Member::Record(r) => Some(r),
        _ => None,
    }
}
