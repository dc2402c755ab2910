//! A server with a model, for a test.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use quotient_engine::{Check, LoadOptions, Model, Outcome};
use quotient_explain::{Course, possible};
use quotient_explorer::program::Settings;
use quotient_explorer::session::{Loader, Opening};
use quotient_explorer::{Answers, Listening, Program, Session, checking};
use quotient_native::{Answer, Build, Request, Token};
use quotient_testing::Random;

/// A server that ends with its test.
pub struct Served {
    pub address: String,
    ended: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

/// The text of a model, which a test may edit.
pub type Text = Arc<Mutex<String>>;

fn loader(name: &str, text: &Text) -> Loader {
    let (name, text) = (name.to_owned(), text.clone());
    Box::new(move |properties| {
        let text = text.lock().unwrap().clone();
        if name.ends_with(".bir") {
            let options = LoadOptions { properties: properties.to_vec(), ..LoadOptions::default() };
            Model::from_bir_text(&name, &text, &options)
        } else {
            Model::from_text_with(&name, &text, properties)
        }
    })
}

/// A random run of at most so many steps, opened at its start.
fn walk(model: &Model, steps: usize, seed: u64) -> Option<Opening> {
    let mut machine = model.as_written().ok()?;
    let (mut state, _) = Course::start(&mut machine)?.state(&mut machine, 0);
    let mut random = Random::new(seed);
    let mut moves = Vec::new();
    while moves.len() < steps {
        let ways = possible(&mut machine, &state);
        if ways.is_empty() {
            break;
        }
        let choice = random.below(ways.len());
        let step = ways.into_iter().nth(choice)?;
        moves.push(step.way);
        match step.record.state.filter(|_| step.record.violation.is_none()) {
            Some(next) => state = next,
            None => break,
        }
    }
    let position = quotient_explain::Position { moves, checksum: None };
    Some(Opening { position, step: Some(0), ..Opening::default() })
}

impl Served {
    /// Serves a Promela model, at its first violation if it is checked.
    pub fn start(name: &str, text: &str, checked: bool) -> Served {
        Served::edited(name, &Arc::new(Mutex::new(text.to_owned())), checked)
    }

    /// The same with a text that may change.
    pub fn edited(name: &str, text: &Text, checked: bool) -> Served {
        let load = loader(name, text);
        let model = load(&[]).expect("a model");
        let mut opening = Opening::default();
        let mut known = None;
        if checked {
            let outcome = model.check(&Check::default()).expect("a check");
            let violation = outcome.violations.first().expect("a violation");
            let (position, cycle) = checking::position(&model, violation).expect("a run");
            opening = Opening { position, cycle, step: None, message: Some(violation.message.clone()) };
            known = Some(outcome);
        }
        Served::serve_known(name, model, opening, load, known)
    }

    /// Serves a Promela model at a position.
    pub fn at(name: &str, text: &str, position: &str) -> Served {
        let load = loader(name, &Arc::new(Mutex::new(text.to_owned())));
        let opening = Opening { position: position.parse().unwrap(), ..Opening::default() };
        let model = load(&[]).expect("a model");
        Served::serve(name, model, opening, load)
    }

    /// Serves a model of this repository, with a random run of so many steps, at its start.
    pub fn walked(file: &str, steps: usize, seed: u64) -> Served {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let text = Arc::new(Mutex::new(std::fs::read_to_string(path).unwrap()));
        Served::walk_of(file, &text, steps, seed)
    }

    /// Serves a file with a random run; none if it cannot be read or has no run.
    pub fn file(path: &Path, steps: usize, seed: u64) -> Option<Served> {
        let load = {
            let path = path.to_owned();
            Box::new(move |properties: &[_]| {
                let options = LoadOptions { properties: properties.to_vec(), ..LoadOptions::default() };
                Model::load(&path, &options)
            })
        };
        let model = load(&[]).ok()?;
        let opening = walk(&model, steps, seed)?;
        Some(Served::serve(&path.display().to_string(), model, opening, load))
    }

    /// The same for a text.
    pub fn walk_of(name: &str, text: &Text, steps: usize, seed: u64) -> Served {
        let load = loader(name, text);
        let model = load(&[]).expect("a model");
        let opening = walk(&model, steps, seed).expect("a run");
        Served::serve(name, model, opening, load)
    }

    /// Serves a C program; where it is `checked`, at what goes wrong in it.
    pub fn program(file: &Path, checked: bool) -> Served {
        Served::program_at(file, checked, Token::default())
    }

    /// Serves a C program at what goes wrong in it; none if nothing is found in ten seconds, or it cannot be checked.
    pub fn found_in(file: &Path) -> Option<Served> {
        let build = Build { sources: vec![file.to_owned()], flags: Vec::new(), compiler: None };
        let request = Request { max_time: Some(std::time::Duration::from_secs(10)), ..Request::default() };
        let report = quotient_native::check(&build.run().ok()?, &request, &mut |_| true).ok()?;
        matches!(report.answer, Answer::Violated(_)).then(|| Served::program(file, true))
    }

    /// The same at a schedule, which is not run.
    pub fn program_at(file: &Path, checked: bool, token: Token) -> Served {
        let sources = vec![file.to_owned()];
        let build = {
            let sources = sources.clone();
            move || {
                let build = Build { sources: sources.clone(), flags: Vec::new(), compiler: None };
                build.run().map_err(|error| error.to_string())
            }
        };
        let executed = checked.then(|| {
            let binary = build().expect("a program");
            let report =
                quotient_native::check(&binary, &Request::default(), &mut |_| true).expect("a check");
            let Answer::Violated(repeated) = report.answer else { panic!("{} holds", file.display()) };
            *repeated
        });
        let name = file.display().to_string();
        let token = executed.as_ref().map_or(token, |e| e.token.clone());
        let settings = Settings {
            file: name.clone(),
            defines: Vec::new(),
            sources,
            build: Box::new(build),
            request: Request::default(),
            again: (format!("quotient replay {name} --schedule "), String::new()),
            check: format!("quotient check {name}"),
            token,
            step: None,
            executed,
            trace: Box::new(|schedule| schedule),
        };
        Served::listen(Program::new(settings), Program::end)
    }

    fn serve(name: &str, model: Model, opening: Opening, load: Loader) -> Served {
        Served::serve_known(name, model, opening, load, None)
    }

    /// As `check --explore` does: what the check has come to is known.
    fn serve_known(
        name: &str,
        model: Model,
        opening: Opening,
        load: Loader,
        outcome: Option<Outcome>,
    ) -> Served {
        let session = Session::new(Arc::new(model), name.into(), Vec::new(), opening).unwrap();
        if let Some(outcome) = outcome {
            session.knows(&outcome, 0.01);
        }
        Served::listen(session.read_by(name.into(), load), Session::end)
    }

    fn listen<A: Answers + 'static>(session: A, end: fn(&A)) -> Served {
        let listening = Listening::open(None).unwrap();
        let (address, ended) = (listening.address(""), Arc::new(AtomicBool::new(false)));
        let flag = ended.clone();
        let thread = thread::spawn(move || {
            listening.serve(&session, &|| flag.load(Ordering::Relaxed));
            end(&session);
        });
        Served { address, ended, thread: Some(thread) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
