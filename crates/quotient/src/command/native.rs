//! `quotient check` and `quotient replay` of C and C++ programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use quotient_explorer::program::Settings;
use quotient_native::protocol::{AT_FAILURE, FailureKind, PEER, VALUES};
use quotient_native::session::{Heartbeat, SessionError, Surroundings};
use quotient_native::{Answer, Binary, Build, Record, Repeated, Report, Request, Token, build, project};
use quotient_stateless::graph::MemoryModel;
use quotient_stateless::{Algorithm, Symmetry};
use serde::{Deserialize, Serialize};

use super::progress::ProgressLine;
use quotient::{Incomplete, ViolationKind};

use super::kind::{COMPILED, NATIVE, SOURCES};
use super::named::Named;
use super::schedule_file::ScheduleFile;
use super::{native_report, options, status, terminal, usage, watch, witness};

// How a C or C++ program is built and run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = NATIVE)]
pub(crate) struct NativeOptions {
    /// More files: of the program (sources, objects, archives), more models, each checked by itself, or the trail to replay
    #[arg(help_heading = SOURCES, value_name = "MORE")]
    pub(crate) more: Vec<PathBuf>,

    /// Data races are not violations; racing accesses are interleaved
    #[arg(long)]
    pub(crate) allow_races: bool,

    /// A joinable thread that is never joined is a violation
    #[arg(long)]
    pub(crate) leaks: bool,

    /// Waits on condition variables may end by themselves
    #[arg(long)]
    pub(crate) spurious: bool,

    /// How many seconds of CPU time a step may take
    #[arg(long, default_value = "5", value_name = "SECONDS")]
    pub(crate) step_time: u64,

    /// Values that __VERIFIER_nondet_int() and the like may give
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) nondet: Vec<i64>,

    /// An argument of the program (may be repeated)
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,

    /// The program's standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<PathBuf>,

    /// A script of what peers on the loopback interface answer to the program
    #[arg(long, value_name = "FILE", value_parser = PeerScript::read)]
    pub(crate) peer: Option<PeerScript>,

    /// A file copied into the program's working directory (may be repeated)
    #[arg(long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Flags for compiler and linker; or a command that builds the program, such as `make`
    #[arg(help_heading = COMPILED, last = true, value_name = "FLAGS|COMMAND")]
    pub(crate) flags: Vec<OsString>,
}

/// A script of peers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerScript {
    pub(crate) path: PathBuf,
    text: String,
}

impl PeerScript {
    fn read(path: &str) -> Result<PeerScript, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        if text.len() > PEER {
            return Err(format!("it has more than {PEER} bytes"));
        }
        quotient_native::peer::rules(text.as_bytes())
            .map_err(|error| format!("line {}: {}", error.line, error.what))?;
        Ok(PeerScript { path: path.into(), text })
    }
}

// How the executions of a C or C++ program are explored.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = NATIVE)]
pub(crate) struct Exploration {
    /// Partial order reduction
    #[arg(long, default_value = "optimal", value_name = "METHOD", value_parser = Named(Algorithm::NAMES))]
    dpor: Algorithm,

    /// Memory model [default: rc11 if the program has memory orders weaker than seq_cst, else sc]
    #[arg(long, value_name = "MODEL", value_parser = Named(MemoryModel::NAMES))]
    memory: Option<MemoryModel>,

    /// Tell the different outcomes: what is printed, in any order of lines, and the exit status
    #[arg(long)]
    outcomes: bool,

    /// Stop after this many executions
    #[arg(long, value_name = "N")]
    max_executions: Option<u64>,

    /// Only executions with at most this many preemptions
    #[arg(long, value_name = "N")]
    max_preemptions: Option<u32>,

    /// Cut executions after this many steps
    #[arg(long, default_value = "20000", value_name = "N")]
    max_steps: u64,
}

/// Stands for the file if a build command is given instead: what it builds.
pub(crate) const BUILT: &str = "what is built";

