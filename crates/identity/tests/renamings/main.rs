//! Symmetries of programs as automorphisms of their graphs: every generator commutes with the steps of every state.
//!
//! `QUOTIENT_SYMMETRY_MODELS` names a file with paths of models, one in each line, that are checked and listed besides.

mod check;

use check::{Checked, check};
use quotient_machine::Machine;
use quotient_program::{Expr, Init};
use quotient_promela::ParseOptions;
use quotient_reference::{generate, planted, print, symmetric};
use quotient_source::SourceMap;
use quotient_testing::setting;

/// Checks a model; none if it is not one that this is about.
fn of_text(name: &str, text: &str, raw: bool, limit: usize) -> Result<Option<Checked>, String> {
    let mut sources = SourceMap::new();
    let parsed = quotient_promela::parse_text(&mut sources, name, text, &ParseOptions::default());
    let lowered = quotient_promela::lower(&parsed.model, &sources);
    if parsed.diagnostics.has_errors() || lowered.diagnostics.has_errors() {
        return Ok(None);
    }
    let mut program = lowered.program;
    if program.features.dynamic {
        return Ok(None);
    }
    // Whether one process alone uses a channel is checked beside partial order reduction only, and that there is not here.
    if let Some(id) = program.exclusive {
        program.globals[id.0 as usize].init = Init::Fill(Expr::Const(0));
    }
    if !raw {
        quotient_residual::reduce(&mut program, false);
    }
    let mut machine = Machine::new(program, &sources).map_err(|e| format!("{e:?}"))?;
    check(&mut machine, !raw, limit).map(Some)
}

/// Orbits of the states of models with the default reductions, by brute force.
#[test]
fn models() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    for (name, states, orbits, order) in [
        ("mutex", 113, 12, 120.0),
        ("peterson", 38, 19, 2.0),
        ("phils", 118, 33, 4.0),
        ("bounded_buffer", 633, 188, 4.0),
        ("readers_writers", 44, 22, 4.0),
        ("peterson_n", 11_376, 11_376, 1.0),
        ("token_mutex", 12, 6, 2.0),
    ] {
        let path = format!("{models}/{name}.pml");
        let text = std::fs::read_to_string(&path).expect("a model");
        let found = of_text(&path, &text, false, 20_000).expect("symmetries").expect("a model");
        assert_eq!((found.states, found.orbits, found.order), (states, Some(orbits), order), "{name}");
        assert!(found.exact, "{name}: the edges do not give the group");
    }
}

/// Every form of writing a process tells it apart only where it does something else.
#[test]
fn reproducers() {
    for (text, states, orbits) in [
        // Scalars of their own, named by literals, in separate proctypes.
        (
            "byte a, b; active proctype P() { do :: a == 0 -> a = 1 :: a == 1 && b == 0 -> a = 0 od }\n\
             active proctype Q() { do :: a == 0 && b == 1 -> b = 0 :: 0 == b -> b = 1 od }",
            15,
            9,
        ),
        // Channels as arguments.
        (
            "chan c1 = [1] of { byte }; chan c2 = [1] of { byte };\n\
             proctype P(chan c; byte id) { do :: c!id :: c?eval(id) od }\n\
             init { atomic { run P(c1, 5); run P(c2, 6) } }",
            5,
            4,
        ),
        // One of them does something else; the values of the other can be exchanged, with its locations.
        (
            "byte a, b; active proctype P() { do :: a == 0 -> a = 1 :: a == 1 -> a = 0 od }\n\
             active proctype Q() { do :: b == 1 -> b = 2 :: b == 0 -> b = 1 od }",
            20,
            10,
        ),
        // A proctype that nobody starts has not run.
        (
            "proctype P0() { skip }\n\
             proctype P1() { chan c = [1] of { byte }; byte x; do :: c!1 :: c?x od }\n\
             init { run P1(); run P1() }",
            7,
            6,
        ),
    ] {
        let found = of_text("reproducer.pml", text, false, 1_000).expect("symmetries").expect("a model");
        assert_eq!((found.states, found.orbits), (states, Some(orbits)), "{text}");
    }
}

