//! The explorer: stand anywhere in a run and see what happened, what is true, what could happen next, and why not.
//!
//! A page in the browser, and a server on the loopback that answers its questions about one model. The server keeps nothing for the
//! page: every question names its position in a run ([`quotient_explain::Position`]), and what is kept between questions may be
//! dropped at any time.
//!
//! - `api`: what the page is told, as types;
//! - [`guard`]: who is answered; [`server`]: requests and answers; [`page`]: the page's files;
//! - [`session`]: a model that is explored, and the questions about it;
//! - [`mod@program`]: a C or C++ program that is explored, which is run by clicks only;
//! - [`checking`]: the check that runs beside;
//! - `run`, `runs`: runs, as the page gets them and as they are kept; `state`: what is true at a place;
//! - `next`: what can happen and why not (`stuck`: as a sentence, where nobody can go on), where values come from; `around`: what else could have happened; `class`: what symmetry says of a state (`ends`: where processes end in order); `reductions`, `heap`, `unread`, `edits`.

mod api;
mod around;
pub mod checking;
mod class;
pub mod draw;
mod edits;
mod ends;
pub mod guard;
mod heap;
mod kept;
mod next;
pub mod page;
pub mod program;
mod reductions;
mod run;
mod runs;
mod same;
pub mod server;
pub mod session;
mod state;
mod stuck;
mod unread;

pub use api::types as page_types;
pub use checking::Checking;
pub use program::Program;
pub use server::{Answers, Listening};
pub use session::Session;

/// Whole numbers of an answer, which are sent packed.
pub fn packed(numbers: &serde_json::Value) -> Vec<i32> {
    api::Packed::read(numbers).0
}

/// The version of questions and answers.
pub const VERSION: u32 = 2;
