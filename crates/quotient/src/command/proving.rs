//! What `quotient prove` does, without argument parsing.
//!
//! Exit status: 0 everything asked was proved; 10 something was refuted; 5 something is unknown
//! (and nothing refuted); 2 the input could not be used.

use std::io::Write;
use std::path::{Path, PathBuf};

use quotient::promela::ParseOptions;
use quotient::source::{Diagnostics, Severity, SourceMap, render_all};
use quotient_proof_check::format::Certificate;

use quotient_proof::certificate::certificate;
use quotient_proof::check_assumptions;
use quotient_proof::frontend::{self, Language};
use quotient_proof::language::ast::Item;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Report, Verdict, prove_each};
use quotient_proof::{explain, language, models, picture, propose, report};
use serde_json::{Value, json};

use quotient::outcome::json as document;
use quotient::outcome::text::Detail;
use quotient::status;

use super::json::header;

/// What to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProveOptions {
    /// The program, unless a model is generated.
    pub(crate) file: Option<PathBuf>,
    /// Print the paper's tables with our figures instead: one of them by its number, or both (0).
    pub(crate) table: Option<u8>,
    /// What the Promela preprocessor is told.
    pub(crate) preprocessor: ParseOptions,
    /// Print the program as `.clp` instead.
    pub(crate) print: bool,
    /// Write the program and its safety claims as CHC-COMP `HORN` clauses to this file (`-`: print
    /// them) instead.
    pub(crate) horn: Option<PathBuf>,
    /// Print the generated model instead.
    pub(crate) generate: Option<(String, usize)>,
    /// Prove only the assertions with these names (and what they use).
    pub(crate) only: Vec<String>,
    /// JSON instead of text.
    pub(crate) json: bool,
    /// Colour in diagnostics.
    pub(crate) colour: bool,
    /// Where to write the certificate.
    pub(crate) certificate: Option<PathBuf>,
    /// Where to write entailments as SMT-LIB files: a directory, or one file (`.smt2`) that asks all of them.
    pub(crate) smtlib: Option<PathBuf>,
    /// Do not propose symmetries.
    pub(crate) without_proposals: bool,
    /// Say in the program's names why these assertions have their verdicts.
    pub(crate) explain: Vec<String>,
    /// Where to write a picture of the proofs: SVG if the name ends in `.svg`, else DOT.
    pub(crate) picture: Option<PathBuf>,
    /// How to prove.
    pub(crate) options: Options,
}

/// A program that was read.
pub(crate) struct Loaded {
    /// Its files.
    pub(crate) map: SourceMap,
    /// Its statements.
    pub(crate) items: Vec<Item>,
    /// Its normal form.
    pub(crate) program: Program,
}

/// Why there is no program: in words, and as a list for machines. Standard error was told.
pub(crate) struct Unloaded {
    message: String,
    errors: Value,
}

/// Reads a program in the language its name says; mistakes go to `stderr`.
pub(crate) fn load(
    path: &Path,
    preprocessor: &ParseOptions,
    colour: bool,
    stderr: &mut dyn Write,
) -> Result<Loaded, Unloaded> {
    let mut map = SourceMap::new();
    let mut diagnostics = Diagnostics::new();
    let extension = path.extension().and_then(|e| e.to_str()).filter(|e| *e != "clp");
    let read = match extension {
        Some(other) if Language::of(path) == Language::Clp => Err(format!(
            "{}: unknown file type `.{other}`; `prove` reads .clp, .await, .smt2 and .pml",
            path.display()
        )),
        _ => frontend::read(&mut map, path, preprocessor, &mut diagnostics)
            .map_err(|error| quotient_source::unreadable(path, &error)),
    };
    let items = match read {
        Ok(items) => items,
        Err(message) => {
            let _ = writeln!(stderr, "error: {message}");
            let errors = document::plain_error(&message, Some(&path.display().to_string()));
            return Err(Unloaded { message, errors });
        }
    };
    let mut program =
        if diagnostics.has_errors() { None } else { language::program(&items, &mut diagnostics) };
    if let Some(p) = &program {
        check_assumptions(p, &mut diagnostics);
        if diagnostics.has_errors() {
            program = None;
        }
    }
    for message in render_all(&map, &diagnostics, colour) {
        let _ = writeln!(stderr, "{message}");
    }
    if let Some(program) = &mut program
        && Language::of(path) == Language::Horn
        && let Some(file) = items.first().map(|i| i.span().file)
    {
        program.predicates = frontend::horn::predicates(&map, file);
    }
    match program {
        Some(program) => Ok(Loaded { map, items, program }),
        None => {
            let message = render_all(&map, &diagnostics, false).join("\n\n");
            let errors = document::diagnostics(&map, &diagnostics, Severity::Error);
            Err(Unloaded { message, errors })
        }
    }
}

