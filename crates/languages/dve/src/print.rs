//! A syntax tree as text, in one form: what differs only in layout, comments and superfluous parentheses is the same text.

use std::fmt::Write;

use crate::ast::{
    Binary, Effect, Expr, ExprKind, Init, Name, Process, Sync, System, Transition, Unary, Variable,
};

/// The text of a system.
pub fn system(system: &System) -> String {
    let mut out = String::new();
    variables(&system.variables, &mut out);
    for channel in &system.channels {
        let types = channel.types.iter().map(|types| {
            let names: Vec<&str> = types.iter().map(|t| t.name()).collect();
            format!("{{{}}} ", names.join(", "))
        });
        let capacity = channel.capacity.map_or(String::new(), |c| format!("[{c}]"));
        line(&mut out, format_args!("channel {}{}{capacity};", types.collect::<String>(), channel.name.text));
    }
    for process in &system.processes {
        line(&mut out, format_args!("process {} {{", process.name.text));
        body(process, &mut out);
        line(&mut out, format_args!("}}"));
    }
    let kind = if system.synchronous.is_some() { "sync" } else { "async" };
    let property = system.property.iter().map(|name| format!(" property {}", name.text)).collect::<String>();
    line(&mut out, format_args!("system {kind}{property};"));
    out
}

/// What is between the braces of a process.
pub fn body(process: &Process, out: &mut String) {
    variables(&process.variables, out);
    let list = |names: &[Name]| names.iter().map(|n| &*n.text).collect::<Vec<_>>().join(", ");
    line(out, format_args!("state {};", list(&process.states)));
    process.init.iter().for_each(|init| line(out, format_args!("init {};", init.text)));
    for (word, states) in [("accept", &process.accept), ("commit", &process.commit)] {
        if !states.is_empty() {
            line(out, format_args!("{word} {};", list(states)));
        }
    }
    if !process.asserts.is_empty() {
        let asserts = process.asserts.iter().map(|(state, e)| format!("{}: {}", state.text, expr(e)));
        line(out, format_args!("assert {};", asserts.collect::<Vec<_>>().join(", ")));
    }
    if !process.transitions.is_empty() {
        let transitions: Vec<String> = process.transitions.iter().map(transition).collect();
        line(out, format_args!("trans\n  {};", transitions.join(",\n  ")));
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}

fn variables(variables: &[Variable], out: &mut String) {
    for v in variables {
        let constant = if v.constant { "const " } else { "" };
        let length = v.length.iter().map(|e| format!("[{}]", expr(e))).collect::<String>();
        let init = match &v.init {
            None => String::new(),
            Some(Init::One(e)) => format!(" = {}", expr(e)),
            Some(Init::List(list)) => format!(" = {{{}}}", exprs(list)),
        };
        line(out, format_args!("{constant}{} {}{length}{init};", v.ty.name(), v.name.text));
    }
}

/// The text of a transition.
pub fn transition(t: &Transition) -> String {
    let mut out = format!("{} -> {} {{", t.from.text, t.to.text);
    t.guard.iter().for_each(|e| out += &format!(" guard {};", expr(e)));
    t.sync.iter().for_each(|s| out += &format!(" sync {};", sync(s)));
    if !t.effects.is_empty() {
        let effects: Vec<String> = t
            .effects
            .iter()
            .map(|Effect { target, value }| format!("{} = {}", expr(target), expr(value)))
            .collect();
        out += &format!(" effect {};", effects.join(", "));
    }
    out + " }"
}

fn sync(s: &Sync) -> String {
    let values = match &s.values[..] {
        [] => String::new(),
        [one] => expr(one),
        many => format!("{{{}}}", exprs(many)),
    };
    format!("{}{}{values}", s.channel.text, if s.send { '!' } else { '?' })
}

fn exprs(list: &[Expr]) -> String {
    list.iter().map(expr).collect::<Vec<_>>().join(", ")
}

/// The text of an expression, with parentheses around every operation inside it.
pub fn expr(e: &Expr) -> String {
    let inner = |e: &Expr| match e.kind {
        ExprKind::Unary(..) | ExprKind::Binary(..) => format!("({})", expr(e)),
        _ => expr(e),
    };
    match &e.kind {
        ExprKind::Number(value) => value.to_string(),
        ExprKind::Name(name) => name.text.to_string(),
        ExprKind::Index(name, index) => format!("{}[{}]", name.text, expr(index)),
        ExprKind::Of(process, of) => format!("{}.{}", process.text, of.text),
        ExprKind::Foreign(process, of, index) => {
            let index = index.iter().map(|e| format!("[{}]", expr(e))).collect::<String>();
            format!("{}->{}{index}", process.text, of.text)
        }
        ExprKind::Unary(op, a) => {
            let op = match op {
                Unary::Minus => "-",
                Unary::Complement => "~",
                Unary::Not => "not ",
            };
            format!("{op}{}", inner(a))
        }
        ExprKind::Binary(op, a, b) => format!("{} {} {}", inner(a), spelling(*op), inner(b)),
    }
}

/// How an operator is written.
pub(crate) fn spelling(op: Binary) -> &'static str {
    // Every operator is in the table.
    Binary::ALL.iter().find(|(o, ..)| *o == op).map_or("?", |(_, words, _)| words[0])
}
