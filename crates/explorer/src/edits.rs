//! The model read again: edits are noticed, and expressions of its language can be watched.

use std::sync::Arc;
use std::time::SystemTime;

use quotient_engine::{LoadError, Model, PropertyKeyword};
use quotient_explain::{Course, Ending, Evaluation, Look, NoValue};
use quotient_machine::{Machine, ObjectNames};
use quotient_program::{BinaryOp, Expr, UnaryOp, visit};
use quotient_seams::Interrupt;
use quotient_source::Severity;
use serde_json::Value;

use crate::api;
use crate::server::Refused;
use crate::session::{LONGEST, Session, WHOLE_HISTORY, Work};

/// The longest expression.
const LONGEST_EXPRESSION: usize = 4096;

/// What a file is like, to see whether it was edited; none where it is not a file.
pub(crate) type Stamp = Option<(SystemTime, u64)>;

/// What the files of a model are like now.
pub(crate) fn stamps(model: &Model) -> Vec<Stamp> {
    let of = |name: &str| {
        let known = std::fs::metadata(name).ok()?;
        Some((known.modified().ok()?, known.len()))
    };
    model.sources.files().map(|f| of(model.sources.name(f))).collect()
}

/// The checksum of a model's texts.
pub(crate) fn checksum(model: &Model) -> String {
    quotient_trace::TraceFile::checksum(model.sources.files().map(|f| model.sources.text(f)))
}

/// The first message about a model that cannot be read, with its place.
fn first_message(error: &LoadError) -> String {
    let LoadError::Invalid(sources, diagnostics) = error else { return error.to_string() };
    let Some(first) = diagnostics.iter().find(|d| d.severity == Severity::Error) else {
        return error.to_string();
    };
    match first.span {
        Some(span) => format!("{} (column {})", first.message, sources.position(span).column),
        None => first.message.clone(),
    }
}

impl Session {
    /// Has the model been edited, and does this run still work? Nothing is taken over by itself.
    pub(crate) fn changed(&self, work: &mut Work, body: &Value) -> Result<api::Changed, Refused> {
        let same = api::Changed { changed: false, works: true, step: None, wrong: None };
        let Some(load) = &self.loader else { return Ok(same) };
        let is_file = work.stamps.iter().any(Option::is_some);
        if is_file && stamps(&work.model) == work.stamps {
            return Ok(same);
        }
        let model = match load(&[]) {
            Ok(model) => model,
            Err(error) => {
                let wrong = Some(first_message(&error));
                return Ok(api::Changed { changed: true, works: false, step: None, wrong });
            }
        };
        if checksum(&model) == work.checksum {
            work.stamps = stamps(&model);
            return Ok(same);
        }
        let course = self.course(work, body)?;
        let followed = Work::new(Arc::new(model)).ok().and_then(|mut new| {
            let mut again = Course::start(&mut new.machine)?;
            again.go_on(&mut new.machine, &course.moves, &Interrupt::within(None, Some(LONGEST)));
            Some(again)
        });
        let step = followed.map_or(Some(1), |again| match again.ending {
            Ending::Lost(step) => Some(step),
            Ending::Interrupted(steps) => Some(steps + 1),
            Ending::Open | Ending::Violation(_) => None,
        });
        Ok(api::Changed { changed: true, works: step.is_none(), step, wrong: None })
    }

    /// Takes over the model as it is now.
    pub(crate) fn reload(&self, work: &mut Work) -> Result<api::Reloaded, Refused> {
        let load = self.loader.as_ref().ok_or("the model cannot be read again")?;
        let model = load(&[]).map_err(|error| first_message(&error))?;
        *work = Work::new(Arc::new(model)).map_err(|error| error.to_string())?;
        Ok(api::Reloaded { checksum: work.short_checksum().to_owned() })
    }

