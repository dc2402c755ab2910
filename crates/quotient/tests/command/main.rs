//! The command as a user meets it.

mod accepted;
mod answered;
mod command_line;
mod docs;
mod expected;
mod limits;
mod native;
mod objects;
mod option_table;
mod projects;
mod random_command_lines;
mod schema;
mod second_look;
mod traces;
mod usage;
mod verify;
