//! Systems of constraints, enumeration of disjuncts, implication.

use std::ops::Index;
use std::rc::Rc;

use crate::effort::Effort;
use crate::format::{Inequality, Tree};
use crate::matrix::{Matrix, difference};
use crate::validate::LARGEST_BOUND;

/// Why a certificate is not accepted.
pub type Refusal = String;

/// Values of some nodes. Copies share their lists: most steps change few of them.
#[derive(Clone, Debug, Default)]
pub struct Sets(Vec<(usize, Rc<Vec<i64>>)>);

impl Sets {
    /// The values of a node, if it has a set.
    pub fn get(&self, node: usize) -> Option<&Rc<Vec<i64>>> {
        self.0.iter().find(|(n, _)| *n == node).map(|(_, values)| values)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, node: usize) -> Option<&mut Vec<i64>> {
        self.0.iter_mut().find(|(n, _)| *n == node).map(|(_, values)| Rc::make_mut(values))
    }

    /// Whether a node has a set.
    pub fn contains(&self, node: usize) -> bool {
        self.get(node).is_some()
    }

    /// Gives a node a set.
    pub fn insert(&mut self, node: usize, values: impl Into<Rc<Vec<i64>>>) {
        match self.0.iter_mut().find(|(n, _)| *n == node) {
            Some((_, old)) => *old = values.into(),
            None => self.0.push((node, values.into())),
        }
    }

    /// Nodes with their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Vec<i64>)> {
        self.0.iter().map(|(n, values)| (*n, &**values))
    }
}

impl Index<usize> for Sets {
    type Output = Rc<Vec<i64>>;

    fn index(&self, node: usize) -> &Rc<Vec<i64>> {
        self.get(node).expect("the node has a set")
    }
}

impl FromIterator<(usize, Rc<Vec<i64>>)> for Sets {
    fn from_iter<I: IntoIterator<Item = (usize, Rc<Vec<i64>>)>>(list: I) -> Sets {
        Sets(list.into_iter().collect())
    }
}

/// Difference constraints, and sets of values for some of the nodes (which then occur in no
/// difference with another node).
#[derive(Clone, Debug)]
pub struct System {
    /// The differences.
    pub matrix: Matrix,
    /// Values of nodes that have a set.
    pub sets: Sets,
}

impl System {
    /// No constraints.
    pub fn new(nodes: usize) -> System {
        System { matrix: Matrix::new(nodes), sets: Sets::default() }
    }

    /// Whether it was found to have no solution.
    pub fn is_empty(&self) -> bool {
        self.matrix.is_empty() || self.sets.iter().any(|(_, values)| values.is_empty())
    }
}

/// Truth of an inequality without variables.
fn constant(l: &Inequality) -> Option<bool> {
    l.terms.is_empty().then_some(l.bound >= 0)
}

/// Truth of a tree when every node it mentions has the value `value(node)`.
pub fn holds(tree: &Tree, value: &dyn Fn(usize) -> i64) -> bool {
    match tree {
        Tree::Le(l) => {
            let sum: i128 = l.terms.iter().map(|&(n, c)| i128::from(c) * i128::from(value(n))).sum();
            sum <= i128::from(l.bound)
        }
        Tree::And(list) => list.iter().all(|t| holds(t, value)),
        Tree::Or(list) => list.iter().any(|t| holds(t, value)),
    }
}

/// The nodes a tree mentions, ascending.
pub fn nodes(tree: &Tree) -> Vec<usize> {
    fn run(tree: &Tree, out: &mut Vec<usize>) {
        match tree {
            Tree::Le(l) => out.extend(l.terms.iter().map(|t| t.0)),
            Tree::And(list) | Tree::Or(list) => list.iter().for_each(|t| run(t, out)),
        }
    }
    let mut out = Vec::new();
    run(tree, &mut out);
    out.sort_unstable();
    out.dedup();
    out
}

/// Number of terms, at least one.
fn terms(tree: &Tree) -> usize {
    match tree {
        Tree::Le(l) => 1 + l.terms.len(),
        Tree::And(list) | Tree::Or(list) => 1 + list.iter().map(terms).sum::<usize>(),
    }
}

/// The only node a tree mentions.
fn only_node(tree: &Tree) -> Option<usize> {
    fn run(tree: &Tree, seen: &mut Option<usize>) -> bool {
        match tree {
            Tree::Le(l) => l.terms.iter().all(|t| *seen.get_or_insert(t.0) == t.0),
            Tree::And(list) | Tree::Or(list) => list.iter().all(|t| run(t, seen)),
        }
    }
    let mut seen = None;
    if run(tree, &mut seen) { seen } else { None }
}

