//! Checking that sets of states are unreachable.
//!
//! For every set: no fact lies in it, and every reduct by every rule, in every disjunct, lies in one
//! of the sets after the assertions named in its cover were applied. By induction on the length of a
//! derivation no state of any set is reachable; the assertions must be length-non-increasing, which
//! the caller has checked.

use std::collections::{BTreeMap, HashMap};

use crate::effort::Effort;
use crate::format::{Assertion, Cover, Program, Right, Rule, States, Tree, Unreachable};
use crate::trees::{Refusal, System, excluded, expand, holds, implied, implied_bound, nodes};
use crate::validate::has_own_variables;

/// Which sets of a table have a value in a finite column: a bit for each set.
pub struct Index {
    sets: usize,
    with: HashMap<(usize, i64), Vec<u64>>,
}

impl Index {
    /// Of the sets of a table.
    pub fn of(program: &Program, sets: &[States]) -> Index {
        let words = sets.len().div_ceil(64);
        let mut with: HashMap<(usize, i64), Vec<u64>> = HashMap::new();
        for (at, set) in sets.iter().enumerate() {
            for (finite, values) in program.finite.iter().zip(&set.values) {
                for &value in values {
                    let bits = with.entry((finite.column + 1, value)).or_insert_with(|| vec![0; words]);
                    bits[at / 64] |= 1 << (at % 64);
                }
            }
        }
        Index { sets: sets.len(), with }
    }

    /// The sets that have every value the system has in a finite column, ascending. No other set contains the system.
    pub fn candidates(&self, system: &System) -> Vec<usize> {
        let mut bits = vec![u64::MAX; self.sets.div_ceil(64)];
        for (node, values) in system.sets.iter() {
            for &value in values {
                match self.with.get(&(node, value)) {
                    Some(own) => bits.iter_mut().zip(own).for_each(|(b, o)| *b &= o),
                    None => return Vec::new(),
                }
            }
        }
        let set = |at: &usize| bits[at / 64] >> (at % 64) & 1 == 1;
        (0..self.sets).filter(set).collect()
    }
}

/// What a table may use.
pub struct Context<'a> {
    /// The program.
    pub program: &'a Program,
    /// Invariants, as trees over the columns.
    pub invariants: Vec<Tree>,
    /// Assertions that may be applied as maps.
    pub maps: &'a [usize],
    /// What may still be done.
    pub effort: &'a Effort,
}

