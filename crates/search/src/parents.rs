//! Predecessors of all states in little more than a byte each.
//!
//! Breadth-first search numbers states in the order of discovery, so the children of a state have
//! consecutive numbers and come after the children of every earlier state. It suffices to write down, per
//! expanded state, how many children it discovered: in unary, a 1 per child and a 0 at the end (the level-order
//! unary degree sequence of a tree: Jacobson, "Space-efficient static trees and graphs", 1989). A state that is expanded once more,
//! because a first, reduced expansion did not suffice, has a second sequence, and a side table says whose it is. To repeat
//! the step, each state also keeps its number among its parent's successors, in a byte, with a side table
//! for the rare larger ones.
//!
//! Of several workers each keeps such a record of the states that it discovered. It expands states that others discovered: where it begins with a part
//! of a level it writes down whose states they are ([`Parents::begin`]).

use std::collections::HashMap;

use crate::restart::{Reader, Writer};

/// How much of a record has been written for a run that goes on from here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    bits: usize,
    choices: usize,
    late: usize,
    sources: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Parents {
    bits: Vec<u64>,
    /// The word being filled.
    last: u64,
    bit_len: usize,
    choices: Vec<u8>,
    large: HashMap<u64, u32>,
    roots: u64,
    expanded: u64,
    /// Expansions of states that had been expanded before: the number of the expansion, the number of the state.
    late: Vec<(u64, u64)>,
    /// Whose states were expanded, where that is not the first worker's in order.
    sources: Vec<Source>,
}

/// From the expansion with number `first` on, states of `worker` were expanded, in the order of their numbers, from `state` on.
#[derive(Clone, Copy, Debug)]
struct Source {
    first: u64,
    worker: u32,
    state: u64,
}

/// A walk backwards through the bits: predecessors only have smaller numbers.
struct Back<'p> {
    parents: &'p Parents,
    position: usize,
    ones: u64,
    zeros: u64,
}

impl<'p> Back<'p> {
    fn new(parents: &'p Parents) -> Back<'p> {
        let position = parents.bit_len;
        let ones = parents.choices.len() as u64 - parents.roots;
        Back { parents, position, ones, zeros: position as u64 - ones }
    }

    /// The number of the expansion that discovered a state; smaller than all that were asked for before.
    fn expansion(&mut self, state: u64) -> u64 {
        // The 1 of the state is the (state - roots)th 1, counted from 0; the zeros before it number the expansion
        // that discovered it.
        let wanted = state - self.parents.roots;
        while self.ones > wanted {
            if self.position.is_multiple_of(64) {
                let ones = u64::from(self.parents.word(self.position / 64 - 1).count_ones());
                if self.ones - ones > wanted {
                    self.position -= 64;
                    self.ones -= ones;
                    self.zeros -= 64 - ones;
                    continue;
                }
            }
            self.position -= 1;
            if self.parents.bit(self.position) { self.ones -= 1 } else { self.zeros -= 1 }
        }
        self.parents.state_of(self.zeros)
    }
}

/// In `choices`: look in the side table.
const LARGE: u8 = u8::MAX;

impl Parents {
    /// Writes down an expansion with so many children.
    #[inline(always)]
    fn push_ones(&mut self, mut children: usize) {
        let at = self.bit_len % 64;
        if children + at < 63 {
            self.last |= ((1 << children) - 1) << at;
            self.bit_len += children + 1;
            return;
        }
        loop {
            let at = self.bit_len % 64;
            // Ones up to the word's end; the word is cut off there by shifting.
            let now = children.min(64 - at);
            self.last |= if now == 64 { u64::MAX } else { ((1 << now) - 1) << at };
            if at + now < 64 {
                // And the zero.
                self.bit_len += now + 1;
                if at + now == 63 {
                    self.next_word();
                }
                return;
            }
            self.bit_len += now;
            self.next_word();
            children -= now;
        }
    }

    #[inline(always)]
    fn next_word(&mut self) {
        self.bits.push(self.last);
        self.last = 0;
    }

