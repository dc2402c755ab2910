//! Z3's opinion of exported steps. Tests that ask for it are ignored by name: they need z3.

use std::io::Write;
use std::process::{Command, Stdio};

use quotient_proof_check::smtlib;

/// Asks z3 all steps, one after the other in one process: each must be `unsat`. Gives how many there were.
pub fn confirms(what: &str, files: &[(String, String)]) -> usize {
    let (input, asked) = smtlib::script(files);
    let mut child = Command::new("z3")
        .args(["-in", "-t:20000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed (this test is ignored where it is not)");
    let mut stdin = child.stdin.take().expect("piped");
    let names: Vec<String> =
        input.lines().filter_map(|l| l.strip_prefix("; proof")).map(|n| format!("proof{n}")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    writer.join().expect("the writer ends").expect("z3 reads its input");
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<&str> = text.lines().collect();
    assert_eq!(answers.len(), asked, "{what}: {text}");
    for (at, answer) in answers.iter().enumerate() {
        assert_eq!(*answer, "unsat", "{what}, {}", names.get(at).map_or("", String::as_str));
    }
    println!("{what}: z3 confirms {asked} steps");
    asked
}
