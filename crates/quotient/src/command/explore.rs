//! `quotient explore`: the page, and the server behind it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use quotient::Model;
use quotient::trace::TraceFile;
use quotient_explorer::session::Opening;
use quotient_explorer::{Listening, Session, checking};

use super::kind::{Given, Kind};
use super::{options, replay, status, terminal, watch};

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Explore, given: &Given) -> u8 {
    let file = &options.input.file;
    watch::about(file, false);
    let is_trace = TraceFile::read(file).is_ok();
    let kind = if is_trace { Kind::Trace } else { Kind::given(file, options.input.language) };
    if let Some(status) = super::refused("explore", given, kind) {
        if kind.is_native() {
            eprintln!("help: `quotient check` and `quotient replay` show runs of C and C++ programs");
        }
        return status;
    }
    let opened = if is_trace { trace(options) } else { model(options) };
    let (model, name, opening) = match opened {
        Ok(opened) => opened,
        Err(message) => {
            eprintln!("{message}");
            return status::ERROR;
        }
    };
    let defines = options.input.load_options().defines;
    let session = match Session::new(Arc::new(model), name, defines, opening) {
        Ok(session) => session,
        Err(error) => {
            eprintln!("error: {error}");
            return status::UNDECIDED;
        }
    };
    let server = match Listening::open(options.port) {
        Ok(server) => server,
        Err(error) => {
            let port = options.port.map_or_else(String::new, |port| format!(" on port {port}"));
            eprintln!("error: cannot listen{port}: {error}");
            return status::ERROR;
        }
    };
    if !options.no_check {
        session.check();
    }
    let address = server.address("");
    terminal::print(&format!("{address}\n"));
    if options.no_open || !open_browser(&address) {
        eprintln!("open this address in a browser on this machine; Ctrl-C ends the server");
    } else {
        eprintln!("Ctrl-C ends the server");
    }
    watch::journal().enter("serving the page");
    server.serve(&session, &|| watch::interrupt().reason().is_some());
    session.end();
    status::HOLDS
}

/// A model, its name and where the page opens.
type Opened = (Model, String, Opening);

fn model(options: &options::Explore) -> Result<Opened, String> {
    let input = &options.input;
    let model = Model::load_as(&input.file, input.language, &input.load_options())
        .map_err(|error| error.render(terminal::colour()))?;
    for warning in model.warnings.iter() {
        eprintln!("{}\n", quotient::source::render(&model.sources, warning, terminal::colour()));
    }
    let position = options.at.clone().unwrap_or_default();
    if let Some(checksum) = &position.checksum
        && !super::check::checksum(&model).starts_with(checksum.as_str())
    {
        eprintln!("warning: {} has changed since this position was copied", input.file.display());
    }
    let opening = Opening { position, step: options.step, ..Opening::default() };
    Ok((model, input.file.display().to_string(), opening))
}

fn trace(options: &options::Explore) -> Result<Opened, String> {
    let replay::Opened { file, path, question, model } = replay::open(&options.input.file, None)?;
    let found = checking::in_position(&model, question, &file.choices, file.cycle, file.raw);
    let (position, cycle) = found.ok_or_else(|| {
        let again = "help: check the model again with --trace to get a new file";
        format!("error: {} has no run like the one in the trace\n{again}", path.display())
    })?;
    let opening = Opening { position, cycle, step: options.step, message: Some(file.message) };
    Ok((model, path.display().to_string(), opening))
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
