//! Extensions: what they declare, and how their operations are used.
//!
//! The name after `for` (its last part, without `Module`) selects what implements the extension: one of the built-in
//! collections, `Choose`, or one that the embedding program registered. The declared signatures give the types; the
//! operations themselves are those of [`quotient_program::Extension`], and for collections also `create` (a new
//! collection with these members) and `any` (one of the members, each being explored).

use std::rc::Rc;
use std::sync::Arc;

use quotient_program::{Action, Allocation, Choice, Expr, Extension, Place, built_in};
use quotient_source::Span;

use super::types::Ty;
use super::{Item, Lower};
use crate::ast::{self, DefinitionKind, ExtensionUse, Member, System};

/// What implements an extension.
#[derive(Clone, Debug)]
pub(super) enum Class {
    Collection(Arc<dyn Extension>),
    Choose,
    Unknown,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Effect {
    /// The operation of the collection with this number; the flag tells whether it only looks.
    Operation(u32, bool),
    /// A new collection.
    Create,
    /// One of the members.
    Choose,
    /// `Choose.of(a, b, …)`
    ChooseOf,
    /// `Choose.range(low, high)`
    ChooseRange,
    /// `Choose.flag()`
    ChooseFlag,
}

/// An operation with its declared signature.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    name: Rc<str>,
    effect: Effect,
    variables: Vec<Rc<str>>,
    params: Vec<Ty>,
    variadic: bool,
    result: Option<Ty>,
}

/// An extension as declared.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: Rc<str>,
    pub(super) class: Class,
    pub(super) type_name: Rc<str>,
    type_arity: Option<usize>,
    operations: Vec<Operation>,
}

/// An operation whose arguments have been checked.
pub(super) struct Checked {
    pub(super) effect: Effect,
    pub(super) args: Vec<Expr>,
    types: Vec<Ty>,
    pub(super) result: Option<Ty>,
}

