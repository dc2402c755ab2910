//! The `quotient` command.

mod command;

fn main() -> std::process::ExitCode {
    command::main()
}