    /// Makes room for so many children, so that the loop that adds them has no need to.
    #[inline(always)]
    pub(crate) fn room_for(&mut self, children: usize) {
        self.choices.reserve(children);
    }

    fn word(&self, index: usize) -> u64 {
        self.bits.get(index).copied().unwrap_or(self.last)
    }

    fn bit(&self, position: usize) -> bool {
        self.word(position / 64) >> (position % 64) & 1 == 1
    }

    /// The next states to be expanded are those that `worker` discovered, from its number `state` on.
    pub(crate) fn begin(&mut self, worker: usize, state: u64) {
        let source = self.source(self.expanded);
        if source != (worker, state) {
            self.sources.push(Source { first: self.expanded, worker: worker as u32, state });
        }
    }

    /// Whose state was expanded there, and its number.
    fn source(&self, expansion: u64) -> (usize, u64) {
        match self.sources.partition_point(|source| source.first <= expansion).checked_sub(1) {
            Some(at) => {
                let Source { first, worker, state } = self.sources[at];
                (worker as usize, state + expansion - first)
            }
            None => (0, expansion),
        }
    }

    /// Each state that was found from another, after that; where there is one worker.
    pub(crate) fn steps(&self) -> Vec<(usize, usize)> {
        let (mut steps, mut expansion) = (Vec::new(), 0);
        for position in 0..self.bit_len {
            if self.bit(position) {
                let to = self.roots as usize + steps.len();
                steps.push((self.state_of(expansion) as usize, to));
            } else {
                expansion += 1;
            }
        }
        steps
    }

    /// States discovered.
    pub(crate) fn discovered(&self) -> u64 {
        self.choices.len() as u64
    }

    #[inline(always)]
    fn push_choice(&mut self, choice: u32) {
        if choice < u32::from(LARGE) {
            self.choices.push(choice as u8);
        } else {
            self.large.insert(self.choices.len() as u64, choice);
            self.choices.push(LARGE);
        }
    }

    /// An initial state was stored.
    pub(crate) fn root(&mut self, choice: u32) {
        self.roots += 1;
        self.push_choice(choice);
    }

    /// The state being expanded discovered a state by its successor number `choice`.
    #[inline(always)]
    pub(crate) fn child(&mut self, choice: u32) {
        self.push_choice(choice);
    }

    /// The next state is expanded, and discovered `children`; gives its number.
    #[inline(always)]
    pub(crate) fn done(&mut self, children: usize) -> u64 {
        self.push_ones(children);
        self.expanded += 1;
        self.expanded - 1
    }

    /// As [`Parents::done`], when it was a state that had been expanded before, number `state`.
    #[inline]
    pub(crate) fn done_again(&mut self, children: usize, state: u64) {
        if children > 0 {
            // The ones of these children are not written yet.
            let ones = self.choices.len() as u64 - self.roots - children as u64;
            self.late.push((self.bit_len as u64 - ones, state));
            self.push_ones(children);
        }
    }

    /// States expanded.
    pub(crate) fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Which state was expanded there?
    fn state_of(&self, expansion: u64) -> u64 {
        match self.late.binary_search_by_key(&expansion, |late| late.0) {
            Ok(at) => self.late[at].1,
            // Without those that came late, states are expanded in the order of their numbers.
            Err(before) => expansion - before as u64,
        }
    }

    /// The way to the state that `worker` expanded there; `all` are the records of all workers.
    pub(crate) fn path(all: &[Parents], worker: usize, expansion: u64) -> Vec<u32> {
        let mut choices = Vec::new();
        let mut backs: Vec<Back<'_>> = all.iter().map(Back::new).collect();
        let (mut worker, mut at) = all[worker].source(expansion);
        loop {
            let parents = &all[worker];
            choices.push(parents.choice(at));
            if at < parents.roots {
                break;
            }
            (worker, at) = parents.source(backs[worker].expansion(at));
        }
        choices.reverse();
        choices
    }

