//! The lines that tell threads apart.
//!
//! With every statement blanked, threads of one function are as alike as they can be. The answer is a smallest set of lines
//! without which they still are ([`mod@crate::smallest`]): with any one fewer left out, they are not. Found by asking the graph again, never by what
//! the lines say. Threads of different functions count as different here: how these differ is another question
//! ([`mod@crate::difference`]).

use std::collections::BTreeMap;

use quotient_program::{Expr, Program};
use quotient_source::Span;
use quotient_symmetry::strong::Strong;

use crate::analysis::Symmetry;
use crate::build::build_apart;
use crate::ground::{Exp, Setting};
use crate::join::join;
use crate::smallest::{Room, smallest};
use crate::sorts::Sorts;
use crate::specialise::{Specialised, specialise};

/// How much may be tried, counted in nodes of graphs that are made and looked at (some two microseconds each, with all that belongs to it). A
/// function of the program and of the size of the search alone: what is printed does not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort(pub u64);

impl Effort {
    /// Three milliseconds.
    pub const SMALL: Effort = Effort(1_500);
    /// A second.
    pub const LARGE: Effort = Effort(1_200_000);

    /// Some thirty milliseconds.
    const MEDIUM: Effort = Effort(12_000);

    /// What a search with so many transitions is worth: where symmetry gave nothing, three milliseconds, and a hundredth or two of what the search
    /// took (a transition takes some three thousand instructions); ten times as much where it did.
    pub fn after(transitions: u64, renamed: bool) -> Effort {
        let effort = match renamed {
            true => Effort::MEDIUM.0.max(transitions / 50),
            false => Effort::SMALL.0 + transitions / 100,
        };
        Effort(effort.min(Effort::LARGE.0))
    }

    /// Is it enough to read threads side by side in a graph as large as the one known?
    pub fn suffices_for_differences(self, known: &Symmetry) -> bool {
        2 * known.size.0 as u64 <= self.0
    }

    /// Is it enough to look for one statement of a program in a graph as large as the one known?
    pub fn suffices(self, program: &Program, known: &Symmetry) -> bool {
        let mut functions = known.threads.clone();
        functions.sort_unstable();
        functions.dedup();
        let locations = functions.iter().flat_map(|f| &program.function(*f).locations);
        let statements: usize = locations.map(|l| l.transformations.len()).sum();
        // One line that tells all is found by halving; where it takes more, the search for it may end without an answer.
        let questions = 4 + u64::from(statements.max(1).ilog2());
        questions * known.size.0.max(1) as u64 <= self.0
    }
}

/// What tells threads apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// Statements and properties.
    pub lines: Vec<Span>,
    /// There are others, which were not looked for.
    pub more: bool,
}

/// A smallest set of statements and properties without which as many threads are alike as without any; empty if none tells threads apart.
/// Only some of it, if the effort does not suffice for more, and none if not even for that. `known` is what was found with all of them.
pub fn reasons(setting: &Setting<'_>, known: &Symmetry, effort: Effort) -> Option<Reasons> {
    if !effort.suffices(setting.program, known) {
        return None;
    }
    let Ok(of) = specialise(setting, &[]) else { return Some(Reasons::default()) };
    let mut lines: Vec<Span> = Vec::new();
    let steps = of.threads.iter().flat_map(|t| &t.locs).flatten().flat_map(|l| &l.steps);
    lines.extend(steps.flat_map(|s| s.spans.iter().copied()));
    lines.extend(setting.asked.properties.iter().filter_map(span_of));
    lines.sort_unstable_by_key(|span| (span.file.0, span.start, span.end));
    lines.dedup();
    let mut tries = Tries { setting, left: effort.0 };
    let best = tries.alike(&lines, f64::INFINITY);
    // To put back one line after the other takes as many questions, which cost about as much as this one. Where there is not room for that
    // even now, nothing is kept for it.
    let reserve = (effort.0 - tries.left) * (lines.len() as u64 + 1);
    let reserve = if reserve > tries.left { 0 } else { reserve };
    let room = |left: u64| match left {
        0 => Room::None,
        _ if left < reserve => Room::Little,
        _ => Room::Enough,
    };
    if room(tries.left) == Room::None {
        return None;
    }
    if best <= 1.0 {
        return Some(Reasons::default());
    }
    let chosen = |set: &[usize]| set.iter().map(|x| lines[*x]).collect::<Vec<Span>>();
    let set = smallest(lines.len(), |set| {
        let suffices = tries.alike(&chosen(set), best) >= best;
        (suffices, room(tries.left))
    });
    set.map(|set| Reasons { lines: chosen(&set.members), more: set.more })
}

/// Where a property is written.
fn span_of(property: &Expr) -> Option<Span> {
    if let Expr::Spanned(_, span) = property { Some(*span) } else { None }
}

/// Programs with statements left out.
struct Tries<'a> {
    setting: &'a Setting<'a>,
    /// Nodes that may still be made and looked at.
    left: u64,
}

impl Tries<'_> {
    /// In how many ways threads of the same functions can take each other's places without these lines; if there are `enough`, no more are
    /// looked for. The lines are left out before anything is known of a thread: a condition that is decided by the thread's number would not be there
    /// to be left out.
    fn alike(&mut self, blank: &[Span], enough: f64) -> f64 {
        let setting = self.setting;
        let Ok(mut of) = specialise(setting, blank) else { return 0.0 };
        join(setting, &mut of);
        let is_blank = |property: &Expr| span_of(property).is_some_and(|span| blank.contains(&span));
        for (e, _) in of.properties.iter_mut().zip(&setting.asked.properties).filter(|(_, p)| is_blank(p)) {
            *e = Exp::Num(1);
        }
        let mut sorts = Sorts::new(setting, &of);
        let plain = self.ways(&of, &mut sorts, enough);
        if plain >= enough {
            return plain;
        }
        sorts.split(&of).map_or(plain, |mut split| plain.max(self.ways(&of, &mut split, enough)))
    }

    /// With these classes; or how many there are at most, where these are not `enough`.
    fn ways(&mut self, of: &Specialised, sorts: &mut Sorts<'_>, enough: f64) -> f64 {
        sorts.pad();
        let Some(built) = build_apart(self.setting, of, sorts) else { return 0.0 };
        // Threads are the first parts.
        let threads = self.setting.threads.len();
        let place: Vec<Option<u32>> =
            (0..built.graph.len()).map(|node| (node < threads).then_some(node as u32)).collect();
        self.left = self.left.saturating_sub(built.graph.len() as u64);
        let most = most_ways(&Strong::colours(&built.graph)[..threads]);
        if enough.is_finite() && most < enough {
            return most;
        }
        let strong = Strong::automorphisms(&built.graph);
        // To make a node takes some ten times as long as to look at one.
        self.left = self.left.saturating_sub(strong.looked_at() / 10);
        strong.on(&place, threads).order()
    }
}

/// In how many ways nodes can take each other's places at most, if only those of one colour do.
fn most_ways(colours: &[u32]) -> f64 {
    let mut met: BTreeMap<u32, f64> = BTreeMap::new();
    let mut ways = 1.0;
    for colour in colours {
        let many = met.entry(*colour).or_default();
        *many += 1.0;
        ways *= *many;
    }
    ways
}
