//! SPIN as a judge: text in, counts out.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The programs it takes.
pub struct Verifier {
    compiler: &'static str,
}

/// What SPIN's verifier said.
#[derive(Debug)]
pub struct Report {
    pub states: usize,
    /// As printed: one more than the steps taken.
    pub transitions: usize,
    #[allow(dead_code, reason = "not every test that uses this module counts errors")]
    pub errors: usize,
    /// The messages, each at least once.
    pub messages: Vec<String>,
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

fn runs(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

impl Verifier {
    /// Looks for `spin` and a C compiler.
    pub fn find() -> Result<Verifier, String> {
        if !runs("spin", "-V") {
            return Err("spin is not installed".to_string());
        }
        let compiler = ["gcc", "cc"].into_iter().find(|c| runs(c, "--version"));
        compiler.map(|compiler| Verifier { compiler }).ok_or("no C compiler is installed".to_string())
    }

    /// Verifies a model without any reduction, passing over errors.
    pub fn run(&self, text: &str) -> Result<Report, String> {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("quotient-reference-{}-{run}", std::process::id()));
        std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        let report = self.run_in(&directory, text);
        let _ = std::fs::remove_dir_all(&directory);
        report
    }

    fn run_in(&self, directory: &PathBuf, text: &str) -> Result<Report, String> {
        let output = |program: &str, args: &[&str]| {
            let output = Command::new(program)
                .args(args)
                .current_dir(directory)
                .stdin(Stdio::null())
                .output()
                .map_err(|e| format!("{program}: {e}"))?;
            let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.push_str(&String::from_utf8_lossy(&output.stderr));
            Ok::<_, String>((output.status.success(), said))
        };
        std::fs::write(directory.join("model.pml"), text).map_err(|e| e.to_string())?;
        let (_, said) = output("spin", &["-o1", "-o2", "-o3", "-a", "model.pml"])?;
        // After a syntax error it still writes a verifier, of what it could make of the text.
        if said.contains("syntax error") || !directory.join("pan.c").exists() {
            // `else` next to a channel operation draws a complaint that is not an error.
            let fatal = said.lines().find(|line| line.contains("rror") && !line.contains("dubious"));
            return Err(fatal.unwrap_or("no verifier").to_string());
        }
        let flags =
            ["-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=8192", "-o", "pan", "pan.c"];
        let (compiled, said) = output(self.compiler, &flags)?;
        if !compiled {
            return Err(format!(
                "compilation: {}",
                said.lines().find(|l| l.contains("error")).unwrap_or("failed")
            ));
        }
        let pan = directory.join("pan");
        let (_, said) = output(&pan.to_string_lossy(), &["-c0", "-n", "-m200000", "-w18"])?;
        parse(&said)
    }
}

fn parse(said: &str) -> Result<Report, String> {
    if said.contains("max search depth too small") {
        return Err("search depth".to_string());
    }
    let before = |words: &str| {
        let line = said.lines().find(|line| line.contains(words))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|n| n as usize)
    };
    let after = |word: &str| {
        let at = said.find(word)? + word.len();
        said[at..].split_whitespace().next()?.parse().ok()
    };
    let messages: Vec<String> = said.lines().filter(|l| l.starts_with("pan:")).map(str::to_string).collect();
    match (before("states, stored"), before("transitions (="), after("errors: ")) {
        (Some(states), Some(transitions), Some(errors)) => {
            Ok(Report { states, transitions, errors, messages })
        }
        _ if !messages.is_empty() => Ok(Report { states: 0, transitions: 0, errors: 0, messages }),
        _ => Err(format!("verifier: {}", said.lines().next().unwrap_or("silent"))),
    }
}
