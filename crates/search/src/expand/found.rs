//! States as they were found, beside their representatives.
//!
//! A search stores representatives. It goes on from them, too, unless the representative says otherwise
//! ([`Representative::keeps_found`]): then it goes on from the state it found, as in figure 3 of R. Iosif's
//! "Symmetry Reduction Criteria for Software Model Checking". That is sound, since a state and its representative are bisimilar;
//! and its paths are runs of the program as they stand.

#[cfg(doc)]
use quotient_seams::Representative;

/// What a search wants to know of the states that its representatives stand for.
pub(crate) trait Found {
    /// The next entry, before it is replaced; called for none or for all.
    fn push(&mut self, state: &[u64]);

    /// The entry given last was replaced, and its threads have these names now.
    fn replaced(&mut self, new_name: impl Fn(u32) -> u32);
}

/// Nothing.
impl Found for () {
    #[inline]
    fn push(&mut self, _: &[u64]) {}

    #[inline]
    fn replaced(&mut self, _: impl Fn(u32) -> u32) {}
}

/// The successors of a batch before they were replaced by their representatives, if a search goes on from them.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    pub(crate) keeps: bool,
    words: Vec<u64>,
    /// Behind each state's words.
    ends: Vec<usize>,
}

impl Found for Originals {
    #[inline]
    fn push(&mut self, state: &[u64]) {
        if self.keeps {
            self.words.extend_from_slice(state);
            self.ends.push(self.words.len());
        }
    }

    #[inline]
    fn replaced(&mut self, _: impl Fn(u32) -> u32) {}
}

impl Originals {
    pub(crate) fn new(keeps: bool) -> Originals {
        Originals { keeps, ..Originals::default() }
    }

    /// Forgets the batch.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// An entry of the batch as it was found; `None` when the search goes on from its representative.
    #[inline]
    pub(crate) fn state(&self, entry: usize) -> Option<&[u64]> {
        self.keeps.then(|| {
            let start = entry.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.words[start..self.ends[entry]]
        })
    }
}