/// Keeps the named assertions and everything they use.
fn restrict(program: &mut Program, only: &[String], stderr: &mut dyn Write) -> Result<(), u8> {
    if only.is_empty() {
        return Ok(());
    }
    let mut keep = vec![false; program.assertions.len()];
    let mut agenda = Vec::new();
    for name in only {
        let family = format!("{name}.");
        let found: Vec<usize> = (0..keep.len())
            .filter(|&i| {
                program.assertions[i].name == *name || program.assertions[i].name.starts_with(&family)
            })
            .collect();
        if found.is_empty() {
            let _ = writeln!(stderr, "error: there is no assertion named `{name}`");
            return Err(status::ERROR);
        }
        agenda.extend(found);
    }
    while let Some(at) = agenda.pop() {
        if !std::mem::replace(&mut keep[at], true) {
            agenda.extend(&program.assertions[at].using);
        }
    }
    let renumber: Vec<usize> =
        keep.iter().scan(0, |next, k| Some(std::mem::replace(next, *next + usize::from(*k)))).collect();
    let old = std::mem::take(&mut program.assertions);
    for (mut assertion, _) in old.into_iter().zip(keep).filter(|(_, k)| *k) {
        assertion.using.iter_mut().for_each(|u| *u = renumber[*u]);
        program.assertions.push(assertion);
    }
    Ok(())
}

/// Exit status for a list of reports.
fn exit_status(reports: &[Report]) -> u8 {
    match report::verdict(reports) {
        quotient::Verdict::Holds => status::HOLDS,
        quotient::Verdict::Violated => quotient::ViolationKind::Refuted.status(),
        quotient::Verdict::Undecided(_) => status::UNDECIDED,
    }
}

