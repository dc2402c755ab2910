//! Source files, positions and diagnostics, shared by every front end.
//!
//! A front end loads its input into a [`SourceMap`], attaches a [`Span`] to whatever it builds, and
//! reports mistakes as [`Diagnostic`]s: what is wrong, where, and what to write instead. Rendering
//! (with file, line, the source text and a caret) happens in one place, [`render()`].

mod diagnostic;
mod map;
mod render;

pub use diagnostic::{Diagnostic, Diagnostics, Severity, Unchecked};
pub use map::{Expansions, FileId, Position, SourceMap, Span, unreadable};
pub use render::{render, render_all};
