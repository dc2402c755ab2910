//! Claims that need an invariant which nobody states: it is found, and the certificate with it is accepted.

use crate::support::{bare, read, run};
use quotient_proof::canonical::Map;
use quotient_proof::certificate::certificate;
use quotient_proof::domain::Domain;
use quotient_proof::invariant;
use quotient_proof::limits::Limits;
use quotient_proof::prove::{Options, Proof, Verdict, prove, violations};
use quotient_proof::safety::{SafetyProof, Table};

fn proved_by(program: &quotient_proof::program::Program) -> Option<&'static str> {
    let reports = run(program, &Options::default());
    assert!(matches!(reports[0].verdict, Verdict::Proved), "{:?}", reports[0].verdict);
    assert!(reports[0].elapsed.as_secs_f64() < 10.0, "took {:?}", reports[0].elapsed);
    println!("{:?} in {:?}, {} stored", reports[0].found, reports[0].elapsed, reports[0].stored);
    reports[0].found.map(|f| f.0)
}

#[test]
fn mutual_exclusion_with_the_claim_alone() {
    for (name, n) in [("bakery", 2), ("bakery", 3), ("fischer", 2), ("fischer", 3)] {
        println!("{name} {n}");
        assert!(proved_by(&bare(name, n)).is_some(), "{name} {n}");
    }
}

/// Cells up to exchanges of processes: with the symmetry that is proposed, nine processes need as many cells as they have sorted places.
#[test]
fn many_processes_with_the_claim_alone() {
    for (name, n, sets) in [("bakery", 9, 19), ("peterson", 4, 250)] {
        let text = quotient_proof::models::generate(name, n).expect("the model exists");
        let lines = text.lines().filter(|l| !l.starts_with("assert"));
        let program: String = lines.map(|l| format!("{l}\n")).collect();
        let claim = text.lines().rfind(|l| l.starts_with("assert")).expect("a claim");
        let claim = claim.split(" using").next().expect("a claim");
        let stated = text.lines().find(|l| l.starts_with("assert swap")).expect("a symmetry");
        let program = read(&format!("{program}{stated}\n{claim} using swap.\n")).expect("well formed");
        let reports = run(&program, &Options { inverses: true, ..Options::default() });
        let last = reports.last().expect("a report");
        assert!(matches!(last.verdict, Verdict::Proved), "{name} {n}: {:?}", last.verdict);
        let (found, cells) = last.found.expect("an invariant");
        assert_eq!(found, "zones by location, processes exchanged", "{name} {n}");
        assert!(cells <= sets, "{name} {n}: {cells} sets");
    }
}

#[test]
fn all_states_of_a_finite_program() {
    let text = "p(0,128). p(I',L) :- p(I,L), I < L, I' = I + 2. assert even: p(I,L), I >= L |= I = L.";
    assert_eq!(proved_by(&read(text).expect("well formed")), Some("all reachable states"));
}

#[test]
fn bounds_that_the_claim_does_not_mention() {
    // Backwards, X has infinitely many predecessors; forwards it is never negative.
    let text = "p(0,0). p(X+1,Y) :- p(X,Y). p(X,Y+1) :- p(X,Y), X >= 0. p(X,Y-1) :- p(X,Y), X < 0.
                assert p(X,Y) |= Y >= 0.";
    proved_by(&read(text).expect("well formed"));
    // A ticket that is not yet given out is larger than all that were.
    let text = "p(0,0,0). p(1,N,N+1) :- p(0,T,N). p(0,T,N) :- p(1,T,N), N > T. assert p(S,T,N) |= T <= N.";
    proved_by(&read(text).expect("well formed"));
}

#[test]
fn what_is_false_is_refuted_with_or_without_invariants() {
    let text = "p(0,0). p(X+1,Y) :- p(X,Y). p(X,Y+X) :- p(X,Y), X <= 3. assert p(X,Y) |= Y <= 20.";
    let reports = run(&read(text).expect("well formed"), &Options::default());
    assert!(matches!(reports[0].verdict, Verdict::Refuted(_)), "{:?}", reports[0].verdict);
}

/// Zones up to an exchange prove nothing where the claim, or the program, tells the processes apart: both claims here are false.
#[test]
fn exchanges_that_do_not_fit_are_refused() {
    let exchange = "assert exchange: p([P1,P2]) |= p([P2,P1]).";
    let cases = [
        (
            "p([0,0]). p([1,P2]) :- p([0,P2]). p([P1,1]) :- p([P1,0]).",
            "assert order: p([P1,P2]), P1 = 1, P2 = 0 |= false.",
            "a violation with its columns renamed is not one",
        ),
        (
            "p([0,0]). p([1,P2]) :- p([0,P2]). p([2,0]) :- p([1,0]).
             p([P1,1]) :- p([P1,2]). p([P1,2]) :- p([P1,1]), P1 > 2.",
            "assert never: p([P1,P2]), (P1 = 2 ; P2 = 2) |= false.",
            "a rule with its columns renamed is not a rule",
        ),
    ];
    for (rules, claim, refusal) in cases {
        let program = read(&format!("{rules} {exchange} {claim}")).expect("well formed");
        let domain = Domain::of(&program);
        let mut report = prove(&program, &Options::default()).pop().expect("a report");
        assert!(matches!(report.verdict, Verdict::Refuted(_)), "{claim}");
        let map = Map::of(&program, &domain, 0).expect("a map");
        let bad = violations(&program, &domain, &program.assertions[1]).expect("small numbers");
        let found = invariant::zones(&program, &domain, &[map], &bad, &Limits::default()).ok();
        assert!(found.is_some(), "{claim}");
        let proof = Box::new(SafetyProof { table: Table::default(), visited: 0 });
        report.proof = Some(Proof::Safety { proof, maps: Vec::new(), invariants: Vec::new(), found });
        let written = certificate(&program, &[report]).expect("small numbers").expect("a certificate");
        let refused = quotient_proof_check::check(&written).expect_err(claim);
        assert!(refused.contains(refusal), "{refused}");
    }
}
