//! Trees as compact text with every grouping shown, for tests only.

#![allow(dead_code, reason = "each test file uses a part of it")]

use quotient_promela::ast::*;
use quotient_promela::{ParseOptions, Parsed, parse_text};
use quotient_source::{SourceMap, render};

pub fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Number(n) => n.to_string(),
        ExprKind::Reference(r) => reference(r),
        ExprKind::Address(r) => format!("&{}", reference(r)),
        ExprKind::Unary(op, a) => format!("({op:?} {})", expr(a)),
        ExprKind::Binary(op, a, b) => format!("({op:?} {} {})", expr(a), expr(b)),
        ExprKind::Conditional(c, a, b) => format!("(Cond {} {} {})", expr(c), expr(a), expr(b)),
        ExprKind::Run { proctype, args, priority } => {
            let priority = priority.as_ref().map_or(String::new(), |p| format!(" priority {}", expr(p)));
            format!("(run {}({}){priority})", proctype.name, list(args))
        }
        ExprKind::Len(c) => format!("len({})", reference(c)),
        ExprKind::Full(c) => format!("full({})", reference(c)),
        ExprKind::Empty(c) => format!("empty({})", reference(c)),
        ExprKind::Nfull(c) => format!("nfull({})", reference(c)),
        ExprKind::Nempty(c) => format!("nempty({})", reference(c)),
        ExprKind::Poll { channel, any, args } => {
            format!("{}{}[{}]", reference(channel), if *any { "??" } else { "?" }, receive_args(args))
        }
        ExprKind::Timeout => "timeout".into(),
        ExprKind::Enabled(a) => format!("enabled({})", expr(a)),
        ExprKind::PcValue(a) => format!("pc_value({})", expr(a)),
        ExprKind::Reachable(a, b) => format!("reachable({}, {})", expr(a), expr(b)),
        ExprKind::GetPriority(a) => format!("get_priority({})", expr(a)),
        ExprKind::SetPriority(a, b) => format!("set_priority({}, {})", expr(a), expr(b)),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            format!("{}[{}]@{}", proctype.name, pid.as_ref().map_or(String::new(), |p| expr(p)), label.name)
        }
        ExprKind::RemoteVariable { proctype, pid, variable } => {
            let pid = pid.as_ref().map_or(String::new(), |p| expr(p));
            format!("{}[{pid}]:{}", proctype.name, reference(variable))
        }
        ExprKind::Quantified { quantifier, variable, proctype, body } => {
            format!("({quantifier:?} {}: {} . {})", variable.name, proctype.name, expr(body))
        }
    }
}

pub fn list(args: &[Expr]) -> String {
    args.iter().map(expr).collect::<Vec<_>>().join(", ")
}

