//! Names: types, variables, proctypes, labels; and the resolution of references and expressions.
//!
//! Scope rules as SPIN 6 applies them: braces open a scope, choices of `if` and `do` do not; a name
//! that is visible may not be declared again (no shadowing, not even of a global).

use super::DYNAMIC;
use super::resolved::*;
use super::state::{arithmetic, prefix};
use quotient_promela::ast::*;
use std::collections::HashMap;

/// The type of a variable or field.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Scalar(Kind),
    Struct(String),
}

/// A declared variable.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub store: Store,
    pub base: usize,
    pub ty: Type,
    pub length: Option<usize>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    ty: Type,
    length: Option<usize>,
    init: Option<InitialValue>,
}

/// What others may refer to in a proctype.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    pub name: String,
    /// Number of scalar parameters, structures flattened.
    pub parameters: usize,
    /// Labels, once its body has been built.
    pub labels: HashMap<String, usize>,
    /// Variables, once its body has been built.
    pub variables: HashMap<String, Declared>,
}

/// Everything that has a name.
#[derive(Debug, Default)]
pub(super) struct Names {
    mtypes: HashMap<String, i32>,
    structs: HashMap<String, Vec<Field>>,
    pub globals: HashMap<String, Declared>,
    pub signatures: Vec<Signature>,
    /// Scopes of the proctype being built, innermost last.
    pub scopes: Vec<HashMap<String, Declared>>,
    /// Number of cells of each store.
    pub global_cells: usize,
    pub hidden_cells: usize,
    pub local_cells: usize,
    /// Kinds of the locals of the proctype being built.
    pub locals: HashMap<String, Declared>,
}

impl Names {
    /// Numbers the names of each set from the last to the first, later declarations after earlier ones.
    pub fn mtypes(&mut self, model: &Model) {
        let mut next: HashMap<String, i32> = HashMap::new();
        for unit in &model.units {
            if let Unit::Mtype(m) = unit {
                let counter =
                    next.entry(m.set.as_ref().map_or(String::new(), |s| s.name.clone())).or_insert(1);
                for name in m.names.iter().rev() {
                    self.mtypes.insert(name.name.clone(), *counter);
                    *counter += 1;
                }
            }
        }
    }

    pub fn typedef(&mut self, typedef: &Typedef) -> Result<(), String> {
        let mut fields = Vec::new();
        for declaration in &typedef.fields {
            for variable in &declaration.variables {
                let (ty, length) = self.typed(declaration, variable)?;
                let init = self.initial(variable)?;
                fields.push(Field { name: variable.name.name.clone(), ty, length, init });
            }
        }
        self.structs.insert(typedef.name.name.clone(), fields);
        Ok(())
    }

    /// The type and length of a variable.
    pub fn typed(
        &self,
        declaration: &Declaration,
        variable: &Variable,
    ) -> Result<(Type, Option<usize>), String> {
        let length = match &variable.length {
            None => None,
            Some(e) => match self.constant(e) {
                Some(n) if n > 0 => Some(n as usize),
                _ => return Err(format!("length of {} is not a positive number", variable.name.name)),
            },
        };
        let kind = match &declaration.ty {
            TypeName::Bit | TypeName::Bool if length.is_some() => Kind::Byte,
            TypeName::Bit | TypeName::Bool => Kind::Bit,
            TypeName::Byte | TypeName::Pid | TypeName::Mtype(_) | TypeName::Chan => Kind::Byte,
            TypeName::Short => Kind::Short,
            TypeName::Int => Kind::Int,
            TypeName::Unsigned => match variable.width.as_ref().and_then(|w| self.constant(w)) {
                Some(n) if (1..=31).contains(&n) => Kind::Unsigned(n as u32),
                _ => return Err(format!("width of {} is not in 1..31", variable.name.name)),
            },
            TypeName::Ftype | TypeName::Pointer(_) => return Err(DYNAMIC.to_string()),
            TypeName::Named(name) => {
                if !self.structs.contains_key(&name.name) {
                    return Err(format!("unknown type {}", name.name));
                }
                return Ok((Type::Struct(name.name.clone()), length));
            }
        };
        Ok((Type::Scalar(kind), length))
    }