/// Is this file to be checked as a native program?
pub(crate) fn is_native(file: &Path) -> bool {
    build::is_native_source(file)
        || (file.extension().is_none_or(|e| e == "out") && Binary::is_checkable(file))
}

/// Is what follows `--` a command, and not a flag or one more file to link?
pub(crate) fn is_build_command(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| {
        let is_flag = word.to_string_lossy().starts_with('-');
        !is_flag && Path::new(word).extension().is_none_or(|e| e == "sh" || e == "py")
    })
}

impl NativeOptions {
    pub(crate) fn request(&self) -> Request {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Request {
            allow_races: self.allow_races,
            leaks: self.leaks,
            spurious: self.spurious,
            patience: Duration::from_secs(self.step_time.max(1)),
            values: self.nondet.clone(),
            peer: self.peer.as_ref().map_or_else(Vec::new, |peer| peer.text.clone().into_bytes()),
            surroundings: Surroundings {
                arguments: self.arguments.clone(),
                input: self.stdin.as_ref().map(absolute),
                files: self.files.iter().map(absolute).collect(),
            },
            ..Request::default()
        }
    }

    /// Does a build command make the program?
    pub(crate) fn builds(&self, file: &Path) -> bool {
        // Models have an extension, programs have none.
        file.extension().is_none_or(|e| e == "out") && is_build_command(&self.flags)
    }

    /// Runs the build command; gives the program to check.
    fn build(&self, file: &Path) -> Result<PathBuf, String> {
        let own = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let linked = project::build(&self.flags, &own).map_err(|e| e.to_string())?;
        let directory = std::env::current_dir().unwrap_or_default();
        let name = |path: &PathBuf| match path.strip_prefix(&directory) {
            Ok(within) => Path::new(".").join(within),
            Err(_) => path.clone(),
        };
        match linked.as_slice() {
            _ if file != Path::new(BUILT) && Binary::is_checkable(file) => Ok(file.to_owned()),
            [] => {
                Err("the build command has linked no program; was everything up to date (make -B)?"
                    .to_owned())
            }
            _ if file != Path::new(BUILT) => {
                Err(format!("{} is not what the build command has linked", file.display()))
            }
            [one] => Ok(name(one)),
            several => {
                let names: Vec<String> = several.iter().map(|p| name(p).display().to_string()).collect();
                Err(format!("several programs were built, name one of them: {}", names.join(" ")))
            }
        }
    }

    /// The command that repeats a schedule: what comes before the schedule, and what comes after it.
    pub(crate) fn replay_command(
        &self,
        file: &Path,
        defines: &[String],
        includes: &[PathBuf],
    ) -> (String, String) {
        let (before, behind) = self.words(file, defines, includes);
        (format!("quotient replay {before} --schedule "), behind)
    }

    /// The command that checks the program.
    fn check_command(&self, file: &Path, defines: &[String], includes: &[PathBuf]) -> String {
        let (before, behind) = self.words(file, defines, includes);
        format!("quotient check {before}{behind}")
    }

    /// The words of a command about the program: options, and what comes after all of them.
    fn words(&self, file: &Path, defines: &[String], includes: &[PathBuf]) -> (String, String) {
        let mut words: Vec<String> = Vec::new();
        let path = |path: &Path| path.display().to_string();
        let sources = build::is_native_source(file);
        words.push(path(file));
        if sources {
            words.extend(self.more.iter().map(|file| path(file)));
            words.extend(defines.iter().map(|define| format!("-D{define}")));
        }
        words.extend(self.arguments.iter().map(|a| format!("--arg={}", a.to_string_lossy())));
        words.extend(self.stdin.iter().map(|file| format!("--stdin={}", path(file))));
        words.extend(self.peer.iter().map(|file| format!("--peer={}", path(&file.path))));
        words.extend(self.files.iter().map(|file| format!("--file={}", path(file))));
        if !self.nondet.is_empty() {
            let values: Vec<String> = self.nondet.iter().map(i64::to_string).collect();
            words.push(format!("--nondet={}", values.join(",")));
        }
        for (set, name) in
            [(self.allow_races, "--allow-races"), (self.leaks, "--leaks"), (self.spurious, "--spurious")]
        {
            words.extend(set.then(|| name.to_owned()));
        }
        let includes = includes.iter().map(|directory| format!("-I{}", path(directory)));
        let flags: Vec<String> =
            includes.chain(self.flags.iter().map(|f| f.to_string_lossy().into_owned())).collect();
        let mut behind = vec!["--".to_owned()];
        behind.extend(flags);
        let joined = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let behind =
            if sources && behind.len() > 1 { format!(" {}", joined(&behind)) } else { String::new() };
        (joined(&words), behind)
    }

