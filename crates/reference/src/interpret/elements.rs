//! The control structure of one proctype as SPIN lays it out: elements linked into sequences.
//!
//! SPIN's control states are the elements of its parse: which of them exist, in which order they were
//! made and how they are linked decides how many states and steps a program has. The order of creation
//! matters: an element is made when its statement is complete, so inner elements come before outer ones.

use super::resolved::{Basic, Value};

/// An element of the proctype, numbered in order of creation.
pub(super) type ElementId = usize;
/// A sequence of elements.
pub(super) type SequenceId = usize;

/// What an element is.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Basic(Basic),
    Else,
    /// `goto`, and `break` to the label of its loop.
    Goto(String),
    /// The join after a selection or `unless`; also the way back to the head of a loop.
    Join,
    /// Where `break` leads.
    Exit,
    /// `if` or `do`, with the choices in [`Element::choices`].
    Selection,
    /// `unless`: the main and the escape sequence in [`Element::choices`].
    Unless,
    Atomic(SequenceId),
    Block(SequenceId),
    DStep(SequenceId),
}

/// A control element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub shape: Shape,
    pub next: Option<ElementId>,
    pub choices: Vec<SequenceId>,
    /// Escape sequences that apply here, outermost first.
    pub escapes: Vec<SequenceId>,
    /// Inside an atomic sequence and not its last element: the step keeps control.
    pub atomic: bool,
    /// Last of an atomic sequence.
    pub atomic_end: bool,
    /// Inside a `d_step`.
    pub in_d_step: bool,
}

/// A sequence: `last` may be a join shared with other sequences, `extent` is its own last element.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    pub first: Option<ElementId>,
    pub last: Option<ElementId>,
    pub extent: Option<ElementId>,
}

/// The elements and sequences of one proctype.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    /// Labels, those of loop exits included.
    pub labels: Vec<(String, ElementId)>,
}

/// Is this condition the constant 1 as written (`skip`)?
pub(super) fn is_skip(shape: &Shape) -> bool {
    matches!(shape, Shape::Basic(Basic::Condition(Value::Number(1))))
}

impl Elements {
    pub fn new_element(&mut self, shape: Shape) -> ElementId {
        self.elements.push(Element {
            shape,
            next: None,
            choices: Vec::new(),
            escapes: Vec::new(),
            atomic: false,
            atomic_end: false,
            in_d_step: false,
        });
        self.elements.len() - 1
    }

    pub fn new_sequence(&mut self) -> SequenceId {
        self.sequences.push(Sequence::default());
        self.sequences.len() - 1
    }

    /// The element of a label.
    pub fn label(&self, name: &str) -> Result<ElementId, String> {
        let found = self.labels.iter().find(|(label, _)| label == name);
        found.map(|(_, element)| *element).ok_or_else(|| format!("undefined label {name}"))
    }

    pub fn has_label(&self, element: ElementId) -> bool {
        self.labels.iter().any(|(_, e)| *e == element)
    }

    pub fn first(&self, sequence: SequenceId) -> Result<ElementId, String> {
        self.sequences[sequence].first.ok_or_else(|| "sequence without statements".to_string())
    }

    /// Appends `element`. A `goto` that carries an `end`, `accept` or `progress` label gives it to a
    /// `skip` in front of it, or the label would be lost when jumps are followed.
    pub fn append(&mut self, element: ElementId, sequence: SequenceId) {
        if matches!(self.elements[element].shape, Shape::Goto(_)) {
            let special = |name: &str| ["accept", "end", "progress"].iter().any(|p| name.starts_with(p));
            if self.labels.iter().any(|(name, e)| *e == element && special(name)) {
                let skip = self.new_element(Shape::Basic(Basic::Condition(Value::Number(1))));
                if let Some(moved) = self.labels.iter_mut().rev().find(|(_, e)| *e == element) {
                    moved.1 = skip;
                }
                self.append(skip, sequence);
            }
        }
        match self.sequences[sequence].last {
            None => self.sequences[sequence].first = Some(element),
            Some(last) => self.elements[last].next = Some(element),
        }
        self.sequences[sequence].last = Some(element);
    }

    /// Removes the second and later of several unlabelled skips in a row from a choice; a print counts
    /// as one but stays. First and last elements stay.
    pub fn prune_skips(&mut self, sequence: SequenceId, prints: &[ElementId]) {
        let Sequence { first, last, extent } = self.sequences[sequence].clone();
        let mut run = 0;
        let mut previous = None;
        let mut current = first;
        while let Some(element) = current {
            let next = self.elements[element].next;
            let skip = is_skip(&self.elements[element].shape);
            let print = prints.contains(&element);
            if (skip || print) && !self.has_label(element) {
                run += 1;
                let removable = Some(element) != first && Some(element) != last && Some(element) != extent;
                if run > 1
                    && !print
                    && removable
                    && let Some(before) = previous
                {
                    let before: ElementId = before;
                    self.elements[before].next = next;
                    current = next;
                    continue;
                }
            } else {
                run = 0;
            }
            previous = Some(element);
            current = next;
        }
    }

