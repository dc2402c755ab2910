//! Packed states: where everything lies, and how it is looked at.
//!
//! - `cell.rs`: scalars in bytes. `link.rs`: cells that name objects and threads.
//! - `layout.rs`: what is known before the first state. `kind.rs`, `objects.rs`: kinds of objects, and what each looks like.
//! - `shapes.rs`: which threads, channels and objects a state has, and where.
//! - `look.rs`, `scalars.rs`, `parts.rs`: looks at states from outside, for reductions, maps and stores.

pub(crate) mod cell;
pub(crate) mod kind;
pub(crate) mod layout;
pub(crate) mod link;
pub(crate) mod look;
pub(crate) mod objects;
pub(crate) mod parts;
pub(crate) mod scalars;
pub(crate) mod shapes;