    /// An expression of the model's language, read as an invariant would be.
    fn expression(&self, work: &mut Work, text: &str) -> Result<Expr, String> {
        if let Some(known) = work.watched.get(text) {
            return Ok(known.clone());
        }
        if text.len() > LONGEST_EXPRESSION {
            return Err("the expression is longer than 4 kB".into());
        }
        let load = self.loader.as_ref().ok_or("expressions cannot be read here")?;
        let model = load(&[(PropertyKeyword::Invariant, text.to_owned())]).map_err(|e| first_message(&e))?;
        let (old, new) = (&work.model, &model);
        let same = old.sources.files().zip(new.sources.files());
        if !same.into_iter().all(|(a, b)| old.sources.text(a) == new.sources.text(b)) {
            return Err("the model has changed: run it again first".into());
        }
        let found = model.claims.last().and_then(|claim| claim.propositions.first());
        let expr = found.ok_or("this is not an expression")?.clone();
        // Labels that only this expression mentions have no number in the program that runs.
        let known = &work.model.program.labels;
        let unknown = |e: &Expr| match e {
            Expr::At { label, .. } => {
                let label = label.0 as usize;
                known.get(label).is_none_or(|k| *k != model.program.labels[label])
            }
            _ => false,
        };
        if visit::any(&expr, unknown) {
            return Err("only labels that the model itself mentions in expressions can be watched".into());
        }
        if work.watched.len() >= 64 {
            work.watched.clear();
        }
        work.watched.insert(text.to_owned(), expr.clone());
        Ok(expr)
    }

    /// The value of an expression at a place, and along the run where that is not too long.
    pub(crate) fn eval(&self, work: &mut Work, body: &Value) -> Result<api::Evaluated, Refused> {
        let course = self.course(work, body)?;
        let text = body["expr"].as_str().ok_or("the expression is missing: `expr`")?;
        // A wrong expression is an answer: who types it sees it grow.
        let (state, names, _) = Session::place_in(&mut work.machine, &course, body);
        // A value as the page calls it, in any language; or an expression, in which such names may stand as well.
        let shown = as_shown(&work.machine, &state, &names, text.trim()).is_some();
        let mut written = || {
            let first = self.expression(work, text);
            let remote = remote(text);
            if first.is_ok() || remote == text { first } else { self.expression(work, &remote).or(first) }
        };
        let expr = match if shown { Ok(Expr::Const(0)) } else { written() } {
            Ok(expr) => expr,
            Err(wrong) => return Ok(api::Evaluated { value: None, history: None, wrong: Some(wrong) }),
        };
        let evaluate = |machine: &Machine, state: &[u64], names: &ObjectNames, expr: &Expr| {
            if !shown {
                return evaluate(machine, state, names, expr);
            }
            as_shown(machine, state, names, text.trim()).unwrap_or_else(|| "not there".into())
        };
        let machine = &mut work.machine;
        let value = evaluate(machine, &state, &names, &expr);
        let history = (course.rows.len() <= WHOLE_HISTORY).then(|| {
            let (state, names) = course.state(machine, 0);
            let mut history = vec![(0, evaluate(machine, &state, &names, &expr))];
            let mut row = 0;
            course.explain(machine, 0, course.len(), |machine, _, _, after| {
                row += 1;
                let Some((state, names)) = after else { return };
                let value = evaluate(machine, state, names, &expr);
                if history.last().is_none_or(|(_, last)| *last != value) {
                    history.push((row, value));
                }
            });
            history
        });
        Ok(api::Evaluated { value: Some(value), history, wrong: None })
    }
}

/// The value that the page shows under a name.
fn as_shown(machine: &Machine, state: &[u64], names: &ObjectNames, name: &str) -> Option<String> {
    let leaves = Look::new(machine, state, names).leaves();
    leaves.into_iter().find(|leaf| leaf.full == name).map(|leaf| leaf.value.to_string())
}

/// A text with the variables of processes as the page calls them, `P(1).x`, written as Promela does, `P[1]:x`.
fn remote(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let named = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match after.split_once(").") {
            Some((number, behind))
                if named && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
            {
                out.push_str(&format!("{before}[{number}]:"));
                rest = behind;
            }
            _ => {
                out.push_str(&format!("{before}("));
                rest = after;
            }
        }
    }
    out + rest
}

/// Is the value of an expression true or false, rather than a number?
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Spanned(inner, _) => is_condition(inner),
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, ..) => matches!(
            op,
            BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
        ),
        Expr::At { .. } | Expr::Full(_) | Expr::Empty(_) | Expr::Poll { .. } => true,
        _ => false,
    }
}

fn evaluate(machine: &Machine, state: &[u64], names: &ObjectNames, expr: &Expr) -> String {
    let look = Look::new(machine, state, names);
    let mut inner = expr;
    while let Expr::Spanned(within, _) = inner {
        inner = within;
    }
    match (Evaluation::new(&look, None).value(expr), inner) {
        (Ok(value), _) if is_condition(expr) => (value != 0).to_string(),
        (Ok(value), Expr::Load(place)) => look.scalar(&place.ty, value).to_string(),
        (Ok(value), _) => value.to_string(),
        (Err(NoValue::Fault(why)), _) => why,
        (Err(NoValue::Unknown), _) => "not known here".into(),
    }
}