    /// The value of an expression without variables.
    pub fn constant(&self, e: &Expr) -> Option<i32> {
        fold(&self.value(e).ok()?)
    }

    /// What a declaration gives its variable.
    pub fn initial(&self, variable: &Variable) -> Result<Option<InitialValue>, String> {
        Ok(match &variable.init {
            None => None,
            Some(Initialiser::Expr(e)) => Some(InitialValue::Value(self.value(e)?)),
            Some(Initialiser::List(items, _)) => Some(InitialValue::List(self.values(items)?)),
            Some(Initialiser::Channel(init)) => Some(InitialValue::Channel(self.message(init)?)),
        })
    }

    /// The initial values that the fields of a type bring with them, for a variable at `base`.
    pub fn field_values(
        &self,
        ty: &Type,
        length: Option<usize>,
        base: usize,
    ) -> Result<Vec<Initialise>, String> {
        let Type::Struct(name) = ty else { return Ok(Vec::new()) };
        let mut list = Vec::new();
        let mut base = base;
        for _ in 0..length.unwrap_or(1) {
            for field in &self.structs[name] {
                let cells = self.cells(&field.ty, field.length)?;
                match (&field.ty, &field.init) {
                    (Type::Scalar(kind), Some(with)) => {
                        let with = with.clone();
                        list.push(Initialise { base, kind: *kind, length: cells.len(), with });
                    }
                    (Type::Struct(_), _) => list.extend(self.field_values(&field.ty, field.length, base)?),
                    (Type::Scalar(_), None) => {}
                }
                base += cells.len();
            }
        }
        Ok(list)
    }

    /// The fields of a message, structures flattened.
    pub fn message(&self, init: &ChannelInit) -> Result<ChannelType, String> {
        let capacity = self.constant(&init.capacity).ok_or("capacity is not a number")?;
        let mut fields = Vec::new();
        for (ty, _) in &init.fields {
            match ty {
                TypeName::Bit | TypeName::Bool => fields.push(Kind::Bit),
                TypeName::Byte | TypeName::Pid | TypeName::Mtype(_) | TypeName::Chan => {
                    fields.push(Kind::Byte);
                }
                TypeName::Short => fields.push(Kind::Short),
                TypeName::Int => fields.push(Kind::Int),
                TypeName::Unsigned => return Err("unsigned in a message".to_string()),
                TypeName::Ftype | TypeName::Pointer(_) => return Err(DYNAMIC.to_string()),
                TypeName::Named(name) => fields.extend(self.cells(&Type::Struct(name.name.clone()), None)?),
            }
        }
        // SPIN keeps a message that is a single bit in a byte, with whatever value was sent.
        if fields == [Kind::Bit] {
            fields = vec![Kind::Byte];
        }
        Ok(ChannelType { capacity: capacity.max(0) as usize, fields })
    }

    /// The kinds of the cells of a variable, in order.
    pub fn cells(&self, ty: &Type, length: Option<usize>) -> Result<Vec<Kind>, String> {
        let one = match ty {
            Type::Scalar(kind) => vec![*kind],
            Type::Struct(name) => {
                let mut cells = Vec::new();
                for field in self.structs.get(name).ok_or_else(|| format!("unknown type {name}"))? {
                    cells.extend(self.cells(&field.ty, field.length)?);
                }
                cells
            }
        };
        Ok(one.repeat(length.unwrap_or(1)))
    }

