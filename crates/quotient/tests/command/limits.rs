//! Limits and signals: every phase that can take long, against every way to end it. What counts is the exit status, the words, that
//! it was soon, and that nothing is left behind. Time is CPU time: the machine may be busy.
//!
//! Each input keeps its phase busy for much longer than the limits here.

#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// CPU seconds that the process may use after it was told to end: half a second for the work, the rest for a slow machine.
const SOON: f64 = 2.0;

/// What a phase is given, and how it must end.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// `--max-time`.
    Time,
    /// A signal, once the phase is busy.
    Signal(i32),
    /// `ulimit -v`, in KiB.
    Addresses(u64),
    /// `--max-memory`, in MiB.
    Memory(u64),
}

struct Run {
    status: Option<i32>,
    text: String,
    errors: String,
    /// CPU seconds since the end was asked for.
    late: f64,
    /// Most MiB that were resident at a time.
    peak: u64,
    /// Files left in the directory for temporary ones.
    left: Vec<PathBuf>,
}

/// A file for this test.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("limits_{name}"));
    std::fs::write(&path, text).expect("the directory is writable");
    path.display().to_string()
}

/// CPU seconds of a process and of its children that still run.
fn cpu_seconds(process: u32) -> Option<f64> {
    // Parent and CPU seconds.
    let read = |process: u32| -> Option<(u32, f64)> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
        Some((fields.get(1)?.parse().ok()?, (ticks(11) + ticks(12)) / 100.0))
    };
    let own = read(process)?.1;
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let children = numbers.filter_map(read).filter(|(parent, _)| *parent == process);
    Some(own + children.map(|(_, seconds)| seconds).sum::<f64>())
}

/// Waits for the end; the CPU seconds used in all, and the most MiB at a time.
fn wait(child: &mut Child) -> (f64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    let started = Instant::now();
    loop {
        // SAFETY: both pointers are valid for writing, and the process is a child that nobody has waited for.
        let ended = unsafe { libc::wait4(child.id() as i32, &mut status, libc::WNOHANG, usage.as_mut_ptr()) };
        if ended != 0 {
            break;
        }
        if started.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: zeroes are a value of it, and it may have been written since.
    let usage = unsafe { usage.assume_init() };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    CODE.set(libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)));
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss as u64 >> 10)
}

thread_local! {
    /// The exit status of the process that this thread waited for last.
    static CODE: std::cell::Cell<Option<i32>> = const { std::cell::Cell::new(None) };
}

fn run(arguments: &[&str], ending: Ending) -> Run {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("limits_scratch_{number}"));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).expect("the directory is writable");
    let (out, err) = (place.with_extension("out"), place.with_extension("err"));
    let create = |path: &PathBuf| std::fs::File::create(path).expect("the directory is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
    command.args(arguments).env("TMPDIR", &place).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command.stdout(create(&out)).stderr(create(&err));
    let mut limit = None;
    match ending {
        Ending::Time => {
            command.args(["--max-time", "300ms"]);
        }
        Ending::Memory(mib) => {
            command.args(["--max-memory", &format!("{mib}M")]);
        }
        Ending::Addresses(kib) => limit = Some(kib * 1024),
        Ending::Signal(_) => {}
    }
    // SAFETY: only system calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            // Whoever runs the tests in the background may have them ignored.
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            if let Some(bytes) = limit {
                let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
                libc::setrlimit(libc::RLIMIT_AS, &limit);
            }
            Ok(())
        });
    }
    let mut child = command.spawn().expect("the command runs");
    let mut before = 0.3;
    if let Ending::Signal(signal) = ending {
        // Until it is busy.
        let started = Instant::now();
        while cpu_seconds(child.id()).is_some_and(|s| s < 0.3) && started.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(10));
        }
        before = cpu_seconds(child.id()).unwrap_or(0.0);
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
    }
    let (used, peak) = wait(&mut child);
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    // A process that was killed may need a moment.
    let running = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let programs = processes.filter_map(|e| std::fs::read_link(e.path().join("exe")).ok());
        programs.filter(|program| program.starts_with(&place)).count()
    };
    let started = Instant::now();
    while running() > 0 && started.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(running(), 0, "{arguments:?} {ending:?}: processes are left");
    let left = std::fs::read_dir(&place).map(|d| d.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    Run { status: CODE.get(), text: read(&out), errors: read(&err), late: used - before, peak, left }
}

