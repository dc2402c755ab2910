//! Small groups: the least image of a state, by trying every member.
//!
//! Where the renamings are few (the rotations of a ring), the representative is the image whose nodes, in the order of their
//! places, read least. Every image is compared only up to the first difference, so that this is many times faster than
//! numbering a graph, and as canonical: all states of an orbit have the same images.

use quotient_symmetry::group::Group;

use super::points::Places;

/// Groups up to this size are tried member by member.
const MOST: f64 = 64.0;

/// All members of a group, if they are few.
pub(super) fn members(group: &Group) -> Vec<Places> {
    if group.order() > MOST {
        return Vec::new();
    }
    // The identity comes first: a state that already reads least stays as it is.
    let all = group.members().into_iter();
    all.map(|from| {
        let mut places = Places { from, to: Vec::new() };
        places.turn();
        places
    })
    .collect()
}

/// What a node reads: words, and references to points.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// A word, or a reference: its meaning and its point, from 1.
    items: Vec<(u64, u32)>,
    /// Where each node starts; the root first.
    start: Vec<u32>,
    references: bool,
}

impl Reading {
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.start.clear();
        self.references = false;
    }

    pub(super) fn node(&mut self) {
        self.start.push(self.items.len() as u32);
    }

    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        self.items.push((word, 0));
    }

    #[inline]
    pub(super) fn reference(&mut self, meaning: u64, point: u32) {
        self.references = true;
        self.items.push((meaning, point + 1));
    }

    fn of(&self, node: usize) -> &[(u64, u32)] {
        let end = self.start.get(node + 1).map_or(self.items.len(), |s| *s as usize);
        &self.items[self.start[node] as usize..end]
    }

    /// The member under which everything reads least; the first of those.
    pub(super) fn least(&self, members: &[Places]) -> usize {
        let mut best = 0;
        for candidate in 1..members.len() {
            if self.is_less(&members[candidate], &members[best]) {
                best = candidate;
            }
        }
        best
    }

    /// How many members leave everything as it is.
    pub(super) fn same(&self, members: &[Places]) -> usize {
        // The identity comes first.
        let alike = |m: &&Places| !self.is_less(m, &members[0]) && !self.is_less(&members[0], m);
        members.iter().filter(alike).count()
    }

    fn is_less(&self, a: &Places, b: &Places) -> bool {
        if self.references {
            let under = |member: &Places, (word, point): (u64, u32)| {
                (word, if point == 0 { 0 } else { member.to[point as usize - 1] + 1 })
            };
            // The root reads first: where what is global leads decides most.
            for item in self.of(0) {
                let (left, right) = (under(a, *item), under(b, *item));
                if left != right {
                    return left < right;
                }
            }
            for (x, y) in a.from.iter().zip(&b.from) {
                let left = self.of(*x as usize + 1).iter().map(|i| under(a, *i));
                let right = self.of(*y as usize + 1).iter().map(|i| under(b, *i));
                let ordering = left.cmp(right);
                if ordering.is_ne() {
                    return ordering.is_lt();
                }
            }
            return false;
        }
        for (x, y) in a.from.iter().zip(&b.from) {
            let (left, right) = (self.of(*x as usize + 1), self.of(*y as usize + 1));
            if left != right {
                return left < right;
            }
        }
        false
    }
}