/// If the tree speaks of one node only, and that node has a set: the node, renamed.
fn about_set(tree: &Tree, system: &System, place: &dyn Fn(usize) -> usize) -> Option<usize> {
    only_node(tree).map(place).filter(|n| system.sets.contains(*n))
}

/// Whether some conjunct about a node with a set excludes all its values, so that the tree cannot be satisfied. Most rules
/// cannot have led to most sets, and this sees it without copying anything.
pub fn excluded(tree: &Tree, base: &System, place: &dyn Fn(usize) -> usize) -> bool {
    match tree {
        Tree::And(list) => list.iter().any(|t| excluded(t, base, place)),
        leaf => {
            let Some(node) = only_node(leaf) else { return false };
            base.sets.get(place(node)).is_some_and(|values| !values.iter().any(|&v| holds(leaf, &|_| v)))
        }
    }
}

/// Whether some conjunct of a tree contradicts the matrix, as far as nodes up to `limit` say (which are the same in both).
/// Like [`excluded`], for differences.
pub fn contradicts(tree: &Tree, matrix: &Matrix, limit: usize) -> bool {
    match tree {
        Tree::And(list) => list.iter().any(|t| contradicts(t, matrix, limit)),
        Tree::Or(list) => list.iter().all(|t| contradicts(t, matrix, limit)),
        Tree::Le(l) => match difference(l) {
            Some((i, j, c)) if i <= limit && j <= limit => matrix.get(j, i).is_some_and(|back| back + c < 0),
            _ => false,
        },
    }
}

/// An inequality as a difference between renamed nodes without sets.
fn placed(
    l: &Inequality,
    system: &System,
    place: &dyn Fn(usize) -> usize,
) -> Result<(usize, usize, i128), Refusal> {
    let (i, j, c) = difference(l)
        .ok_or("an inequality is not a difference constraint; this checker decides no others")?;
    let rename = |n: usize| if n == 0 { 0 } else { place(n) };
    let (i, j) = (rename(i), rename(j));
    if system.sets.contains(i) || system.sets.contains(j) {
        return Err("a finite column is compared with another one".into());
    }
    Ok((i, j, c))
}

/// Operations for each entry of a matrix that is kept: a limit on them is a limit on memory.
pub const KEPT: usize = 16;

/// Values of a node that are tried one by one where an inequality with several variables is left.
const FEW_VALUES: i128 = 64;

/// What is left of an inequality once nodes with a single value are replaced by it.
enum Left {
    Decided(bool),
    /// A difference between nodes without sets.
    Difference((usize, usize, i128)),
    /// Values of a node with a set: coefficient and bound.
    Set(usize, i128, i128),
    /// Something else.
    Open,
}

/// The value of a node that has only one.
fn fixed(system: &System, node: usize) -> Option<i128> {
    match system.sets.get(node) {
        Some(values) => match values[..] {
            [one] => Some(one.into()),
            _ => None,
        },
        None => system.matrix.constant(node),
    }
}

/// Numbers that would leave the range which `validate.rs` promises are left alone: what is open is refused.
fn reduced(l: &Inequality, system: &System, place: &dyn Fn(usize) -> usize) -> Left {
    let (mut bound, mut rest) = (i128::from(l.bound), Vec::new());
    for &(n, c) in &l.terms {
        let (node, c) = (place(n), i128::from(c));
        match fixed(system, node) {
            Some(value) => match c.checked_mul(value).and_then(|product| bound.checked_sub(product)) {
                Some(less) => bound = less,
                None => return Left::Open,
            },
            None => rest.push((node, c)),
        }
    }
    if rest.is_empty() {
        return Left::Decided(bound >= 0);
    }
    if bound.unsigned_abs() > u128::from(LARGEST_BOUND.unsigned_abs()) {
        return Left::Open;
    }
    match rest[..] {
        [(n, c)] if system.sets.contains(n) => Left::Set(n, c, bound),
        [(n, c)] if c > 0 => Left::Difference((n, 0, bound.div_euclid(c))),
        // -c * x <= bound: x >= -(bound / c), rounded to the integer inside.
        [(n, c)] => Left::Difference((0, n, bound.div_euclid(-c))),
        [(i, 1), (j, -1)] | [(j, -1), (i, 1)] if !system.sets.contains(i) && !system.sets.contains(j) => {
            Left::Difference((i, j, bound))
        }
        _ => Left::Open,
    }
}