impl Context<'_> {
    pub fn width(&self) -> usize {
        self.program.columns.len()
    }

    /// All states that can be reachable as far as finite columns go.
    pub fn universe(&self) -> System {
        let mut system = System::new(self.width() + 1);
        system.sets = self.program.finite.iter().map(|f| (f.column + 1, f.values.clone().into())).collect();
        system
    }

    /// A set of states as a system over the columns.
    pub fn system(&self, states: &States) -> Result<System, Refusal> {
        let mut system = self.universe();
        for (finite, values) in self.program.finite.iter().zip(&states.values) {
            system.sets.insert(finite.column + 1, values.clone());
        }
        let all = Tree::And(states.bounds.iter().cloned().map(Tree::Le).collect());
        match expand(&all, &system, &|n| n, self.effort)?.pop() {
            Some(system) => Ok(system),
            None => {
                system.matrix.add([(0, 0, -1)]);
                Ok(system)
            }
        }
    }

    /// Whether a system over the columns lies in a set.
    pub fn inside(&self, system: &System, states: &States) -> Result<bool, Refusal> {
        if system.is_empty() {
            return Ok(true);
        }
        for (finite, values) in self.program.finite.iter().zip(&states.values) {
            if system.sets[finite.column + 1].iter().any(|v| !values.contains(v)) {
                return Ok(false);
            }
        }
        for bound in &states.bounds {
            if !implied_bound(bound, system, &|n| n)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The states before a rule from which it leads into `after`.
    fn reducts(&self, rule: &Rule, after: &System) -> Result<Vec<System>, Refusal> {
        let k = self.width();
        if excluded(&rule.guard, after, &|n| n) {
            return Ok(Vec::new());
        }
        let matrix = after.matrix.placed(rule.nodes, &|n| n);
        let mut wide = System { matrix, sets: after.sets.clone() };
        for finite in &self.program.finite {
            if !rule.fact && !rule.unchanged[finite.column] {
                wide.sets.insert(k + finite.column + 1, finite.values.clone());
            }
        }
        let mut out = Vec::new();
        for system in expand(&rule.guard, &wide, &|n| n, self.effort)? {
            let before: Vec<usize> = std::iter::once(0)
                .chain((0..k).map(|c| if rule.fact || rule.unchanged[c] { c + 1 } else { k + c + 1 }))
                .collect();
            let matrix = system.matrix.select(&before);
            let sets =
                self.program.finite.iter().map(|f| (f.column + 1, system.sets[before[f.column + 1]].clone()));
            let mut reducts = vec![System { matrix, sets: sets.collect() }];
            for invariant in &self.invariants {
                let mut next = Vec::new();
                for reduct in &reducts {
                    next.extend(expand(invariant, reduct, &|n| n, self.effort)?);
                }
                reducts = next;
            }
            out.extend(reducts);
        }
        Ok(out)
    }

    /// The partners of the states, as a superset.
    fn image(&self, assertion: &Assertion, system: &System) -> Result<Option<System>, Refusal> {
        let k = self.width();
        let Right::State(right) = &assertion.right else {
            return Err("a map is not a relative assertion".into());
        };
        if has_own_variables(assertion, k) {
            return Err("a map has variables of its own on the left side".into());
        }
        if !implied(&assertion.left, system, &|n| n)? {
            return Ok(None);
        }
        let matrix = system.matrix.placed(2 * k + 1, &|n| n);
        let mut wide = System { matrix, sets: system.sets.clone() };
        for finite in &self.program.finite {
            wide.sets.insert(k + finite.column + 1, finite.values.clone());
        }
        // Conjuncts grouped by the nodes they mention; what is not understood is left out.
        let mut groups: BTreeMap<Vec<usize>, Vec<&Tree>> = BTreeMap::new();
        let mut stack = vec![right];
        while let Some(tree) = stack.pop() {
            match tree {
                Tree::And(list) => stack.extend(list),
                other => groups.entry(nodes(other)).or_default().push(other),
            }
        }
        for (nodes, parts) in &groups {
            let finite: Vec<bool> = nodes.iter().map(|n| wide.sets.contains(*n)).collect();
            match nodes[..] {
                [x, y] if finite == [true, true] && x <= k && y > k => {
                    let from = wide.sets[x].clone();
                    let to = wide.sets.get_mut(y).expect("just seen to have a set");
                    to.retain(|&v| {
                        from.iter().any(|&u| parts.iter().all(|p| holds(p, &|n| if n == x { u } else { v })))
                    });
                }
                _ if finite.iter().all(|f| *f) && nodes.len() > 1 => {}
                _ if finite.iter().any(|f| *f) && nodes.len() > 1 => {}
                _ if nodes.iter().any(|&n| n > 2 * k) => {}
                _ => {
                    for part in parts.iter().filter(|p| finite == [true] || matches!(p, Tree::Le(_))) {
                        match expand(part, &wide, &|n| n, self.effort)?.pop() {
                            Some(next) => wide = next,
                            None => wide.matrix.add([(0, 0, -1)]),
                        }
                    }
                }
            }
        }
        let after: Vec<usize> = std::iter::once(0).chain(k + 1..=2 * k).collect();
        let sets = self.program.finite.iter().map(|f| (f.column + 1, wide.sets[k + f.column + 1].clone()));
        Ok(Some(System { matrix: wide.matrix.select(&after), sets: sets.collect() }))
    }

    /// Whether one of the covers takes the system into a set.
    pub fn covered(&self, system: &System, covers: &[Cover], sets: &[States]) -> Result<bool, Refusal> {
        if system.is_empty() {
            return Ok(true);
        }
        // Images under the paths tried so far: covers share their beginnings.
        let mut images: HashMap<&[usize], Option<System>> = HashMap::new();
        for cover in covers {
            let states = &sets[cover.set];
            self.effort.spend(states.bounds.len() + states.values.iter().map(Vec::len).sum::<usize>())?;
            for length in 1..=cover.path.len() {
                let (path, map) = (&cover.path[..length], cover.path[length - 1]);
                if images.contains_key(path) {
                    continue;
                }
                if !self.maps.contains(&map) {
                    return Err("a cover applies an assertion that may not be used".into());
                }
                let before = if length == 1 { Some(system) } else { images[&path[..length - 1]].as_ref() };
                let image = match before {
                    Some(before) => self.image(&self.program.assertions[map], before)?,
                    None => None,
                };
                images.insert(path, image);
            }
            let last = if cover.path.is_empty() { Some(system) } else { images[&cover.path[..]].as_ref() };
            if let Some(last) = last
                && self.inside(last, states)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks a table.
    pub fn check(&self, table: &Unreachable) -> Result<(), Refusal> {
        for (number, (states, covers)) in table.sets.iter().zip(&table.covers).enumerate() {
            let after = self.system(states)?;
            for (index, rule) in self.program.rules.iter().enumerate() {
                let reducts = self.reducts(rule, &after)?;
                if rule.fact {
                    if !reducts.is_empty() {
                        return Err(format!("set {number} meets fact {index}"));
                    }
                    continue;
                }
                for reduct in reducts {
                    if !self.covered(&reduct, &covers[index], &table.sets)? {
                        return Err(format!("a reduct of set {number} by rule {index} is not covered"));
                    }
                }
            }
        }
        Ok(())
    }
}
