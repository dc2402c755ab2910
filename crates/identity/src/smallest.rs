//! A smallest set that suffices.
//!
//! Given a question about subsets of `0 .. n` that stays true when the set grows, a smallest set for which it is true. A set that
//! does not suffice leaves out all of some *core*: a set such that everything but it does not suffice, and which is minimal. So a set suffices
//! exactly when it has a member of every core, and a smallest one is a smallest hitting set of all cores. Cores are found one by one: as
//! long as a smallest set that hits those known does not suffice, what it leaves out contains another one (J. Davies and F. Bacchus, "Solving
//! MAXSAT by Solving a Sequence of Simpler SAT Instances", 2011). A core is made small by asking, for ever shorter beginnings, how much of the
//! rest is needed (halving).
//!
//! Where the question is not monotone, the answer still suffices, since that is asked of it; there may be a smaller one.

/// Whether there is room for more questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// To look for a smallest set.
    Enough,
    /// For a minimal one.
    Little,
    /// For nothing.
    None,
}

/// Members of a set that suffices.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) members: Vec<usize>,
    /// It has others.
    pub(crate) more: bool,
}

/// A smallest subset of `0 .. n` that suffices; a minimal one if there was little room left before that was found. If there was not even room for
/// that, what is in all sets that suffice, as far as it was found, or none if nothing was. All together must suffice. `suffices` says of a set
/// whether it does, and how much room there is for further questions; without room, what it says does not count.
pub(crate) fn smallest(n: usize, mut suffices: impl FnMut(&[usize]) -> (bool, Room)) -> Option<Found> {
    let mut room = Room::Enough;
    let mut without = |left_out: &[usize], room: &mut Room| {
        let set: Vec<usize> = (0..n).filter(|x| !left_out.contains(x)).collect();
        let (enough, left) = suffices(&set);
        *room = left;
        enough
    };
    let mut cores: Vec<Vec<usize>> = Vec::new();
    loop {
        let hit = hitting(&cores);
        let mut rest: Vec<usize> = (0..n).filter(|x| !hit.contains(x)).collect();
        let enough = without(&rest, &mut room);
        if enough && room != Room::None {
            return Some(Found { members: hit, more: false });
        }
        if room == Room::None {
            return in_all(&cores);
        }
        if room != Room::Enough {
            break;
        }
        let mut core: Vec<usize> = Vec::new();
        loop {
            // The shortest beginning that is needed beside the core known so far: its last member belongs to the core.
            let (mut few, mut many) = (0, rest.len());
            let with = |core: &[usize], length: usize| [core, &rest[..length]].concat();
            if !core.is_empty() && !without(&core, &mut room) {
                break;
            }
            while few + 1 < many {
                let middle = (few + many) / 2;
                if without(&with(&core, middle), &mut room) { few = middle } else { many = middle }
            }
            let Some(last) = many.checked_sub(1) else { break };
            core.push(rest[last]);
            rest.truncate(last);
            if room == Room::None {
                return in_all(&cores);
            }
        }
        if room == Room::None {
            return in_all(&cores);
        }
        cores.push(core);
    }
    // One after the other is put back.
    let mut left_out: Vec<usize> = Vec::new();
    for x in 0..n {
        left_out.push(x);
        if !without(&left_out, &mut room) {
            left_out.pop();
        }
        if room == Room::None {
            return in_all(&cores);
        }
    }
    Some(Found { members: (0..n).filter(|x| !left_out.contains(x)).collect(), more: false })
}

/// What every set has that has a member of each: the cores with one.
fn in_all(cores: &[Vec<usize>]) -> Option<Found> {
    let mut members: Vec<usize> = cores.iter().filter(|core| core.len() == 1).flatten().copied().collect();
    members.sort_unstable();
    (!members.is_empty()).then_some(Found { members, more: true })
}

/// A smallest set with a member of each; of several, the one with the greatest members: what comes first stays.
fn hitting(cores: &[Vec<usize>]) -> Vec<usize> {
    fn go(cores: &[Vec<usize>], chosen: &mut Vec<usize>, best: &mut Option<Vec<usize>>) {
        let Some(open) = cores.iter().find(|core| !core.iter().any(|x| chosen.contains(x))) else {
            let mut found = chosen.clone();
            found.sort_unstable();
            let better = |b: &Vec<usize>| found.len() < b.len() || found.len() == b.len() && found > *b;
            if best.as_ref().is_none_or(better) {
                *best = Some(found);
            }
            return;
        };
        if best.as_ref().is_some_and(|b| chosen.len() + 1 > b.len()) {
            return;
        }
        for &x in open {
            chosen.push(x);
            go(cores, chosen, best);
            chosen.pop();
        }
    }
    let mut best = None;
    go(cores, &mut Vec::new(), &mut best);
    best.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against trying all subsets.
    #[test]
    fn no_smaller_set_suffices() {
        let mut random = 12_345u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % below
        };
        for _ in 0..300 {
            let cores: Vec<u32> = (0..next(6)).map(|_| 1 + next(255)).collect();
            let enough = |set: u32| cores.iter().all(|core| set & core != 0);
            let bits = |set: &[usize]| set.iter().fold(0, |bits, x| bits | 1 << x);
            let found = smallest(8, |set| (enough(bits(set)), Room::Enough)).expect("room").members;
            let least = (0..256u32).filter(|set| enough(*set)).map(u32::count_ones).min();
            assert!(enough(bits(&found)));
            assert_eq!(Some(found.len() as u32), least, "{cores:?}");
            let minimal = smallest(8, |set| (enough(bits(set)), Room::Little)).expect("room").members;
            assert!(enough(bits(&minimal)));
            for x in &minimal {
                assert!(!enough(bits(&minimal) & !(1 << x)), "{cores:?}");
            }
            // Where the room is used up on the way, nothing is said, or what suffices, or what none can do without.
            let mut questions = next(20);
            let some = smallest(8, |set| {
                questions = questions.saturating_sub(1);
                let room = [Room::None, Room::Little, Room::Enough][questions.div_ceil(5).min(2) as usize];
                (room != Room::None && enough(bits(set)), room)
            });
            for found in some.iter().filter(|found| found.more) {
                assert!(!found.members.is_empty());
                assert!(found.members.iter().all(|x| !enough(255 & !(1 << x))), "{cores:?}");
            }
            assert!(some.is_none_or(|found| found.more || enough(bits(&found.members))), "{cores:?}");
        }
    }
}
