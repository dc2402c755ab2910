//! Classes of values: what copies and comparisons bring together.
//!
//! Every scalar that a program stores has a class, and so has every position where an array is indexed. An assignment, a
//! message, a comparison for equality, an index joins the classes of both sides, since a renaming must treat them alike.
//! Arithmetic does not: it relates classes ([`crate::term`]).

use std::collections::BTreeMap;

use quotient_program::{ChannelTypeId, Expr, Init, IntType, Program, Type, Variable};
use quotient_source::Span;

/// Number of a class; several numbers may stand for one class.
pub(crate) type ClassId = usize;

/// Ids of threads.
pub(crate) const THREAD: ClassId = 0;
/// Numbers of channels.
pub(crate) const CHANNEL: ClassId = 1;

/// What is known of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// Constants the program compares with or stores, each with a place: a renaming must leave them alone.
    pub(crate) constants: BTreeMap<i32, Span>,
    /// Values that are only there at the start.
    pub(crate) initial: Vec<i32>,
    /// The widths it is stored in.
    pub(crate) stored: Vec<IntType>,
    /// Lengths of the arrays it indexes.
    pub(crate) lengths: Vec<u32>,
    /// Some of the cells it indexes hold channels of their own.
    pub(crate) owns_channels: bool,
    /// It may hold any number from the start.
    pub(crate) open: bool,
}

/// Union-find over classes.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    parent: Vec<ClassId>,
    pub(crate) class: Vec<Class>,
}

impl Classes {
    pub(crate) fn new() -> Classes {
        let mut classes = Classes { parent: Vec::new(), class: Vec::new() };
        classes.fresh(); // THREAD
        classes.fresh(); // CHANNEL
        classes
    }

    pub(crate) fn fresh(&mut self) -> ClassId {
        self.parent.push(self.parent.len());
        self.class.push(Class::default());
        self.parent.len() - 1
    }

    pub(crate) fn find(&self, mut id: ClassId) -> ClassId {
        while self.parent[id] != id {
            id = self.parent[id];
        }
        id
    }

    pub(crate) fn join(&mut self, a: ClassId, b: ClassId) {
        let (a, b) = (self.find(a), self.find(b));
        let (keep, lose) = (a.min(b), a.max(b));
        if keep == lose {
            return;
        }
        self.parent[lose] = keep;
        let lost = std::mem::take(&mut self.class[lose]);
        let kept = &mut self.class[keep];
        for (value, span) in lost.constants {
            kept.constants.entry(value).or_insert(span);
        }
        kept.initial.extend(lost.initial);
        kept.stored.extend(lost.stored);
        kept.lengths.extend(lost.lengths);
        kept.owns_channels |= lost.owns_channels;
        kept.open |= lost.open;
    }

    pub(crate) fn constant(&mut self, class: ClassId, value: i32, at: Span) {
        let class = self.find(class);
        self.class[class].constants.entry(value).or_insert(at);
    }

    pub(crate) fn get(&self, class: ClassId) -> &Class {
        &self.class[self.find(class)]
    }

    /// All classes that stand for themselves.
    pub(crate) fn all(&self) -> impl Iterator<Item = ClassId> + '_ {
        (0..self.parent.len()).filter(|id| self.parent[*id] == *id)
    }
}

/// The scalars of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Scalar { class: ClassId, channel: Option<ChannelTypeId> },
    Structure(Vec<Shape>),
    Array { index: ClassId, length: u32, element: Box<Shape> },
}

impl Shape {
    pub(crate) fn new(program: &Program, variable: &Variable, classes: &mut Classes) -> Shape {
        let channel = match variable.init {
            Init::Channels(kind) => Some(kind),
            _ => None,
        };
        Shape::of_type(program, &variable.ty, channel, classes)
    }

    /// The shape of a field, which may have an initial value of its own.
    fn of_field(program: &Program, field: &Variable, classes: &mut Classes) -> Shape {
        let shape = Shape::new(program, field, classes);
        let values: Vec<&Expr> = match &field.init {
            Init::Fill(e) => vec![e],
            Init::List(list) => list.iter().collect(),
            _ => Vec::new(),
        };
        shape.scalars(&mut |class| {
            for value in &values {
                match value.constant() {
                    Some(value) => classes.class[class].initial.push(value),
                    None => classes.class[class].open = true,
                }
            }
        });
        shape
    }

    fn of_type(program: &Program, ty: &Type, channel: Option<ChannelTypeId>, classes: &mut Classes) -> Shape {
        match ty {
            Type::Structure(id) => Shape::Structure(
                program
                    .structure(*id)
                    .fields
                    .iter()
                    .map(|field| Shape::of_field(program, field, classes))
                    .collect(),
            ),
            Type::Array(element, length) => {
                let index = classes.fresh();
                let element = Shape::of_type(program, element, channel, classes);
                classes.class[index].lengths.push(*length);
                classes.class[index].owns_channels = element.makes_channels();
                Shape::Array { index, length: *length, element: Box::new(element) }
            }
            scalar => Shape::Scalar { class: scalar_class(scalar, classes), channel },
        }
    }

    /// Whether a variable of this shape comes with channels of its own.
    pub(crate) fn makes_channels(&self) -> bool {
        match self {
            Shape::Scalar { channel, .. } => channel.is_some(),
            Shape::Structure(fields) => fields.iter().any(Shape::makes_channels),
            Shape::Array { element, .. } => element.makes_channels(),
        }
    }

    /// Calls `f` with the class of every scalar.
    pub(crate) fn scalars(&self, f: &mut dyn FnMut(ClassId)) {
        match self {
            Shape::Scalar { class, .. } => f(*class),
            Shape::Structure(fields) => fields.iter().for_each(|s| s.scalars(f)),
            Shape::Array { element, .. } => element.scalars(f),
        }
    }
}

/// A class for a scalar that is stored; it holds zero at first.
pub(crate) fn scalar_class(ty: &Type, classes: &mut Classes) -> ClassId {
    match ty {
        Type::Channel => CHANNEL,
        ty => {
            let class = classes.fresh();
            classes.class[class].stored.push(match ty {
                Type::Int(int) => *int,
                _ => IntType::BYTE,
            });
            classes.class[class].initial.push(0);
            class
        }
    }
}
