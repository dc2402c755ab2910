//! Mappings that libraries make for themselves, in each execution. One test, since it changes the environment of its process.

use std::path::PathBuf;

use quotient_native::{Answer, Build, Request, check};

#[test]
fn mappings_of_libraries_do_not_add_up() {
    // With two mappings left behind by each execution the kernel's limit (65,530) would be met after 32,700.
    let source = r#"
        #define _GNU_SOURCE
        #include <assert.h>
        #include <locale.h>
        #include <pthread.h>
        #include <stdatomic.h>
        #include <stdio.h>
        static atomic_int n;
        static void *add(void *x) { int v = n; n = v + 1; return x; }
        static void *library(void) {
            /* By number, so that nobody sees it: as libraries do. Nine arguments are not needed. */
            void *at;
            register long flags __asm__("r10") = 0x22;
            register long file __asm__("r8") = -1;
            register long offset __asm__("r9") = 0;
            __asm__ volatile("syscall" : "=a"(at) : "a"(9L), "D"(0L), "S"(8192L), "d"(1L), "r"(flags), "r"(file), "r"(offset)
                : "rcx", "r11", "memory");
            return at;
        }
        int main(void) {
            assert(setlocale(LC_ALL, ""));
            for (int i = 0; i < 24; i++) {
                void *at = library();
                assert((unsigned long)at < -4095UL);
                /* Neighbours with different rights are not made one. */
                long result;
                __asm__ volatile("syscall" : "=a"(result) : "a"(10L), "D"(at), "S"(4096L), "d"(0L) : "rcx", "r11", "memory");
            }
            pthread_t t[5];
            for (int i = 0; i < 5; i++) pthread_create(&t[i], 0, add, 0);
            for (int i = 0; i < 5; i++) pthread_join(t[i], 0);
            return 0;
        }
    "#;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("library_mappings.c");
    std::fs::write(&path, source).expect("the test directory can be written");
    let binary = Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{e}"));
    // The sandbox would refuse system calls of the program's own code, which stand for those of a library here.
    // SAFETY: no other thread of this process looks at the environment: there is one test.
    unsafe { std::env::set_var("QUOTIENT_SANDBOX_WITHOUT", "seccomp") };
    let report = check(&binary, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.executions, 14_400);
}
