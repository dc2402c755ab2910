//! What symmetry says of a place: the states that it stands for, and who plays whom in each.
//!
//! Two states are of one class if they have the same representative (`quotient_engine::representative`, the canonical form that a check
//! uses, here of the program as written). The members are found by runs beside the one that leads here: from each member of the
//! class one step before, those steps are taken that lead into the class of the next state. So each member comes with a run that
//! leads there, and who did what in the two runs says who plays whom. Nothing here depends on what the renamings are.

use std::collections::{BTreeMap, HashSet};

use quotient_engine::{Check, Model, Representative, Symmetry, is_ring, representative};
use quotient_explain::{Course, Move, Position, offered};
use quotient_machine::Machine;
use quotient_seams::{Interrupt, Representative as _};

use crate::api;
use crate::ends::Ends;
use crate::next::goes_wrong;
use crate::same::{self, LONGEST_RUN};

/// Members that are looked for, and shown.
const MOST: usize = 240;
const SHOWN: usize = 12;

/// Classes of states.
pub(crate) struct Classes {
    stands: Option<Representative>,
    ring: bool,
    /// Made when first asked for.
    ends: Option<Option<Ends>>,
}

impl Classes {
    pub(crate) fn new(machine: &mut Machine) -> Classes {
        let check = Check { raw: true, symmetry: Some(Symmetry::Exact), ..Check::default() };
        let stands = representative(machine, &check);
        let ring = stands.is_some() && is_ring(machine);
        Classes { stands, ring, ends: None }
    }

    /// Classes that take no notice of the ends of processes, where these can be left out.
    pub(crate) fn without_ends(&mut self, model: &Model) -> Option<&mut Ends> {
        self.ends.get_or_insert_with(|| Ends::new(model)).as_mut()
    }

    /// The state that stands for this one.
    pub(crate) fn stands(&mut self, machine: &Machine, state: &[u64]) -> Vec<u64> {
        let mut out = Vec::new();
        let changed = self.stands.as_mut().is_some_and(|r| r.representative(machine, state, &mut out));
        if changed { out } else { state.to_vec() }
    }

    /// The renaming to the state that stands for this one, where that is another.
    pub(crate) fn renaming(&mut self, machine: &Machine, state: &[u64]) -> BTreeMap<u32, u32> {
        let mut out = Vec::new();
        let Some(representative) = &mut self.stands else { return BTreeMap::new() };
        if !representative.representative(machine, state, &mut out) {
            return BTreeMap::new();
        }
        machine.threads(state).iter().map(|t| (t.id, representative.new_name(t.id))).collect()
    }
}

/// A member of the class after some steps: where it came from, by which step.
struct Member {
    before: usize,
    step: Option<Move>,
    state: Vec<u64>,
}

