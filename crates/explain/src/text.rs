//! Expressions as text, in the names of the program.

use quotient_program::{
    BinaryOp, Expr, Function, LockQuery, Pattern, Place, Program, Projection, Root, UnaryOp,
};

/// Writes expressions of one function.
pub struct Text<'a> {
    /// The program.
    pub program: &'a Program,
    /// The function whose locals are meant.
    pub function: Option<&'a Function>,
}

fn symbol(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Or => ("||", 1),
        BinaryOp::And => ("&&", 2),
        BinaryOp::BitOr => ("|", 3),
        BinaryOp::BitXor => ("^", 4),
        BinaryOp::BitAnd => ("&", 5),
        BinaryOp::Eq => ("==", 6),
        BinaryOp::Ne => ("!=", 6),
        BinaryOp::Lt => ("<", 7),
        BinaryOp::Le => ("<=", 7),
        BinaryOp::Gt => (">", 7),
        BinaryOp::Ge => (">=", 7),
        BinaryOp::Shl => ("<<", 8),
        BinaryOp::Shr => (">>", 8),
        BinaryOp::Add => ("+", 9),
        BinaryOp::Sub => ("-", 9),
        BinaryOp::Mul => ("*", 10),
        BinaryOp::Div => ("/", 10),
        BinaryOp::Mod => ("%", 10),
    }
}

