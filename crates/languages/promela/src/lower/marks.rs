//! What labels named `end…`, `accept…` and `progress…` make of the elements of a process.
//!
//! Such a label marks the element that it stands before. No process ever stands before the first statement of an option:
//! it stands at the choice. SPIN's verifiers pass a mark there on to where the option's first step leads (`imed` in its
//! tables), so that whoever takes the option passes through a marked state. Here the same is done in the same order, element
//! by element in the order of their creation: a mark that is passed on to the first statement of another option is passed
//! on again if that choice was made later.

use super::elements::{ElementId, Kind, Written};
use super::flow::Builder;

/// The marks of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) end: bool,
    pub(super) accept: bool,
    pub(super) progress: bool,
}

/// Rounds after which choices inside choices are called endless; each round removes at least one level.
const DEEPEST: usize = 10_000;

impl Marks {
    /// The marks of all elements.
    pub(super) fn of(builder: &mut Builder<'_>) -> Vec<Marks> {
        let elements = &builder.flow.elements;
        let mut marks: Vec<Marks> = elements.iter().map(|e| Marks::named(&e.labels)).collect();
        // Most processes have no such label, and nothing to pass on.
        let any = marks.iter().any(|m| *m != Marks::default());
        for (element, marks) in elements.iter().zip(&mut marks) {
            marks.end |= matches!(element.kind, Kind::End);
        }
        if any {
            pass_on(builder, &mut marks);
        }
        marks
    }

    fn named(labels: &[String]) -> Marks {
        let marked = |prefix: &str| labels.iter().any(|l| l.starts_with(prefix));
        Marks { end: marked("end"), accept: marked("accept"), progress: marked("progress") }
    }

    fn join(&mut self, other: Marks) {
        self.end |= other.end;
        self.accept |= other.accept;
        self.progress |= other.progress;
    }
}

fn pass_on(builder: &mut Builder<'_>, marks: &mut [Marks]) {
    let mut order: Vec<usize> = (0..marks.len()).collect();
    order.sort_unstable_by_key(|index| builder.flow.element(ElementId(*index)).made);
    let mut options: Vec<Vec<ElementId>> =
        (0..marks.len()).map(|index| options(builder, ElementId(index))).collect();
    // Choices among the options of a choice are replaced by their options, which inherit their marks.
    for _ in 0..DEEPEST {
        let mut nested = false;
        for &index in &order {
            if options[index].iter().all(|option| options[option.0].is_empty()) {
                continue;
            }
            nested = true;
            let mut flat = Vec::new();
            for option in std::mem::take(&mut options[index]) {
                if options[option.0].is_empty() {
                    flat.push(option);
                }
                for inner in &options[option.0] {
                    let outer = marks[option.0];
                    marks[inner.0].join(outer);
                    flat.push(*inner);
                }
            }
            options[index] = flat;
        }
        if !nested {
            break;
        }
    }
    for &option in order.iter().flat_map(|index| &options[*index]) {
        if let Some(target) = builder.leads_to(option) {
            let passed = marks[option.0];
            marks[target.0].join(passed);
        }
    }
    // Where a process stands at a join, inside an atomic sequence, the end is passed on once more.
    for index in order {
        let element = builder.flow.element(ElementId(index));
        if marks[index].end
            && matches!(element.kind, Kind::Join)
            && element.d_step.is_none()
            && let Some(target) = builder.leads_to(ElementId(index))
        {
            marks[target.0].end = true;
        }
    }
}

/// The elements that the options of a choice, or a block, begin with. What is inside a `d_step` is not part of the tables.
fn options(builder: &mut Builder<'_>, id: ElementId) -> Vec<ElementId> {
    let element = builder.flow.element(id);
    if element.d_step.is_some() {
        return Vec::new();
    }
    match &element.kind {
        Kind::Choice(sequences) => {
            let starts: Vec<_> = sequences.iter().filter_map(|s| builder.hunt_start(*s)).collect();
            starts.into_iter().filter(|start| !never(builder, *start)).collect()
        }
        Kind::Block { sequence, .. } => builder.hunt_start(*sequence).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// `false` as a guard: SPIN leaves the option out of its tables.
fn never(builder: &Builder<'_>, id: ElementId) -> bool {
    let element = builder.flow.element(id);
    matches!(element.kind, Kind::Basic { written: Written::Never, .. }) && element.escapes.is_empty()
}
