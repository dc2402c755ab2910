//! The coloured graph of a specialised program, whose automorphisms are renamings that the program cannot notice.
//!
//! Nodes are the parts of states (threads, channels, cells, locations), the names in them, classes of names, arrays, and the code: steps,
//! operations, actions, expressions. Equal expressions are one node, so an automorphism is known by what it does to parts and names. Operands and
//! options whose order does not matter have edges with one label. Constants are edges to names: they restrict, they do not
//! pin. Numbers are nodes of their own colours, and so stay.
//!
//! Why an automorphism `p` is a symmetry. Let `p(s)` be the state in which the cell `p(c)` holds `p(v)` where `c` holds `v` in `s`,
//! thread `p(t)` stands at `p(l)` where `t` stands at `l`, and channel `p(k)` holds the messages of `k`, each field renamed. By induction over
//! expressions, the value of `p(e)` in `p(s)` is `p` of the value of `e` in `s`:
//!
//! - a number is its own image, a name goes where `p` takes it, a channel too;
//! - a cell by definition; an element `a[i]` because the cell with index `i` of an array has edges to the array and to the name of
//!   `i`, so that `p` takes it to the cell of `p(a)` with index `p(i)`;
//! - `==`, because `p` is injective on the values of each class (names go to names of one class; a class holds every value
//!   there may be), and both sides are of one class;
//! - tables because their entries are nodes; other operators because what they compute with is numeric, and is the same;
//! - a field of a message by the class that the channel has for it, under its tag where it is split by one ([`mod@crate::unions`]);
//! - what asks for locations, threads and channels because these have edges to them.
//!
//! So an option of `t` at `l` can be taken in `s` exactly when its image can be taken by `p(t)` in `p(s)`: operations keep their kind,
//! `else` depends on the other options of its location, ranks and the order of options in a `d_step` are colours, a rendezvous has
//! both its partners. Its actions then do to `p(s)` what they do to `s`, in an order that differs at most where that does not matter
//! ([`mod@crate::layers`]), and are a fault in both or in neither. Capacity and types of channels, types of cells, labels for end, acceptance and
//! progress are colours. What is not understood is refused, before.

use quotient_symmetry::graph::Graph;

use crate::ground::{Act, Cell, Exp, Setting, Step, each, may_fault};
use crate::layers::layers;
use crate::nodes::{Colour, Detail, Nodes, What};
use crate::sorts::{ClassId, Sorts};
use crate::specialise::Specialised;

/// A part of states, or a name in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A thread.
    Thread(u32),
    /// A channel, by its number.
    Channel(i32),
    /// A value of a class of names.
    Name(u32, i32),
    /// A scalar of a variable.
    Cell(Cell),
    /// A location of a thread.
    Location(u32, u32),
    /// A location of the automaton that watches.
    Watch(u32),
}

/// Too large to be looked at.
pub(crate) const MOST_NODES: usize = 40_000;

/// The graph: parts first, in order, then everything else.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    pub(crate) parts: Vec<Part>,
    /// The nodes of steps: thread, location, and which of its steps.
    pub(crate) steps: Vec<(u32, StepAt)>,
}

/// A thread, one of its locations, and the number of a step there.
pub(crate) type StepAt = (u32, u32, u32);

/// What a step mentions, and the layers of its actions.
struct Children {
    nodes: Vec<(u32, u32)>,
    layers: Vec<u32>,
}

pub(crate) struct Builder<'a> {
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) of: &'a Specialised,
    pub(crate) sorts: &'a Sorts<'a>,
    pub(crate) nodes: Nodes,
    steps: Vec<(u32, StepAt)>,
    /// Threads of different functions stay apart.
    apart: bool,
}

/// Builds the graph; none when it would be too large.
pub(crate) fn build(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>) -> Option<Built> {
    build_with(setting, of, sorts, false)
}

/// The same, in which only threads of one function can take each other's place.
pub(crate) fn build_apart(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>) -> Option<Built> {
    build_with(setting, of, sorts, true)
}

fn build_with(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>, apart: bool) -> Option<Built> {
    let mut builder = Builder { setting, of, sorts, nodes: Nodes::default(), steps: Vec::new(), apart };
    builder.threads();
    builder.channels();
    builder.locations();
    builder.code();
    (builder.nodes.len() <= MOST_NODES).then(|| builder.finish())
}

