//! A kernel without Landlock or seccomp: the report says what the program is not kept from. One test, since it changes the
//! environment of its process.

use std::path::PathBuf;

use quotient_native::{Answer, Build, Request, check};

#[test]
fn what_is_not_enforced_is_said() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sandbox_absent.c");
    std::fs::write(&path, "int main(void) { return 0; }\n").expect("the test directory can be written");
    let binary = Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{e}"));
    let notes = |without: &str| {
        // SAFETY: no other thread of this process looks at the environment: there is one test.
        unsafe { std::env::set_var("QUOTIENT_SANDBOX_WITHOUT", without) };
        let report = check(&binary, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
        report.notes.into_iter().filter(|note| note.starts_with("sandbox: ")).collect::<Vec<_>>()
    };
    let all = notes("landlock,seccomp");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].contains("no Landlock") && all[0].contains("files"), "{all:?}");
    assert!(all[1].contains("seccomp") && all[1].contains("system calls"), "{all:?}");
    assert_eq!(notes("seccomp").last(), all.last());
    assert_eq!(notes("landlock"), all[..1]);
    // What this kernel has is used.
    // SAFETY: asks for the version of Landlock.
    let version = unsafe { libc::syscall(444, std::ptr::null::<u8>(), 0usize, 1) };
    assert_eq!(notes("").is_empty(), version >= 6);
    // A home that cannot be written: the runtime goes to the directory for temporary files.
    let temporary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("instead-of-home");
    std::fs::create_dir_all(&temporary).expect("the test directory can be written");
    // SAFETY: as above.
    unsafe {
        std::env::remove_var("XDG_CACHE_HOME");
        std::env::set_var("HOME", "/proc/nobody");
        std::env::set_var("TMPDIR", &temporary);
    }
    let installed = quotient_native::build::install_runtime().unwrap_or_else(|e| panic!("{e}"));
    assert!(installed.starts_with(&temporary), "{}", installed.display());
}
