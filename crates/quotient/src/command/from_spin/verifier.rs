//! Words of the C compiler and of the verifier that it makes (`pan`).

use super::meaning::Meaning;

/// Why flags that choose an order need not be said.
pub(super) const ORDER: &str = "it chooses an order; every state is visited in any case";
const STORAGE: &str = "states are kept exactly, and smaller than that, by default";
const NO_LIMIT: &str = "there is no table whose size must be known, and no limit of depth";

/// Reads the words after the compiler's name; gives the name of what it makes.
pub(super) fn compiler(words: &[String], meaning: &mut Meaning) -> String {
    let mut made = "a.out".to_owned();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-o" => made = rest.next().cloned().unwrap_or(made),
            definition if definition.starts_with("-D") => self::definition(definition, meaning),
            source if !source.starts_with('-') && source != "pan.c" => {
                meaning.refuse(source, "models with embedded C are not read");
            }
            // Everything else is about the compiler: -O2, -w, -lm, pan.c.
            _ => {}
        }
    }
    made
}

/// A definition for the compiler, `-DNAME` or `-DNAME=VALUE`.
pub(super) fn definition(word: &str, meaning: &mut Meaning) {
    definition_as(word, word.strip_prefix("-D").unwrap_or(word), meaning);
}

/// What a definition says that the user wrote as `word`.
pub(super) fn definition_as(word: &str, text: &str, meaning: &mut Meaning) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match name {
        "SAFETY" => meaning
            .needless(word, "cycles are looked for where a formula, a claim or an option asks for them"),
        "NOCLAIM" => {
            meaning.without_claims = true;
            meaning.same(word, "--safety");
        }
        "NOREDUCE" => {
            meaning.no_partial_order = true;
            meaning.same(word, "--por off");
        }
        "NP" => meaning.needless(word, "it is what -l needs"),
        "BITSTATE" => store(word, "bitstate", meaning),
        "HC" | "HC0" | "HC1" | "HC2" | "HC3" | "HC4" => store(word, "hash", meaning),
        "BFS" => meaning.needless(word, "breadth-first search is the default"),
        "NCORE" => workers(word, value, meaning),
        "BFS_PAR" => meaning.needless(word, "all processors are used by default"),
        "MEMLIM" if is_number(value) => {
            meaning.max_memory = Some(format!("{value}M"));
            meaning.same(word, &format!("--max-memory {value}M"));
        }
        "MEMCNT" => match value.parse::<u32>() {
            Ok(power @ 20..=62) => {
                let mebibytes = 1u64 << (power - 20);
                meaning.max_memory = Some(format!("{mebibytes}M"));
                meaning.same(word, &format!("--max-memory {mebibytes}M"));
            }
            _ => meaning.refuse(word, "not a size in memory"),
        },
        "COLLAPSE" | "MA" | "SPACE" | "SC" | "LC" | "HYBRID_HASH" | "FULLSTACK" | "CNTRSTACK" => {
            meaning.needless(word, STORAGE);
        }
        "VECTORSZ" | "NFAIR" | "REACH" | "AUTO_RESIZE" | "HASH32" | "HASH64" | "SFH" | "NOFIX"
        | "MAXDEPTH" => {
            meaning.needless(word, NO_LIMIT);
        }
        "RANDOMIZE" | "P_RAND" | "T_RAND" | "R_RAND" | "P_REVERSE" | "T_REVERSE" | "REVERSE" | "PERMUTED"
        | "RSEED" | "USE_TDH" => meaning.needless(word, ORDER),
        "NOBOUNDCHECK" => meaning.needless(word, "bounds of arrays are always checked"),
        "XUSAFE" => {
            meaning.refuse(word, "what xr and xs say of channels is checked; leave them out of the model")
        }
        "NOFAIR" => meaning.needless(word, "fairness counts only where it is asked for"),
        "PEG" | "CHECK" | "VERBOSE" | "DEBUG" | "SDUMP" | "SVDUMP" | "PRINTF" | "NOTRAIL" | "DUMP_TRAIL" => {
            meaning.needless(word, "it is about how SPIN prints");
        }
        _ => meaning.refuse(word, "not known here as a definition for SPIN's verifier"),
    }
}

