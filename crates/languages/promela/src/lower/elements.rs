//! The graph of elements that SPIN builds from statements (its `flow.c`), from which locations follow.
//!
//! An element is a statement or one of the invisible points SPIN adds: the join after an `if`, the head and the exit
//! of a `do`. Sequences hold elements; an element's `next` is what follows it in its sequence, or what follows
//! the statement that the sequence is part of.

use std::collections::HashMap;

use quotient_program::{Action, Operation};
use quotient_source::Span;

/// Index of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ElementId(pub(super) usize);

/// Index of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SequenceId(pub(super) usize);

/// One point of the control flow.
#[derive(Debug)]
pub(super) struct Element {
    /// When SPIN would have made it; the rows of its tables are worked through in that order.
    pub(super) made: usize,
    pub(super) kind: Kind,
    pub(super) next: Option<ElementId>,
    /// Inside an atomic sequence: control is kept after it.
    pub(super) atomic: bool,
    /// The last of an atomic sequence: control is released after it.
    pub(super) last_atomic: bool,
    /// The `d_step` it is inside.
    pub(super) d_step: Option<ElementId>,
    /// Escape sequences of the `unless` statements around it, outermost first.
    pub(super) escapes: Vec<SequenceId>,
    pub(super) labels: Vec<String>,
    pub(super) span: Span,
    pub(super) text: String,
}

/// What SPIN knows of a statement from how it is written; it does not compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A condition that is the number 1; a print counts as well.
    Skip,
    /// A condition that is the number 0.
    Never,
    Other,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A step.
    Basic { operation: Operation, actions: Vec<Action>, written: Written },
    /// A jump to a label or out of a loop.
    Goto(Target),
    /// Where alternatives meet, or a loop starts over.
    Join,
    /// Where a loop is left.
    Exit,
    /// `if` and `do`.
    Choice(Vec<SequenceId>),
    /// `{ … }` and `atomic { … }`.
    Block { sequence: SequenceId, atomic: bool },
    /// `d_step { … }`.
    DStep(SequenceId),
    /// `main unless escape`.
    Unless(SequenceId, SequenceId),
    /// The end of the process.
    End,
}

/// Where a jump goes.
#[derive(Debug)]
pub(super) enum Target {
    Label(String, Span),
    Element(ElementId),
}

#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) elements: Vec<ElementId>,
    /// What SPIN appends to a choice: the join (shared by all choices).
    pub(super) join: Option<ElementId>,
}

/// All elements of one process.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) elements: Vec<Element>,
    pub(super) sequences: Vec<Sequence>,
    pub(super) labels: HashMap<String, ElementId>,
    pub(super) body: Option<SequenceId>,
    /// How many elements were made, or made again.
    made: usize,
}

impl Flow {
    pub(super) fn add(&mut self, kind: Kind, span: Span, text: String) -> ElementId {
        self.made += 1;
        self.elements.push(Element {
            made: self.made,
            kind,
            next: None,
            atomic: false,
            last_atomic: false,
            d_step: None,
            escapes: Vec::new(),
            labels: Vec::new(),
            span,
            text,
        });
        ElementId(self.elements.len() - 1)
    }

    /// Lets the elements of a sequence itself count as made just now, in the order in which they were made before.
    pub(super) fn make_again(&mut self, sequence: SequenceId) {
        let mut elements = self.sequences[sequence.0].elements.clone();
        elements.sort_by_key(|element| self.element(*element).made);
        self.made_now(&elements);
    }

    /// Lets elements count as made just now, in this order.
    pub(super) fn made_now(&mut self, elements: &[ElementId]) {
        for element in elements {
            self.made += 1;
            self.elements[element.0].made = self.made;
        }
    }

