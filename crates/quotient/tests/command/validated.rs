//! What is written, against its schema by validators that others wrote: check-jsonschema (PyPI), which also has the schemas of GitHub and GitLab; OASIS's schema of SARIF, which stands in the
//! crate `serde-sarif`; xmllint with the schema of Jenkins's plugin for JUnit's reports, which stands in a package of PyPI; itf-py (PyPI) for traces. `.ci/run` fetches what is needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use quotient_testing::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// What the validator says of a file, if it is not satisfied.
fn complaint(schema: &[&str], file: &Path) -> Option<String> {
    let output = Command::new("check-jsonschema")
        .args(schema)
        .arg(file)
        .current_dir(root())
        .output()
        .expect("check-jsonschema");
    let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (!output.status.success()).then(|| told.concat())
}

fn quotient(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let binary = env!("CARGO_BIN_EXE_quotient");
    Command::new(binary).args(arguments).current_dir(folder).output().expect("it runs").stdout
}

#[test]
#[ignore = "needs check-jsonschema"]
fn jsonschema_witnesses() {
    let schema = ["--schemafile", "docs/witness-schema.json"];
    let folder = Folder::new();
    let witness = folder.path().join("w.yml");
    for (name, options) in [
        ("counter_load_store.c", &[][..]),
        ("counter_race.c", &[]),
        ("nondeterministic_values.c", &["--nondet", "0,3,4"]),
        ("use_after_free.c", &[]),
    ] {
        std::fs::copy(root().join("models/c").join(name), folder.path().join(name)).expect("an example");
        quotient(folder.path(), &[&["check", name, "--trace", "t"], options].concat());
        quotient(folder.path(), &["convert", "t", "--to", "witness", "-o", "w.yml"]);
        assert_eq!(complaint(&schema, &witness), None, "{name}");
    }
    // The schema says something.
    let good = std::fs::read_to_string(&witness).expect("a witness");
    for (from, to) in [
        ("\"2.2\"", "\"2.0\""),
        ("thread_id: 0", "thread_id: -1"),
        ("type: target", "type: branching"),
        ("      line:", "      lines:"),
        ("creation_time: \"2", "creation_time: \"x"),
        ("action: follow", "action: avoid"),
        ("  content:", "  contents:"),
    ] {
        assert!(good.contains(from), "{from}");
        std::fs::write(&witness, good.replace(from, to)).expect("written");
        assert!(complaint(&schema, &witness).is_some(), "{to}");
    }
}

#[test]
#[ignore = "needs check-jsonschema"]
fn jsonschema_documents() {
    let schema = ["--schemafile", "docs/schema.json"];
    let folder = Folder::new();
    let file = folder.path().join("answer.json");
    let root = root();
    for arguments in [
        &["check", "models/peterson.pml"][..],
        &["check", "models/phils.pml", "-D", "N=3"],
        &["check", "models/peterson.pml", "--max-states", "3"],
        &["check", "models/dining_philosophers.bir"],
        &["check", "models/c/counter_load_store.c"],
        &["check", "models/c/counter_race.c"],
        &["check", "models/none.pml"],
        &["prove", "models/peterson.pml"],
    ] {
        let answer = quotient(&root, &[arguments, &["--json"]].concat());
        std::fs::write(&file, &answer).expect("written");
        assert_eq!(complaint(&schema, &file), None, "{arguments:?}");
    }
    std::fs::write(&file, "{\"quotient\": 1}").expect("written");
    assert!(complaint(&schema, &file).is_some());
}

/// The schemas of the CI servers themselves, which the validator brings along.
#[test]
#[ignore = "needs check-jsonschema"]
fn jsonschema_of_ci_servers() {
    let gitlab = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"];
    assert_eq!(complaint(&gitlab, &root().join("packaging/gitlab.yml")), None);
    assert_eq!(complaint(&["--builtin-schema", "vendor.github-actions"], &root().join("action.yml")), None);
    for schema in ["docs/schema.json", "docs/witness-schema.json"] {
        assert_eq!(complaint(&["--check-metaschema"], &root().join(schema)), None);
    }
}

