//! Claims written by hand: where reductions apply to them, the answer is the one of the unreduced search.
//!
//! Random automata over two propositions watch random small programs. Nearly all of the automata can count steps; those that are
//! found to be closed under stuttering must get the same verdict with local merging and ample sets as without, and the others must switch both off. `QUOTIENT_NEVER_CLAIMS`
//! says how many pairs are tried.

use quotient_engine::{Check, Model, PartialOrder, Question, Symmetry, Verdict};
use quotient_residual::stutter;
use quotient_testing::{Random, setting};

const CONDITIONS: [&str; 9] = ["p", "!p", "q", "!q", "p && q", "p || !q", "!p && q", "true", "!p && !q"];

/// A claim that goes on by one condition and can wait everywhere: it tells apart how often a letter is repeated, and nothing else
/// does. Not one of them is closed under stuttering unless it has a short way for every long one.
fn chain(random: &mut Random) -> String {
    let condition = *random.one(&["p", "q", "!p", "p || q", "p && q"]);
    let states = 2 + random.number(3);
    let name = |state: u64, accepts: u64| match accepts >> state & 1 {
        _ if state == states => "over".to_owned(),
        1 => format!("accept_S{state}"),
        _ => format!("S{state}"),
    };
    let accepts = random.number(1 << states);
    let mut text = String::from("never {\n");
    for state in 0..states {
        let waits = if state == 0 { "true" } else { condition };
        let (here, next) = (name(state, accepts), name(state + 1, accepts));
        text += &format!("\t{here}: do\n\t:: {waits} -> goto {here}\n\t:: {condition} -> goto {next}\n");
        if state > 0 && random.number(2) == 0 {
            text += &format!("\t:: !({condition}) -> goto {}\n", name(0, accepts));
        }
        for further in state + 2..=states {
            if random.number(3) == 0 {
                text += &format!("\t:: {condition} -> goto {}\n", name(further, accepts));
            }
        }
        text += "\tod;\n";
    }
    text + "\tover: skip\n}\n"
}

/// A claim that goes round with a condition and its negation, on a short way and on a long one, for which the condition must be repeated.
/// Where only the long way has an accept location, it tells how often.
fn laps(random: &mut Random) -> String {
    let condition = *random.one(&["p", "q", "p || q", "p && q"]);
    let accepts = 1 + random.number(7);
    let name = |state: u64| {
        let name = ["T", "A", "U"][state as usize];
        if accepts >> state & 1 == 1 { format!("accept_{name}") } else { name.to_owned() }
    };
    let [t, a, u] = [name(0), name(1), name(2)];
    let short = if random.number(4) > 0 { format!("\t:: {condition} -> goto {u}\n") } else { String::new() };
    let wait = if random.number(4) == 0 { format!("\t:: {condition} -> goto {a}\n") } else { String::new() };
    format!(
        "never {{\n\t{t}: do\n\t:: {condition} -> goto {t}\n\t:: !({condition}) -> goto {t}\n\t:: {condition} -> goto {a}\n{short}\tod;\n\
         \t{a}: do\n{wait}\t:: {condition} -> goto {u}\n\tod;\n\
         \t{u}: do\n\t:: {condition} -> goto {u}\n\t:: !({condition}) -> goto {t}\n\tod\n}}\n"
    )
}

/// A claim of up to three locations and an end.
fn claim(random: &mut Random) -> String {
    match random.number(6) {
        0 | 1 => return chain(random),
        2 => return laps(random),
        _ => {}
    }
    let states = 1 + random.number(3);
    let mut text = String::from("never {\n");
    for state in 0..states {
        let accept = random.number(2) == 0;
        text += &format!("\t{}{state}: do\n", if accept { "accept_S" } else { "S" });
        let mut targets = Vec::new();
        if random.number(4) > 0 {
            targets.push(format!("S{state}"));
        }
        for _ in 0..1 + random.number(2) {
            targets.push(match random.number(states + 1) {
                n if n == states => "over".into(),
                n => format!("S{n}"),
            });
        }
        for target in targets {
            // Waiting is often possible: most other claims count steps.
            let stays = target == format!("S{state}") && random.number(2) == 0;
            let condition = if stays { "true" } else { *random.one(&CONDITIONS) };
            text += &format!("\t:: {condition} -> goto {target}\n");
        }
        text += "\tod;\n";
    }
    text += "\tover: skip\n}\n";
    // Jumps go to the labels as they are written.
    for state in 0..states {
        if text.contains(&format!("accept_S{state}:")) {
            text = text.replace(&format!("goto S{state}"), &format!("goto accept_S{state}"));
        }
    }
    text
}

/// Up to three processes with a variable of their own each, which share two bits and a byte. One alone repeats a letter only as often as its own
/// steps do: beside others nearly every state can be repeated by somebody else's step.
fn program(random: &mut Random) -> String {
    let mut text = String::from("bit p, q;\nbyte x;\n");
    for process in 0..1 + random.number(3) {
        text += &format!("active proctype P{process}() {{\n\tbyte a, i;\n");
        let looped = random.number(2) == 0;
        if looped {
            text += "\tdo\n\t:: ";
        }
        let statements: Vec<String> = (0..1 + random.number(4))
            .map(|_| match random.number(10) {
                0 => "p = 1".into(),
                1 => "p = 0".into(),
                2 => "q = !q".into(),
                3 => "x = (x + 1) % 3".into(),
                4 => "if :: x == 1 -> q = 1 :: else fi".into(),
                5 => "a = (a + 1) % 2".into(),
                6 => "atomic { a = 1; p = a }".into(),
                // p holds in one state or in several.
                7 => "p = 1; a = (a + 1) % 2; a = 1 - a; p = 0".into(),
                8 => "if :: a == 0 -> a = 1 :: a == 1 -> i = 0; a = 0 fi".into(),
                _ => "x == 0 || p".into(),
            })
            .collect();
        text += &statements.join("; ");
        text += if looped { "\n\tod\n}\n" } else { "\n}\n" };
    }
    text
}

