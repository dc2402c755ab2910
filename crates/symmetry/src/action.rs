//! What a group does to one of its orbits, for reports.
//!
//! The order of the action comes from a chain of stabilisers, made by Schreier and Sims' method: each product of a coset representative and
//! a generator that the chain does not reach yet becomes a generator further down. Few points are looked at, so this is quick. If the
//! action keeps blocks (sets that go to sets as a whole), and its order is that of all permutations of the blocks and within each, it is
//! just that, since it cannot be more.

/// What a group does to some of its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Every permutation of them.
    All,
    /// The powers of one cycle through all of them.
    Rotations,
    /// Rotations, and reflections.
    RotationsAndReflections,
    /// Every permutation of sets of this size, and every permutation within each.
    Sets(usize),
    /// So many permutations.
    Some(u128),
    /// Something else: there are too many points to look at.
    Unknown,
}

/// Most points whose action is looked at closely.
const MOST_POINTS: usize = 24;

/// Most members that are listed.
const MOST_MEMBERS: u128 = 64;

type Permutation = Vec<u8>;

/// What these permutations of `0..points` generate, which has one orbit.
pub(crate) fn action(points: usize, generators: &[Permutation]) -> Action {
    if points > MOST_POINTS {
        return Action::Unknown;
    }
    let mut chain = Chain::new(points);
    generators.iter().for_each(|g| chain.add(0, g.clone()));
    let order = chain.order();
    if order == factorial(points) {
        return Action::All;
    }
    if order <= MOST_MEMBERS {
        let members = closure(points, generators);
        let cycle = members.iter().find(|g| has_one_cycle(g));
        if cycle.is_some() && order == points as u128 {
            return Action::Rotations;
        }
        // A member that turns the cycle round, and with it half of all members.
        if let Some(cycle) = cycle.filter(|_| order == 2 * points as u128)
            && members.iter().any(|g| compose(&compose(&inverse(g), cycle), g) == inverse(cycle))
        {
            return Action::RotationsAndReflections;
        }
    }
    let sizes = (1..points).map(|other| block(points, generators, other)).filter(|size| *size < points);
    let full = |size: &usize| {
        let sets = points / size;
        order == factorial(*size).pow(sets as u32) * factorial(sets)
    };
    sizes.min().filter(full).map_or(Action::Some(order), Action::Sets)
}

fn factorial(n: usize) -> u128 {
    (1..=n as u128).product()
}

fn inverse(g: &[u8]) -> Permutation {
    let mut out = vec![0; g.len()];
    g.iter().enumerate().for_each(|(from, to)| out[*to as usize] = from as u8);
    out
}

/// First `a`, then `b`.
fn compose(a: &[u8], b: &[u8]) -> Permutation {
    a.iter().map(|to| b[*to as usize]).collect()
}

fn has_one_cycle(g: &[u8]) -> bool {
    let (mut at, mut length) = (g[0], 1);
    while at != 0 {
        at = g[at as usize];
        length += 1;
    }
    length == g.len()
}

/// Every member of a small group.
fn closure(points: usize, generators: &[Permutation]) -> Vec<Permutation> {
    let mut all: Vec<Permutation> = vec![(0..points as u8).collect()];
    let mut next = 0;
    while next < all.len() {
        for g in generators {
            let product = compose(&all[next], g);
            if !all.contains(&product) {
                all.push(product);
            }
        }
        next += 1;
    }
    all
}

/// The size of the smallest block that has both the first point and another one.
fn block(points: usize, generators: &[Permutation], other: usize) -> usize {
    let mut block: Vec<usize> = (0..points).collect();
    let mut open = vec![(0, other)];
    while let Some((a, b)) = open.pop() {
        let (from, to) = (block[a].max(block[b]), block[a].min(block[b]));
        if from == to {
            continue;
        }
        block.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
        // Images of points that share a block share one: it is enough to look at each point and its block's least one.
        for g in generators {
            let mates = (0..points).filter(|p| block[*p] == to);
            open.extend(mates.map(|p| (g[p] as usize, g[to] as usize)));
        }
    }
    block.iter().filter(|label| **label == block[0]).count()
}

/// A chain of stabilisers of the points `0, 1, …`.
struct Chain {
    points: usize,
    levels: Vec<Level>,
}

