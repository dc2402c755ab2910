//! The server: files of the page, and questions as JSON. It listens on the loopback only and opens no file that a request names.

use std::io::{Cursor, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

use crate::guard::{Asked, Guard, Token};
use crate::page;

/// The longest body of a request.
pub const LONGEST_BODY: u64 = 1 << 20;

/// Requests that are worked on at a time; a browser sends six, and asks again for what is refused beyond.
pub const AT_ONCE: usize = 8;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// In a sentence.
    Because(String),
    /// It names a run that is kept no longer: to be asked again with all steps.
    Forgotten,
}

impl From<String> for Refused {
    fn from(sentence: String) -> Refused {
        Refused::Because(sentence)
    }
}

impl From<&str> for Refused {
    fn from(sentence: &str) -> Refused {
        Refused::Because(sentence.to_owned())
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Because(sentence) => f.write_str(sentence),
            Refused::Forgotten => f.write_str("this run is kept no longer; ask again with all steps"),
        }
    }
}

/// Answers questions.
pub trait Answers: Send + Sync {
    /// The answer to a question, or why there is none.
    fn answer(&self, question: &str, body: &Value) -> Result<Value, Refused>;
}

/// A server that listens.
pub struct Listening {
    server: Arc<Server>,
    guard: Guard,
    token: Token,
    port: u16,
}

/// What every answer forbids the page: to load anything from elsewhere, to be framed, to be kept.
const HEADERS: &[(&str, &str)] = &[
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
];

impl Listening {
    /// Listens on the loopback, at a port of the system's choice unless one is given.
    pub fn open(port: Option<u16>) -> std::io::Result<Listening> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
        let listener = at_once(TcpListener::bind(address)?)?;
        let server =
            Server::from_listener(listener, None).map_err(|e| std::io::Error::other(e.to_string()))?;
        let port = server.server_addr().to_ip().map_or(0, |a| a.port());
        let token = Token::new()?;
        let guard = Guard::new(token.clone(), port);
        Ok(Listening { server: Arc::new(server), guard, token, port })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address to open, with the token in its fragment; `place` says where in the run to stand.
    pub fn address(&self, place: &str) -> String {
        let separator = if place.is_empty() { "" } else { "&" };
        format!("http://127.0.0.1:{}/#k={}{separator}{place}", self.port, self.token.text())
    }

    /// Answers until `ended` says so.
    pub fn serve(&self, answers: &dyn Answers, ended: &(dyn Fn() -> bool + Sync)) {
        let busy = AtomicUsize::new(0);
        thread::scope(|scope| {
            while !ended() {
                let request = match self.server.recv_timeout(Duration::from_millis(100)) {
                    Ok(Some(request)) => request,
                    Ok(None) => continue,
                    Err(_) => return,
                };
                // Only here it grows: what is free now stays free.
                if busy.load(Ordering::Acquire) >= AT_ONCE {
                    let sentence = format!("{AT_ONCE} questions are being answered: ask again");
                    // What is refused may send its body slowly: nobody waits for that.
                    scope.spawn(move || drop(request.respond(refuse(503, &sentence))));
                    continue;
                }
                busy.fetch_add(1, Ordering::AcqRel);
                let busy = &busy;
                scope.spawn(move || {
                    self.handle(request, answers);
                    busy.fetch_sub(1, Ordering::AcqRel);
                });
            }
        });
    }

    fn handle(&self, mut request: Request, answers: &dyn Answers) {
        let header = |name: &str| {
            let found =
                request.headers().iter().find(|h| h.field.as_str().as_str().eq_ignore_ascii_case(name));
            found.map(|h| h.value.as_str().to_owned())
        };
        let (host, origin, token) = (header("host"), header("origin"), header("x-quotient-token"));
        let asked = Asked { host: host.as_deref(), origin: origin.as_deref(), token: token.as_deref() };
        let path = request.url().split(['?', '#']).next().unwrap_or("").to_owned();
        let response = if !self.guard.may_have_page(asked) {
            refuse(403, "this server answers its own page only")
        } else if let Some(question) = path.strip_prefix("/api/") {
            if *request.method() != Method::Post {
                refuse(405, "questions are asked by POST")
            } else if !self.guard.may_ask(asked) {
                refuse(403, "the token is missing or wrong: open the address that `quotient explore` printed")
            } else {
                self.question(&mut request, question, answers)
            }
        } else if *request.method() != Method::Get {
            refuse(405, "files are fetched by GET")
        } else {
            match page::file(&path) {
                Some(file) => response(200, file.kind, file.content.to_vec()),
                None => refuse(404, "there is no such file"),
            }
        };
        // A reader that has gone away needs no answer.
        let _ = request.respond(response);
    }

    fn question(
        &self,
        request: &mut Request,
        question: &str,
        answers: &dyn Answers,
    ) -> Response<Cursor<Vec<u8>>> {
        let mut body = Vec::new();
        let mut limited = request.as_reader().take(LONGEST_BODY + 1);
        if limited.read_to_end(&mut body).is_err() {
            return refuse(400, "the question could not be read");
        }
        if body.len() as u64 > LONGEST_BODY {
            return refuse(413, "the question is longer than a megabyte");
        }
        let body: Value = match serde_json::from_slice(&body) {
            Ok(body) => body,
            Err(error) => return refuse(400, &format!("the question is not JSON: {error}")),
        };
        match answers.answer(question, &body) {
            Ok(mut answer) => {
                if let Value::Object(fields) = &mut answer {
                    fields.insert("version".into(), json!(crate::VERSION));
                }
                response(200, "application/json", answer.to_string().into_bytes())
            }
            Err(Refused::Because(sentence)) => refuse(422, &sentence),
            Err(gone @ Refused::Forgotten) => refuse(410, &gone.to_string()),
        }
    }
}

/// Answers are sent at once. An answer is written in several parts, and the system would keep the last one back until the browser has confirmed
/// those before, which it does 40 ms later. Connections inherit the option from the socket that listens.
fn at_once(listener: TcpListener) -> std::io::Result<TcpListener> {
    let stream = TcpStream::from(OwnedFd::from(listener));
    stream.set_nodelay(true)?;
    Ok(TcpListener::from(OwnedFd::from(stream)))
}

fn refuse(status: u16, sentence: &str) -> Response<Cursor<Vec<u8>>> {
    let body = json!({ "version": crate::VERSION, "error": sentence });
    response(status, "application/json", body.to_string().into_bytes())
}

fn response(status: u16, kind: &str, content: Vec<u8>) -> Response<Cursor<Vec<u8>>> {
    let mut response = Response::from_data(content).with_status_code(StatusCode(status));
    let all = HEADERS.iter().copied().chain([("Content-Type", kind)]);
    for (name, value) in all {
        if let Ok(header) = Header::from_bytes(name.as_bytes(), value.as_bytes()) {
            response.add_header(header);
        }
    }
    response
}