    fn choice(&self, state: u64) -> u32 {
        match self.choices[state as usize] {
            LARGE => self.large[&state],
            choice => u32::from(choice),
        }
    }

    /// Writes what was added since the last time, for a run that goes on from here.
    pub(crate) fn write(&self, since: &mut Written, out: &mut Writer) {
        out.numbers(self.bits[since.bits..].iter().copied());
        out.number(self.last);
        out.number(self.bit_len as u64);
        out.bytes(&self.choices[since.choices..]);
        let first = since.choices as u64;
        let large: Vec<u64> =
            self.large.iter().filter(|l| *l.0 >= first).flat_map(|l| [*l.0, u64::from(*l.1)]).collect();
        out.numbers(large.into_iter());
        out.number(self.roots);
        out.number(self.expanded);
        let late: Vec<u64> = self.late[since.late..].iter().flat_map(|late| [late.0, late.1]).collect();
        out.numbers(late.into_iter());
        let sources = self.sources[since.sources..].iter();
        let sources: Vec<u64> = sources.flat_map(|s| [s.first, u64::from(s.worker), s.state]).collect();
        out.numbers(sources.into_iter());
        *since = self.written();
    }

    /// How much there is to write.
    pub(crate) fn written(&self) -> Written {
        let (bits, choices) = (self.bits.len(), self.choices.len());
        Written { bits, choices, late: self.late.len(), sources: self.sources.len() }
    }

