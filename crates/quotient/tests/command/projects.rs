//! Projects with a build system of their own, built by `quotient cc` and `quotient c++` and checked.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const QUOTIENT: &str = env!("CARGO_BIN_EXE_quotient");

/// A library, a program that uses it, and a header. With -DTWICE the library locks in the wrong order.
const FILES: [(&str, &str); 3] = [
    (
        "account.h",
        "struct account { long balance; pthread_mutex_t lock; };\n\
         void transfer(struct account *from, struct account *to, long amount);\n",
    ),
    (
        "account.c",
        "#include <pthread.h>\n#include \"account.h\"\n\
         void transfer(struct account *from, struct account *to, long amount) {\n\
         #ifndef TWICE\n\
             struct account *first = from < to ? from : to, *second = from < to ? to : from;\n\
         #else\n\
             struct account *first = from, *second = to;\n\
         #endif\n\
             pthread_mutex_lock(&first->lock);\n\
             pthread_mutex_lock(&second->lock);\n\
             from->balance -= amount;\n\
             to->balance += amount;\n\
             pthread_mutex_unlock(&second->lock);\n\
             pthread_mutex_unlock(&first->lock);\n\
         }\n",
    ),
    (
        "main.c",
        "#include <pthread.h>\n#include <assert.h>\n#include <stdlib.h>\n#include \"account.h\"\n\
         static struct account a = { 100, PTHREAD_MUTEX_INITIALIZER }, b = { 100, PTHREAD_MUTEX_INITIALIZER };\n\
         static long amount;\n\
         static void *there(void *unused) { transfer(&a, &b, amount); return unused; }\n\
         static void *back(void *unused) { transfer(&b, &a, 2 * amount); return unused; }\n\
         int main(int count, char **arguments) {\n\
             pthread_t t, u;\n\
             amount = count > 1 ? atol(arguments[1]) : 1;\n\
             pthread_create(&t, 0, there, 0);\n\
             pthread_create(&u, 0, back, 0);\n\
             pthread_join(t, 0);\n\
             pthread_join(u, 0);\n\
             assert(a.balance == 100 + amount && b.balance == 100 - amount);\n\
             return 0;\n\
         }\n",
    ),
];

fn project(name: &str, more: &[(&str, &str)]) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier run left behind would not be built again.
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the test directory can be written");
    for (file, text) in FILES.iter().chain(more) {
        std::fs::write(directory.join(file), text).expect("the test directory can be written");
    }
    directory
}

fn run(directory: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(directory).env_remove("CC").output();
    output.unwrap_or_else(|e| panic!("{program}: {e}"))
}

fn succeeds(directory: &Path, program: &str, arguments: &[&str]) {
    let output = run(directory, program, arguments);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {}\n{text}", output.status);
}

/// Exit status and report of `quotient check`.
fn check(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(directory, QUOTIENT, &[&["check"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text.into_owned())
}

#[test]
fn make() {
    let makefile = "CFLAGS = -Wall\n\
        program: main.o libaccount.a\n\t$(CC) $(LDFLAGS) -o $@ main.o -L. -laccount -lpthread\n\
        libaccount.a: account.o\n\t$(AR) rcs $@ $^\n\
        %.o: %.c account.h\n\t$(CC) $(CFLAGS) -MD -c -o $@ $<\n";
    let directory = project("make", &[("Makefile", makefile)]);
    let compiler = format!("CC={QUOTIENT} cc");
    succeeds(&directory, "make", &[&compiler]);
    let (status, text) = check(&directory, &["./program", "--arg", "7"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("holds: 2 executions"), "two orders of the transfers:\n{text}");
    // It also runs by itself.
    succeeds(&directory, "./program", &["7"]);
    succeeds(&directory, "make", &["-B", &compiler, "CFLAGS=-DTWICE -O2"]);
    let (status, text) = check(&directory, &["./program"]);
    assert_eq!(status, Some(11), "{text}");
    assert!(text.contains("account.c:10"), "lines of the library:\n{text}");
}

#[test]
#[ignore = "needs cmake"]
fn cmake() {
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(accounts C)\nfind_package(Threads REQUIRED)\n\
        add_library(account STATIC account.c)\nadd_executable(program main.c)\n\
        target_link_libraries(program account Threads::Threads)\n";
    let directory = project("cmake", &[("CMakeLists.txt", lists)]);
    let configure = |flags: &str| {
        let output = Command::new("cmake")
            .args([
                "-S",
                ".",
                "-B",
                "build",
                "-DCMAKE_BUILD_TYPE=Release",
                &format!("-DCMAKE_C_FLAGS={flags}"),
            ])
            .current_dir(&directory)
            .env("CC", format!("{QUOTIENT} cc"))
            .output()
            .expect("cmake was found above");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        succeeds(&directory, "cmake", &["--build", "build"]);
    };
    // A release build has no assertions, so only the verdict about locks differs.
    configure("");
    let (status, text) = check(&directory, &["build/program"]);
    assert_eq!(status, Some(0), "{text}");
    configure("-DTWICE");
    let (status, text) = check(&directory, &["build/program"]);
    assert_eq!(status, Some(11), "{text}");
}

#[test]
fn the_build_command_is_run() {
    let makefile = "all: program other\nprogram: main.c account.c\n\t$(CC) $(CFLAGS) -o $@ main.c account.c -lpthread\n\
        other: program\n\tcp program other\nCC = cc\n";
    let directory = project("build-command", &[("Makefile", makefile)]);
    let (status, text) = check(&directory, &["--arg", "7", "--", "make", "program"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("./program: holds: 2 executions"), "{text}");
    let (status, text) = check(&directory, &["--", "make", "program"]);
    assert_eq!(status, Some(2), "nothing is left to build:\n{text}");
    let (status, text) = check(&directory, &["./other", "--", "make", "-B", "CFLAGS=-DTWICE"]);
    assert_eq!(status, Some(11), "{text}");
    // The command in the report repeats the violation.
    let again = text.lines().find_map(|line| line.trim().strip_prefix("to see it again: quotient "));
    let again = format!("{QUOTIENT} {}", again.unwrap_or_default());
    assert_eq!(run(&directory, "sh", &["-c", &again]).status.code(), Some(11), "{again}");
    let (status, text) = check(&directory, &["--", "make", "broken"]);
    assert_eq!(status, Some(2), "{text}");
}

#[test]
fn all_files_and_options_are_in_the_command_that_repeats() {
    let directory = project("repeat", &[]);
    let (status, text) = check(&directory, &["main.c", "account.c", "-D", "TWICE", "--arg", "1 2"]);
    assert_eq!(status, Some(11), "{text}");
    assert!(text.contains("replay main.c account.c -DTWICE '--arg=1 2' --schedule"), "{text}");
    let again = text.lines().find_map(|line| line.trim().strip_prefix("to see it again: quotient "));
    let again = format!("{QUOTIENT} {}", again.unwrap_or_default());
    assert_eq!(run(&directory, "sh", &["-c", &again]).status.code(), Some(11), "{again}");
}
