//! Elements to locations.
//!
//! A process stands at an element. Which elements it can stand at, and which steps leave from there, follows the tables
//! of SPIN's generated verifiers: jumps and joins are passed without a step, unless that would leave an atomic
//! sequence without saying so; a choice offers the first steps of all its options; escapes come before everything
//! else, the outermost first.

use std::collections::HashMap;

use quotient_program::{Action, Location, LocationId, Operation, Transformation};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use super::elements::{ElementId, Flow, Kind, SequenceId, Target};
use super::marks::Marks;

/// Jumps in a row that are followed before the model is called an endless loop of jumps.
const LONGEST_JUMP: usize = 10_000;

/// The control flow of a process.
pub(super) struct Control {
    pub(super) locations: Vec<Location>,
    /// Where it starts.
    pub(super) entry: LocationId,
    pub(super) labels: Vec<(String, LocationId)>,
    /// Statements that no way leads to.
    pub(super) dead: Vec<(Span, String)>,
    /// SPIN's numbers of the transformations of each location, counted from the first of this process, and how many it has given.
    pub(super) numbers: Vec<Vec<u32>>,
    pub(super) made: u32,
}

/// The control flow that elements stand for.
pub(super) fn control(flow: Flow, lowering: &mut Lowering<'_>) -> Control {
    let mut missing: Vec<_> = flow
        .elements
        .iter()
        .filter_map(|e| match &e.kind {
            Kind::Goto(Target::Label(label, span)) if !flow.labels.contains_key(label) => {
                Some((label, *span))
            }
            _ => None,
        })
        .collect();
    missing.sort_by_key(|(_, span)| span.start);
    for (label, span) in missing {
        let mut diagnostic = Diagnostic::error(span, format!("there is no label `{label}` here"));
        let mut known: Vec<_> = flow.labels.keys().map(|l| format!("`{l}`")).collect();
        known.sort();
        if !known.is_empty() {
            diagnostic = diagnostic.help(format!("the labels of this process are {}", known.join(", ")));
        }
        lowering.report(diagnostic);
    }
    let mut builder = Builder {
        flow: &flow,
        numbers: HashMap::new(),
        locations: Vec::new(),
        steps_of: Vec::new(),
        open: Vec::new(),
        endless: None,
        marks: Vec::new(),
        met: vec![false; flow.elements.len()],
    };
    builder.marks = Marks::of(&mut builder);
    let start = flow.body.and_then(|body| flow.sequence(body).elements.first().copied());
    let mut entry = LocationId(0);
    if let Some(start) = start {
        let start = builder.hunt(start, false);
        entry = builder.location(start);
        builder.run();
    }
    let mut labels: Vec<(String, LocationId)> = Vec::new();
    let mut named: Vec<_> = flow.labels.iter().collect();
    named.sort();
    for (label, element) in named {
        // A label that nothing can stand at still needs a location of its own to compare with.
        let location = builder.location(*element);
        labels.push((label.clone(), location));
    }
    builder.run();
    if let Some(element) = builder.endless {
        let span = flow.element(element).span;
        lowering.report(
            Diagnostic::error(span, "these jumps lead back to themselves without any statement")
                .help("put a statement between the label and the jump"),
        );
    }
    check_d_steps(&flow, lowering);
    let written = flow.sequences.iter().flat_map(|s| &s.elements).filter(|e| !builder.met[e.0]);
    let basic = written.map(|e| flow.element(*e)).filter(|e| matches!(e.kind, Kind::Basic { .. }));
    let dead = basic.map(|e| (e.span, e.text.clone())).collect();
    let numbers = flow.numbers();
    let of = |steps: &Vec<ElementId>| steps.iter().map(|e| numbers[e.0]).collect();
    let steps = builder.steps_of.iter().map(of).collect();
    Control { locations: builder.locations, entry, labels, dead, numbers: steps, made: numbers.len() as u32 }
}

pub(super) struct Builder<'a> {
    pub(super) flow: &'a Flow,
    numbers: HashMap<ElementId, LocationId>,
    locations: Vec<Location>,
    /// The elements of the transformations of each location.
    steps_of: Vec<Vec<ElementId>>,
    open: Vec<ElementId>,
    endless: Option<ElementId>,
    /// What the labels make of each element.
    marks: Vec<Marks>,
    /// Elements that are a step from somewhere.
    met: Vec<bool>,
}

/// A step and the element it belongs to.
struct Step {
    element: ElementId,
    transformation: Transformation,
    /// The start of the escape sequence it belongs to.
    escape: Option<ElementId>,
}