    /// Adds what [`Parents::write`] wrote after what is here; `None` if it cannot be that.
    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Option<()> {
        self.bits.extend(from.numbers()?);
        self.last = from.number()?;
        self.bit_len = usize::try_from(from.number()?).ok()?;
        self.choices.extend_from_slice(from.bytes()?);
        let large: Vec<u64> = from.numbers()?.collect();
        for pair in large.as_chunks().0 {
            let [state, choice] = *pair;
            self.large.insert(state, u32::try_from(choice).ok()?);
        }
        self.roots = from.number()?;
        self.expanded = from.number()?;
        let late: Vec<u64> = from.numbers()?.collect();
        self.late.extend(late.as_chunks().0.iter().map(|[expansion, state]| (*expansion, *state)));
        let sources: Vec<u64> = from.numbers()?.collect();
        for [first, worker, state] in sources.as_chunks().0 {
            self.sources.push(Source { first: *first, worker: u32::try_from(*worker).ok()?, state: *state });
        }
        (self.bits.len() == self.bit_len / 64 && self.roots <= self.discovered()).then_some(())
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.bits.capacity() * 8
            + self.choices.capacity()
            + self.large.len() * 24
            + self.late.capacity() * 16
            + self.sources.capacity() * size_of::<Source>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_known_tree() {
        // Two roots 0, 1; 0 -> 2 (choice 1), 3 (choice 300); 1 -> nothing; 2 -> 4 (choice 0); 3 -> 5 (7).
        let mut parents = Parents::default();
        parents.root(0);
        parents.root(5);
        parents.child(1);
        parents.child(300);
        parents.done(2);
        parents.done(0);
        parents.child(0);
        parents.done(1);
        parents.child(7);
        parents.done(1);
        // Once more 1 -> 6 (choice 9), then 4 -> 7, and 6 -> 8.
        parents.child(9);
        parents.done_again(1, 1);
        parents.child(2);
        parents.done(1);
        parents.done(0);
        parents.child(3);
        parents.done(1);
        let steps = [(0, 2), (0, 3), (2, 4), (3, 5), (1, 6), (4, 7), (6, 8)];
        assert_eq!(parents.steps(), steps);
        let parents = [parents];
        let path = |state| Parents::path(&parents, 0, state);
        assert_eq!(path(0), [0]);
        assert_eq!(path(1), [5]);
        assert_eq!(path(2), [0, 1]);
        assert_eq!(path(4), [0, 1, 0]);
        assert_eq!(path(5), [0, 300, 7]);
        assert_eq!(path(6), [5, 9]);
        assert_eq!(path(7), [0, 1, 0, 2]);
        assert_eq!(path(8), [5, 9, 3]);
    }

    #[test]
    fn what_was_written_in_parts_is_read_again() {
        let (mut parents, mut again, mut written) =
            (Parents::default(), Parents::default(), Written::default());
        parents.root(3);
        for run in 0..300u32 {
            let children = run * 7 % 131;
            for choice in 0..=children {
                parents.child(choice * 3);
            }
            let number = parents.done(children as usize + 1);
            if run % 5 == 0 {
                parents.child(run);
                parents.done_again(1, number);
                parents.begin(1, u64::from(run));
                parents.begin(0, number + 1);
            }
            if run % 3 == 0 {
                let mut out = Writer::default();
                parents.write(&mut written, &mut out);
                let mut from = Reader(&out.0);
                again.read(&mut from).and_then(|()| from.end()).unwrap();
            }
        }
        let mut out = Writer::default();
        parents.write(&mut written, &mut out);
        again.read(&mut Reader(&out.0)).unwrap();
        assert_eq!(format!("{again:?}").len(), format!("{parents:?}").len());
        assert_eq!((again.discovered(), again.expanded()), (parents.discovered(), parents.expanded()));
        let (parents, again) = ([parents], [again]);
        for expansion in [0, 1, 7, 100, 299] {
            assert_eq!(Parents::path(&parents, 0, expansion), Parents::path(&again, 0, expansion));
        }
        // A record that is cut off is told.
        assert!((0..out.0.len()).all(|len| Parents::default().read(&mut Reader(&out.0[..len])).is_none()));
    }

    #[test]
    fn long_and_short_runs_of_children() {
        // A chain of states, each with many children of which only the last goes on; the runs cross words in all ways.
        let mut parents = Parents::default();
        parents.root(0);
        let (mut number, mut expected) = (0u64, vec![0]);
        for run in 0..200u32 {
            let children = run * 7 % 131;
            for choice in 0..=children {
                parents.child(choice % 250);
            }
            parents.done(children as usize + 1);
            for _ in 0..children {
                parents.done(0);
            }
            number += u64::from(children) + 1;
            expected.push(children % 250);
            let all = [std::mem::take(&mut parents)];
            assert_eq!(Parents::path(&all, 0, number), expected);
            [parents] = all;
        }
    }

    #[test]
    fn paths_through_the_states_of_several_workers() {
        let (mut first, mut second) = (Parents::default(), Parents::default());
        // The first worker has the root 0 and discovers 1, 2, 3 (choices 0, 1, 2).
        first.root(4);
        (0..3).for_each(|choice| first.child(choice));
        first.done(3);
        // It expands its 1 to its 4 (choice 5); the second expands the others to its 0 and 1 (choices 6, 7).
        first.begin(0, 1);
        first.child(5);
        first.done(1);
        second.begin(0, 2);
        second.child(6);
        second.done(1);
        second.child(7);
        second.done(1);
        // The second expands the first's 4 to its 2 (8), the first the second's 1 to its 5 (9) and, once more, to its 6 (10).
        second.begin(0, 4);
        second.child(8);
        second.done(1);
        first.begin(1, 1);
        first.child(9);
        let number = first.done(1);
        first.child(10);
        first.done_again(1, number);
        // The first expands its own 5 and 6, the second its own 2.
        first.begin(0, 5);
        let (five, six) = (first.done(0), first.done(0));
        second.begin(1, 2);
        let two = second.done(0);
        let all = [first, second];
        assert_eq!(Parents::path(&all, 0, five), [4, 2, 7, 9]);
        assert_eq!(Parents::path(&all, 0, six), [4, 2, 7, 10]);
        assert_eq!(Parents::path(&all, 1, two), [4, 0, 5, 8]);
        assert_eq!(Parents::path(&all, 0, number), [4, 2, 7]);
    }
}