    /// The sources among the further files.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        self.more.iter().filter(|file| build::is_native_source(file))
    }

    /// Builds the program, or takes it as it is.
    pub(crate) fn binary(
        &self,
        file: &Path,
        defines: &[String],
        includes: &[PathBuf],
    ) -> Result<Binary, build::BuildError> {
        if !build::is_native_source(file) {
            return Ok(Binary::existing(file.to_owned()));
        }
        let mut flags: Vec<OsString> = defines.iter().map(|d| format!("-D{d}").into()).collect();
        for directory in includes {
            flags.push("-I".into());
            flags.push(directory.into());
        }
        flags.extend(self.flags.iter().cloned());
        let mut sources = vec![file.to_owned()];
        sources.extend(self.more.iter().cloned());
        Build { sources, flags, compiler: None }.run()
    }
}

/// A word as the shell wants it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Runs `check`; gives the exit status.
pub(crate) fn check(options: &options::Check) -> u8 {
    let started = Instant::now();
    let input = &options.input;
    watch::about(&input.file, options.json);
    watch::journal().enter("compiling the program");
    let file = match options.native.builds(&input.file) {
        true => match options.native.build(&input.file) {
            Ok(file) => file,
            Err(message) => return failed(&message, status::ERROR, options.json),
        },
        false => input.file.clone(),
    };
    let binary = match options.native.binary(&file, &input.define, &input.include) {
        Ok(binary) => binary,
        Err(error) => return failed(&error.to_string(), status::ERROR, options.json),
    };
    if options.native.nondet.len() > VALUES {
        let message = format!("--nondet takes at most {VALUES} values");
        return failed(&message, status::ERROR, options.json);
    }
    watch::journal().enter("running the program");
    let symmetry = match options.symmetry.map(|symmetry| symmetry.of_threads) {
        None => Symmetry::Off,
        Some(Some(symmetry)) => symmetry,
        Some(None) => {
            let message = "for C and C++ programs --symmetry is costarted, dynamic or off";
            return failed(message, status::ERROR, options.json);
        }
    };
    let explored = &options.exploration;
    let weak = explored.memory.is_some_and(|model| model != MemoryModel::SequentialConsistency);
    let sequential = [
        (
            symmetry == Symmetry::Dynamic,
            "--symmetry dynamic is for --memory sc; --symmetry costarted is for every memory model",
        ),
        (explored.dpor != Algorithm::Optimal, "--dpor source and --dpor fg are for --memory sc"),
        (explored.max_preemptions.is_some(), "--max-preemptions is for --memory sc"),
    ];
    if let Some((_, message)) = sequential.iter().find(|(given, _)| weak && *given) {
        return failed(message, status::ERROR, options.json);
    }
    let request = Request {
        algorithm: explored.dpor,
        symmetry,
        memory: explored.memory,
        all: options.all,
        record: if explored.outcomes { Record::Outcomes } else { Record::None },
        max_executions: explored.max_executions,
        max_preemptions: explored.max_preemptions,
        max_steps: explored.max_steps,
        max_time: options.max_time,
        max_memory: options.max_memory,
        workers: options
            .workers
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)),
        ..options.native.request()
    };
    let mut line = ProgressLine::new(options.quiet, options.log_every);
    let mut watch = |beat: Heartbeat| {
        let pruned = if beat.pruned > 0 {
            format!("  {} pruned", terminal::grouped(beat.pruned))
        } else {
            String::new()
        };
        let executions = terminal::grouped(beat.executions);
        let of = native_report::range(beat.estimate, beat.executions);
        line.counted(
            &format!("{executions} executions{of}{pruned}  {} steps", terminal::grouped(beat.steps)),
            beat.executions,
        );
        !watch::interrupt().raised()
    };
    let result = quotient_native::check(&binary, &request, &mut watch);
    line.clear();
    let report = match result {
        Ok(mut report) => {
            if let (Answer::Undecided(why), Some(reason)) = (&mut report.answer, watch::interrupt().reason())
                && !matches!(why, Incomplete::Ended(known) | Incomplete::EndedIn(known, _) if *known == reason)
            {
                *why = Incomplete::EndedIn(reason, format!(": {why}"));
            }
            report
        }
        Err(error @ SessionError::Broken(_)) => return failed(&error.to_string(), status::BUG, options.json),
        Err(error) => return failed(&error.to_string(), status::ERROR, options.json),
    };
    let again = match &report.answer {
        Answer::Violated(trace) => {
            let (before, behind) = options.native.replay_command(&file, &input.define, &input.include);
            format!("{before}{}{behind}", quoted(&trace.token.to_string()))
        }
        _ => String::new(),
    };
    let run = native_report::Run {
        file: &file,
        report: &report,
        again,
        full: options.full,
        allow_races: options.native.allow_races,
        leaks: options.native.leaks,
        outcomes: explored.outcomes,
        schedules: symmetry == Symmetry::Off,
        wall_seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: usage::cpu_seconds() + usage::children_seconds(),
    };
    let text = if options.json { native_report::json(&run) } else { native_report::human(&run) };
    let status = terminal::report(&text, exit_status(&report));
    // The answer is given: whatever fails from here on does not change it.
    let drawn = options.dot.as_deref().map_or(Ok(()), |path| draw(path, &report.answer));
    drawn.unwrap_or_else(|message| eprintln!("error: {message}"));
    let Answer::Violated(repeated) = &report.answer else {
        if let Some(path) = &options.trace {
            eprintln!("note: there is no counterexample, and {} was not written", path.display());
        }
        if options.explore {
            eprintln!("note: there is no counterexample to explore; `quotient explore` opens any program");
        }
        return status;
    };
    if let Some(path) = &options.trace {
        let run = (repeated.token.to_string(), repeated.message());
        let written =
            ScheduleFile::new(&file, &options.native, &input.define, &input.include, run).write(path);
        written.unwrap_or_else(|message| eprintln!("error: {message}"));
    }
    if options.explore {
        let of = Explored {
            file: &file,
            native: &options.native,
            defines: &input.define,
            includes: &input.include,
        };
        let settings = of.settings(repeated.token.clone(), Some((**repeated).clone()));
        let checked = Some((&report, run.wall_seconds));
        super::explore::serve_program(settings, checked, &super::explore::Serving::default());
    }
    status
}

