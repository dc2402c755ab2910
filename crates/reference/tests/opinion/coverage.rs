//! What the random programs contain: every production of the language, and every kind of statement in every surrounding.
//!
//! Each production and each pair is counted over `QUOTIENT_COVERAGE_PROGRAMS` programs (20,000 by default); one that never occurs is a
//! failure, unless it is listed here with the reason why it is left out.

use std::collections::BTreeMap;

use quotient_promela::ast::*;
use quotient_reference::generate;
use quotient_testing::setting;

/// Kinds of statements.
const STATEMENTS: [&str; 33] = [
    "declaration",
    "condition",
    "run",
    "assign",
    "increment",
    "decrement",
    "send rendezvous",
    "send buffered",
    "sorted send rendezvous",
    "sorted send buffered",
    "receive rendezvous",
    "receive buffered",
    "receive any rendezvous",
    "receive any buffered",
    "peek rendezvous",
    "peek buffered",
    "peek any buffered",
    "if",
    "do",
    "for range",
    "for in",
    "select",
    "atomic",
    "d_step",
    "block",
    "unless",
    "else",
    "break",
    "goto",
    "printf",
    "printm",
    "assert",
    "skip",
];

/// Where statements stand. The first statement of an option, of a `d_step` and of an escape decides whether the whole can be executed.
const SURROUNDINGS: [&str; 15] = [
    "body",
    "if first",
    "if later",
    "do first",
    "do later",
    "atomic first",
    "atomic later",
    "d_step first",
    "d_step later",
    "d_step option",
    "block",
    "unless main",
    "escape first",
    "escape later",
    "for",
];

/// Statements that are left out in surroundings, with the reason.
const LEFT_OUT: [(&[&str], &[&str], &str); 13] = [
    (
        &["run"],
        &[
            "if first",
            "if later",
            "do first",
            "do later",
            "block",
            "unless main",
            "escape first",
            "escape later",
            "for",
        ],
        "processes are started in straight-line code only, so that programs are finite",
    ),
    (&["run"], &["d_step first", "d_step later", "d_step option"], "refused inside d_step"),
    (
        &[
            "declaration",
            "assign",
            "increment",
            "decrement",
            "if",
            "do",
            "for range",
            "for in",
            "atomic",
            "d_step",
            "block",
            "printf",
            "printm",
            "assert",
        ],
        &["d_step option"],
        "SPIN sees only conditions, sends and receives when it decides whether a d_step can begin with a choice",
    ),
    (
        &["declaration", "atomic", "d_step", "block", "printf", "printm", "assert"],
        &["d_step first"],
        "SPIN lets a d_step that begins so run in the middle of a rendezvous",
    ),
    (
        &["peek rendezvous", "peek buffered", "peek any buffered"],
        &["d_step first", "d_step option"],
        "SPIN makes C that does not compile",
    ),
    (&["select"], &["d_step first", "d_step later", "d_step option"], "not deterministic"),
    (&["unless"], &["if first", "do first"], "SPIN refuses it"),
    (&["unless"], &["atomic first", "escape later"], "only in a block there"),
    (&["unless"], &["d_step first", "d_step later", "d_step option"], "refused inside d_step"),
    (
        &["else"],
        &[
            "body",
            "if later",
            "do later",
            "atomic first",
            "atomic later",
            "d_step first",
            "d_step later",
            "block",
            "unless main",
            "escape first",
            "escape later",
            "for",
        ],
        "only as the first of an option",
    ),
    (&["break"], &["body"], "outside of a loop"),
    (
        &["break", "goto"],
        &["d_step first", "d_step option"],
        "a jump is not a step that a d_step can begin with",
    ),
    (
        &["goto"],
        &["d_step later"],
        "jumps inside a d_step need a label there; see tests/promela/d_step/internal_goto.pml",
    ),
];