/// A node of an inequality with few values, and these.
fn few_values(tree: &Tree, system: &System, place: &dyn Fn(usize) -> usize) -> Option<(usize, Vec<i128>)> {
    let values = |node: usize| match system.sets.get(node) {
        Some(values) => Some((node, values.iter().map(|v| i128::from(*v)).collect::<Vec<_>>())),
        None => {
            let (low, high) = (-system.matrix.get(0, node)?, system.matrix.get(node, 0)?);
            (high - low < FEW_VALUES).then(|| (node, (low..=high).collect()))
        }
    };
    let open = nodes(tree).into_iter().map(place).filter(|n| fixed(system, *n).is_none());
    open.filter_map(values).filter(|(_, v)| v.len() <= FEW_VALUES as usize).min_by_key(|(_, v)| v.len())
}

/// Every satisfiable way to satisfy `tree` within `base`, nodes renamed by `place`.
///
/// Differences and conditions on finite columns are decided. Any other inequality waits until all but a difference of it has
/// a single value; where it never does, a variable of it with few values is given each of them, and otherwise the
/// certificate is refused.
pub fn expand(
    tree: &Tree,
    base: &System,
    place: &dyn Fn(usize) -> usize,
    effort: &Effort,
) -> Result<Vec<System>, Refusal> {
    let mut out = Vec::new();
    if !base.is_empty() && !excluded(tree, base, place) {
        expand_all(vec![tree], base, place, effort, &mut out)?;
    }
    Ok(out)
}

fn expand_all(
    agenda: Vec<&Tree>,
    base: &System,
    place: &dyn Fn(usize) -> usize,
    effort: &Effort,
    out: &mut Vec<System>,
) -> Result<(), Refusal> {
    let cells = base.matrix.nodes() * base.matrix.nodes();
    effort.spend(cells)?;
    // Conjuncts first, in one batch, then one disjunction at a time.
    let (mut batch, mut choices, mut general, mut stack) = (Vec::new(), Vec::new(), Vec::new(), agenda);
    let mut system = base.clone();
    while let Some(tree) = stack.pop() {
        if let Some(node) = about_set(tree, &system, place) {
            let set = system.sets.get_mut(node).expect("about_set found it");
            effort.spend((1 + set.len()) * terms(tree))?;
            set.retain(|&v| holds(tree, &|_| v));
            continue;
        }
        match tree {
            Tree::Le(l) => match constant(l) {
                Some(true) => {}
                Some(false) => return Ok(()),
                None => match placed(l, &system, place) {
                    Ok(difference) => batch.push(difference),
                    Err(_) => general.push((tree, l)),
                },
            },
            Tree::And(list) => stack.extend(list),
            Tree::Or(_) => choices.push(tree),
        }
    }
    effort.spend(cells * batch.len().min(base.matrix.nodes()))?;
    system.matrix.add(batch);
    // Each round decides or adds one, or is the last.
    let mut changed = true;
    while changed && !general.is_empty() && !system.is_empty() {
        effort.spend(general.iter().map(|(_, l)| l.terms.len()).sum::<usize>() + cells)?;
        changed = false;
        for (tree, l) in std::mem::take(&mut general) {
            match reduced(l, &system, place) {
                Left::Decided(true) => {}
                Left::Decided(false) => return Ok(()),
                Left::Difference((i, j, c)) => {
                    effort.spend(cells)?;
                    system.matrix.add([(i, j, c)]);
                    changed = true;
                }
                Left::Set(node, c, bound) => {
                    let set = system.sets.get_mut(node).expect("reduced found it");
                    set.retain(|&v| c * i128::from(v) <= bound);
                    changed = true;
                }
                Left::Open => general.push((tree, l)),
            }
        }
    }
    if system.is_empty() {
        return Ok(());
    }
    let waiting = general.iter().map(|(tree, _)| *tree);
    if let Some(Tree::Or(list)) = choices.pop() {
        for alternative in list {
            let agenda = choices.iter().copied().chain(waiting.clone()).chain([alternative]).collect();
            expand_all(agenda, &system, place, effort, out)?;
        }
        return Ok(());
    }
    let Some((tree, l)) = general.first() else {
        // It is kept, so it counts for the memory it takes as well.
        effort.spend(KEPT * cells)?;
        out.push(system);
        return Ok(());
    };
    let Some((node, values)) = few_values(tree, &system, place) else {
        return placed(l, &system, place).map(|_| ());
    };
    for value in values {
        let mut one = system.clone();
        match one.sets.get_mut(node) {
            Some(set) => set.retain(|v| i128::from(*v) == value),
            None => one.matrix.add([(node, 0, value), (0, node, -value)]),
        }
        expand_all(waiting.clone().collect(), &one, place, effort, out)?;
    }
    Ok(())
}

