//! States of more than four words, a batch at a time, for one thread and for several: from what has changed to the keys of roots.
//!
//! The nodes of all states are looked up level by level, from the lowest on: while those of one level are looked up for all, where those of the next will be found is being loaded.

use quotient_seams::{Group, Loaded, Looked};

use crate::key_set::{KeySet, key_hash};
use crate::plan::{Node, Plan};
use crate::tree::{Nodes, slots_of};

/// Who gives nodes their numbers.
pub(crate) trait Interning {
    /// What has to be made before it can be gone on.
    type Lacks;

    /// Starts loading a node; gives its hash.
    fn load(&self, node: &Node, slots: &[u32], hint: &[u32]) -> u64;

    /// The number of a node with this hash.
    fn number(&mut self, node: &Node, slots: &[u32], hint: &[u32], hash: u64) -> Result<u32, Self::Lacks>;

    /// The number of a node.
    fn find(&mut self, node: &Node, slots: &[u32], hint: &[u32]) -> Result<u32, Self::Lacks>;
}

impl Interning for Nodes {
    type Lacks = std::convert::Infallible;

    #[inline(always)]
    fn load(&self, node: &Node, slots: &[u32], hint: &[u32]) -> u64 {
        self.load(node, slots, hint)
    }

    #[inline(always)]
    fn number(&mut self, node: &Node, slots: &[u32], hint: &[u32], hash: u64) -> Result<u32, Self::Lacks> {
        Ok(self.intern_loaded(node, slots, hint, hash))
    }

    #[inline(always)]
    fn find(&mut self, node: &Node, slots: &[u32], hint: &[u32]) -> Result<u32, Self::Lacks> {
        Ok(self.intern(node, slots, hint))
    }
}

/// The keys of the roots of the distinct entries of a batch, which all have as many slots as the plan. Their lines in the set of all are being loaded. Can be done again.
#[inline(always)]
pub(crate) fn find_long<'s, I: Interning>(
    nodes: &mut I,
    plan: &Plan,
    set: &KeySet,
    (groups, state_of): (&[Group<'_>], impl Fn(usize) -> &'s [u64]),
    looked: &mut Looked,
) -> Result<(), I::Lacks> {
    if plan.above.is_empty() {
        load_all(nodes, plan, &state_of, looked)?;
    } else {
        find_lowest(nodes, plan, groups, &state_of, looked)?;
        for level in 1..plan.levels.len() {
            climb(nodes, plan, level, &state_of, looked)?;
        }
    }
    let Looked { hints, loaded, keys, distinct, stride, .. } = looked;
    keys.clear();
    for (hashes, &index) in loaded.iter().zip(&*distinct) {
        let index = index as usize;
        let hint = &mut hints[index * *stride..][..plan.nodes.len()];
        for (&top, &hash) in plan.tops.iter().zip(hashes) {
            if hash != 0 {
                hint[top] = nodes.number(&plan.nodes[top], slots_of(state_of(index)), hint, hash)?;
            }
        }
        let key = key_hash(u64::from(hint[plan.tops[0]]) << 32 | u64::from(hint[plan.tops[1]]));
        set.prefetch::<false>(key);
        keys.push(key);
    }
    Ok(())
}

/// Which nodes of each entry are not the parent's, as bits, in place of keys. Looks up the lowest of them, which have few values and are at hand, and starts loading those of the next level.
#[inline(always)]
fn find_lowest<'s, I: Interning>(
    nodes: &mut I,
    plan: &Plan,
    groups: &[Group<'_>],
    state_of: &impl Fn(usize) -> &'s [u64],
    looked: &mut Looked,
) -> Result<(), I::Lacks> {
    let Looked { hints, loaded, keys, distinct, stride, .. } = looked;
    let count = plan.nodes.len();
    keys.clear();
    loaded.clear();
    let mut groups = groups.iter();
    let mut group = groups.next();
    for &index in &*distinct {
        let index = index as usize;
        while group.is_some_and(|g| g.end <= index) {
            group = groups.next();
        }
        let state = state_of(index);
        let hint = &mut hints[index * *stride..][..count];
        let mut changed = u64::MAX >> (64 - count);
        if let Some(parent) = group.map(|g| g.parent)
            && parent.state.len() == state.len()
        {
            hint.copy_from_slice(parent.hint);
            changed = plan.above_changes(state, parent.state);
        }
        loaded.extend(go_up(nodes, plan, (0, changed), slots_of(state), hint)?);
        keys.push(changed);
    }
    Ok(())
}

/// Looks up the nodes of a level that have changed, and starts loading those of the next.
#[inline(always)]
fn climb<'s, I: Interning>(
    nodes: &mut I,
    plan: &Plan,
    level: usize,
    state_of: &impl Fn(usize) -> &'s [u64],
    looked: &mut Looked,
) -> Result<(), I::Lacks> {
    let Looked { hints, loaded, keys, distinct, stride, .. } = looked;
    for (&changed, &index) in keys.iter().zip(&*distinct) {
        let index = index as usize;
        let hint = &mut hints[index * *stride..][..plan.nodes.len()];
        loaded.extend(go_up(nodes, plan, (level, changed), slots_of(state_of(index)), hint)?);
    }
    Ok(())
}

/// The same for one entry. After the last level that is the two topmost nodes: their hashes, 0 for one that is the parent's.
#[inline(always)]
fn go_up<I: Interning>(
    nodes: &mut I,
    plan: &Plan,
    (level, changed): (usize, u64),
    slots: &[u32],
    hint: &mut [u32],
) -> Result<Option<Loaded>, I::Lacks> {
    let mut these = changed & plan.levels[level];
    while these != 0 {
        let node = these.trailing_zeros() as usize;
        these &= these - 1;
        hint[node] = nodes.find(&plan.nodes[node], slots, hint)?;
    }
    if level + 1 == plan.levels.len() {
        return Ok(Some(plan.tops.map(|top| match changed >> top & 1 {
            0 => 0,
            _ => nodes.load(&plan.nodes[top], slots, hint),
        })));
    }
    let mut these = changed & plan.levels[level + 1];
    while these != 0 {
        let node = these.trailing_zeros() as usize;
        these &= these - 1;
        nodes.load(&plan.nodes[node], slots, hint);
    }
    Ok(None)
}

/// Looks up all nodes but the two topmost ones, and starts loading these: for states so long that what has changed is not kept as bits.
#[inline(never)]
fn load_all<'s, I: Interning>(
    nodes: &mut I,
    plan: &Plan,
    state_of: &impl Fn(usize) -> &'s [u64],
    looked: &mut Looked,
) -> Result<(), I::Lacks> {
    let Looked { hints, loaded, distinct, stride, .. } = looked;
    loaded.clear();
    for &index in &*distinct {
        let index = index as usize;
        let slots = slots_of(state_of(index));
        let hint = &mut hints[index * *stride..][..plan.nodes.len()];
        // Children have smaller numbers than their parents: upwards.
        for (number, node) in plan.nodes.iter().enumerate() {
            if !plan.tops.contains(&number) {
                hint[number] = nodes.find(node, slots, hint)?;
            }
        }
        loaded.push(plan.tops.map(|top| nodes.load(&plan.nodes[top], slots, hint)));
    }
    Ok(())
}
