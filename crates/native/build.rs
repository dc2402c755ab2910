//! Builds the runtime library that checked programs are linked with, for embedding.
//!
//! It is a Rust `cdylib` (crates/native-runtime and crates/stateless, which depend on nothing else), compiled by two
//! direct calls of rustc: cargo has no stable way to embed one artifact in another.
//!
//! It is the same for every profile, so it is kept in the target folder under a checksum of all that it is made from, and built
//! once for `check`, `test` and `release` together.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "libquotient_runtime.so";

/// The library as it is embedded: its length in eight bytes, then compressed.
const EMBEDDED: &str = "libquotient_runtime.so.z";

/// Frame pointers: the runtime walks the stack of the checked program through its own frames. Every processor that switches thread
/// control blocks (FSGSBASE, which the runtime checks for) has the instructions of x86-64-v2; they join vector clocks.
const FLAGS: &[&str] = &[
    "--edition=2024",
    "--cap-lints=allow",
    "-Copt-level=3",
    "-Cpanic=abort",
    "-Cforce-frame-pointers=yes",
    "-Ccodegen-units=1",
    "-Ctarget-cpu=x86-64-v2",
    "-Cstrip=symbols",
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

fn main() {
    let (rustc, out) = (variable("RUSTC"), PathBuf::from(variable("OUT_DIR")));
    let crates = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    let sources = ["stateless/src", "native-runtime/src", "native/src/protocol"].map(|s| crates.join(s));
    println!("cargo::rerun-if-changed=build.rs");
    let mut checksum = DefaultHasher::new();
    FLAGS.hash(&mut checksum);
    let version = Command::new(&rustc).arg("-vV").output().unwrap_or_else(|e| panic!("{rustc}: {e}"));
    version.stdout.hash(&mut checksum);
    for source in &sources {
        println!("cargo::rerun-if-changed={}", source.display());
        add(source, &mut checksum);
    }
    // OUT_DIR is TARGET/PROFILE/build/PACKAGE/out.
    let kept =
        out.ancestors().nth(4).map(|t| t.join(format!("quotient-runtime-{:016x}.so.z", checksum.finish())));
    if kept.as_ref().is_some_and(|kept| std::fs::copy(kept, out.join(EMBEDDED)).is_ok()) {
        return;
    }
    let compile = |name: &str, kind: &str, root: &str, more: &[&str]| {
        let status = Command::new(&rustc)
            .args(FLAGS)
            .args(["--crate-name", name, "--crate-type", kind])
            .arg("--out-dir")
            .arg(&out)
            .arg("-L")
            .arg(&out)
            .args(more)
            .arg(crates.join(root))
            .status();
        match status {
            Ok(status) if status.success() => {}
            other => panic!("{rustc} could not build {name}: {other:?}"),
        }
    };
    compile("quotient_stateless", "rlib", "stateless/src/lib.rs", &[]);
    let stateless = format!("quotient_stateless={}/libquotient_stateless.rlib", out.display());
    compile("quotient_runtime", "cdylib", "native-runtime/src/lib.rs", &["--extern", &stateless]);
    let library = std::fs::read(out.join(LIBRARY)).expect("rustc has written the library");
    let mut embedded = (library.len() as u64).to_le_bytes().to_vec();
    embedded.extend(miniz_oxide::deflate::compress_to_vec_zlib(&library, 9));
    std::fs::write(out.join(EMBEDDED), embedded).expect("the build folder can be written");
    // A copy that cannot be kept is made again. The name appears when the copy is complete.
    if let Some(kept) = kept {
        let part = kept.with_extension(std::process::id().to_string());
        let _ = std::fs::copy(out.join(EMBEDDED), &part).and_then(|_| std::fs::rename(&part, &kept));
    }
}

/// Adds the names and contents of all files of a folder, in order, or of one file.
fn add(path: &Path, checksum: &mut DefaultHasher) {
    let Ok(entries) = std::fs::read_dir(path) else {
        path.file_name().hash(checksum);
        std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).hash(checksum);
        return;
    };
    let mut entries: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    entries.iter().for_each(|entry| add(entry, checksum));
}
