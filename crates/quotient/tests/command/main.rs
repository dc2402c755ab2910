//! The command as a user meets it.

mod accepted;
mod action;
mod answered;
mod checkpoints;
mod cluster;
mod command_line;
mod disk;
mod docs;
mod drawn;
mod expected;
mod from_spin;
mod limits;
mod lsp;
mod native;
mod objects;
mod option_table;
mod projects;
mod random_command_lines;
mod schema;
mod second_look;
mod traces;
mod trails;
mod usage;
mod validated;
mod verify;
mod witness;
