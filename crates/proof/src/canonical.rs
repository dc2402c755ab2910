//! Proved assertions as maps on sets of states, and representatives under them.
//!
//! An assertion `p(X), phi |= p(Y), psi` may replace a set of left states that lies wholly in `phi`
//! by the set of their partners: if none of the partners is reachable, none of the states is. The
//! maps kept here are those where each column of `Y` is a column of `X` plus a constant, or a finite
//! column under a value map; parts of `psi` beyond that are ignored, which only enlarges the image
//! (sound: more is then shown unreachable).
//!
//! A *representative* is found by descent: apply a map as long as it makes the [`Key`] smaller. For adjacent transpositions this is bubble sort; a map that is not its own inverse
//! (a rotation) is followed around its cycle. The full minimum over a group would be exponential
//! and stores hardly less.
//!
//! A minimal key does not make inclusion visible: of two sets with the same locations one may lie in an image of the
//! other and in none of the others. [`images`] lists other candidates, up to a constant number (as the paper does), and
//! a set is looked up under each.

use crate::constraint::{Linear, Overflow};
use crate::domain::{Domain, Place, State};
use crate::program::{Assertion, Program, Right, Tree};
use crate::step::Step;

/// How the image's columns come about.
#[derive(Clone, Debug)]
enum Source {
    /// A finite column; bit `i` goes to bit `values[i]`.
    Set(usize, Vec<u32>),
    /// A single value, by its bit.
    Value(u32),
    /// A data column (or the zero node) plus a constant.
    Node(usize, i64),
}

/// An assertion as a map.
#[derive(Clone, Debug)]
pub struct Map {
    /// Index of the assertion in the program.
    pub assertion: usize,
    condition: Step,
    sets: Vec<Source>,
    nodes: Vec<Source>,
}

/// Longest cycle followed.
const MAX_CYCLE: usize = 32;

/// Longest chain of maps applied to one set.
const MAX_PATH: usize = 200;

/// Most images of a representative that are looked up.
const MAX_IMAGES: usize = 24;

/// Which image of a set represents it: that with the smallest key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Locations, then value sets, then unary bounds. Images with the same locations are looked up.
    #[default]
    Locations,
    /// Upper bounds, then locations and value sets, then lower bounds (greater first): bakery's processes in the order of
    /// their tickets rather than of their places. All images are looked up.
    Bounds,
}

/// Conjuncts of a tree.
fn parts<'t>(tree: &'t Tree, out: &mut Vec<&'t Tree>) {
    match tree {
        Tree::And(list) => list.iter().for_each(|t| parts(t, out)),
        other => out.push(other),
    }
}

/// `y = x + c` from two inequalities among the conjuncts; `x = 0` for a constant.
fn equality(parts: &[&Tree], y: usize, width: usize) -> Option<(usize, i64)> {
    let find = |plus: usize, minus: usize| {
        parts.iter().find_map(|t| match t {
            Tree::Le(l) if *l == Linear::difference(plus, minus, l.bound) => Some(l.bound),
            _ => None,
        })
    };
    (0..=width).find_map(|x| {
        let (up, down) = (find(y, x)?, find(x, y)?);
        (up == -down).then_some((x, up))
    })
}

/// The columns of an assertion's right state that are not a column of the left state plus a constant: those under a value map.
pub fn value_mapped(assertion: &Assertion, width: usize) -> Vec<usize> {
    let Right::State(right) = &assertion.right else { return Vec::new() };
    let mut conjuncts = Vec::new();
    parts(right, &mut conjuncts);
    (0..width).filter(|c| equality(&conjuncts, width + c + 1, width).is_none()).collect()
}

impl Map {
    /// The map of a relative assertion, or why it is not one.
    pub fn of(program: &Program, domain: &Domain, index: usize) -> Result<Map, String> {
        let assertion: &Assertion = &program.assertions[index];
        let k = program.width();
        let Right::State(right) = &assertion.right else { return Err("it relates no two states".into()) };
        if assertion.universal > 2 * k + 1 {
            return Err("its left side has variables that are not columns".into());
        }
        let mut conjuncts = Vec::new();
        parts(right, &mut conjuncts);
        let mut sets = Vec::new();
        let mut nodes = vec![Source::Node(0, 0)];
        for column in 0..k {
            let y = k + column + 1;
            let name = &program.columns[column];
            let direct = equality(&conjuncts, y, k);
            match domain.places[column] {
                Place::Node(_) => match direct
                    .map(|(x, c)| (if x == 0 { Place::Node(0) } else { domain.places[x - 1] }, c))
                {
                    Some((Place::Node(n), c)) => nodes.push(Source::Node(n, c)),
                    _ => {
                        return Err(format!(
                            "its right side does not say {name} as a column plus a constant"
                        ));
                    }
                },
                Place::Set(f) => {
                    let source = value_map(domain, &conjuncts, direct, y, f, k);
                    sets.push(source.ok_or_else(|| format!("its right side gives no value map for {name}"))?);
                }
            }
        }
        let condition = Step::condition(program, domain, &assertion.left, k + 1);
        Ok(Map { assertion: index, condition, sets, nodes })
    }