/// A program that is explored.
pub(crate) struct Explored<'a> {
    pub(crate) file: &'a Path,
    pub(crate) native: &'a NativeOptions,
    pub(crate) defines: &'a [String],
    pub(crate) includes: &'a [PathBuf],
}

impl Explored<'_> {
    /// How it is explored, at a schedule, which may have been executed already.
    pub(crate) fn settings(&self, token: Token, executed: Option<Repeated>) -> Settings {
        let (native, file) = (self.native.clone(), self.file.to_owned());
        let (defines, includes) = (self.defines.to_vec(), self.includes.to_vec());
        let all = [&file].into_iter().chain(&native.more);
        let sources = all.filter(|f| build::is_native_source(f)).cloned().collect();
        let named = |define: &String| match define.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (define.clone(), "1".to_owned()),
        };
        let (options, of, with, among) = (native.clone(), file.clone(), defines.clone(), includes.clone());
        let trace = move |schedule| {
            let message = "a run that was explored".to_owned();
            ScheduleFile::new(&of, &options, &with, &among, (schedule, message)).text()
        };
        Settings {
            file: file.display().to_string(),
            trace: Box::new(trace),
            defines: defines.iter().map(named).collect(),
            sources,
            request: native.request(),
            again: native.replay_command(&file, &defines, &includes),
            check: native.check_command(&file, &defines, &includes),
            build: Box::new(move || native.binary(&file, &defines, &includes).map_err(|e| e.to_string())),
            token,
            step: None,
            executed,
        }
    }
}

