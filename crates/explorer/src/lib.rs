//! The explorer: stand anywhere in a run and see what happened, what is true, what could happen next, and why not.
//!
//! A page in the browser, and a server on the loopback that answers its questions about one model. The server keeps nothing for the
//! page: every question names its position in a run ([`quotient_explain::Position`]), and what is kept between questions may be
//! dropped at any time.
//!
//! - [`guard`]: who is answered; [`server`]: requests and answers; [`page`]: the page's files;
//! - [`session`]: a model that is explored, and the questions about it;
//! - [`mod@program`]: a C or C++ program that is explored, which is run by clicks only;
//! - [`checking`]: the check that runs beside;
//! - `next`: what can happen and why not, where values come from; `around`: what else could have happened; `class`: what symmetry says of a state; `reductions`, `heap`, `unread`, `edits`.

mod around;
pub mod checking;
mod class;
pub mod draw;
mod edits;
pub mod guard;
mod heap;
mod next;
pub mod page;
pub mod program;
mod reductions;
pub mod server;
pub mod session;
mod show;
mod unread;

pub use checking::Checking;
pub use program::Program;
pub use server::{Answers, Listening};
pub use session::Session;

/// The version of questions and answers.
pub const VERSION: u32 = 1;
