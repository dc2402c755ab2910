//! The `quotient` command.
use quotient_source::*;
use quotient_search::*;
use quotient_system::System;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut map = SourceMap::new();
    let parsed = quotient_promela::parse_file(&mut map, std::path::Path::new(&args[1]), &Default::default()).unwrap();
    for d in parsed.diagnostics.iter() { println!("{}", render(&map, d, false)); }
    if parsed.diagnostics.has_errors() { std::process::exit(2) }
    let lowered = quotient_promela::lower(&parsed.model, &map);
    for d in lowered.diagnostics.iter() { println!("{}", render(&map, d, false)); }
    if lowered.diagnostics.has_errors() { std::process::exit(2) }
    let mut machine = quotient_machine::Machine::new(lowered.program, &map).unwrap();
    let mode = args.get(2).map(|s| s.as_str()).unwrap_or("bfs-plain");
    let mut options = Options { all: true, ..Options::default() };
    let mut plain = quotient_visited::Plain::new();
    let mut tree = quotient_visited::Tree::new();
    let t = std::time::Instant::now();
    let report = match mode {
        "bfs-plain" => breadth_first(Seams { system: &mut machine, representative: &mut quotient_symmetry::Identity, ample: &mut quotient_ample::All, visited: &mut plain }, &mut options),
        "bfs-tree" => breadth_first(Seams { system: &mut machine, representative: &mut quotient_symmetry::Identity, ample: &mut quotient_ample::All, visited: &mut tree }, &mut options),
        "dfs-plain" => depth_first(Seams { system: &mut machine, representative: &mut quotient_symmetry::Identity, ample: &mut quotient_ample::All, visited: &mut plain }, &mut options),
        _ => depth_first(Seams { system: &mut machine, representative: &mut quotient_symmetry::Identity, ample: &mut quotient_ample::All, visited: &mut tree }, &mut options),
    };
    let s = report.statistics;
    println!("states={} transitions={} stop={:?} depth={} {:.1} ns/t {:.1} B/state", s.states, s.transitions, report.stop, s.depth, t.elapsed().as_nanos() as f64 / s.transitions.max(1) as f64, s.store_bytes as f64 / s.states as f64);
    for f in &report.found { match f.cause { Cause::Deadlock => println!("deadlock x{}", f.count), Cause::Violation(c) => println!("{:?} x{}", machine.violation(c), f.count) } }
}
