//! Nodes, colours and edges of the program's graph while it is being made.
//!
//! A node is there once: a part, a number, a class, an array, or code with its children. Colours are small keys, never text: this is done for
//! every model, symmetric or not.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use quotient_program::Type;
use quotient_symmetry::graph::Graph;

use crate::build::Part;
use crate::ground::Var;
use crate::sorts::ClassId;

/// Multiplies and rotates: keys are small, and nobody chooses them to collide.
#[derive(Clone, Copy, Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        });
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// A map with a quick hash.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Part(Part),
    Number(i32),
    Class(ClassId),
    Family(Var, Vec<u32>),
    /// By colour and children.
    Code(u32, Vec<(u32, u32)>),
}

/// What must be the same of two nodes that take each other's place: a word, and numbers whose meaning depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Colour(&'static str, [u32; 3]);

impl From<&'static str> for Colour {
    fn from(word: &'static str) -> Colour {
        Colour(word, [0; 3])
    }
}

impl Colour {
    pub(crate) fn with(word: &'static str, one: u32) -> Colour {
        Colour(word, [one, 0, 0])
    }

    pub(crate) fn with_all(word: &'static str, all: [u32; 3]) -> Colour {
        Colour(word, all)
    }
}

/// What colours are made of beside words and numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Detail {
    Type(Type),
    Types(Vec<Type>),
    Values(Vec<i32>),
}

#[derive(Default)]
pub(crate) struct Nodes {
    colours: Map<(Colour, u32), u32>,
    details: Map<Detail, u32>,
    nodes: Map<What, u32>,
    part: Vec<Option<Part>>,
    colour: Vec<u32>,
    edges: Vec<Vec<(u32, u32)>>,
}

impl Nodes {
    pub(crate) fn len(&self) -> usize {
        self.colour.len()
    }

    /// The number of a colour; of code, with so many children.
    fn colour(&mut self, colour: Colour, children: u32) -> u32 {
        let next = self.colours.len() as u32;
        *self.colours.entry((colour, children)).or_insert(next)
    }

    /// The number of a detail of colours, from 1.
    pub(crate) fn detail(&mut self, detail: Detail) -> u32 {
        let next = self.details.len() as u32 + 1;
        *self.details.entry(detail).or_insert(next)
    }

    pub(crate) fn get(&self, what: &What) -> Option<u32> {
        self.nodes.get(what).copied()
    }

    pub(crate) fn part(&self, part: Part) -> Option<u32> {
        self.get(&What::Part(part))
    }

    pub(crate) fn add(&mut self, what: What, colour: impl Into<Colour>) -> u32 {
        if let Some(node) = self.nodes.get(&what) {
            return *node;
        }
        let colour = self.colour(colour.into(), 0);
        self.push(what, colour)
    }

    fn push(&mut self, what: What, colour: u32) -> u32 {
        let node = self.colour.len() as u32;
        self.part.push(if let What::Part(part) = what { Some(part) } else { None });
        self.nodes.insert(what, node);
        self.colour.push(colour);
        self.edges.push(Vec::new());
        node
    }

    pub(crate) fn edge(&mut self, from: u32, label: u32, to: u32) {
        let edges = &mut self.edges[from as usize];
        if !edges.contains(&(label, to)) {
            edges.push((label, to));
        }
    }

    /// A node of code, one for all that look the same. Children with one label are unordered; how often a child occurs counts.
    pub(crate) fn code(&mut self, colour: impl Into<Colour>, mut children: Vec<(u32, u32)>) -> u32 {
        children.sort_unstable();
        let colour = self.colour(colour.into(), children.len() as u32 + 1);
        let what = What::Code(colour, children);
        if let Some(node) = self.nodes.get(&what) {
            return *node;
        }
        let edges = match &what {
            What::Code(_, children) => children
                .chunk_by(|a, b| a == b)
                .map(|same| (same[0].0 + 1_000 * (same.len() as u32 - 1), same[0].1))
                .collect(),
            _ => Vec::new(),
        };
        let node = self.push(what, colour);
        self.edges[node as usize] = edges;
        node
    }

    /// The graph with the parts first, in order; the parts; and the new number of each node.
    pub(crate) fn finish(self) -> (Graph, Vec<Part>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.colour.len() as u32).collect();
        order.sort_by_key(|node| (self.part[*node as usize].is_none(), self.part[*node as usize], *node));
        let mut number = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            number[*old as usize] = new as u32;
        }
        let mut graph = Graph::new();
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for &old in &order {
            graph.object(self.colour[old as usize]);
            sorted.clear();
            sorted.extend(self.edges[old as usize].iter().map(|(label, to)| (*label, number[*to as usize])));
            sorted.sort_unstable();
            sorted.iter().for_each(|(label, to)| graph.edge(*label, *to));
        }
        let parts = order.iter().filter_map(|old| self.part[*old as usize]).collect();
        (graph, parts, number)
    }
}
