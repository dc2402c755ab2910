//! Every kind of statement in every surrounding on every kind of channel: small programs for comparison with SPIN.
//!
//! A program has three processes: `P` with the statement in its surrounding, `Q` as its partner on the channel, and `W`, which makes
//! an alternative possible at any time. Statements that use no channel have no partner and are not repeated for each kind of channel.
//!
//! `statement_table.txt` has a line for each program: its name, SPIN's states and transitions without any reduction, and the kinds of
//! error. Where SPIN stops or goes astray at an error of the program, the line has only the error; where it makes C that no compiler
//! takes, the line says so. `tests/opinion/statement_table.rs` says how to ask SPIN again.

use std::collections::BTreeMap;

use quotient_promela::{ParseOptions, parse_text};
use quotient_source::SourceMap;

use crate::{Fault, interpret};

/// One program of the table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Statement, surrounding and channel, in words.
    pub name: String,
    /// The program.
    pub text: String,
}

/// What `Q` does while `P` executes the statement.
const SENDS: &str = "c!1; c!2";
const RECEIVES: &str = "c?y; c?y";
const RECEIVES_IN_D_STEP: &str = "d_step { c?y; y = y + 4 }; d_step { c?y; y = y + 4 }";

/// Statements on the channel `c`, each with what the partner does.
const ON_CHANNELS: [(&str, &str, &str); 17] = [
    ("send", "c!1", RECEIVES),
    ("sorted-send", "c!!1", RECEIVES),
    ("send-to-d_step", "c!1", RECEIVES_IN_D_STEP),
    ("sorted-send-to-d_step", "c!!1", RECEIVES_IN_D_STEP),
    ("receive", "c?x", SENDS),
    ("receive-constant", "c?1", SENDS),
    ("receive-other", "c?2", SENDS),
    ("receive-eval", "c?eval(y + 1)", SENDS),
    ("receive-any", "c??2", SENDS),
    ("peek", "c?<x>", SENDS),
    ("peek-any", "c??<2>", SENDS),
    ("poll", "c?[1]", SENDS),
    ("poll-any", "c??[2]", SENDS),
    ("len", "len(c) == 1", SENDS),
    ("full", "full(c)", SENDS),
    ("nfull", "nfull(c)", SENDS),
    ("nempty", "nempty(c)", SENDS),
];

const WITHOUT_CHANNELS: [(&str, &str); 6] = [
    ("assignment", "x = 3"),
    ("increment", "x++"),
    ("condition", "w == 1"),
    ("assertion", "assert(w == 1)"),
    ("skip", "skip"),
    ("print", "printf(\"x\")"),
];

/// Surroundings; `#` stands for the statement.
const SURROUNDINGS: [(&str, &str); 21] = [
    ("plain", "#; z = 1"),
    ("atomic-first", "atomic { #; z = 1 }"),
    ("atomic-later", "atomic { z = 1; #; z = 2 }"),
    ("atomic-last", "atomic { z = 1; # }; z = 2"),
    ("d_step-first", "d_step { #; z = 1 }"),
    ("d_step-later", "d_step { z = 1; #; z = 2 }"),
    ("d_step-alone", "d_step { # }; z = 1"),
    ("d_step-in-atomic", "atomic { z = 1; d_step { #; z = 2 }; z = 3 }"),
    ("d_step-first-in-atomic", "atomic { d_step { #; z = 2 }; z = 3 }; z = 4"),
    ("unless-main", "{ #; z = 1 } unless { w == 1 -> z = 2 }"),
    ("unless-escape", "{ z = 1; z = 3 } unless { #; z = 2 }"),
    ("d_step-in-unless", "{ d_step { #; z = 1 }; z = 3 } unless { w == 1 -> z = 2 }"),
    ("if-guard", "if :: # -> z = 1 :: w == 1 -> z = 2 fi"),
    ("if-guard-else", "if :: # -> z = 1 :: else -> z = 2 fi"),
    ("do-guard", "do :: # -> z = 1 :: w == 1 -> break od"),
    ("if-in-atomic", "atomic { if :: # -> z = 1 :: w == 1 -> z = 2 fi; z = 3 }"),
    ("if-in-d_step", "d_step { if :: # -> z = 1 :: w == 1 -> z = 2 fi; z = z + 4 }"),
    ("second-if-in-d_step", "d_step { if :: w == 1 -> z = 2 :: # -> z = 1 fi; z = z + 4 }; z = 0"),
    ("later-if-in-d_step", "d_step { z = 1; if :: # -> z = 2 :: else -> z = 3 fi }"),
    ("do-in-d_step", "d_step { do :: # -> z = 1; break :: w == 1 -> break od; z = z + 4 }"),
    ("d_step-guard", "do :: d_step { # ; z = 1 } :: w == 1 -> break od"),
];

/// SPIN's answers, by the names of the programs.
pub fn pinned() -> BTreeMap<&'static str, &'static str> {
    include_str!("statement_table.txt").lines().filter_map(|l| l.split_once(": ")).collect()
}

/// Why SPIN is not followed for a program, where it is not.
pub fn deviation(name: &str) -> Option<&'static str> {
    let mut words = name.split(' ');
    let (statement, surrounding) = (words.next()?, words.next()?);
    let unseen = matches!(statement, "assignment" | "increment" | "assertion" | "print");
    match surrounding {
        _ if pinned().get(name) == Some(&"refused") => {
            Some("SPIN makes C that does not compile of a d_step that begins with a peek")
        }
        "if-in-d_step" | "second-if-in-d_step" | "do-in-d_step" if unseen => Some(
            "SPIN looks only for conditions, sends and receives when it decides whether a d_step can begin with a choice",
        ),
        _ => None,
    }
}

/// The interpreter's answer to a program, in the words of the file.
pub fn interpreted(text: &str) -> String {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "table.pml", text, &ParseOptions::default());
    let outcome = match interpret(&parsed.model, 10_000) {
        Ok(outcome) => outcome,
        Err(why) => return format!("refused {why}"),
    };
    if let Some(fault) = outcome.faults.iter().next() {
        return match fault {
            Fault::RendezvousInDStep => "fault rendezvous-in-d_step".to_string(),
            Fault::BlockedInDStep => "fault blocked-in-d_step".to_string(),
            Fault::PolledRendezvous => "fault polled-rendezvous".to_string(),
            other => format!("fault {other:?}"),
        };
    }
    let mut text = format!("states {} transitions {}", outcome.states, outcome.transitions);
    text.push_str(if outcome.assertion_failures > 0 { " assertion" } else { "" });
    text.push_str(if outcome.invalid_end_states > 0 { " deadlock" } else { "" });
    text
}

/// All programs.
pub fn table() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (surrounding, around) in SURROUNDINGS {
        for (statement, text) in WITHOUT_CHANNELS {
            let name = format!("{statement} {surrounding}");
            entries.push(Entry { name, text: program("", around, text, "") });
        }
        for (statement, text, partner) in ON_CHANNELS {
            for capacity in 0..3 {
                let channel = format!("chan c = [{capacity}] of {{ byte }};\n");
                let name = format!("{statement} {surrounding} capacity-{capacity}");
                let partner = format!("active proctype Q() {{ {partner} }}\n");
                entries.push(Entry { name, text: program(&channel, around, text, &partner) });
            }
        }
    }
    entries
}

fn program(channel: &str, around: &str, statement: &str, partner: &str) -> String {
    let body = around.replace('#', statement);
    format!(
        "{channel}byte w, x, y, z;\nactive proctype P() {{ {body}; assert(x + y < 3) }}\n{partner}active proctype W() {{ w = 1 }}\n"
    )
}
