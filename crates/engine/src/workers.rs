//! How many workers search for the answer to a question, or why only one does.

use quotient_machine::Machine;
use quotient_search::Workers;

use crate::check::{Asked, How};
use crate::plan::Why;
use crate::{Check, CheckError, Model, SearchKind, StoreKind, Symmetry};

/// Those asked for, or one for each processor.
fn wanted(check: &Check<'_>) -> Workers {
    let processors = || std::thread::available_parallelism().map_or(1, Into::into);
    check.workers.unwrap_or_else(|| Workers::new(processors()))
}

/// Those that search for what the machine was compiled for, or why only one does.
pub(crate) fn workers(machine: &Machine, check: &Check<'_>) -> Result<Workers, Why> {
    let cycles = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
    let wanted = wanted(check);
    match alone(check).or(cycles.then_some(CYCLES)) {
        Some(why) if wanted.count > 1 => Err(why),
        _ => Ok(wanted),
    }
}

const CYCLES: Why = "infinite runs are searched by one worker";
const BRANCHING: Why = "formulas of branching time are answered by one worker";

/// What of the options only one worker can do.
fn alone(check: &Check<'_>) -> Option<Why> {
    let thread_order = matches!(
        check.symmetry,
        Some(Symmetry::ProgramCounter | Symmetry::ProgramCounterOriginal | Symmetry::Bounded(_))
    );
    match (check.search, check.store) {
        (SearchKind::DepthFirst, _) => Some("depth-first search has one worker"),
        (SearchKind::Random, _) => None,
        _ if thread_order => Some("--symmetry pc, pc-original and kbots depend on the order of the search"),
        (_, StoreKind::Gzip) => Some("the gzip store has one worker"),
        (_, StoreKind::Collapse) => Some("the collapse store has one worker"),
        (_, StoreKind::Bitstate) => Some("the bitstate store has one worker"),
        (_, StoreKind::Hash) => Some("the hash store has one worker"),
        (_, StoreKind::Plain) => Some("the plain store has one worker"),
        (_, StoreKind::Tree) => None,
    }
}

/// Refuses approximate stores and random walks for questions that need every state.
pub(crate) fn refuse_approximate(
    model: &Model,
    asked: &[Asked<'_>],
    check: &Check<'_>,
) -> Result<(), CheckError> {
    let option = match (check.store.is_approximate(), check.search) {
        (true, _) => format!("--store {}", check.store.name()),
        (false, SearchKind::Random) => "--search random".to_owned(),
        _ => return Ok(()),
    };
    let needs_all = |how: &How<'_>| match how {
        How::Branching(_) => true,
        How::Claim(claim) => claim.cycles,
    };
    match asked.iter().find(|asked| needs_all(&asked.how)) {
        Some(asked) => Err(CheckError::Refused(format!(
            "{option} looks for errors in reachable states, and this question is about infinite runs or the whole graph: {}\nhelp: leave {option} out; or leave the question out (--safety, for claims of the model)",
            model.question_text(asked.question)
        ))),
        None => Ok(()),
    }
}

/// Refuses several workers, where they were asked for, for what only one can do.
pub(crate) fn refuse(model: &Model, asked: &[Asked<'_>], check: &Check<'_>) -> Result<(), CheckError> {
    if check.workers.is_none_or(|workers| workers.count < 2) {
        return Ok(());
    }
    let refused = |why: Why, what: &str| {
        let help = format!("leave --workers out, or write --workers 1{what}");
        Err(CheckError::Refused(format!("several workers cannot do this: {why}\nhelp: {help}")))
    };
    if let Some(why) = alone(check) {
        return refused(why, "");
    }
    for Asked { question, how } in asked {
        let why = match how {
            How::Branching(_) => BRANCHING,
            How::Claim(claim) if claim.cycles => CYCLES,
            How::Claim(_) => continue,
        };
        let text = model.question_text(*question);
        return refused(
            why,
            &format!("; or leave the question out (--safety, for claims of the model): {text}"),
        );
    }
    Ok(())
}
