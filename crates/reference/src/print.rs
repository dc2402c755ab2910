//! A syntax tree as Promela text, one statement to a line.
//!
//! The text is meant for SPIN and for this project's parser, so it is conservative: every operator is
//! in parentheses, every statement ends in a semicolon (SPIN accepts a redundant one before `}`, `::`,
//! `fi` and `od`), and nothing depends on SPIN's implied semicolons at line ends.

use quotient_promela::ast::*;
use std::fmt::Write;

/// The text of `model`.
pub fn print(model: &Model) -> String {
    let mut printer = Printer { text: String::new(), depth: 0 };
    for unit in &model.units {
        printer.unit(unit);
    }
    printer.text
}

/// The text of one expression, in parentheses unless it is a name or a number.
pub fn print_expression(expression: &Expr) -> String {
    let mut text = String::new();
    expr(&mut text, expression);
    text
}

struct Printer {
    text: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, content: &str) {
        for _ in 0..self.depth {
            self.text.push('\t');
        }
        self.text.push_str(content);
        self.text.push('\n');
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            // Generated programs have no functions, and those of users are printed by nobody.
            Unit::Function(f) => self.body(&format!("function {}()", f.name.name), &f.body),
            Unit::Proctype(p) => {
                let mut head = String::new();
                if let Some(active) = &p.active {
                    head.push_str("active ");
                    if let Some(count) = &active.count {
                        let _ = write!(head, "[{}] ", print_expression(count));
                    }
                }
                let params: Vec<String> = p.params.iter().map(declaration).collect();
                let word = if p.deterministic { "D_proctype" } else { "proctype" };
                let _ = write!(head, "{word} {}({})", p.name.name, params.join("; "));
                if let Some(priority) = &p.priority {
                    let _ = write!(head, " priority {}", print_expression(priority));
                }
                if let Some(provided) = &p.provided {
                    let _ = write!(head, " provided ({})", print_expression(provided));
                }
                self.body(&head, &p.body);
            }
            Unit::Init(init) => {
                let head = match &init.priority {
                    Some(priority) => format!("init priority {}", print_expression(priority)),
                    None => "init".to_string(),
                };
                self.body(&head, &init.body);
            }
            Unit::Never(never) => {
                let name = never.name.as_ref().map(|n| format!(" {}", n.name)).unwrap_or_default();
                self.body(&format!("never{name}"), &never.body);
            }
            Unit::Trace(trace) => {
                let word = if trace.negated { "notrace" } else { "trace" };
                let name = trace.name.as_ref().map(|n| format!(" {}", n.name)).unwrap_or_default();
                self.body(&format!("{word}{name}"), &trace.body);
            }
            Unit::Typedef(t) => {
                self.line(&format!("typedef {} {{", t.name.name));
                self.depth += 1;
                for (index, field) in t.fields.iter().enumerate() {
                    let separator = if index + 1 < t.fields.len() { ";" } else { "" };
                    self.line(&format!("{}{separator}", declaration(field)));
                }
                self.depth -= 1;
                self.line("}");
            }
            Unit::Mtype(m) => {
                let set = m.set.as_ref().map(|s| format!(":{}", s.name)).unwrap_or_default();
                let names: Vec<&str> = m.names.iter().map(|n| n.name.as_str()).collect();
                self.line(&format!("mtype{set} = {{ {} }};", names.join(", ")));
            }
            Unit::Declaration(d) => self.line(&format!("{};", declaration(d))),
            Unit::Ltl(ltl) => {
                let name = ltl.name.as_ref().map(|n| format!(" {}", n.name)).unwrap_or_default();
                let mut text = String::new();
                formula(&mut text, &ltl.formula);
                self.line(&format!("ltl{name} {{ {text} }}"));
            }
        }
    }

    fn body(&mut self, head: &str, body: &Sequence) {
        self.line(&format!("{head} {{"));
        self.sequence(body);
        self.line("}");
    }

    fn sequence(&mut self, sequence: &Sequence) {
        self.depth += 1;
        for statement in &sequence.statements {
            self.statement(statement, "", ";");
        }
        self.depth -= 1;
    }

    /// One statement between `before` (a `::`) and `after` (a semicolon, or `unless`).
    fn statement(&mut self, statement: &Statement, before: &str, after: &str) {
        let mut head = before.to_string();
        for label in &statement.labels {
            let _ = write!(head, "{}: ", label.name);
        }
        match &statement.kind {
            StatementKind::If(choices) => self.choices(&head, "if", "fi", choices, after),
            StatementKind::Do(choices) => self.choices(&head, "do", "od", choices, after),
            StatementKind::ForRange { variable, from, to, body } => {
                let range = format!("{} .. {}", print_expression(from), print_expression(to));
                self.block(&format!("{head}for ({} : {range})", text_of(variable)), body, after);
            }
            StatementKind::ForIn { variable, collection, body } => {
                let head = format!("{head}for ({} in {})", text_of(variable), text_of(collection));
                self.block(&head, body, after);
            }
            StatementKind::Atomic(body) => self.block(&format!("{head}atomic"), body, after),
            StatementKind::DStep(body) => self.block(&format!("{head}d_step"), body, after),
            StatementKind::Block(body) => self.block(head.trim_end(), body, after),
            StatementKind::Unless(main, escape) => {
                self.statement(main, &head, " unless");
                self.statement(escape, "", after);
            }
            kind => self.line(&format!("{head}{}{after}", simple(kind))),
        }
    }

    fn block(&mut self, head: &str, body: &Sequence, after: &str) {
        let space = if head.is_empty() { "" } else { " " };
        self.line(&format!("{head}{space}{{"));
        self.sequence(body);
        self.line(&format!("}}{after}"));
    }

    fn choices(&mut self, head: &str, open: &str, close: &str, choices: &[Choice], after: &str) {
        self.line(&format!("{head}{open}"));
        for choice in choices {
            let mut before = ":: ";
            for statement in &choice.sequence.statements {
                self.statement(statement, before, ";");
                if !before.is_empty() {
                    before = "";
                    self.depth += 1;
                }
            }
            if before.is_empty() {
                self.depth -= 1;
            }
        }
        self.line(&format!("{close}{after}"));
    }
}

