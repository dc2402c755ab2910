//! Static Promela models, read with unbounded integers.
//!
//! The model is lowered to a [`Program`] as for `quotient check` and each process becomes a program
//! counter ([`layout`]); every way from one place where other processes may move to the next is a rule
//! ([`steps`]), with the conditions and assignments on it evaluated symbolically ([`expression`]). An
//! atomic sequence is therefore one rule, and where it can block it ends there, as in Promela.
//!
//! Columns are `p([P0,P1,…], globals…, locals…)`: the counter of process `i` is `Pi`, the variable `x`
//! is `X`, an array element `a[2]` is `A_2`, a field `s.f` is `S_f`, and the local `i` of process 1
//! is `P1_i`. Assertions are written in comments `/*@ … */` in the `.clp` language. Each `assert` of
//! the model, and each array index that is not plainly within bounds, becomes a safety claim.
//!
//! What this reading changes: variables do not wrap around, and a process that has reached its end
//! stays there. What is refused by name: channels, starting processes later than in an initial atomic
//! sequence, non-linear arithmetic, loops inside atomic sequences, `timeout`, `_last`, priorities,
//! `provided`, `trace`.

mod expression;
mod layout;
mod prelude;
mod steps;

use std::path::Path;

use quotient_program::Program;
use quotient_promela::ParseOptions;
use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

use crate::language::ast::{self, Assertion, Claim, Formula, Item};
use crate::language::lexer::tokens;
use crate::language::{self, parser};
use crate::relative::satisfiable;

pub use layout::{Column, Place};

/// A model as rules.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Facts, rules, the user's assertions, and claims made from the model's own.
    pub items: Vec<Item>,
    /// What each column of the state is, in order.
    pub columns: Vec<Column>,
    /// Number of processes.
    pub threads: usize,
    /// Names of the generated claims: violating any of them is an error of the model.
    pub claims: Vec<String>,
    /// Why the map of a proof cannot be used on the model's own, bounded integers.
    pub unbounded: Option<(Span, String)>,
    /// Whether some process can end.
    pub ends: Option<Span>,
    /// Locations in words, one line for each.
    pub legend: Vec<String>,
}

/// Reads a model as statements of the `.clp` language.
pub fn read(
    map: &mut SourceMap,
    path: &Path,
    options: &ParseOptions,
    diagnostics: &mut Diagnostics,
) -> std::io::Result<Vec<Item>> {
    let parsed = quotient_promela::parse_file(map, path, options)?;
    let failed = parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    if failed {
        return Ok(Vec::new());
    }
    let lowered = quotient_promela::lower(&parsed.model, map);
    let failed = lowered.diagnostics.has_errors();
    diagnostics.extend(lowered.diagnostics);
    for claim in &lowered.claims {
        let message =
            format!("{} {} is left aside: `prove` is about safety claims", claim.keyword, claim.name);
        diagnostics.push(Diagnostic::warning(claim.span, message.replace("  ", " ")));
    }
    if failed {
        return Ok(Vec::new());
    }
    Ok(translate(&lowered.program, map, diagnostics).map_or_else(Vec::new, |t| t.items))
}

/// Translates a program; `None` when something in it is not supported, with the reason as a diagnostic.
pub fn translate(program: &Program, map: &SourceMap, diagnostics: &mut Diagnostics) -> Option<Translation> {
    let mut translation = match steps::translate(program, map) {
        Ok(translation) => translation,
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            return None;
        }
    };
    let claims = translation.items.split_off(
        translation
            .items
            .iter()
            .position(|i| matches!(i, Item::Assertion(_)))
            .unwrap_or(translation.items.len()),
    );
    translation.items = possible(translation.items);
    let mut annotations = Vec::new();
    for file in map.files() {
        annotations.extend(annotated(map, file, diagnostics));
    }
    // The model's own claims may rely on what the user says holds of every state, and on symmetries.
    let general: Vec<(String, Span)> = annotations
        .iter()
        .filter_map(|item| match item {
            Item::Assertion(Assertion { name: Some(name), constraint, claim, .. }) => {
                let everywhere = matches!(constraint, Formula::And(list) if list.is_empty());
                (!matches!(claim, Claim::Constraint(_)) || everywhere).then(|| name.clone())
            }
            _ => None,
        })
        .collect();
    translation.items.extend(annotations);
    translation.items.extend(claims.into_iter().map(|item| match item {
        Item::Assertion(a) => Item::Assertion(ast::Assertion { using: general.clone(), ..a }),
        rule @ Item::Rule { .. } => rule,
    }));
    Some(translation)
}

/// How much looking for contradictions may cost, for all rules together: entries of matrices that are copied, some seconds.
const MOST_COPIED: usize = 1 << 31;

/// The facts and rules whose conditions do not contradict themselves. (An atomic sequence yields a rule for
/// every combination of choices in it.)
fn possible(items: Vec<Item>) -> Vec<Item> {
    let Some(program) = language::program(&items, &mut Diagnostics::new()) else { return items };
    let mut left = MOST_COPIED;
    // A condition too large to decide stays.
    let mut possible =
        program.rules.iter().map(|rule| satisfiable(&rule.guard, rule.nodes, &mut left).unwrap_or(true));
    items.into_iter().filter(|_| possible.next().unwrap_or(true)).collect()
}

/// The statements in the comments `/*@ … */` of a file. Everything else is blanked out, so that spans
/// stay those of the file.
fn annotated(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Item> {
    let text = map.text(file);
    let mut blank: Vec<u8> = text.bytes().map(|b| if b == b'\n' { b'\n' } else { b' ' }).collect();
    let (mut at, mut any) = (0, false);
    while let Some(start) = text[at..].find("/*@").map(|s| at + s + 3) {
        let end = text[start..].find("*/").map_or(text.len(), |e| start + e);
        blank[start..end].copy_from_slice(&text.as_bytes()[start..end]);
        (at, any) = (end, true);
    }
    if !any {
        return Vec::new();
    }
    let blank = String::from_utf8_lossy(&blank).into_owned();
    let mut items = parser::statements(tokens(file, &blank, diagnostics), diagnostics);
    items.retain(|item| match item {
        Item::Assertion(_) => true,
        Item::Rule { span, .. } => {
            diagnostics.push(
                Diagnostic::error(*span, "only assertions can be written in a model's comments")
                    .help("the rules are made from the model itself"),
            );
            false
        }
    });
    items
}
