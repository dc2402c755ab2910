//! Builds the runtime library that checked programs are linked with, for embedding.
//!
//! It is a Rust `cdylib` (crates/native-runtime and crates/stateless, which depend on nothing else), compiled by two
//! direct calls of rustc: cargo has no stable way to embed one artifact in another.

use std::path::Path;
use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let (rustc, out) = (variable("RUSTC"), variable("OUT_DIR"));
    let crates = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo::rerun-if-changed=build.rs");
    for sources in ["stateless/src", "native-runtime/src", "native/src/protocol.rs"] {
        println!("cargo::rerun-if-changed={}", crates.join(sources).display());
    }
    let compile = |name: &str, kind: &str, root: &str, more: &[&str]| {
        let status = Command::new(&rustc)
            .args(["--edition", "2024", "--cap-lints", "allow", "--crate-name", name, "--crate-type", kind])
            // Frame pointers: the runtime walks the stack of the checked program through its own frames.
            .args(["-C", "opt-level=3", "-C", "panic=abort", "-C", "force-frame-pointers=yes"])
            // Every processor that switches thread control blocks (FSGSBASE, which the runtime checks for) has these
            // instructions; they join vector clocks.
            .args(["-C", "codegen-units=1", "-C", "target-cpu=x86-64-v2"])
            .args(["-C", "strip=debuginfo", "--out-dir", &out, "-L", &out])
            .args(more)
            .arg(crates.join(root))
            .status();
        match status {
            Ok(status) if status.success() => {}
            other => panic!("{rustc} could not build {name}: {other:?}"),
        }
    };
    compile("quotient_stateless", "rlib", "stateless/src/lib.rs", &[]);
    let stateless = format!("quotient_stateless={out}/libquotient_stateless.rlib");
    compile("quotient_runtime", "cdylib", "native-runtime/src/lib.rs", &["--extern", &stateless]);
}
