//! Residual code and liveness of small compiled programs.

use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};
use quotient_native::residual::image::Image;
use quotient_native::residual::{Pairing, Residual};
use quotient_native::{Binary, Build};

const SOURCE: &str = r"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *first(void *unused) { int r = atomic_load(&y); atomic_store(&x, 2); atomic_store(&y, r + 1); return 0; }
static void *second(void *unused) { int pad = 7, r = pad; atomic_store(&x, 2); atomic_store(&y, r + 1); return 0; }
static void *third(void *unused) { int r = 0; atomic_store(&x, 3); atomic_store(&y, r + 1); return 0; }
int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, first, 0);
    pthread_create(&t[1], 0, second, 0);
    pthread_create(&t[2], 0, third, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    int sum = 0;
    sum += atomic_load(&x) * 100 + atomic_load(&y) * 10 + sum;
    return sum;
}
";

/// The file has the test's name: tests run at the same time.
fn build(name: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("residual-{name}.c"));
    std::fs::write(&path, SOURCE).expect("the test directory can be written");
    Build { sources: vec![path], flags: Vec::new(), compiler: None }.run().unwrap_or_else(|e| panic!("{e}"))
}

/// Where the calls of an imported function return to, within a function, in order of addresses.
fn returns(path: &Path, function: &str, imported: &str) -> Vec<u64> {
    let bytes = std::fs::read(path).expect("it was built");
    let file = object::File::parse(&*bytes).expect("a program");
    let start = file.symbols().find(|s| s.name() == Ok(function)).expect("the function").address();
    let image = Image::read(path).expect("a program");
    let function = image.function(start).expect("the function");
    let code = image.instructions(function).expect("simple code");
    let calls = code.values().filter(|(i, _)| i.is_call_near() || i.is_call_near_indirect());
    calls.filter(|(i, _)| image.called(i) == Some(imported)).map(|(i, _)| i.next_ip()).collect()
}

fn bytes(pairing: &Pairing) -> u32 {
    // Whatever the caller needs: the result.
    pairing.pieces.iter().filter(|p| p.needs & 3 != 0).map(|p| p.length).sum()
}

#[test]
fn live_bytes() {
    let binary = build("live");
    let mut residual = Residual::new(binary.path()).expect("a program");
    let stores = returns(binary.path(), "first", "__tsan_atomic32_store");
    let loads = returns(binary.path(), "first", "__tsan_atomic32_load");
    assert_eq!((stores.len(), loads.len()), (2, 1));
    let at =
        |residual: &mut Residual, place| residual.pairing(place, place).unwrap_or_else(|e| panic!("{e}"));
    // After the load, r is about to be written; before the last store it is needed; after it nothing is.
    assert_eq!(bytes(&at(&mut residual, loads[0])), 0);
    assert_eq!(bytes(&at(&mut residual, stores[0])), 4, "r");
    assert_eq!(bytes(&at(&mut residual, stores[1])), 0);
    // The handles are needed until they are joined, and then no more.
    let created = returns(binary.path(), "main", "pthread_create");
    assert!(bytes(&at(&mut residual, created[2])) >= 24);
    let after = returns(binary.path(), "main", "__tsan_atomic32_load");
    assert_eq!(bytes(&at(&mut residual, after[0])), 4, "sum: {:?}", at(&mut residual, after[0]));
}

#[test]
fn code_up_to_renaming() {
    let binary = build("code");
    let mut residual = Residual::new(binary.path()).expect("a program");
    let stores = |f: &str| returns(binary.path(), f, "__tsan_atomic32_store");
    let (first, second, third) = (stores("first"), stores("second"), stores("third"));
    // Different places of r in the frame.
    let pairing = residual.pairing(first[0], second[0]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bytes(&pairing), 4);
    assert!(residual.pairing(first[0], third[0]).is_ok(), "the store of another value is over");
    assert!(residual.pairing(first[0], second[1]).is_err(), "one store is left, or none");
    let start = returns(binary.path(), "first", "__tsan_func_entry");
    let other = returns(binary.path(), "third", "__tsan_func_entry");
    assert!(residual.pairing(start[0], other[0]).is_err());
}