/// Productions besides statements. Left out: pointers, functions and what goes with them (`generate` makes programs without objects); `never`,
/// `ltl`, `enabled`, `pc_value`, `np_` and quantifiers (claims are made by the tests of formulas and of progress); `trace`, priorities,
/// `D_proctype`, `_last`, `xr` and `xs` (the interpreter does not know them: they have programs of their own in `tests/promela`);
/// macros and `inline` (the syntax tree does not have them).
const PRODUCTIONS: [&str; 97] = [
    "channel capacity 0",
    "channel capacity 1",
    "channel capacity 2",
    "channel fields 1",
    "channel fields 2",
    "channel of channels",
    "channel of scalars",
    "channel of structures",
    "expression Add",
    "expression And",
    "expression BitAnd",
    "expression BitOr",
    "expression BitXor",
    "expression Complement",
    "expression Div",
    "expression Eq",
    "expression Ge",
    "expression Gt",
    "expression Le",
    "expression Lt",
    "expression Mod",
    "expression Mul",
    "expression Ne",
    "expression Negate",
    "expression Not",
    "expression Or",
    "expression Shl",
    "expression Shr",
    "expression Sub",
    "expression _nr_pr",
    "expression _pid",
    "expression conditional",
    "expression empty",
    "expression full",
    "expression len",
    "expression nempty",
    "expression nfull",
    "expression number",
    "expression poll any buffered",
    "expression poll any rendezvous",
    "expression poll any variable",
    "expression poll buffered",
    "expression poll rendezvous",
    "expression poll variable",
    "expression remote label",
    "expression remote label without index",
    "expression remote variable",
    "expression remote variable without index",
    "expression run",
    "expression timeout",
    "expression variable",
    "initialiser channel",
    "initialiser expression",
    "initialiser list",
    "initialiser none",
    "label accept",
    "label end",
    "label plain",
    "label progress",
    "receive constant",
    "receive eval",
    "receive ignored",
    "receive variable",
    "reference element",
    "reference field",
    "reference variable",
    "statement peek any rendezvous",
    "statement receive on a variable",
    "statement send on a variable",
    "type Bit",
    "type Bool",
    "type Byte",
    "type Chan",
    "type Int",
    "type Mtype",
    "type Mtype of a set",
    "type Pid",
    "type Short",
    "type Unsigned",
    "type structure",
    "unit active",
    "unit active [n]",
    "unit global",
    "unit init",
    "unit mtype",
    "unit mtype set",
    "unit parameter",
    "unit proctype",
    "unit provided",
    "unit started proctype",
    "unit typedef",
    "variable array",
    "variable scalar",
    "visibility Hidden",
    "visibility Local",
    "visibility Plain",
    "visibility Show",
];

/// Labels that mean something.
const MEANINGFUL: [&str; 3] = ["end", "progress", "accept"];

/// Where they stand, besides the body: at the first statement of an option they are passed on to where its first step leads.
const LABELLED: [&str; 9] = [
    "if first",
    "if later",
    "do first",
    "do later",
    "atomic later",
    "block",
    "unless main",
    "escape later",
    "for",
];

/// What they stand on there.
const LABELLED_STATEMENTS: [&str; 13] = [
    "condition",
    "assign",
    "send buffered",
    "send rendezvous",
    "receive buffered",
    "receive rendezvous",
    "if",
    "do",
    "atomic",
    "d_step",
    "block",
    "else",
    "break",
];

type Counts = BTreeMap<String, u64>;

struct Counter {
    counts: Counts,
    /// Capacities of the channels by name: names are used once in a program.
    channels: BTreeMap<String, i32>,
}

