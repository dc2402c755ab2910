//! Random state graphs: heaps, rings, relations between threads, unordered collections.

use quotient_symmetry::graph::Graph;

/// What is random: numbers, and graphs by them.
pub struct Random(quotient_testing::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(quotient_testing::Random::new(seed))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.number(n)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.0.chance(percent)
    }

    /// A permutation of `0..n` that fixes 0.
    pub fn renumbering(&mut self, n: usize) -> Vec<u32> {
        let mut p: Vec<u32> = (0..n as u32).collect();
        for i in (2..n).rev() {
            let j = 1 + self.below(i as u64) as usize;
            p.swap(i, j);
        }
        p
    }

    /// A graph of at most `most` nodes.
    pub fn graph(&mut self, most: u64) -> Graph {
        let threads = 1 + self.below(most - 1);
        let objects = self.below(most - threads);
        let n = 1 + threads + objects;
        let kinds = 1 + self.below(2);
        let data = 1 + self.below(2);
        let style = self.below(5);
        let density = [20, 50, 80][self.below(3) as usize];
        let labels = 1 + self.below(3) as u32;
        // Style 3: every label is a permutation of the threads, which leaves refinement nothing to see.
        let permutations: Vec<Vec<u32>> =
            (0..labels).map(|_| self.renumbering(threads as usize + 1)).collect();
        let mut g = Graph::new();
        for node in 0..n {
            if node == 0 {
                g.object(99);
            } else if node <= threads {
                g.thread(self.below(kinds) as u32, 1);
                g.word(self.below(data));
            } else {
                g.object(10 + self.below(kinds) as u32);
                g.word(self.below(data));
            }
            for label in 0..labels {
                match style {
                    3 if (1..=threads).contains(&node) => {
                        g.edge(label, permutations[label as usize][node as usize]);
                    }
                    // A relation: any number of edges with one label.
                    4 if node > 0 => {
                        for target in 1..n {
                            if self.chance(density / 2) {
                                g.edge(label, target as u32);
                            }
                        }
                    }
                    // A ring.
                    2 if (1..=threads).contains(&node) && label == 0 => {
                        g.edge(0, (node % threads + 1) as u32);
                    }
                    _ => {
                        if self.chance(if node == 0 { 20 } else { density }) && n > 1 {
                            g.edge(label, 1 + self.below(n - 1) as u32);
                        }
                    }
                }
            }
        }
        g
    }
}
