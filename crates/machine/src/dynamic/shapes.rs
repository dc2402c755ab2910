//! Descriptions of the shapes of dynamic programs.
//!
//! The description of a normal shape lists the threads in order, each with its stack of functions, then the objects in
//! order, each with its kind; it decides where everything lies.

use super::kind::Kind;
use super::segments::Segments;
use crate::layout::Layout;
use crate::shapes::{Instance, Shape};

/// The number of the shape in which a draft is while a step changes what exists. Never the number of a stored state.
pub(crate) const WORKING: u32 = 0;

/// Writes the description of a shape: of the threads, of the objects with the kinds given.
pub(crate) fn describe<'a>(
    threads: impl ExactSizeIterator<Item = (&'a [Instance], Instance)>,
    kinds: impl Iterator<Item = Kind>,
    out: &mut Vec<u32>,
) {
    out.clear();
    out.push(threads.len() as u32);
    for (below, top) in threads {
        out.push(below.len() as u32);
        out.extend(below.iter().map(|f| f.kind));
        out.push(top.kind);
    }
    out.extend(kinds.map(|k| k.0));
}

/// The normal shape with a description.
pub(crate) fn build_dynamic(description: &[u32], segments: &Segments, layout: &Layout) -> Shape {
    let mut shape = Shape::empty(segments.fixed);
    let mut rest = description.iter().copied();
    let mut next = || rest.next().unwrap_or(0);
    for _ in 0..next() {
        let below = next();
        shape.heads.push(shape.bytes);
        shape.bytes += segments.head;
        let mut frame = |kind: u32| {
            let instance = Instance { kind, at: shape.bytes };
            shape.bytes += segments.frame_sizes[kind as usize];
            instance
        };
        shape.stacks.push((0..below).map(|_| frame(next())).collect());
        shape.threads.push(frame(next()));
    }
    for kind in rest {
        shape.objects.push(Instance { kind, at: shape.bytes });
        shape.bytes += segments.object_size(Kind(kind), layout);
    }
    shape.words = shape.bytes.div_ceil(8);
    shape.alive = shape.threads.iter().filter(|t| segments.runs(t.kind)).count() as u32;
    shape
}
