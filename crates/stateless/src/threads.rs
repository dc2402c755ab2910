//! Thread numbers and sets of them.

/// A thread of the program under exploration: the same number in every execution, below 64.
pub type ThreadId = u8;

/// The most threads a program may have.
pub const MAX_THREADS: usize = 64;

/// A set of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct ThreadSet(pub u64);

impl ThreadSet {
    /// No thread.
    pub const EMPTY: ThreadSet = ThreadSet(0);

    /// Only `thread`.
    #[inline]
    pub const fn only(thread: ThreadId) -> ThreadSet {
        ThreadSet(1 << thread)
    }

    /// Is `thread` a member?
    #[inline]
    pub const fn contains(self, thread: ThreadId) -> bool {
        (thread as usize) < MAX_THREADS && self.0 >> thread & 1 != 0
    }

    /// Adds `thread`.
    #[inline]
    pub fn insert(&mut self, thread: ThreadId) {
        self.0 |= 1 << thread;
    }

    /// Takes `thread` out.
    #[inline]
    pub fn remove(&mut self, thread: ThreadId) {
        self.0 &= !(1 << thread);
    }

    /// Has it no member?
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many members?
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The lowest member.
    #[inline]
    pub fn first(self) -> Option<ThreadId> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as ThreadId)
    }

    /// The members in increasing order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let thread = rest.trailing_zeros() as ThreadId;
            rest &= rest - 1;
            Some(thread)
        })
    }

    /// The set with `a` and `b` exchanged.
    #[inline]
    #[must_use]
    pub fn swapped(self, a: ThreadId, b: ThreadId) -> ThreadSet {
        if self.contains(a) == self.contains(b) {
            return self;
        }
        ThreadSet(self.0 ^ (1 << a | 1 << b))
    }
}

impl std::ops::BitOr for ThreadSet {
    type Output = ThreadSet;
    fn bitor(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 | other.0)
    }
}

impl std::ops::BitAnd for ThreadSet {
    type Output = ThreadSet;
    fn bitand(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 & other.0)
    }
}

impl std::ops::Sub for ThreadSet {
    type Output = ThreadSet;
    fn sub(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 & !other.0)
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> ThreadSet {
        let mut set = ThreadSet::EMPTY;
        for thread in threads {
            set.insert(thread);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_exchanges_membership() {
        let set: ThreadSet = [1, 3].into_iter().collect();
        assert_eq!(set.swapped(1, 2).iter().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(set.swapped(1, 3), set);
        assert_eq!(set.swapped(0, 2), set);
    }
}
