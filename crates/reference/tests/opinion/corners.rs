//! Rules of SPIN that random programs hardly ever reach, with the counts that SPIN 6.5.2 gives.

use quotient_promela::{ParseOptions, parse_text};
use quotient_reference::interpret;
use quotient_source::SourceMap;

/// Compares states, transitions (SPIN's minus one) and violated assertions.
fn check(text: &str, states: usize, transitions: usize, assertions: usize) {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "corner.pml", text, &ParseOptions::default());
    assert!(!parsed.diagnostics.has_errors(), "{text}");
    let outcome = interpret(&parsed.model, 10_000).expect("supported");
    let found = (outcome.states, outcome.transitions, outcome.assertion_failures);
    assert_eq!(found, (states, transitions, assertions), "{text}");
    assert!(outcome.complete && outcome.faults.is_empty() && outcome.invalid_end_states == 0);
}

/// A jump that is the whole of an atomic sequence, into the middle of another one, keeps control.
#[test]
fn jump_from_atomic_into_atomic() {
    check(
        "byte x, y;
        active proctype P() {
            x = 1;
            atomic { goto L };
            x = 2;
            atomic { y = 1; L: y = 2; y = 3 }
        }
        active proctype Q() { x = 4; y = 5 }",
        26,
        30,
        0,
    );
}

/// A rendezvous that nobody accepts, tried after another step of the same escape, lets the main sequence
/// go on although the escape was possible.
#[test]
fn refused_rendezvous_in_an_escape() {
    check(
        "byte x, y;
        chan r = [0] of { byte };
        active proctype P() {
            { x = 1; x = 2; x = 3 } unless { if :: r!1 :: y == 0 -> y = 1 fi; y = 2 }
        }
        active proctype Q() { y = 3; x = 4; y = 0 }",
        82,
        131,
        0,
    );
}

/// A sorted send compares the value as sent: 256 goes after 5, though it is stored as 0.
#[test]
fn sorted_send_of_a_value_that_is_cut() {
    check(
        "chan c = [3] of { byte, byte };
        byte x, z;
        active proctype P() {
            c!!5,1; c!!256,2; c!!3,1;
            c?x,_; assert(x == 3); c?x,_; assert(x == 5); c?x,z; assert(x == 0)
        }",
        11,
        10,
        0,
    );
}

/// A message that is a single bit keeps the value that was sent; a bit among other fields does not.
#[test]
fn message_of_a_single_bit() {
    check(
        "chan c = [1] of { bit };
        chan d = [1] of { bit, bit };
        byte x;
        active proctype P() { c!3; c?x; assert(x == 3); d!3,3; d?x,_; assert(x == 1) }",
        8,
        7,
        0,
    );
}

/// A main part that starts with a jump out of the atomic sequence around the `unless`: jump and escape are possible. SPIN's verifier has no
/// row there and reports a deadlock, its simulator goes on.
#[test]
fn unless_that_starts_with_a_jump_out_of_atomic() {
    check(
        "byte x;
        active proctype P() { x = 1; atomic { x = 2; { goto L } unless { x++ } }; x = 7; L: skip }",
        6,
        5,
        0,
    );
    check(
        "byte x;
        active proctype P() { x = 1; atomic { x = 2; { goto L } unless { x == 9 } }; x = 7; L: skip }",
        5,
        4,
        0,
    );
}
