//! What CI servers run: the steps of `action.yml` and of `packaging/gitlab.yml`, as they stand there.

use std::path::Path;
use std::process::Command;

use quotient_testing::Folder;

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect("a file")
}

/// The lines of the block of text that follows a line.
fn block(text: &str, after: &str) -> String {
    let mut lines = text.lines().skip_while(|line| line.trim() != after).skip(1).peekable();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = lines.peek().map_or(0, |line| indent(line));
    assert!(depth > 0, "{after}: nothing follows");
    let inside = lines.take_while(|line| line.trim().is_empty() || indent(line) >= depth);
    inside.map(|line| line.get(depth..).unwrap_or_default().to_owned() + "\n").collect()
}

/// Runs a script where a model is expected to hold, and where it is not.
fn run(script: &str, variables: &[(&str, &str)]) {
    let binary = Path::new(env!("CARGO_BIN_EXE_quotient"));
    let path = format!(
        "{}:{}",
        binary.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let folder = Folder::new();
    let model = |expected: &str| {
        format!("// quotient: {expected}\nbyte x;\nactive proctype P() {{ x++; assert(x < 2) }}\n")
    };
    for (expected, status) in [("holds", 0), ("violated assertion", 1)] {
        std::fs::create_dir_all(folder.path().join("some models")).expect("a folder");
        std::fs::write(folder.path().join("some models/m.pml"), model(expected)).expect("written");
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR"))
            .envs(variables.iter().copied())
            .output()
            .expect("bash runs");
        let told =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{expected}: {told}");
        let report = std::fs::read_to_string(folder.path().join("quotient.xml")).expect("a report");
        assert_eq!(report.contains("<failure"), status == 1, "{report}");
    }
}

#[test]
fn the_steps_of_the_action_test_a_folder() {
    let action = file("action.yml");
    let build =
        action.lines().find_map(|line| line.trim().strip_prefix("run: command")).expect("a build step");
    let test = block(&action, "run: |");
    let script = format!("command{build} >/dev/null\n{test}");
    run(&script, &[("PATHS", "."), ("OPTIONS", ""), ("SARIF", "quotient.sarif"), ("JUNIT", "quotient.xml")]);
    run(
        &script,
        &[("PATHS", "."), ("OPTIONS", "--jobs 1"), ("SARIF", "quotient.sarif"), ("JUNIT", "quotient.xml")],
    );
}

#[test]
fn the_job_for_gitlab_tests_a_folder() {
    let script = block(&file("packaging/gitlab.yml"), "script:");
    run(script.trim().trim_start_matches("- "), &[]);
}
