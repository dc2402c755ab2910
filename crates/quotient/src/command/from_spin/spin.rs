//! Words of `spin` itself: the model, simulations, formulas, and what follows `-run`.

use super::meaning::{Job, Meaning, Trail, negated};
use super::verifier;

/// Reads the words after `spin`.
pub(super) fn read(words: &[String], meaning: &mut Meaning) -> Result<(), String> {
    let mut rest = words.iter();
    let mut runs = false;
    while let Some(word) = rest.next() {
        let flag = word.as_str();
        let mut value =
            |what: &str| rest.next().cloned().ok_or_else(|| format!("`spin {flag}` needs {what}"));
        match flag {
            "-run" | "-search" => {
                runs = true;
                meaning.job = Job::Check;
            }
            "-replay" => meaning.replays = true,
            "-link" if runs => {
                let file = value("a file")?;
                meaning.refuse(&format!("-link {file}"), "models with embedded C are not read");
            }
            "-ltl" if runs => {
                let name = value("the name of a formula")?;
                meaning.same(&format!("-ltl {name}"), &format!("--claim {name}"));
                meaning.claim = Some(name);
            }
            // After -run, words are for the compiler and the verifier.
            _ if runs && flag.starts_with("-D") => verifier::definition(flag, meaning),
            _ if runs && flag.starts_with('-') && run(flag, meaning) => {}
            _ if runs && flag == "-N" => {
                let name = value("the name of a claim")?;
                verifier::claim(&name, meaning);
            }
            _ if runs && flag.starts_with('-') => verifier::pan(flag, meaning),
            "-a" => meaning.job = Job::Check,
            "-f" => {
                let formula = value("a formula")?;
                formula_of_a_claim("-f", &formula, meaning);
            }
            "-F" => {
                let file = value("a file")?;
                let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
                formula_of_a_claim("-F", text.lines().next().unwrap_or_default(), meaning);
            }
            "-N" => {
                let file = value("a file")?;
                meaning.refuse(
                    &format!("-N {file}"),
                    format!("a claim in a file of its own is not read; write `#include \"{file}\"` at the end of the model"),
                );
            }
            "-k" => {
                meaning.trail = Trail::File(value("a trail")?);
                meaning.replays = true;
            }
            "-i" => {
                meaning.interactive = true;
                meaning.same(flag, "--interactive");
            }
            "-p" | "-g" | "-l" | "-r" | "-s" | "-v" | "-w" | "-c" => {
                meaning.shows_statements = true;
                meaning.needless(flag, "every statement is shown, with what it changes");
            }
            "-b" | "-B" | "-T" | "-h" | "-X" | "-Y" | "-Z" => {
                meaning.needless(flag, "it is about how SPIN prints");
            }
            "-e" | "-L" => meaning.refuse(flag, "claims are checked one by one, not as a product"),
            "-m" => meaning.refuse(flag, "a send to a full channel waits here; messages are not lost"),
            "-J" | "-O" | "-o6" | "-o7" => meaning.refuse(flag, "the language is that of SPIN 6.5"),
            "-M" => meaning.refuse(flag, "charts are drawn of runs that are kept: `quotient draw`; or look at one in the browser: `quotient explore`"),
            "-A" | "-C" | "-d" | "-I" | "-V" | "-pp" | "-S1" | "-S2" => {
                meaning.refuse(flag, "it prints something about the model, and there is nothing to check");
            }
            "-o1" | "-o2" | "-o3" => {
                let which = usize::from(flag.as_bytes()[2] - b'1');
                meaning.optimisations_off[which] = true;
                let why = "all three with -DNOREDUCE are --raw; alone they change counts, not answers";
                meaning.needless(flag, why);
            }
            "-o4" | "-o5" => meaning.needless(flag, "it is about the code that SPIN generates"),
            _ => attached(flag, meaning)?,
        }
    }
    Ok(())
}

/// Flags with something written directly after them, and the model.
fn attached(word: &str, meaning: &mut Meaning) -> Result<(), String> {
    if !word.starts_with('-') {
        if let Some(first) = meaning.model.as_ref().filter(|&first| first != word) {
            return Err(format!("two models: {first} and {word}"));
        }
        meaning.model = Some(word.to_owned());
        return Ok(());
    }
    let (flag, value) = word.split_at_checked(2).unwrap_or((word, ""));
    let number = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit());
    match flag {
        "-D" if !value.is_empty() => {
            meaning.definitions.push(value.to_owned());
            meaning.same(word, &format!("-D {value}"));
        }
        "-n" if number => {
            meaning.seed = Some(value.to_owned());
            meaning.same(word, &format!("--seed {value}; the run is another one than SPIN's"));
        }
        "-u" if number => {
            meaning.steps = Some(value.to_owned());
            meaning.same(word, &format!("--steps {value}"));
        }
        "-t" if number || value.is_empty() => {
            meaning.replays = true;
            if number {
                meaning.trail = Trail::Number(value.to_owned());
            }
        }
        "-j" | "-q" if number => meaning.needless(word, "it is about how SPIN prints"),
        "-U" => meaning.refuse(word, "a macro cannot be undefined from outside; change the model"),
        "-E" if value.starts_with("-D") => attached(value, meaning)?,
        "-E" | "-P" => meaning.refuse(word, "models are preprocessed here, without another program"),
        _ => meaning.refuse(word, "not an option of SPIN 6.5"),
    }
    Ok(())
}

/// A formula of which SPIN makes a claim: runs that satisfy it are errors.
fn formula_of_a_claim(flag: &str, formula: &str, meaning: &mut Meaning) {
    let asked = negated(formula);
    meaning.same(
        &format!("{flag} '{formula}'"),
        &format!("--ltl '{asked}': what must hold, not what must not happen"),
    );
    meaning.formulas.push(asked);
}

/// Words that only `spin -run` has.
fn run(flag: &str, meaning: &mut Meaning) -> bool {
    let by_default = "all processors are used by default";
    match flag {
        "-bfs" => meaning.needless(flag, "breadth-first search is the default"),
        "-bfspar" | "-dfspar" => meaning.needless(flag, by_default),
        "-bcs" => meaning.refuse(flag, "the number of switches between processes cannot be bounded"),
        "-bitstate" | "-bit" => verifier::definition_as(flag, "BITSTATE", meaning),
        "-hc" => verifier::definition_as(flag, "HC", meaning),
        "-collapse" => verifier::definition_as(flag, "COLLAPSE", meaning),
        "-noreduce" => verifier::definition_as(flag, "NOREDUCE", meaning),
        "-noclaim" => verifier::definition_as(flag, "NOCLAIM", meaning),
        "-safety" => verifier::definition_as(flag, "SAFETY", meaning),
        "-p_permute" | "-p_reverse" | "-rhash" => meaning.needless(flag, verifier::ORDER),
        _ if flag.starts_with("-p_rotate") => meaning.needless(flag, verifier::ORDER),
        _ if flag.starts_with("-biterate") || flag.starts_with("-swarm") => {
            meaning.random = true;
            meaning.same(flag, "--search random: walks on all processors");
        }
        _ if flag.starts_with("-O") => meaning.needless(flag, "nothing is compiled"),
        _ => return false,
    }
    true
}