/// A word of the verifier.
pub(super) fn pan(word: &str, meaning: &mut Meaning) {
    let known = match word {
        "-a" => {
            meaning.acceptance = true;
            meaning.same(word, "--acceptance; formulas and claims are checked without it");
            true
        }
        "-f" => {
            meaning.fair = true;
            meaning.same(word, "--fair");
            true
        }
        "-l" => {
            meaning.progress = true;
            meaning.same(word, "--progress");
            true
        }
        "-E" => {
            meaning.no_deadlock = true;
            meaning.same(word, "--no-deadlock");
            true
        }
        "-e" => {
            meaning.all = true;
            meaning.same(word, "--all");
            true
        }
        "-i" | "-I" => {
            meaning.shortest = true;
            meaning.same(word, "--por off: breadth-first search then finds a shortest run");
            true
        }
        "-r" | "-C" | "-S" | "-g" => {
            meaning.replays = true;
            true
        }
        _ => false,
    };
    if known {
        return;
    }
    match word {
        "-A" => meaning.refuse(word, "assertions are always checked; take them out of the model"),
        "-q" => {
            meaning.refuse(word, "whether channels are empty at the end is not asked; write an assertion")
        }
        "-J" => meaning.refuse(word, "the language is that of SPIN 6.5"),
        "-d" | "-D" | "-V" => {
            meaning.refuse(word, "it prints something about the model, and there is nothing to check")
        }
        "-b" => meaning.needless(word, NO_LIMIT),
        "-n" | "-v" | "-s" | "-T" | "-x" | "-B" | "-X" | "-w" | "-W" => {
            meaning.needless(word, "it is about how SPIN prints");
        }
        "-t_reverse" | "-hash" | "-rhash" => meaning.needless(word, ORDER),
        _ => attached(word, meaning),
    }
}

/// Flags with a number or a name written directly after them.
fn attached(word: &str, meaning: &mut Meaning) {
    let (flag, value) = word.split_at_checked(2).unwrap_or((word, ""));
    match flag {
        "-m" | "-w" | "-k" | "-M" | "-G" if is_number(value) => meaning.needless(word, NO_LIMIT),
        "-h" if is_number(value) => meaning.needless(word, ORDER),
        "-R" if value.strip_prefix('S').is_some_and(is_number) => meaning.needless(word, ORDER),
        "-u" | "-z" if is_number(value) => workers(word, value, meaning),
        "-c" if value == "0" => {
            meaning.all = true;
            meaning.same(word, "--all");
        }
        "-c" if value == "1" => meaning.needless(word, "the search ends at the first violation"),
        "-c" if is_number(value) => {
            meaning.all = true;
            meaning.same(word, "--all: one violation of each kind and place");
        }
        "-Q" if is_number(value) => {
            meaning.max_time = Some(format!("{value}m"));
            meaning.same(word, &format!("--max-time {value}m"));
        }
        "-t" | "-P" => meaning.needless(word, "it is about SPIN's trails"),
        "-r" if is_number(value) => meaning.replays = true,
        "-N" if !value.is_empty() => claim(value, meaning),
        _ => meaning.refuse(word, "not an option of SPIN's verifier that is known here"),
    }
}

/// One claim of the model.
pub(super) fn claim(name: &str, meaning: &mut Meaning) {
    meaning.claim = Some(name.to_owned());
    meaning.same(&format!("-N {name}"), &format!("--claim {name}"));
}

fn store(word: &str, name: &'static str, meaning: &mut Meaning) {
    meaning.store = Some(name);
    meaning.same(word, &format!("--store {name}: without a violation the answer is \"undecided\""));
}

fn workers(word: &str, value: &str, meaning: &mut Meaning) {
    match is_number(value) {
        true => {
            meaning.workers = Some(value.to_owned());
            meaning.same(word, &format!("--workers {value}"));
        }
        false => meaning.needless(word, "all processors are used by default"),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