    /// The partners of `state`; `None` when the assertion does not apply to all of it.
    pub fn image(&self, state: &State) -> Result<Option<State>, Overflow> {
        if !self.condition.covers(state)? {
            return Ok(None);
        }
        let mut sets = Vec::with_capacity(self.sets.len());
        for source in &self.sets {
            let (from, values) = match source {
                Source::Set(from, values) => (from, values),
                Source::Value(bit) => {
                    sets.push(1 << bit);
                    continue;
                }
                Source::Node(..) => return Ok(None),
            };
            let mut rest = state.sets[*from];
            let mut image = 0u128;
            while rest != 0 {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if values[bit] == u32::MAX {
                    return Ok(None);
                }
                image |= 1 << values[bit];
            }
            sets.push(image);
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut shifted = Vec::new();
        for (at, source) in self.nodes.iter().enumerate() {
            let Source::Node(n, c) = source else { return Ok(None) };
            order.push(*n);
            if *c != 0 {
                shifted.push((at, *c));
            }
        }
        let (mut region, exact) = state.region.select(&order)?;
        if !exact {
            return Ok(None);
        }
        for (at, c) in shifted {
            // y = x + c: displace the node and tie the new one to it.
            let n = region.nodes();
            region.displace(&[at], 0);
            if !(region.meet(at, n, c)? && region.meet(n, at, -c)?) {
                return Ok(None);
            }
            if !region.truncate(n)?.exact {
                return Ok(None);
            }
        }
        Ok(Some(State { sets, region }))
    }
}

/// The value map of finite column `f` (node `y`) from one finite column of the left state.
fn value_map(
    domain: &Domain,
    conjuncts: &[&Tree],
    direct: Option<(usize, i64)>,
    y: usize,
    f: usize,
    k: usize,
) -> Option<Source> {
    let to = &domain.finite[f].values;
    if let Some((0, c)) = direct {
        return to.iter().position(|t| *t == c).map(|bit| Source::Value(bit as u32));
    }
    if let Some((x, c)) = direct {
        let Place::Set(from) = domain.places[x - 1] else { return None };
        let values = domain.finite[from].values.iter();
        let map = values.map(|v| to.iter().position(|t| *t == v + c).map_or(u32::MAX, |p| p as u32));
        return Some(Source::Set(from, map.collect()));
    }
    // A conjunct about y and one left column only.
    for part in conjuncts {
        let mut nodes = Vec::new();
        part.each(&mut |l| nodes.extend(l.terms.iter().map(|t| t.0)));
        nodes.sort_unstable();
        nodes.dedup();
        if !nodes.contains(&y) {
            continue;
        }
        let x = match nodes[..] {
            [x, other] if other == y && x <= k => x,
            _ => return None,
        };
        let Place::Set(from) = domain.places[x - 1] else { return None };
        let mut values = vec![0; y + 1];
        let mut map = Vec::new();
        for v in &domain.finite[from].values {
            values[x] = *v;
            let images: Vec<usize> = (0..to.len())
                .filter(|&t| {
                    values[y] = to[t];
                    part.holds(&values)
                })
                .collect();
            map.push(if images.len() == 1 { images[0] as u32 } else { u32::MAX });
        }
        return Some(Source::Set(from, map));
    }
    None
}

/// The location columns of a set.
fn locations(domain: &Domain, state: &State) -> Vec<u128> {
    domain.finite.iter().zip(&state.sets).filter(|(f, _)| f.location).map(|(_, set)| *set).collect()
}

/// Compares keys.
fn smaller(domain: &Domain, key: Key, a: &State, b: &State) -> bool {
    let finite = || locations(domain, a).cmp(&locations(domain, b)).then_with(|| a.sets.cmp(&b.sets));
    // An upper bound of the variable, or of its negative.
    let upper = |s: &State| -> Vec<i64> { (1..domain.nodes()).map(|n| s.region.dbm().entry(n, 0)).collect() };
    let lower = |s: &State| -> Vec<i64> { (1..domain.nodes()).map(|n| s.region.dbm().entry(0, n)).collect() };
    let order = match key {
        Key::Locations => finite().then_with(|| {
            let both = |s: &State| -> Vec<(i64, i64)> { lower(s).into_iter().zip(upper(s)).collect() };
            both(a).cmp(&both(b))
        }),
        Key::Bounds => upper(a).cmp(&upper(b)).then_with(finite).then_with(|| lower(b).cmp(&lower(a))),
    };
    order.is_lt()
}

/// The representative of `state` and the assertions applied, in order.
pub fn representative(
    domain: &Domain,
    maps: &[Map],
    key: Key,
    state: State,
) -> Result<(State, Vec<usize>), Overflow> {
    let (mut best, mut path) = (state, Vec::new());
    loop {
        let mut improved = false;
        for (index, map) in maps.iter().enumerate() {
            let mut current = best.clone();
            let start = best.clone();
            let base = path.len();
            for turn in 1..=MAX_CYCLE {
                match map.image(&current)? {
                    Some(next) if next != start => current = next,
                    _ => break,
                }
                if smaller(domain, key, &current, &best) {
                    best = current.clone();
                    path.truncate(base);
                    path.extend(std::iter::repeat_n(index, turn));
                    improved = true;
                }
            }
        }
        // A map that shifts data may improve for ever; any image is a sound choice, so stop.
        if !improved || path.len() > MAX_PATH {
            return Ok((best, path));
        }
    }
}

/// Images of a representative, itself first, each with the maps that lead to it. Where locations come first in the key,
/// only images with the same ones can be in the table.
pub fn images(
    domain: &Domain,
    maps: &[Map],
    key: Key,
    state: State,
) -> Result<Vec<(State, Vec<usize>)>, Overflow> {
    let at = locations(domain, &state);
    let mut images = vec![(state, Vec::new())];
    let mut next = 0;
    while next < images.len() {
        for (index, map) in maps.iter().enumerate() {
            if images.len() == MAX_IMAGES {
                return Ok(images);
            }
            let (from, path) = &images[next];
            let Some(image) = map.image(from)? else { continue };
            let alike = key == Key::Bounds || locations(domain, &image) == at;
            if alike && images.iter().all(|(seen, _)| *seen != image) {
                let path = path.iter().copied().chain([index]).collect();
                images.push((image, path));
            }
        }
        next += 1;
    }
    Ok(images)
}
