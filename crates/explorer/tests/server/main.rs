//! The server as other programs and other pages meet it: who is answered, and with what.

mod answers;
mod drawings;
mod limits;
mod told;
mod types;
mod violations;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use quotient_engine::Model;
use quotient_explorer::session::Opening;
use quotient_explorer::{Listening, Session};
use quotient_testing::Random;
use serde_json::{Value, json};

const MODEL: &str = "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }";

/// A server that ends with its test.
struct Served {
    port: u16,
    token: String,
    ended: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Served {
    fn start(text: &str) -> Served {
        let model = Model::from_text("test.pml", text).expect("a model");
        let session =
            Session::new(Arc::new(model), "test.pml".into(), Vec::new(), Opening::default()).unwrap();
        let text = text.to_owned();
        let load = move |properties: &[_]| Model::from_text_with("test.pml", &text, properties);
        let session = session.read_by("test.pml".into(), Box::new(load));
        let listening = Listening::open(None).expect("a port");
        let address = listening.address("");
        let token = address.split("k=").nth(1).unwrap().to_owned();
        let (port, ended) = (listening.port(), Arc::new(AtomicBool::new(false)));
        let flag = ended.clone();
        let thread = thread::spawn(move || listening.serve(&session, &|| flag.load(Ordering::Relaxed)));
        Served { port, token, ended, thread: Some(thread) }
    }

    /// Sends a request as it is; gives the status, the head and the body.
    fn send(&self, request: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        // A server that has answered already may close before everything is sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        let mut text =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.send(text.as_bytes())
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn ask(&self, question: &str, body: &Value) -> (u16, Value) {
        let headers = [("Host", self.host()), ("X-Quotient-Token", self.token.clone())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let (status, _, body) =
            self.request("POST", &format!("/api/{question}"), &headers, &body.to_string());
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
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

#[test]
fn only_the_own_page_is_answered() {
    let served = Served::start(MODEL);
    let (host, token) = (served.host(), served.token.clone());
    let origin = format!("http://{host}");
    let api = |headers: &[(&str, &str)]| served.request("POST", "/api/info", headers, "{}").0;
    assert_eq!(api(&[("Host", &host), ("X-Quotient-Token", &token)]), 200);
    assert_eq!(api(&[("Host", &host), ("Origin", &origin), ("X-Quotient-Token", &token)]), 200);
    // Another site in the same browser; a name that was made to lead here; no token; a wrong one.
    assert_eq!(api(&[("Host", &host), ("Origin", "http://evil.example"), ("X-Quotient-Token", &token)]), 403);
    assert_eq!(api(&[("Host", "evil.example"), ("X-Quotient-Token", &token)]), 403);
    assert_eq!(api(&[("Host", &host)]), 403);
    assert_eq!(api(&[("Host", &host), ("X-Quotient-Token", "0123")]), 403);
    assert_eq!(api(&[("X-Quotient-Token", &token)]), 403);
    // The page itself needs no token, but the right name.
    assert_eq!(served.request("GET", "/", &[("Host", &host)], "").0, 200);
    assert_eq!(served.request("GET", "/", &[("Host", "evil.example")], "").0, 403);
}

#[test]
fn answers_forbid_what_the_page_does_not_need() {
    let served = Served::start(MODEL);
    let host = served.host();
    for path in ["/", "/app.js", "/app.css", "/icon.svg", "/nothing"] {
        let (_, head, _) = served.request("GET", path, &[("Host", &host)], "");
        let head = head.to_lowercase();
        for wanted in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(wanted), "{path}: {wanted}\n{head}");
        }
        assert!(!head.contains("access-control-allow"), "{head}");
    }
}

/// Only who is on this machine can connect: the port is open at the loopback's address and at no other.
#[test]
fn it_listens_on_the_loopback_only() {
    let served = Served::start(MODEL);
    let port = format!(":{:04X}", served.port);
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines());
    // Those that listen, by their own address.
    let listening: Vec<&str> = lines
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            (fields.get(3) == Some(&"0A")).then(|| fields[1])
        })
        .filter(|address| address.ends_with(&port))
        .collect();
    assert_eq!(listening, [format!("0100007F{port}")]);
}