impl Counter {
    fn count(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    fn model(&mut self, model: &Model) {
        self.channels.clear();
        for unit in &model.units {
            match unit {
                Unit::Proctype(p) => {
                    self.count("unit proctype");
                    match &p.active {
                        Some(Active { count: Some(_), .. }) => self.count("unit active [n]"),
                        Some(_) => self.count("unit active"),
                        None => self.count("unit started proctype"),
                    }
                    if let Some(provided) = &p.provided {
                        self.count("unit provided");
                        self.expr(provided);
                    }
                    for declaration in &p.params {
                        self.count("unit parameter");
                        self.declaration(declaration);
                    }
                    self.sequence(&p.body, "body", "body");
                }
                Unit::Init(init) => {
                    self.count("unit init");
                    self.sequence(&init.body, "body", "body");
                }
                Unit::Typedef(t) => {
                    self.count("unit typedef");
                    t.fields.iter().for_each(|d| self.declaration(d));
                }
                Unit::Mtype(m) => self.count(if m.set.is_some() { "unit mtype set" } else { "unit mtype" }),
                Unit::Declaration(d) => {
                    self.count("unit global");
                    self.declaration(d);
                }
                Unit::Function(_) => self.count("unit function"),
                Unit::Never(_) => self.count("unit never"),
                Unit::Trace(_) => self.count("unit trace"),
                Unit::Ltl(_) => self.count("unit ltl"),
            }
        }
    }

    fn declaration(&mut self, d: &Declaration) {
        self.count(format!("visibility {:?}", d.visibility));
        self.count(match &d.ty {
            TypeName::Mtype(None) => "type Mtype".to_string(),
            TypeName::Mtype(Some(_)) => "type Mtype of a set".to_string(),
            TypeName::Named(_) => "type structure".to_string(),
            TypeName::Pointer(_) => "type pointer".to_string(),
            other => format!("type {other:?}"),
        });
        for variable in &d.variables {
            self.count(if variable.length.is_some() { "variable array" } else { "variable scalar" });
            match &variable.init {
                None => self.count("initialiser none"),
                Some(Initialiser::Expr(e)) => {
                    self.count("initialiser expression");
                    self.expr(e);
                }
                Some(Initialiser::List(..)) => self.count("initialiser list"),
                Some(Initialiser::Channel(init)) => {
                    self.count("initialiser channel");
                    self.count(format!("channel fields {}", init.fields.len().min(2)));
                    for (field, _) in &init.fields {
                        self.count(match field {
                            TypeName::Named(_) => "channel of structures",
                            TypeName::Chan => "channel of channels",
                            _ => "channel of scalars",
                        });
                    }
                    if let ExprKind::Number(capacity) = init.capacity.kind {
                        self.count(format!("channel capacity {capacity}"));
                        self.channels.insert(variable.name.name.clone(), capacity);
                    }
                }
            }
        }
    }

    fn sequence(&mut self, sequence: &Sequence, first: &str, later: &str) {
        for (index, statement) in sequence.statements.iter().enumerate() {
            self.statement(statement, if index == 0 { first } else { later });
        }
    }

    /// The kind of a channel, if the name tells it: what a parameter or a variable holds differs.
    fn channel(&self, channel: &Reference) -> Option<&'static str> {
        let capacity = self.channels.get(&channel.parts[0].name.name)?;
        Some(if *capacity == 0 { "rendezvous" } else { "buffered" })
    }

