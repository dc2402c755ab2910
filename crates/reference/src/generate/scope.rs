//! What a piece of generated code may mention, and random references to it.

use crate::construct::*;
use quotient_promela::ast::*;
use quotient_testing::Random;

/// The type of a variable.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Scalar(TypeName, u32),
    Struct(usize),
}

/// A variable that may be mentioned.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub name: String,
    pub ty: Type,
    pub length: Option<usize>,
    /// Hidden variables may be written but never read: their value depends on the path.
    pub readable: bool,
    /// Loop counters may be read but are written only by their loop.
    pub writable: bool,
}

/// A channel that may be used.
#[derive(Clone, Debug)]
pub(super) struct Chan {
    pub name: String,
    pub length: Option<usize>,
    pub capacity: usize,
    pub fields: Vec<TypeName>,
    /// May be sent in messages: it outlives whoever receives it.
    pub lasting: bool,
}

/// A field of a typedef.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub ty: Type,
    pub length: Option<usize>,
}

/// Another process that remote references may mention.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    pub proctype: String,
    pub pid: usize,
    /// The only process of its proctype, so that the number may be left out.
    pub only: bool,
    pub labels: Vec<String>,
    pub variables: Vec<String>,
}

/// What is in scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub structs: Vec<Vec<Field>>,
    pub vars: Vec<Var>,
    pub chans: Vec<Chan>,
    /// Names of mtype constants.
    pub mtypes: Vec<String>,
    /// The sets they come from; `None` is the unnamed one.
    pub mtype_sets: Vec<Option<Ident>>,
    pub remotes: Vec<Remote>,
    /// Chan variables of the proctype, to receive channels into.
    pub chan_vars: Vec<String>,
}

/// The smallest and largest value of a scalar type.
pub(super) fn range(ty: &TypeName, width: u32) -> (i64, i64) {
    match ty {
        TypeName::Bit | TypeName::Bool => (0, 1),
        TypeName::Byte | TypeName::Pid | TypeName::Mtype(_) | TypeName::Chan => (0, 255),
        TypeName::Short => (i16::MIN as i64, i16::MAX as i64),
        TypeName::Int | TypeName::Named(_) | TypeName::Ftype | TypeName::Pointer(_) => {
            (i32::MIN as i64, i32::MAX as i64)
        }
        TypeName::Unsigned => (0, (1i64 << width) - 1),
    }
}

/// A scalar chosen at random: the reference, its type, and the name of its variable.
pub(super) struct Chosen {
    pub reference: Reference,
    pub ty: TypeName,
    pub width: u32,
    pub base: String,
    /// An element of an array of bits, which SPIN stores in a byte.
    pub element: bool,
}

impl Scope {
    /// A random scalar of a variable that satisfies `wanted`; indices by `index`.
    pub fn scalar(
        &self,
        random: &mut Random,
        wanted: &dyn Fn(&Var) -> bool,
        index: &mut dyn FnMut(&mut Random, usize, &str) -> Expr,
    ) -> Option<Chosen> {
        let candidates: Vec<&Var> = self.vars.iter().filter(|v| wanted(v)).collect();
        let var = *random.pick(&candidates)?;
        let mut part = |random: &mut Random, name: &str, length: Option<usize>| Part {
            name: ident(name),
            index: length.map(|n| Box::new(index(random, n, &var.name))),
        };
        let mut parts = vec![part(random, &var.name, var.length)];
        let mut ty = var.ty.clone();
        let mut element = var.length.is_some();
        loop {
            match ty {
                Type::Scalar(ty, width) => {
                    let reference = Reference { parts, span: nowhere() };
                    return Some(Chosen { reference, ty, width, base: var.name.clone(), element });
                }
                Type::Struct(structure) => {
                    let field = random.pick(&self.structs[structure])?;
                    parts.push(part(random, &field.name, field.length));
                    element = field.length.is_some();
                    ty = field.ty.clone();
                }
            }
        }
    }

    /// A reference to a channel, array elements by a constant index.
    pub fn channel(&self, random: &mut Random, chan: &Chan) -> Reference {
        match chan.length {
            None => name(&chan.name),
            Some(length) => element(&chan.name, number(random.below(length) as i32)),
        }
    }
}
