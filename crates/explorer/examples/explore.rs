//! Serves the page for a model: `cargo run -p quotient-explorer --example explore -- FILE [--check]`.

use std::path::Path;
use std::sync::Arc;

use quotient_engine::{Check, Model};
use quotient_explorer::session::Opening;
use quotient_explorer::{Listening, Session, checking};

fn main() {
    let mut words = std::env::args().skip(1);
    let file = words.next().expect("a model");
    let model = Model::load(Path::new(&file), &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut opening = Opening::default();
    if words.next().as_deref() == Some("--check") {
        let outcome = model.check(&Check::default()).expect("a check");
        if let Some(violation) = outcome.violations.first() {
            let (position, cycle) = checking::position(&model, violation).expect("a run as written");
            opening = Opening { position, cycle, step: None, message: Some(violation.message.clone()) };
        }
    }
    let session = Session::new(Arc::new(model), file, Vec::new(), opening).expect("a session");
    session.check();
    let server = Listening::open(None).expect("a port");
    println!("{}", server.address(""));
    server.serve(&session, &|| false);
}
