//! A state as a graph, or as what its nodes read.

use quotient_identity::Place;
use quotient_symmetry::graph::Graph;

use super::picture::{Edge, Leads, Picture, Stands};
use super::points::{Points, Shown, Standing};
use super::small_group::Reading;
use super::{Names, Renaming};
use crate::machine::Machine;
use crate::state::cell::Cell;
use crate::state::layout::ChannelLayout;
use crate::step::eval::read;

/// Stands for "an edge says more".
const REFERENCE: u64 = u64::MAX;

/// What values are shown to: a graph, or a reading.
trait Sink {
    fn word(&mut self, word: u64);
    fn reference(&mut self, label: u32, node: u32);
}

impl Sink for Graph {
    #[inline]
    fn word(&mut self, word: u64) {
        Graph::word(self, word);
    }

    #[inline]
    fn reference(&mut self, label: u32, node: u32) {
        Graph::word(self, REFERENCE);
        self.edge(label, node);
    }
}

impl Sink for Reading {
    #[inline]
    fn word(&mut self, word: u64) {
        Reading::word(self, word);
    }

    #[inline]
    fn reference(&mut self, label: u32, node: u32) {
        // Nodes are the root and one for each point.
        Reading::reference(self, u64::from(label), node - 1);
    }
}

/// Where the location of a thread is, if it moves.
#[inline]
fn stands_at(machine: &Machine, memory: *const u8, standing: &Standing) -> Option<Place> {
    let location = machine.location(memory, standing.at, standing.function);
    standing.locations.get(location as usize).copied().flatten()
}

/// How many messages a channel has.
pub(super) fn length(state: &[u64], at: u32, layout: &ChannelLayout) -> u32 {
    let cell = if layout.length_size == 1 { Cell::U8(u8::MAX) } else { Cell::U16(u16::MAX) };
    read(state, at, cell) as u32
}

impl Renaming {
    /// Writes the graph of a state, whose picture was chosen.
    pub(super) fn show(&self, machine: &Machine, state: &[u64], out: &mut Graph) {
        let Some(picture) = self.picture(self.shape) else { return };
        let Some(points) = &picture.points else { return show_links(picture, state, out) };
        let memory = state.as_ptr().cast::<u8>();
        for (node, index) in picture.nodes.iter().zip(0..) {
            match node.stands {
                Stands::Thread(_) => out.thread(node.kind, node.control),
                _ => out.object(node.kind),
            };
            let mut apart = false;
            for standing in points.stand[index as usize].iter().map(|s| &points.standing[*s as usize]) {
                match stands_at(machine, memory, standing) {
                    Some(place) if place.point + 1 == index => out.word(u64::from(place.role)),
                    Some(_) => {
                        out.word(REFERENCE);
                        apart = true;
                    }
                    None => out.word(REFERENCE - 1),
                }
            }
            // SAFETY: the state has the shape of the picture.
            out.words(picture.words(index).iter().map(|word| unsafe { word.read(memory) }));
            edges(picture, false, picture.edges(index), memory, out);
            if apart {
                let mut label = points.first_label;
                for standing in points.stand[index as usize].iter().map(|s| &points.standing[*s as usize]) {
                    match stands_at(machine, memory, standing) {
                        Some(place) if place.point + 1 != index => {
                            out.edge(label + place.role, place.point + 1);
                        }
                        _ => {}
                    }
                    label += points.stride;
                }
            }
            self.show_values(machine, state, (picture, points, index), out);
        }
    }

