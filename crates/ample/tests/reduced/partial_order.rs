//! Partial order reduction where it is known to go wrong, and where it must bring something.
//!
//! Every model is checked with and without it, by both searches: the same things must be violated in the same places and
//! the same statements be unreached. `fewer` says whether states must be saved, so that a reduction that is never applied
//! fails too.

use std::collections::BTreeSet;

use quotient_engine::{Check, Model, Outcome, PartialOrder, SearchKind, Symmetry};

fn run(model: &Model, partial_order: PartialOrder, search: SearchKind) -> Outcome {
    // Without symmetry, so that only one thing differs.
    let symmetry = Some(Symmetry::Off);
    let check = Check { partial_order, search, symmetry, all: true, audit: 300, ..Check::default() };
    model.check(&check).expect("it can be checked, and the audit finds nothing")
}

/// What an outcome says, beside counts.
fn findings(outcome: &Outcome) -> (BTreeSet<(String, Option<String>)>, BTreeSet<String>) {
    let violations = outcome.violations.iter().map(|v| (v.kind.to_string(), v.at.clone())).collect();
    (violations, outcome.unreached.iter().map(|u| format!("{} {}", u.at, u.statement)).collect())
}

/// Checks a model; gives the kinds of violation.
fn check(text: &str, fewer: bool) -> Vec<String> {
    let model = Model::from_text("trap.pml", text).expect("a model");
    let mut kinds = BTreeSet::new();
    for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
        let full = run(&model, PartialOrder::Off, search);
        let reduced = run(&model, PartialOrder::On, search);
        assert_eq!(findings(&full), findings(&reduced), "{search:?}");
        let (all, some) = (full.statistics.states, reduced.statistics.states);
        assert!(some <= all, "{search:?}: {some} states instead of {all}");
        assert!(!fewer || some < all, "{search:?}: nothing saved of {all} states");
        kinds = full.violations.iter().map(|v| v.kind.to_string()).collect();
    }
    kinds.into_iter().collect()
}

#[test]
fn nobody_is_ignored() {
    // The first process can go round for ever alone; the other one must get its turn.
    let text = "
        byte x;
        active proctype spins() { byte i; do :: i = 1 - i od }
        active proctype fails() { x = 1; assert(x == 2) }";
    assert_eq!(check(text, false), ["assertion"]);
    // Two that spin, with channels of their own.
    let text = "
        chan c = [1] of { bit };
        chan d = [1] of { bit };
        active proctype p() { do :: c!0 :: c?0 od }
        active proctype q() { do :: d!0 :: d?0 od }
        active proctype r() { assert(false) }";
    assert_eq!(check(text, false), ["assertion"]);
}

#[test]
fn who_may_find_room_or_a_message_later_is_not_alone() {
    // As long as the channel is full, or empty, only the second way is open; the first one may be later.
    for capacity in [1, 2, 200] {
        let fill = "c!0; ".repeat(capacity);
        let full = format!(
            "chan c = [{capacity}] of {{ bit }};
            byte x;
            active proctype p() {{
                atomic {{ {fill}x = 1 }}
                if :: c!1 -> assert(false) :: true fi
            }}
            active proctype q() {{ byte m; x == 1; m = 1; m = 2; c?m }}"
        );
        assert_eq!(check(&full, true), ["assertion"], "room of {capacity}");
        let empty = format!(
            "chan c = [{capacity}] of {{ bit }};
            active proctype p() {{ if :: c?1 -> assert(false) :: true fi }}
            active proctype q() {{ byte m; m = 1; m = 2; c!1 }}"
        );
        assert_eq!(check(&empty, true), ["assertion"], "room of {capacity}");
    }
}

#[test]
fn an_audit_says_what_it_leaves_out() {
    let program = "byte x, y; active proctype p() { x = 1 } active proctype q() { y = 1 }";
    for (claim, audited) in [("", true), (" ltl l { [] (x < 2) }", false)] {
        let model = Model::from_text("audit.pml", &format!("{program}{claim}")).expect("a model");
        let outcome = run(&model, PartialOrder::On, SearchKind::BreadthFirst);
        assert_eq!(outcome.audited_ample.is_some_and(|a| a.diamonds > 0), audited);
        assert_eq!(outcome.notes.iter().any(|n| n.contains("ample sets are not audited")), !audited);
    }
}

#[test]
fn rendezvous_is_a_step_of_two() {
    // Two pairs that have nothing to do with each other: neither process can go alone, but each pair can.
    let text = "
        chan a = [0] of { byte };
        chan b = [0] of { byte };
        byte x, y;
        active proctype p() { a!1; a!2; x = 1 }
        active proctype q() { byte m; a?m; a?m; assert(m == 2) }
        active proctype r() { b!1; b!2; y = 1 }
        active proctype s() { byte m; b?m; b?m; assert(m == 3) }";
    assert_eq!(check(text, true), ["assertion"]);
    // Who meets whom is not settled by who comes first.
    let text = "
        chan a = [0] of { byte };
        active proctype p() { a!1 }
        active proctype q() { a!2 }
        active proctype r() { byte m; a?m; assert(m == 1); a?m; assert(m == 2) }";
    assert_eq!(check(text, false), ["assertion"]);
    // `else` looks at whether a partner is there.
    let text = "
        chan a = [0] of { byte };
        byte x;
        active proctype p() { byte i; i = 1; i = 2; a?i }
        active proctype q() { if :: a!1 :: else -> x = 1 fi; assert(x == 0) }";
    assert_eq!(check(text, false), ["assertion", "deadlock"]);
}