/// The members of the class of a place. `after_reductions`: a check has found symmetry, after its reductions of the program.
pub(crate) fn tell(
    machine: &mut Machine,
    course: &Course,
    at: usize,
    classes: &mut Classes,
    after_reductions: bool,
    interrupt: &Interrupt,
) -> api::Class {
    // The state in which a run goes wrong may be one within a step: the one before it is looked at.
    let at = if goes_wrong(course, at) { at.saturating_sub(1) } else { at };
    let nothing = |why: &str| api::Class {
        why: Some(why.to_owned()),
        count: 1,
        more: false,
        members: Vec::new(),
        stored: Vec::new(),
        processes: Vec::new(),
        ring: false,
    };
    if classes.stands.is_none() {
        return nothing(match after_reductions {
            true => {
                "No renaming keeps the model as it is written: processes end in the order of their numbers, or something else tells them apart \
                 that the check leaves out. What the check found it found after its reductions; the states shown here are those of the model as written."
            }
            false => "No renaming was found that keeps the program as it is.",
        });
    }
    if at > LONGEST_RUN {
        return nothing("The run is too long to look for the others of its class.");
    }
    let mut states = same::states(machine, course, at).into_iter();
    let Some(start) = states.next() else { return nothing("There is no such state.") };
    let mut layers = vec![vec![Member { before: 0, step: None, state: start }]];
    let mut more = false;
    for (step, next) in states.enumerate() {
        let wanted = classes.stands(machine, &next);
        let mut seen: HashSet<Vec<u64>> = HashSet::new();
        let mut layer = Vec::new();
        let last = layers.last().map_or(&[][..], Vec::as_slice);
        // The run itself comes first.
        let mut states = vec![(0, course.moves[step], next)];
        for (before, member) in last.iter().enumerate() {
            if interrupt.reason().is_some() {
                return nothing("It took too long to look for the others of its class.");
            }
            for way in offered(machine, &member.state) {
                if let Some(state) = way.record.state {
                    states.push((before, way.way, state));
                }
            }
        }
        for (before, way, state) in states {
            if seen.contains(&state) || classes.stands(machine, &state) != wanted {
                continue;
            }
            if layer.len() == MOST {
                more = true;
                break;
            }
            seen.insert(state.clone());
            layer.push(Member { before, step: Some(way), state });
        }
        layers.push(layer);
    }
    let last = layers.last().map_or(&[][..], Vec::as_slice);
    let (first, names) = course.state(machine, 0);
    let begin: BTreeMap<u32, (u32, u32)> =
        machine.threads(&first).iter().map(|t| (t.id, (t.function, t.location))).collect();
    let members: Vec<api::Member> = (0..last.len().min(SHOWN))
        .map(|index| {
            let moves = path(&layers, index);
            let mut plays: BTreeMap<u32, u32> = BTreeMap::new();
            for (own, other) in course.moves.iter().zip(&moves) {
                plays.entry(own.thread).or_insert(other.thread);
            }
            let threads = machine.threads(&last[index].state);
            let moved = threads.iter().filter(|t| begin.get(&t.id) != Some(&(t.function, t.location)));
            api::Member {
                here: index == 0,
                plays: plays.into_iter().collect(),
                moved: moved.map(|t| t.id).collect(),
                path: Position { moves, checksum: None }.to_string(),
            }
        })
        .collect();
    let here = &last[0].state;
    let threads = machine
        .threads(here)
        .into_iter()
        .map(|t| api::Process { pid: t.id, name: machine.thread_name(here, t.id, &names) });
    let processes = threads.collect();
    let stored = classes.renaming(machine, here);
    let stored = stored.into_iter().collect();
    api::Class { why: None, count: last.len(), more, members, stored, processes, ring: classes.ring }
}

/// The steps that lead to a member of the last layer.
fn path(layers: &[Vec<Member>], index: usize) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut at = index;
    for layer in layers.iter().rev() {
        let member = &layer[at];
        moves.extend(member.step);
        at = member.before;
    }
    moves.reverse();
    moves
}

/// Who can always move while some steps are repeated for ever and never does: with weak fairness such a run does not count. None
/// where the cycle is too long to look at.
pub(crate) fn starved(machine: &mut Machine, course: &Course, cycle: usize) -> Option<Vec<u32>> {
    let length = course.len();
    if cycle == 0 || cycle > length || cycle > LONGEST_RUN {
        return None;
    }
    let moving: HashSet<u32> = course.moves[length - cycle..].iter().map(|m| m.thread).collect();
    let mut able: Option<HashSet<u32>> = None;
    for step in length - cycle..length {
        let (state, _) = course.state(machine, step);
        let here: HashSet<u32> = offered(machine, &state).iter().map(|way| way.way.thread).collect();
        able = Some(match able {
            Some(able) => able.intersection(&here).copied().collect(),
            None => here,
        });
    }
    let mut starved: Vec<u32> = able?.difference(&moving).copied().collect();
    starved.sort_unstable();
    Some(starved)
}
