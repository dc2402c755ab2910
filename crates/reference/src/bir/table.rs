//! The names of a system.

use std::collections::HashMap;
use std::rc::Rc;

use quotient_bir::ast::{self, Body, Expr, ExprKind, Member, System, TypeKind};

use super::code::{Code, compile};
use super::state::{Class, Ty, Value};

/// A record with all its fields, inherited ones first.
pub(super) struct Record<'a> {
    declaration: &'a ast::Record,
    pub(super) fields: Vec<(Rc<str>, Ty)>,
    /// Itself and everything it extends, nearest first.
    pub(super) ancestors: Vec<usize>,
}

/// What the names of a system mean.
pub(super) struct Table<'a> {
    pub(super) constants: HashMap<(Rc<str>, Rc<str>), Value>,
    pub(super) enums: HashMap<Rc<str>, Vec<Rc<str>>>,
    pub(super) records: Vec<Record<'a>>,
    pub(super) record_numbers: HashMap<Rc<str>, usize>,
    aliases: HashMap<Rc<str>, &'a ast::Type>,
    pub(super) globals: Vec<(Rc<str>, Ty, Value)>,
    pub(super) codes: Vec<Code<'a>>,
    pub(super) code_numbers: HashMap<Rc<str>, usize>,
    pub(super) funs: HashMap<Rc<str>, &'a ast::Fun>,
    pub(super) virtuals: HashMap<Rc<str>, &'a ast::VirtualTable>,
    pub(super) extensions: HashMap<Rc<str>, Option<Class>>,
    pub(super) active: Vec<usize>,
}

/// What goes wrong with a tree that was not checked.
pub(super) fn wrong<T>(what: impl std::fmt::Display) -> Result<T, String> {
    Err(format!("the tree is not correct: {what}"))
}