/// A statement that fits on one line.
fn simple(kind: &StatementKind) -> String {
    match kind {
        StatementKind::Declaration(d) => declaration(d),
        StatementKind::Dynamic(_) => "skip".to_string(),
        StatementKind::Expr(Expr { kind: ExprKind::Number(1), .. }) => "skip".to_string(),
        StatementKind::Expr(e) => print_expression(e),
        StatementKind::Assign(target, value) => format!("{} = {}", text_of(target), print_expression(value)),
        StatementKind::Increment(target) => format!("{}++", text_of(target)),
        StatementKind::Decrement(target) => format!("{}--", text_of(target)),
        StatementKind::Send { channel, sorted, args } => {
            let args: Vec<String> = args.iter().map(print_expression).collect();
            format!("{}{}{}", text_of(channel), if *sorted { "!!" } else { "!" }, args.join(", "))
        }
        StatementKind::Receive { channel, any, peek, args } => {
            let operator = if *any { "??" } else { "?" };
            let args = pattern(args);
            let args = if *peek { format!("<{args}>") } else { args };
            format!("{}{operator}{args}", text_of(channel))
        }
        StatementKind::Select { variable, from, to, .. } => {
            format!("select ({} : {} .. {})", text_of(variable), print_expression(from), print_expression(to))
        }
        StatementKind::Else => "else".to_string(),
        StatementKind::Break => "break".to_string(),
        StatementKind::Goto(label) => format!("goto {}", label.name),
        StatementKind::Printf(format, args) => {
            let mut text = format!("printf(\"{format}\"");
            for arg in args {
                let _ = write!(text, ", {}", print_expression(arg));
            }
            text + ")"
        }
        StatementKind::Printm(e) => format!("printm({})", print_expression(e)),
        StatementKind::Assert(e) => format!("assert({})", print_expression(e)),
        StatementKind::Exclusive { send, channels } => {
            let channels: Vec<String> = channels.iter().map(text_of).collect();
            format!("{} {}", if *send { "xs" } else { "xr" }, channels.join(", "))
        }
        // The compound kinds are printed by `Printer::statement`.
        StatementKind::If(_)
        | StatementKind::Do(_)
        | StatementKind::ForRange { .. }
        | StatementKind::ForIn { .. }
        | StatementKind::Atomic(_)
        | StatementKind::DStep(_)
        | StatementKind::Block(_)
        | StatementKind::Unless(..) => String::new(),
    }
}