/// Whether `system` implies an inequality.
pub fn implied_bound(
    l: &Inequality,
    system: &System,
    place: &dyn Fn(usize) -> usize,
) -> Result<bool, Refusal> {
    if let Some(truth) = constant(l) {
        return Ok(truth);
    }
    if let [(n, c)] = l.terms[..]
        && let Some(values) = system.sets.get(place(n))
    {
        return Ok(values.iter().all(|&v| i128::from(c) * i128::from(v) <= i128::from(l.bound)));
    }
    match (placed(l, system, place), reduced(l, system, place)) {
        (Ok(difference), _) | (Err(_), Left::Difference(difference)) => Ok(system.matrix.implies(difference)),
        (Err(_), Left::Decided(truth)) => Ok(truth),
        (Err(reason), _) => Err(reason),
    }
}

/// Whether `system` implies `tree`, by one alternative of each disjunction.
pub fn implied(tree: &Tree, system: &System, place: &dyn Fn(usize) -> usize) -> Result<bool, Refusal> {
    if system.is_empty() {
        return Ok(true);
    }
    if let Some(node) = about_set(tree, system, place) {
        return Ok(system.sets[node].iter().all(|&v| holds(tree, &|_| v)));
    }
    match tree {
        Tree::Le(l) => implied_bound(l, system, place),
        Tree::And(list) => {
            for t in list {
                if !implied(t, system, place)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Tree::Or(list) => {
            for t in list {
                if implied(t, system, place)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// The complement over the integers.
pub fn negated(tree: &Tree) -> Result<Tree, Refusal> {
    Ok(match tree {
        Tree::Le(l) => {
            let bound = l.bound.checked_add(1).and_then(i64::checked_neg).ok_or("a bound is too large")?;
            Tree::Le(Inequality { terms: l.terms.iter().map(|&(n, c)| (n, -c)).collect(), bound })
        }
        Tree::And(list) => Tree::Or(list.iter().map(negated).collect::<Result<_, _>>()?),
        Tree::Or(list) => Tree::And(list.iter().map(negated).collect::<Result<_, _>>()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear congruences are random enough for shapes.
    fn next(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    fn tree(state: &mut u64, depth: u64) -> Tree {
        match next(state, if depth == 0 { 1 } else { 4 }) {
            0 => {
                let mut terms = Vec::new();
                for node in 1..=3 {
                    let coefficient = next(state, 7) as i64 - 3;
                    if coefficient != 0 && next(state, 3) > 0 {
                        terms.push((node, coefficient));
                    }
                }
                Tree::Le(Inequality { terms, bound: next(state, 13) as i64 - 6 })
            }
            1 => Tree::Or((0..2).map(|_| tree(state, depth - 1)).collect()),
            _ => Tree::And((0..2).map(|_| tree(state, depth - 1)).collect()),
        }
    }

    /// Sums are decided exactly where the variables have few values: by evaluation of every point.
    #[test]
    fn expansion_has_the_points_of_the_tree() {
        let (mut state, mut some, mut all) = (7, 0, 0);
        for round in 0..3_000 {
            let tree = tree(&mut state, 3);
            let mut base = System::new(4);
            base.matrix.add((1..=3).flat_map(|n| [(n, 0, 3), (0, n, 1)]));
            if round % 2 == 0 {
                base = System::new(4);
                base.matrix.add((2..=3).flat_map(|n| [(n, 0, 3), (0, n, 1)]));
                base.sets.insert(1, vec![-1, 0, 2, 3]);
            }
            let found = expand(&tree, &base, &|n| n, &Effort::new(1 << 40)).expect("few values");
            for point in 0..125i64 {
                let values = [0, point % 5 - 1, point / 5 % 5 - 1, point / 25 - 1];
                let inside = |s: &&System| {
                    let equal = |n: usize| [(n, 0, i128::from(values[n])), (0, n, -i128::from(values[n]))];
                    let in_sets = s.sets.get(1).is_none_or(|set| set.contains(&values[1]));
                    let mut one = (*s).clone();
                    one.matrix.add((1..=3).filter(|n| !s.sets.contains(*n)).flat_map(equal));
                    in_sets && !one.is_empty()
                };
                let holds = inside(&&base) && holds(&tree, &|n| values[n]);
                assert_eq!(found.iter().any(|s| inside(&s)), holds, "round {round}: {tree:?} at {values:?}");
                (some, all) = (some + u32::from(holds), all + 1);
            }
        }
        assert!(some * 10 > all && some * 10 < all * 9);
    }
}
