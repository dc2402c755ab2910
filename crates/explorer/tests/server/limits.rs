//! Limits of what a question may cost: the steps of a run, the states of a picture, the time, how many at a time. Each has an answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use quotient_explorer::server::AT_ONCE;
use serde_json::{Value, json};

use crate::{MODEL, Served};

/// A run has a million steps at most, however it is named.
#[test]
fn steps_of_a_run() {
    let served = Served::start(MODEL);
    for path in ["q1:0*1000001", "q1:0*500000.1*500001", "q1:0*18446744073709551615"] {
        let (status, answer) = served.ask("run", &json!({ "path": path }));
        assert_eq!(status, 422, "{path}: {answer}");
    }
    let (_, known) = served.ask("run", &json!({ "path": "q1:0*2" }));
    let path = format!("~{}:2.1*999999", known["id"].as_str().unwrap());
    let (status, answer) = served.ask("run", &json!({ "path": path }));
    assert_eq!((status, answer["error"].as_str().unwrap().contains("million")), (422, true), "{answer}");
}

/// A picture has 300 states at most; of a larger model those around the place.
#[test]
fn states_of_a_picture() {
    let grid =
        |n: usize| format!("byte x, y; active proctype P() {{ do :: x < {n} -> x++ :: y < {n} -> y++ od }}");
    let count = |graph: &Value| graph["nodes"].as_array().map_or(0, Vec::len);
    let (_, small) = Served::start(&grid(5)).ask("graph", &json!({ "path": "q1:" }));
    assert_eq!(small["whole"], true, "{small}");
    let (_, large) = Served::start(&grid(12)).ask("graph", &json!({ "path": "q1:" }));
    assert_eq!(large["whole"], false);
    assert!((30..=300).contains(&count(&large)), "{}", count(&large));
    assert!(count(&small) > 60, "{}", count(&small));
}

/// A question is worked on for two seconds at most; then there is what has been found. Each step here takes long.
#[test]
fn time_of_a_question() {
    let slow = "byte n; int i; active proctype P() { do :: n < 100 -> d_step { i = 0; do :: i < 400000 -> i++ :: else -> break od; n++ } od }";
    let served = Served::start(slow);
    let started = Instant::now();
    let (status, graph) = served.ask("graph", &json!({ "path": "q1:" }));
    let took = started.elapsed();
    assert_eq!((status, &graph["whole"]), (200, &json!(false)), "{took:?}");
    // Twice: all of the model is tried, then what is near. Without the limit all of it would be drawn, after several seconds.
    assert!(took < Duration::from_secs(12), "{took:?}");
    // Of a long run the beginning is there at once, and the rest is to be asked for again.
    let served = Served::start(MODEL);
    let path = format!("q1:{}", vec!["0*2.1*2"; 110_000].join("."));
    // Its statements are not asked for: the answer would be long.
    let (_, run) = served.ask("run", &json!({ "path": path, "known": 1_000_000 }));
    assert_eq!(run["ending"]["kind"], "more", "{} {}", run["ending"], run["error"]);
    assert!(run["length"].as_u64().unwrap() > 100, "{}", run["length"]);
}

/// So many questions are answered at a time; one more is refused, and answered when there is room again.
#[test]
fn questions_at_a_time() {
    let served = Served::start(MODEL);
    // Each has its head, and waits for a body that does not come.
    let open = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        let head = format!(
            "POST /api/info HTTP/1.1\r\nHost: {}\r\nX-Quotient-Token: {}\r\nContent-Length: 5000\r\n\r\n{{",
            served.host(),
            served.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        // Connections that come at the same moment may wait for each other.
        std::thread::sleep(Duration::from_millis(60));
        stream
    };
    let mut waiting: Vec<TcpStream> = (0..AT_ONCE - 1).map(open).collect();
    assert_eq!(served.ask("info", &json!({})).0, 200, "there is room for one more");
    waiting.push(open(0));
    let begun = Instant::now();
    let refused = loop {
        let (status, answer) = served.ask("info", &json!({}));
        if status != 200 || begun.elapsed() > Duration::from_secs(20) {
            break (status, answer);
        }
    };
    assert_eq!(refused.0, 503, "{}", refused.1);
    assert!(refused.1["error"].as_str().unwrap().contains("ask again"), "{}", refused.1);
    // They end: what they asked was not a question.
    for mut stream in waiting {
        let _ = stream.write_all(&[b' '; 4999]);
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 400");
    }
    assert_eq!(served.ask("info", &json!({})).0, 200);
}
