//! A smaller command: relative relocations are packed, functions whose code is the same are kept once, and the tables for unwinding, which the compiler
//! writes for every function although a panic ends the process (and names file and line without them), are left out. Together that is two megabytes.
//! Only where the linker can do so, which a small program tells.

use std::path::Path;
use std::process::{Command, Stdio};

/// Leaves the tables out.
const NO_TABLES: &str = "\
SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) } }
INSERT AFTER .text;
";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let given = |name: &str| std::env::var_os(name).unwrap_or_default();
    if given("PROFILE") != "release" || given("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let out = given("OUT_DIR");
    let (source, script) = (Path::new(&out).join("links.rs"), Path::new(&out).join("no_tables.ld"));
    let written =
        std::fs::write(&source, "fn main() {}\n").and_then(|()| std::fs::write(&script, NO_TABLES)).is_ok();
    let no_tables = format!("-Wl,-T,{}", script.display());
    for option in ["-Wl,-z,pack-relative-relocs", "-Wl,--icf=all", &no_tables] {
        let program = source.with_extension("out");
        let mut rustc = Command::new(given("RUSTC"));
        rustc.args(["-Cpanic=abort", "--target"]).arg(given("TARGET")).arg(format!("-Clink-arg={option}"));
        rustc.arg(&source).arg("-o").arg(&program);
        let works = |command: &mut Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
        };
        // A program for another kind of machine cannot be run here.
        let runs = |program: &Path| given("HOST") != given("TARGET") || works(&mut Command::new(program));
        if written && works(&mut rustc) && runs(&program) {
            println!("cargo:rustc-link-arg-bin=quotient={option}");
        }
    }
}
