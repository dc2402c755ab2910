//! Very weak alternating automata and the generalised automata they are equivalent to.
//!
//! After Gastin and Oddoux (CAV 2001). The alternating automaton has the formula's literals and temporal subformulas as
//! states; a state of the generalised automaton is a set of them, all of which must still be satisfied. Acceptance is on
//! edges, one set per `U` formula: an edge is in it unless it keeps waiting for that formula where it could have got rid
//! of it.

use std::collections::HashMap;

use crate::normal::{Arena, Id, Node};
use crate::{Label, TranslateError};

/// A set of states of the alternating automaton.
pub(crate) type Set = u128;

/// Alternating states at most: bits of a [`Set`].
const MOST_SUBFORMULAS: usize = 128;
/// Bounds on the result; far more than any search could use.
const MOST_STATES: usize = 5_000;
const MOST_EDGES: usize = 200_000;

/// An edge of a generalised automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GeneralisedEdge {
    pub(crate) label: Label,
    pub(crate) target: usize,
    /// The acceptance sets it is in, as bits.
    pub(crate) accepting: u128,
}

/// A generalised automaton: a run is accepted when it takes edges of every acceptance set infinitely often.
#[derive(Clone, Debug)]
pub(crate) struct Generalised {
    pub(crate) states: Vec<Vec<GeneralisedEdge>>,
    pub(crate) initial: Vec<usize>,
    /// Number of acceptance sets.
    pub(crate) sets: u32,
}

/// An edge of the alternating automaton, or of a product of several: all of `targets` must be satisfied then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Move {
    label: Label,
    targets: Set,
}

impl Move {
    /// Weaker on the label and on what remains: whatever can be done with `other` can be done with this.
    fn covers(self, other: Move) -> bool {
        other.label.implies(self.label) && self.targets & !other.targets == 0
    }
}

struct Alternating<'a> {
    arena: &'a Arena,
    /// Bits of the subformulas that are states.
    bits: HashMap<Id, u32>,
    formulas: Vec<Id>,
    moves: HashMap<Id, Vec<Move>>,
}

/// Keeps what no other element covers.
fn minimal(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_unstable();
    moves.dedup();
    let keep: Vec<Move> =
        moves.iter().copied().filter(|m| !moves.iter().any(|o| o != m && o.covers(*m))).collect();
    keep
}