    /// Marks a sequence as atomic (`d_step`: also as such); its very last element gives up control.
    pub fn make_atomic(&mut self, sequence: SequenceId, d_step: bool) -> Result<(), String> {
        let (first, last) = self.ends(sequence)?;
        self.walk_atomic(first, last, d_step)?;
        match self.elements[last].shape {
            Shape::Block(inner) | Shape::Atomic(inner) => self.make_atomic(inner, d_step),
            Shape::Unless => {
                let main = self.elements[last].choices[0];
                self.make_atomic(main, d_step)
            }
            _ => {
                self.elements[last].atomic = false;
                self.elements[last].atomic_end = true;
                Ok(())
            }
        }
    }

    fn ends(&self, sequence: SequenceId) -> Result<(ElementId, ElementId), String> {
        let s = &self.sequences[sequence];
        match (s.first, s.last) {
            (Some(first), Some(last)) => Ok((first, last)),
            _ => Err("sequence without statements".to_string()),
        }
    }

    fn walk_atomic(&mut self, first: ElementId, last: ElementId, d_step: bool) -> Result<(), String> {
        let mut current = first;
        loop {
            let element = &mut self.elements[current];
            element.atomic = true;
            element.in_d_step |= d_step;
            // Nested atomic sequences add nothing; a `d_step` keeps its meaning inside `atomic`.
            let inner = match element.shape {
                Shape::Atomic(inner) | Shape::Block(inner) => Some(inner),
                Shape::DStep(inner) if d_step => Some(inner),
                Shape::Unless if d_step => return Err("unless inside d_step".to_string()),
                _ => None,
            };
            if let Some(inner) = inner {
                element.shape = Shape::Block(inner);
                let (first, last) = self.ends(inner)?;
                self.walk_atomic(first, last, d_step)?;
            }
            for choice in self.elements[current].choices.clone() {
                let (first, last) = self.ends(choice)?;
                self.walk_atomic(first, last, d_step)?;
            }
            if current == last {
                return Ok(());
            }
            current = self.elements[current].next.ok_or("broken sequence")?;
        }
    }

    /// Lets `escape` apply to every element of `sequence`, to those inside them, and to the escapes that
    /// already apply there (which the new one overrides).
    pub fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        let extent = self.sequences[sequence].extent;
        let mut current = self.sequences[sequence].first;
        while let Some(element) = current {
            self.escape_element(element, escape);
            if current == extent {
                break;
            }
            current = self.elements[element].next;
        }
    }

    fn escape_element(&mut self, element: ElementId, escape: SequenceId) {
        if self.elements[element].escapes.contains(&escape) {
            return;
        }
        for inner in self.elements[element].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[element].escapes.insert(0, escape);
        match self.elements[element].shape {
            Shape::Unless => {
                let main = self.elements[element].choices[0];
                self.attach_escape(main, escape);
            }
            Shape::Selection => {
                for choice in self.elements[element].choices.clone() {
                    self.attach_escape(choice, escape);
                }
            }
            Shape::DStep(inner) => {
                if let Some(guard) = self.sequences[inner].first {
                    self.escape_element(guard, escape);
                }
            }
            Shape::Atomic(inner) | Shape::Block(inner) => self.attach_escape(inner, escape),
            _ => {}
        }
    }

    /// Links the last element of every block to what follows the block; outer blocks first, so that a
    /// block at the end of another one finds its successor.
    pub fn tie_ends(&mut self) {
        for element in (0..self.elements.len()).rev() {
            let inner = match self.elements[element].shape {
                Shape::Atomic(inner) | Shape::Block(inner) | Shape::DStep(inner) => inner,
                _ => continue,
            };
            let mut follower = self.elements[element].next;
            if follower.is_none() {
                continue;
            }
            while let Some(f) = follower
                && matches!(self.elements[f].shape, Shape::Join)
            {
                follower = self.elements[f].next;
            }
            if let Some(last) = self.sequences[inner].last
                && self.elements[last].next.is_none()
            {
                self.elements[last].next = follower;
            }
        }
    }

    /// Where control stands when it is at `start`, for a step whose source is (not) `atomic`: jumps and
    /// joins are followed, but never out of an atomic sequence.
    pub fn hunt(&self, start: ElementId, atomic: bool) -> Result<ElementId, String> {
        let mut element = start;
        for _ in 0..500 {
            let ahead = match &self.elements[element].shape {
                Shape::Goto(label) => self.label(label)?,
                Shape::Join | Shape::Exit => match self.elements[element].next {
                    Some(next) => next,
                    None => return Ok(element),
                },
                Shape::Unless => self.hunt(self.first(self.elements[element].choices[0])?, atomic)?,
                _ => return Ok(element),
            };
            if atomic && !self.elements[ahead].atomic {
                return Ok(element);
            }
            element = ahead;
        }
        Err("jumps in a circle".to_string())
    }

    /// The first element of a choice: joins and `unless` are entered, jumps are not followed.
    pub fn start(&self, first: ElementId) -> Result<ElementId, String> {
        let mut element = first;
        for _ in 0..200 {
            element = match (&self.elements[element].shape, self.elements[element].next) {
                (Shape::Join, Some(next)) => next,
                (Shape::Unless, _) => self.first(self.elements[element].choices[0])?,
                _ => return Ok(element),
            };
        }
        Err("confusing control structure".to_string())
    }
}
