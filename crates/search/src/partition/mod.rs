//! A breadth-first search whose states are divided among owners, by a hash: each owner has a store of its own, and what is found for another is sent there.
//!
//! Stern and Dill ("Parallelizing the Murphi verifier", 1997) divide states among machines in this way; what is here keeps levels. A state's
//! *letter* goes to its owner, who looks it up; what is new there is in the owner's part of the next level. So levels, and all that depends on them alone, are those of one
//! store ([`crate::breadth_first`]).
//!
//! Partial order reduction asks whether a reduced expansion leads to a state that is in no level up to this one. Where such a state is at home that is known at once. Otherwise the
//! expansion is *deferred* and its letters *ask*: their owners answer, and an expansion of whose letters none is answered by yes is made again with what comes after. When
//! all are settled, the level is complete. The answer does not depend on the order in which letters arrive, since what arrives during a level is in the next one or in none.
//!
//! [`part`] is an owner's work, [`disk`] has the owners take turns, with files between them;
//! with [`machines`] they are processes that work at the same time, with messages between them ([`beginning`], [`ending`]; [`kept`] is what they write). Infinite runs are looked for by processes, too: [`cycles`],
//! [`laps`], [`lassos`].

mod answer;
mod beginning;
mod cycles;
mod disk;
mod ending;
mod files;
mod kept;
mod laps;
mod lassos;
mod machines;
mod owner;
mod part;
mod rounds;
mod rows;
mod town;

pub use beginning::breadth_first_by_processes;
pub use cycles::liveness_by_processes;
pub use disk::{Disk, Spool, breadth_first_on_disk};
pub use machines::Peers;
