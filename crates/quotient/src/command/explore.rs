//! `quotient explore`: the page, and the server behind it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use quotient::trace::TraceFile;
use quotient::{Language, LoadOptions, Model, Outcome, PropertyKeyword, Question, ViolationKind};
use quotient_explain::Position;
use quotient_explorer::program::Settings;
use quotient_explorer::session::{Loader, Opening};
use quotient_explorer::{Answers, Listening, Program, Session, checking};
use quotient_native::Report;

use super::kind::{Given, Kind};
use super::native::Explored;
use super::schedule_file::ScheduleFile;
use super::{options, replay, status, terminal, watch};

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Explore, given: &Given) -> u8 {
    let file = &options.file;
    watch::about(file, false);
    let schedule = ScheduleFile::read(file);
    let is_trace = schedule.is_some() || TraceFile::read(file).is_ok();
    let kind = if is_trace { Kind::Trace } else { Kind::given(file, options.language) };
    if let Some(status) = super::refused("explore", given, kind) {
        return status;
    }
    if is_trace && options.at.is_some() {
        eprintln!(
            "error: --at does not apply to trace files\nhelp: the file says where the run is; --step N stands at one of its steps"
        );
        return status::ERROR;
    }
    if schedule.is_some() || kind.is_native() {
        return program(options, schedule);
    }
    let opened = if is_trace { trace(options) } else { model(options) };
    match opened {
        Ok(opened) => {
            let (port, no_open) = (options.port, options.no_open);
            serve(opened, &Serving { port, no_open, check: !options.no_check })
        }
        Err(message) => {
            eprintln!("{message}");
            status::ERROR
        }
    }
}

/// How a page is served.
#[derive(Debug, Default)]
pub(crate) struct Serving {
    port: Option<u16>,
    no_open: bool,
    /// The model is checked beside.
    check: bool,
}

/// What a page is about.
pub(crate) struct Opened {
    pub(crate) model: Model,
    /// The model's file or the trace's.
    pub(crate) name: String,
    pub(crate) model_file: String,
    pub(crate) defines: Vec<(String, String)>,
    pub(crate) opening: Opening,
    /// Reads the model again; none for standard input.
    pub(crate) loader: Option<Loader>,
    /// What trace files of this model begin with.
    pub(crate) about: TraceFile,
    /// A check that was made before, and its time.
    pub(crate) outcome: Option<(Outcome, f64)>,
}

/// Reads a model again, with further properties.
pub(crate) fn loader(file: &Path, language: Option<Language>, load: &LoadOptions) -> Option<Loader> {
    let (file, load) = (file.to_owned(), load.clone());
    (file != Path::new("-")).then(|| {
        let loader = move |properties: &[(PropertyKeyword, String)]| {
            let mut load = load.clone();
            load.properties.extend(properties.iter().cloned());
            Model::load_as(&file, language, &load)
        };
        Box::new(loader) as Loader
    })
}

/// Serves a page about a C or C++ program. Nothing is run before somebody clicks.
fn program(options: &options::Explore, schedule: Option<ScheduleFile>) -> u8 {
    let wrong = |message: String| {
        eprintln!("error: {message}");
        status::ERROR
    };
    let text = match &schedule {
        Some(file) => Some(&file.schedule),
        None => options.at.as_ref(),
    };
    // After `@` stands a memory model, or the beginning of a checksum, as for models.
    let read = |text: &String| {
        text.parse().or_else(|wrong| match text.split_once('@') {
            Some((schedule, sum)) if sum.bytes().all(|b| b.is_ascii_hexdigit()) => schedule.parse(),
            _ => Err(wrong),
        })
    };
    let token = match text.map(read).transpose() {
        Ok(token) => token.unwrap_or_default(),
        Err(message) => return wrong(message),
    };
    let mut settings = match &schedule {
        Some(file) => {
            let native = file.options();
            Explored {
                file: &file.program,
                native: &native,
                defines: &file.defines,
                includes: &file.includes,
            }
            .settings(token, None)
        }
        None => Explored {
            file: &options.file,
            native: &options.native,
            defines: &options.define,
            includes: &options.include,
        }
        .settings(token, None),
    };
    if let Some(missing) = settings.sources.iter().find(|file| !file.is_file()) {
        return wrong(format!("{}: no such file", missing.display()));
    }
    settings.step = options.step;
    let (port, no_open) = (options.port, options.no_open);
    serve_program(settings, None, &Serving { port, no_open, check: false })
}

/// Serves a page about a program until the user ends it; gives the exit status.
pub(crate) fn serve_program(settings: Settings, checked: Option<(&Report, f64)>, serving: &Serving) -> u8 {
    let program = Program::new(settings);
    if let Some((report, seconds)) = checked {
        program.knows(report, seconds);
    }
    let status = listen(&program, serving);
    program.end();
    status
}