struct Level {
    /// For each point of the base point's orbit a member that takes the base point there.
    members: Vec<Option<Permutation>>,
    generators: Vec<Permutation>,
}

impl Chain {
    fn new(points: usize) -> Chain {
        let level = |base: usize| {
            let mut members = vec![None; points];
            members[base] = Some((0..points as u8).collect());
            Level { members, generators: Vec::new() }
        };
        Chain { points, levels: (0..points).map(level).collect() }
    }

    fn order(&self) -> u128 {
        self.levels.iter().map(|l| l.members.iter().flatten().count() as u128).product()
    }

    /// What is left of a permutation that keeps the points before `level`, and the level where it cannot be reduced any further.
    fn sift(&self, mut level: usize, mut g: Permutation) -> (usize, Permutation) {
        while level < self.points {
            match &self.levels[level].members[g[level] as usize] {
                Some(member) => g = compose(&g, &inverse(member)),
                None => break,
            }
            level += 1;
        }
        (level, g)
    }

    /// Adds a member that keeps the points before `level`.
    fn add(&mut self, level: usize, g: Permutation) {
        if self.sift(level, g.clone()).0 == self.points {
            return;
        }
        self.levels[level].generators.push(g);
        // The orbit again, with the new generator; every product of a member and a generator belongs to the chain.
        let mut queue: Vec<usize> =
            (0..self.points).filter(|p| self.levels[level].members[*p].is_some()).collect();
        let mut next = 0;
        while next < queue.len() {
            let at = queue[next];
            next += 1;
            for which in 0..self.levels[level].generators.len() {
                let here = &self.levels[level];
                let Some(member) = &here.members[at] else { continue };
                let product = compose(member, &here.generators[which]);
                let to = product[level] as usize;
                match &here.members[to] {
                    None => {
                        self.levels[level].members[to] = Some(product);
                        queue.push(to);
                    }
                    Some(known) => {
                        let rest = compose(&product, &inverse(known));
                        self.add(level + 1, rest);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order by listing every member.
    fn listed(points: usize, generators: &[Permutation]) -> u128 {
        closure(points, generators).len() as u128
    }

    fn order(points: usize, generators: &[Permutation]) -> u128 {
        let mut chain = Chain::new(points);
        generators.iter().for_each(|g| chain.add(0, g.clone()));
        chain.order()
    }

    #[test]
    fn the_chain_has_as_many_members_as_there_are() {
        let mut random = 7u64;
        for _ in 0..300 {
            let points = 2 + (random >> 20) as usize % 5;
            let generators: Vec<Permutation> = (0..1 + (random >> 40) % 3)
                .map(|_| {
                    let mut g: Permutation = (0..points as u8).collect();
                    for at in (1..points).rev() {
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        g.swap(at, (random >> 33) as usize % (at + 1));
                    }
                    g
                })
                .collect();
            random = random.wrapping_add(1);
            assert_eq!(order(points, &generators), listed(points, &generators), "{generators:?}");
        }
    }

    #[test]
    fn actions_have_names() {
        let ring: Permutation = vec![1, 2, 3, 4, 5, 0];
        let turn: Permutation = vec![0, 5, 4, 3, 2, 1];
        let exchange: Permutation = vec![1, 0, 2, 3, 4, 5];
        assert_eq!(action(6, std::slice::from_ref(&ring)), Action::Rotations);
        assert_eq!(action(6, &[ring.clone(), turn]), Action::RotationsAndReflections);
        assert_eq!(action(6, &[ring.clone(), exchange.clone()]), Action::All);
        // Three pairs.
        let pairs: Permutation = vec![2, 3, 4, 5, 0, 1];
        let two: Permutation = vec![2, 3, 0, 1, 4, 5];
        assert_eq!(action(6, &[pairs.clone(), two, exchange]), Action::Sets(2));
        // All even permutations of four.
        assert_eq!(action(4, &[vec![1, 2, 0, 3], vec![1, 0, 3, 2]]), Action::Some(12));
        // x + 1 and 5x, modulo 8: a cycle, and as many members as with reflections, but other ones.
        let odd = action(8, &[vec![1, 2, 3, 4, 5, 6, 7, 0], vec![0, 5, 2, 7, 4, 1, 6, 3]]);
        assert_eq!(odd, Action::Some(16));
    }
}
