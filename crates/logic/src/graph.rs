//! Explicit graphs whose nodes carry letters.

use crate::Lasso;

/// A graph with successor lists. Every node must have a successor; one that has none gets an edge to itself.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Where the successors of each node start in `targets`, and where the last ones end.
    starts: Vec<usize>,
    targets: Vec<u32>,
    /// The propositions that hold in each node, as bits.
    letters: Vec<u64>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Graph {
        Graph { starts: vec![0], targets: Vec::new(), letters: Vec::new() }
    }

    /// Adds the next node: its letter and successors, which may be nodes that are added later.
    pub fn push(&mut self, letter: u64, successors: &[u32]) {
        let own = self.letters.len() as u32;
        self.letters.push(letter);
        if successors.is_empty() {
            self.targets.push(own);
        } else {
            self.targets.extend_from_slice(successors);
        }
        self.starts.push(self.targets.len());
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The successors of a node, in the order they were given.
    pub fn successors(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    /// The propositions that hold in a node.
    pub fn letter(&self, node: usize) -> u64 {
        self.letters[node]
    }

    /// The same nodes and edges with other letters.
    pub(crate) fn relabelled(&self, letters: Vec<u64>) -> Graph {
        Graph { starts: self.starts.clone(), targets: self.targets.clone(), letters }
    }

    /// The edges turned round.
    pub(crate) fn reversed(&self) -> Graph {
        let mut starts = vec![0; self.len() + 1];
        for t in &self.targets {
            starts[*t as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; self.targets.len()];
        for node in 0..self.len() {
            for t in self.successors(node) {
                targets[next[*t as usize]] = node as u32;
                next[*t as usize] += 1;
            }
        }
        Graph { starts, targets, letters: Vec::new() }
    }

    /// The word on a path of nodes whose last `cycle` nodes are repeated for ever.
    pub fn word(&self, path: &[u32], cycle: usize) -> Lasso {
        let letters: Vec<u64> = path.iter().map(|n| self.letter(*n as usize)).collect();
        let (prefix, cycle) = letters.split_at(letters.len() - cycle);
        Lasso { prefix: prefix.to_vec(), cycle: cycle.to_vec() }
    }
}