/// The page itself stays small, without what it asks for.
#[test]
fn the_page_is_small() {
    let served = Served::start(MODEL);
    let host = served.host();
    let files = ["/", "/app.js", "/app.css", "/icon.svg"];
    let sizes = files.map(|path| served.request("GET", path, &[("Host", &host)], "").2.len());
    assert!(sizes.iter().all(|size| *size > 100) && sizes.iter().sum::<usize>() < 150_000, "{sizes:?}");
}

#[test]
fn no_file_but_the_pages_own_is_given_out() {
    let served = Served::start(MODEL);
    let host = served.host();
    for path in [
        "/../Cargo.toml",
        "/etc/passwd",
        "//etc/passwd",
        "/%2e%2e/Cargo.toml",
        "/web/app.css",
        "/app.js/../../lib.rs",
    ] {
        let (status, _, body) = served.request("GET", path, &[("Host", &host)], "");
        assert_eq!(status, 404, "{path}: {body}");
    }
    assert_eq!(served.request("PUT", "/", &[("Host", &host)], "x").0, 405);
    let headers = [("Host", host.as_str()), ("X-Quotient-Token", served.token.as_str())];
    assert_eq!(served.request("GET", "/api/info", &headers, "").0, 405);
}

#[test]
fn limits_have_answers() {
    let served = Served::start(MODEL);
    let host = served.host();
    let headers = [("Host", host.as_str()), ("X-Quotient-Token", served.token.as_str())];
    let long = format!("{{\"path\":\"q1:{}\"}}", "0.".repeat(600_000));
    assert_eq!(served.request("POST", "/api/run", &headers, &long).0, 413);
    let (status, answer) = served.ask("run", &json!({ "path": "q1:0*1000001" }));
    assert_eq!(status, 422, "{answer}");
    assert_eq!(served.ask("run", &json!({ "path": 3 })).0, 422);
    assert_eq!(served.ask("nothing", &json!({})).0, 422);
    assert_eq!(served.request("POST", "/api/run", &headers, "{").0, 400);
    let (_, answer) = served.ask("eval", &json!({ "path": "q1:", "expr": "x".repeat(5_000) }));
    assert!(answer["wrong"].as_str().unwrap().contains("4 kB"), "{answer}");
    // A run that is kept no longer, or never was; a text that names none.
    assert_eq!(served.ask("run", &json!({ "path": "~999" })).0, 410);
    assert_eq!(served.ask("run", &json!({ "path": "~x" })).0, 422);
    let (_, known) = served.ask("run", &json!({ "path": "q1:0*2" }));
    let id = known["id"].as_str().unwrap();
    assert_eq!(served.ask("run", &json!({ "path": format!("~{id}:1.0*1000000") })).0, 422);
    assert_eq!(served.ask("run", &json!({ "path": format!("~{id}:3") })).0, 422);
    // A run that the model does not have is told by its step.
    let (status, answer) = served.ask("run", &json!({ "path": "q1:0.1.7" }));
    assert_eq!(
        (status, &answer["ending"]["kind"], &answer["ending"]["step"]),
        (200, &json!("lost"), &json!(3))
    );
}

#[test]
fn a_position_is_answered_the_same_whatever_was_asked_before() {
    let served = Served::start(MODEL);
    let path = json!({ "path": "q1:0*2.1*2.0*2.1*2", "at": 4 });
    let first = served.ask("state", &path);
    for other in ["q1:", "q1:0", "q1:1*8", "q1:0*2.1", "q1:0*2.1*2.0*4"] {
        assert_eq!(served.ask("run", &json!({ "path": other })).0, 200);
    }
    assert_eq!(served.ask("state", &path), first);
}

