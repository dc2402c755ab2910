//! Proved symmetries as representatives: `check --relative`.
//!
//! `quotient prove` shows that a map of states takes every step to a step and back, and
//! [`quotient_proof::automorphism`] decides which maps of a certificate may be used for a model and its
//! claims. Here they act on packed states: a state stands for all its images under the group the maps
//! generate, and the least one is kept. The model is checked as written, without reductions of the
//! program, since that is what the proof is about.

use std::fmt;

use quotient_machine::{Machine, Scalar, ScalarPlace};
use quotient_proof::automorphism::{Automorphism, Usable, automorphisms};
use quotient_proof::frontend::promela::{Column, Place, Translation, translate};
use quotient_proof::limits::Limits;
use quotient_proof::propose;
use quotient_proof_check::format::Certificate;
use quotient_seams::{Representative, Scope, Successors, System, Walk, Worker};
use quotient_search::{Cause, Found, Statistics};
use quotient_source::{Diagnostics, render};

use quotient_trace::NotReplayable;

use crate::searching::run_whole;
use crate::{Check, CheckError, Compile, Model, Outcome, Question, audit};

/// Larger groups are not written out; their generators are applied as long as they lead to smaller states.
const LARGEST_GROUP: usize = 1000;

/// Maps that a search of a model may use, and why others may not be used.
#[derive(Clone, Debug, Default)]
pub struct Relative {
    usable: Usable,
    columns: Vec<Column>,
    threads: usize,
}

/// Why a certificate cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl Relative {
    /// What the certificate (JSON text, as `prove --certificate` wrote it) offers for a model. The certificate is
    /// checked, and compared with the model.
    pub fn new(model: &Model, certificate: &str) -> Result<Relative, Refused> {
        let certificate = quotient_proof_check::read(certificate)
            .map_err(|e| Refused(format!("not a certificate: {e}")))?;
        Relative::certified(model, |_| Some(certificate))
    }

    /// Symmetries that nobody stated: they are proposed and proved in a moment, or there is a reason why the model is searched without
    /// them. A symmetry that serves no safety question is not looked for.
    pub fn proposed(model: &Model, check: &Check) -> Result<Relative, Refused> {
        let questions = model.questions(check).map_err(|e| Refused(e.to_string()))?;
        if questions.iter().any(|q| *q != Question::Safety) {
            return Err(Refused("proved symmetries serve safety questions only".into()));
        }
        let limits = Limits::new(check.interrupt.cloned().unwrap_or_default());
        let found =
            Relative::certified(model, |translation| propose::certificate(&translation.items, &limits))?;
        match found.usable.maps.is_empty() {
            true => Err(Refused(found.usable.refused.join("; "))),
            false => Ok(found),
        }
    }

    fn certified(
        model: &Model,
        certificate: impl FnOnce(&Translation) -> Option<Certificate>,
    ) -> Result<Relative, Refused> {
        let mut diagnostics = Diagnostics::new();
        let Some(translation) = translate(&model.program, &model.sources, &mut diagnostics) else {
            let reasons: Vec<String> = diagnostics.iter().map(|d| render(&model.sources, d, false)).collect();
            return Err(Refused(reasons.join("\n")));
        };
        let certificate =
            certificate(&translation).ok_or_else(|| Refused("no proposed symmetry was proved".into()))?;
        let usable =
            automorphisms(&certificate, &model.program, &translation, &model.sources).map_err(Refused)?;
        Ok(Relative { usable, columns: translation.columns, threads: translation.threads })
    }

    /// Maps taken for granted, for tests that show what goes wrong with others than automorphisms.
    #[doc(hidden)]
    pub fn unchecked(model: &Model, maps: Vec<Automorphism>) -> Option<Relative> {
        let translation = translate(&model.program, &model.sources, &mut Diagnostics::new())?;
        let usable = Usable { maps, ..Usable::default() };
        Some(Relative { usable, columns: translation.columns, threads: translation.threads })
    }

    /// Names of the assertions in use.
    pub fn used(&self) -> Vec<&str> {
        self.usable.maps.iter().map(|m| m.name.as_str()).collect()
    }

    /// Assertions that are not used, each with its reason.
    pub fn refused(&self) -> &[String] {
        &self.usable.refused
    }

    /// Says in a report what was used, and what was not.
    pub(crate) fn report(&self, order: Option<usize>, outcome: &mut Outcome) {
        if !self.usable.maps.is_empty() {
            outcome.symmetry.order = "proved".into();
            let group = match order {
                Some(order) => format!("a group of {order} maps"),
                None => "a group too large to list, so states are not always merged".into(),
            };
            outcome.notes.push(format!("proved symmetries in use: {} ({group})", self.used().join(", ")));
        }
        outcome.notes.extend(self.usable.refused.iter().cloned());
        if self.usable.across_code {
            // A statement may have been executed by the partner only.
            outcome.unreached.clear();
            outcome.covered.clear();
        }
    }

    /// The representative for a machine of the model.
    pub(crate) fn representative(&self) -> Orbits<'_> {
        let (elements, whole) = group(&self.usable.maps, self.columns.len());
        Orbits {
            relative: self,
            elements,
            whole,
            places: None,
            values: Vec::new(),
            image: Vec::new(),
            best: Vec::new(),
        }
    }
}