pub fn reference(r: &Reference) -> String {
    let part = |p: &Part| match &p.index {
        Some(index) => format!("{}[{}]", p.name.name, expr(index)),
        None => p.name.name.clone(),
    };
    r.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

pub fn receive_args(args: &[ReceiveArg]) -> String {
    let one = |a: &ReceiveArg| match a {
        ReceiveArg::Variable(r) => reference(r),
        ReceiveArg::Pointer(r) => format!("&{}", reference(r)),
        ReceiveArg::Ignore(_) => "_".into(),
        ReceiveArg::Constant(e) => format!("={}", expr(e)),
        ReceiveArg::Eval(e, _) => format!("eval({})", expr(e)),
    };
    args.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub fn declaration(d: &Declaration) -> String {
    let visibility = match d.visibility {
        Visibility::Plain => "",
        Visibility::Hidden => "hidden ",
        Visibility::Show => "show ",
        Visibility::Local => "local ",
    };
    let variables: Vec<String> = d.variables.iter().map(variable).collect();
    format!("{visibility}{} {}", type_name(&d.ty), variables.join(", "))
}

fn type_name(ty: &TypeName) -> String {
    match ty {
        TypeName::Mtype(Some(set)) => format!("mtype:{}", set.name),
        TypeName::Mtype(None) => "mtype".into(),
        TypeName::Named(name) => name.name.clone(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn variable(v: &Variable) -> String {
    let mut text = v.name.name.clone();
    if let Some(width) = &v.width {
        text += &format!(":{}", expr(width));
    }
    if let Some(length) = &v.length {
        text += &format!("[{}]", expr(length));
    }
    match &v.init {
        None => {}
        Some(Initialiser::Expr(e)) => text += &format!(" = {}", expr(e)),
        Some(Initialiser::List(values, _)) => text += &format!(" = {{{}}}", list(values)),
        Some(Initialiser::Channel(c)) => {
            let fields: Vec<String> = c.fields.iter().map(|(ty, _)| type_name(ty)).collect();
            text += &format!(" = [{}] of {{{}}}", expr(&c.capacity), fields.join(", "));
        }
    }
    text
}

pub fn sequence(s: &Sequence) -> String {
    s.statements.iter().map(statement).collect::<Vec<_>>().join("; ")
}

pub fn statement(s: &Statement) -> String {
    let labels: String = s.labels.iter().map(|l| format!("{}: ", l.name)).collect();
    labels + &kind(&s.kind)
}

fn kind(k: &StatementKind) -> String {
    let choices =
        |c: &[Choice]| c.iter().map(|c| format!(" :: {}", sequence(&c.sequence))).collect::<String>();
    match k {
        StatementKind::Declaration(d) => declaration(d),
        StatementKind::Dynamic(d) => format!("{d:?}"),
        StatementKind::Expr(e) => expr(e),
        StatementKind::Assign(r, e) => format!("{} = {}", reference(r), expr(e)),
        StatementKind::Increment(r) => format!("{}++", reference(r)),
        StatementKind::Decrement(r) => format!("{}--", reference(r)),
        StatementKind::Send { channel, sorted, args } => {
            format!("{}{}{}", reference(channel), if *sorted { "!!" } else { "!" }, list(args))
        }
        StatementKind::Receive { channel, any, peek, args } => {
            let (open, close) = if *peek { ("<", ">") } else { ("", "") };
            let op = if *any { "??" } else { "?" };
            format!("{}{op}{open}{}{close}", reference(channel), receive_args(args))
        }
        StatementKind::If(c) => format!("if{} fi", choices(c)),
        StatementKind::Do(c) => format!("do{} od", choices(c)),
        StatementKind::ForRange { variable, from, to, body } => {
            format!("for ({} : {} .. {}) {{ {} }}", reference(variable), expr(from), expr(to), sequence(body))
        }
        StatementKind::ForIn { variable, collection, body } => {
            format!("for ({} in {}) {{ {} }}", reference(variable), reference(collection), sequence(body))
        }
        StatementKind::Select { variable, from, to, .. } => {
            format!("select ({} : {} .. {})", reference(variable), expr(from), expr(to))
        }
        StatementKind::Atomic(s) => format!("atomic {{ {} }}", sequence(s)),
        StatementKind::DStep(s) => format!("d_step {{ {} }}", sequence(s)),
        StatementKind::Block(s) => format!("{{ {} }}", sequence(s)),
        StatementKind::Unless(a, b) => format!("({} unless {})", statement(a), statement(b)),
        StatementKind::Else => "else".into(),
        StatementKind::Break => "break".into(),
        StatementKind::Goto(l) => format!("goto {}", l.name),
        StatementKind::Printf(format, args) => format!("printf(\"{format}\" {})", list(args)),
        StatementKind::Printm(e) => format!("printm({})", expr(e)),
        StatementKind::Assert(e) => format!("assert({})", expr(e)),
        StatementKind::Exclusive { send, channels } => {
            let channels: Vec<String> = channels.iter().map(reference).collect();
            format!("{} {}", if *send { "xs" } else { "xr" }, channels.join(", "))
        }
    }
}

pub fn formula(f: &Formula) -> String {
    match &f.kind {
        FormulaKind::Atom(e) => expr(e),
        FormulaKind::Not(a) => format!("(! {})", formula(a)),
        FormulaKind::And(a, b) => format!("({} && {})", formula(a), formula(b)),
        FormulaKind::Or(a, b) => format!("({} || {})", formula(a), formula(b)),
        FormulaKind::Implies(a, b) => format!("({} -> {})", formula(a), formula(b)),
        FormulaKind::Equivalent(a, b) => format!("({} <-> {})", formula(a), formula(b)),
        FormulaKind::Always(a) => format!("([] {})", formula(a)),
        FormulaKind::Eventually(a) => format!("(<> {})", formula(a)),
        FormulaKind::Next(a) => format!("(X {})", formula(a)),
        FormulaKind::Exists(a) => format!("(E {})", formula(a)),
        FormulaKind::All(a) => format!("(A {})", formula(a)),
        FormulaKind::Until(a, b) => format!("({} U {})", formula(a), formula(b)),
        FormulaKind::WeakUntil(a, b) => format!("({} W {})", formula(a), formula(b)),
        FormulaKind::Release(a, b) => format!("({} V {})", formula(a), formula(b)),
    }
}

/// Parses a model that must be correct.
pub fn model(text: &str) -> Model {
    model_with(text, &ParseOptions::default())
}

pub fn model_with(text: &str, options: &ParseOptions) -> Model {
    let (parsed, messages) = parse(text, options);
    assert!(!parsed.diagnostics.has_errors(), "{text}\n{messages}");
    parsed.model
}

/// Parses a model and renders what is reported.
pub fn parse(text: &str, options: &ParseOptions) -> (Parsed, String) {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "test.pml", text, options);
    let messages: Vec<String> = parsed.diagnostics.iter().map(|d| render(&map, d, false)).collect();
    let messages = messages.join("\n");
    (parsed, messages)
}

/// The body of the last `init` or proctype of a model that must be correct.
pub fn body(text: &str) -> String {
    last_body(&model(text))
}

pub fn last_body(model: &Model) -> String {
    let body = model.units.iter().rev().find_map(|unit| match unit {
        Unit::Init(init) => Some(&init.body),
        Unit::Proctype(proctype) => Some(&proctype.body),
        Unit::Never(never) => Some(&never.body),
        _ => None,
    });
    sequence(body.expect("a body"))
}

/// The body of `init { text }`, with the declarations that tests use.
pub fn statements(text: &str) -> String {
    body(&format!("typedef T {{ byte f }}; proctype P() {{ L: skip }}\ninit {{ {text} }}"))
}