fn verdict(model: &Model, raw: bool, partial_order: PartialOrder, symmetry: Symmetry) -> Verdict {
    let check = Check { raw, partial_order, symmetry: Some(symmetry), deadlocks: false, ..Check::default() };
    let outcome = model.check(&check).expect("an answer whose counterexample replays");
    let answer = outcome.answers.into_iter().find(|a| a.question == Question::Claim(0));
    answer.expect("the claim was asked").verdict
}

#[test]
fn reductions_keep_the_answers_of_claims_that_count_no_steps() {
    let wanted = setting("QUOTIENT_NEVER_CLAIMS", 300);
    let seed = setting("QUOTIENT_SEED", 1);
    let mut random = Random::new(seed);
    let (mut tried, mut violated, mut merged) = (0, 0, 0);
    while tried < wanted {
        let watch = claim(&mut random);
        let text = program(&mut random) + &watch;
        let model = Model::from_text("claim.pml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (machine, reduced) =
            model.question_machine(Question::Claim(0), quotient_engine::Compile::REDUCED).expect("small");
        let claim = machine.program().claim.as_ref().expect("the claim");
        if !stutter::is_invariant(machine.program(), &claim.function) {
            assert_eq!(reduced.merged, 0, "merged although the claim may count steps\n{text}");
            continue;
        }
        tried += 1;
        merged += u64::from(reduced.merged > 0);
        let unreduced = verdict(&model, true, PartialOrder::Off, Symmetry::Off);
        violated += u64::from(unreduced == Verdict::Violated);
        for partial_order in [PartialOrder::On, PartialOrder::Off] {
            for symmetry in [Symmetry::Exact, Symmetry::Off] {
                let reduced = verdict(&model, false, partial_order, symmetry);
                assert_eq!(reduced, unreduced, "{partial_order:?} {symmetry:?} (seed {seed})\n{text}");
            }
        }
    }
    let few = wanted / 20;
    assert!(violated > few && tried - violated > few, "{violated} of {tried} claims violated");
    assert!(merged > few, "{merged} of {tried} programs had local steps to merge");
}

/// What is and what is not taken for closed under stuttering.
#[test]
fn claims_that_count_steps_are_told_apart() {
    let cases = [
        ("T: do :: p -> goto accept :: true od; accept: do :: p od", true),
        ("do :: p -> break :: else od", true),
        ("T: do :: !p -> goto accept :: else od; accept: do :: !q od", false),
        ("accept: do :: !p od", true),
        // Two different steps.
        ("p; q", false),
        ("skip; accept: do :: !p od", false),
        // p in every second state.
        ("accept: do :: p -> true od", false),
        // Leaves as soon as p does not hold twice in a row.
        ("T: do :: p :: !p -> goto U od; U: do :: p -> goto T :: !p -> break od", false),
        // p in two states in a row; or in two that are not the same.
        ("T: do :: true :: p -> goto U od; U: do :: p :: p -> break od", false),
        ("T: do :: true :: p -> goto U od; U: do :: true :: p -> break od", false),
        // The short way leaves an accept location out.
        ("T: do :: p :: p -> goto accept od; accept: do :: p :: p -> goto T od", false),
        (
            "T: do :: p -> goto accept :: p od; accept: do :: p -> goto U od; U: do :: p -> goto T :: p -> goto U od",
            false,
        ),
        // It has a variable, a fault, or asks for more than values.
        ("byte n; do :: n < 3 -> n++ :: else -> break od", false),
        ("do :: a[x] == 0 :: else -> break od", false),
        ("do :: a[2] == 0 :: else -> break od", true),
        ("do :: a[3] == 0 :: else -> break od", false),
        ("do :: a[-1] == 0 :: else -> break od", false),
        ("do :: timeout -> break :: else od", false),
        ("do :: np_ -> break :: else od", false),
        ("do :: assert(p) od", false),
        ("do :: _last == 1 -> break :: else od", false),
    ];
    for (body, invariant) in cases {
        let text = format!(
            "bit p, q; byte a[3], x;\nactive proctype P() {{ p = 1; x = 1; a[x] = 1; q = 1 }}\nnever {{ {body} }}"
        );
        let model = Model::from_text("claim.pml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (machine, _) =
            model.question_machine(Question::Claim(0), quotient_engine::Compile::REDUCED).expect("small");
        let claim = machine.program().claim.as_ref().expect("the claim");
        assert_eq!(stutter::is_invariant(machine.program(), &claim.function), invariant, "{body}");
        assert_eq!(claim.stutter_invariant, invariant, "{body}");
    }
}

/// A renaming can exchange the locations of a loop, so that nobody comes to where it goes back: it postpones the others all the same.
#[test]
fn locations_that_are_exchanged_postpone_nobody() {
    for own in ["x == 0; x == 0", "if :: x == 1 -> q = 1 :: else fi; if :: x == 1 -> q = 1 :: else fi"] {
        let text = format!(
            "bit q;\nbyte x;\nactive proctype P() {{ do :: {own} od }}\nactive proctype Q() {{ do :: q = !q od }}\nltl f {{ <> [] !q }}\n"
        );
        let model = Model::from_text("loop.pml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for partial_order in [PartialOrder::On, PartialOrder::Off] {
            for symmetry in [Symmetry::Exact, Symmetry::Off] {
                let found = verdict(&model, false, partial_order, symmetry);
                assert_eq!(found, Verdict::Violated, "{partial_order:?} {symmetry:?}\n{text}");
            }
        }
    }
}