/// Repeats the schedule of a replay file; gives the exit status.
pub(crate) fn replay_file(file: &ScheduleFile, options: &options::Replay) -> u8 {
    let token: Token = match file.schedule.parse() {
        Ok(token) => token,
        Err(error) => return failed(&error, status::ERROR, options.json),
    };
    let native = file.options();
    match native.binary(&file.program, &file.defines, &file.includes) {
        Ok(binary) => show(&binary, &native.request(), &token, &file.program, options),
        Err(error) => failed(&error.to_string(), status::ERROR, options.json),
    }
}

/// Writes the events of a counterexample to a file.
fn draw(path: &Path, answer: &Answer) -> Result<(), String> {
    let Answer::Violated(trace) = answer else {
        eprintln!("note: there is no counterexample, and {} was not written", path.display());
        return Ok(());
    };
    let drawing = quotient_native::reads::drawing(trace);
    std::fs::write(path, drawing).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn failed(message: &str, code: u8, as_json: bool) -> u8 {
    // A compiler or program that was ended by the same signal is not to blame.
    if let Some(status) = watch::undecided() {
        return status;
    }
    eprintln!("error: {message}");
    if as_json {
        terminal::print(&quotient::outcome::json::text(&super::json::error(message, None)));
    }
    code
}

fn exit_status(report: &Report) -> u8 {
    match &report.answer {
        Answer::Holds => status::HOLDS,
        Answer::Undecided(_) | Answer::Refused(..) => status::UNDECIDED,
        Answer::Violated(trace) => violation_status(trace),
    }
}

fn violation_status(trace: &Repeated) -> u8 {
    match trace.failure.kind {
        FailureKind::None => status::HOLDS,
        kind => kind.violation().map_or(status::UNDECIDED, ViolationKind::status),
    }
}

/// What `replay` repeats.
enum Followed {
    Schedule(Token),
    Witness(quotient_formats::witness::Witness),
}

/// Runs `replay` of a native program; gives the exit status.
pub(crate) fn replay(options: &options::Replay) -> u8 {
    let (witnesses, more): (Vec<PathBuf>, Vec<PathBuf>) =
        options.native.more.iter().cloned().partition(|file| witness::is_witness(file));
    let repeated = match (&options.schedule, witnesses.as_slice()) {
        (Some(token), []) => token.parse::<Token>().map(Followed::Schedule),
        (None, [one]) => witness::read(one).map(Followed::Witness),
        (None, []) => Err("give the schedule to repeat: quotient replay PROGRAM.c --schedule TOKEN; or a witness: quotient replay PROGRAM.c WITNESS.yml".to_owned()),
        _ => Err("one schedule or one witness is repeated at a time".to_owned()),
    };
    let repeated = match repeated {
        Ok(repeated) => repeated,
        Err(error) => return failed(&error, status::ERROR, options.json),
    };
    let native = NativeOptions { more, ..options.native.clone() };
    let binary = match native.binary(&options.file, &options.define, &[]) {
        Ok(binary) => binary,
        Err(error) => return failed(&error.to_string(), status::ERROR, options.json),
    };
    let mut request = native.request();
    let is_witness = matches!(repeated, Followed::Witness(_));
    let (token, confirmed) = match repeated {
        Followed::Schedule(token) => (token, true),
        Followed::Witness(witness) => {
            match witness::schedule(&witness, &binary, &mut request, &native, options) {
                Ok(led) => (led.token, led.confirmed),
                Err(error) => return failed(&error, status::ERROR, options.json),
            }
        }
    };
    if let Some(step) = options.gdb {
        return debug(&binary, &request, &token, step);
    }
    let status = show(&binary, &request, &token, &options.file, options);
    // One execution in which nothing goes wrong says nothing about the others, and another violation nothing about the witness.
    let says_nothing = is_witness && (!confirmed || status == status::HOLDS);
    if says_nothing && status != status::ERROR { status::UNDECIDED } else { status }
}

/// Repeats a schedule and prints what happened; gives the exit status.
fn show(binary: &Binary, request: &Request, token: &Token, file: &Path, options: &options::Replay) -> u8 {
    match quotient_native::replay(binary, request, token, false) {
        Ok(trace) => {
            terminal::print(&if options.json {
                native_report::trace_json(file, &trace, options.full)
            } else {
                native_report::trace_text(&trace, options.full)
            });
            if trace.lost {
                eprintln!("warning: the program has no such execution; has it changed?");
                return status::ERROR;
            }
            violation_status(&trace)
        }
        Err(error) => failed(&error.to_string(), status::ERROR, options.json),
    }
}

/// Where a debugger is to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Before a step, counted from 1.
    Before(u32),
    /// At the statement that fails.
    Failure,
}

