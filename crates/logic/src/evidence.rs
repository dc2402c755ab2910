//! Why a state formula has its value in a node: trees of paths.
//!
//! A true `E f` is shown by a path on which `f` holds, a false `A f` by one on which it does not. What `f` says of the states on the
//! way may again be about paths: those parts are shown by paths that branch off (Clarke, Jha, Lu and Veith, "Tree-like
//! counterexamples in model checking", 2002). Only as much is shown as the value depends on: of `a U b`, `b` where it first holds
//! and `a` before. A path that decides by its beginning is shown that far. A true `A f` and a false `E f` are about all paths, and nothing finite shows them.

use std::collections::{BTreeSet, HashSet};

use crate::{Formula, LabelError, Labelling, Lasso, Witness};

/// Why a formula has its value in a node.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The formula.
    pub formula: Formula,
    /// Its value.
    pub holds: bool,
    /// The path that shows it, from the node on, if one does.
    pub way: Option<Witness>,
    /// What more there is to show: of the state at this position of the path (without one: of the node itself).
    pub parts: Vec<(usize, Evidence)>,
}

impl Evidence {
    /// How many paths it has.
    pub fn ways(&self) -> usize {
        usize::from(self.way.is_some()) + self.parts.iter().map(|(_, e)| e.ways()).sum::<usize>()
    }
}

impl Labelling<'_> {
    /// Why a state formula has its value in a node, with at most `most` paths.
    pub fn evidence(&self, node: u32, formula: &Formula, most: usize) -> Result<Evidence, LabelError> {
        self.show(node, formula, &mut { most }, &mut HashSet::new())
    }

    fn show(
        &self,
        node: u32,
        formula: &Formula,
        left: &mut usize,
        shown: &mut HashSet<(u32, Formula)>,
    ) -> Result<Evidence, LabelError> {
        let holds = self.nodes(formula)?[node as usize];
        let mut evidence = Evidence { formula: formula.clone(), holds, way: None, parts: Vec::new() };
        if formula.is_propositional() || !shown.insert((node, formula.clone())) {
            return Ok(evidence);
        }
        let parts: Vec<&Formula> = match formula {
            Formula::Not(a) => vec![a],
            Formula::And(a, b) | Formula::Or(a, b) => {
                // Of a true conjunction both parts count, of a false one a part that is false; the other way round for `||`.
                let all = holds == matches!(formula, Formula::And(..));
                let decides = |f: &&&Formula| Ok(self.nodes(f)?[node as usize] == holds);
                let mut chosen = Vec::new();
                for part in [&**a, &**b] {
                    if all || decides(&&part)? && chosen.is_empty() {
                        chosen.push(part);
                    }
                }
                chosen
            }
            Formula::Exists(path) if holds => {
                self.show_path(node, path, &mut evidence, left, shown)?;
                return Ok(evidence);
            }
            Formula::All(path) if !holds => {
                self.show_path(node, &path.clone().negated(), &mut evidence, left, shown)?;
                return Ok(evidence);
            }
            _ => Vec::new(),
        };
        for part in parts {
            let part = self.show(node, part, left, shown)?;
            if part.ways() > 0 {
                evidence.parts.push((0, part));
            }
        }
        Ok(evidence)
    }

    /// Adds a path on which a path formula holds, and what there is to show along it.
    fn show_path(
        &self,
        node: u32,
        path: &Formula,
        evidence: &mut Evidence,
        left: &mut usize,
        shown: &mut HashSet<(u32, Formula)>,
    ) -> Result<(), LabelError> {
        if *left == 0 {
            return Ok(());
        }
        *left -= 1;
        let Some((mut witness, formula, word, states)) = self.witness_over(node, path)? else {
            return Ok(());
        };
        let mut demands = Demands { word: &word, met: BTreeSet::new(), done: HashSet::new(), last: Some(0) };
        demands.explain(&formula, 0);
        if let Some(last) = demands.last {
            witness.nodes.truncate(last + 1);
            witness.cycle = 0;
        }
        for (position, proposition) in demands.met {
            let state = &states[proposition as usize];
            if !state.is_propositional() {
                let part = self.show(witness.nodes[position], state, left, shown)?;
                if part.ways() > 0 {
                    evidence.parts.push((position, part));
                }
            }
        }
        evidence.way = Some(witness);
        Ok(())
    }
}

/// Finds out which propositions, at which positions of a word, the value of a formula depends on.
struct Demands<'a> {
    word: &'a Lasso,
    met: BTreeSet<(usize, u32)>,
    done: HashSet<(*const Formula, usize)>,
    /// The last position that the value depends on; `None`: it depends on what is repeated for ever.
    last: Option<usize>,
}