/// No part of an answer is kept back by the system: it would be, for 40 ms, until the part before is confirmed.
#[test]
fn answers_are_sent_at_once() {
    let served = Served::start(MODEL);
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let body = json!({ "path": "q1:0*2.1*2" }).to_string();
    let head = format!(
        "POST /api/place HTTP/1.1\r\nHost: {}\r\nX-Quotient-Token: {}\r\nContent-Length: {}\r\n\r\n",
        served.host(),
        served.token,
        body.len()
    );
    let mut once = || {
        let started = std::time::Instant::now();
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let (mut answer, mut part) = (Vec::new(), [0; 4096]);
        loop {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "the connection is closed");
            answer.extend_from_slice(&part[..read]);
            let text = String::from_utf8_lossy(&answer);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length =
                head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if length.is_some_and(|length: usize| body.len() >= length) {
                assert!(answer.len() > 1_200, "too short to be sent in parts: {}", answer.len());
                return started.elapsed();
            }
        }
    };
    // The quickest of some: a busy machine is slow now and then, a kept back part always.
    let quickest = (0..12).map(|_| once()).skip(2).min().unwrap();
    assert!(quickest < std::time::Duration::from_millis(30), "{quickest:?}");
}

/// Requests that nobody would make: nothing ends, nothing but the usual statuses comes back.
#[test]
fn random_requests_do_no_harm() {
    let served = Served::start(MODEL);
    let host = served.host();
    let mut random = Random::new(1);
    let count = quotient_testing::setting("QUOTIENT_REQUESTS", 2_000);
    let questions = [
        "info",
        "run",
        "steps",
        "state",
        "next",
        "place",
        "because",
        "progress",
        "find",
        "eval",
        "walk",
        "passing",
        "heap",
        "graph",
        "reductions",
        "class",
        "same",
        "trace",
        "starved",
        "draw",
        "changed",
        "reload",
        "x",
        "",
    ];
    let mut before = 0;
    for number_of in 0..count {
        // What is kept for runs that were asked for is there by then.
        if number_of == count / 10 {
            before = resident();
        }
        let moves: Vec<String> =
            (0..random.below(12)).map(|_| format!("{}+{}", random.below(4), random.below(3))).collect();
        let path = match random.below(8) {
            0 => "".into(),
            3 => format!("~{}", random.below(40)),
            4 => format!("~{}:{}.{}", random.below(count as usize), random.below(9), moves.join(".")),
            1 => format!("q1:{}*", random.below(9)),
            2 => format!("q1:0*{}", random.bits()),
            _ => format!("q1:{}", moves.join(".")),
        };
        let number = |random: &mut Random| match random.below(4) {
            0 => json!(random.below(20)),
            1 => json!(random.bits()),
            2 => json!(-1),
            _ => Value::Null,
        };
        let body = json!({
            "path": path, "at": number(&mut random), "from": number(&mut random), "to": number(&mut random),
            "row": number(&mut random), "full": "x", "text": "x", "back": random.chance(50),
            "steps": number(&mut random), "seed": number(&mut random), "cycle": number(&mut random),
            "run": random.chance(50), "format": *random.one(&["svg", "mermaid", "x"]),
            "expr": *random.one(&["x", "x > 1", "y", "x +", "P@l", "len(x)", "timeout", "(((("]),
        });
        let token = if random.chance(10) { "wrong" } else { served.token.as_str() };
        let headers = [("Host", host.as_str()), ("X-Quotient-Token", token)];
        let target = format!("/api/{}", random.one(&questions));
        let (status, _, answer) = served.request("POST", &target, &headers, &body.to_string());
        assert!([200, 403, 410, 422].contains(&status), "{target} {body}: {status} {answer}");
    }
    assert_eq!(served.ask("info", &json!({})).0, 200);
    let grown = resident().saturating_sub(before);
    println!("{count} requests: {grown} kB more than after the first tenth");
    assert!(grown < 60_000, "{grown} kB");
}

/// What the process has resident, in kB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

/// Ample sets of a place are some threads' steps, and all of them are among those that can be made.
#[test]
fn what_is_explored_can_be_made() {
    let served =
        Served::start("byte x, y; active proctype P() { x++; x++ } active proctype Q() { y++; y++ }");
    let (_, next) = served.ask("next", &json!({ "path": "q1:" }));
    let choices = next["choices"].as_array().unwrap();
    let explored: Vec<&Value> = choices.iter().filter(|c| c["explored"] == true).collect();
    assert_eq!((choices.len(), explored.len()), (2, 1), "{next}");
    let (_, said) = served.ask("reductions", &json!({ "path": "q1:" }));
    assert_eq!(said["later"].as_array().unwrap().len(), 1, "{said}");
    // Both touch x: their order matters.
    let served = Served::start("byte x; active proctype P() { x++; x++ } active proctype Q() { x = 2 * x }");
    let (_, said) = served.ask("reductions", &json!({ "path": "q1:" }));
    assert_eq!(said["later"].as_array().unwrap().len(), 0, "{said}");
    assert!(said["why"].as_str().unwrap().contains("touch x"), "{said}");
}