/// Both at once, in every combination.
fn combinations(a: &[Move], b: &[Move]) -> Result<Vec<Move>, TranslateError> {
    if a.len().saturating_mul(b.len()) > MOST_EDGES {
        return Err(TranslateError::TooLarge);
    }
    let mut out = Vec::new();
    for x in a {
        for y in b {
            if let Some(label) = x.label.and(y.label) {
                out.push(Move { label, targets: x.targets | y.targets });
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

/// [`combinations`] for one state of the alternating automaton: a move with more obligations on a stronger label can be
/// left out, since a run that uses it stays accepting with the other one.
fn product(a: &[Move], b: &[Move]) -> Result<Vec<Move>, TranslateError> {
    Ok(minimal(combinations(a, b)?))
}

impl Alternating<'_> {
    fn bit(&mut self, id: Id) -> Result<u32, TranslateError> {
        if let Some(bit) = self.bits.get(&id) {
            return Ok(*bit);
        }
        if self.formulas.len() == MOST_SUBFORMULAS {
            return Err(TranslateError::TooLarge);
        }
        let bit = self.formulas.len() as u32;
        self.bits.insert(id, bit);
        self.formulas.push(id);
        Ok(bit)
    }

    /// The states that are `U` formulas.
    fn untils(&self) -> Set {
        let until = |id: &Id| matches!(self.arena.node(*id), Node::Until(..));
        self.formulas.iter().enumerate().filter(|(_, id)| until(id)).fold(0, |set, (bit, _)| set | 1 << bit)
    }

    /// The formula as sets of states, one of which must be satisfied.
    fn sets(&mut self, id: Id) -> Result<Vec<Set>, TranslateError> {
        Ok(match self.arena.node(id) {
            Node::True => vec![0],
            Node::False => Vec::new(),
            Node::Or(a, b) => {
                let mut sets = self.sets(a)?;
                sets.extend(self.sets(b)?);
                sets
            }
            Node::And(a, b) => {
                let (a, b) = (self.sets(a)?, self.sets(b)?);
                if a.len().saturating_mul(b.len()) > MOST_EDGES {
                    return Err(TranslateError::TooLarge);
                }
                a.iter().flat_map(|x| b.iter().map(move |y| x | y)).collect()
            }
            _ => vec![1 << self.bit(id)?],
        })
    }

    /// What can be done now to satisfy a formula.
    fn moves(&mut self, id: Id) -> Result<Vec<Move>, TranslateError> {
        if let Some(known) = self.moves.get(&id) {
            return Ok(known.clone());
        }
        let moves = match self.arena.node(id) {
            Node::True => vec![Move { label: Label::TRUE, targets: 0 }],
            Node::False => Vec::new(),
            Node::Literal { prop, negated } => {
                let (must, must_not) = if negated { (0, 1 << prop) } else { (1 << prop, 0) };
                vec![Move { label: Label { must, must_not }, targets: 0 }]
            }
            Node::And(a, b) => {
                let (a, b) = (self.moves(a)?, self.moves(b)?);
                product(&a, &b)?
            }
            Node::Or(a, b) => {
                let mut moves = self.moves(a)?;
                moves.extend(self.moves(b)?);
                minimal(moves)
            }
            Node::Next(a) => minimal(
                self.sets(a)?.into_iter().map(|targets| Move { label: Label::TRUE, targets }).collect(),
            ),
            Node::Until(a, b) => {
                let stay = [Move { label: Label::TRUE, targets: 1 << self.bit(id)? }];
                let (a, mut b) = (self.moves(a)?, self.moves(b)?);
                b.extend(product(&a, &stay)?);
                minimal(b)
            }
            Node::Release(a, b) => {
                let stay = Move { label: Label::TRUE, targets: 1 << self.bit(id)? };
                let (mut a, b) = (self.moves(a)?, self.moves(b)?);
                a.push(stay);
                product(&b, &a)?
            }
        };
        self.moves.insert(id, moves.clone());
        Ok(moves)
    }
}

/// The generalised automaton of a formula.
pub(crate) fn generalised(arena: &mut Arena, root: Id) -> Result<Generalised, TranslateError> {
    let mut alternating =
        Alternating { arena, bits: HashMap::new(), formulas: Vec::new(), moves: HashMap::new() };
    let initial_sets = alternating.sets(root)?;
    let mut numbers: HashMap<Set, usize> = HashMap::new();
    let mut open: Vec<Set> = Vec::new();
    let mut number = |set: Set, open: &mut Vec<Set>| {
        *numbers.entry(set).or_insert_with(|| {
            open.push(set);
            open.len() - 1
        })
    };
    let mut initial: Vec<usize> = initial_sets.into_iter().map(|set| number(set, &mut open)).collect();
    initial.sort_unstable();
    initial.dedup();
    // The edges, with the `U` formulas each one is not waiting for; they are numbered when all are known.
    let mut states: Vec<Vec<(Move, usize, Set)>> = Vec::new();
    let mut edges = 0;
    while states.len() < open.len() {
        let set = open[states.len()];
        let mut moves = vec![Move { label: Label::TRUE, targets: 0 }];
        for bit in bits(set) {
            let more = alternating.moves(alternating.formulas[bit as usize])?;
            moves = combinations(&moves, &more)?;
        }
        let mut out: Vec<(Move, usize, Set)> = Vec::new();
        let accepting: Vec<Set> =
            moves.iter().map(|m| left_behind(&mut alternating, *m)).collect::<Result<_, _>>()?;
        let untils = alternating.untils();
        for (index, m) in moves.iter().enumerate() {
            // For sets of states the acceptance counts too: only a move that is in no more acceptance sets than the
            // one that covers it can be left out (the order of Gastin and Oddoux, section 4).
            let better = |other: usize| {
                other != index
                    && moves[other].covers(*m)
                    && accepting[index] & !accepting[other] & untils == 0
            };
            if !(0..moves.len()).any(better) {
                out.push((*m, number(m.targets, &mut open), accepting[index]));
            }
        }
        edges += out.len();
        if open.len() > MOST_STATES || edges > MOST_EDGES {
            return Err(TranslateError::TooLarge);
        }
        states.push(out);
    }
    let untils: Vec<u32> = bits(alternating.untils()).collect();
    let renumber = |set: Set| {
        let in_set = untils.iter().enumerate().filter(|(_, bit)| set >> **bit & 1 == 1);
        in_set.fold(0u128, |all, (index, _)| all | 1 << index)
    };
    let states = states
        .into_iter()
        .map(|edges| {
            let edges = edges.into_iter().map(|(m, target, set)| GeneralisedEdge {
                label: m.label,
                target,
                accepting: renumber(set),
            });
            edges.collect()
        })
        .collect();
    Ok(Generalised { states, initial, sets: untils.len() as u32 })
}

fn bits(set: Set) -> impl Iterator<Item = u32> {
    (0..128).filter(move |b| set >> b & 1 == 1)
}

/// The subformulas in whose acceptance sets a move is: those it does not wait for, and those it waits for although it could
/// as well satisfy them at once (Gastin and Oddoux, definition of the sets T_f).
fn left_behind(alternating: &mut Alternating<'_>, m: Move) -> Result<Set, TranslateError> {
    let mut set = !m.targets;
    for bit in bits(m.targets) {
        let id = alternating.formulas[bit as usize];
        if !matches!(alternating.arena.node(id), Node::Until(..)) {
            continue;
        }
        let now = alternating.moves(id)?;
        if now.iter().any(|n| n.targets >> bit & 1 == 0 && n.covers(m)) {
            set |= 1 << bit;
        }
    }
    Ok(set)
}