#[test]
fn an_atomic_sequence_can_block_in_the_middle() {
    let text = "
        chan c = [1] of { byte };
        byte x;
        active proctype p() { byte m; atomic { x = 1; c!1; c!2; x = 2 } ; c?m }
        active proctype q() { byte m; c?m; assert(x == 2); c?m }";
    assert!(check(text, false).contains(&"assertion".to_owned()));
    // A condition at the start makes sure that the rest does not block.
    let text = "
        chan c = [2] of { byte };
        chan d = [2] of { byte };
        active proctype p() { c!1; c!2; c!3 }
        active proctype q() { byte m; do :: atomic { nempty(c) && nfull(d) -> c?m; d!m } od }
        active proctype r() { byte m; d?m; d?m; d?m; assert(m == 3) }";
    assert_eq!(check(text, true), ["deadlock"]);
}

#[test]
fn else_and_timeout_look_at_what_is_impossible() {
    let text = "
        chan c = [1] of { byte };
        active proctype p() { c!1 }
        active proctype q() { byte m; if :: c?m :: else -> assert(false) fi }";
    assert!(check(text, false).contains(&"assertion".to_owned()));
    let text = "
        chan c = [1] of { byte };
        byte x;
        active proctype p() { byte i; i = 1; c!1; i = 2; x = 1 }
        active proctype q() { byte m; do :: c?m -> break :: timeout -> assert(false) od }
        active proctype r() { timeout -> assert(x == 0) }";
    assert_eq!(check(text, false), ["assertion"]);
    let text = "
        chan c = [1] of { byte };
        active proctype p() { { c!1; c!2 } unless { full(c) -> assert(false) } }
        active proctype q() { byte m; c?m }";
    assert!(check(text, false).contains(&"assertion".to_owned()));
}

#[test]
fn threads_that_start_and_end() {
    let text = "
        byte x;
        proctype w() { x = 1 }
        active proctype p() { run w(); run w(); (_nr_pr == 1) -> assert(x == 0) }";
    assert_eq!(check(text, false), ["assertion"]);
    let text = "
        proctype w(chan c) { chan own = [1] of { byte }; byte m; own!1; own?m; c!m }
        active proctype p() { chan c = [2] of { byte }; byte m; run w(c); run w(c); c?m; c?m; assert(m == 2) }";
    assert_eq!(check(text, true), ["assertion"]);
}

#[test]
fn other_processes_can_be_looked_at() {
    let text = "
        active proctype p() { byte i; i = 1; here: i = 2; i = 3 }
        active proctype q() { byte j; j = 1; j = 2; (p[0]@here) -> assert(false) }";
    assert_eq!(check(text, false), ["assertion", "deadlock"]);
    let text = "
        active proctype p() { byte i; do :: i < 5 -> i++ :: i == 5 -> break od }
        active proctype q() { (p[0]:i == 3) -> assert(false) }";
    assert_eq!(check(text, false), ["assertion", "deadlock"]);
    let text = "
        byte go;
        active proctype p() provided (go == 1) { byte i; i = 1; assert(false) }
        active proctype q() { byte j; j = 1; go = 1; go = 0 }";
    assert!(check(text, false).contains(&"assertion".to_owned()));
}

#[test]
fn a_process_that_has_passed_its_last_use_is_in_nobodys_way() {
    // Static notions of independence see two processes that use `x`; only one still does.
    let text = "
        byte x, y, turn;
        active proctype p() { x = 1; turn = 1; byte i; do :: i < 6 -> y = i; i++ :: else -> break od }
        active proctype q() { turn == 1; byte j; do :: j < 6 -> x = x + 1; j++ :: else -> break od; assert(x == 7) }";
    assert_eq!(check(text, true), Vec::<String>::new());
}

#[test]
fn what_makes_it_unsound_switches_it_off() {
    for (text, why) in [
        ("active proctype p() { skip } active proctype q() { _last == 0 }", "_last"),
        ("active proctype p() priority 2 { skip } active proctype q() { _priority == 1 }", "priorities"),
    ] {
        let model = Model::from_text("off.pml", text).expect("a model");
        let outcome = run(&model, PartialOrder::On, SearchKind::BreadthFirst);
        assert_eq!(outcome.partial_order, PartialOrder::Off);
        assert!(
            outcome.notes.iter().any(|n| n.contains("partial order") && n.contains(why)),
            "{:?}",
            outcome.notes
        );
    }
}