/// One element of the group: where each column's value comes from, and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Element {
    source: Vec<usize>,
    values: Vec<Vec<(i32, i32)>>,
}

fn moved(values: &[(i32, i32)], value: i32) -> i32 {
    values.iter().find(|v| v.0 == value).map_or(value, |v| v.1)
}

impl Element {
    fn of(map: &Automorphism) -> Element {
        // Values are those of a model's variables, so they fit.
        let small = |v: i64| i32::try_from(v).unwrap_or(0);
        let values = map.values.iter().map(|list| list.iter().map(|&(a, b)| (small(a), small(b))).collect());
        Element { source: map.source.clone(), values: values.collect() }
    }

    /// `self` after `first`.
    fn after(&self, first: &Element) -> Element {
        let mut out = Element { source: Vec::new(), values: Vec::new() };
        for (column, &between) in self.source.iter().enumerate() {
            out.source.push(first.source[between]);
            let (one, two) = (&first.values[between], &self.values[column]);
            let mut list: Vec<(i32, i32)> = one.iter().map(|&(a, b)| (a, moved(two, b))).collect();
            list.extend(two.iter().filter(|v| one.iter().all(|w| w.0 != v.0)));
            list.retain(|v| v.0 != v.1);
            list.sort_unstable();
            out.values.push(list);
        }
        out
    }
}

/// The group that the maps generate, without the identity, and whether that is all of it: a group that is too large
/// is left as its generators.
fn group(maps: &[Automorphism], columns: usize) -> (Vec<Element>, bool) {
    let generators: Vec<Element> = maps.iter().map(Element::of).collect();
    let identity = Element { source: (0..columns).collect(), values: vec![Vec::new(); columns] };
    let mut all = vec![identity];
    let mut next = 0;
    while next < all.len() {
        for generator in &generators {
            let product = generator.after(&all[next]);
            if !all.contains(&product) {
                all.push(product);
            }
        }
        if all.len() > LARGEST_GROUP {
            return (generators, false);
        }
        next += 1;
    }
    all.remove(0);
    (all, true)
}

/// The shape in which all processes exist.
#[derive(Clone)]
struct Shape {
    /// Where the number of a state's shape is, and which it is for this one.
    number: (ScalarPlace, i32),
    /// Where each column is.
    columns: Vec<ScalarPlace>,
}

/// The least image of each state.
#[derive(Clone)]
pub(crate) struct Orbits<'r> {
    relative: &'r Relative,
    elements: Vec<Element>,
    whole: bool,
    /// States in which all processes exist, and where the columns lie in them.
    places: Option<Shape>,
    values: Vec<i32>,
    image: Vec<i32>,
    best: Vec<i32>,
}