impl Lower<'_> {
    /// Finds what implements an extension and its type, so that the type can be named.
    pub(super) fn new_extension(&mut self, e: &ast::Extension) -> usize {
        let last = e.class.text.rsplit('.').next().unwrap_or("");
        let wanted = last.strip_suffix("Module").filter(|s| !s.is_empty()).unwrap_or(last);
        let registered = self.options.extensions.iter().find(|x| x.name() == wanted).cloned();
        let class = match registered.or_else(|| built_in(wanted)) {
            Some(class) => Class::Collection(class),
            None if wanted == "Choose" => Class::Choose,
            None => {
                let mut known: Vec<&str> = vec!["Set", "Bag", "Map", "Queue", "Choose"];
                known.extend(self.options.extensions.iter().map(|x| x.name()));
                let help = format!("known extensions are {}", known.join(", "));
                self.error(e.class.span, format!("there is no extension `{}`", e.class.text)).help(help);
                Class::Unknown
            }
        };
        let mut declared = Declared {
            name: e.name.text.clone(),
            class,
            type_name: "".into(),
            type_arity: None,
            operations: Vec::new(),
        };
        for d in e.definitions.iter().filter(|d| matches!(d.kind, DefinitionKind::Type(_))) {
            if declared.type_arity.is_some() || matches!(declared.class, Class::Choose) {
                self.error(d.name.span, format!("the extension `{}` cannot have this type", e.name.text))
                    .help("a collection has one type; `Choose` has none");
                continue;
            }
            let wanted = if wanted == "Map" { 2 } else { 1 };
            let built_in = built_in(wanted_name(&declared.class)).is_some();
            if built_in && d.variables.len() != wanted {
                let plural = if wanted == 1 { "" } else { "s" };
                self.error(d.name.span, format!("this type needs {wanted} type variable{plural}")).help(
                    if wanted == 1 { "write `typedef type<`a>;`" } else { "write `typedef type<`k, `v>;`" },
                );
            }
            declared.type_name = d.name.text.clone();
            declared.type_arity = Some(d.variables.len());
        }
        self.extensions.push(declared);
        self.extensions.len() - 1
    }

    /// Signatures of operations; types are known by now.
    pub(super) fn declare_extensions(&mut self, system: &System) {
        let extensions = system.members.iter().filter_map(|m| match m {
            Member::Extension(e) => Some(e),
            _ => None,
        });
        for (index, e) in extensions.enumerate() {
            for d in &e.definitions {
                if let Some(operation) = self.operation_definition(index, d) {
                    self.extensions[index].operations.push(operation);
                }
            }
        }
    }

    fn operation_definition(&mut self, index: usize, d: &ast::Definition) -> Option<Operation> {
        let result = match &d.kind {
            DefinitionKind::Type(_) => return None,
            DefinitionKind::Expression(ty) => Some(self.signature_type(ty, &d.variables)),
            DefinitionKind::Action => None,
        };
        let params: Vec<Ty> = d.params.iter().map(|p| self.signature_type(p, &d.variables)).collect();
        let class = self.extensions[index].class.clone();
        let (effect, arity) = match (&class, &*d.name.text) {
            (Class::Unknown, _) => return None,
            (Class::Choose, "of") => (Effect::ChooseOf, None),
            (Class::Choose, "range") => (Effect::ChooseRange, Some(2)),
            (Class::Choose, "flag") => (Effect::ChooseFlag, Some(0)),
            (Class::Collection(_), "create") => (Effect::Create, None),
            (Class::Collection(_), "any") => (Effect::Choose, Some(1)),
            (Class::Collection(class), name) => match class.operation(name) {
                Some((number, arity)) => (Effect::Operation(number, class.is_query(number)), Some(arity + 1)),
                None => {
                    return self
                        .no_operation(d, "see docs/bir.md for the operations of the built-in collections");
                }
            },
            (Class::Choose, _) => {
                return self.no_operation(d, "the operations of `Choose` are of, range and flag");
            }
        };
        if let Some(arity) = arity
            && (params.len() != arity || d.variadic)
        {
            self.wrong_count(d.name.span, &d.name.text, arity, params.len());
            return None;
        }
        let variables = d.variables.iter().map(|v| v.text.clone()).collect();
        Some(Operation { name: d.name.text.clone(), effect, variables, params, variadic: d.variadic, result })
    }

    fn no_operation(&mut self, d: &ast::Definition, help: &str) -> Option<Operation> {
        self.error(d.name.span, format!("the extension has no operation `{}`", d.name.text)).help(help);
        None
    }

    /// A type in a signature, where type variables are allowed.
    fn signature_type(&mut self, ty: &ast::Type, variables: &[ast::Name]) -> Ty {
        match &ty.kind {
            ast::TypeKind::Variable(name) => {
                if !variables.iter().any(|v| v.text == name.text) {
                    self.error(ty.span, format!("the type variable `` `{} `` is not declared", name.text))
                        .help("declare it after the name of the operation: `add<`a>(…)`");
                    return Ty::Error;
                }
                Ty::Variable(name.text.clone())
            }
            ast::TypeKind::Extension(extension, name, args) => {
                let args = args.iter().map(|a| self.signature_type(a, variables)).collect();
                self.collection(extension, name, args)
            }
            ast::TypeKind::Array(element) => Ty::Array(Rc::new(self.signature_type(element, variables))),
            _ => self.ty(ty),
        }
    }

    /// `X.t<…>`
    pub(super) fn extension_type(
        &mut self,
        extension: &ast::Name,
        name: &ast::Name,
        args: &[ast::Type],
    ) -> Ty {
        let args = args.iter().map(|a| self.ty(a)).collect();
        self.collection(extension, name, args)
    }

    fn collection(&mut self, extension: &ast::Name, name: &ast::Name, args: Vec<Ty>) -> Ty {
        let Some(Item::Extension(index)) = self.names.get(&extension.text).cloned() else {
            self.unknown(extension, "extension");
            return Ty::Error;
        };
        let declared = &self.extensions[index];
        match declared.type_arity {
            _ if matches!(declared.class, Class::Unknown) => Ty::Error,
            Some(arity) if declared.type_name == name.text => {
                if arity != args.len() {
                    let plural = if arity == 1 { "" } else { "s" };
                    let message =
                        format!("`{}.{}` takes {arity} type argument{plural}", extension.text, name.text);
                    self.error(name.span, message);
                    return Ty::Error;
                }
                Ty::Collection(index, args)
            }
            _ => {
                self.error(
                    name.span,
                    format!("the extension `{}` has no type `{}`", extension.text, name.text),
                );
                Ty::Error
            }
        }
    }

    /// Checks the use of an operation. Arguments may contain `new`, if `actions` is given to put it in.
    pub(super) fn extension_use(
        &mut self,
        used: &ExtensionUse,
        span: Span,
        mut actions: Option<&mut Vec<Action>>,
    ) -> Option<Checked> {
        let index = match self.names.get(&used.extension.text).cloned() {
            Some(Item::Extension(index)) => index,
            _ => {
                self.unknown(&used.extension, "extension");
                return None;
            }
        };
        let declared = &self.extensions[index];
        if matches!(declared.class, Class::Unknown) {
            return None;
        }
        let Some(operation) = declared.operations.iter().find(|o| o.name == used.operation.text).cloned()
        else {
            let all: Vec<String> = declared.operations.iter().map(|o| o.name.to_string()).collect();
            let help =
                format!("it declares {}", if all.is_empty() { "none".to_owned() } else { all.join(", ") });
            let message = format!(
                "the extension `{}` declares no operation `{}`",
                used.extension.text, used.operation.text
            );
            self.error(used.operation.span, message).help(help);
            return None;
        };
        let enough = match operation.variadic {
            true => used.args.len() + 1 >= operation.params.len(),
            false => used.args.len() == operation.params.len(),
        };
        if !enough {
            self.wrong_count(span, &operation.name, operation.params.len(), used.args.len());
            return None;
        }
        // Type variables: given, or found from the arguments.
        let mut bindings: Vec<(Rc<str>, Ty)> = Vec::new();
        if !used.types.is_empty() {
            if used.types.len() != operation.variables.len() {
                let wanted = operation.variables.len();
                self.error(
                    span,
                    format!("`{}` takes {wanted} type arguments, not {}", operation.name, used.types.len()),
                );
                return None;
            }
            for (variable, ty) in operation.variables.iter().zip(&used.types) {
                let ty = self.ty(ty);
                bindings.push((variable.clone(), ty));
            }
        }
        // All arguments are looked at before any is checked: a later one may bind what `null` leaves open.
        let (mut args, mut types) = (Vec::new(), Vec::new());
        let param =
            |i: usize| operation.params.get(i).or(operation.params.last()).cloned().unwrap_or(Ty::Error);
        for (i, arg) in used.args.iter().enumerate() {
            let (value, found) = match actions.as_deref_mut() {
                Some(actions) => self.argument(arg, actions),
                None => self.inner(arg),
            };
            bind(&param(i), &found, &mut bindings);
            args.push(value);
            types.push(found);
        }
        for (i, arg) in used.args.iter().enumerate() {
            let wanted = substitute(&param(i), &bindings);
            let value = std::mem::replace(&mut args[i], Expr::Const(0));
            args[i] = match (&wanted, &types[i]) {
                (Ty::Variable(_), Ty::Null) => value,
                (_, found) => self.coerce(arg.span, value, &found.clone(), &wanted),
            };
        }
        let result = operation.result.as_ref().map(|r| substitute(r, &bindings));
        if let Some(unbound) = result.as_ref().and_then(unbound) {
            let message =
                format!("the type variable `` `{unbound} `` of `{}` is not determined", operation.name);
            self.error(span, message).help("give it: `X.op<int>(…)`");
            return None;
        }
        Some(Checked { effect: operation.effect, args, types, result })
    }

    /// An operation inside an expression: it must only look.
    pub(super) fn extension_query(&mut self, used: &ExtensionUse, span: Span) -> (Expr, Ty) {
        let Some(checked) = self.extension_use(used, span, None) else {
            return (super::fun::opaque(), Ty::Error);
        };
        match (checked.effect, checked.result) {
            (Effect::Operation(operation, true), Some(result)) => {
                let mut args = checked.args.into_iter();
                let collection = Box::new(args.next().unwrap_or(Expr::Const(0)));
                let query = Expr::Query { collection, operation, args: args.collect() };
                (Expr::Spanned(Box::new(query), span), result)
            }
            (_, None) => {
                self.error(span, "an action is used as an expression")
                    .help("declare the operation with `expdef`");
                (super::fun::opaque(), Ty::Error)
            }
            (_, Some(_)) => {
                self.error(
                    span,
                    "this operation changes or chooses something, and cannot stand inside an expression",
                )
                .help("assign its result first: `x := X.op(…);`");
                (super::fun::opaque(), Ty::Error)
            }
        }
    }

    /// An operation as an action, its result (if wanted) going to a place.
    pub(super) fn extension_action(
        &mut self,
        used: &ExtensionUse,
        span: Span,
        result: Option<(Place, Ty)>,
        actions: &mut Vec<Action>,
    ) {
        let Some(checked) = self.extension_use(used, span, Some(actions)) else { return };
        let result = match (result, &checked.result) {
            (None, _) => None,
            (Some((place, ty)), Some(found)) => {
                if !self.fits(found, &ty) {
                    self.mismatch(span, found, &ty);
                }
                Some((place, ty))
            }
            (Some(_), None) => {
                self.error(span, "this operation has no result")
                    .help("declare it with `expdef` if it has one");
                return;
            }
        };
        let mut args = checked.args.clone().into_iter();
        match (checked.effect, result) {
            (Effect::Operation(operation, _), result) => {
                let collection = args.next().unwrap_or(Expr::Const(0));
                let result = result.map(|(place, _)| place);
                actions.push(Action::Update { collection, operation, args: args.collect(), result });
            }
            (_, None) => {
                self.error(span, "the result of this operation is not used")
                    .help("assign it: `x := X.op(…);`");
            }
            (Effect::Create, Some((place, ty))) => self.create(place, &ty, &checked, span, actions),
            (Effect::Choose, Some((result, _))) => {
                let collection = args.next().unwrap_or(Expr::Const(0));
                actions.push(Action::Choose { result, choice: Choice::Members(collection) });
            }
            (Effect::ChooseRange, Some((result, _))) => {
                let (low, high) =
                    (args.next().unwrap_or(Expr::Const(0)), args.next().unwrap_or(Expr::Const(0)));
                actions.push(Action::Choose { result, choice: Choice::Range(low, high) });
            }
            (Effect::ChooseFlag, Some((result, _))) => {
                let choice = Choice::Range(Expr::Const(0), Expr::Const(1));
                actions.push(Action::Choose { result, choice });
            }
            (Effect::ChooseOf, Some((place, _))) => self.choose_of(place, checked.args, span, actions),
        }
    }

    /// A number is picked; the alternatives are selected by it.
    fn choose_of(&mut self, place: Place, args: Vec<Expr>, span: Span, actions: &mut Vec<Action>) {
        let count = args.len() as i32;
        if count == 0 {
            self.error(span, "there is nothing to choose from");
            return;
        }
        let (id, _) = self.temporary(&Ty::Int(None), span);
        let number = self.local_place(id, &Ty::Int(None), span);
        let choice = Choice::Range(Expr::Const(0), Expr::Const(count - 1));
        actions.push(Action::Choose { result: number.clone(), choice });
        let mut alternatives = args.into_iter().enumerate().rev();
        let Some((_, mut value)) = alternatives.next() else { return };
        for (i, alternative) in alternatives {
            let picked = Expr::Load(number.clone());
            let test = Expr::Binary(
                quotient_program::BinaryOp::Eq,
                Box::new(picked),
                Box::new(Expr::Const(i as i32)),
            );
            value = Expr::Conditional(Box::new(test), Box::new(alternative), Box::new(value));
        }
        actions.push(Action::Assign(place, value));
    }

    fn create(&mut self, place: Place, ty: &Ty, checked: &Checked, span: Span, actions: &mut Vec<Action>) {
        let Ty::Collection(index, args) = ty else {
            self.error(span, "a new collection is stored in a variable of a collection's type");
            return;
        };
        let Class::Collection(class) = self.extensions[*index].class.clone() else { return };
        let insert = class.operation("add").or_else(|| class.operation("enqueue"));
        for (found, wanted) in checked.types.iter().zip(args.iter().cycle()) {
            if !self.fits(found, wanted) {
                self.mismatch(span, found, wanted);
            }
        }
        let id = self.collection_type(*index, args);
        actions.push(Action::New { result: place.clone(), what: Allocation::Collection(id) });
        for member in &checked.args {
            let Some((operation, 1)) = insert else {
                self.error(span, "this collection cannot be made with members").help("add them one by one");
                return;
            };
            let collection = Expr::Load(place.clone());
            actions.push(Action::Update { collection, operation, args: vec![member.clone()], result: None });
        }
    }
}