/// Reads the value of `--gdb`.
pub(crate) fn stop(text: &str) -> Result<Stop, String> {
    match text.parse() {
        _ if text == "failure" => Ok(Stop::Failure),
        Ok(step) if step > 0 => Ok(Stop::Before(step)),
        _ => Err("a step from 1 on, or `failure`".to_owned()),
    }
}

/// Repeats the schedule under gdb.
fn debug(binary: &Binary, request: &Request, token: &Token, step: Stop) -> u8 {
    let gdb = std::env::var_os("QUOTIENT_GDB").unwrap_or_else(|| "gdb".into());
    let trace = match quotient_native::replay(binary, request, token, false) {
        Ok(trace) => trace,
        Err(error) => return failed(&error.to_string(), status::ERROR, false),
    };
    let steps = &trace.trace.steps;
    let failing = trace.trace.accesses.first().filter(|_| trace.failure.kind != FailureKind::None);
    let (step, stack, what) = match (step, failing) {
        (Stop::Failure, Some(failing)) => {
            (AT_FAILURE, &failing.stack, format!("at the failure: T{} {}", failing.thread, trace.message()))
        }
        (Stop::Failure, None) if trace.failure.kind == FailureKind::None => {
            return failed("nothing fails in this schedule", status::ERROR, false);
        }
        // Who waits for ever fails nowhere.
        _ => {
            let number = if let Stop::Before(number) = step { number as usize } else { steps.len() };
            let Some(stop) = number.checked_sub(1).and_then(|at| steps.get(at)) else {
                let message = format!("the schedule has {} steps", steps.len());
                return failed(&message, status::ERROR, false);
            };
            (number as u32, &stop.stack, format!("before step {number}: T{} {}", stop.pid, stop.statement))
        }
    };
    let function = stack.first().map_or("", |frame| &frame.function);
    eprintln!("{what}");
    match quotient_native::trace::debug(binary, request, token, step, &gdb, function) {
        Ok(_) => status::HOLDS,
        Err(SessionError::System(_, error)) if error.kind() == std::io::ErrorKind::NotFound => failed(
            &format!("{} is not installed (another path: QUOTIENT_GDB=/path/to/gdb)", gdb.display()),
            status::ERROR,
            false,
        ),
        Err(error) => failed(&error.to_string(), status::ERROR, false),
    }
}

/// Runs `cc` or `c++`; gives the compiler's exit status.
pub(crate) fn compile(arguments: &[OsString], cpp: bool) -> u8 {
    match quotient_native::wrapper::run(arguments, cpp) {
        Ok(code) => code,
        Err(error) => failed(&error.to_string(), status::ERROR, false),
    }
}