/// A folder with a model that is violated, one that holds, one that has a lasso, and one that is wrong.
fn models() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        (
            "a <b>.pml",
            "// quotient: holds\nbyte x; chan c = [2] of { byte };\nactive proctype P() { c!1; x++; assert(x == 2) }\n",
        ),
        ("b.pml", "// quotient: holds\nbyte x;\nactive proctype P() { x++ }\n"),
        ("c.pml", "bit x;\nactive proctype P() { do :: x = 1 - x od }\nltl p { <>[] (x == 1) }\n"),
        ("d.pml", "active proctype P() { y++ }\n"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// What `quotient check` and `quotient test` say of these, in a format.
fn converted(folder: &Path, format: &str, option: &str) -> Vec<PathBuf> {
    let answers = quotient(folder, &["check", "a <b>.pml", "b.pml", "c.pml", "d.pml", "--json"]);
    std::fs::write(folder.join("answers.json"), answers).expect("written");
    quotient(folder, &["convert", "answers.json", "--to", format, "-o", "converted"]);
    quotient(folder, &["test", ".", option, "tested"]);
    ["converted", "tested"].map(|name| folder.join(name)).to_vec()
}

#[test]
#[ignore = "needs check-jsonschema"]
fn jsonschema_sarif() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).expect("a home");
    let sources = std::fs::read_dir(home.join("registry/src")).expect("cargo's sources").flatten();
    let crates = sources.filter_map(|registry| std::fs::read_dir(registry.path()).ok()).flatten().flatten();
    let is_it = |path: &PathBuf| path.display().to_string().contains("/serde-sarif-");
    let schema = crates.map(|e| e.path()).find(is_it).expect("the crate serde-sarif").join("src/schema.json");
    // One of its patterns has a bracket too many, which not every reader of patterns takes.
    let schema = ["--regex-variant", "python", "--schemafile", schema.to_str().expect("a path")];
    let folder = models();
    for file in converted(folder.path(), "sarif", "--sarif") {
        assert_eq!(complaint(&schema, &file), None, "{}", file.display());
        let text = std::fs::read_to_string(&file).expect("SARIF");
        std::fs::write(&file, text.replacen("\"version\": \"2.1.0\"", "\"version\": \"2.0.0\"", 1))
            .expect("written");
        assert!(complaint(&schema, &file).is_some(), "the schema says something");
    }
}

#[test]
#[ignore = "needs xmllint and QUOTIENT_JUNIT_SCHEMA"]
fn xmllint_takes_reports() {
    let schema = std::env::var("QUOTIENT_JUNIT_SCHEMA").expect("the schema's file");
    let folder = models();
    for file in converted(folder.path(), "junit", "--junit") {
        let takes = || {
            let output = Command::new("xmllint")
                .args(["--noout", "--schema", &schema])
                .arg(&file)
                .output()
                .expect("xmllint");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then_some(told)
        };
        assert_eq!(takes(), None, "{}", file.display());
        let text = std::fs::read_to_string(&file).expect("XML");
        std::fs::write(&file, text.replace("<testcase", "<testcases").replace("</testcase>", "</testcases>"))
            .expect("written");
        assert!(takes().is_some(), "the schema says something");
    }
}

/// Traces, read by itf-py: the states are there, with the values that they have.
#[test]
#[ignore = "needs itf-py"]
fn itf_py_reads_traces() {
    const READ: &str = "import itf_py, json, sys\n\
        trace = itf_py.trace_from_json(json.load(open('t.itf.json')))\n\
        again = itf_py.trace_from_json(itf_py.trace_to_json(trace))\n\
        assert [s.values for s in again.states] == [s.values for s in trace.states]\n\
        assert all(sorted(s.values) == sorted(trace.vars) for s in trace.states)\n\
        print(len(trace.states), trace.loop, [s.values['x'] for s in trace.states])\n";
    let folder = models();
    let python = std::env::var("QUOTIENT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    for (model, expected) in [("a <b>.pml", "4 None [0, 0, 1, 1]"), ("c.pml", "2 0 [0, 1]")] {
        quotient(folder.path(), &["check", model, "--trace", "t"]);
        quotient(folder.path(), &["convert", "t", "--to", "itf", "-o", "t.itf.json"]);
        let output =
            Command::new(&python).args(["-c", READ]).current_dir(folder.path()).output().expect("Python");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.trim(), expected, "{model}");
    }
}