impl<'a> Table<'a> {
    pub(super) fn new(system: &'a System, new_values: &[(String, i32)]) -> Result<Table<'a>, String> {
        let mut table = Table {
            constants: HashMap::new(),
            enums: HashMap::new(),
            records: Vec::new(),
            record_numbers: HashMap::new(),
            aliases: HashMap::new(),
            globals: Vec::new(),
            codes: Vec::new(),
            code_numbers: HashMap::new(),
            funs: HashMap::new(),
            virtuals: HashMap::new(),
            extensions: HashMap::new(),
            active: Vec::new(),
        };
        for member in &system.members {
            match member {
                Member::Enum(e) => {
                    let elements = e.elements.iter().map(|n| n.text.clone()).collect();
                    table.enums.insert(e.name.text.clone(), elements);
                }
                Member::Alias(a) => {
                    table.aliases.insert(a.name.text.clone(), &a.ty);
                }
                Member::Fun(f) => {
                    table.funs.insert(f.name.text.clone(), f);
                }
                Member::Virtual(v) => {
                    table.virtuals.insert(v.name.text.clone(), v);
                }
                Member::Extension(e) => {
                    let class = match e.class.text.rsplit('.').next().unwrap_or("").trim_end_matches("Module")
                    {
                        "Set" => Some(Class::Set),
                        "Bag" => Some(Class::Bag),
                        "Map" => Some(Class::Map),
                        "Queue" => Some(Class::Queue),
                        _ => None,
                    };
                    table.extensions.insert(e.name.text.clone(), class);
                }
                Member::Record(r) => {
                    table.record_numbers.insert(r.name.text.clone(), table.records.len());
                    table.records.push(Record { declaration: r, fields: Vec::new(), ancestors: Vec::new() });
                }
                _ => {}
            }
        }
        for member in &system.members {
            let Member::Const(block) = member else { continue };
            for element in &block.elements {
                let given = new_values.iter().find(|(name, _)| **name == *element.name.text);
                let value = match given {
                    Some((_, value)) => Value::Int(*value),
                    None => table.literal(&element.value)?,
                };
                table.constants.insert((block.name.text.clone(), element.name.text.clone()), value);
            }
        }
        table.inherit()?;
        table.bodies(system)?;
        Ok(table)
    }

    fn inherit(&mut self) -> Result<(), String> {
        let top = self.records.iter().position(|r| r.declaration.top);
        let parents: Vec<Vec<usize>> = (0..self.records.len())
            .map(|r| {
                let declared = &self.records[r].declaration.parents;
                let mut parents: Vec<usize> =
                    declared.iter().filter_map(|p| self.record_numbers.get(&p.text)).copied().collect();
                if parents.is_empty() && top != Some(r) {
                    parents.extend(top);
                }
                parents
            })
            .collect();
        for r in 0..self.records.len() {
            // Breadth first, so that nearer ancestors come first.
            let mut ancestors = vec![r];
            let mut at = 0;
            while at < ancestors.len() {
                for p in &parents[ancestors[at]] {
                    if !ancestors.contains(p) {
                        ancestors.push(*p);
                    }
                }
                at += 1;
            }
            let mut fields = Vec::new();
            for a in ancestors.iter().rev() {
                for (ty, name) in &self.records[*a].declaration.fields {
                    fields.push((name.text.clone(), self.ty(ty)?));
                }
            }
            (self.records[r].ancestors, self.records[r].fields) = (ancestors, fields);
        }
        Ok(())
    }

    fn bodies(&mut self, system: &'a System) -> Result<(), String> {
        type Part<'a> = (&'a ast::Name, &'a [ast::Variable], &'a [ast::Variable], &'a Body);
        let mut parts: Vec<Part<'a>> = Vec::new();
        for member in &system.members {
            match member {
                Member::Thread(t) => {
                    if let Some(count) = &t.active
                        && let Value::Int(count) = self.literal(count)?
                    {
                        self.active.extend((0..count).map(|_| parts.len()));
                    }
                    parts.push((&t.name, &t.params, &t.locals, &t.body));
                }
                Member::Function(f) => parts.push((&f.name, &f.params, &f.locals, &f.body)),
                Member::Global(v) => {
                    let (ty, value) = self.variable(v)?;
                    self.globals.push((v.name.text.clone(), ty, value));
                }
                _ => {}
            }
        }
        for (number, (name, ..)) in parts.iter().enumerate() {
            self.code_numbers.insert(name.text.clone(), number);
        }
        for (_, params, locals, body) in parts {
            let code = compile(self, params, locals, body)?;
            self.codes.push(code);
        }
        Ok(())
    }

    pub(super) fn variable(&self, v: &ast::Variable) -> Result<(Ty, Value), String> {
        let ty = self.ty(&v.ty)?;
        let value = match &v.value {
            Some(e) => self.literal(e)?,
            None => ty.initial(),
        };
        Ok((ty, ty.store(value).map_err(|f| f.0.to_owned())?))
    }

    /// A literal, constant or element of an enumeration.
    pub(super) fn literal(&self, e: &Expr) -> Result<Value, String> {
        Ok(match &e.kind {
            ExprKind::Boolean(b) => Value::Bool(*b),
            ExprKind::Integer(i, _) => Value::Int(*i as i32),
            ExprKind::String(text) => Value::Text(text.clone()),
            ExprKind::Null => Value::Null,
            ExprKind::Cast(_, inner) => self.literal(inner)?,
            ExprKind::Unary(op, inner) => match (op, self.literal(inner)?) {
                (ast::Unary::Minus, Value::Int(i)) => Value::Int(i.wrapping_neg()),
                (_, value) => value,
            },
            ExprKind::Field(base, name) => match &base.kind {
                ExprKind::Name(block) => match self.qualified(&block.text, &name.text) {
                    Some(value) => value,
                    None => return wrong(&name.text),
                },
                _ => return wrong("a literal"),
            },
            _ => return wrong("a literal"),
        })
    }

    /// `Block.N` or `Enumeration.element`.
    pub(super) fn qualified(&self, block: &Rc<str>, name: &Rc<str>) -> Option<Value> {
        if let Some(elements) = self.enums.get(block) {
            return elements.iter().position(|e| e == name).map(|i| Value::Int(i as i32));
        }
        self.constants.get(&(block.clone(), name.clone())).cloned()
    }

    pub(super) fn ty(&self, ty: &ast::Type) -> Result<Ty, String> {
        Ok(match &ty.kind {
            TypeKind::Boolean => Ty::Bool,
            TypeKind::Integer(_, None) => Ty::Int,
            TypeKind::Integer(_, Some(range)) => {
                match (self.literal(&range.low)?, self.literal(&range.high)?) {
                    (Value::Int(low), Value::Int(high)) => Ty::Range { low, high, wrap: range.wrap },
                    _ => return wrong("a range"),
                }
            }
            TypeKind::Named(name) if self.enums.contains_key(&name.text) => Ty::Int,
            TypeKind::Named(name) => match self.aliases.get(&name.text) {
                Some(alias) => self.ty(alias)?,
                None => Ty::Reference,
            },
            _ => Ty::Reference,
        })
    }

    /// What a name of a type stands for, aliases resolved.
    pub(super) fn resolve<'t>(&'t self, ty: &'t ast::Type) -> &'t ast::Type {
        match &ty.kind {
            TypeKind::Named(name) => self.aliases.get(&name.text).map_or(ty, |alias| self.resolve(alias)),
            _ => ty,
        }
    }
}
