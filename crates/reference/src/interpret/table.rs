//! The transition table of a proctype: for every control element the steps possible there, in the order
//! in which SPIN tries them.
//!
//! A selection, a block and an atomic sequence offer the steps of the elements they begin with; nested
//! ones are flattened. Then the steps of the escapes that apply are put in front.

use super::elements::*;
use super::resolved::{Basic, Value};

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    /// The element that says what is done.
    pub element: ElementId,
    /// Where control goes; `None`: it stays (the process dies).
    pub target: Option<ElementId>,
    /// The process keeps control.
    pub atomic: bool,
    /// The escape this step belongs to, by the element it starts from.
    pub escape: Option<ElementId>,
    /// Where the escapes that apply to this step start, outermost first.
    escapes: Vec<ElementId>,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub elements: Elements,
    pub initial: ElementId,
    /// Steps of each element.
    pub steps: Vec<Vec<Transition>>,
    /// Elements where a process may rest for ever.
    pub stop: Vec<bool>,
}

#[derive(Clone, Debug)]
enum Entry {
    /// Never reached, or a join inside a `d_step`.
    None,
    Step(Transition),
    /// Choice between the steps of these elements.
    Choice(Vec<ElementId>),
}

impl Table {
    /// The table of elements whose body is sequence 0.
    pub fn new(elements: Elements) -> Result<Table, String> {
        let first = elements.first(0)?;
        let initial = elements.hunt(first, elements.elements[first].atomic)?;
        let count = elements.elements.len();
        let mut layout = Layout { elements, done: vec![false; count], entries: vec![Entry::None; count] };
        layout.sequence(0)?;
        let Layout { elements, entries, .. } = layout;

        let mut stop = vec![false; count];
        for (label, element) in &elements.labels {
            stop[*element] |= label.starts_with("end");
        }
        for (id, element) in elements.elements.iter().enumerate() {
            stop[id] |= matches!(element.shape, Shape::Basic(Basic::End));
        }
        let entries = flatten(entries, &mut stop);
        let mut steps = pull(entries, &mut stop);
        // A process stands at an `unless` itself where the main part starts with a jump out of the atomic sequence that it
        // is in. The tables of SPIN's verifiers have no row there, so that it reports a deadlock; its simulator goes on, and by the language
        // the first statement of the main part and the escape are possible.
        for id in 0..count {
            if let Shape::Unless = elements.elements[id].shape {
                let main = elements.first(elements.elements[id].choices[0])?;
                steps[id] = steps[elements.start(main)?].clone();
            }
        }
        prepend_escapes(&mut steps);
        for id in 0..count {
            if let [only] = &steps[id][..]
                && matches!(elements.elements[only.element].shape, Shape::Join)
                && stop[id]
                && let Some(target) = only.target
            {
                stop[target] = true;
            }
        }
        let table = Table { elements, initial, steps, stop };
        table.refuse()?;
        Ok(table)
    }

    /// What SPIN's verifier refuses to run.
    fn refuse(&self) -> Result<(), String> {
        for (id, steps) in self.steps.iter().enumerate() {
            let shape = |t: &Transition| &self.elements.elements[t.element].shape;
            if steps.iter().any(|t| t.target == Some(id) && is_skip(shape(t))) {
                return Err("unconditional self-loop".to_string());
            }
            if steps.iter().filter(|t| matches!(shape(t), Shape::Else)).count() > 1 {
                return Err("several else at one place".to_string());
            }
        }
        Ok(())
    }
}

/// Lays out the steps, sequence by sequence.
struct Layout {
    elements: Elements,
    done: Vec<bool>,
    entries: Vec<Entry>,
}

impl Layout {
    fn sequence(&mut self, sequence: SequenceId) -> Result<(), String> {
        let mut current = self.elements.sequences[sequence].first;
        while let Some(id) = current {
            if !self.done[id] {
                self.done[id] = true;
                self.element(id)?;
            }
            if Some(id) == self.elements.sequences[sequence].last {
                break;
            }
            current = self.elements.elements[id].next;
        }
        Ok(())
    }

    fn element(&mut self, id: ElementId) -> Result<(), String> {
        match self.elements.elements[id].shape.clone() {
            Shape::Unless => {
                let main = self.elements.elements[id].choices[0];
                self.sequence(main)
            }
            Shape::Selection => {
                let choices = self.elements.elements[id].choices.clone();
                let mut targets = Vec::new();
                for choice in &choices {
                    let start = self.elements.start(self.elements.first(*choice)?)?;
                    let element = &self.elements.elements[start];
                    let never = matches!(element.shape, Shape::Basic(Basic::Condition(Value::Number(0))));
                    if !(never && element.escapes.is_empty()) {
                        targets.push(start);
                    }
                }
                self.entries[id] = Entry::Choice(targets);
                choices.into_iter().try_for_each(|choice| self.sequence(choice))
            }
            Shape::Atomic(inner) | Shape::Block(inner) => {
                self.patch_jumps(inner)?;
                let start = self.elements.start(self.elements.first(inner)?)?;
                self.tie(id, inner);
                self.entries[id] = Entry::Choice(vec![start]);
                self.sequence(inner)
            }
            Shape::DStep(inner) => {
                self.patch_jumps(inner)?;
                self.tie(id, inner);
                self.step(id)
            }
            _ => self.step(id),
        }
    }