impl Builder<'_> {
    /// The location of an element, made if need be.
    fn location(&mut self, element: ElementId) -> LocationId {
        if let Some(known) = self.numbers.get(&element) {
            return *known;
        }
        let id = LocationId(self.locations.len() as u32);
        let e = self.flow.element(element);
        let marks = self.marks[element.0];
        self.locations.push(Location {
            end: marks.end,
            accept: marks.accept,
            progress: marks.progress,
            deterministic: e.d_step.is_some(),
            labels: e.labels.clone(),
            ..Location::new(e.span)
        });
        self.steps_of.push(Vec::new());
        self.numbers.insert(element, id);
        self.open.push(element);
        id
    }

    fn run(&mut self) {
        while let Some(element) = self.open.pop() {
            let (transformations, elements) = self.transformations(element);
            let id = self.numbers[&element];
            self.steps_of[id.0 as usize] = elements;
            self.locations[id.0 as usize].transformations = transformations;
        }
    }

    /// Where a process stands after the step of an element outside of any `d_step`; a `d_step` is one step here.
    pub(super) fn leads_to(&mut self, element: ElementId) -> Option<ElementId> {
        let e = self.flow.element(element);
        let next = match &e.kind {
            Kind::Goto(_) => self.flow.target(element),
            Kind::End => None,
            _ => e.next,
        };
        next.map(|next| self.hunt(next, e.atomic))
    }

    /// Follows jumps and joins from `element` to where a process can stand. From inside an atomic sequence
    /// (`atomic`), it stops before leaving it.
    fn hunt(&mut self, element: ElementId, atomic: bool) -> ElementId {
        let mut at = element;
        for _ in 0..LONGEST_JUMP {
            let Some(next) = self.beyond(at) else { return at };
            if atomic && !self.flow.element(next).atomic {
                return at;
            }
            at = next;
        }
        self.endless.get_or_insert(element);
        element
    }

    /// What lies after a jump, a join or the head of an `unless`; `None` where a process can stand.
    fn beyond(&self, at: ElementId) -> Option<ElementId> {
        let e = self.flow.element(at);
        match &e.kind {
            Kind::Goto(_) => self.flow.target(at),
            Kind::Join | Kind::Exit => e.next,
            Kind::Unless(main, _) => self.first(*main),
            _ => None,
        }
    }

    fn first(&self, sequence: SequenceId) -> Option<ElementId> {
        let sequence = self.flow.sequence(sequence);
        sequence.elements.first().copied().or(sequence.join)
    }

    /// The first element of a part: joins and `unless` are passed, jumps are not.
    pub(super) fn hunt_start(&mut self, sequence: SequenceId) -> Option<ElementId> {
        let start = self.first(sequence)?;
        let mut at = start;
        for _ in 0..LONGEST_JUMP {
            let e = self.flow.element(at);
            at = match &e.kind {
                Kind::Join => e.next?,
                Kind::Unless(main, _) => self.first(*main)?,
                _ => return Some(at),
            };
        }
        self.endless.get_or_insert(start);
        None
    }

    /// All steps from an element, escapes first, ranked, each with the element that it is the step of.
    fn transformations(&mut self, element: ElementId) -> (Vec<Transformation>, Vec<ElementId>) {
        // An `else` stands after the other options of its own choice, and compares itself with everything before it, also
        // across nested choices: that is SPIN's rule.
        let steps = self.with_escapes(element);
        let mut escape = steps.first().and_then(|step| step.escape);
        let mut rank = 0;
        let ranked = steps.into_iter().map(|step| {
            rank += u16::from(std::mem::replace(&mut escape, step.escape) != step.escape);
            (Transformation { rank, ..step.transformation }, step.element)
        });
        ranked.unzip()
    }

    /// The steps of an element with those of its escapes in front, the outermost first; the steps of one escape stand
    /// together.
    ///
    /// As in SPIN's tables: where an escape was made before the element (a block around nested `unless` statements), the
    /// escape brings along its own escapes, and all of them count as one.
    fn with_escapes(&mut self, element: ElementId) -> Vec<Step> {
        let mut steps = Vec::new();
        self.steps(element, &mut steps, &mut Vec::new());
        // A `d_step` is interrupted before it begins or not at all.
        if self.flow.element(element).d_step.is_some() {
            return steps;
        }
        let count = steps.len();
        for index in 0..count {
            // What was put in front moves the step we are at.
            let own = steps.len() - count + index;
            let source = steps[own].element;
            if matches!(self.flow.element(source).kind, Kind::Join) {
                continue;
            }
            let atomic = self.flow.element(source).atomic;
            for escape in self.flow.element(source).escapes.clone().into_iter().rev() {
                let Some(first) = self.first(escape) else { continue };
                let target = self.hunt(first, atomic);
                let mut offered = Vec::new();
                if self.flow.element(target).made < self.flow.element(element).made {
                    offered = self.with_escapes(target);
                } else {
                    self.steps(target, &mut offered, &mut Vec::new());
                }
                for step in offered {
                    if !steps.iter().any(|s| s.element == step.element) {
                        steps.insert(0, Step { escape: Some(target), ..step });
                    }
                }
            }
        }
        steps
    }

    /// The steps of an element itself.
    fn steps(&mut self, element: ElementId, out: &mut Vec<Step>, seen: &mut Vec<ElementId>) {
        if seen.contains(&element) {
            return;
        }
        let e = self.flow.element(element);
        let d_step = e.d_step.is_some();
        let (operation, actions, target) = match &e.kind {
            Kind::Choice(options) => {
                seen.push(element);
                for option in options {
                    if let Some(first) = self.hunt_start(*option) {
                        self.steps(first, out, seen);
                    }
                }
                seen.pop();
                return;
            }
            Kind::Block { sequence, .. } => {
                seen.push(element);
                if let Some(first) = self.hunt_start(*sequence) {
                    self.steps(first, out, seen);
                }
                seen.pop();
                return;
            }
            Kind::Unless(main, _) => {
                seen.push(element);
                if let Some(first) = self.hunt_start(*main) {
                    self.steps(first, out, seen);
                }
                seen.pop();
                return;
            }
            Kind::Basic { operation, actions, .. } => {
                let returns = actions.iter().any(|a| matches!(a, Action::Return(_)));
                (operation.clone(), actions.clone(), if returns { None } else { e.next })
            }
            Kind::Goto(_) => (Operation::Always, Vec::new(), self.flow.target(element)),
            Kind::Join | Kind::Exit => (Operation::Always, Vec::new(), e.next),
            Kind::DStep(sequence) => (Operation::Enter, Vec::new(), self.hunt_start(*sequence)),
            Kind::End => (Operation::Exit, Vec::new(), None),
        };
        let target = target.map(|target| {
            let end = match &e.kind {
                // The way in: whatever the first element is, it is inside.
                Kind::DStep(_) => target,
                _ if d_step => self.hunt_in_d_step(target, e.d_step),
                _ => self.hunt(target, e.atomic),
            };
            self.location(end)
        });
        self.met[element.0] = true;
        out.push(Step {
            element,
            escape: None,
            transformation: Transformation {
                operation,
                actions,
                target,
                keeps_control: e.atomic && !d_step,
                rank: 0,
                span: e.span,
                text: e.text.clone(),
            },
        });
    }

    /// Inside a `d_step` jumps and joins are passed freely; what lies after it is hunted as from the `d_step`
    /// itself.
    fn hunt_in_d_step(&mut self, element: ElementId, d_step: Option<ElementId>) -> ElementId {
        let mut at = element;
        for _ in 0..LONGEST_JUMP {
            let e = self.flow.element(at);
            if e.d_step != d_step {
                let atomic = d_step.is_some_and(|d| self.flow.element(d).atomic);
                return self.hunt(at, atomic);
            }
            let Some(next) = self.beyond(at) else { return at };
            at = next;
        }
        self.endless.get_or_insert(element);
        element
    }
}