/// Ends a phase and looks at how it ends.
#[track_caller]
fn ends(arguments: &[&str], ending: Ending) -> String {
    let run = run(arguments, ending);
    let words = match ending {
        Ending::Time => "time limit of 0.3 s reached",
        Ending::Signal(libc::SIGINT) => "interrupted",
        Ending::Signal(libc::SIGTERM) => "interrupted (SIGTERM)",
        Ending::Signal(_) => "interrupted (SIGHUP)",
        Ending::Addresses(_) => "out of memory",
        Ending::Memory(_) => "memory limit of",
    };
    let said = format!("{}{}", run.text, run.errors);
    let case = format!("{arguments:?} {ending:?}: {:?} after {:.2} s\n{said}", run.status, run.late);
    assert_eq!(run.status, Some(5), "{case}");
    assert!(said.contains(words) && said.contains("undecided"), "{case}");
    assert!(matches!(ending, Ending::Addresses(_) | Ending::Memory(_)) || run.late < SOON, "{case}");
    // Beyond the limit: what `watch` allows, and what is taken between two looks at it.
    let most = if let Ending::Memory(mib) = ending { mib + mib / 8 + 100 } else { u64::MAX };
    assert!(run.peak <= most, "{case}{} MiB", run.peak);
    assert!(run.left.is_empty(), "{case}left: {:?}", run.left);
    run.text
}

const INT: Ending = Ending::Signal(libc::SIGINT);
const TERM: Ending = Ending::Signal(libc::SIGTERM);
const HUP: Ending = Ending::Signal(libc::SIGHUP);

/// A process that counts three variables without end: every search goes on for ever.
const COUNTERS: &str = "int a, b, c;
active proctype P() { do :: a++ od }
active proctype Q() { do :: b++ od }
active proctype R() { do :: c++ od }
";

#[test]
fn reading_a_model() {
    let long = format!("int x;\nactive proctype P() {{\n{}skip }}\n", "x = x + 1;\n".repeat(400_000));
    let model = file("large.pml", &long);
    ends(&["check", &model], Ending::Time);
    ends(&["check", &model], TERM);
    ends(&["check", &model], Ending::Addresses(100_000));
    ends(&["check", &model], Ending::Memory(100));
    ends(&["simulate", &model, "--output-only"], HUP);
}

#[test]
fn translating_formulas() {
    let part = |i: usize| {
        let [a, b, c, d] = [i, (i + 1) % 5, (i + 2) % 5, (i + 3) % 5];
        format!("<> (p[{a}] && [] (p[{b}] U (p[{c}] || <> [] p[{d}])))")
    };
    let formula = (0..5).map(part).collect::<Vec<_>>().join(" || ");
    let text = "bool p[5];\nactive proctype P() { byte i; do :: select(i : 0 .. 4); p[i] = !p[i] od }\n";
    let model = file("formula.pml", &format!("{text}ltl f {{ {formula} }}\n"));
    for ending in [Ending::Time, INT, TERM, HUP] {
        let said = ends(&["check", &model], ending);
        assert!(said.contains("while translating formulas"), "{said}");
    }
    let object: serde_json::Value =
        serde_json::from_str(&ends(&["check", &model, "--json"], INT)).expect("one object");
    assert_eq!(object["verdict"], "undecided");
    assert_eq!(object["message"], "interrupted while translating formulas");
}

#[test]
fn analysing_a_program() {
    // An atomic sequence that goes round through thousands of choices: what a step may touch, from each of its locations.
    let option = |j: usize| {
        let (a, b, c, d) = (j % 50, j % 7, j * 7 % 50, j % 13);
        format!(":: g[{a}] == {b} -> g[{c}]++; if :: g[{d}] > 2 -> g[{b}]-- :: else fi\n")
    };
    let options: String = (0..4000).map(option).collect();
    let model = file(
        "tables.pml",
        &format!(
            "byte g[50];\nactive [3] proctype P() {{ atomic {{ do\n{options}:: else -> break od }} }}\n"
        ),
    );
    ends(&["check", &model], Ending::Time);
    ends(&["check", &model], HUP);
}

#[test]
fn one_step_that_takes_long() {
    let model = file(
        "atomic.pml",
        "int a, b, c, d;
active proctype P() {
  atomic { do :: a < 1000 -> a++ :: b < 1000 -> b++ :: c < 1000 -> c++ :: a + b + c == 3000 -> break od }
}
active proctype Q() { d = 1 }
",
    );
    for ending in [Ending::Time, INT, Ending::Addresses(200_000), Ending::Memory(100)] {
        ends(&["check", &model], ending);
    }
    ends(&["check", &model, "--search", "dfs"], TERM);
    ends(&["check", &model, "--invariant", "d < 2"], Ending::Time);
    ends(&["check", &model, "--ctl", "A G (d < 2)"], HUP);
    ends(&["simulate", &model], Ending::Time);
}

