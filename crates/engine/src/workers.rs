//! How many workers search for the answer to a question, or why only one does.

use quotient_machine::Machine;
use quotient_search::Workers;

use crate::asked::{Asked, How};
use crate::plan::Why;
use crate::{Check, CheckError, Model, SearchKind, StoreKind, Symmetry};

/// Those asked for, or one for each processor.
fn wanted(check: &Check<'_>) -> Workers {
    let processors = || std::thread::available_parallelism().map_or(1, Into::into);
    check.workers.unwrap_or_else(|| Workers::new(processors()))
}

/// Those that search for what the machine was compiled for, or why only one does. Representatives may exchange threads.
pub(crate) fn workers(machine: &Machine, exchanges: bool, check: &Check<'_>) -> Result<Workers, Why> {
    let cycles = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
    let wanted = wanted(check);
    match alone(check).or((cycles && check.fair && exchanges).then_some(FAIR)) {
        Some(why) if wanted.count > 1 => Err(why),
        _ => Ok(wanted),
    }
}

/// What states were stored in. Several workers that look for infinite runs, or make the whole graph, store them as they are.
pub(crate) fn store(asked: StoreKind, numbered: bool, workers: usize) -> StoreKind {
    if numbered && workers > 1 { StoreKind::Plain } else { asked }
}

const FAIR: Why =
    "fair runs are searched by one worker where threads are interchangeable (--symmetry off: by several)";

/// What of the options only one worker can do.
fn alone(check: &Check<'_>) -> Option<Why> {
    let thread_order = matches!(
        check.symmetry,
        Some(Symmetry::ProgramCounter | Symmetry::ProgramCounterOriginal | Symmetry::Bounded(_))
    );
    match (check.search, check.store) {
        (SearchKind::DepthFirst, _) => Some("depth-first search has one worker"),
        (SearchKind::Random, _) => None,
        _ if check.disk.is_some() => Some("--disk has one worker"),
        _ if check.processes.is_some() => Some("each process (--hosts) has one worker"),
        _ if thread_order => Some("--symmetry pc, pc-original and kbots depend on the order of the search"),
        (_, StoreKind::Gzip) => Some("the gzip store has one worker"),
        (_, StoreKind::Collapse) => Some("the collapse store has one worker"),
        (_, StoreKind::Bitstate) => Some("the bitstate store has one worker"),
        (_, StoreKind::Hash) => Some("the hash store has one worker"),
        (_, StoreKind::Plain) => Some("the plain store has one worker"),
        (_, StoreKind::Tree) => None,
    }
}