#[test]
fn states_with_one_way_on_are_passed_through() {
    // Between two steps that the others see, a process of this model goes through loops of its own.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/peterson_n.pml");
    let text = std::fs::read_to_string(file).expect("the model is there");
    let model = Model::from_text("peterson_n.pml", &text).expect("a model");
    let reduced = run(&model, PartialOrder::On, SearchKind::BreadthFirst).statistics;
    let full = run(&model, PartialOrder::Off, SearchKind::BreadthFirst).statistics;
    assert!(5 * reduced.states < full.states, "{} of {} states", reduced.states, full.states);
    // What is passed through counts as explored.
    assert!(reduced.transitions > 3 * reduced.states, "{} transitions", reduced.transitions);
    // The way to a violation names every step of it, also in a search that stores few of its states.
    let text = "
        byte x, y;
        active [2] proctype p() {
            byte i;
            do
            :: i = 0;
               do :: i < 4 -> if :: i == y -> skip :: else -> i++ fi :: i == 4 -> break od;
               assert(x == 0 || i < 3);
               if :: _pid == 0 -> x = 1 :: else -> x = 0 fi
            od
        }
        active proctype q() { y = 5 }";
    let kinds = check(text, true);
    assert_eq!(kinds, ["assertion"]);
    // A process that goes round alone for ever is not gone through for ever, and does not keep the other from its turn.
    let text = "
        byte x;
        active proctype spins() { byte i; do :: i = (i + 1) % 7; i = (i + 3) % 7 od }
        active proctype fails() { byte i; i = 3; i = 4; x = i; assert(x == 2) }";
    assert_eq!(check(text, false), ["assertion"]);
}

#[test]
fn an_atomic_sequence_goes_on_behind_a_d_step() {
    // What is done after the `d_step` belongs to the step that begins with it: here the assertion, which the other process decides.
    for steps in ["d_step { skip }; assert(g <= 0)", "l = 1; d_step { l = 2; l = 3 }; l = 4; assert(g <= 0)"]
    {
        let text = format!(
            "int g;
            active proctype p() {{ g = 1 }}
            active proctype q() {{ int l; l = 7; atomic {{ {steps} }} }}"
        );
        assert_eq!(check(&text, false), ["assertion"], "{steps}");
    }
}

/// States with partial order, breadth first.
fn reduced_states(text: &str) -> u64 {
    let model = Model::from_text("gates.pml", text).expect("a model");
    run(&model, PartialOrder::On, SearchKind::BreadthFirst).statistics.states
}

#[test]
fn a_lock_is_given_back_in_nobodys_way() {
    let philosophers = |n: usize, take: &str| {
        format!(
            "bit fork[{n}];
            active [{n}] proctype phil() {{
                do
                :: {take} {{ fork[_pid] == 0 -> fork[_pid] = 1 }};
                   {take} {{ fork[(_pid + 1) % {n}] == 0 -> fork[(_pid + 1) % {n}] = 1 }};
                   fork[(_pid + 1) % {n}] = 0;
                   fork[_pid] = 0
                od
            }}"
        )
    };
    for take in ["atomic", "d_step"] {
        assert_eq!(check(&philosophers(5, take), true), ["deadlock"]);
        // Without gates 23,543, of 46,763 in all: now those where somebody eats or has eaten are passed through.
        assert_eq!(reduced_states(&philosophers(9, take)), 74);
    }
    // Who looks at the lock without having to find it free is in the way; so is who can come round to it in another manner.
    let lock = |other: &str| {
        format!(
            "bit x; byte y;
            active proctype p() {{ atomic {{ x == 0 -> x = 1 }}; y = 1; x = 0; y = 2 }}
            active proctype q() {{ {other} }}"
        )
    };
    let free = lock("atomic { x == 0 -> x = 1 }; x = 0");
    let violated = [
        "assert(x == 0)",
        "if :: x == 0 -> x = 1 :: else -> assert(false) fi",
        "if :: x == 0 -> x = 1 :: skip -> assert(x == 0) fi",
        "{ skip; skip } unless { x == 1 -> assert(false) }",
        "do :: x == 0 -> x = 1 :: x != 0 -> assert(false) od",
        "x == 0 && 1 / (1 - x) == 1; assert(x == 0)",
        "1 / (1 - x) == 1 && x == 0",
        "d_step { if :: x == 0 -> x = 1 :: else -> skip fi }; assert(x == 0)",
        "atomic { y == 1; x == 0 -> skip }; assert(y == 3)",
    ];
    assert_eq!(check(&free, false), Vec::<String>::new());
    for other in violated {
        assert!(!check(&lock(other), false).is_empty(), "{other}");
    }
    // One that is still to be started counts as who starts it.
    let text = "
        bit x; byte y;
        proctype late() { assert(x == 0) }
        active proctype r() { y == 1; run late(); x == 0 }
        active proctype p() { atomic { x == 0 -> x = 1 }; y = 1; x = 0 }";
    assert_eq!(check(text, false), ["assertion"]);
    // What a process is provided for is looked at by all of its steps.
    let text = "
        bit x; byte y;
        active proctype p() { atomic { x == 0 -> x = 1 }; x = 0; y = 1 }
        active proctype r() provided (x == 1) { assert(y != 0); x == 0 -> x = 1 }";
    assert_eq!(check(text, false), ["assertion", "deadlock"]);
}
