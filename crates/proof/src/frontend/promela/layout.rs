//! Which column holds what: one counter for each process that can move, then every scalar of the
//! globals, then those of each process's locals.

use quotient_program::{FunctionId, IntType, Program, Type, Variable, VariableId};
use quotient_source::Diagnostic;

use crate::frontend::transitions::Columns;

/// What a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in rules and assertions.
    pub name: String,
    /// Where its value is.
    pub place: Place,
    /// Values its variable can hold: the type of an integer; `None` for counters.
    pub ty: Option<IntType>,
}

/// Where a column's value is in a state of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The location of a process.
    Counter {
        /// The process.
        thread: usize,
        /// What it runs.
        function: FunctionId,
    },
    /// A scalar of a global variable.
    Global {
        /// The variable.
        variable: VariableId,
        /// Which of its scalars.
        scalar: usize,
    },
    /// A scalar of a process's local variable.
    Local {
        /// The process.
        thread: usize,
        /// The variable.
        variable: VariableId,
        /// Which of its scalars.
        scalar: usize,
    },
}

/// A process of the model.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// What it runs.
    pub(super) function: FunctionId,
    /// Where it stands at first.
    pub(super) location: u32,
}

/// The columns, and how to find them.
pub(super) struct Layout {
    pub(super) columns: Columns,
    pub(super) described: Vec<Column>,
    /// First variable column of each global.
    globals: Vec<usize>,
    /// First variable column of each local of each thread.
    locals: Vec<Vec<usize>>,
    /// Index among the counters of each thread that can move.
    pub(super) counter: Vec<Option<usize>>,
}

/// Beyond this a proof is out of reach, and only the names would take minutes.
const MOST_COLUMNS: usize = 4_096;

/// The scalar types of a value, with the names of its parts.
fn scalars(program: &Program, name: &str, ty: &Type, out: &mut Vec<(String, IntType)>) -> Result<(), String> {
    match ty {
        Type::Int(int) => out.push((name.into(), *int)),
        Type::Enumeration(_) => out.push((name.into(), IntType::BYTE)),
        Type::Structure(id) => {
            for field in &program.structure(*id).fields {
                scalars(program, &format!("{name}_{}", field.name), &field.ty, out)?;
            }
        }
        Type::Array(element, length) => {
            for index in 0..*length {
                scalars(program, &format!("{name}_{index}"), element, out)?;
            }
        }
        Type::Channel => return Err("a channel".into()),
        _ => return Err("a variable of this type".into()),
    }
    Ok(())
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

impl Layout {
    /// The layout for the given processes; those that never move have no counter.
    pub(super) fn new(
        program: &Program,
        threads: &[Thread],
        moves: &[bool],
    ) -> Result<Layout, Box<Diagnostic>> {
        let mut layout = Layout {
            columns: Columns::default(),
            described: Vec::new(),
            globals: Vec::new(),
            locals: Vec::new(),
            counter: Vec::new(),
        };
        for (thread, (t, moves)) in threads.iter().zip(moves).enumerate() {
            layout.counter.push(moves.then_some(layout.columns.counters.len()));
            if *moves {
                let name = format!("P{thread}");
                let place = Place::Counter { thread, function: t.function };
                layout.columns.counters.push(name.clone());
                layout.described.push(Column { name, place, ty: None });
            }
        }
        for (index, variable) in program.globals.iter().enumerate() {
            let place = |scalar| Place::Global { variable: VariableId(index as u32), scalar };
            let first = layout.add(program, variable, &capital(&variable.name), &place)?;
            layout.globals.push(first);
        }
        for (thread, t) in threads.iter().enumerate() {
            let mut firsts = Vec::new();
            for (index, variable) in program.function(t.function).locals.iter().enumerate() {
                let place = |scalar| Place::Local { thread, variable: VariableId(index as u32), scalar };
                let name = format!("P{thread}_{}", variable.name);
                firsts.push(layout.add(program, variable, &name, &place)?);
            }
            layout.locals.push(firsts);
        }
        Ok(layout)
    }

    fn add(
        &mut self,
        program: &Program,
        variable: &Variable,
        name: &str,
        place: &dyn Fn(usize) -> Place,
    ) -> Result<usize, Box<Diagnostic>> {
        let first = self.columns.variables.len();
        let mut parts = Vec::new();
        scalars(program, name, &variable.ty, &mut parts).map_err(|what| {
            Diagnostic::error(
                variable.span,
                format!("`{}` is {what}: not supported by `prove`", variable.name),
            )
            .help("`prove` reads models of processes that share integer variables")
        })?;
        if self.described.len() + parts.len() > MOST_COLUMNS {
            let message = format!("more than {MOST_COLUMNS} values in a state: too many for `prove`");
            let smaller = "make arrays smaller; `check` has no such limit";
            return Err(Box::new(Diagnostic::error(variable.span, message).help(smaller)));
        }
        for (scalar, (name, int)) in parts.into_iter().enumerate() {
            // A name of an inner block, or `a_1` beside `a[1]`, may be taken already.
            let taken = |n: &String| self.columns.variables.contains(n) || self.columns.counters.contains(n);
            let mut unique = name.clone();
            while taken(&unique) {
                unique.push('_');
            }
            self.columns.variables.push(unique.clone());
            self.described.push(Column { name: unique, place: place(scalar), ty: Some(int) });
        }
        Ok(first)
    }

    /// First column of a global.
    pub(super) fn global(&self, id: VariableId) -> usize {
        self.globals[id.0 as usize]
    }

    /// First column of a process's local.
    pub(super) fn local(&self, thread: usize, id: VariableId) -> usize {
        self.locals[thread][id.0 as usize]
    }

    /// The type of a variable column.
    pub(super) fn ty(&self, variable: usize) -> IntType {
        self.described[self.columns.counters.len() + variable].ty.unwrap_or(IntType::INT)
    }
}
