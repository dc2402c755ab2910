//! Checking that sets of states are an invariant: every fact lies in one of them, and every step from one leads into one.
//!
//! By induction on the length of a derivation every reachable state is then in one of the sets. Nothing is searched for: a set of
//! images is looked up as a whole, or value by value. Images are computed as preimages are
//! ([`crate::unreachable`]), with the nodes before and after the step exchanged. Where the sets are meant up to renaming
//! ([`crate::orbits`]), an image is renamed before it is looked up.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::format::{Rule, States, Tree};
use crate::orbits::{Canonical, Path};
use crate::trees::{Refusal, System, expand};
use crate::unreachable::{Context, Index};

/// Sets of states to be looked up.
struct Cells<'a> {
    list: &'a [States],
    index: Index,
    /// Sets of a single state, by the values of all columns.
    points: HashMap<Vec<i128>, usize>,
    orbits: &'a Canonical,
    /// Where images were found, and after which renamings: by the set before the step (none for a fact) and the rule.
    found: RefCell<Arrivals>,
}

/// For a set (none: the beginning) and a rule, the renamings of images and the sets that these are in.
pub type Arrivals = BTreeMap<(Option<usize>, usize), BTreeSet<(Path, usize)>>;

/// The only state of a system, if it has one.
fn point(system: &System) -> Option<Vec<i128>> {
    if system.is_empty() {
        return None;
    }
    let value = |node: usize| match system.sets.get(node) {
        Some(values) => match values[..] {
            [one] => Some(i128::from(one)),
            _ => None,
        },
        None => system.matrix.constant(node),
    };
    (1..system.matrix.nodes()).map(value).collect()
}

/// The first column that has several values, all of them between two bounds, and these.
fn open(system: &System) -> Option<(usize, i128, i128)> {
    let bounds = |node: usize| Some((node, -system.matrix.get(0, node)?, system.matrix.get(node, 0)?));
    (1..system.matrix.nodes()).filter(|n| !system.sets.contains(*n)).filter_map(bounds).find(|b| b.1 < b.2)
}

/// The sets as a condition on the columns.
pub fn tree(context: &Context, cells: &[States]) -> Tree {
    let le = |terms: Vec<(usize, i64)>, bound: i64| Tree::Le(crate::format::Inequality { terms, bound });
    let cell = |states: &States| {
        let mut parts = Vec::new();
        for (finite, values) in context.program.finite.iter().zip(&states.values) {
            let node = finite.column + 1;
            let equal = |&v: &i64| Tree::And(vec![le(vec![(node, 1)], v), le(vec![(node, -1)], -v)]);
            parts.push(Tree::Or(values.iter().map(equal).collect()));
        }
        parts.extend(states.bounds.iter().cloned().map(Tree::Le));
        Tree::And(parts)
    };
    Tree::Or(cells.iter().map(cell).collect())
}

/// Checks that the sets contain every reachable state, up to renaming. The context's invariants hold in the states before a step.
pub fn check(context: &Context, list: &[States], orbits: &Canonical) -> Result<Arrivals, Refusal> {
    let mut points = HashMap::new();
    let mut systems = Vec::new();
    for (at, states) in list.iter().enumerate() {
        let system = context.system(states)?;
        if let Some(values) = point(&system) {
            points.insert(values, at);
        }
        systems.push(system);
    }
    let index = Index::of(context.program, list);
    let cells = Cells { list, index, points, orbits, found: RefCell::default() };
    for (number, rule) in context.program.rules.iter().enumerate() {
        if rule.fact {
            let all = System {
                matrix: context.universe().matrix.extended(rule.nodes - 1 - context.width()),
                ..context.universe()
            };
            for image in images(context, rule, &all)? {
                cells.contain(context, image, (None, number), &Path::new())?;
            }
            continue;
        }
        for (at, system) in systems.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            for image in images(context, rule, &before(context, rule, system))? {
                cells.contain(context, image, (Some(at), number), &Path::new())?;
            }
        }
    }
    Ok(cells.found.into_inner())
}

/// The states of a set as those before a step, over the nodes of a rule.
fn before(context: &Context, rule: &Rule, system: &System) -> System {
    let k = context.width();
    let place = |n: usize| if n == 0 || rule.unchanged[n - 1] { n } else { n + k };
    let mut wide = System { matrix: system.matrix.placed(rule.nodes, &place), sets: Default::default() };
    for finite in &context.program.finite {
        let node = finite.column + 1;
        wide.sets.insert(place(node), system.sets[node].clone());
        if place(node) != node {
            wide.sets.insert(node, finite.values.clone());
        }
    }
    wide
}

/// The states after a step.
fn images(context: &Context, rule: &Rule, wide: &System) -> Result<Vec<System>, Refusal> {
    let after: Vec<usize> = (0..=context.width()).collect();
    let found = expand(&rule.guard, wide, &|n| n, context.effort)?;
    let select = |s: System| {
        let sets = context.program.finite.iter().map(|f| (f.column + 1, s.sets[f.column + 1].clone()));
        System { matrix: s.matrix.select(&after), sets: sets.collect() }
    };
    Ok(found.into_iter().map(select).collect())
}

impl Cells<'_> {
    /// In one set, or value by value: in the finite columns, then, for sets of single states, in columns between two bounds.
    fn contain(
        &self,
        context: &Context,
        image: System,
        step: (Option<usize>, usize),
        renamed: &Path,
    ) -> Result<(), Refusal> {
        if image.is_empty() {
            return Ok(());
        }
        let (image, path) = self.orbits.representative(context, image, renamed)?;
        let note = |at: usize| {
            if !self.orbits.is_empty() {
                self.found.borrow_mut().entry(step).or_default().insert((path.clone(), at));
            }
        };
        if let Some(at) = point(&image).and_then(|values| self.points.get(&values)) {
            note(*at);
            return Ok(());
        }
        context.effort.spend(image.matrix.nodes() * image.matrix.nodes() + self.list.len())?;
        for at in self.index.candidates(&image) {
            context.effort.spend(1 + self.list[at].bounds.len())?;
            if context.inside(&image, &self.list[at])? {
                note(at);
                return Ok(());
            }
        }
        if let Some((node, values)) = image.sets.iter().find(|(_, v)| v.len() > 1) {
            for &value in values {
                let mut part = image.clone();
                part.sets.insert(node, vec![value]);
                self.contain(context, part, step, &path)?;
            }
            return Ok(());
        }
        let Some((node, low, high)) = open(&image).filter(|_| !self.points.is_empty()) else {
            return Err(format!("a step by rule {} leads out of the invariant", step.1));
        };
        for value in low..=high {
            let mut part = image.clone();
            part.matrix.add([(node, 0, value), (0, node, -value)]);
            self.contain(context, part, step, &path)?;
        }
        Ok(())
    }
}
