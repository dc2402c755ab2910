//! Types after names are resolved, and how they are represented in a program.

use std::rc::Rc;

use quotient_program::{
    ArrayType, ArrayTypeId, CollectionType, CollectionTypeId, EnumerationId, IntType, RangeType, RecordId,
    Referent, Type,
};
use quotient_source::Span;

use super::extension::Class;
use super::{Item, Lower};
use crate::ast;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    /// What a mistake has; it fits everything, so that one mistake is reported once.
    Error,
    /// The type of `null`.
    Null,
    Boolean,
    Int(Option<RangeType>),
    Tid,
    String,
    Lock,
    Enum(EnumerationId),
    Record(RecordId),
    Array(Rc<Ty>),
    /// A collection: its extension and its type arguments.
    Collection(usize, Vec<Ty>),
    /// A type variable of an extension's signature.
    Variable(Rc<str>),
}

impl Ty {
    /// Whether `null` is one of its values.
    pub(super) fn is_reference(&self) -> bool {
        matches!(
            self,
            Ty::Null | Ty::String | Ty::Lock | Ty::Record(_) | Ty::Array(_) | Ty::Collection(..) | Ty::Tid
        )
    }
}

impl Lower<'_> {
    /// The meaning of a type as written.
    pub(super) fn ty(&mut self, ty: &ast::Type) -> Ty {
        match &ty.kind {
            ast::TypeKind::Boolean => Ty::Boolean,
            ast::TypeKind::Integer(false, None) => Ty::Int(None),
            ast::TypeKind::Integer(true, None) => {
                self.error(ty.span, "`long` without a range is not supported")
                    .help("give a range within 32 bits: `long (0, 1000)`, or use `int`");
                Ty::Int(None)
            }
            ast::TypeKind::Integer(_, Some(range)) => self.range(range, ty.span),
            ast::TypeKind::Real(_) => {
                self.error(ty.span, "`float` and `double` are not supported")
                    .help("use an `int` with a fixed unit");
                Ty::Error
            }
            ast::TypeKind::Tid => Ty::Tid,
            ast::TypeKind::String => Ty::String,
            ast::TypeKind::Lock => Ty::Lock,
            ast::TypeKind::Array(element) => Ty::Array(Rc::new(self.ty(element))),
            ast::TypeKind::Named(name) => self.named_type(name),
            ast::TypeKind::Extension(extension, name, args) => self.extension_type(extension, name, args),
            ast::TypeKind::Variable(name) => {
                self.error(ty.span, format!("the type variable `` `{} `` outside an extension", name.text))
                    .help("type variables are only used in the definitions of an extension");
                Ty::Error
            }
            ast::TypeKind::Function(..) => {
                self.error(ty.span, "function types are not supported").help("use a virtual table");
                Ty::Error
            }
        }
    }

    fn named_type(&mut self, name: &ast::Name) -> Ty {
        match self.names.get(&name.text).cloned() {
            Some(Item::Record(id)) => Ty::Record(id),
            Some(Item::Enum(id)) => Ty::Enum(id),
            Some(Item::Alias(index)) => {
                let alias = self.aliases[index].clone();
                if self.open_aliases.contains(&index) {
                    self.error(name.span, format!("the type alias `{}` means itself", name.text))
                        .related(alias.name.span, "declared here");
                    return Ty::Error;
                }
                self.open_aliases.push(index);
                let ty = self.ty(&alias.ty);
                self.open_aliases.pop();
                ty
            }
            Some(other) => {
                let what = other.what();
                self.error(name.span, format!("`{}` is {what}, not a type", name.text));
                Ty::Error
            }
            None => {
                self.unknown(name, "type");
                Ty::Error
            }
        }
    }

    fn range(&mut self, range: &ast::Range, span: Span) -> Ty {
        let (Some(low), Some(high)) = (self.constant_int(&range.low), self.constant_int(&range.high)) else {
            return Ty::Error;
        };
        if low > high {
            self.error(span, format!("the range ({low}, {high}) is empty"))
                .help("write the lower bound first");
            return Ty::Error;
        }
        Ty::Int(Some(RangeType { low, high, wrap: range.wrap }))
    }

    /// The representation of a type.
    pub(super) fn ir(&mut self, ty: &Ty) -> Type {
        match ty {
            Ty::Error | Ty::Null | Ty::Int(None) | Ty::Variable(_) => Type::Int(IntType::INT),
            Ty::Boolean => Type::Enumeration(self.booleans),
            Ty::Int(Some(range)) => Type::Range(*range),
            Ty::Tid => Type::Thread,
            Ty::String => Type::Enumeration(self.strings),
            Ty::Lock => Type::Reference(Referent::Lock),
            Ty::Enum(id) => Type::Enumeration(*id),
            Ty::Record(_) | Ty::Array(_) | Ty::Collection(..) => Type::Reference(self.referent(ty)),
        }
    }

    /// What a reference of this type leads to. The top record is what arrays extend, too: its references may lead to anything.
    pub(super) fn referent(&mut self, ty: &Ty) -> Referent {
        match ty {
            Ty::Record(id) if Some(*id) == self.top => Referent::Any,
            Ty::Record(id) => Referent::Record(*id),
            Ty::Array(element) => Referent::Array(self.array_type(element)),
            Ty::Collection(extension, args) => Referent::Collection(self.collection_type(*extension, args)),
            Ty::Lock => Referent::Lock,
            _ => Referent::Any,
        }
    }

    /// The kind of array objects with this element type.
    pub(super) fn array_type(&mut self, element: &Ty) -> ArrayTypeId {
        if let Some(known) = self.array_types.iter().position(|t| t == element) {
            return ArrayTypeId(known as u32);
        }
        // The number is given first: the element's representation may need array types of its own.
        let id = self.array_types.len();
        self.array_types.push(element.clone());
        let name = format!("{}[]", self.show(element));
        let placeholder = ArrayType { name, element: Type::Int(IntType::INT), lock: false };
        self.program.array_types.push(placeholder);
        self.program.array_types[id].element = self.ir(element);
        ArrayTypeId(id as u32)
    }

    /// The kind of collections of this extension with these arguments.
    pub(super) fn collection_type(&mut self, extension: usize, args: &[Ty]) -> CollectionTypeId {
        let key = (extension, args.to_vec());
        if let Some(known) = self.collection_types.iter().position(|t| *t == key) {
            return CollectionTypeId(known as u32);
        }
        let id = self.collection_types.len();
        self.collection_types.push(key);
        let name = self.show(&Ty::Collection(extension, args.to_vec()));
        let Class::Collection(class) = self.extensions[extension].class.clone() else {
            return CollectionTypeId(0); // only collections have types; `extension_type` has seen to it
        };
        self.program.collection_types.push(CollectionType { name, extension: class, columns: Vec::new() });
        let columns = args.iter().map(|a| self.ir(a)).collect();
        self.program.collection_types[id].columns = columns;
        CollectionTypeId(id as u32)
    }

    /// Whether a value of type `from` can be stored in a variable of type `to`.
    pub(super) fn fits(&self, from: &Ty, to: &Ty) -> bool {
        match (from, to) {
            (Ty::Error, _) | (_, Ty::Error) | (Ty::Int(_), Ty::Int(_)) => true,
            (Ty::Null, to) => to.is_reference(),
            (Ty::Record(a), Ty::Record(b)) => self.program.extends(*a, *b),
            (Ty::Array(_), Ty::Record(b)) => Some(*b) == self.top,
            (from, to) => from == to,
        }
    }

    /// Whether values of the two types can be compared for equality.
    pub(super) fn comparable(&self, a: &Ty, b: &Ty) -> bool {
        self.fits(a, b) || self.fits(b, a)
    }

    /// The type as a user writes it.
    pub(super) fn show(&self, ty: &Ty) -> String {
        match ty {
            Ty::Error => "?".into(),
            Ty::Null => "null".into(),
            Ty::Boolean => "boolean".into(),
            Ty::Int(None) => "int".into(),
            Ty::Int(Some(r)) => format!("int{} ({}, {})", if r.wrap { " wrap" } else { "" }, r.low, r.high),
            Ty::Tid => "tid".into(),
            Ty::String => "string".into(),
            Ty::Lock => "lock".into(),
            Ty::Enum(id) => self.program.enumerations[id.0 as usize].name.clone(),
            Ty::Record(id) => self.program.record(*id).name.clone(),
            Ty::Array(element) => format!("{}[]", self.show(element)),
            Ty::Variable(name) => format!("`{name}"),
            Ty::Collection(extension, args) => {
                let args: Vec<String> = args.iter().map(|a| self.show(a)).collect();
                let extension = &self.extensions[*extension];
                format!("{}.{}<{}>", extension.name, extension.type_name, args.join(", "))
            }
        }
    }
}