/// Jumps into or out of a `d_step`, and what cannot be inside one.
fn check_d_steps(flow: &Flow, lowering: &mut Lowering<'_>) {
    for (index, element) in flow.elements.iter().enumerate() {
        if let Some(target) = flow.target(ElementId(index)) {
            let there = flow.element(target);
            let exit_of_own = element.d_step.is_some() && matches!(there.kind, Kind::Join | Kind::Exit);
            if element.d_step != there.d_step && !exit_of_own {
                let message =
                    if element.d_step.is_some() { "a jump out of a d_step" } else { "a jump into a d_step" };
                lowering.report(
                    Diagnostic::error(element.span, message)
                        .related(there.span, "to here")
                        .help("a d_step has one entry and one exit; use `atomic` instead"),
                );
            }
        }
        if element.d_step.is_some() {
            if let Kind::Basic { actions, .. } = &element.kind
                && actions.iter().any(|a| matches!(a, Action::Call { .. } | Action::Return(_)))
            {
                lowering.report(
                    Diagnostic::error(element.span, "a call or `return` inside a d_step")
                        .help("use `atomic` instead"),
                );
            }
            if let Kind::Basic { actions, .. } = &element.kind
                && actions.iter().any(|a| matches!(a, Action::Start { .. }))
            {
                lowering.report(
                    Diagnostic::error(element.span, "`run` inside a d_step").help("use `atomic` instead"),
                );
            }
            if matches!(element.kind, Kind::Unless(..)) {
                lowering.report(
                    Diagnostic::error(element.span, "`unless` inside a d_step").help("use `atomic` instead"),
                );
            }
        }
    }
}