/// Serves a page until the user ends it; gives the exit status.
pub(crate) fn serve(opened: Opened, serving: &Serving) -> u8 {
    let Opened { model, name, model_file, defines, opening, loader, about, outcome } = opened;
    let session = match Session::new(Arc::new(model), name, defines, opening) {
        Ok(session) => session,
        Err(error) => {
            eprintln!("error: {error}");
            return status::UNDECIDED;
        }
    };
    let session = match loader {
        Some(loader) => session.read_by(model_file, loader).written_as(about),
        None => session,
    };
    match outcome {
        Some((outcome, seconds)) => session.knows(&outcome, seconds),
        None if serving.check => session.check(),
        None => {}
    }
    let status = listen(&session, serving);
    session.end();
    status
}

/// Answers a page's questions until the user ends it; gives the exit status.
fn listen(answers: &dyn Answers, serving: &Serving) -> u8 {
    let server = match Listening::open(serving.port) {
        Ok(server) => server,
        Err(error) => {
            let port = serving.port.map_or_else(String::new, |port| format!(" on port {port}"));
            eprintln!("error: cannot listen{port}: {error}");
            return status::ERROR;
        }
    };
    let address = server.address("");
    terminal::print(&format!("{address}\n"));
    if serving.no_open || !open_browser(&address) {
        eprintln!("open this address in a browser on this machine; Ctrl-C ends the server");
    } else {
        eprintln!("Ctrl-C ends the server");
    }
    watch::journal().enter("serving the page");
    server.serve(answers, &|| watch::interrupt().reason().is_some());
    status::HOLDS
}

fn model(options: &options::Explore) -> Result<Opened, String> {
    let input = options.input();
    let load = input.load_options();
    let model = Model::load_as(&input.file, input.language, &load)
        .map_err(|error| error.render(terminal::colour()))?;
    for warning in quotient::source::render_all(&model.sources, &model.warnings, terminal::colour()) {
        eprintln!("{warning}\n");
    }
    let position = options.at.as_deref().map(str::parse::<Position>).transpose();
    let position = position.map_err(|error| format!("error: --at: {error}"))?.unwrap_or_default();
    if let Some(checksum) = &position.checksum
        && !super::check::checksum(&model).starts_with(checksum.as_str())
    {
        eprintln!("warning: {} has changed since this position was copied", input.file.display());
    }
    let opening = Opening { position, step: options.step, ..Opening::default() };
    Ok(opened(model, &input.file, input.language, load, opening))
}

/// What trace files of a model begin with; the run is missing.
pub(crate) fn about(file: &Path, language: Option<Language>, load: &LoadOptions) -> TraceFile {
    let properties = load.properties.iter().map(|(keyword, text)| (keyword.name().to_owned(), text.clone()));
    TraceFile {
        format: "quotient-trace".into(),
        version: TraceFile::VERSION,
        model: file.display().to_string(),
        defines: load.defines.clone(),
        language: language.map(|l| l.name().to_owned()),
        include_dirs: load.include_dirs.clone(),
        raw: false,
        all: false,
        checksum: String::new(),
        question: Question::Safety.to_string(),
        properties: properties.collect(),
        choices: Vec::new(),
        cycle: 0,
        kind: String::new(),
        message: String::new(),
    }
}

fn opened(
    model: Model,
    file: &Path,
    language: Option<Language>,
    load: LoadOptions,
    opening: Opening,
) -> Opened {
    let name = file.display().to_string();
    let loader = loader(file, language, &load);
    let about = about(file, language, &load);
    let model_file = name.clone();
    Opened { model, model_file, name, defines: load.defines, opening, loader, about, outcome: None }
}

fn trace(options: &options::Explore) -> Result<Opened, String> {
    let replay::Opened { file, path, question, model, language, load } = replay::open(&options.file, None)?;
    let found = checking::in_position(&model, question, &file.choices, file.cycle, super::replay::how(&file));
    let (position, cycle) = found.ok_or_else(|| {
        let again = "help: check the model again with --trace to get a new file";
        format!("error: {} has no run like the one in the trace\n{again}", path.display())
    })?;
    let position = to_its_end(&model, position, &file.kind);
    // A run that was only looked at goes wrong in nothing.
    let message = (!file.kind.is_empty()).then_some(file.message);
    let opening = Opening { position, cycle, step: options.step, message };
    Ok(opened(model, &path, language, load, opening))
}

/// A run to where nothing can be done any more, if it is one to a deadlock.
pub(crate) fn to_its_end(model: &Model, position: Position, kind: &str) -> Position {
    match kind == ViolationKind::Deadlock.as_str() {
        true => checking::stuck(model, position.clone()).unwrap_or(position),
        false => position,
    }
}

/// Opens an address in the user's browser; `false` if there is none.
fn open_browser(address: &str) -> bool {
    let with = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let found = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| Path::new(&folder).join(with).is_file())
    });
    has_display
        && found
        && Command::new(with)
            .arg(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
}