    /// Enters a local variable in the innermost scope.
    pub fn declare_local(
        &mut self,
        name: &str,
        ty: Type,
        length: Option<usize>,
    ) -> Result<(Declared, Vec<Kind>), String> {
        if self.find(name).is_some() || self.mtypes.contains_key(name) {
            return Err(format!("redeclaration of {name}"));
        }
        let cells = self.cells(&ty, length)?;
        let declared = Declared { store: Store::Local, base: self.local_cells, ty, length };
        self.local_cells += cells.len();
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), declared.clone());
        }
        self.locals.insert(name.to_string(), declared.clone());
        Ok((declared, cells))
    }

    pub fn find(&self, name: &str) -> Option<&Declared> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).or_else(|| self.globals.get(name))
    }

    pub fn is_mtype(&self, name: &str) -> bool {
        self.mtypes.contains_key(name)
    }

    /// The scalars a reference stands for: one, or the fields of a structure in order.
    pub fn places(&self, reference: &Reference) -> Result<Vec<Place>, String> {
        let first = &reference.parts[0];
        let name = &first.name.name;
        let declared = self.find(name).ok_or_else(|| format!("undeclared variable {name}"))?.clone();
        self.places_of(&declared, reference)
    }

    fn places_of(&self, declared: &Declared, reference: &Reference) -> Result<Vec<Place>, String> {
        let mut ty = declared.ty.clone();
        let mut length = declared.length;
        let mut base = declared.base;
        let mut indices = Vec::new();
        for (depth, part) in reference.parts.iter().enumerate() {
            if depth > 0 {
                let Type::Struct(structure) = &ty else {
                    return Err(format!("{} is a field of no structure", part.name.name));
                };
                let mut found = None;
                for field in &self.structs[structure] {
                    if field.name == part.name.name {
                        found = Some(field.clone());
                        break;
                    }
                    base += self.cells(&field.ty, field.length)?.len();
                }
                let field = found.ok_or_else(|| format!("no field {}", part.name.name))?;
                (ty, length) = (field.ty, field.length);
            }
            let stride = self.cells(&ty, None)?.len();
            match (length, &part.index) {
                (Some(length), Some(index)) => {
                    indices.push(Index { value: self.value(index)?, length, stride });
                }
                (None, None) => {}
                (Some(_), None) => return Err(format!("missing index of {}", part.name.name)),
                (None, Some(_)) => return Err(format!("{} is not an array", part.name.name)),
            }
        }
        let cells = self.cells(&ty, None)?;
        Ok(cells
            .into_iter()
            .enumerate()
            .map(|(offset, kind)| Place {
                store: declared.store,
                base: base + offset,
                indices: indices.clone(),
                kind,
            })
            .collect())
    }

    /// A reference to a scalar.
    pub fn place(&self, reference: &Reference) -> Result<Place, String> {
        let mut places = self.places(reference)?;
        match (places.len(), places.pop()) {
            (1, Some(place)) => Ok(place),
            _ => Err(format!("{} is a structure", reference.parts[0].name.name)),
        }
    }

    /// Arguments of a send or run: structures become their fields.
    pub fn values(&self, args: &[Expr]) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        for arg in args {
            match &arg.kind {
                ExprKind::Reference(reference) if self.find(&reference.parts[0].name.name).is_some() => {
                    values.extend(self.places(reference)?.into_iter().map(Value::Place));
                }
                _ => values.push(self.value(arg)?),
            }
        }
        Ok(values)
    }

    pub fn patterns(&self, args: &[ReceiveArg]) -> Result<Vec<Pattern>, String> {
        let mut patterns = Vec::new();
        for arg in args {
            match arg {
                ReceiveArg::Variable(reference) => {
                    let name = &reference.parts[0].name.name;
                    if name == "_" {
                        patterns.push(Pattern::Ignore);
                    } else if let Some(constant) = self.mtypes.get(name) {
                        patterns.push(Pattern::Match(Value::Number(*constant)));
                    } else {
                        patterns.extend(self.places(reference)?.into_iter().map(Pattern::Store));
                    }
                }
                ReceiveArg::Pointer(_) => return Err(DYNAMIC.to_string()),
                ReceiveArg::Ignore(_) => patterns.push(Pattern::Ignore),
                ReceiveArg::Constant(e) | ReceiveArg::Eval(e, _) => {
                    patterns.push(Pattern::Match(self.value(e)?));
                }
            }
        }
        Ok(patterns)
    }

    fn proctype(&self, name: &Ident) -> Result<usize, String> {
        let found = self.signatures.iter().position(|s| s.name == name.name);
        found.ok_or_else(|| format!("unknown proctype {}", name.name))
    }

    fn boxed(&self, e: &Option<Box<Expr>>) -> Result<Option<Box<Value>>, String> {
        e.as_ref().map(|e| self.value(e).map(Box::new)).transpose()
    }

    /// An expression.
    pub fn value(&self, e: &Expr) -> Result<Value, String> {
        Ok(match &e.kind {
            ExprKind::Number(n) => Value::Number(*n),
            ExprKind::Address(_) => return Err(DYNAMIC.to_string()),
            ExprKind::Reference(reference) => {
                let name = reference.parts[0].name.name.as_str();
                match name {
                    "_pid" => Value::Pid,
                    "_nr_pr" => Value::Processes,
                    "_last" | "np_" | "_priority" => return Err(format!("{name} is not supported")),
                    _ => match self.mtypes.get(name) {
                        Some(constant) => Value::Number(*constant),
                        None => Value::Place(self.place(reference)?),
                    },
                }
            }
            ExprKind::Unary(op, operand) => Value::Unary(*op, Box::new(self.value(operand)?)),
            ExprKind::Binary(op, left, right) => {
                Value::Binary(*op, Box::new(self.value(left)?), Box::new(self.value(right)?))
            }
            ExprKind::Conditional(condition, yes, no) => Value::Conditional(
                Box::new(self.value(condition)?),
                Box::new(self.value(yes)?),
                Box::new(self.value(no)?),
            ),
            ExprKind::Run { proctype, args, priority: None } => {
                let index = self.proctype(proctype)?;
                let args = self.values(args)?;
                if args.len() != self.signatures[index].parameters {
                    return Err(format!("wrong number of arguments of run {}", proctype.name));
                }
                Value::Run { proctype: index, args }
            }
            ExprKind::Len(c) => Value::Len(self.place(c)?),
            ExprKind::Full(c) => Value::Full(self.place(c)?),
            ExprKind::Empty(c) => Value::Empty(self.place(c)?),
            ExprKind::Nfull(c) => Value::Nfull(self.place(c)?),
            ExprKind::Nempty(c) => Value::Nempty(self.place(c)?),
            ExprKind::Poll { channel, any, args } => {
                Value::Poll { channel: self.place(channel)?, any: *any, patterns: self.patterns(args)? }
            }
            ExprKind::Timeout => Value::Timeout,
            ExprKind::RemoteLabel { proctype, pid, label } => {
                let index = self.proctype(proctype)?;
                let found = self.signatures[index].labels.get(&label.name);
                let element = *found.ok_or_else(|| format!("unknown label {}", label.name))?;
                Value::RemoteLabel { proctype: index, pid: self.boxed(pid)?, element }
            }
            ExprKind::RemoteVariable { proctype, pid, variable } => {
                let index = self.proctype(proctype)?;
                let name = &variable.parts[0].name.name;
                let found = self.signatures[index].variables.get(name);
                let declared = found.ok_or_else(|| format!("unknown variable {name}"))?;
                let mut places = self.places_of(declared, variable)?;
                let place = places.pop().ok_or_else(|| format!("{name} is a structure"))?;
                if !places.is_empty() {
                    return Err(format!("{name} is a structure"));
                }
                Value::RemoteVariable { proctype: index, pid: self.boxed(pid)?, place: Box::new(place) }
            }
            ExprKind::Run { priority: Some(_), .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::GetPriority(_)
            | ExprKind::Quantified { .. }
            | ExprKind::Reachable(..)
            | ExprKind::SetPriority(..) => return Err("an operator that is not supported".to_string()),
        })
    }
}

/// The value of an expression that reads nothing.
fn fold(value: &Value) -> Option<i32> {
    match value {
        Value::Number(n) => Some(*n),
        Value::Unary(op, operand) => Some(prefix(*op, fold(operand)?)),
        Value::Binary(op, left, right) => arithmetic(*op, fold(left)?, fold(right)?).ok(),
        Value::Conditional(condition, yes, no) => {
            if fold(condition)? != 0 {
                fold(yes)
            } else {
                fold(no)
            }
        }
        _ => None,
    }
}
