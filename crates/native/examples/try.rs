use quotient_native::*;
use std::path::PathBuf;
fn main() {
    let mut a = std::env::args().skip(1);
    let source = PathBuf::from(a.next().unwrap());
    let symmetry = match a.next().unwrap().as_str() {
        "off" => quotient_stateless::Symmetry::Off,
        "costarted" => quotient_stateless::Symmetry::Costarted,
        _ => quotient_stateless::Symmetry::Dynamic,
    };
    let binary = Build {
        sources: vec![source],
        flags: std::env::var("CF").map(|f| f.split(' ').map(Into::into).collect()).unwrap_or_default(),
        compiler: None,
    }
    .run()
    .unwrap_or_else(|e| panic!("{e}"));
    let mut request = Request {
        symmetry,
        all: std::env::var("ALL").is_ok(),
        allow_races: std::env::var("RACES").is_ok(),
        ..Request::default()
    };
    request.max_time = std::env::var("TIME").ok().map(|t| std::time::Duration::from_secs(t.parse().unwrap()));
    for v in a {
        if let Some(f) = v.strip_prefix("@") {
            request.surroundings.files.push(f.into());
        } else {
            request.surroundings.arguments.push(v.into());
        }
    }
    let report = check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    let mut outcomes: Vec<u64> = report.outcomes.clone();
    outcomes.sort_unstable();
    outcomes.dedup();
    println!(
        "{:?}",
        match &report.answer {
            Answer::Holds => "holds".to_owned(),
            Answer::Violated(t) => format!("violated {:?}", t.failure),
            Answer::Undecided(w) => format!("undecided {w:?}"),
            Answer::Refused(w, _) => format!("refused {w}"),
        }
    );
    println!(
        "executions {} pruned {} restarts {} discarded {} cut {} blocked {} outcomes {} cpu {:?} aside {:?}",
        report.figures.executions,
        report.figures.pruned,
        report.figures.restarts,
        report.figures.discarded,
        report.figures.cut,
        report.figures.blocked,
        outcomes.len(),
        report.cpu,
        report.cpu_aside
    );
    for n in &report.notes {
        println!("note: {n}");
    }
}