fn wanted_name(class: &Class) -> &str {
    match class {
        Class::Collection(class) => class.name(),
        Class::Choose => "Choose",
        Class::Unknown => "",
    }
}

/// Binds the type variables of a parameter by the type of its argument.
fn bind(param: &Ty, found: &Ty, bindings: &mut Vec<(Rc<str>, Ty)>) {
    match (param, found) {
        (Ty::Variable(name), found) => {
            let known = bindings.iter().any(|(n, _)| n == name);
            if !known && !matches!(found, Ty::Null | Ty::Error) {
                // A range binds as the plain integer: it restricts variables, not values.
                let ty = if matches!(found, Ty::Int(_)) { Ty::Int(None) } else { found.clone() };
                bindings.push((name.clone(), ty));
            }
        }
        (Ty::Array(a), Ty::Array(b)) => bind(a, b, bindings),
        (Ty::Collection(a, xs), Ty::Collection(b, ys)) if a == b => {
            for (x, y) in xs.iter().zip(ys) {
                match x {
                    Ty::Variable(name) if !bindings.iter().any(|(n, _)| n == name) => {
                        bindings.push((name.clone(), y.clone()));
                    }
                    _ => bind(x, y, bindings),
                }
            }
        }
        _ => {}
    }
}

/// The type with its variables replaced; those not bound fit everything.
fn substitute(ty: &Ty, bindings: &[(Rc<str>, Ty)]) -> Ty {
    match ty {
        Ty::Variable(name) => {
            bindings.iter().find(|(n, _)| n == name).map_or_else(|| ty.clone(), |(_, t)| t.clone())
        }
        Ty::Array(element) => Ty::Array(Rc::new(substitute(element, bindings))),
        Ty::Collection(index, args) => {
            Ty::Collection(*index, args.iter().map(|a| substitute(a, bindings)).collect())
        }
        other => other.clone(),
    }
}

/// A type variable that is left in a type.
fn unbound(ty: &Ty) -> Option<Rc<str>> {
    match ty {
        Ty::Variable(name) => Some(name.clone()),
        Ty::Array(element) => unbound(element),
        Ty::Collection(_, args) => args.iter().find_map(unbound),
        _ => None,
    }
}
