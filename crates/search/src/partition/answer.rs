//! The report of a search by several processes, as a message.

use quotient_seams::Incomplete;

use super::town::RESULT;
use crate::restart::{Reader, Writer};
use crate::{Cause, Found, Path, Report, Statistics, Stop};

/// A search that ended without its report.
pub(super) fn stopped(stop: Stop) -> Report {
    match stop {
        Stop::Incomplete(why) => Report::incomplete(why),
        other => Report { stop: other, ..Report::new() },
    }
}

/// A search that lost a process: what is known of how far it came.
pub(super) fn unfinished(stop: Stop, statistics: Statistics, workers: usize) -> Report {
    Report { statistics, workers, ..stopped(stop) }
}

pub(super) fn write_report(report: &Report) -> Vec<u8> {
    let mut out = Writer::of(RESULT);
    let (kind, text) = match &report.stop {
        Stop::Complete => (0, String::new()),
        Stop::Violation => (1, String::new()),
        // Who has not enough numbers tries again with more, and so must all.
        Stop::Incomplete(Incomplete::TooManyShapes) => (3, String::new()),
        Stop::Incomplete(why) => (2, why.to_string()),
    };
    out.number(kind);
    out.bytes(text.as_bytes());
    let Statistics { states, transitions, expanded, depth, store_bytes, search_bytes, waiting, .. } =
        report.statistics;
    [states, transitions, expanded, depth, store_bytes, search_bytes, waiting, report.workers as u64]
        .iter()
        .for_each(|number| out.number(*number));
    out.number(report.found.len() as u64);
    for found in &report.found {
        out.number(crate::spotted::cause_number(found.cause));
        out.number(found.count);
        out.number(found.cycle as u64);
        out.numbers(found.path.choices.iter().map(|choice| u64::from(*choice)));
    }
    out.0
}

pub(super) fn read_report(from: &mut Reader<'_>) -> Option<Report> {
    let (kind, text) = (from.number()?, String::from_utf8_lossy(from.bytes()?).into_owned());
    let stop = match kind {
        0 => Stop::Complete,
        1 => Stop::Violation,
        3 => Stop::Incomplete(Incomplete::TooManyShapes),
        _ => Stop::Incomplete(Incomplete::Stopped(text)),
    };
    let mut number = || from.number();
    let statistics = Statistics {
        states: number()?,
        transitions: number()?,
        expanded: number()?,
        depth: number()?,
        store_bytes: number()?,
        search_bytes: number()?,
        waiting: number()?,
        ..Statistics::default()
    };
    let (workers, count) = (number()? as usize, number()?);
    let mut found = Vec::new();
    for _ in 0..count {
        let cause: Cause = crate::spotted::cause_of(from.number()?)?;
        let (count, cycle) = (from.number()?, usize::try_from(from.number()?).ok()?);
        let choices = from.numbers()?.map(u32::try_from).collect::<Result<Vec<u32>, _>>().ok()?;
        found.push(Found { cause, path: Path { choices }, cycle, count });
    }
    Some(Report { stop, found, statistics, workers })
}
