//! Which renamings a program cannot notice.
//!
//! Promela has no type for process ids: they are bytes, stored, sent, compared, computed with, used as indices, and often written as constants. So nothing
//! is asked of types. [`symmetry`] makes a graph of the program of one set of threads, of threads, channels, cells, values, locations
//! and code. Its automorphisms are the renamings: everything for plain `_pid`, the rotations for `(_pid + 1) % N`, nothing for
//! `j >= _pid`; within one proctype or across several. Nothing is declared and no group is guessed.
//!
//! - [`mod@specialise`]: each thread's own copy of its code, constants put in ([`mod@fold`], [`mod@ground`]); [`mod@join`]: steps that nobody sees
//!   between are one; [`mod@layers`]: actions up to their order; [`mod@scans`]: loops over arrays as what they compute ([`mod@forgotten`]);
//! - [`mod@sorts`]: which values are names; [`mod@tables`]: arithmetic on them; [`mod@padding`]: classes of different size;
//!   [`mod@unions`]: fields of messages that mean different things;
//! - [`mod@build`]: the graph ([`mod@nodes`], [`mod@terms`]), and why its automorphisms are symmetries;
//! - [`mod@structure`]: points and edges, from which representatives are made;
//! - [`mod@found`]: what was found, in words; [`mod@reasons`]: the lines that tell threads apart, a smallest set of them ([`mod@smallest`]);
//!   [`mod@difference`]: where threads of different functions first differ.
//!
//! What the analysis does not understand stays as it is: such classes of values are numbers, and what they touch is pinned.

mod analysis;
mod build;
mod difference;
mod fold;
mod forgotten;
mod found;
mod ground;
mod join;
mod layers;
mod nodes;
mod padding;
mod reasons;
mod scans;
mod smallest;
mod sorts;
mod specialise;
mod structure;
mod tables;
mod terms;
mod unions;

pub use analysis::{Field, Holds, Symmetry, symmetry};
pub use build::Part;
pub use difference::{Difference, differences};
pub use ground::{Asked, Before, Cell, Channel, Move, Setting, Values, Var};
pub use nodes::{Map, Quick};
pub use reasons::{Effort, Reasons, reasons};
pub use specialise::refused;
pub use structure::{Place, Structure};
