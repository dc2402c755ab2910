//! `quotient from-spin`: what command lines of SPIN mean here.
//!
//! The usual three (`spin -a`, the C compiler, `./pan`), `spin -run` and simulations are read word by word. Each word is said by options here, need
//! not be said, or is refused by name, because without it the answer would be one to another question. The command line is printed on
//! standard output, what became of each word on standard error; `--run` runs it.

mod meaning;
mod spin;
mod verifier;
mod words;

use std::path::Path;

use clap::Args;
use meaning::{Job, Meaning, Told};
use quotient::{LoadOptions, Model};

use super::{status, terminal};

// Options of the subcommand.
#[derive(Debug, Args)]
pub(crate) struct FromSpin {
    /// Run the command line, too
    #[arg(long)]
    pub(crate) run: bool,

    /// Command lines of SPIN: in one pair of quotes ('spin -a m.pml && gcc -o pan pan.c && ./pan -a'), or the words of one of them
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) line: Vec<String>,
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &FromSpin) -> u8 {
    let commands = match options.line.as_slice() {
        [line] => words::commands(line),
        words => Ok(vec![words.to_vec()]),
    };
    let meaning = match commands.and_then(|commands| read(&commands)) {
        Ok(meaning) => meaning,
        Err(message) => {
            eprintln!("error: {message}");
            return status::ERROR;
        }
    };
    let claims = claims(&meaning);
    let words = meaning.words(claims.as_ref().ok().map(|claims| !claims.is_empty()));
    let line: Vec<String> = words.iter().map(|word| words::quoted(word)).collect();
    let printed = terminal::product(&format!("quotient {}\n", line.join(" ")));
    for note in notes(&meaning, &claims) {
        eprintln!("{note}");
    }
    if meaning.has_refused() {
        if options.run {
            eprintln!("error: not run: not everything can be said here");
        }
        return status::ERROR;
    }
    if options.run { run(&words) } else { printed }
}

/// Commands of the shell that stand beside SPIN's in scripts and behind a `|`, and change nothing.
const ASIDE: [&str; 12] =
    ["rm", "echo", "cp", "mv", "mkdir", "cat", "tee", "head", "tail", "less", "more", "grep"];

/// What command lines mean together.
fn read(commands: &[Vec<String>]) -> Result<Meaning, String> {
    let mut meaning = Meaning::default();
    let mut made = "pan".to_owned();
    let mut simulated = false;
    for command in commands {
        let plain = command.iter().skip_while(|word| word.as_str() == "time" || word.as_str() == "nice");
        let command: Vec<String> = plain.cloned().collect();
        let Some((program, rest)) = command.split_first() else { continue };
        let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
        let stem = name.trim_end_matches(".exe");
        let compiles =
            ["gcc", "cc", "clang"].iter().any(|c| stem == *c || stem.starts_with(&format!("{c}-")));
        if stem == "spin" || stem.starts_with("spin6") {
            spin::read(rest, &mut meaning)?;
            simulated = true;
        } else if compiles {
            made = verifier::compiler(rest, &mut meaning);
        } else if stem == "pan" || stem == "a.out" || program.trim_start_matches("./") == made {
            meaning.job = Job::Check;
            verify(rest, &mut meaning);
        } else if !ASIDE.contains(&stem) {
            let help = "help: write the lines with `spin`, the C compiler and `./pan`";
            return Err(format!("`{program}` is not a command of SPIN\n{help}"));
        }
    }
    if meaning.model.is_none() {
        if let [formula] = meaning.formulas.as_slice() {
            let help = format!("help: quotient check MODEL.pml --ltl {}", words::quoted(formula));
            return Err(format!(
                "`spin -f` alone prints a claim; here formulas are checked as they are\n{help}"
            ));
        }
        if commands.iter().flatten().any(|word| word == "-V") {
            return Err("`spin -V` prints SPIN's version\nhelp: quotient --version".to_owned());
        }
        let why = if simulated { "which model?" } else { "no command line of spin names the model" };
        return Err(format!("{why}\nhelp: quotient from-spin 'spin -a model.pml; gcc -o pan pan.c; ./pan'"));
    }
    if meaning.replays {
        match meaning.job {
            Job::Check => meaning.needless(
                "-t",
                "the report of a check shows the run; --trace FILE keeps it for `quotient replay`",
            ),
            Job::Simulate | Job::Replay => {
                meaning.job = Job::Replay;
                let file = meaning.trail.file(meaning.model.as_deref().unwrap_or_default());
                meaning.same("-t", &format!("quotient replay, with the trail {file}"));
            }
        }
    }
    Ok(meaning)
}

/// The words of the verifier.
fn verify(words: &[String], meaning: &mut Meaning) {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-N" => match rest.next() {
                Some(name) => verifier::claim(name, meaning),
                None => meaning.refuse(word, "needs the name of a claim"),
            },
            trail if !trail.starts_with('-') && meaning.replays => {}
            word => verifier::pan(word, meaning),
        }
    }
}

/// The names of the model's own claims.
fn claims(meaning: &Meaning) -> Result<Vec<String>, String> {
    let model = meaning.model.as_deref().unwrap_or_default();
    let pair = |d: &String| match d.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (d.clone(), "1".to_owned()),
    };
    let load =
        LoadOptions { defines: meaning.definitions.iter().map(pair).collect(), ..LoadOptions::default() };
    let model = Model::load_as(Path::new(model), Some(quotient::Language::PROMELA), &load);
    model
        .map(|model| model.claims[..model.own_claims].iter().map(|claim| claim.name.clone()).collect())
        .map_err(|error| error.to_string())
}

/// What became of each word, and what is different here.
fn notes(meaning: &Meaning, claims: &Result<Vec<String>, String>) -> Vec<String> {
    let width = meaning.told.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0).min(30);
    let mut notes: Vec<String> = meaning
        .told
        .iter()
        .map(|(word, told)| match told {
            Told::As(options) => format!("  {word:<width$}  {options}"),
            Told::Nothing(why) => format!("  {word:<width$}  not needed: {why}"),
            Told::Refused(why) => format!("  {word:<width$}  not available: {why}"),
        })
        .collect();
    if meaning.job != Job::Check {
        return notes;
    }
    match claims {
        Err(message) => {
            let message = message.trim_end().replace('\n', "\n  ");
            notes.push(format!(
                "note: the model cannot be read now, so nothing is known of its claims:\n  {message}"
            ));
        }
        Ok(claims) if !claims.is_empty() && !meaning.without_claims => {
            if !meaning.acceptance {
                notes.push("note: the model's claims are checked wholly here, infinite runs included; SPIN does so with -a".into());
            }
            if claims.len() > 1 && meaning.claim.is_none() {
                notes.push(format!(
                    "note: all {} claims of the model are checked here, in SPIN one",
                    claims.len()
                ));
            }
        }
        Ok(_) => {}
    }
    notes
}

/// Runs this program with such words; gives its exit status.
fn run(words: &[String]) -> u8 {
    let itself = std::env::current_exe().unwrap_or_else(|_| "quotient".into());
    match std::process::Command::new(itself).args(words).status() {
        Ok(ended) => ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(status::BUG),
        Err(error) => {
            eprintln!("error: cannot run quotient again: {error}");
            status::ERROR
        }
    }
}
