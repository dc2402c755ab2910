//! Where a state names objects and threads: links, and what a value names at all.

use quotient_program::{Program, Type, Variable};

use super::cell::size_of_type;

/// A cell that names an object or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Its byte within the segment (or element, message, row).
    pub(crate) at: u32,
    /// It names a thread (one byte) rather than an object (two bytes).
    pub(crate) thread: bool,
}

impl Link {
    /// What it holds: 0 for nothing.
    ///
    /// # Safety
    /// `at` must be the first byte of the cell, inside a state.
    #[inline]
    pub(crate) unsafe fn load(self, at: *const u8) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { if self.thread { u32::from(*at) } else { u32::from(at.cast::<u16>().read_unaligned()) } }
    }

    /// Stores a number.
    ///
    /// # Safety
    /// As for [`Link::load`], and nobody else uses the state.
    #[inline]
    pub(crate) unsafe fn store(self, at: *mut u8, number: u32) {
        // SAFETY: by this function's contract.
        unsafe {
            if self.thread {
                *at = number as u8;
            } else {
                at.cast::<u16>().write_unaligned(number as u16);
            }
        }
    }

    pub(crate) fn size(self) -> u32 {
        if self.thread { 1 } else { 2 }
    }
}

/// What a value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Nothing: a number.
    Data,
    Object,
    Thread,
    /// Zero, or nothing is known or wanted: it fits everywhere.
    Any,
}

impl Sort {
    pub(crate) fn of_type(ty: &Type) -> Sort {
        match ty {
            Type::Reference(_) => Sort::Object,
            Type::Thread => Sort::Thread,
            _ => Sort::Data,
        }
    }

    pub(crate) fn of_expr(expr: &quotient_program::Expr) -> Sort {
        use quotient_program::Expr;
        match expr {
            Expr::Const(0) => Sort::Any,
            Expr::Load(place) => Sort::of_type(&place.ty),
            Expr::Spanned(inner, _) => Sort::of_expr(inner),
            Expr::Cast { .. } => Sort::Object,
            Expr::SelfThread => Sort::Thread,
            Expr::Conditional(_, a, b) => match Sort::of_expr(a) {
                Sort::Any => Sort::of_expr(b),
                sort => sort,
            },
            _ => Sort::Data,
        }
    }

    /// Do the values of a send, or what a receive wants, fit the fields of a channel?
    pub(crate) fn fit(sorts: &[Sort], fields: &[Sort]) -> bool {
        sorts.iter().zip(fields).all(|(a, b)| *a == Sort::Any || a == b)
    }
}

/// Links of a value at byte `at`.
pub(crate) fn links_of(program: &Program, ty: &Type, at: u32, out: &mut Vec<Link>) {
    match ty {
        Type::Reference(_) => out.push(Link { at, thread: false }),
        Type::Thread => out.push(Link { at, thread: true }),
        Type::Array(element, length) => {
            let size = size_of_type(program, element);
            (0..*length).for_each(|i| links_of(program, element, at + i * size, out));
        }
        Type::Structure(id) => {
            let mut at = at;
            for field in &program.structure(*id).fields {
                links_of(program, &field.ty, at, out);
                at += size_of_type(program, &field.ty);
            }
        }
        Type::Int(_) | Type::Range(_) | Type::Enumeration(_) | Type::Channel | Type::Function => {}
    }
}

pub(crate) fn links_of_variables<'a>(
    program: &Program,
    variables: impl Iterator<Item = (&'a Variable, &'a u32)>,
) -> Vec<Link> {
    let mut out = Vec::new();
    variables.for_each(|(v, at)| links_of(program, &v.ty, *at, &mut out));
    out
}