fn declaration(declaration: &Declaration) -> String {
    let mut text = String::new();
    text.push_str(match declaration.visibility {
        Visibility::Plain => "",
        Visibility::Hidden => "hidden ",
        Visibility::Show => "show ",
        Visibility::Local => "local ",
    });
    text.push_str(&type_name(&declaration.ty));
    text.push(' ');
    for (index, variable) in declaration.variables.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&variable.name.name);
        if let Some(width) = &variable.width {
            let _ = write!(text, " : {}", print_expression(width));
        }
        if let Some(length) = &variable.length {
            let _ = write!(text, "[{}]", print_expression(length));
        }
        match &variable.init {
            None => {}
            Some(Initialiser::Expr(e)) => {
                let _ = write!(text, " = {}", print_expression(e));
            }
            Some(Initialiser::List(items, _)) => {
                let items: Vec<String> = items.iter().map(print_expression).collect();
                let _ = write!(text, " = {{{}}}", items.join(", "));
            }
            Some(Initialiser::Channel(channel)) => {
                let fields: Vec<String> = channel.fields.iter().map(|(ty, _)| type_name(ty)).collect();
                let capacity = print_expression(&channel.capacity);
                let _ = write!(text, " = [{capacity}] of {{ {} }}", fields.join(", "));
            }
        }
    }
    text
}

fn type_name(ty: &TypeName) -> String {
    match ty {
        TypeName::Bit => "bit".to_string(),
        TypeName::Bool => "bool".to_string(),
        TypeName::Byte => "byte".to_string(),
        TypeName::Pid => "pid".to_string(),
        TypeName::Short => "short".to_string(),
        TypeName::Int => "int".to_string(),
        TypeName::Unsigned => "unsigned".to_string(),
        TypeName::Mtype(None) => "mtype".to_string(),
        TypeName::Mtype(Some(set)) => format!("mtype:{}", set.name),
        TypeName::Chan => "chan".to_string(),
        TypeName::Ftype => "ftype".to_string(),
        TypeName::Pointer(to) => format!("{} &", type_name(to)),
        TypeName::Named(name) => name.name.clone(),
    }
}

fn text_of(reference: &Reference) -> String {
    let mut text = String::new();
    for (index, part) in reference.parts.iter().enumerate() {
        if index > 0 {
            text.push('.');
        }
        text.push_str(&part.name.name);
        if let Some(index) = &part.index {
            let _ = write!(text, "[{}]", print_expression(index));
        }
    }
    text
}