impl Text<'_> {
    /// An expression.
    pub fn expr(&self, expr: &Expr) -> String {
        self.at(expr, 0)
    }

    /// An expression inside an operator that binds as strongly as `outer`.
    fn at(&self, expr: &Expr, outer: u8) -> String {
        let call = |name: &str, e: &Expr| format!("{name}({})", self.expr(e));
        match expr {
            Expr::Const(value) => value.to_string(),
            Expr::Spanned(inner, _) => self.at(inner, outer),
            Expr::Load(place) => self.place(place),
            Expr::Unary(op, inner) => {
                let sign = match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Complement => "~",
                    UnaryOp::Negate => "-",
                };
                format!("{sign}{}", self.at(inner, 11))
            }
            Expr::Binary(op, a, b) => {
                let (symbol, strength) = symbol(*op);
                // Constants of an enumeration have names when they meet something of its type.
                let (a, b) = (self.beside(a, b, strength), self.beside(b, a, strength + 1));
                let text = format!("{a} {symbol} {b}");
                if strength < outer { format!("({text})") } else { text }
            }
            Expr::Conditional(c, a, b) => {
                format!("({} -> {} : {})", self.expr(c), self.expr(a), self.expr(b))
            }
            Expr::SelfId => "_pid".into(),
            Expr::SelfThread => "this".into(),
            Expr::ThreadCount => "_nr_pr".into(),
            Expr::Last => "_last".into(),
            Expr::Timeout => "timeout".into(),
            Expr::NonProgress => "np_".into(),
            Expr::Length(c) => call("len", c),
            Expr::Full(c) => call("full", c),
            Expr::Empty(c) => call("empty", c),
            Expr::Poll { channel, any, patterns } => {
                let mark = if *any { "??" } else { "?" };
                format!("{}{mark}[{}]", self.expr(channel), self.patterns(patterns))
            }
            Expr::At { thread, label } => {
                let label = &self.program.labels[label.0 as usize];
                let function = self.program.function(label.function);
                let names = &function.locations[label.location.0 as usize].labels;
                let name = names.first().map_or("?", String::as_str);
                format!("{}[{}]@{name}", function.name, self.expr(thread))
            }
            Expr::Enabled(t) => call("enabled", t),
            Expr::LocationOf(t) => call("pc_value", t),
            Expr::Priority(t) => call("get_priority", t),
            Expr::Count { function, body } => {
                format!("count of {} with {}", self.program.function(*function).name, self.expr(body))
            }
            Expr::Oldest(function) => format!("oldest {}", self.program.function(*function).name),
            Expr::Bound(_) => "it".into(),
            Expr::Terminated(t) => call("terminated", t),
            Expr::InstanceOf { reference, record, .. } => {
                format!("{} instanceof {}", self.at(reference, 7), self.program.record(*record).name)
            }
            Expr::Cast { reference, .. } => self.at(reference, outer),
            Expr::ArrayLength(a) => format!("{}.length", self.at(a, 12)),
            Expr::Lock(query, lock) => {
                let name = match query {
                    LockQuery::Available => "lockAvailable",
                    LockQuery::Held => "hasLock",
                    LockQuery::Notified => "wasNotified",
                };
                call(name, lock)
            }
            Expr::Query { collection, args, .. } => {
                let args: Vec<String> = args.iter().map(|a| self.expr(a)).collect();
                format!("{}.({})", self.expr(collection), args.join(", "))
            }
            Expr::Reachable(a, b) => format!("reachable({}, {})", self.expr(a), self.expr(b)),
            Expr::Function(f) => self.program.function(*f).name.clone(),
        }
    }

    /// An operand beside another one, whose type may give a constant its name.
    fn beside(&self, expr: &Expr, other: &Expr, outer: u8) -> String {
        if let (Some(value), Some(quotient_program::Type::Enumeration(id))) =
            (expr.constant(), type_of(other))
            && let Some(name) = self.program.enumerations[id.0 as usize].name_of(value)
        {
            return name.to_owned();
        }
        self.at(expr, outer)
    }

    /// A place.
    pub fn place(&self, place: &Place) -> String {
        let mut text = match &place.root {
            Root::Global(v) => self.program.globals[v.0 as usize].name.clone(),
            Root::Local(v) => {
                let local = self.function.and_then(|f| f.locals.get(v.0 as usize));
                local.map_or_else(|| "?".to_owned(), |v| v.name.clone())
            }
            Root::Remote { thread, function, variable } => {
                let function = self.program.function(*function);
                let variable = &function.locals[variable.0 as usize].name;
                format!("{}[{}]:{variable}", function.name, self.expr(thread))
            }
            Root::Object { reference, .. } => self.at(reference, 12),
        };
        for step in &place.path {
            match step {
                Projection::Field(_) | Projection::Member(..) => {
                    text.push_str(&format!(".{}", self.field(place, step)))
                }
                Projection::Index(index) => text.push_str(&format!("[{}]", self.expr(index))),
            }
        }
        text
    }

    /// The name of a field on the way to a place.
    fn field(&self, place: &Place, wanted: &Projection) -> String {
        let mut ty = match &place.root {
            Root::Object { .. } => None,
            root => {
                let none = &self.program.functions[0];
                self.program.variable(self.function.unwrap_or(none), root).map(|v| v.ty)
            }
        };
        for step in &place.path {
            let here = std::ptr::eq(step, wanted);
            ty = match (step, ty) {
                (Projection::Member(record, field), _) => {
                    let variable = &self.program.record(*record).fields[*field as usize];
                    if here {
                        return variable.name.clone();
                    }
                    Some(variable.ty.clone())
                }
                (Projection::Field(field), Some(quotient_program::Type::Structure(id))) => {
                    let variable = &self.program.structure(id).fields[*field as usize];
                    if here {
                        return variable.name.clone();
                    }
                    Some(variable.ty.clone())
                }
                (Projection::Index(_), Some(quotient_program::Type::Array(element, _))) => Some(*element),
                (_, ty) => ty,
            };
        }
        "?".into()
    }

    /// The fields of a receive.
    pub fn patterns(&self, patterns: &[Pattern]) -> String {
        let one = |p: &Pattern| match p {
            Pattern::Bind(place) => self.place(place),
            Pattern::Ignore => "_".into(),
            Pattern::Match(e) => self.expr(e),
        };
        patterns.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The type of a value that comes from a place.
fn type_of(expr: &Expr) -> Option<&quotient_program::Type> {
    match expr {
        Expr::Load(place) => Some(&place.ty),
        Expr::Spanned(inner, _) => type_of(inner),
        _ => None,
    }
}