    fn args(&mut self, args: &[ReceiveArg]) {
        for arg in args {
            match arg {
                ReceiveArg::Variable(r) => {
                    self.count("receive variable");
                    self.reference(r);
                }
                ReceiveArg::Pointer(_) => self.count("receive pointer"),
                ReceiveArg::Ignore(_) => self.count("receive ignored"),
                ReceiveArg::Constant(_) => self.count("receive constant"),
                ReceiveArg::Eval(e, _) => {
                    self.count("receive eval");
                    self.expr(e);
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement, place: &str) {
        for label in &statement.labels {
            let kind = MEANINGFUL.into_iter().find(|k| label.name.starts_with(k));
            self.count(format!("label {}", kind.unwrap_or("plain")));
            if let Some(kind) = kind {
                self.count(format!("label {kind} in {place}"));
            }
        }
        let inside = place.starts_with("d_step");
        let within = |own: &'static str| if inside { "d_step option" } else { own };
        let meaningful = |l: &Ident| MEANINGFUL.into_iter().any(|k| l.name.starts_with(k));
        let marked = statement.labels.iter().any(meaningful);
        let kind = match &statement.kind {
            StatementKind::Declaration(d) => {
                self.declaration(d);
                "declaration".to_string()
            }
            StatementKind::Expr(e) => {
                self.expr(e);
                match &e.kind {
                    ExprKind::Run { .. } => "run",
                    ExprKind::Number(1) => "skip",
                    _ => "condition",
                }
                .to_string()
            }
            StatementKind::Assign(to, e) => {
                self.reference(to);
                self.expr(e);
                "assign".to_string()
            }
            StatementKind::Increment(to) => {
                self.reference(to);
                "increment".to_string()
            }
            StatementKind::Decrement(to) => {
                self.reference(to);
                "decrement".to_string()
            }
            StatementKind::Send { channel, sorted, args } => {
                args.iter().for_each(|e| self.expr(e));
                match self.channel(channel) {
                    Some(kind) => format!("{}send {kind}", if *sorted { "sorted " } else { "" }),
                    None => "send on a variable".to_string(),
                }
            }
            StatementKind::Receive { channel, any, peek, args } => {
                self.args(args);
                let any = if *any { " any" } else { "" };
                match self.channel(channel) {
                    Some(kind) => format!("{}{any} {kind}", if *peek { "peek" } else { "receive" }),
                    None => "receive on a variable".to_string(),
                }
            }
            StatementKind::If(choices) => {
                for choice in choices {
                    self.sequence(
                        &choice.sequence,
                        within("if first"),
                        if inside { "d_step later" } else { "if later" },
                    );
                }
                "if".to_string()
            }
            StatementKind::Do(choices) => {
                for choice in choices {
                    self.sequence(
                        &choice.sequence,
                        within("do first"),
                        if inside { "d_step later" } else { "do later" },
                    );
                }
                "do".to_string()
            }
            StatementKind::ForRange { body, .. } => {
                let place = if inside { "d_step later" } else { "for" };
                self.sequence(body, place, place);
                "for range".to_string()
            }
            StatementKind::ForIn { body, .. } => {
                let place = if inside { "d_step later" } else { "for" };
                self.sequence(body, place, place);
                "for in".to_string()
            }
            StatementKind::Select { .. } => "select".to_string(),
            StatementKind::Atomic(body) => {
                self.sequence(body, "atomic first", "atomic later");
                "atomic".to_string()
            }
            StatementKind::DStep(body) => {
                self.sequence(body, "d_step first", "d_step later");
                "d_step".to_string()
            }
            StatementKind::Block(body) => {
                let place = if inside { "d_step later" } else { "block" };
                self.sequence(body, place, place);
                "block".to_string()
            }
            StatementKind::Unless(main, escape) => {
                match &main.kind {
                    StatementKind::Block(body) => self.sequence(body, "unless main", "unless main"),
                    _ => self.statement(main, "unless main"),
                }
                match &escape.kind {
                    StatementKind::Block(body) => self.sequence(body, "escape first", "escape later"),
                    _ => self.statement(escape, "escape first"),
                }
                "unless".to_string()
            }
            StatementKind::Else => "else".to_string(),
            StatementKind::Break => "break".to_string(),
            StatementKind::Goto(_) => "goto".to_string(),
            StatementKind::Printf(_, args) => {
                args.iter().for_each(|e| self.expr(e));
                "printf".to_string()
            }
            StatementKind::Printm(e) => {
                self.expr(e);
                "printm".to_string()
            }
            StatementKind::Assert(e) => {
                self.expr(e);
                "assert".to_string()
            }
            StatementKind::Dynamic(_) => "pointer statement".to_string(),
            StatementKind::Exclusive { .. } => "xr or xs".to_string(),
        };
        self.count(format!("statement {kind}"));
        if marked {
            self.count(format!("label on {kind} in {place}"));
        }
        self.count(format!("{kind} in {place}"));
    }

    fn reference(&mut self, r: &Reference) {
        self.count(if r.parts.len() > 1 { "reference field" } else { "reference variable" });
        for part in &r.parts {
            if let Some(index) = &part.index {
                self.count("reference element");
                self.expr(index);
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        let name = match &e.kind {
            ExprKind::Number(_) => "number".to_string(),
            ExprKind::Reference(r) => {
                self.reference(r);
                match r.parts[0].name.name.as_str() {
                    "_pid" => "_pid".to_string(),
                    "_nr_pr" => "_nr_pr".to_string(),
                    "_last" => "_last".to_string(),
                    _ => "variable".to_string(),
                }
            }
            ExprKind::Unary(op, a) => {
                self.expr(a);
                format!("{op:?}")
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                format!("{op:?}")
            }
            ExprKind::Conditional(a, b, c) => {
                [a, b, c].into_iter().for_each(|e| self.expr(e));
                "conditional".to_string()
            }
            ExprKind::Run { args, priority, .. } => {
                args.iter().for_each(|e| self.expr(e));
                if priority.is_some() { "run with a priority" } else { "run" }.to_string()
            }
            ExprKind::Len(_) => "len".to_string(),
            ExprKind::Full(_) => "full".to_string(),
            ExprKind::Empty(_) => "empty".to_string(),
            ExprKind::Nfull(_) => "nfull".to_string(),
            ExprKind::Nempty(_) => "nempty".to_string(),
            ExprKind::Poll { channel, any, args } => {
                self.args(args);
                let kind = self.channel(channel).unwrap_or("variable");
                format!("poll{} {kind}", if *any { " any" } else { "" })
            }
            ExprKind::Timeout => "timeout".to_string(),
            ExprKind::RemoteLabel { pid, .. } => {
                format!("remote label{}", if pid.is_some() { "" } else { " without index" })
            }
            ExprKind::RemoteVariable { pid, .. } => {
                format!("remote variable{}", if pid.is_some() { "" } else { " without index" })
            }
            ExprKind::Address(_) => "address".to_string(),
            ExprKind::Enabled(_) => "enabled".to_string(),
            ExprKind::PcValue(_) => "pc_value".to_string(),
            ExprKind::Reachable(..) => "reachable".to_string(),
            ExprKind::GetPriority(_) => "get_priority".to_string(),
            ExprKind::SetPriority(..) => "set_priority".to_string(),
            ExprKind::Quantified { .. } => "quantifier".to_string(),
        };
        self.count(format!("expression {name}"));
    }
}

fn programs() -> u64 {
    setting("QUOTIENT_COVERAGE_PROGRAMS", 20_000)
}

#[test]
fn random_programs_contain_everything() {
    let mut counter = Counter { counts: Counts::new(), channels: BTreeMap::new() };
    for seed in 0..programs() {
        counter.model(&generate(seed, 2 + (seed % 7) as usize));
    }
    let counts = counter.counts;
    let mut missing: Vec<String> =
        PRODUCTIONS.iter().filter(|p| !counts.contains_key(**p)).map(|p| (*p).to_string()).collect();
    for place in LABELLED {
        let labels = MEANINGFUL.iter().map(|label| format!("label {label} in {place}"));
        missing.extend(labels.filter(|l| !counts.contains_key(l)));
    }
    for place in ["if first", "do first"] {
        let labels = LABELLED_STATEMENTS.iter().map(|s| format!("label on {s} in {place}"));
        missing.extend(labels.filter(|l| !counts.contains_key(l)));
    }
    let mut unneeded = Vec::new();
    for statement in STATEMENTS {
        for surrounding in SURROUNDINGS {
            let pair = format!("{statement} in {surrounding}");
            let left_out = LEFT_OUT.iter().any(|(statements, places, _)| {
                statements.contains(&statement) && places.contains(&surrounding)
            });
            match (counts.contains_key(&pair), left_out) {
                (false, false) => missing.push(pair),
                (true, true) => unneeded.push(pair),
                _ => {}
            }
        }
    }
    if std::env::var("QUOTIENT_SHOW").is_ok() {
        counts.iter().for_each(|(what, count)| println!("{count:8} {what}"));
    }
    assert!(missing.is_empty(), "never generated: {missing:#?}");
    assert!(unneeded.is_empty(), "generated although it is left out: {unneeded:#?}");
}