/// Loops over all processes that nobody can look into are what they compute: unordered where that is so, and only there.
#[test]
fn scans() {
    let program = |scan: &str| {
        format!(
            "byte busy[3], x[3], n, m; bit ok;\n\
             active [3] proctype P() {{ byte i, k; do\n\
             :: {scan}\n\
             :: busy[_pid] = 1 :: busy[_pid] = 0 od }}"
        )
    };
    let each = |first: &str, body: &str| {
        format!("{{ {first} i = 0; do :: i < 3 -> {body}; i++ :: else -> break od; i = 0 }}")
    };
    let all = 6.0;
    for (scan, order) in [
        // A sum, written in two ways; a count; a disjunction; a conjunction; stores.
        (each("n = 0;", "n = n + busy[i]"), all),
        (each("n = 0;", "if :: busy[i] -> n++ :: else fi"), all),
        (each("n = 4;", "if :: busy[i] == 1 -> n-- :: else -> skip fi"), all),
        (each("ok = 1;", "if :: busy[i] == 1 -> ok = 0 :: else fi"), all),
        (each("ok = 1;", "ok = ok && busy[i] == 0"), all),
        (each("ok = 0;", "ok = ok || busy[i] == 0"), all),
        (each("", "x[i] = busy[i]"), all),
        (each("n = 0; m = 0;", "n = n + busy[i]; m = m + x[i]; x[i] = 0"), all),
        // A local of which only what is left in the end counts, or nothing: then the values of a flag are alike, too.
        (
            each("k = 1;", "if :: busy[i] == 1 -> k = 0 :: else fi").replace(" }", "; x[_pid] = k; k = 0 }"),
            all,
        ),
        (each("k = 1;", "if :: busy[i] == 1 -> k = 0 :: else fi"), all * 8.0),
        ("{ n = 0; for (i : 0 .. 2) { n = n + busy[i] }; i = 0 }".into(), all),
        // The order is seen.
        (each("n = 0;", "n = n * 2 + busy[i]"), 1.0),
        (each("n = 9;", "if :: busy[i] == 1 && n == 9 -> n = i :: else fi"), 1.0),
        (each("n = 0;", "if :: busy[i] == n -> n = 1 - n :: else fi"), 1.0),
        // Two are alike, and the values of a flag that is copied or never read.
        (each("n = 0;", "if :: i == 1 -> n = n + busy[i] :: else fi"), 16.0),
        (each("n = 0;", "if :: busy[i] -> n = n + i :: else fi"), 1.0),
    ] {
        for kind in ["d_step", "atomic"] {
            let text = program(&format!("{kind} {scan}"));
            let found = of_text("scan.pml", &text, false, 3_000).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let found = found.expect("a model");
            assert_eq!(found.order, order, "{text}");
            assert!(found.exact && found.compared > 0 || order == 1.0, "{text}");
            of_text("scan.pml", &text, true, 3_000).unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
    }
    // Others can look into it: nothing is unrolled.
    let text = program("n = 0; i = 0; do :: i < 3 -> n = n + busy[i]; i++ :: else -> break od; i = 0");
    let found = of_text("scan.pml", &text, false, 3_000).expect("symmetries").expect("a model");
    assert_eq!(found.order, 1.0, "{text}");
}

/// Two loops leave what nobody reads in one variable, one of them inside a choice.
#[test]
fn scans_that_share_a_result() {
    let first =
        "k = 1; i = 0; do :: i < 3 -> if :: f[i] == 0 -> k = 0 :: else fi; i++ :: else -> break od; i = 0";
    let second = "k = 0; i = 0; do :: i < 3 -> k = k || g[i] == 1; i++ :: else -> break od; i = 0";
    let text = format!(
        "byte n, f[3], g[3]; chan q = [1] of {{ byte }};\n\
         active [3] proctype P() {{ byte l, k, i; do\n\
         :: atomic {{ n < 2 -> n = n + 1 }}; d_step {{ {first} }}\n\
         :: atomic {{ {second} }}; q?l\n\
         :: atomic {{ f[_pid] = 0; g[_pid] = 1; l = 9 }}; q!l od }}"
    );
    for raw in [false, true] {
        let found = of_text("scans.pml", &text, raw, 3_000).expect("symmetries").expect("a model");
        assert!(found.order >= 6.0 && found.exact && found.compared > 0, "raw {raw}: {}", found.order);
    }
    // Random programs of this kind.
    for seed in [3_004_522, 3_005_674] {
        let planted = planted(seed);
        let found =
            of_text("planted.pml", &planted.text, false, 3_000).expect("symmetries").expect("a model");
        assert_eq!(Some(found.order), planted.order.map(|order| order.max(found.order)), "{}", planted.text);
    }
}

/// A field that holds ids under one tag and numbers under another pins nobody, as long as whoever looks at it says under which.
#[test]
fn unions() {
    let program = |told: &str, heard: &str| {
        format!(
            "mtype = {{ ident, number }}; chan u = [1] of {{ mtype, byte }}; byte n; mtype t;\n\
             active [3] proctype P() {{ byte l; do\n\
             :: u!ident,_pid\n\
             :: {told}\n\
             :: {heard} od }}"
        )
    };
    let hears = "u?ident,l -> if :: l == _pid -> n = 0 :: else fi; l = 9";
    let counts = "atomic { n < 2 -> u!number,n + 1 }";
    for (told, heard, order) in [
        (counts, format!("{hears} :: u?number,n"), 6.0),
        // Only asked for, never sent; dropped without a look; looked at without being taken.
        ("n = 1 - n", format!("{hears} :: atomic {{ u?number,n; n = n + 1 }}"), 6.0),
        (counts, format!("{hears} :: u?_,_"), 6.0),
        (counts, format!("u?[ident,eval(_pid)] -> {hears} :: u?number,n"), 6.0),
        // A receive of both; a tag that is not constant; a message that is put in order.
        (counts, format!("{hears} :: u?t,n; t = 0"), 1.0),
        (
            "atomic { n < 2 -> t = number; u!t,n + 1; t = 0 }",
            format!("{hears} :: t = ident :: u?number,n"),
            1.0,
        ),
        ("atomic { n < 2 -> u!!number,n + 1 }", format!("{hears} :: u?number,n"), 1.0),
    ] {
        let text = program(told, &heard);
        for raw in [false, true] {
            let found = of_text("union.pml", &text, raw, 5_000).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let found = found.expect("a model");
            assert_eq!(found.order, order, "raw {raw}\n{text}");
            assert!(found.exact, "{text}");
            assert!(found.compared > 0 || order == 1.0, "{text}");
        }
    }
}

/// A class with too few values (process 0 puts into `l` what was there before) is padded, so that both processes are alike; what is
/// computed from its values tells them apart where it does.
#[test]
fn padding() {
    let program = |code: &str| {
        format!(
            "byte f[2]; active [2] proctype P() {{ byte l, r; do\n\
             :: l = _pid :: {code} :: f[_pid] = 1 - f[_pid] od }}"
        )
    };
    for (code, order) in [
        ("l == _pid -> f[_pid] = 0", 2.0),
        ("r = l; f[_pid] = r == l", 2.0),
        // A function, whose result is kept or asked for; a set; a relation.
        ("r = (l + 1) % 4; f[_pid] = r == l", 2.0),
        ("(l + 3) % 4 == 3 -> f[_pid] = 0", 1.0),
        ("l < 1 -> f[_pid] = 0", 1.0),
        ("r = l; f[_pid] = r < l", 1.0),
        ("f[_pid] = 1 / (1 + l) == 1", 1.0),
    ] {
        let text = program(code);
        for raw in [false, true] {
            let found = of_text("padding.pml", &text, raw, 3_000).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let found = found.expect("a model");
            assert_eq!(found.order, order, "raw {raw}\n{text}");
            assert!(found.exact && (found.compared > 0 || order == 1.0), "{text}");
        }
    }
}

#[test]
fn listed_models() {
    let Ok(list) = std::env::var("QUOTIENT_SYMMETRY_MODELS") else { return };
    let raw = std::env::var_os("QUOTIENT_RAW").is_some();
    let limit = setting("QUOTIENT_LIMIT", 30_000) as usize;
    let mut wrong = 0;
    for path in std::fs::read_to_string(list).expect("a list of files").lines() {
        let Ok(bytes) = std::fs::read(path) else { continue };
        match of_text(path, &String::from_utf8_lossy(&bytes), raw, limit) {
            Ok(None) => println!("{path}\trefused"),
            Ok(Some(found)) => println!(
                "{path}\tstates {}\torbits {:?}\torder {}\texact {}\tcompared {} unreached {}\tnodes {} points {} {} us\t{:?}",
                found.states,
                found.orbits,
                found.order,
                found.exact,
                found.compared,
                found.unreached,
                found.nodes,
                found.points,
                found.micros,
                found.refused
            ),
            Err(what) => {
                wrong += 1;
                println!("{path}\tWRONG {what}");
            }
        }
    }
    assert_eq!(wrong, 0);
}

/// The processes of a program are images of each other: at least these renamings are found, and they are right.
#[test]
fn planted_symmetries() {
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 60);
    let first = setting("QUOTIENT_SEED", 1);
    let (mut found, mut changed, mut compared) = (0, 0, 0);
    for seed in first..first + programs {
        let planted = planted(seed);
        for raw in [false, true] {
            let fail = |what: String| panic!("seed {seed}, raw {raw}: {what}\n\n{}", planted.text);
            match of_text("planted.pml", &planted.text, raw, 3_000) {
                Ok(Some(checked)) => {
                    compared += checked.compared;
                    if let Some(order) = planted.order {
                        found += 1;
                        if checked.order < order {
                            fail(format!("{} renamings, {order} were planted", checked.order));
                        }
                        if !checked.exact {
                            fail("the edges do not give the group".into());
                        }
                    } else {
                        changed += u64::from(checked.order > 1.0);
                    }
                }
                Ok(None) => fail("refused".into()),
                Err(what) => fail(what),
            }
        }
    }
    println!(
        "{found} planted groups found; {changed} programs with a token changed have renamings; {compared} pairs of states compared"
    );
}

/// Whatever is found in random programs is right.
#[test]
fn random_programs() {
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 150);
    let first = setting("QUOTIENT_SEED", 1);
    let (mut moving, mut compared) = (0, 0);
    for seed in first..first + programs {
        let text = if seed % 2 == 0 { symmetric(seed) } else { print(&generate(seed, 10)) };
        for raw in [false, true] {
            match of_text("random.pml", &text, raw, 1_500) {
                Ok(Some(checked)) => {
                    moving += u64::from(checked.order > 1.0);
                    compared += checked.compared;
                }
                Ok(None) => {}
                Err(what) => panic!("seed {seed}, raw {raw}: {what}\n\n{text}"),
            }
        }
    }
    println!("{moving} programs with renamings; {compared} pairs of states compared");
    assert!(moving * 4 > programs, "only {moving} have renamings");
}