fn pattern(args: &[ReceiveArg]) -> String {
    let args: Vec<String> = args
        .iter()
        .map(|arg| match arg {
            ReceiveArg::Variable(reference) => text_of(reference),
            ReceiveArg::Pointer(reference) => format!("&{}", text_of(reference)),
            ReceiveArg::Ignore(_) => "_".to_string(),
            ReceiveArg::Constant(Expr { kind: ExprKind::Number(n), .. }) => n.to_string(),
            ReceiveArg::Constant(e) => print_expression(e),
            ReceiveArg::Eval(e, _) => format!("eval({})", print_expression(e)),
        })
        .collect();
    args.join(", ")
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn call(text: &mut String, function: &str, reference: &Reference) {
    let _ = write!(text, "{function}({})", text_of(reference));
}

fn expr(text: &mut String, e: &Expr) {
    match &e.kind {
        ExprKind::Address(reference) => {
            let _ = write!(text, "&{}", text_of(reference));
        }
        ExprKind::Number(n) if *n < 0 => {
            let _ = write!(text, "({n})");
        }
        ExprKind::Number(n) => {
            let _ = write!(text, "{n}");
        }
        ExprKind::Reference(reference) => text.push_str(&text_of(reference)),
        ExprKind::Unary(op, operand) => {
            text.push_str(match op {
                UnaryOp::Not => "(!",
                UnaryOp::Complement => "(~",
                UnaryOp::Negate => "(-",
            });
            expr(text, operand);
            text.push(')');
        }
        ExprKind::Binary(op, left, right) => {
            text.push('(');
            expr(text, left);
            let _ = write!(text, " {} ", operator(*op));
            expr(text, right);
            text.push(')');
        }
        ExprKind::Conditional(condition, yes, no) => {
            text.push('(');
            expr(text, condition);
            text.push_str(" -> ");
            expr(text, yes);
            text.push_str(" : ");
            expr(text, no);
            text.push(')');
        }
        ExprKind::Run { proctype, args, priority } => {
            let args: Vec<String> = args.iter().map(print_expression).collect();
            let _ = write!(text, "run {}({})", proctype.name, args.join(", "));
            if let Some(priority) = priority {
                let _ = write!(text, " priority {}", print_expression(priority));
            }
        }
        ExprKind::Len(c) => call(text, "len", c),
        ExprKind::Full(c) => call(text, "full", c),
        ExprKind::Empty(c) => call(text, "empty", c),
        ExprKind::Nfull(c) => call(text, "nfull", c),
        ExprKind::Nempty(c) => call(text, "nempty", c),
        ExprKind::Poll { channel, any, args } => {
            let operator = if *any { "??" } else { "?" };
            let _ = write!(text, "({}{operator}[{}])", text_of(channel), pattern(args));
        }
        ExprKind::Timeout => text.push_str("timeout"),
        ExprKind::Enabled(e) => {
            let _ = write!(text, "enabled({})", print_expression(e));
        }
        ExprKind::PcValue(e) => {
            let _ = write!(text, "pc_value({})", print_expression(e));
        }
        ExprKind::Reachable(a, b) => {
            let _ = write!(text, "reachable({}, {})", print_expression(a), print_expression(b));
        }
        ExprKind::GetPriority(e) => {
            let _ = write!(text, "get_priority({})", print_expression(e));
        }
        ExprKind::SetPriority(e, n) => {
            let _ = write!(text, "set_priority({}, {})", print_expression(e), print_expression(n));
        }
        ExprKind::RemoteLabel { proctype, pid, label } => {
            let pid = pid.as_ref().map(|p| format!("[{}]", print_expression(p))).unwrap_or_default();
            let _ = write!(text, "{}{pid}@{}", proctype.name, label.name);
        }
        ExprKind::RemoteVariable { proctype, pid, variable } => {
            let pid = pid.as_ref().map(|p| format!("[{}]", print_expression(p))).unwrap_or_default();
            let _ = write!(text, "{}{pid}:{}", proctype.name, text_of(variable));
        }
        ExprKind::Quantified { quantifier, variable, proctype, body } => {
            let word = match quantifier {
                Quantifier::ForAll => "forall",
                Quantifier::Exists => "exists",
                Quantifier::Count => "count",
            };
            let body = print_expression(body);
            let _ = write!(text, "({word} {}: {} . {body})", variable.name, proctype.name);
        }
    }
}

fn formula(text: &mut String, f: &Formula) {
    let (prefix, parts, infix): (&str, Vec<&Formula>, &str) = match &f.kind {
        FormulaKind::Atom(e) => return expr(text, e),
        FormulaKind::Not(a) => ("!", vec![a], ""),
        FormulaKind::Always(a) => ("[]", vec![a], ""),
        FormulaKind::Eventually(a) => ("<>", vec![a], ""),
        FormulaKind::Next(a) => ("X", vec![a], ""),
        FormulaKind::Exists(a) => ("E", vec![a], ""),
        FormulaKind::All(a) => ("A", vec![a], ""),
        FormulaKind::And(a, b) => ("", vec![a, b], "&&"),
        FormulaKind::Or(a, b) => ("", vec![a, b], "||"),
        FormulaKind::Implies(a, b) => ("", vec![a, b], "->"),
        FormulaKind::Equivalent(a, b) => ("", vec![a, b], "<->"),
        FormulaKind::Until(a, b) => ("", vec![a, b], "U"),
        FormulaKind::WeakUntil(a, b) => ("", vec![a, b], "W"),
        FormulaKind::Release(a, b) => ("", vec![a, b], "V"),
    };
    let _ = write!(text, "({prefix} ");
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            let _ = write!(text, " {infix} ");
        }
        formula(text, part);
    }
    text.push(')');
}
