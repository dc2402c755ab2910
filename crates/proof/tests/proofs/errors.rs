//! Mistakes in constraint programs and what is said about them.

use crate::support::read;

/// The first line of the message and the line it points to.
fn check(text: &str, message: &str, place: &str) {
    let errors = read(text).expect_err(text);
    assert!(errors.contains(message), "expected `{message}` in\n{errors}");
    assert!(errors.contains(place), "expected `{place}` in\n{errors}");
}

#[test]
fn mistakes_are_explained_where_they_stand() {
    check("p(0)\np(1) :- p(0).", "error: expected `.`, found `p`", "test.clp:2:1");
    check("p(0). p(X*Y) :- p(X), Y > 0.", "a product of two variables is not linear", "test.clp:1:9");
    check("p(0). p(1) :- q(0).", "unknown predicate `q`", "test.clp:1:15");
    check("p(0). assert r(X) |= false.", "unknown predicate `r`", "test.clp:1:14");
    check(
        "p([0,0],0). p([1,P],X) :- p([0,P],X,X).",
        "`p` has 2 (a list of 2, a value) arguments, not 3",
        "test.clp:1:27",
    );
    check("p(0,0). assert p(X) |= false.", "`p` has 2 (a value, a value) arguments, not 1", "test.clp:1:16");
    check("p(0). assert p(X) |= false using q.", "there is no assertion named `q`", "test.clp:1:34");
    check(
        "p(0). assert a: p(X) |= X = 0. assert a: p(X) |= X = 0.",
        "`a` is already the name",
        "test.clp:1:39",
    );
    check("p(0). assert p(X) |= Y = 0.", "occurs only in the constraint that is claimed", "test.clp:1:7");
    check("p(0). assert p(X), (X,Y) in {(1,2),(3)} |= p(Y).", "expected 2 values, found 1", "test.clp:1:36");
    check("p(X) :- p(X).", "no fact says where the program starts", "test.clp:1:1");
    check("% nothing", "the program has no facts and no rules", "");
    check("p(0). p(1) :- p(0), X.", "expected a comparison", "test.clp:1:22");
    check("p(0). p(1) :- p(0), x = 1.", "`x` is not a constraint", "test.clp:1:21");
    check("p(0). p(X) :- p(X), p(Y).", "at most one state in its body", "test.clp:1:21");
    check("p(0). p(X) :- p(X), X = 1 ; X = 2.", "a disjunction in a rule needs parentheses", "test.clp:1:27");
    check("p(99999999999999999999).", "the number is too large", "test.clp:1:3");
    check("p(0). p(2000000000000 * X) :- p(X).", "too large", "test.clp:1:");
    check("p(0) & # .", "this character has no meaning here", "test.clp:1:8");
    check(
        "p(0,0). assert symmetric p(A,B) under permutations {A,C}.",
        "`C` is not an argument of the state",
        "",
    );
    check(
        "p(0,0). assert symmetric p(A,B) under permutations {(A,B),A}.",
        "this block has 1 variables, the first 2",
        "",
    );
}

#[test]
fn contradictory_assumptions_are_refused() {
    check("p(0). assume p(X) |= X > 0. assert p(X) |= X < 5.", "contradicts the program", "false in p(0)");
    check(
        "p(0). assume p(X), X < 0, X > 0 |= X = 7. assert p(X) |= false.",
        "is contradictory",
        "test.clp:1:7",
    );
}

#[test]
fn several_mistakes_in_one_run() {
    let errors = read("p(0). q(1) :- p(0). p(X*X) :- p(X). p(1").expect_err("three mistakes");
    assert_eq!(errors.matches("error:").count(), 3, "{errors}");
}

#[test]
fn nonsense_never_panics() {
    // Deep nesting and truncations of a real program.
    for text in
        ["(".repeat(5000), format!("p(0). p(X) :- p(X), {}X = 1", "(".repeat(3000)), "not ".repeat(4000)]
    {
        assert!(read(&text).is_err());
    }
    let program = quotient_proof::models::generate("fischer", 2).unwrap();
    for end in 0..program.len() {
        let _ = read(&program[..end]);
    }
    for (at, c) in program.char_indices().step_by(3) {
        let mut altered = program.clone();
        let other = if c == '(' { "," } else { "(" };
        altered.replace_range(at..at + c.len_utf8(), other);
        let _ = read(&altered);
    }
}
