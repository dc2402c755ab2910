//! What names stand for.

use std::collections::HashMap;

use quotient_program::{EnumerationId, FunctionId, StructureId, VariableId};
use quotient_source::Span;

use super::size::Size;

/// Global names.
#[derive(Default)]
pub(super) struct Names {
    pub(super) globals: HashMap<String, (VariableId, Span)>,
    pub(super) structures: HashMap<String, (StructureId, Span)>,
    pub(super) proctypes: HashMap<String, FunctionId>,
    /// mtype constants: set and value.
    pub(super) constants: HashMap<String, (EnumerationId, i32, Span)>,
    /// The structures as they are passed to a process: without initial values.
    pub(super) without_values: HashMap<StructureId, StructureId>,
    /// How large structures are, once their fields are known.
    pub(super) sizes: HashMap<StructureId, Size>,
    /// Globals that begin with a number above 0, written as such.
    pub(super) numerals: HashMap<String, i32>,
    /// Named mtype sets.
    pub(super) sets: HashMap<String, EnumerationId>,
}

impl Names {
    pub(super) fn constant(&self, name: &str) -> Option<i32> {
        self.constants.get(name).map(|(_, value, _)| *value)
    }
}

/// Local names of one block.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) names: HashMap<String, (VariableId, Span)>,
}