impl Demands<'_> {
    /// The position after this one, which the value depends on.
    fn step(&mut self, at: usize) -> usize {
        let next = self.word.next(at);
        self.last = self.last.filter(|_| next > at).map(|last| last.max(next));
        next
    }

    /// Collects what the value that a formula has at a position depends on.
    fn explain(&mut self, formula: &Formula, at: usize) {
        if !self.done.insert((formula, at)) {
            return;
        }
        let value = |word: &Lasso, f: &Formula, at: usize| word.values(f)[at];
        match formula {
            Formula::True | Formula::False => {}
            Formula::Prop(p) => _ = self.met.insert((at, *p)),
            Formula::Not(a) | Formula::Exists(a) | Formula::All(a) => self.explain(a, at),
            Formula::And(a, b) | Formula::Or(a, b) => {
                let holds = value(self.word, formula, at);
                if holds == matches!(formula, Formula::And(..)) {
                    self.explain(a, at);
                    self.explain(b, at);
                } else {
                    self.explain(if value(self.word, a, at) == holds { a } else { b }, at);
                }
            }
            Formula::Next(a) => {
                let next = self.step(at);
                self.explain(a, next);
            }
            Formula::Until(a, b) | Formula::Release(a, b) => {
                // A true `U` and a false `V` end where the second part decides, before which the first one does not get in
                // the way; the others hold on through the second part, until the first one lets go.
                let until = matches!(formula, Formula::Until(..));
                let ends = until == value(self.word, formula, at);
                let (first, second) = (self.word.values(a), self.word.values(b));
                let (mut at, mut seen) = (at, BTreeSet::new());
                while seen.insert(at) {
                    if ends {
                        if second[at] == until {
                            return self.explain(b, at);
                        }
                        self.explain(a, at);
                    } else {
                        self.explain(b, at);
                        if first[at] != until {
                            return self.explain(a, at);
                        }
                    }
                    at = self.step(at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;

    fn prop(p: u32) -> Formula {
        Formula::prop(p)
    }

    fn exists(f: Formula) -> Formula {
        Formula::Exists(Box::new(f))
    }

    fn all(f: Formula) -> Formula {
        Formula::All(Box::new(f))
    }

    /// 0 -> 1 -> 2 -> 2, and 1 -> 3 -> 3; p0 holds in 2, p1 in 3.
    fn fork() -> Graph {
        let mut graph = Graph::new();
        graph.push(0, &[1]);
        graph.push(0, &[2, 3]);
        graph.push(0b01, &[2]);
        graph.push(0b10, &[3]);
        graph
    }

    /// From state 1 both ways are open: a tree with a stem and two branches.
    #[test]
    fn a_conjunction_of_two_ways_is_a_tree() {
        let graph = fork();
        let labelling = Labelling::new(&graph);
        let both = exists(prop(0).eventually()).and(exists(prop(1).eventually()));
        let formula = exists(both.clone().and(prop(0).negated()).next());
        let evidence = labelling.evidence(0, &formula, 16).expect("a state formula");
        assert!(evidence.holds);
        assert_eq!(evidence.ways(), 3);
        let [(1, inner)] = &evidence.parts[..] else { panic!("one part, of the second state: {evidence:?}") };
        assert_eq!(inner.formula, both.clone().and(prop(0).negated()));
        let ends: Vec<u32> = branches(inner).iter().map(|w| *w.nodes.last().expect("a path")).collect();
        assert_eq!(ends, [2, 3]);
        // The same as a counterexample of the negation.
        let counter = labelling.evidence(0, &formula.negated(), 16).expect("a state formula");
        assert!(!counter.holds);
        assert_eq!(counter.ways(), 3);
    }

    fn branches(evidence: &Evidence) -> Vec<&Witness> {
        let own = evidence.way.iter();
        own.chain(evidence.parts.iter().flat_map(|(_, e)| branches(e))).collect()
    }

    /// `AG AF p0` fails: a way to a state from which a run avoids p0 for ever.
    #[test]
    fn nested_universal_formulas_fail_by_two_ways() {
        let graph = fork();
        let labelling = Labelling::new(&graph);
        let formula = all(all(prop(0).eventually()).always());
        let evidence = labelling.evidence(0, &formula, 16).expect("a state formula");
        assert!(!evidence.holds);
        assert_eq!(evidence.ways(), 2);
        let [(at, inner)] = &evidence.parts[..] else { panic!("one part: {evidence:?}") };
        let stem = evidence.way.as_ref().expect("a path");
        let way = inner.way.as_ref().expect("a path");
        assert_eq!(way.nodes[0], stem.nodes[*at]);
        assert!(!way.nodes.contains(&2), "{way:?}");
    }

    /// What is decided by the beginning of a path needs no cycle, what goes on for ever does.
    #[test]
    fn paths_end_where_the_value_is_decided() {
        let graph = fork();
        let labelling = Labelling::new(&graph);
        let way = |formula: &Formula| {
            let evidence = labelling.evidence(0, formula, 16).expect("a state formula");
            let way = evidence.way.expect("a path");
            (way.nodes, way.cycle)
        };
        assert_eq!(way(&exists(prop(0).eventually())), (vec![0, 1, 2], 0));
        assert_eq!(way(&all(prop(1).negated().always())), (vec![0, 1, 3], 0));
        assert_eq!(way(&exists(prop(0).negated().next())), (vec![0, 1], 0));
        for formula in [exists(prop(1).always().eventually()), all(prop(0).eventually())] {
            let (nodes, cycle) = way(&formula);
            assert!(nodes.ends_with(&[3]) && cycle == 1, "{formula:?}: {nodes:?}");
        }
    }

    #[test]
    fn what_is_about_all_paths_has_no_path() {
        let graph = fork();
        let labelling = Labelling::new(&graph);
        for formula in [all(prop(0).or(prop(1)).eventually()), exists(prop(0).and(prop(1)).eventually())] {
            assert_eq!(labelling.evidence(0, &formula, 16).expect("a state formula").ways(), 0);
        }
        assert_eq!(
            labelling.evidence(0, &exists(prop(0).eventually()), 0).expect("a state formula").ways(),
            0
        );
    }
}