/// A variable that nobody will read is marked, one that is read later is not.
#[test]
fn unread_values_are_marked() {
    let served = Served::start(
        "byte seen; active proctype P() { byte a = 1; byte b; b = a; seen = b; assert(b == 1) }",
    );
    let unread = |path: &str| -> Vec<String> {
        let (_, state) = served.ask("state", &json!({ "path": path }));
        let leaves = state["leaves"].as_array().unwrap().iter().filter(|l| l["unread"] == true);
        leaves.map(|l| l["full"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(unread("q1:"), ["seen", "P(0).b"]);
    assert_eq!(unread("q1:0"), ["seen", "P(0).a"]);
}

/// The nearest run that passes is one after which the violation cannot be reached any more.
#[test]
fn the_nearest_run_that_passes_is_found() {
    let model = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; x++; assert(x != 2) }";
    let served = Served::start(model);
    let (_, run) = served.ask("run", &json!({ "path": "q1:0*3" }));
    assert_eq!(run["ending"]["kind"], "violation", "{run}");
    let (_, found) = served.ask("passing", &json!({ "path": "q1:0*3" }));
    assert_eq!(found["step"], 1, "{found}");
    let (_, run) = served.ask("run", &json!({ "path": found["path"] }));
    assert_ne!(run["ending"]["kind"], "violation", "{run}");
}

/// A value is watched by the name that the page shows, alone in any language, and within expressions of Promela.
#[test]
fn values_are_watched_by_the_names_that_are_shown() {
    let served = Served::start("active [2] proctype P() { byte n; n++; n++ }");
    let eval = |expr: &str| served.ask("eval", &json!({ "path": "q1:0*2.1", "expr": expr })).1;
    assert_eq!(eval("P(0).n")["value"], "2");
    assert_eq!(eval("P(0).n")["history"], json!([[0, "0"], [1, "1"], [2, "2"]]));
    assert_eq!(eval("P(0).n + P(1).n == 3")["value"], "true");
    assert_eq!(eval("(P[0]:n) > P(1).n")["value"], "true");
    assert_eq!(eval("P(2).n")["value"], "no process P with number 2");
    assert!(eval("(1).n")["wrong"].is_string());
}

/// Where nobody can go on, the headline says who waits for whom: a ring where there is one, else what each waits for.
#[test]
fn a_deadlock_is_told_in_a_sentence() {
    let said = |model: &str, path: &str| {
        let (_, run) = Served::start(model).ask("run", &json!({ "path": path }));
        assert_eq!(run["ending"]["kind"], "deadlock", "{run}");
        let parts = run["ending"]["parts"].as_array().unwrap().iter();
        parts.map(|p| p["text"].as_str().or(p["code"].as_str()).unwrap().to_owned()).collect::<String>()
    };
    let forks = |n: u32| {
        format!(
            "bool taken[{n}]; active [{n}] proctype P() {{ atomic {{ !taken[_pid] -> taken[_pid] = true }}; !taken[(_pid + 1) % {n}] }}"
        )
    };
    assert_eq!(said(&forks(2), "q1:0.1"), "P(0) waits for P(1), which waits for P(0)");
    assert_eq!(
        said(&forks(3), "q1:0.1.2"),
        "P(0) waits for P(1), which waits for P(2), which waits for P(0)"
    );
    assert_eq!(said(&forks(5), "q1:0.1.2.3.4"), "5 wait for each other in a ring, P(0) for P(1) and so on");
    let channels = "chan a = [1] of { byte }; chan b = [1] of { byte }; byte x;
        active proctype P() { a?x } active proctype Q() { if :: b?x :: a?x fi } active proctype R() { x > 1 }";
    assert_eq!(
        said(channels, "q1:"),
        "P(0) waits (a is empty), Q(1) waits (b is empty, and a is empty), and one more waits"
    );
}
