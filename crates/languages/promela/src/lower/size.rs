//! Whether states can fit.
//!
//! Array lengths multiply through nested structures, so a short model can ask for more bytes than any machine has. Sizes
//! are counted here before anything is laid out or taken apart: of each typedef and variable as it is declared, of each kind of channel, and
//! of all that exists when the model starts. Numbers saturate, and a structure is counted once, however often it is used.

use quotient_program::{ChannelTypeId, FunctionId, Init, IntType, Program, StructureId, Type, Variable};
use quotient_source::{Diagnostic, Span};

use super::Lowering;

/// Most bytes of a variable, of a channel, and of a state at the start.
const MOST_BYTES: u64 = 16 << 20;
/// Most values in one message, and in a structure that is copied as a whole.
const MOST_FIELDS: u64 = 4096;
/// How deep structures may lie inside each other.
const MOST_LEVELS: u32 = 64;

/// Bytes and scalars of something, and how deep they lie in structures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    bytes: u64,
    scalars: u64,
    levels: u32,
}

impl Size {
    fn plus(self, other: Size) -> Size {
        Size {
            bytes: self.bytes.saturating_add(other.bytes),
            scalars: self.scalars.saturating_add(other.scalars),
            levels: self.levels.max(other.levels),
        }
    }

    fn times(self, count: u64) -> Size {
        Size {
            bytes: self.bytes.saturating_mul(count),
            scalars: self.scalars.saturating_mul(count),
            levels: self.levels,
        }
    }
}

