//! Fixed expressions: their value never changes while their thread lives.
//!
//! They are built from constants, the thread's own id, locals that no transformation assigns (most often parameters) and
//! globals that nobody assigns (most often channels). Evaluated in any state in which the thread exists and the locals are
//! live, they give what they give in every later state (of the program itself: where states are replaced by representatives,
//! globals that nobody writes may change places, [`super::Accesses::globals`]). A dead local may have been forgotten
//! ([`crate::liveness`]); but where it is dead, no expression that uses it is ever evaluated again.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Expr, FunctionId, Place, Program, Projection, Root, VariableId};

/// Which variables are never assigned.
#[derive(Clone, Debug)]
pub struct Fixed {
    globals: Vec<bool>,
    locals: Vec<Vec<bool>>,
}

struct Writes<'a> {
    fixed: &'a mut Fixed,
    function: usize,
}

impl Visitor for Writes<'_> {
    fn place(&mut self, place: &Place, how: Use) {
        if how == Use::Write {
            match &place.root {
                Root::Global(VariableId(v)) => self.fixed.globals[*v as usize] = false,
                Root::Local(VariableId(v)) => self.fixed.locals[self.function][*v as usize] = false,
                Root::Remote { function, variable, .. } => {
                    self.fixed.locals[function.0 as usize][variable.0 as usize] = false;
                }
                // No variable.
                Root::Object { .. } => {}
            }
        }
    }
}

impl Fixed {
    /// Looks through a program.
    pub fn new(program: &Program) -> Fixed {
        let mut fixed = Fixed {
            globals: program.globals.iter().map(|g| !g.scratch).collect(),
            locals: program.functions.iter().map(|f| f.locals.iter().map(|l| !l.scratch).collect()).collect(),
        };
        for (function, f) in program.functions.iter().enumerate() {
            let mut writes = Writes { fixed: &mut fixed, function };
            for t in f.locations.iter().flat_map(|l| &l.transformations) {
                visit::transformation(t, &mut writes);
            }
        }
        fixed
    }

    /// Is the expression fixed, for threads of a function?
    pub fn is_fixed(&self, function: FunctionId, e: &Expr) -> bool {
        match e {
            Expr::Const(_) | Expr::SelfId => true,
            Expr::Load(place) => {
                let root = match place.root {
                    Root::Global(v) => self.globals[v.0 as usize],
                    Root::Local(v) => self.locals[function.0 as usize][v.0 as usize],
                    Root::Remote { .. } | Root::Object { .. } => false,
                };
                root && place.path.iter().all(|p| match p {
                    Projection::Field(_) => true,
                    Projection::Index(e) => self.is_fixed(function, e),
                    Projection::Member(..) => false,
                })
            }
            Expr::Unary(_, a) | Expr::Spanned(a, _) => self.is_fixed(function, a),
            Expr::Binary(_, a, b) => self.is_fixed(function, a) && self.is_fixed(function, b),
            Expr::Conditional(a, b, c) => [a, b, c].iter().all(|e| self.is_fixed(function, e)),
            // What others change; and what objects hold, of which nothing is taken to be fixed.
            _ => false,
        }
    }
}

/// Are two fixed expressions written alike, so that they have the same value?
pub fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Spanned(a, _), b) | (b, Expr::Spanned(a, _)) => same(a, b),
        (Expr::Const(a), Expr::Const(b)) => a == b,
        (Expr::SelfId, Expr::SelfId) => true,
        (Expr::Load(a), Expr::Load(b)) => {
            let root = match (&a.root, &b.root) {
                (Root::Global(a), Root::Global(b)) | (Root::Local(a), Root::Local(b)) => a == b,
                _ => false,
            };
            root && a.path.len() == b.path.len()
                && a.path.iter().zip(&b.path).all(|pair| match pair {
                    (Projection::Field(a), Projection::Field(b)) => a == b,
                    (Projection::Index(a), Projection::Index(b)) => same(a, b),
                    _ => false,
                })
        }
        (Expr::Unary(op_a, a), Expr::Unary(op_b, b)) => op_a == op_b && same(a, b),
        (Expr::Binary(op_a, a1, a2), Expr::Binary(op_b, b1, b2)) => {
            op_a == op_b && same(a1, b1) && same(a2, b2)
        }
        _ => false,
    }
}