/// Refuses approximate stores and random walks for questions that need every state, and for walks what they have no use for.
pub(crate) fn refuse_approximate(
    model: &Model,
    asked: &[Asked<'_>],
    check: &Check<'_>,
) -> Result<(), CheckError> {
    if check.search == SearchKind::Random {
        let asked = match (check.store, check.symmetry) {
            (StoreKind::Tree, None | Some(Symmetry::Off)) => None,
            (StoreKind::Tree, Some(_)) => Some("--symmetry".to_owned()),
            (store, _) => Some(format!("--store {}", store.name())),
        };
        if let Some(option) = asked {
            return Err(CheckError::Refused(format!(
                "--search random takes states as they come and stores none: {option} would have no effect\nhelp: leave one of them out"
            )));
        }
    }
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

/// Refuses checkpoints for what is not searched level by level with the tree store.
pub(crate) fn refuse_checkpoint(
    model: &Model,
    asked: &[Asked<'_>],
    check: &Check<'_>,
) -> Result<(), CheckError> {
    match check.checkpoint {
        Some(_) => refuse_but_levels(model, asked, check, ("a checkpoint cannot be written of", false)),
        None => Ok(()),
    }
}

/// Refuses the disk for the same, and for what has not learnt to use it.
pub(crate) fn refuse_disk(model: &Model, asked: &[Asked<'_>], check: &Check<'_>) -> Result<(), CheckError> {
    if check.disk.is_none() {
        return Ok(());
    }
    if check.checkpoint.is_some() {
        return Err(CheckError::Refused(
            "--disk and --checkpoint do not go together\nhelp: leave one of them out".into(),
        ));
    }
    refuse_but_levels(model, asked, check, ("--disk does not support", false))
}

/// Refuses several processes for the same.
pub(crate) fn refuse_processes(
    model: &Model,
    asked: &[Asked<'_>],
    check: &Check<'_>,
) -> Result<(), CheckError> {
    match check.processes {
        Some(_) => refuse_by_processes(model, asked, check),
        None => Ok(()),
    }
}

/// What several processes cannot do.
pub(crate) fn refuse_by_processes(
    model: &Model,
    asked: &[Asked<'_>],
    check: &Check<'_>,
) -> Result<(), CheckError> {
    if check.workers.is_some_and(|workers| workers.count > 1) {
        return Err(CheckError::Refused(
            "each process (--hosts) has one worker\nhelp: leave --workers out; start more processes".into(),
        ));
    }
    let together = [(check.disk.is_some(), "--disk"), (check.audit > 0, "--audit")];
    if let Some((_, option)) = together.into_iter().find(|(given, _)| *given) {
        return Err(CheckError::Refused(format!(
            "several processes (--hosts) do not support {option}\nhelp: leave it out"
        )));
    }
    let cycles = |asked: &Asked<'_>| matches!(&asked.how, How::Claim(claim) if claim.cycles);
    if check.fair && asked.iter().any(cycles) {
        return Err(CheckError::Refused(
            "several processes (--hosts) do not support fairness (--fair)\nhelp: leave --fair out, or search with one process".into(),
        ));
    }
    refuse_but_levels(model, asked, check, ("several processes (--hosts) do not support", true))
}

/// Refuses what is not searched level by level with the tree store, but for infinite runs where they are served; `whose` begins the message.
fn refuse_but_levels(
    model: &Model,
    asked: &[Asked<'_>],
    check: &Check<'_>,
    (whose, serves_cycles): (&str, bool),
) -> Result<(), CheckError> {
    let thread_order = matches!(
        check.symmetry,
        Some(Symmetry::ProgramCounter | Symmetry::ProgramCounterOriginal | Symmetry::Bounded(_))
    );
    let refused =
        |what: String, help: &str| Err(CheckError::Refused(format!("{whose} {what}\nhelp: {help}")));
    match (check.search, check.store) {
        (SearchKind::Usual | SearchKind::BreadthFirst, StoreKind::Tree) => {}
        (SearchKind::Usual | SearchKind::BreadthFirst, store) => {
            return refused(format!("the {} store", store.name()), "leave --store out");
        }
        _ => return refused("a search that does not go level by level".into(), "leave --search out"),
    }
    if thread_order {
        return refused("--symmetry pc, pc-original and kbots".into(), "leave --symmetry out");
    }
    if check.relative.is_some() {
        return refused("a search with proved symmetries".into(), "leave --relative and --propose out");
    }
    let needs_more = |how: &How<'_>| match how {
        How::Branching(_) => true,
        How::Claim(claim) => claim.cycles && !serves_cycles,
    };
    match asked.iter().find(|asked| needs_more(&asked.how)) {
        Some(asked) => refused(
            format!(
                "the search {}of the whole graph: {}",
                if serves_cycles { "" } else { "for infinite runs or " },
                model.question_text(asked.question)
            ),
            "leave the question out (--safety, for claims of the model)",
        ),
        None => Ok(()),
    }
}

/// Refuses several workers, where they were asked for, for what only one can do.
pub(crate) fn refuse(asked: &[Asked<'_>], check: &Check<'_>) -> Result<(), CheckError> {
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
    // Whether threads are interchangeable is known when it is too late to refuse.
    let fair = |asked: &&Asked<'_>| matches!(&asked.how, How::Claim(claim) if claim.cycles) && check.fair;
    match asked.iter().find(fair) {
        Some(_) if !check.raw && check.symmetry != Some(Symmetry::Off) => {
            refused(FAIR, "; or write --symmetry off")
        }
        _ => Ok(()),
    }
}
