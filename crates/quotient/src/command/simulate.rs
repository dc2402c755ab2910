//! `quotient simulate`: one run, at random or step by step.

use std::io::{BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use quotient::machine::{Machine, StepRecord};
use quotient::seams::{Successors, System};
use quotient::trace::text::{render_processes, render_steps};
use quotient::trace::{Run, Told};
use quotient::{Model, ViolationKind};

use super::kind::{Given, Kind};
use super::{options, status, terminal, watch};

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Simulate, given: &Given) -> u8 {
    if let Some(status) =
        super::refused("simulate", given, Kind::given(&options.input.file, options.input.language))
    {
        return status;
    }
    watch::about(&options.input.file, false);
    let model =
        match Model::load_as(&options.input.file, options.input.language, &options.input.load_options()) {
            Ok(model) => model,
            Err(error) => {
                eprintln!("{}", error.render(terminal::colour()));
                return status::ERROR;
            }
        };
    let mut machine = match model.as_written() {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("error: {error}");
            return status::ERROR;
        }
    };
    let seed = options.seed.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64 % 1_000_000)
    });
    let mut simulation = Simulation { random: seed };
    if !options.interactive && !options.output_only {
        eprintln!("seed {seed}");
    }
    watch::journal().enter("simulating");
    simulation.run(options, &model, &mut machine)
}

struct Simulation {
    random: u64,
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
        let first = initial.len() as u32 - 1;
        let Ok(mut run) = Run::start(machine, None, &model.sources, first, Told::Changes) else {
            return status::ERROR;
        };
        let mut steps = 0;
        loop {
            let records = quotient_explain::once(run.possible(), |record| record);
            if records.is_empty() {
                return stop(&mut run);
            }
            if let Some(reason) = watch::interrupt().reason() {
                terminal::print(&format!("undecided: {reason}, after {steps} steps\n"));
                return status::UNDECIDED;
            }
            if steps == options.steps {
                terminal::print(&format!("stopped after {steps} steps\n"));
                return status::UNDECIDED;
            }
            steps += 1;
            let choice = if options.interactive {
                match self.ask(run.machine(), model, &records) {
                    Next::Step(choice) => choice,
                    Next::Quit => return status::UNDECIDED,
                }
            } else {
                // A failed assertion is always followed: it is what a simulation is for.
                let violated = records.iter().position(|r| r.violation.is_some());
                violated.unwrap_or_else(|| self.random_below(records.len()))
            };
            let record = &records[choice];
            let Ok(taken) = run.take(record) else { return status::BUG };
            if options.output_only {
                terminal::print(&taken.iter().map(|s| s.output.as_str()).collect::<String>());
            } else {
                terminal::print(&render_steps(&taken));
            }
            if record.violation.is_some() {
                let Some((violation, at)) = run.verdict() else { return status::BUG };
                terminal::print(&format!("{} ({})\n", violation.message, at.unwrap_or_default()));
                return violation.kind.status();
            }
            if record.state.is_none() {
                return ViolationKind::Assertion.status();
            }
        }
    }

    fn ask(&self, machine: &Machine, model: &Model, records: &[StepRecord]) -> Next {
        let mut text = String::from("\n");
        for (index, record) in records.iter().enumerate() {
            text.push_str(&format!("  {}  {}\n", index + 1, describe(machine, model, records, record)));
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

/// What a step consists of.
fn statements(record: &StepRecord) -> Vec<(u32, u32, Option<u32>)> {
    record.steps().iter().map(|s| (s.thread, s.transformation, s.partner)).collect()
}

/// A choice in words: its first statement, and the others if that does not tell it from another choice.
fn describe(machine: &Machine, model: &Model, all: &[StepRecord], record: &StepRecord) -> String {
    let own = statements(record);
    let alike = all.iter().filter(|r| statements(r).first() == own.first()).count();
    let shown = if alike > 1 { own.len() } else { 1 };
    let mut out = String::new();
    for (thread, transformation, partner) in own.into_iter().take(shown) {
        let Some((function, _, t)) = machine.transformation(transformation) else { continue };
        if out.is_empty() {
            let name = if function.name == ":init:" { "init" } else { &function.name };
            out = format!("{name}({thread})  {}  {}", model.sources.file_line(t.span), t.text);
        } else {
            out.push_str(&format!("; {}", t.text));
        }
        if let Some(partner) = partner {
            out.push_str(&format!("   (to process {partner})"));
        }
    }
    out
}

/// Says how a run has ended that cannot go on.
fn stop(run: &mut Run<'_>) -> u8 {
    terminal::print(&render_processes(&run.processes()));
    if run.verdict().is_none() {
        terminal::print("end: every process is in a valid end state\n");
        status::HOLDS
    } else {
        terminal::print("deadlock: no process can move\n");
        ViolationKind::Deadlock.status()
    }
}
