//! Places to compact code: where a variable, an element, a field lies.

use quotient_program::{Expr, Place, Projection, Root, Type};

use super::claim::local_of;
use super::compile::Compiler;
use super::{Leaf, LenMask, Op, SiteAt};
use crate::explain::fault::Fault;
use crate::state::cell::{Cell, size_of_type};

/// How a place is found.
pub(crate) enum Simple {
    Fixed { local: bool, at: u32 },
    Element { local: bool, at: u32, len: u32, index: Expr },
    No,
}

impl Compiler<'_> {
    /// Code that pushes what a place holds.
    pub(super) fn load(&mut self, function: u32, place: &Place) {
        let cell = Cell::of(&place.ty);
        if let Some(element) = self.element(function, place) {
            self.emit(Op::Leaf(Leaf::Element(element)));
            return;
        }
        match self.simple(function, place) {
            Simple::Fixed { local, at } => {
                self.emit(match (local, cell) {
                    (false, Cell::U8(_)) => Op::Global8(at),
                    (true, Cell::U8(_)) => Op::Local8(at),
                    (false, cell) => Op::Global(at, cell),
                    (true, cell) => Op::Local(at, cell),
                });
            }
            Simple::Element { local, at, len, index } if matches!(cell, Cell::U8(_)) => {
                self.expr(function, &index);
                let site = self.index_site(place, len);
                self.emit(if local {
                    Op::LocalIndex8 { at, len, site }
                } else {
                    Op::GlobalIndex8 { at, len, site }
                });
            }
            _ => {
                self.place(function, place);
                self.emit(Op::Load(cell));
            }
        }
    }

    /// Code that stores what `value` pushes.
    pub(crate) fn store(&mut self, function: u32, place: &Place, value: impl FnOnce(&mut Self)) {
        let cell = Cell::of(&place.ty);
        let value = |c: &mut Self| {
            value(c);
            c.before_store(&place.ty, place.span);
        };
        if let Some(element) = self.element(function, place) {
            value(self);
            self.emit(Op::StoreElement8(element));
            return;
        }
        match self.simple(function, place) {
            Simple::Fixed { local, at } => {
                value(self);
                self.emit(match (local, cell) {
                    (false, Cell::U8(mask)) => Op::StoreGlobal8(at, mask),
                    (true, Cell::U8(mask)) => Op::StoreLocal8(at, mask),
                    (false, cell) => Op::StoreGlobal(at, cell),
                    (true, cell) => Op::StoreLocal(at, cell),
                });
            }
            simple => {
                if let (Simple::Element { local, at, len, index }, Cell::U8(mask)) = (&simple, cell)
                    && let Some(len_mask) = LenMask::new(*len, mask)
                {
                    self.expr(function, index);
                    value(self);
                    let (at, site) = (*at, self.index_site(place, *len));
                    self.emit(if *local {
                        Op::StoreLocalIndex8 { at, len_mask, site }
                    } else {
                        Op::StoreGlobalIndex8 { at, len_mask, site }
                    });
                } else {
                    self.place(function, place);
                    value(self);
                    self.emit(Op::Store(cell));
                }
            }
        }
    }

    pub(crate) fn index_site(&mut self, place: &Place, length: u32) -> SiteAt {
        let text = self.sources.slice(place.span).split_whitespace().collect::<Vec<_>>().join(" ");
        self.site(Fault::Index { text, length }, place.span)
    }

    /// The place's constant part, and its one index if it is the element of an array.
    pub(crate) fn simple(&self, function: u32, place: &Place) -> Simple {
        let (local, mut at, mut ty) = match &place.root {
            Root::Global(v) => {
                (false, self.layout.globals[v.0 as usize], &self.program.globals[v.0 as usize].ty)
            }
            Root::Local(v) => (
                true,
                self.layout.threads[function as usize].locals[v.0 as usize],
                &self.local(function, *v).ty,
            ),
            Root::Remote { .. } | Root::Object { .. } => return Simple::No,
        };
        for (depth, projection) in place.path.iter().enumerate() {
            match (projection, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    let fields = &self.program.structure(*id).fields;
                    at += fields[..*field as usize]
                        .iter()
                        .map(|f| size_of_type(self.program, &f.ty))
                        .sum::<u32>();
                    ty = &fields[*field as usize].ty;
                }
                (Projection::Index(index), Type::Array(element, len)) => {
                    match index.constant() {
                        Some(i) if (0..*len as i32).contains(&i) => {
                            at += i as u32 * size_of_type(self.program, element);
                        }
                        _ if depth + 1 == place.path.len() => {
                            return Simple::Element { local, at, len: *len, index: index.clone() };
                        }
                        _ => return Simple::No,
                    }
                    ty = element;
                }
                _ => unreachable!("front ends give places that fit their types"),
            }
        }
        Simple::Fixed { local, at }
    }

    /// Pushes the byte position of a place.
    fn place(&mut self, function: u32, place: &Place) {
        let program = self.program;
        let mut path = &place.path[..];
        let object_type;
        let mut ty = match &place.root {
            Root::Global(v) => {
                self.emit(Op::GlobalPlace(self.layout.globals[v.0 as usize]));
                &program.globals[v.0 as usize].ty
            }
            Root::Local(v) => {
                self.emit(Op::LocalPlace(self.layout.threads[function as usize].locals[v.0 as usize]));
                &local_of(program, function, *v).ty
            }
            Root::Remote { thread, function: remote, variable } => {
                self.expr(function, thread);
                let name = program.function(*remote).name.clone();
                let site = self.site(Fault::NoProcess { name }, place.span);
                let at = self.layout.threads[remote.0 as usize].locals[variable.0 as usize];
                self.emit(Op::RemotePlace { function: remote.0, at, site });
                &program.function(*remote).locals[variable.0 as usize].ty
            }
            Root::Object { reference, referent } => {
                (object_type, path) = self.object_place(function, reference, *referent, place);
                &object_type
            }
        };
        for projection in path {
            match (projection, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    let fields = &program.structure(*id).fields;
                    let offset: u32 =
                        fields[..*field as usize].iter().map(|f| size_of_type(program, &f.ty)).sum();
                    if offset > 0 {
                        self.emit(Op::AddConst(offset as i32));
                    }
                    ty = &fields[*field as usize].ty;
                }
                (Projection::Index(index), Type::Array(element, len)) => {
                    self.expr(function, index);
                    let site = self.index_site(place, *len);
                    self.emit(Op::Index { stride: size_of_type(program, element), len: *len, site });
                    ty = element;
                }
                _ => unreachable!("front ends give places that fit their types"),
            }
        }
    }
}
