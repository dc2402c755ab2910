//! States as graphs.
//!
//! A state is a rooted, labelled graph: node 0, the *root*, carries what is global, the other nodes are threads and objects
//! (cells, channels, records). A node has a *kind*, words of *data*, and labelled edges. Two edges of one node with the same
//! label are *unordered*: this is how a set or a relation is written. The root has, besides its own edges, one unordered edge
//! to every thread, which is not stored.
//!
//! Two states are symmetric when one graph is a renumbering of the other that fixes the root.

/// Number of a node.
pub type NodeId = u32;

/// The node that carries what is global.
pub const ROOT: NodeId = 0;

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// What it means: a field, a variable, a relation.
    pub label: u32,
    /// Where it leads.
    pub target: NodeId,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: u32,
    /// How many words of the data say where the thread stands; `NOT_A_THREAD` for objects.
    control: u32,
    /// How many words at the end of the data are not values of the program.
    hidden: u32,
    data: u32,
    edges: u32,
}

const NOT_A_THREAD: u32 = u32::MAX;

/// A graph, built node by node in one arena; [`Graph::clear`] keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    data: Vec<u64>,
    edges: Vec<Edge>,
    unordered: bool,
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Forgets everything, keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.data.clear();
        self.edges.clear();
        self.unordered = false;
    }

    #[inline]
    fn push(&mut self, kind: u32, control: u32) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node {
            kind,
            control,
            hidden: 0,
            data: self.data.len() as u32,
            edges: self.edges.len() as u32,
        });
        id
    }

    /// Adds an object (the first node is the root). Data and edges that follow are its own.
    #[inline]
    pub fn object(&mut self, kind: u32) -> NodeId {
        self.push(kind, NOT_A_THREAD)
    }

    /// Adds a thread. The first `control` words of its data say where it stands: the height of its stack and its locations.
    #[inline]
    pub fn thread(&mut self, kind: u32, control: u32) -> NodeId {
        debug_assert!(control != NOT_A_THREAD);
        self.push(kind, control)
    }

    /// Adds words that nodes take as their data afterwards, by [`Graph::node`].
    #[inline]
    pub fn words(&mut self, words: impl Iterator<Item = u64>) {
        self.data.extend(words);
    }

    /// Adds a node whose data starts at this word, and goes on to the next one's. A thread if `control` says how many of the words
    /// tell where it stands; the last `hidden` words are hidden.
    #[inline]
    pub fn node(&mut self, kind: u32, control: Option<u32>, hidden: u32, data: u32) {
        let control = control.unwrap_or(NOT_A_THREAD);
        self.nodes.push(Node { kind, control, hidden, data, edges: self.edges.len() as u32 });
    }

    /// Adds a word of data to the last node.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.data.push(word);
    }

    /// Adds an edge to the last node. Labels must not decrease. The target may be a node that is still to come.
    #[inline]
    pub fn edge(&mut self, label: u32, target: NodeId) {
        if let (Some(node), Some(last)) = (self.nodes.last(), self.edges.last()) {
            self.unordered |= last.label == label && self.edges.len() > node.edges as usize;
        }
        self.edges.push(Edge { label, target });
    }

    /// As [`Graph::edge`], where the label is known to be greater than those before.
    #[inline]
    pub fn ordered_edge(&mut self, label: u32, target: NodeId) {
        self.edges.push(Edge { label, target });
    }

    /// Number of nodes.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The kind of a node.
    #[inline]
    pub fn kind(&self, node: NodeId) -> u32 {
        self.nodes[node as usize].kind
    }

    /// Whether a node is a thread.
    #[inline]
    pub fn is_thread(&self, node: NodeId) -> bool {
        self.nodes[node as usize].control != NOT_A_THREAD
    }

    /// The data of a node.
    #[inline]
    pub fn data(&self, node: NodeId) -> &[u64] {
        let n = node as usize;
        let end = self.nodes.get(n + 1).map_or(self.data.len(), |next| next.data as usize);
        &self.data[self.nodes[n].data as usize..end]
    }

    /// The data of a node without what was hidden: words that are not values of the program but say who synchronises with whom
    /// (how often a lock is held).
    pub fn values(&self, node: NodeId) -> &[u64] {
        let data = self.data(node);
        &data[..data.len() - self.nodes[node as usize].hidden as usize]
    }

    /// The words that say where a thread stands; empty for objects.
    pub fn control(&self, node: NodeId) -> &[u64] {
        let control = self.nodes[node as usize].control;
        if control == NOT_A_THREAD { &[] } else { &self.data(node)[..control as usize] }
    }

    /// The edges of a node, by label.
    #[inline]
    pub fn edges(&self, node: NodeId) -> &[Edge] {
        let n = node as usize;
        let end = self.nodes.get(n + 1).map_or(self.edges.len(), |next| next.edges as usize);
        &self.edges[self.nodes[n].edges as usize..end]
    }

    /// Whether some node has two edges with the same label.
    #[inline]
    pub(crate) fn has_unordered_edges(&self) -> bool {
        self.unordered
    }

    /// Makes each of these nodes differ from all others, by its place in the list.
    pub(crate) fn tell_apart(&mut self, nodes: &[NodeId]) {
        for (&node, place) in nodes.iter().zip(1u32..) {
            // Far from what systems use. A node of the same kind by chance would only be a tie more.
            self.nodes[node as usize].kind = u32::MAX - place;
        }
    }

    /// Number of all edges.
    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The threads, in order of their numbers.
    pub fn threads(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as NodeId).filter(|n| self.is_thread(*n))
    }

    /// The graph renumbered: node `n` becomes `number[n]`. Two graphs are symmetric exactly when some numbering of one is
    /// the other. For tests and audits; it allocates.
    pub fn renumbered(&self, number: &[u32]) -> Graph {
        let mut old = vec![0; self.len()];
        for (node, &new) in number.iter().enumerate() {
            old[new as usize] = node as NodeId;
        }
        let mut out = Graph { unordered: self.unordered, ..Graph::new() };
        for &node in &old {
            let Node { kind, control, hidden, .. } = self.nodes[node as usize];
            out.nodes.push(Node {
                kind,
                control,
                hidden,
                data: out.data.len() as u32,
                edges: out.edges.len() as u32,
            });
            out.data.extend_from_slice(self.data(node));
            let start = out.edges.len();
            out.edges.extend(
                self.edges(node).iter().map(|e| Edge { label: e.label, target: number[e.target as usize] }),
            );
            out.edges[start..].sort_unstable();
        }
        out
    }
}

impl PartialEq for Graph {
    /// Node by node; edges with the same label in any order.
    fn eq(&self, other: &Graph) -> bool {
        self.len() == other.len()
            && (0..self.len() as NodeId).all(|n| {
                let sorted = |g: &Graph| {
                    let mut edges = g.edges(n).to_vec();
                    edges.sort_unstable();
                    edges
                };
                self.kind(n) == other.kind(n)
                    && self.nodes[n as usize].control == other.nodes[n as usize].control
                    && self.data(n) == other.data(n)
                    && sorted(self) == sorted(other)
            })
    }
}

impl Eq for Graph {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renumbering_is_equality_up_to_names() {
        let mut g = Graph::new();
        g.object(9);
        g.edge(0, 2);
        g.thread(1, 1);
        g.word(5);
        g.edge(0, 2);
        g.object(2);
        let mut h = Graph::new();
        h.object(9);
        h.edge(0, 1);
        h.object(2);
        h.thread(1, 1);
        h.word(5);
        h.edge(0, 1);
        assert_ne!(g, h);
        assert_eq!(g.renumbered(&[0, 2, 1]), h);
        assert_eq!(g.threads().collect::<Vec<_>>(), [1]);
        assert_eq!(g.control(1), [5]);
    }
}