impl Orbits<'_> {
    /// Number of elements of the group in use, the identity included; `None` for a group too large to list.
    pub(crate) fn order(&self) -> Option<usize> {
        self.whole.then_some(self.elements.len() + 1)
    }

    fn apply(element: &Element, values: &[i32], out: &mut Vec<i32>) {
        out.clear();
        out.extend(element.source.iter().zip(&element.values).map(|(&s, map)| moved(map, values[s])));
    }

    /// Finds the columns in the shape of a state, if all processes exist in it.
    fn locate(&mut self, machine: &Machine, state: &[u64]) {
        if self.places.is_some() || state.is_empty() || machine.threads(state).len() != self.relative.threads
        {
            return;
        }
        let place = |column: &Column| {
            let scalar = match column.place {
                Place::Counter { thread, .. } => Scalar::Location { thread },
                Place::Global { variable, scalar } => Scalar::Global { variable, scalar },
                Place::Local { thread, variable, scalar } => Scalar::Local { thread, variable, scalar },
            };
            machine.scalar_place(state, scalar)
        };
        let columns: Option<Vec<ScalarPlace>> = self.relative.columns.iter().map(place).collect();
        let number = machine.scalar_place(state, Scalar::Shape);
        self.places = number.zip(columns).map(|(at, columns)| Shape { number: (at, at.get(state)), columns });
    }

    /// Explores just far enough to find the shape in which all processes exist: it is the first state's, or that of
    /// its successors, since `init` starts all processes in one step.
    pub(crate) fn prepare(&mut self, machine: &mut Machine) {
        let mut first = Successors::new();
        if machine.initial(&mut first).is_err() {
            return;
        }
        for index in 0..first.len() {
            self.locate(machine, first.state(index));
            let mut next = Successors::new();
            if self.places.is_none() && machine.successors(first.state(index), Scope::All, &mut next).is_ok()
            {
                (0..next.len()).for_each(|n| self.locate(machine, next.state(n)));
            }
        }
    }

    /// The path through real states that corresponds to a path through representatives: from each state a step is
    /// taken that leads to the same representative, the last one to the same violation. `None` would be a defect.
    pub(crate) fn concrete(&mut self, machine: &mut Machine, found: &Found) -> Option<Vec<u32>> {
        let (&first, steps) = found.path.choices.split_first()?;
        let mut real = Walk::start(machine, first).ok()?;
        let mut stands = Walk::at(&self.standing(real.state()));
        let mut choices = vec![first];
        for (at, &choice) in steps.iter().enumerate() {
            stands.look(machine).ok()?;
            stands.take(choice as usize).ok()?;
            let wanted = stands.looked().entry(choice as usize).violation;
            let target = self.standing(stands.state());
            real.look(machine).ok()?;
            let next = real.looked();
            let last = at + 1 == steps.len() && matches!(found.cause, Cause::Violation(_));
            let kind = |m: &Machine, code| m.violation(code).kind;
            let taken = (0..next.len()).find(|&n| {
                let own = next.entry(n).violation;
                let same = match (wanted, own) {
                    (Some(a), Some(b)) => kind(machine, a) == kind(machine, b),
                    (None, None) => true,
                    _ => !last,
                };
                same && self.standing(next.state(n)) == target
            })?;
            choices.push(taken as u32);
            real.take(taken).ok()?;
            stands.go(&target);
        }
        Some(choices)
    }

    fn standing(&mut self, state: &[u64]) -> Vec<u64> {
        let mut out = Vec::new();
        if self.least(state, &mut out) { out } else { state.to_vec() }
    }

    /// The least image, unless it is the state itself.
    fn least(&mut self, state: &[u64], out: &mut Vec<u64>) -> bool {
        let Some(Shape { number, columns }) = &self.places else { return false };
        if state.is_empty() || number.0.get(state) != number.1 {
            return false;
        }
        self.values.clear();
        self.values.extend(columns.iter().map(|p| p.get(state)));
        self.best.clone_from(&self.values);
        loop {
            let mut improved = false;
            for element in &self.elements {
                Orbits::apply(element, if self.whole { &self.values } else { &self.best }, &mut self.image);
                if self.image < self.best {
                    std::mem::swap(&mut self.image, &mut self.best);
                    improved = true;
                }
            }
            if self.whole || !improved {
                break;
            }
        }
        if self.best == self.values {
            return false;
        }
        out.clear();
        out.extend_from_slice(state);
        for (place, value) in columns.iter().zip(&self.best) {
            place.set(out, *value);
        }
        true
    }
}

impl Worker for Orbits<'_> {
    fn another(&self) -> Self {
        self.clone()
    }
}

impl Representative<Machine> for Orbits<'_> {
    fn representative(&mut self, _: &Machine, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.least(state, out)
    }

    fn name(&self) -> &'static str {
        "proved"
    }

    fn is_canonical(&self) -> bool {
        self.whole
    }

    fn renames(&self) -> bool {
        true
    }
}

impl Model {
    /// Answers the safety question with the proved symmetries as representatives, on the model as written.
    pub(crate) fn check_relative(
        &self,
        relative: &Relative,
        check: &Check<'_>,
        progress: &mut dyn FnMut(&Statistics),
    ) -> Result<Outcome, CheckError> {
        let check = Check { raw: true, ..*check };
        let mut outcome = self.empty_outcome(&check);
        let (mut machine, _) = self.machine(Compile::AS_WRITTEN)?;
        let mut orbits = relative.representative();
        orbits.prepare(&mut machine);
        let mut report = run_whole(&mut machine, &mut orbits, &check, progress);
        for found in &mut report.found {
            let step = found.path.choices.len().saturating_sub(1);
            let concrete = orbits.concrete(&mut machine, found);
            found.path.choices = concrete.ok_or(CheckError::NotReplayable(NotReplayable { step }))?;
        }
        self.answer_safety(&mut machine, &report, &check, &mut outcome)?;
        outcome.violations.iter_mut().for_each(|v| v.how = Compile::AS_WRITTEN);
        relative.report(orbits.order(), &mut outcome);
        if check.audit > 0 && !relative.usable.maps.is_empty() {
            let mut canonical = relative.representative();
            canonical.prepare(&mut machine);
            outcome.symmetry.audited = audit::proved(&mut machine, &mut orbits, &mut canonical, &check)?;
            if outcome.symmetry.audited.is_none() {
                outcome
                    .notes
                    .push("the group is too large to list, so its representatives are not audited".into());
            }
        }
        Ok(outcome)
    }
}