    fn tie(&mut self, block: ElementId, inner: SequenceId) {
        if let Some(last) = self.elements.sequences[inner].last {
            self.elements.elements[last].next = self.elements.elements[block].next;
        }
    }

    fn step(&mut self, id: ElementId) -> Result<(), String> {
        let element = &self.elements.elements[id];
        let (atomic, ahead) = (element.atomic, element.next);
        let target = match &element.shape {
            Shape::Goto(label) => {
                let target = self.elements.hunt(self.elements.label(label)?, atomic)?;
                // SPIN refuses this, also for a `break` that leads to the statement after the loop.
                if let Shape::DStep(_) = self.elements.elements[target].shape {
                    return Err("jump to a d_step".to_string());
                }
                Some(target)
            }
            _ => ahead.map(|ahead| self.elements.hunt(ahead, atomic)).transpose()?,
        };
        let mut escapes = Vec::new();
        if !matches!(element.shape, Shape::Join) {
            for escape in &element.escapes {
                escapes.push(self.elements.hunt(self.elements.first(*escape)?, atomic)?);
            }
        }
        let followed = if escapes.is_empty() { Vec::new() } else { element.escapes.clone() };
        self.entries[id] = Entry::Step(Transition { element: id, target, atomic, escape: None, escapes });
        followed.into_iter().try_for_each(|escape| self.sequence(escape))
    }

    /// A jump out of an atomic sequence gives up control; one into another atomic sequence keeps it.
    fn patch_jumps(&mut self, sequence: SequenceId) -> Result<(), String> {
        let extent = self.elements.sequences[sequence].extent;
        let mut current = self.elements.sequences[sequence].first;
        while let Some(id) = current {
            if let Shape::Goto(label) = &self.elements.elements[id].shape {
                let target = &self.elements.elements[self.elements.label(label)?];
                let into = target.atomic || target.atomic_end;
                let from = &mut self.elements.elements[id];
                if (from.atomic || from.atomic_end) && !into {
                    from.atomic = false;
                    from.atomic_end = true;
                }
                if from.atomic_end && into {
                    from.atomic_end = false;
                    from.atomic = true;
                }
            } else {
                for choice in self.elements.elements[id].choices.clone() {
                    self.patch_jumps(choice)?;
                }
            }
            if current == extent {
                break;
            }
            current = self.elements.elements[id].next;
        }
        Ok(())
    }
}

fn inner_choice(entries: &[Entry], id: ElementId) -> Option<Vec<ElementId>> {
    match &entries[id] {
        Entry::Choice(targets) if !targets.is_empty() => Some(targets.clone()),
        _ => None,
    }
}

/// Replaces choices among the options of a choice by their options, until there are none. An end label
/// on an inner choice is passed on to the elements its options begin with.
fn flatten(mut entries: Vec<Entry>, stop: &mut [bool]) -> Vec<Entry> {
    loop {
        let mut changed = false;
        for id in 0..entries.len() {
            let Entry::Choice(targets) = &entries[id] else { continue };
            let mut flat = Vec::new();
            let mut nested = false;
            for target in targets {
                match inner_choice(&entries, *target) {
                    None => flat.push(*target),
                    Some(inner) => {
                        nested = true;
                        for option in inner {
                            stop[option] |= stop[*target];
                            flat.push(option);
                        }
                    }
                }
            }
            if nested {
                entries[id] = Entry::Choice(flat);
                changed = true;
            }
        }
        if !changed {
            return entries;
        }
    }
}

/// Gives each choice the steps of its options. An end label on the first element of an option is passed
/// on to where that option's first step leads (SPIN does so; it matters for `:: end: do … od`).
fn pull(entries: Vec<Entry>, stop: &mut [bool]) -> Vec<Vec<Transition>> {
    let mut steps = Vec::new();
    for entry in &entries {
        steps.push(match entry {
            Entry::None => Vec::new(),
            Entry::Step(transition) => vec![transition.clone()],
            Entry::Choice(targets) => {
                let mut list = Vec::new();
                for target in targets {
                    if let Entry::Step(transition) = &entries[*target] {
                        if let Some(leads_to) = transition.target {
                            stop[leads_to] |= stop[*target];
                        }
                        list.push(transition.clone());
                    }
                }
                list
            }
        });
    }
    steps
}

/// Puts the steps of the escapes in front, one by one, so that those put last are tried first: the
/// outermost escape has priority.
fn prepend_escapes(steps: &mut [Vec<Transition>]) {
    for id in 0..steps.len() {
        for transition in steps[id].clone() {
            for escape in transition.escapes.iter().rev() {
                for step in steps[*escape].clone() {
                    if steps[id].iter().any(|t| t.element == step.element) {
                        continue;
                    }
                    steps[id].insert(0, Transition { escape: Some(*escape), ..step });
                }
            }
        }
    }
}
