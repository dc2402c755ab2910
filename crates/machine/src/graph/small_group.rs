//! Small groups: the least image of a state, by trying every member.
//!
//! Where the renamings are few (the rotations of a ring), the representative is the image whose nodes, in the order of their
//! places, read least. Every image is compared only up to the first difference, so that this is many times faster than
//! numbering a graph, and as canonical: all states of an orbit have the same images.

use quotient_identity::Identities;

/// Groups up to this size are tried member by member.
const MOST: f64 = 64.0;

/// A member of the group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// For each point the one whose place it takes over.
    pub(super) from: Vec<u32>,
    /// For each point its new place.
    pub(super) to: Vec<u32>,
}

/// All members of a group, if they are few.
pub(super) fn members(identities: &Identities) -> Vec<Member> {
    if identities.group.order() > MOST {
        return Vec::new();
    }
    let inverse = |from: &Vec<u32>| {
        let mut to = vec![0; from.len()];
        for (at, from) in from.iter().enumerate() {
            to[*from as usize] = at as u32;
        }
        to
    };
    let all = identities.group.members();
    // The identity comes first: a state that already reads least stays as it is.
    all.into_iter().map(|from| Member { to: inverse(&from), from }).collect()
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
    pub(super) fn least(&self, members: &[Member]) -> usize {
        let mut best = 0;
        for candidate in 1..members.len() {
            if self.is_less(&members[candidate], &members[best]) {
                best = candidate;
            }
        }
        best
    }

    fn is_less(&self, a: &Member, b: &Member) -> bool {
        if self.references {
            let under = |member: &Member, (word, point): (u64, u32)| {
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
