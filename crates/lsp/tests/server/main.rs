//! The server as an editor meets it, message by message; and editors that send nonsense.

mod answers;
mod conversation;
mod grammars;
mod names;
mod random_edits;