impl Builder<'_> {
    fn threads(&mut self) {
        for (thread, of) in self.of.threads.iter().enumerate() {
            // Only the youngest thread can end.
            let pinned = if of.exits.is_some() { thread as u32 + 1 } else { 0 };
            let function = if self.apart { self.setting.threads[thread].0 } else { 0 };
            let colour = Colour::with_all("thread", [pinned, function, 0]);
            self.nodes.add(What::Part(Part::Thread(thread as u32)), colour);
        }
    }

    fn channels(&mut self) {
        for (index, channel) in self.setting.channels.iter().enumerate() {
            let kind = &self.setting.program.channel_types[channel.kind.0 as usize];
            let class = self.sorts.channel[index];
            let number = index as i32 + 1;
            let pinned = if self.sorts.is_names(class) { 0 } else { number as u32 };
            let fields = self.nodes.detail(Detail::Types(kind.fields.clone()));
            let colour = Colour::with_all("channel", [kind.capacity, fields, pinned]);
            let node = self.nodes.add(What::Part(Part::Channel(number)), colour);
            if let Some(owner) = channel.owner.and_then(|t| self.nodes.part(Part::Thread(t))) {
                self.nodes.edge(node, 0, owner);
            }
            let names = |sorts: &Sorts<'_>, field: usize, tag: Option<i32>| {
                let class = sorts.field(class, field, tag)?;
                (sorts.is_names(class) && !sorts.holds_channels(class)).then_some(class)
            };
            let union = self.sorts.unions.as_ref().and_then(|u| u.of_channel(index));
            for field in 0..kind.fields.len() {
                match union.filter(|u| u.fields.contains(&field)) {
                    None => {
                        if let Some(class) = names(self.sorts, field, None) {
                            let class = self.class(class);
                            self.nodes.edge(node, 1 + field as u32, class);
                        }
                    }
                    Some(union) => {
                        let tags = self.sorts.field(self.sorts.channel[index], union.tag, None);
                        for &tag in &union.values {
                            if let Some(class) = names(self.sorts, field, Some(tag)) {
                                self.tagged(node, (tags, tag), (field, class));
                            }
                        }
                    }
                }
            }
        }
    }

    /// What a field holds in the messages of a channel that have a tag.
    fn tagged(
        &mut self,
        channel: u32,
        (tags, tag): (Option<ClassId>, i32),
        (field, class): (usize, ClassId),
    ) {
        let children = vec![(0, channel), (1, self.name(tags, tag)), (2 + field as u32, self.class(class))];
        self.nodes.code("tagged", children);
    }

    fn locations(&mut self) {
        let mut numbered = false;
        self.of.properties.iter().for_each(|e| each(e, &mut |e| numbered |= matches!(e, Exp::LocationOf(_))));
        for (thread, of) in self.of.threads.iter().enumerate() {
            for (location, loc) in of.locs.iter().enumerate() {
                let Some(loc) = loc else { continue };
                // Where the numbers of locations are asked for, they stay.
                let number = if numbered { location as u32 + 1 } else { 0 };
                let part = Part::Location(thread as u32, location as u32);
                let node =
                    self.nodes.add(What::Part(part), Colour::with_all("location", [loc.flags, number, 0]));
                if let Some(thread) = self.nodes.part(Part::Thread(thread as u32)) {
                    self.nodes.edge(node, 0, thread);
                }
            }
        }
    }

    fn code(&mut self) {
        self.asked();
        // What a step forgets depends on which cells there are: forgets come when everything else is known.
        let mut made: Vec<Children> = Vec::new();
        for (thread, of) in self.of.threads.iter().enumerate() {
            if let Some(e) = &of.provided {
                let node = self.truth(e);
                if let Some(thread) = self.nodes.part(Part::Thread(thread as u32)) {
                    self.nodes.edge(thread, 1, node);
                }
            }
            for (location, loc) in of.locs.iter().enumerate() {
                for (which, step) in loc.iter().flat_map(|l| &l.steps).enumerate() {
                    if self.nodes.len() > MOST_NODES {
                        return;
                    }
                    let at = (thread as u32, location as u32, which as u32);
                    let children = self.children(at, step);
                    made.push(children);
                }
            }
        }
        let mut made = made.into_iter();
        for (thread, of) in self.of.threads.iter().enumerate() {
            for (location, loc) in of.locs.iter().enumerate() {
                let Some(loc) = loc else { continue };
                let mut known = Vec::new();
                for ((which, step), children) in loc.steps.iter().enumerate().zip(made.by_ref()) {
                    if self.nodes.len() > MOST_NODES {
                        return;
                    }
                    // The first option of a d_step that can be taken is taken.
                    let order = (loc.deterministic && loc.steps.len() > 1).then_some(which);
                    let at = (thread as u32, location as u32, which as u32);
                    self.step(at, order, step, children, &mut known);
                }
            }
        }
    }

    /// What is asked from outside: each property by itself, or as a move between locations of the automaton, which may be exchanged with
    /// their moves. Then what is looked at is the program together with the automaton: a renaming takes its moves to moves that are
    /// possible in the image, with the same marks. Where a condition may be a fault its place among the others counts, and nothing is exchanged.
    fn asked(&mut self) {
        let asked = self.setting.asked;
        let properties = &self.of.properties;
        if asked.moves.len() != properties.len() || properties.iter().any(|e| may_fault(self.setting, e)) {
            for (at, property) in properties.iter().enumerate() {
                let node = self.truth(property);
                self.nodes.code(Colour::with("property", at as u32), vec![(0, node)]);
            }
            return;
        }
        for (at, kind) in asked.locations.iter().enumerate() {
            self.nodes.add(What::Part(Part::Watch(at as u32)), Colour::with("watch", *kind));
        }
        for (property, m) in properties.iter().zip(&asked.moves) {
            let mut children = vec![(0, self.truth(property))];
            children.extend(self.nodes.part(Part::Watch(m.from)).map(|from| (1, from)));
            children.extend(m.to.and_then(|to| self.nodes.part(Part::Watch(to))).map(|to| (2, to)));
            let marks = [m.marks as u32, (m.marks >> 32) as u32, 0];
            self.nodes.code(Colour::with_all("move", marks), children);
        }
    }

    /// All that a step mentions, except what it forgets.
    fn children(&mut self, (thread, location, _): StepAt, step: &Step) -> Children {
        let op = self.operation(&step.op);
        let mut nodes = vec![(1, op)];
        nodes.extend(self.nodes.part(Part::Location(thread, location)).map(|here| (0, here)));
        if let Some(target) = step.target {
            let to = self.nodes.part(Part::Location(thread, target));
            // A location where nobody can be: a step that leads back to starting others is refused before.
            let to = to.unwrap_or_else(|| self.number(target as i32));
            nodes.push((2, to));
        }
        let layers = if step.acts.is_empty() { Vec::new() } else { layers(self.setting, &step.acts) };
        for (act, layer) in step.acts.iter().zip(&layers) {
            if !matches!(act, Act::Forget(_)) {
                nodes.extend(self.act(act).map(|node| (10 + layer, node)));
            }
        }
        Children { nodes, layers }
    }

    /// A step. Options of a location that are alike, `known` so far, are counted.
    fn step(
        &mut self,
        at: StepAt,
        order: Option<usize>,
        step: &Step,
        Children { nodes: mut children, layers }: Children,
        known: &mut Vec<u32>,
    ) {
        for (act, layer) in step.acts.iter().zip(layers) {
            if matches!(act, Act::Forget(_)) {
                children.extend(self.act(act).map(|node| (10 + layer, node)));
            }
        }
        children.sort_unstable();
        children.dedup();
        let flags = u32::from(step.keeps) << 1 | u32::from(step.target.is_some());
        let order = order.map_or(0, |which| which as u32 + 1);
        let mut copies = 0;
        let node = loop {
            let colour = Colour::with_all("step", [flags << 16 | u32::from(step.rank), order, copies]);
            let node = self.nodes.code(colour, children.clone());
            if !known.contains(&node) {
                break node;
            }
            copies += 1;
        };
        known.push(node);
        self.steps.push((node, at));
    }

    fn finish(self) -> Built {
        let (graph, parts, number) = self.nodes.finish();
        let steps = self.steps.iter().map(|(node, at)| (number[*node as usize], *at)).collect();
        Built { graph, parts, steps }
    }
}
