//! Representatives by numbering state graphs.

use crate::exact::{Exact, ExactStatistics};
use crate::exchanges::Exchanges;
use crate::graph::Graph;
use crate::heap::HeapWalk;
use crate::sizes::Sizes;
use crate::thread_order::{ThreadOrder, ThreadSorter};
use quotient_seams::{Representative, Worker};

/// How a system of type `S` shows its states as graphs, and applies a renumbering to a state.
///
/// What must hold for the result to be sound: states whose graphs are renumberings of each other by members of the group
/// that [`StateGraph::rename`] draws from are bisimilar, for the properties asked. The implementation establishes that, or
/// shows no nodes to rename.
pub trait StateGraph<S: ?Sized> {
    /// Writes the graph of a state to `out`, which is empty. `false`: nothing of this state may be renamed, and `out` does not
    /// matter.
    fn graph(&mut self, system: &S, state: &[u64], out: &mut Graph) -> bool;

    /// Writes the state renamed by the numbering of the graph that was made last, from this state: `number[n]` is the number
    /// of node `n`. `false` when that is the state itself (and `out` was not touched).
    fn rename(&mut self, system: &S, state: &[u64], number: &[u32], out: &mut Vec<u64>) -> bool;

    /// What a thread is called after the last renaming; asked only when that changed the state.
    fn new_name(&self, thread: u32) -> u32 {
        thread
    }

    /// A canonical representative, if there is a quicker way to one than numbering a graph; as
    /// [`Representative::representative`]. It must be taken for all states of a class or for none.
    fn shortcut(&mut self, _system: &S, _state: &[u64], _out: &mut Vec<u64>) -> Option<bool> {
        None
    }

    /// Exchanges of the group, in the graph that was made last, if it is known to be all permutations.
    fn exchanges(&self) -> Option<&Exchanges> {
        None
    }

    /// Is it known without a graph that nothing of this state may be renamed?
    fn stays(&mut self, _system: &S, _state: &[u64]) -> bool {
        false
    }

    /// How many states there are in the class of this one, if that is known. `scratch` is empty, and may be used.
    fn orbit(&mut self, _system: &S, _state: &[u64], _scratch: &mut Graph) -> Option<f64> {
        None
    }
}

/// Which representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Objects by a walk from globals and threads, threads in the order given: canonical for the heap alone when the order is
    /// [`ThreadOrder::None`].
    Heap(ThreadOrder),
    /// Objects by a walk from globals and threads where these stand, then threads in the order given: R. Iosif's figure 5.
    Original(ThreadOrder),
    /// The canonical form.
    Exact,
}

impl Order {
    /// The name reports use.
    pub fn name(self) -> &'static str {
        match self {
            Order::Heap(ThreadOrder::None) => "heap",
            Order::Heap(ThreadOrder::ProgramCounter) => "pc",
            Order::Heap(ThreadOrder::Bounded(_)) => "kbots",
            Order::Original(_) => "pc-original",
            Order::Exact => "exact",
        }
    }
}

/// The representative of a state is the state renamed by an order on its graph.
#[derive(Debug)]
pub struct Ordered<G> {
    /// Makes the graphs.
    pub states: G,
    order: Order,
    graph: Graph,
    number: Vec<u32>,
    places: Vec<u32>,
    walk: HeapWalk,
    sorter: ThreadSorter,
    exact: Exact,
    sizes: Sizes,
}

impl<G> Ordered<G> {
    /// A representative for the systems whose states `states` can show.
    pub fn new(states: G, order: Order) -> Ordered<G> {
        Ordered {
            states,
            order,
            graph: Graph::new(),
            number: Vec::new(),
            places: Vec::new(),
            walk: HeapWalk::default(),
            sorter: ThreadSorter::default(),
            exact: Exact::new(),
            sizes: Sizes::default(),
        }
    }

    /// The order.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How large the classes are whose representatives a search went on from.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// How the exact form came about so far.
    pub fn statistics(&self) -> ExactStatistics {
        self.exact.statistics
    }
}

impl<G> Ordered<G> {
    /// Numbers threads in an order, and objects by a walk from the threads in this order.
    fn number_heap(&mut self, by: ThreadOrder) {
        self.sorter.sort(&self.graph, by);
        if self.graph.has_unordered_edges() {
            self.number_unordered();
        } else {
            self.walk.number(&self.graph, &self.sorter.order, &mut self.number);
        }
    }

    /// Heap symmetry where a walk would have to choose between members of an unordered collection: the canonical numbering of the
    /// graph whose threads are told apart by their place in the order. It depends on the graph and that order alone, like the
    /// walk.
    fn number_unordered(&mut self) {
        let threads = &self.sorter.order;
        self.graph.tell_apart(threads);
        self.exact.number(&self.graph, &mut self.number);
        self.number_threads();
    }

    /// The threads share their numbers in the order given.
    fn number_threads(&mut self) {
        let threads = &self.sorter.order;
        self.places.clear();
        self.places.extend(threads.iter().map(|t| self.number[*t as usize]));
        self.places.sort_unstable();
        for (thread, place) in threads.iter().zip(&self.places) {
            self.number[*thread as usize] = *place;
        }
    }
}

impl<G: Worker> Worker for Ordered<G> {
    fn another(&self) -> Ordered<G> {
        Ordered::new(self.states.another(), self.order)
    }

    fn join(&mut self, other: Ordered<G>) {
        self.states.join(other.states);
        self.exact.statistics.add(&other.exact.statistics);
        self.sizes.add(&other.sizes);
    }
}

impl<S: ?Sized, G: StateGraph<S>> Representative<S> for Ordered<G> {
    fn representative(&mut self, system: &S, state: &[u64], out: &mut Vec<u64>) -> bool {
        if self.order == Order::Exact
            && let Some(changed) = self.states.shortcut(system, state, out)
        {
            return changed;
        }
        self.graph.clear();
        if !self.states.graph(system, state, &mut self.graph) {
            return false;
        }
        match self.order {
            Order::Exact => {
                self.exact.number_in(&self.graph, self.states.exchanges(), &mut self.number);
            }
            Order::Heap(by) => self.number_heap(by),
            Order::Original(by) => {
                self.number_heap(ThreadOrder::None);
                self.sorter.sort(&self.graph, by);
                self.number_threads();
            }
        }
        self.states.rename(system, state, &self.number, out)
    }

    fn name(&self) -> &'static str {
        self.order.name()
    }

    fn is_canonical(&self) -> bool {
        matches!(self.order, Order::Exact | Order::Heap(ThreadOrder::None))
    }

    fn renames(&self) -> bool {
        true
    }

    fn new_name(&self, thread: u32) -> u32 {
        self.states.new_name(thread)
    }

    #[inline]
    fn expanded(&mut self, system: &S, state: &[u64]) {
        if self.order != Order::Exact {
            return;
        }
        if self.states.stays(system, state) {
            self.sizes.put_alone();
        } else if let Some(hash) = self.sizes.takes(state) {
            self.graph.clear();
            let size = self.states.orbit(system, state, &mut self.graph);
            self.sizes.put(hash, size, self.graph.len());
        }
    }

    fn keeps_found(&self) -> bool {
        let sorts = |by| by != ThreadOrder::None;
        matches!(self.order, Order::Heap(by) | Order::Original(by) if sorts(by))
    }
}
