//! Random temporal formulas, and what the engine says about them.

use quotient_engine::PropertyKeyword;
use quotient_engine::{
    Check, Model, PartialOrder, Question, SearchKind, StoreKind, Symmetry, Verdict, Workers,
};
use quotient_promela::ast;
use quotient_source::SourceMap;
use quotient_testing::Random;

/// A formula of linear time with at most `temporal` temporal operators; with `X` where `next`.
pub fn linear(
    random: &mut Random,
    atoms: &[String],
    temporal: &mut usize,
    depth: usize,
    next: bool,
) -> String {
    let atom = |random: &mut Random| random.pick(atoms).cloned().unwrap_or_else(|| "true".into());
    if depth == 0 || random.chance(15) {
        return atom(random);
    }
    let part = |random: &mut Random, temporal: &mut usize| linear(random, atoms, temporal, depth - 1, next);
    if *temporal > 0 && random.chance(65) {
        *temporal -= 1;
        return match random.below(if next { 7 } else { 6 }) {
            0 | 1 => format!("[] ({})", part(random, temporal)),
            2 | 3 => format!("<> ({})", part(random, temporal)),
            4 => format!("(({}) U ({}))", part(random, temporal), part(random, temporal)),
            5 => {
                let op = if random.chance(50) { "V" } else { "W" };
                format!("(({}) {op} ({}))", part(random, temporal), part(random, temporal))
            }
            _ => format!("X ({})", part(random, temporal)),
        };
    }
    match random.below(4) {
        0 => format!("!({})", part(random, temporal)),
        1 => format!("(({}) && ({}))", part(random, temporal), part(random, temporal)),
        2 => format!("(({}) || ({}))", part(random, temporal), part(random, temporal)),
        _ => format!("(({}) -> ({}))", part(random, temporal), part(random, temporal)),
    }
}

/// A state formula of CTL*; with `X` where `next`.
pub fn branching(random: &mut Random, atoms: &[String], depth: usize, next: bool) -> String {
    if depth == 0 {
        return random.pick(atoms).cloned().unwrap_or_else(|| "true".into());
    }
    let part = |random: &mut Random| branching(random, atoms, depth - 1, next);
    match random.below(10) {
        0 => format!("!({})", part(random)),
        1 => format!("(({}) && ({}))", part(random), part(random)),
        2 => format!("(({}) || ({}))", part(random), part(random)),
        3 => {
            // A path formula over state formulas.
            let inner: Vec<String> = (0..2).map(|_| part(random)).collect();
            let quantifier = if random.chance(50) { "A" } else { "E" };
            format!("{quantifier} ({})", linear(random, &inner, &mut 3, 3, next))
        }
        n => {
            let quantifier = if n % 2 == 0 { "A" } else { "E" };
            match if next { random.below(5) } else { 1 + random.below(4) } {
                0 => format!("{quantifier}X ({})", part(random)),
                1 => format!("{quantifier}F ({})", part(random)),
                2 => format!("{quantifier}[({}) U ({})]", part(random), part(random)),
                3 => format!("{quantifier} (({}) W ({}))", part(random), part(random)),
                _ => format!("{quantifier}G ({})", part(random)),
            }
        }
    }
}

/// A formula as a syntax tree, for the tableau.
pub fn parse(keyword: PropertyKeyword, text: &str) -> ast::Formula {
    let mut map = SourceMap::new();
    let macros = quotient_promela::Macros::default();
    let property =
        quotient_promela::parse_property(&mut map, keyword, text, &macros).expect("a correct formula");
    match property.kind {
        ast::PropertyKind::Ltl(formula) | ast::PropertyKind::Ctl(formula) => formula,
        ast::PropertyKind::Invariant(_) => unreachable!("no invariants here"),
    }
}

/// How to check.
pub type Way = (Symmetry, PartialOrder, SearchKind);

/// Every combination of representative, ample sets and search.
pub fn ways() -> Vec<Way> {
    let representatives =
        [Symmetry::Off, Symmetry::ProgramCounter, Symmetry::Bounded(Some(2)), Symmetry::Exact];
    let mut out = Vec::new();
    for symmetry in representatives {
        for order in [PartialOrder::Off, PartialOrder::On] {
            for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                out.push((symmetry, order, search));
            }
        }
    }
    out
}

/// What was found out in one of the ways.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// The formula holds.
    pub holds: bool,
    /// States of its search, where it holds: others end when they find something.
    pub states: u64,
    /// Something could be renamed.
    pub symmetry: bool,
    /// Ample sets were used.
    pub ample: bool,
}

/// A formula of linear time that says the same of each process with one of these ids, under temporal operators of its own: `a` and `b` are cells of
/// the process.
pub fn of_each(random: &mut Random, ids: std::ops::Range<usize>) -> String {
    let shape = *random.one(&[
        "[]<> A",
        "<>[] A",
        "<> A",
        "[] (A -> <> B)",
        "(A U B)",
        "[] (!A || (B V A))",
        "([]<> A -> []<> B)",
    ]);
    let (a, b) =
        (*random.one(&["a[#] == 1", "owner == #", "a[#] > b[#]"]), *random.one(&["b[#] == 1", "a[#] == 0"]));
    let of = |id: usize| {
        let atom = |e: &str| format!("({})", e.replace('#', &id.to_string()));
        format!("({})", shape.replace('A', &atom(a)).replace('B', &atom(b)))
    };
    let all = ids.map(of).collect::<Vec<_>>().join(*random.one(&[" && ", " || "]));
    format!("{}({all})", random.one(&["", "!"]))
}

/// A model with a formula.
pub fn model(text: &str, keyword: PropertyKeyword, formula: &str) -> Model {
    let model = Model::from_text_with("random.pml", text, &[(keyword, formula.to_owned())]);
    model.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What the engine says about the first claim; `None`: without any reduction.
pub fn engine(model: &Model, way: Option<Way>) -> Result<Said, String> {
    engine_with(model, way, StoreKind::default())
}

/// The same with a store.
pub fn engine_with(model: &Model, way: Option<Way>, store: StoreKind) -> Result<Said, String> {
    let mut check = Check { raw: way.is_none(), all: true, store, ..Check::default() };
    if let Some((symmetry, partial_order, search)) = way {
        // Several workers where they can, from the first state on.
        let several = search == SearchKind::BreadthFirst
            && store == StoreKind::Tree
            && matches!(symmetry, Symmetry::Off | Symmetry::Exact);
        let workers = several.then_some(Workers { count: 2, from: 0, narrow: 0 });
        check = Check { symmetry: Some(symmetry), partial_order, search, workers, ..check };
    }
    // A counterexample is executed again before it is given: an error here is a wrong one.
    let outcome = model.check(&check).map_err(|e| e.to_string())?;
    let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).ok_or("no answer")?;
    if answer.applied.workers == 1 {
        assert_eq!(answer.applied.store, Some(store));
    }
    let holds = match &answer.verdict {
        Verdict::Holds => true,
        Verdict::Violated => false,
        Verdict::Undecided(why) => return Err(format!("undecided: {why}")),
    };
    Ok(Said {
        holds,
        states: if holds { answer.statistics.states } else { 0 },
        symmetry: answer.applied.symmetry.order != "off",
        ample: answer.applied.partial_order != PartialOrder::Off,
    })
}
