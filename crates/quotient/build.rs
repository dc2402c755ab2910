//! A smaller command: relative relocations are packed, functions whose code is the same are kept once. Together that is a megabyte.
//! Only where the linker can do so, which a small program tells.

use std::path::Path;
use std::process::{Command, Stdio};

const OPTIONS: [&str; 2] = ["-Wl,-z,pack-relative-relocs", "-Wl,--icf=all"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let given = |name: &str| std::env::var_os(name).unwrap_or_default();
    if given("PROFILE") != "release" || given("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let source = Path::new(&given("OUT_DIR")).join("links.rs");
    for option in OPTIONS {
        let mut rustc = Command::new(given("RUSTC"));
        rustc.arg("--target").arg(given("TARGET")).arg(format!("-Clink-arg={option}"));
        rustc.arg(&source).arg("-o").arg(source.with_extension("out"));
        rustc.stdout(Stdio::null()).stderr(Stdio::null());
        let links =
            std::fs::write(&source, "fn main() {}\n").is_ok() && rustc.status().is_ok_and(|s| s.success());
        if links {
            println!("cargo:rustc-link-arg-bin=quotient={option}");
        }
    }
}