/// `quotient prove`.
pub(crate) fn prove_main(options: &ProveOptions, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
    if let Some((name, n)) = &options.generate {
        return match models::generate(name, *n) {
            Ok(text) => {
                let _ = write!(stdout, "{text}");
                status::HOLDS
            }
            Err(message) => {
                let _ = writeln!(stderr, "error: {message}");
                status::ERROR
            }
        };
    }
    if let Some(which) = options.table {
        let limit = options.options.max_time;
        if which != 2 {
            quotient_proof::table::print_relative(stdout, limit);
        }
        if which != 1 {
            quotient_proof::table::print_safety(stdout, limit);
        }
        return status::HOLDS;
    }
    let Some(path) = &options.file else {
        let _ = writeln!(stderr, "error: no file given");
        return status::ERROR;
    };
    let outputs = [
        ("--certificate", options.certificate.as_deref()),
        ("--smtlib", options.smtlib.as_deref()),
        ("--picture", options.picture.as_deref()),
        ("--horn", options.horn.as_deref()),
    ];
    if let Err(message) = super::several::spare(&[path], &outputs) {
        let _ = writeln!(stderr, "error: {message}");
        return status::ERROR;
    }
    let Loaded { map, items, mut program } = match load(path, &options.preprocessor, options.colour, stderr) {
        Ok(loaded) => loaded,
        Err(Unloaded { message, errors }) => {
            if options.json {
                let file = path.display().to_string();
                let object = header(Some(&file)).error(&message, errors);
                let _ = write!(stdout, "{}", document::text(&object));
            }
            return status::ERROR;
        }
    };
    if options.print {
        let _ = write!(stdout, "{}", language::print(&items));
        return status::HOLDS;
    }
    let proposed = if options.without_proposals || options.horn.is_some() {
        None
    } else {
        propose::with_symmetries(&items, &program, &options.options.limits)
    };
    if let Some(items) = proposed
        && let Some(with) = language::program(&items, &mut Diagnostics::new())
    {
        program = Program { predicates: program.predicates, ..with };
    }
    if let Err(status) = restrict(&mut program, &options.only, stderr) {
        return status;
    }
    if let Some(to) = &options.horn {
        return write_horn(to, &program, stdout, stderr);
    }
    if program.assertions.is_empty() {
        let _ = writeln!(stderr, "error: {} asserts nothing; add `assert p(…) |= ….`", path.display());
        return status::ERROR;
    }
    for name in &options.explain {
        if !program.assertions.iter().any(|a| a.name == *name) {
            let _ = writeln!(stderr, "error: there is no assertion named `{name}`");
            return status::ERROR;
        }
    }
    // A certificate says whether a map may be used in a forward search, so inverses belong to it.
    let inverses = options.options.inverses || options.certificate.is_some();
    let mut printer = Printer::new(path, options.json);
    let reports = prove_each(&program, &Options { inverses, ..options.options.clone() }, &mut |report| {
        printer.print(&program, &map, report, stdout);
    });
    printer.end(&program, &map, &reports, stdout);
    for report in reports.iter().filter(|r| options.explain.contains(&program.assertions[r.assertion].name)) {
        let text = explain::explain(&program, report);
        // JSON stays JSON.
        let _ = if options.json { write!(stderr, "{text}") } else { write!(stdout, "{text}") };
    }
    if let Some(path) = &options.picture {
        let draw = if path.extension().is_some_and(|e| e == "svg") { picture::svg } else { picture::dot };
        let drawn = draw(&program, &reports).and_then(|text| {
            std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
        });
        if let Err(message) = drawn {
            let _ = writeln!(stderr, "error: {message}");
        }
    }
    // The answers are out; what else was asked for does not change them.
    if let Some(path) = &options.certificate
        && let Err(message) = write_certificate(path, &program, &reports)
    {
        let _ = writeln!(stderr, "error: {message}");
    }
    if let Some(directory) = &options.smtlib
        && let Err(message) = write_smtlib(directory, &program, &reports)
    {
        let _ = writeln!(stderr, "error: {message}");
    }
    exit_status(&reports)
}

/// Prints reports as they come.
struct Printer<'a> {
    file: &'a Path,
    json: bool,
    /// Reports that wait for the answer a Horn solver gives, which is to be printed first.
    waiting: Option<String>,
    printed: usize,
}

