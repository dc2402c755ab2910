//! The lines that tell threads apart.
//!
//! With every statement blanked, threads are as alike as they can be. Statements are then put back, one after the other, as long as nothing of that is
//! lost. What cannot be put back is a smallest set of lines without which the threads are alike: leaving out any one fewer,
//! they are not. Found by asking the graph again, never by what the lines say.

use quotient_program::Expr;
use quotient_source::Span;
use quotient_symmetry::strong::Strong;

use crate::build::build;
use crate::ground::{Exp, Op, Setting};
use crate::join::join;
use crate::sorts::Sorts;
use crate::specialise::{Specialised, specialise};

/// How much may be tried: statements, times nodes of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort(pub usize);

impl Effort {
    /// A few milliseconds.
    pub const SMALL: Effort = Effort(8_000);
    /// Half a second.
    pub const LARGE: Effort = Effort(600_000);
}

/// A smallest set of statements and properties without which as many threads are alike as without any; empty if none tells threads apart, or
/// there are too many to try.
pub fn reasons(setting: &Setting<'_>, effort: Effort) -> Vec<Span> {
    let Ok(mut of) = specialise(setting) else { return Vec::new() };
    join(setting, &mut of);
    let mut lines: Vec<Span> = Vec::new();
    let steps = of.threads.iter().flat_map(|t| &t.locs).flatten().flat_map(|l| &l.steps);
    for span in
        steps.flat_map(|s| s.spans.iter().copied()).chain(setting.properties.iter().filter_map(span_of))
    {
        if !lines.contains(&span) {
            lines.push(span);
        }
    }
    lines.sort_by_key(|span| (span.file.0, span.start));
    let (now, nodes) = alike(setting, &of, &[]);
    let (best, _) = alike(setting, &of, &lines);
    if now >= best || nodes * lines.len() > effort.0 {
        return Vec::new();
    }
    let mut blank = lines.clone();
    for line in &lines {
        let less: Vec<Span> = blank.iter().copied().filter(|l| l != line).collect();
        if alike(setting, &of, &less).0 >= best {
            blank = less;
        }
    }
    blank
}

/// Where a property is written.
fn span_of(property: &Expr) -> Option<Span> {
    if let Expr::Spanned(_, span) = property { Some(*span) } else { None }
}

/// In how many ways threads can take each other's places without these lines; and the size of the graph.
fn alike(setting: &Setting<'_>, of: &Specialised, blank: &[Span]) -> (f64, usize) {
    let is_blank = |property: &Expr| span_of(property).is_some_and(|span| blank.contains(&span));
    let properties = of.properties.iter().zip(setting.properties);
    let mut copy = Specialised {
        threads: of.threads.clone(),
        constants: of.constants.clone(),
        properties: properties.map(|(e, p)| if is_blank(p) { Exp::Num(1) } else { e.clone() }).collect(),
    };
    for thread in &mut copy.threads {
        for loc in thread.locs.iter_mut().flatten() {
            for step in &mut loc.steps {
                if step.spans.iter().any(|span| blank.contains(span)) {
                    if step.op == Op::Exit || step.target.is_none() {
                        thread.exits = None;
                    } else {
                        step.op = Op::Always;
                    }
                    step.acts.clear();
                }
            }
        }
    }
    let mut sorts = Sorts::new(setting, &copy);
    sorts.pad();
    let Some(built) = build(setting, &copy, &sorts) else { return (0.0, usize::MAX) };
    let threads = setting.threads.len();
    // Threads are the first parts.
    let place: Vec<Option<u32>> =
        (0..built.graph.len()).map(|node| (node < threads).then_some(node as u32)).collect();
    (Strong::automorphisms(&built.graph).on(&place, threads).order(), built.graph.len())
}