    /// What the nodes of a state read.
    pub(super) fn read(&self, machine: &Machine, state: &[u64], out: &mut Reading) {
        out.clear();
        let Some(picture) = self.picture(self.shape) else { return };
        let Some(points) = &picture.points else { return };
        let memory = state.as_ptr().cast::<u8>();
        for index in 0..picture.nodes.len() as u32 {
            out.node();
            for standing in points.stand[index as usize].iter().map(|s| &points.standing[*s as usize]) {
                match stands_at(machine, memory, standing) {
                    Some(place) if place.point + 1 == index => out.word(u64::from(place.role)),
                    Some(place) => out.reference(u64::from(place.role), place.point),
                    None => out.word(REFERENCE - 1),
                }
            }
            // SAFETY: the state has the shape of the picture.
            picture.words(index).iter().for_each(|word| out.word(unsafe { word.read(memory) }));
            self.show_values(machine, state, (picture, points, index), out);
        }
    }

    /// Shows the slots of a node, and the messages of its channels.
    fn show_values<O: Sink>(
        &self,
        machine: &Machine,
        state: &[u64],
        (picture, points, index): (&Picture, &Points, u32),
        out: &mut O,
    ) {
        let mut label = points.first_label + points.stand[index as usize].len() as u32 * points.stride;
        let show = |shown: Shown, out: &mut O| match shown {
            Shown::Edge(label, node) => out.reference(label, node),
            Shown::Data(word) => out.word(word),
        };
        for slot in picture.slots(index) {
            let value = read(state, slot.at, slot.cell);
            let dead = value == 0
                && matches!(&*self.names, Names::Numbers(numbers) if numbers.is_dead(machine, state, slot));
            if dead {
                out.word(0);
            } else {
                show(points.show(slot.holds, value, label), out);
            }
            label += points.stride;
        }
        for channel in picture.channels(index) {
            let layout = &self.layout.channels[channel.kind as usize];
            let length = length(state, channel.at, layout);
            out.word(u64::from(length));
            let mut at = channel.at + layout.length_size;
            for _ in 0..length {
                let field = |f: usize| read(state, at + layout.fields[f].0, layout.fields[f].1);
                for ((offset, cell), content) in
                    layout.fields.iter().zip(&points.fields[channel.number as usize])
                {
                    let value = read(state, at + offset, *cell);
                    match content.holds(field) {
                        Some(holds) => show(points.show(holds, value, label), out),
                        None => out.word(u64::from(value as u32)),
                    }
                    label += points.stride;
                }
                at += layout.message_size;
            }
            // Later labels must not depend on the length.
            label += (layout.capacity - length) * layout.fields.len() as u32 * points.stride;
        }
    }
}

/// Writes a graph whose nodes have the same words in every state of the shape.
fn show_links(picture: &Picture, state: &[u64], out: &mut Graph) {
    let memory = state.as_ptr().cast::<u8>();
    // SAFETY: the state has the shape of the picture.
    out.words(picture.words.iter().map(|word| unsafe { word.read(memory) }));
    // Only members of unordered collections have the same label.
    let ordered = picture.unordered.is_empty();
    let (mut word, mut edge) = (0, 0);
    for node in &picture.nodes {
        let control = matches!(node.stands, Stands::Thread(_)).then_some(node.control);
        out.node(node.kind, control, node.hidden, word);
        word = node.words_end;
        edges(picture, ordered, &picture.edges[edge..node.edges_end as usize], memory, out);
        edge = node.edges_end as usize;
    }
}

/// Adds the edges of a node. `ordered`: no two links of it have the same label.
#[inline(always)]
fn edges(picture: &Picture, ordered: bool, edges: &[Edge], memory: *const u8, out: &mut Graph) {
    for edge in edges {
        match edge.leads {
            Leads::To(node) => out.edge(edge.label, node),
            Leads::By(link) => {
                // SAFETY: links of the shape lie inside the state.
                let number = unsafe { link.load(memory.add(link.at as usize)) };
                let nodes = if link.thread { &picture.threads } else { &picture.objects };
                match number.checked_sub(1).and_then(|n| nodes.get(n as usize)) {
                    Some(node) if ordered => out.ordered_edge(edge.label, *node),
                    Some(node) => out.edge(edge.label, *node),
                    None => {}
                }
            }
        }
    }
}
