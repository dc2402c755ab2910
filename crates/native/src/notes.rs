//! What is said beside an answer: what the sandbox does not confine, which threads symmetry does not exchange and why, accesses that are not announced.

use quotient_stateless::Symmetry;

use crate::build::Binary;
use crate::check::Request;
use crate::protocol::{Difference, Shared};
use crate::symbols::{Location, Symbols};

/// Places of holes that a note names.
const MOST_HOLES: usize = 5;

/// What an example of a reason against an exchange is called: a variable and where, or a place in memory.
fn difference(binary: &Binary, symbols: &Symbols, shared: &Shared, reason: u16) -> Option<String> {
    let Difference { what, place } = shared.differences[reason.trailing_zeros() as usize];
    if (what, place) == (0, 0) {
        return None;
    }
    if place == 0 {
        return Some(symbols.data(what as u64));
    }
    let at = symbols.code(place)?;
    let bytes = std::fs::read(binary.path()).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let function = crate::residual::image::start(&file, place.checked_sub(shared.program_base)?)?;
    let name = crate::residual::scalars::variable(&file, function, what);
    let name = name.unwrap_or_else(|| format!("{what} from the frame pointer"));
    Some(format!("{name} of {}, {}:{}", at.function, at.file, at.line))
}

/// What a user should know of a check besides its answer.
pub(crate) fn notes(
    binary: &Binary,
    shared: &Shared,
    request: &Request,
    holes: &[Location],
    unconfined: &[String],
) -> Vec<String> {
    let mut notes: Vec<String> = unconfined.iter().map(|what| format!("sandbox: {what}")).collect();
    if request.symmetry != Symmetry::Off {
        let symbols = Symbols::new(binary.path(), shared.program_base);
        let example = |reason: u16| difference(binary, &symbols, shared, reason);
        notes.extend(crate::symmetric_threads::notes(
            &shared.classes,
            &shared.unlike,
            request.symmetry,
            &example,
        ));
        if shared.unexchanged > 0 {
            let most = quotient_stateless::Configuration::default().image_bound;
            let states = shared.unexchanged;
            notes.push(format!(
                "symmetry was not used at {states} state(s): an execution would have more than {most} images"
            ));
        }
    }
    if shared.leaked > 0 {
        notes.push(format!("{} joinable thread(s) are never joined", shared.leaked));
    }
    if shared.waiting > 0 {
        notes.push(format!("{} thread(s) still wait when the program ends", shared.waiting));
    }
    if request.allow_races && shared.restarts > 0 {
        notes.push("data races are allowed: racing accesses were made steps".to_owned());
    }
    if !holes.is_empty() {
        notes.push(unannounced(holes));
    }
    notes
}

/// Accesses that nobody is told of, and where some of them are.
pub(crate) fn unannounced(holes: &[Location]) -> String {
    let places = holes.iter().take(MOST_HOLES).map(|h| match h.line {
        0 => h.function.clone(),
        line => format!("{}:{line} ({})", h.file, h.function),
    });
    let more = if holes.len() > MOST_HOLES { ", …" } else { "" };
    format!(
        "accesses to memory at {} place(s) are not announced by the compiler, and so not checked: {}{more}",
        holes.len(),
        places.collect::<Vec<_>>().join(", ")
    )
}
