//! `quotient simulate`: one run, at random or step by step.

use std::io::{BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use quotient::Model;
use quotient::machine::{Machine, StepRecord};
use quotient::system::{Successors, System};
use quotient::trace::Trace;
use quotient::trace::text::{Detail, render, render_end};

use super::kind::Kind;
use super::{options, status, terminal};

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Simulate, given: &clap::ArgMatches) -> u8 {
    if let Some(status) = super::refused("simulate", given, Kind::of(&options.input.file)) {
        return status;
    }
    let model = match Model::load(&options.input.file, &options.input.load_options()) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{}", error.render(terminal::colour()));
            return status::ERROR;
        }
    };
    let (mut machine, _) = match model.machine(true, false) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("error: {error}");
            return status::ERROR;
        }
    };
    let seed = options.seed.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64 % 1_000_000)
    });
    let mut simulation = Simulation { choices: vec![0], random: seed, shown: 0 };
    if !options.interactive && !options.output_only {
        eprintln!("seed {seed}");
    }
    simulation.run(options, &model, &mut machine)
}

struct Simulation {
    choices: Vec<u32>,
    random: u64,
    shown: usize,
}

enum Next {
    Step(usize),
    Quit,
}

impl Simulation {
    /// The next random number below `n` (SplitMix64).
    fn random_below(&mut self, n: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn run(&mut self, options: &options::Simulate, model: &Model, machine: &mut Machine) -> u8 {
        let mut initial = Successors::new();
        if let Err(e) = machine.initial(&mut initial) {
            eprintln!("error: {}", e.what);
            return status::UNDECIDED;
        }
        let mut state = initial.state(initial.len() - 1).to_vec();
        self.choices = vec![initial.len() as u32 - 1];
        let mut steps = 0;
        loop {
            let records = machine.explain(&state);
            if records.is_empty() {
                return self.stop(machine, model, &state);
            }
            if steps == options.steps {
                terminal::print(&format!("stopped after {steps} steps\n"));
                return status::UNDECIDED;
            }
            steps += 1;
            let choice = if options.interactive {
                match self.ask(machine, model, &records) {
                    Next::Step(choice) => choice,
                    Next::Quit => return status::UNDECIDED,
                }
            } else {
                // A failed assertion is always followed: it is what a simulation is for.
                let violated = records.iter().position(|r| r.violation.is_some());
                violated.unwrap_or_else(|| self.random_below(records.len()))
            };
            self.choices.push(choice as u32);
            let record = &records[choice];
            if options.output_only {
                let printed: String = record.steps().iter().map(|s| s.output.as_str()).collect();
                terminal::print(&printed);
            } else {
                self.show(machine, model);
            }
            if let Some(code) = record.violation {
                let violation = machine.violation(code);
                let at = model.sources.file_line(machine.site(code).span);
                terminal::print(&format!("{} ({at})\n", violation.message));
                return status::SAFETY;
            }
            match &record.state {
                Some(next) => state.clone_from(next),
                None => return status::SAFETY,
            }
        }
    }

    /// Prints the steps that have not been shown yet.
    fn show(&mut self, machine: &mut Machine, model: &Model) {
        // Replaying from the start keeps one way of describing steps; only the last choice is new.
        let Ok(trace) = Trace::replay(machine, &model.sources, &self.choices) else { return };
        let mut tail = trace.clone();
        tail.steps.drain(..self.shown.min(trace.steps.len()));
        self.shown = trace.steps.len();
        terminal::print(&render(&tail, Detail::default()));
    }

    fn stop(&self, machine: &mut Machine, model: &Model, state: &[u64]) -> u8 {
        let ended = machine.is_valid_end(state);
        if let Ok(trace) = Trace::replay(machine, &model.sources, &self.choices) {
            terminal::print(&render_end(&trace));
        }
        if ended {
            terminal::print("end: every process is in a valid end state\n");
            status::HOLDS
        } else {
            terminal::print("deadlock: no process can move\n");
            status::DEADLOCK
        }
    }

    fn ask(&self, machine: &Machine, model: &Model, records: &[StepRecord]) -> Next {
        let mut text = String::from("\n");
        for (index, record) in records.iter().enumerate() {
            let described = record.steps().first().and_then(|s| {
                let (function, _, t) = machine.transformation(s.transformation)?;
                let name = if function.name == ":init:" { "init" } else { &function.name };
                Some(format!("{name}({})  {}  {}", s.thread, model.sources.file_line(t.span), t.text))
            });
            text.push_str(&format!("  {}  {}\n", index + 1, described.unwrap_or_default()));
        }
        text.push_str(&format!("choose 1 to {}, or q to quit: ", records.len()));
        terminal::print(&text);
        let _ = std::io::stdout().flush();
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return Next::Quit };
            match line.trim() {
                "q" | "quit" => return Next::Quit,
                answer => match answer.parse::<usize>() {
                    Ok(n) if (1..=records.len()).contains(&n) => return Next::Step(n - 1),
                    _ => {
                        terminal::print(&format!("please type a number from 1 to {}, or q: ", records.len()))
                    }
                },
            }
        }
        Next::Quit
    }
}