impl Printer<'_> {
    fn new(file: &Path, json: bool) -> Printer<'_> {
        let horn = Language::of(file) == Language::Horn;
        Printer { file, json, waiting: (horn && !json).then(String::new), printed: 0 }
    }

    fn print(&mut self, program: &Program, map: &SourceMap, report: &Report, stdout: &mut dyn Write) {
        if self.json {
            // The document is written from the front: what is decided can be read before all is.
            let before = if self.printed == 0 { "{\n\"answers\": [" } else { "," };
            let _ = write!(
                stdout,
                "{before}\n{}",
                document::text(&report::json(program, map, report)).trim_end()
            );
        } else {
            let text = report::text(program, map, report);
            match &mut self.waiting {
                Some(waiting) => {
                    waiting.push_str(&text);
                    // One query that fails decides.
                    if matches!(report.verdict, Verdict::Refuted(_)) {
                        self.answer("unsat", stdout);
                    }
                }
                None => {
                    let _ = write!(stdout, "{text}");
                }
            }
        }
        self.printed += 1;
        let _ = stdout.flush();
    }

    /// What proofs are relative to.
    fn assumptions(&self, reports: &[Report]) -> Vec<&'static str> {
        let proved = reports.iter().any(|r| matches!(r.verdict, Verdict::Proved));
        let bounded = Language::of(self.file) == Language::Promela;
        let unbounded =
            "unbounded integers: no variable of the model wraps around (`check` knows their ranges)";
        if proved && bounded { vec![unbounded] } else { Vec::new() }
    }

    fn answer(&mut self, answer: &str, stdout: &mut dyn Write) {
        if let Some(waiting) = self.waiting.take() {
            let _ = write!(stdout, "{answer}\n{waiting}");
        }
    }

    fn end(&mut self, program: &Program, map: &SourceMap, reports: &[Report], stdout: &mut dyn Write) {
        if self.json {
            let violation = |r: &Report| {
                let trace = report::trace(program, map, r)?;
                let violation = trace.violation.as_ref()?;
                Some(json!({
                    "kind": violation.kind.as_str(),
                    "message": violation.message,
                    "at": null,
                    "question": program.assertions[r.assertion].name,
                    "trace": document::trace(&trace, Detail::of_all(true)),
                }))
            };
            let violations: Vec<Value> = reports.iter().filter_map(violation).collect();
            let file = self.file.display().to_string();
            let body = json!({
                "violations": violations,
                "assumptions": self.assumptions(reports),
            });
            let rest = header(Some(&file)).answer(&report::verdict(reports), body);
            let begun = if self.printed == 0 { "{\n\"answers\": [" } else { "\n" };
            // The rest of the object, without its opening brace.
            let _ = write!(stdout, "{begun}],{}", &document::text(&rest)[1..]);
        }
        if !self.json {
            for assumption in self.assumptions(reports) {
                let _ = writeln!(stdout, "  under {assumption}");
            }
        }
        // Satisfiable when every query holds.
        self.answer(if exit_status(reports) == status::HOLDS { "sat" } else { "unknown" }, stdout);
        let _ = stdout.flush();
    }
}

fn write_horn(to: &Path, program: &Program, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
    let text = quotient_proof::horn::horn(program);
    let relative = program.assertions.iter().filter(|a| a.is_relative()).count();
    if relative > 0 {
        let _ = writeln!(stderr, "note: {relative} relative assertions have no counterpart there");
    }
    if to.as_os_str() == "-" {
        let _ = write!(stdout, "{text}");
        return status::HOLDS;
    }
    match std::fs::write(to, text) {
        Ok(()) => status::HOLDS,
        Err(error) => {
            let _ = writeln!(stderr, "error: cannot write {}: {error}", to.display());
            status::ERROR
        }
    }
}

fn written(program: &Program, reports: &[Report]) -> Result<Certificate, String> {
    certificate(program, reports).map_err(|overflow| overflow.to_string())?.ok_or_else(|| {
        "a proof could not be written down completely; this is a bug in quotient, please report it".into()
    })
}

fn write_smtlib(directory: &Path, program: &Program, reports: &[Report]) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot write to {}: {e}", directory.display());
    let steps = quotient_proof_check::smtlib::export(&written(program, reports)?);
    if directory.extension().is_some_and(|e| e == "smt2") {
        return std::fs::write(directory, quotient_proof_check::smtlib::script(&steps).0).map_err(failed);
    }
    std::fs::create_dir_all(directory).map_err(failed)?;
    for (name, text) in steps {
        std::fs::write(directory.join(name), text).map_err(failed)?;
    }
    Ok(())
}

fn write_certificate(path: &Path, program: &Program, reports: &[Report]) -> Result<(), String> {
    let certificate = written(program, reports)?;
    let text = serde_json::to_string(&certificate).map_err(|e| e.to_string())?;
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
