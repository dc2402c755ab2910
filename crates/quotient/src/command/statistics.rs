//! `check --statistics FILE`: the figures of a search over time, a JSON object on each line, and the picture that `quotient draw` makes of them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use quotient::seams::resident_bytes;
use quotient::search::Statistics;
use serde::{Deserialize, Serialize};

use super::terminal::grouped;

/// The figures at one moment.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Since the check began.
    seconds: f64,
    states: u64,
    transitions: u64,
    depth: u64,
    waiting: u64,
    store_bytes: u64,
    search_bytes: u64,
    resident_bytes: u64,
}

/// Writes a line whenever it is told of figures.
pub(crate) struct Recorder {
    file: File,
    began: Instant,
    /// The most so far: at the end it is given back.
    resident: u64,
    /// Why a line could not be written; no more are tried then.
    failed: Option<std::io::Error>,
}

impl Recorder {
    pub(crate) fn new(path: &Path) -> Result<Recorder, String> {
        let file = File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(Recorder { file, began: Instant::now(), resident: 0, failed: None })
    }

    pub(crate) fn note(&mut self, s: &Statistics) {
        if self.failed.is_some() {
            return;
        }
        self.resident = self.resident.max(resident_bytes().unwrap_or(0));
        let moment = Moment {
            seconds: (self.began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            states: s.states,
            transitions: s.transitions,
            depth: s.depth,
            waiting: s.waiting,
            store_bytes: s.store_bytes,
            search_bytes: s.search_bytes,
            resident_bytes: self.resident,
        };
        let mut line = serde_json::to_string(&moment).unwrap_or_default();
        line.push('\n');
        self.failed = self.file.write_all(line.as_bytes()).err();
    }

    /// Why not everything was written.
    pub(crate) fn finish(self) -> Result<(), std::io::Error> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// The moments that a file has, if it is one of these.
pub(crate) fn read(path: &Path) -> Option<Vec<Moment>> {
    let text = std::fs::read_to_string(path).ok()?;
    let moments: Vec<Moment> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    (!moments.is_empty()).then_some(moments)
}

/// One line of a panel.
struct Curve {
    name: &'static str,
    class: &'static str,
    points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const PANEL: f64 = 130.0;
const GAP: f64 = 46.0;
const TOP: f64 = 34.0;

/// The picture: states and those that wait, the rate, the memory, and where levels were complete.
pub(crate) fn plot(moments: &[Moment]) -> String {
    let of =
        |value: fn(&Moment) -> u64| moments.iter().map(|m| (m.seconds, value(m) as f64)).collect::<Vec<_>>();
    let rates = moments
        .windows(2)
        .filter(|pair| pair[1].seconds > pair[0].seconds && pair[1].states >= pair[0].states);
    let rates = rates.map(|pair| {
        let time = pair[1].seconds - pair[0].seconds;
        (pair[1].seconds, (pair[1].states - pair[0].states) as f64 / time)
    });
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let memory =
        |value: fn(&Moment) -> u64| moments.iter().map(|m| (m.seconds, mib(value(m)))).collect::<Vec<_>>();
    let panels: [(&str, Vec<Curve>); 3] = [
        (
            "states",
            vec![
                Curve { name: "stored", class: "a", points: of(|m| m.states) },
                Curve { name: "waiting", class: "b", points: of(|m| m.waiting) },
            ],
        ),
        ("states per second", vec![Curve { name: "", class: "a", points: rates.collect() }]),
        (
            "MiB",
            vec![
                Curve { name: "resident", class: "a", points: memory(|m| m.resident_bytes) },
                Curve { name: "store", class: "b", points: memory(|m| m.store_bytes) },
            ],
        ),
    ];
    let last = moments.last().copied().unwrap_or_default();
    let end = last.seconds.max(0.001);
    let height = TOP + 3.0 * (PANEL + GAP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n{STYLE}\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"ink\" x=\"{LEFT}\" y=\"20\">{} states, {} transitions, depth {} in {:.1} s</text>\n",
        grouped(last.states),
        grouped(last.transitions),
        grouped(last.depth),
        last.seconds
    );
    for (number, (name, curves)) in panels.iter().enumerate() {
        let top = TOP + 14.0 + number as f64 * (PANEL + GAP);
        panel(&mut svg, top, end, name, curves, moments);
    }
    svg.push_str("</svg>\n");
    svg
}

const STYLE: &str = "<style>.paper{fill:#fff}.ink{fill:#222}.axis{stroke:#888;fill:none}.level{stroke:#ddd}\
.a{stroke:#1565c0;fill:none;stroke-width:2}.b{stroke:#c2570c;fill:none;stroke-width:2}.ta{fill:#1565c0}.tb{fill:#c2570c}\
@media (prefers-color-scheme: dark){.paper{fill:#16181c}.ink{fill:#ddd}.level{stroke:#333}.a{stroke:#6fb1ff}.b{stroke:#ff9f5a}.ta{fill:#6fb1ff}.tb{fill:#ff9f5a}}</style>\n";

fn panel(svg: &mut String, top: f64, end: f64, name: &str, curves: &[Curve], moments: &[Moment]) {
    let most = curves.iter().flat_map(|c| &c.points).map(|p| p.1).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let x = |seconds: f64| LEFT + (WIDTH - LEFT - RIGHT) * seconds / end;
    let y = |value: f64| top + PANEL * (1.0 - value / most);
    // Where a level was complete, unless there are too many to see.
    let levels: Vec<f64> =
        moments.windows(2).filter(|p| p[1].depth > p[0].depth).map(|p| p[1].seconds).collect();
    if levels.len() <= 60 {
        for at in levels.iter().map(|seconds| x(*seconds)) {
            let _ = writeln!(
                svg,
                "<line class=\"level\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{}\"/>",
                top + PANEL
            );
        }
    }
    let _ = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {top} V{0} H{1}\"/>", top + PANEL, WIDTH - RIGHT);
    for part in [0.0, 0.5, 1.0] {
        let _ = writeln!(
            svg,
            "<text class=\"ink\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y(part * most) + 4.0,
            shortened(part * most)
        );
        let _ = writeln!(
            svg,
            "<text class=\"ink\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{:.1} s</text>",
            x(part * end),
            top + PANEL + 16.0,
            part * end
        );
    }
    let _ = writeln!(svg, "<text class=\"ink\" x=\"{LEFT}\" y=\"{}\">{name}</text>", top - 6.0);
    for (number, curve) in curves.iter().enumerate() {
        let points: Vec<String> =
            curve.points.iter().map(|(s, v)| format!("{:.1},{:.1}", x(*s), y(*v))).collect();
        let _ = writeln!(svg, "<polyline class=\"{}\" points=\"{}\"/>", curve.class, points.join(" "));
        let _ = writeln!(
            svg,
            "<text class=\"t{}\" x=\"{}\" y=\"{}\">{}</text>",
            curve.class,
            LEFT + 150.0 + 90.0 * number as f64,
            top - 6.0,
            curve.name
        );
    }
}

/// A number in few characters.
fn shortened(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1}G", n / 1e9),
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e4 => format!("{:.0}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