#[test]
fn searching() {
    let model = file("counters.pml", COUNTERS);
    for ending in [Ending::Time, INT, TERM, HUP, Ending::Addresses(60_000), Ending::Memory(25)] {
        let said = ends(&["check", &model, "--por", "off"], ending);
        assert!(said.contains(" states, "), "what is known: {said}");
    }
    for more in
        [&["--search", "dfs"][..], &["--store", "plain"], &["--store", "collapse"], &["--store", "gzip"]]
    {
        let arguments = [&["check", &model, "--por", "off"], more].concat();
        ends(&arguments, Ending::Time);
        ends(&arguments, Ending::Addresses(60_000));
        ends(&arguments, Ending::Memory(25));
    }
}

#[test]
fn searching_for_cycles_and_storing_graphs() {
    let model = file("endless.pml", COUNTERS);
    for [kind, formula] in [["--ltl", "[] (a < 5 || <> (c == 7))"], ["--ctl", "A G (a < 5 || E F (c == 7))"]]
    {
        for ending in [Ending::Time, TERM, Ending::Addresses(100_000), Ending::Memory(50)] {
            ends(&["check", &model, kind, formula], ending);
        }
    }
}

#[test]
fn looking_for_a_short_cycle() {
    // All states are one component, and the shortest cycle through both marks leads through most of them. Several workers find one at once.
    let model = file(
        "lasso.pml",
        "int a, b;
active proctype P() { do :: atomic { a < 700 -> a++ } :: atomic { a == 700 -> a = 0 } od }
active proctype Q() { do :: atomic { b < 700 -> b++ } :: atomic { b == 700 -> b = 0 } od }
",
    );
    let check = ["check", &model, "--workers", "1", "--ltl", "!([]<> (a == 700) && []<> (b == 700))"];
    ends(&check, Ending::Time);
    ends(&check, INT);
}

#[test]
fn executing_a_path_again() {
    // The violation is found at once; its path is long, and each of its states has many variables.
    let model = file(
        "deep.pml",
        "int a; int all[250];
active proctype P() { do :: a < 60000 -> a++; all[a % 250] = all[(a + 1) % 250] + 1 :: else -> break od; assert(all[7] < 0) }
",
    );
    for ending in [Ending::Time, TERM] {
        let said = ends(&["check", &model], ending);
        assert!(!said.contains("holds"), "{said}");
    }
    let said = ends(&["check", &model, "--full"], Ending::Addresses(500_000));
    // Memory runs out where it does: before the violation is found, or while it is executed again.
    assert!(said.contains("undecided") || said.contains("could not be executed again"), "{said}");
}

#[test]
fn simulating_and_comparing() {
    let model = file("simulated.pml", COUNTERS);
    ends(&["simulate", &model, "--steps", "100000000", "--output-only"], Ending::Time);
    ends(&["simulate", &model, "--steps", "100000000"], INT);
    ends(&["compare", &model, "--symmetry", "off", "--store", "tree"], TERM);
    ends(&["compare", &model, "--symmetry", "off", "--store", "tree"], Ending::Memory(60));
}

#[test]
fn auditing() {
    let model = file(
        "audited.pml",
        "byte turns;
active [3] proctype P() { do :: atomic { turns < 20 -> turns++ } :: atomic { turns == 20 -> turns = 0 } od }
",
    );
    let said = ends(&["check", &model, "--audit", "1000000000"], Ending::Time);
    assert!(said.contains("during the audit"), "{said}");
    ends(&["check", &model, "--audit", "1000000000"], HUP);
}

#[test]
fn checking_a_program() {
    // Never makes a visible step, and never ends by itself.
    let program = file(
        "endless.c",
        "#include <pthread.h>
static unsigned long spin(unsigned long n) { while (n != 1) n = n * 3 + 2; return n; }
static void *work(void *p) { return (void *)spin((unsigned long)p & ~1ul); }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }
",
    );
    for ending in [Ending::Time, INT, TERM, HUP, Ending::Addresses(1_000_000)] {
        ends(&["check", "--step-time", "60", &program], ending);
    }
}

#[test]
fn signals_that_are_ignored_stay_so() {
    let model = file("ignored.pml", COUNTERS);
    let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
    command.args(["check", &model, "--max-time", "2s"]).stdout(Stdio::piped()).stderr(Stdio::null());
    // SAFETY: only a system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let child = command.spawn().expect("the command runs");
    std::thread::sleep(Duration::from_millis(500));
    // SAFETY: a child that was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGHUP) };
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("time limit of 2 s reached"), "as nohup asks: {text}");
}