    /// The numbers that SPIN gives the elements of this process, counted from 0: they are numbered as they are made. Elements that it makes and
    /// leaves out later count as well.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.elements.len()).collect();
        order.sort_by_key(|index| self.elements[*index].made);
        let mut numbers = vec![0; order.len()];
        for (number, index) in order.into_iter().enumerate() {
            numbers[index] = number as u32;
        }
        numbers
    }

    pub(super) fn add_sequence(&mut self, sequence: Sequence) -> SequenceId {
        self.sequences.push(sequence);
        SequenceId(self.sequences.len() - 1)
    }

    pub(super) fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    pub(super) fn sequence(&self, id: SequenceId) -> &Sequence {
        &self.sequences[id.0]
    }

    /// The sub-sequences of an element that are part of its own flow (escapes are not).
    fn parts(&self, id: ElementId) -> Vec<SequenceId> {
        match &self.element(id).kind {
            Kind::Choice(choices) => choices.clone(),
            Kind::Block { sequence, .. } | Kind::DStep(sequence) => vec![*sequence],
            Kind::Unless(main, escape) => vec![*main, *escape],
            _ => Vec::new(),
        }
    }

    /// Links every element to what follows it.
    pub(super) fn link(&mut self, sequence: SequenceId, follow: Option<ElementId>) {
        let (elements, join) = (self.sequence(sequence).elements.clone(), self.sequence(sequence).join);
        let follow = join.or(follow);
        for (index, &id) in elements.iter().enumerate() {
            let next = elements.get(index + 1).copied().or(follow);
            self.elements[id.0].next = next;
            for part in self.parts(id) {
                self.link(part, next);
            }
        }
    }

    /// Marks an atomic sequence or `d_step`: control is kept up to its last element.
    pub(super) fn make_atomic(&mut self, sequence: SequenceId, d_step: Option<ElementId>) {
        self.walk_atomic(sequence, d_step);
        self.release_last(sequence);
    }

    fn walk_atomic(&mut self, sequence: SequenceId, d_step: Option<ElementId>) {
        for id in self.sequence(sequence).elements.clone() {
            let element = &mut self.elements[id.0];
            element.atomic = true;
            if d_step.is_some() {
                element.d_step = d_step;
            }
            match &mut element.kind {
                // Nested atomicity adds nothing; a `d_step` inside an atomic sequence stays one.
                Kind::Block { atomic, .. } => *atomic = false,
                Kind::DStep(inner) if d_step.is_some() => {
                    element.kind = Kind::Block { sequence: *inner, atomic: false };
                }
                _ => {}
            }
            if matches!(element.kind, Kind::DStep(_)) {
                continue;
            }
            for part in self.parts(id) {
                self.walk_atomic(part, d_step);
            }
        }
    }

    fn release_last(&mut self, sequence: SequenceId) {
        let Some(&last) = self.sequence(sequence).elements.last() else { return };
        match self.element(last).kind {
            Kind::Block { sequence, .. } => self.release_last(sequence),
            _ => {
                let element = &mut self.elements[last.0];
                element.atomic = false;
                element.last_atomic = true;
            }
        }
    }

    /// Lets `escape` interrupt everything in a sequence.
    pub(super) fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        for id in self.sequence(sequence).elements.clone() {
            self.escape_element(id, escape);
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.element(id).escapes.contains(&escape) {
            return;
        }
        for inner in self.element(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[id.0].escapes.insert(0, escape);
        match &self.element(id).kind {
            Kind::DStep(sequence) => {
                if let Some(&first) = self.sequence(*sequence).elements.first() {
                    self.escape_element(first, escape);
                }
            }
            Kind::Unless(main, _) => {
                let main = *main;
                self.attach_escape(main, escape);
            }
            _ => {
                for part in self.parts(id) {
                    self.attach_escape(part, escape);
                }
            }
        }
    }

    /// The element a jump leads to.
    pub(super) fn target(&self, id: ElementId) -> Option<ElementId> {
        match &self.element(id).kind {
            Kind::Goto(Target::Element(target)) => Some(*target),
            Kind::Goto(Target::Label(label, _)) => self.labels.get(label).copied(),
            _ => None,
        }
    }

    /// Jumps out of an atomic sequence release control; jumps from one into another keep it.
    pub(super) fn patch_jumps(&mut self) {
        for index in 0..self.elements.len() {
            let Some(target) = self.target(ElementId(index)) else { continue };
            let there = self.element(target).atomic || self.element(target).last_atomic;
            let here = &mut self.elements[index];
            if (here.atomic || here.last_atomic) && !there {
                here.atomic = false;
                here.last_atomic = true;
            }
            if here.last_atomic && there {
                here.last_atomic = false;
                here.atomic = true;
            }
        }
    }
}
