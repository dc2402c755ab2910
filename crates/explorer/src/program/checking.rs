//! The check of a C program that runs beside the page. It is started by a click only.

use std::sync::Mutex;
use std::thread;

use quotient_native::session::Heartbeat;
use quotient_native::{Answer, Report, Request, Token};
use quotient_stateless::Symmetry;
use serde_json::Value;

use super::{Program, lock, path};
use crate::api;
use crate::checking::Known;
use crate::server::Refused;

impl Program {
    /// Starts a check, unless one is running.
    pub(super) fn check(&self, body: &Value) -> Result<api::Progress, Refused> {
        let is_set = |field: &str| body[field].as_bool().unwrap_or(false);
        let symmetry = match body["symmetry"].as_str() {
            None => Symmetry::Off,
            Some(text) => {
                let found =
                    Symmetry::NAMES.iter().find(|(_, name, _)| *name == text).map(|(value, ..)| *value);
                found.ok_or_else(|| format!("`{text}` is not a value of --symmetry"))?
            }
        };
        let request = Request {
            symmetry,
            allow_races: is_set("allow_races"),
            max_time: crate::checking::max_time(body)?,
            ..self.settings.request.clone()
        };
        let Some((known, interrupt)) = self.checking.begin() else { return Ok(self.checking.progress()) };
        let binary = match self.binary() {
            Ok(binary) => binary,
            Err(message) => {
                let mut known = lock(&known);
                known.running = false;
                (known.verdict, known.message) = (Some("error"), Some(message.clone()));
                return Err(message.into());
            }
        };
        let manner = self.manner.clone();
        thread::spawn(move || {
            let mut watch = |beat: Heartbeat| {
                let mut known = lock(&known);
                let seconds = known.started.map_or(0.0, |s| s.elapsed().as_secs_f64());
                // A heartbeat comes often; a tenth of a second is enough for a plot.
                if known.points.last().is_none_or(|last| seconds - last.seconds > 0.1) {
                    known.point(api::Point { seconds, states: beat.executions, waiting: 0, bytes: 0 });
                }
                (known.states, known.transitions) = (beat.executions, beat.steps);
                !interrupt.raised()
            };
            let result = quotient_native::check(&binary, &request, &mut watch);
            let mut known = lock(&known);
            known.running = false;
            known.seconds = known.started.map_or(0.0, |s| s.elapsed().as_secs_f64());
            match result {
                Ok(report) => conclude(&mut known, &report, symmetry, &manner),
                Err(error) => {
                    (known.verdict, known.message) = (Some("error"), Some(error.to_string()));
                }
            }
        });
        Ok(self.checking.progress())
    }

    /// Takes over what a check has come to that was made before the page is opened.
    pub fn knows(&self, report: &Report, seconds: f64) {
        let mut known = self.checking.afresh(seconds);
        conclude(&mut known, report, self.settings.request.symmetry, &self.manner);
    }
}

fn conclude(known: &mut Known, report: &Report, symmetry: Symmetry, manner: &Mutex<Token>) {
    known.verdict = Some(report.verdict().name());
    (known.states, known.transitions) = (report.figures.executions, report.figures.steps);
    known.depth = report.figures.depth;
    let name = Symmetry::NAMES.iter().find(|(value, ..)| *value == symmetry);
    known.symmetry = Some(name.map_or("off", |(_, name, _)| *name).to_owned());
    known.report = Some(told(report));
    known.message = report.verdict().incomplete().map(ToString::to_string);
    if let Answer::Violated(repeated) = &report.answer {
        let found = repeated.token.schedule.choices.iter();
        let moves: Vec<(u32, u32)> = found.map(|c| (c.thread.into(), c.alternative.into())).collect();
        *lock(manner) = super::manner(&repeated.token);
        let kind = repeated.trace.violation.as_ref().map_or("violation", |v| v.kind.as_str());
        known.violations.push(api::Violation {
            kind: kind.to_owned(),
            message: repeated.message(),
            at: repeated.trace.violation_at.clone(),
            position: Some(path(&moves)),
            cycle: 0,
        });
    }
}

/// What the terminal would say beside the trace.
fn told(report: &Report) -> String {
    let mut lines = Vec::new();
    if let Answer::Violated(repeated) = &report.answer {
        let at = repeated.trace.violation_at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
        lines.push(format!("{}{at}", repeated.message()));
        let fewest = if report.figures.fewest { ", the fewest possible" } else { "" };
        lines.push(format!("{} context switches{fewest}", report.figures.switches));
    }
    lines.extend(report.assumptions.iter().map(|assumption| format!("under {assumption}")));
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}
