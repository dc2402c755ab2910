//! Types, globals and locals.

use quotient_program::{
    ChannelType, ChannelTypeId, Enumeration, EnumerationId, Init, IntType, Structure, StructureId, Type,
    Variable, VariableId,
};
use quotient_source::Diagnostic;

use super::Lowering;
use super::pointer::Sort;
use crate::ast;

/// Most elements of an array: states must stay within reason.
const MOST_ELEMENTS: i32 = 65_536;

impl Lowering<'_> {
    /// mtype sets and typedefs.
    pub(super) fn collect_types(&mut self, model: &ast::Model) {
        for unit in &model.units {
            if let ast::Unit::Mtype(mtype) = unit {
                self.mtype(mtype);
            }
        }
        // A typedef may use those above it (and, leniently, those below: declare all names first).
        for unit in &model.units {
            if let ast::Unit::Typedef(typedef) = unit {
                let id = StructureId(self.program.structures.len() as u32);
                if let Some((_, first)) = self.names.structures.get(&typedef.name.name) {
                    let first = *first;
                    self.report(
                        Diagnostic::error(
                            typedef.name.span,
                            format!("a second typedef `{}`", typedef.name.name),
                        )
                        .related(first, "the first one is here"),
                    );
                    continue;
                }
                self.names.structures.insert(typedef.name.name.clone(), (id, typedef.name.span));
                self.program
                    .structures
                    .push(Structure { name: typedef.name.name.clone(), fields: Vec::new() });
            }
        }
        for unit in &model.units {
            if let ast::Unit::Typedef(typedef) = unit {
                self.typedef(typedef);
            }
        }
        self.measure_structures();
    }

    /// The set of a name, made if need be.
    pub(super) fn enumeration(&mut self, set: Option<&str>) -> EnumerationId {
        let name = set.unwrap_or("");
        if let Some(id) = self.names.sets.get(name) {
            return *id;
        }
        let id = EnumerationId(self.program.enumerations.len() as u32);
        self.program.enumerations.push(Enumeration { name: name.into(), constants: Vec::new() });
        self.names.sets.insert(name.into(), id);
        id
    }

    fn mtype(&mut self, mtype: &ast::Mtype) {
        let id = self.enumeration(mtype.set.as_ref().map(|s| s.name.as_str()));
        // SPIN numbers each list from its end, and continues where the last list of the same set stopped.
        let before = self.program.enumerations[id.0 as usize].constants.len() as i32;
        if before as usize + mtype.names.len() > 255 {
            self.error(mtype.span, "more than 255 names in one mtype set");
            return;
        }
        let count = mtype.names.len() as i32;
        for (index, name) in mtype.names.iter().enumerate() {
            let value = before + count - index as i32;
            if let Some((_, _, first)) = self.names.constants.get(&name.name) {
                let first = *first;
                self.report(
                    Diagnostic::error(name.span, format!("the mtype name `{}` is declared twice", name.name))
                        .related(first, "first declared here"),
                );
                continue;
            }
            self.names.constants.insert(name.name.clone(), (id, value, name.span));
            self.program.enumerations[id.0 as usize].constants.push((name.name.clone(), value));
        }
    }

    fn typedef(&mut self, typedef: &ast::Typedef) {
        let Some((id, span)) = self.names.structures.get(&typedef.name.name).copied() else { return };
        if span != typedef.name.span {
            return;
        }
        let mut fields: Vec<Variable> = Vec::new();
        for declaration in &typedef.fields {
            for variable in &declaration.variables {
                if fields.iter().any(|f| f.name == variable.name.name) {
                    self.error(
                        variable.name.span,
                        format!("`{}` has two fields `{}`", typedef.name.name, variable.name.name),
                    );
                    continue;
                }
                let ty = self.type_of(&declaration.ty, variable);
                let init = self.initialiser(variable, &ty);
                fields.push(Variable {
                    name: variable.name.name.clone(),
                    ty,
                    init,
                    scratch: false,
                    span: variable.name.span,
                });
            }
        }
        self.program.structures[id.0 as usize].fields = fields;
    }

    /// The type of a variable: its type name with width and length.
    pub(super) fn type_of(&mut self, name: &ast::TypeName, variable: &ast::Variable) -> Type {
        let element = match name {
            ast::TypeName::Unsigned => match &variable.width {
                None => {
                    self.report(
                        Diagnostic::error(variable.span, "an unsigned variable needs a width")
                            .help(format!("write for example `unsigned {} : 4`", variable.name.name)),
                    );
                    Type::Int(IntType::BYTE)
                }
                Some(width) => {
                    let bits = self.constant_in(width, 1, 32, "the width of an unsigned variable") as u8;
                    Type::Int(IntType { bits, signed: false })
                }
            },
            other => self.scalar_type(other),
        };
        let element = if variable.pointer { self.pointer_to(element) } else { element };
        let ty = match &variable.length {
            None => element,
            Some(length) => {
                let length = self.initial_in(length, 1, MOST_ELEMENTS, "the length of an array");
                Type::Array(Box::new(element), length as u32)
            }
        };
        self.fitting(ty, &variable.name.name, variable.span)
    }

    pub(super) fn scalar_type(&mut self, name: &ast::TypeName) -> Type {
        match name {
            ast::TypeName::Mtype(set) => {
                Type::Enumeration(self.enumeration(set.as_ref().map(|s| s.name.as_str())))
            }
            ast::TypeName::Chan => self.channel_reference(),
            ast::TypeName::Ftype => Type::Function,
            ast::TypeName::Pointer(to) => {
                let element = self.scalar_type(to);
                self.pointer_to(element)
            }
            ast::TypeName::Named(ident) => match self.names.structures.get(&ident.name) {
                Some((id, _)) => Type::Structure(*id),
                None => {
                    self.report(
                        Diagnostic::error(ident.span, format!("there is no type `{}`", ident.name)).help(
                            "types are bit, bool, byte, short, int, unsigned, mtype, chan, pid and typedefs",
                        ),
                    );
                    Type::Int(IntType::BYTE)
                }
            },
            other => Type::Int(Self::integer(other).unwrap_or(IntType::INT)),
        }
    }

    pub(super) fn collect_globals(&mut self, model: &ast::Model) {
        // Initial values may mention any global above: declare in order, then translate values.
        for unit in &model.units {
            let ast::Unit::Declaration(declaration) = unit else { continue };
            for variable in &declaration.variables {
                let name = &variable.name;
                if let Some((_, first)) = self.names.globals.get(&name.name) {
                    let first = *first;
                    self.report(
                        Diagnostic::error(
                            name.span,
                            format!("the variable `{}` is declared twice", name.name),
                        )
                        .related(first, "first declared here"),
                    );
                    continue;
                }
                if let Some((_, _, first)) = self.names.constants.get(&name.name) {
                    let first = *first;
                    self.report(
                        Diagnostic::error(name.span, format!("`{}` is an mtype name already", name.name))
                            .related(first, "declared here"),
                    );
                    continue;
                }
                let ty = self.type_of(&declaration.ty, variable);
                let init = self.initialiser(variable, &ty);
                let id = VariableId(self.program.globals.len() as u32);
                self.names.globals.insert(name.name.clone(), (id, name.span));
                if let Some(ast::Initialiser::Expr(e)) = &variable.init
                    && let ast::ExprKind::Number(value @ 1..) = e.kind
                {
                    self.names.numerals.insert(name.name.clone(), value);
                }
                let scratch = declaration.visibility == ast::Visibility::Hidden
                    && !matches!(init, Init::Channels(_))
                    && !self.is_channel(&ty);
                self.program.globals.push(Variable {
                    name: name.name.clone(),
                    ty,
                    init,
                    scratch,
                    span: name.span,
                });
            }
        }
    }

    /// The initial value of a variable of type `ty`.
    pub(super) fn initialiser(&mut self, variable: &ast::Variable, ty: &Type) -> Init {
        let Some(init) = &variable.init else { return Init::Default };
        let element = match ty {
            Type::Array(element, _) => element,
            other => other,
        };
        match init {
            ast::Initialiser::Channel(channel) => {
                if !self.is_channel(element) {
                    self.report(
                        Diagnostic::error(channel.span, "only a `chan` can be given a channel")
                            .help(format!("write `chan {} = [n] of {{ … }}`", variable.name.name)),
                    );
                    return Init::Default;
                }
                Init::Channels(self.channel_type(channel))
            }
            ast::Initialiser::Expr(e) => {
                if matches!(element, Type::Structure(_)) {
                    self.ignored_value(e);
                    return Init::Default;
                }
                Init::Fill(self.typed(e, element))
            }
            ast::Initialiser::List(values, span) => {
                let Type::Array(element, length) = ty else {
                    self.error(*span, format!("`{}` is not an array", variable.name.name));
                    return Init::Default;
                };
                if matches!(**element, Type::Structure(_))
                    || Sort::of(element) != Sort::Data
                    || self.is_channel(element)
                {
                    self.error(*span, "only arrays of numbers can be given a list of values");
                    return Init::Default;
                }
                if values.len() > *length as usize {
                    let message = format!("{} values for {length} elements", values.len());
                    self.error(*span, message);
                }
                Init::List(values.iter().map(|e| self.expr(e)).collect())
            }
        }
    }

    /// The initial value of a structure. SPIN accepts one and does nothing with it; where the declaration is a step of the
    /// process, its verifier does not compile.
    fn ignored_value(&mut self, e: &ast::Expr) {
        self.expr(e);
        let a_step = self.current.as_ref().is_some_and(|b| !b.declarations_first);
        let help = "give the fields their values: in the typedef, or by assignments";
        self.report(match a_step {
            true => Diagnostic::error(e.span, "a structure cannot be given a single value").help(help),
            false => {
                Diagnostic::warning(e.span, "this value is ignored, as in SPIN: the variable is a structure")
                    .help(help)
            }
        });
    }

    pub(super) fn channel_type(&mut self, channel: &ast::ChannelInit) -> ChannelTypeId {
        let capacity = self.constant_in(&channel.capacity, 0, 255, "the capacity of a channel") as u32;
        let mut types = Vec::new();
        for (name, span) in &channel.fields {
            let ty = match name {
                ast::TypeName::Unsigned => {
                    self.error(*span, "a message field cannot be `unsigned`: use byte, short or int");
                    Type::Int(IntType::INT)
                }
                other => self.scalar_type(other),
            };
            types.push(ty);
        }
        let mut fields = Vec::new();
        if self.channel_fits(&types, capacity, channel.span) {
            types.iter().for_each(|ty| self.flatten(ty, &mut fields));
        }
        let kind = ChannelType { capacity, fields };
        let known = self.program.channel_types.iter().position(|k| *k == kind);
        let index = known.unwrap_or_else(|| {
            self.program.channel_types.push(kind);
            self.program.channel_types.len() - 1
        });
        ChannelTypeId(index as u32)
    }

    /// The scalars of a type, in order.
    pub(super) fn flatten(&self, ty: &Type, out: &mut Vec<Type>) {
        match ty {
            Type::Array(element, length) => {
                for _ in 0..*length {
                    self.flatten(element, out);
                }
            }
            Type::Structure(id) => {
                for field in &self.program.structure(*id).fields {
                    self.flatten(&field.ty, out);
                }
            }
            scalar => out.push(scalar.clone()),
        }
    }

    /// Adds a local in the innermost scope.
    pub(super) fn add_local(&mut self, name: &ast::Ident, ty: Type, init: Init) -> VariableId {
        let Some(body) = &mut self.current else { return VariableId(0) };
        let id = VariableId(body.locals.len() as u32);
        body.locals.push(Variable { name: name.name.clone(), ty, init, scratch: false, span: name.span });
        let mut first = None;
        if let Some(scope) = body.scopes.last_mut() {
            first = scope.names.insert(name.name.clone(), (id, name.span)).map(|(_, span)| span);
        }
        if let Some(first) = first {
            self.report(
                Diagnostic::error(name.span, format!("the variable `{}` is declared twice", name.name))
                    .related(first, "first declared here"),
            );
        }
        id
    }
}
