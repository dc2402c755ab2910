//! Drawings, read by Graphviz. This test needs Debian's `graphviz`; without it it is ignored, by name: `dot`. `.ci/run` runs it.

use std::path::Path;
use std::process::Command;

use quotient_testing::Folder;

#[test]
#[ignore = "needs dot"]
fn dot_reads_every_drawing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Folder::new();
    let quotient = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_quotient"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        assert!(matches!(output.status.code(), Some(0 | 5 | 11..=14)), "{arguments:?}: {output:?}");
    };
    // Names and texts with quotes, backslashes and angle brackets, too.
    let odd = "mtype = { ack }; mtype m; chan c = [2] of { byte };\nactive proctype P() { c!1; m = ack; printf(\"\\\\ <%d> \\\"\\n\", m); assert(c?[2]) }\n";
    std::fs::write(folder.path().join("odd.pml"), odd).expect("written");
    let file = |name: &str| root.join(name).display().to_string();
    let philosophers = file("models/phils.pml");
    let objects = file("models/dining_philosophers.bir");
    let program = file("models/c/counter_load_store.c");
    quotient(&["check", &philosophers, "--dot", "states.dot", "--trace", "t"]);
    quotient(&["draw", "t", "--graph", "-o", "around.dot"]);
    quotient(&["check", "odd.pml", "--dot", "odd.dot"]);
    quotient(&["check", &objects, "--trace", "o"]);
    quotient(&["draw", "o", "--heap", "-o", "heap.dot"]);
    quotient(&["draw", "o", "--graph", "-o", "objects.dot"]);
    quotient(&["check", &program, "--dot", "execution.dot"]);
    for name in ["states.dot", "around.dot", "odd.dot", "heap.dot", "objects.dot", "execution.dot"] {
        let output =
            Command::new("dot").args(["-Tsvg", name]).current_dir(folder.path()).output().expect("Graphviz");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("rror"), "{name}: {said}");
        let text = std::fs::read_to_string(folder.path().join(name)).expect("a drawing");
        let drawn = String::from_utf8_lossy(&output.stdout).matches("class=\"edge\"").count();
        // What is drawn is what was written, as far as steps go; texts of steps have arrows, too.
        let steps =
            text.lines().filter(|line| line.split("[label=").next().is_some_and(|l| l.contains(" -> ")));
        assert_eq!(drawn, steps.count(), "{name}");
    }
}
