//! The lines that tell threads apart.
//!
//! With every statement blanked, threads of one function are as alike as they can be. The answer is a smallest set of lines
//! without which they still are ([`mod@crate::smallest`]): with any one fewer left out, they are not. Found by asking the graph again, never by what
//! the lines say. Threads of different functions count as different here: how these differ is another question
//! ([`mod@crate::difference`]).

use quotient_program::{Expr, Program};
use quotient_source::Span;
use quotient_symmetry::strong::Strong;

use crate::analysis::Symmetry;
use crate::build::build_apart;
use crate::ground::{Exp, Setting};
use crate::join::join;
use crate::smallest::smallest;
use crate::sorts::Sorts;
use crate::specialise::specialise;

/// How much may be tried: times that the graph is asked, times its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort(pub usize);

impl Effort {
    /// A few milliseconds.
    pub const SMALL: Effort = Effort(6_000);
    /// A second.
    pub const LARGE: Effort = Effort(1_200_000);

    /// How often a graph as large as the one known may be asked.
    fn asks(self, known: &Symmetry) -> usize {
        self.0 / known.size.0.max(1)
    }

    /// Is it enough to try every statement of a program in a graph as large as the one known?
    pub fn suffices(self, program: &Program, known: &Symmetry) -> bool {
        let mut functions = known.threads.clone();
        functions.sort_unstable();
        functions.dedup();
        let locations = functions.iter().flat_map(|f| &program.function(*f).locations);
        let statements: usize = locations.map(|l| l.transformations.len()).sum();
        statements + 2 <= self.asks(known)
    }
}

/// A smallest set of statements and properties without which as many threads are alike as without any; empty if none tells threads apart, or
/// there are too many to try.
///
/// `known` is what was found with all of them: where nothing moves, it need not be asked again.
pub fn reasons(setting: &Setting<'_>, known: &Symmetry, effort: Effort) -> Vec<Span> {
    let Ok(of) = specialise(setting, &[]) else { return Vec::new() };
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
    // Enough to put back one line after the other, at least.
    let Some(most) = effort.asks(known).checked_sub(lines.len() + 2) else { return Vec::new() };
    let best = alike(setting, &lines);
    let now = if known.is_trivial() { 1.0 } else { alike(setting, &[]) };
    if now >= best {
        return Vec::new();
    }
    let chosen = |set: &[usize]| set.iter().map(|x| lines[*x]).collect::<Vec<Span>>();
    let set = smallest(lines.len(), most, |set| alike(setting, &chosen(set)) >= best);
    chosen(&set)
}

/// Where a property is written.
fn span_of(property: &Expr) -> Option<Span> {
    if let Expr::Spanned(_, span) = property { Some(*span) } else { None }
}

/// In how many ways threads of the same functions can take each other's places without these lines. They are left out before anything is known of a
/// thread: a condition that is decided by the thread's number would not be there to be left out.
fn alike(setting: &Setting<'_>, blank: &[Span]) -> f64 {
    let Ok(mut of) = specialise(setting, blank) else { return 0.0 };
    join(setting, &mut of);
    let is_blank = |property: &Expr| span_of(property).is_some_and(|span| blank.contains(&span));
    for (e, _) in of.properties.iter_mut().zip(setting.properties).filter(|(_, p)| is_blank(p)) {
        *e = Exp::Num(1);
    }
    let threads = setting.threads.len();
    let ways = |sorts: &mut Sorts<'_>| {
        sorts.pad();
        let Some(built) = build_apart(setting, &of, sorts) else { return 0.0 };
        // Threads are the first parts.
        let place: Vec<Option<u32>> =
            (0..built.graph.len()).map(|node| (node < threads).then_some(node as u32)).collect();
        Strong::automorphisms(&built.graph).on(&place, threads).order()
    };
    let mut sorts = Sorts::new(setting, &of);
    let plain = ways(&mut sorts);
    sorts.split(&of).map_or(plain, |mut split| plain.max(ways(&mut split)))
}
