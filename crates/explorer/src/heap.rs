//! The objects of a state and who refers to them, for a drawing.
//!
//! Everything comes from the leaves of the state: an object is what leaves belong to, a reference is a leaf whose value names one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::api::{self, NodeKind};
use quotient_explain::{Group, Leaf};
use quotient_outcome::Value as Shown;

/// Nodes that are drawn at most; of more, only what changed and its neighbours.
pub(crate) const MOST: usize = 60;
/// Where somebody asks for all.
pub(crate) const ALL: usize = 1_000;

#[derive(Default)]
struct Node<'a> {
    thread: Option<u32>,
    is_root: bool,
    lock: Option<(String, u32)>,
    fields: Vec<&'a Leaf>,
}

/// The object that a leaf refers to. Objects have a number after `#`, which channels and functions have not.
fn target(leaf: &Leaf) -> Option<&str> {
    match &leaf.value {
        Shown::Reference(name) if name.contains('#') => Some(name),
        _ => None,
    }
}

/// The drawing of a state; `before` are the leaves of the state one step earlier.
pub(crate) fn draw(leaves: &[Leaf], before: &[Leaf], most: usize, name: &dyn Fn(u32) -> String) -> api::Heap {
    let mut nodes: BTreeMap<String, Node<'_>> = BTreeMap::new();
    for leaf in leaves {
        let (id, node) = match &leaf.group {
            Group::Object(object) => (object.clone(), Node::default()),
            Group::Process(pid) => {
                (name(*pid), Node { thread: Some(*pid), is_root: true, ..Node::default() })
            }
            Group::Global => ("globals".to_owned(), Node { is_root: true, ..Node::default() }),
            Group::Channel => continue,
        };
        // Of roots only what refers to objects is shown.
        if node.is_root && target(leaf).is_none() {
            continue;
        }
        let node = nodes.entry(id).or_insert(node);
        match &leaf.value {
            Shown::Lock(holder, _) if leaf.name == "lock" => node.lock.clone_from(holder),
            _ => node.fields.push(leaf),
        }
    }
    // An object without fields is seen only by who refers to it.
    for leaf in leaves.iter().filter_map(target) {
        nodes.entry(leaf.to_owned()).or_default();
    }
    let old: BTreeMap<&str, &Shown> = before.iter().map(|l| (l.full.as_str(), &l.value)).collect();
    let changed = |leaf: &Leaf| !before.is_empty() && old.get(leaf.full.as_str()) != Some(&&leaf.value);
    let layers = layers(&nodes);
    let shown = chosen(&nodes, most, &changed);
    let drawn = nodes.iter().filter(|(id, _)| shown.contains(id.as_str())).map(|(id, node)| {
        let fields = node.fields.iter().map(|leaf| {
            let to = target(leaf).filter(|to| shown.contains(to));
            api::HeapField {
                name: leaf.name.clone(),
                text: leaf.value.to_string(),
                to: to.map(str::to_owned),
                changed: changed(leaf),
                before: old.get(leaf.full.as_str()).filter(|_| changed(leaf)).map(ToString::to_string),
            }
        });
        api::HeapNode {
            id: id.clone(),
            name: id.clone(),
            kind: if node.is_root { NodeKind::Root } else { NodeKind::Object },
            pid: node.thread,
            layer: layers.get(id.as_str()).copied().unwrap_or(1),
            lock: node.lock.as_ref().map(|(name, pid)| api::Process { pid: *pid, name: name.clone() }),
            fields: fields.collect(),
        }
    });
    let drawn: Vec<api::HeapNode> = drawn.collect();
    api::Heap { hidden: nodes.len() - drawn.len(), nodes: drawn }
}

/// How many references lead from the roots to a node.
fn layers<'a>(nodes: &'a BTreeMap<String, Node<'_>>) -> BTreeMap<&'a str, usize> {
    let roots = nodes.iter().filter(|(_, n)| n.is_root).map(|(id, _)| id.as_str());
    let mut layers: BTreeMap<&str, usize> = roots.map(|id| (id, 0)).collect();
    let mut open: VecDeque<&str> = layers.keys().copied().collect();
    while let Some(id) = open.pop_front() {
        let next = layers[id] + 1;
        for to in nodes[id].fields.iter().filter_map(|l| target(l)) {
            if let Some((to, _)) = nodes.get_key_value(to)
                && !layers.contains_key(to.as_str())
            {
                layers.insert(to, next);
                open.push_back(to);
            }
        }
    }
    layers
}

/// The nodes to draw: all, or what changed with what it refers to and what refers to it.
fn chosen<'a>(
    nodes: &'a BTreeMap<String, Node<'_>>,
    most: usize,
    changed: &dyn Fn(&Leaf) -> bool,
) -> BTreeSet<&'a str> {
    if nodes.len() <= most {
        return nodes.keys().map(String::as_str).collect();
    }
    let touched: BTreeSet<&str> = nodes
        .iter()
        .filter(|(_, n)| n.is_root || n.fields.iter().any(|l| changed(l)))
        .map(|(id, _)| id.as_str())
        .collect();
    let mut shown = touched.clone();
    for (id, node) in nodes {
        for to in node.fields.iter().filter_map(|l| target(l)) {
            let Some((to, _)) = nodes.get_key_value(to) else { continue };
            if touched.contains(id.as_str()) {
                shown.insert(to);
            }
            if touched.contains(to.as_str()) {
                shown.insert(id);
            }
        }
    }
    shown.into_iter().take(most).collect()
}