impl Lowering<'_> {
    fn size(&self, ty: &Type) -> Size {
        match ty {
            Type::Array(element, length) => self.size(element).times(u64::from(*length)),
            Type::Structure(id) => self.names.sizes.get(id).copied().unwrap_or_default(),
            Type::Int(IntType { bits, .. }) => {
                Size { bytes: u64::from(*bits).div_ceil(8).next_power_of_two(), scalars: 1, levels: 0 }
            }
            _ => Size { bytes: 2, scalars: 1, levels: 0 },
        }
    }

    /// Finds the sizes of all structures, those inside first. A field that makes its structure contain itself is reported and counts as
    /// a byte; one that is too large is reported and counts as nothing, so that nothing else is wrong because of it.
    pub(super) fn measure_structures(&mut self) {
        let count = self.program.structures.len();
        let mut open = vec![false; count];
        for start in 0..count as u32 {
            // (structure, next field to look at)
            let mut stack = vec![(StructureId(start), 0)];
            while let Some((id, field)) = stack.pop() {
                if self.names.sizes.contains_key(&id) {
                    continue;
                }
                open[id.0 as usize] = true;
                let fields = &self.program.structure(id).fields;
                let Some(variable) = fields.get(field) else {
                    let sizes = fields.iter().map(|f| self.size(&f.ty)).map(|size| match size.bytes {
                        0..=MOST_BYTES => size,
                        _ => Size { levels: size.levels, ..Size::default() },
                    });
                    let mut size = sizes.fold(Size::default(), Size::plus);
                    size.levels += 1;
                    open[id.0 as usize] = false;
                    self.names.sizes.insert(id, size);
                    continue;
                };
                let (ty, name, span) = (variable.ty.clone(), variable.name.clone(), variable.span);
                let inner = match innermost(&ty) {
                    Type::Structure(inner) => Some(*inner),
                    _ => None,
                };
                match inner.filter(|inner| !self.names.sizes.contains_key(inner)) {
                    Some(inner) if open[inner.0 as usize] => {
                        let message = format!("`{}` contains itself", self.program.structure(inner).name);
                        self.report(Diagnostic::error(span, message).help(
                            "a structure lies inside the one that has it as a field: use an index instead",
                        ));
                        self.program.structures[id.0 as usize].fields[field].ty = Type::Int(IntType::BYTE);
                        stack.push((id, field + 1));
                    }
                    Some(inner) => stack.extend([(id, field), (inner, 0)]),
                    None => {
                        let ty = self.fitting(ty, &name, span);
                        self.program.structures[id.0 as usize].fields[field].ty = ty;
                        stack.push((id, field + 1));
                    }
                }
            }
        }
    }

    /// A structure that is as large as another.
    pub(super) fn same_size(&mut self, known: StructureId, new: StructureId) {
        let size = self.names.sizes.get(&known).copied().unwrap_or_default();
        self.names.sizes.insert(new, size);
    }

    /// The type; an error where a variable of it does not fit. It is a byte where it would have no end.
    pub(super) fn fitting(&mut self, ty: Type, name: &str, span: Span) -> Type {
        let Size { bytes, levels, .. } = self.size(&ty);
        if levels > MOST_LEVELS {
            self.report(
                Diagnostic::error(span, format!("more than {MOST_LEVELS} structures inside each other"))
                    .help("use indices into arrays instead"),
            );
            return Type::Int(IntType::BYTE);
        }
        if bytes > MOST_BYTES {
            self.too_large(span, format!("`{name}` takes {}", amount(bytes)));
        }
        ty
    }

    fn too_large(&mut self, span: Span, what: String) {
        self.report(
            Diagnostic::error(span, format!("{what}; there is room for {}", amount(MOST_BYTES)))
                .help("every state holds all of it: use shorter arrays, or fewer of them"),
        );
    }

    /// Whether a value of this type can be copied as a whole.
    pub(super) fn can_be_copied(&mut self, ty: &Type, span: Span) -> bool {
        let scalars = self.size(ty).scalars;
        if scalars > MOST_FIELDS {
            self.report(
                Diagnostic::error(
                    span,
                    format!("{scalars} values at once; at most {MOST_FIELDS} can be copied in one step"),
                )
                .help("name the part that is meant"),
            );
        }
        scalars <= MOST_FIELDS
    }

    /// Whether messages of these fields, so many of them, can fit.
    pub(super) fn channel_fits(&mut self, fields: &[Type], capacity: u32, span: Span) -> bool {
        let message = fields.iter().fold(Size::default(), |sum, ty| sum.plus(self.size(ty)));
        if message.scalars > MOST_FIELDS {
            self.report(
                Diagnostic::error(
                    span,
                    format!("a message of {} values; at most {MOST_FIELDS} are possible", message.scalars),
                )
                .help("send an index or a channel instead of what it stands for"),
            );
            return false;
        }
        let bytes = message.times(u64::from(capacity)).bytes;
        if bytes > MOST_BYTES {
            self.too_large(span, format!("this channel takes {}", amount(bytes)));
        }
        bytes <= MOST_BYTES
    }

    /// Whether the first state can fit: globals and the processes it starts with, each with its channels.
    pub(super) fn check_first_state(&mut self) {
        let mut total = 0u64;
        let mut largest: Option<(u64, String, Span)> = None;
        let mut add = |bytes: u64, name: &str, span: Span| {
            total = total.saturating_add(bytes);
            if largest.as_ref().is_none_or(|(most, ..)| bytes > *most) {
                largest = Some((bytes, name.to_owned(), span));
            }
        };
        for variable in &self.program.globals {
            add(self.with_channels(variable), &variable.name, variable.span);
        }
        let mut started = vec![0u64; self.program.functions.len()];
        for FunctionId(f) in &self.program.initial {
            started[*f as usize] += 1;
        }
        for (function, count) in self.program.functions.iter().zip(started).filter(|(_, count)| *count > 0) {
            let each = function.locals.iter().fold(4u64, |sum, v| sum.saturating_add(self.with_channels(v)));
            add(each.saturating_mul(count), &function.name, function.span);
        }
        if let Some((bytes, name, span)) = largest
            && total > MOST_BYTES
        {
            let what = format!("a state takes {}, {} of them for `{name}`", amount(total), amount(bytes));
            self.too_large(span, what);
        }
    }

    /// Bytes of a variable and of the channels that are made for it.
    fn with_channels(&self, variable: &Variable) -> u64 {
        let size = self.size(&variable.ty);
        let channels = channels(&self.program, &variable.ty, &variable.init);
        size.bytes.saturating_add(channels)
    }
}

/// Bytes of the channels that a variable of this type and initial value makes.
fn channels(program: &Program, ty: &Type, init: &Init) -> u64 {
    match (ty, init) {
        (Type::Array(element, length), init) => {
            channels(program, element, init).saturating_mul(u64::from(*length))
        }
        (Type::Structure(id), _) => program
            .structure(*id)
            .fields
            .iter()
            .fold(0, |sum: u64, f| sum.saturating_add(channels(program, &f.ty, &f.init))),
        (_, Init::Channels(ChannelTypeId(kind))) => {
            let kind = &program.channel_types[*kind as usize];
            // At most four bytes for each value of a message.
            2 + 4 * kind.fields.len() as u64 * u64::from(kind.capacity)
        }
        _ => 0,
    }
}

/// The type of the elements of an array.
fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Array(element, _) => innermost(element),
        other => other,
    }
}

fn amount(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        10_000_000..=9_999_999_999 => format!("{} MiB", bytes >> 20),
        u64::MAX => "more bytes than can be counted".into(),
        _ => format!("{} GiB", bytes >> 30),
    }
}
