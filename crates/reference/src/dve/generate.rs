//! Random systems, named by a seed: two to four processes that share a few variables and channels.
//!
//! Systems are made as text, one piece a line, so that [`shrink`] can remove lines. Often some processes have the same body,
//! so that they are interchangeable.
//!
//! Some messages carry values that only a type of the channel makes small, and some of those who meet look at what the other one
//! changes: so types of messages and the order of effects show.

use quotient_source::SourceMap;

use quotient_testing::Random;

/// A random system.
pub fn generate(seed: u64) -> String {
    let random = Random::new(seed);
    let mut writer = Writer { random, out: Vec::new(), commits: false, asserts: false, channels: Vec::new() };
    writer.system();
    writer.out.join("\n") + "\n"
}

/// What the front end says against a text; nothing for a correct system.
pub fn mistakes(text: &str) -> Vec<String> {
    let mut map = SourceMap::new();
    let parsed = quotient_dve::parse_text(&mut map, "candidate.dve", text);
    let mut diagnostics = parsed.diagnostics;
    if let Some(system) = parsed.system
        && !diagnostics.has_errors()
    {
        diagnostics.extend(quotient_dve::lower(&system, &[], &map).diagnostics);
    }
    let errors = diagnostics.iter().filter(|d| d.severity == quotient_source::Severity::Error);
    errors.map(|d| quotient_source::render(&map, d, false)).collect()
}

/// A smaller system that still `fails`: lines are removed as long as what is left is a correct system that fails.
pub fn shrink(text: &str, fails: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut chunk = lines.len() / 2;
    while chunk > 0 {
        let mut at = 0;
        while at + chunk <= lines.len() {
            let mut fewer = lines.clone();
            fewer.drain(at..at + chunk);
            let candidate = fewer.join("\n") + "\n";
            if mistakes(&candidate).is_empty() && fails(&candidate) {
                lines = fewer;
            } else {
                at += 1;
            }
        }
        chunk = if chunk <= 8 { chunk - 1 } else { chunk / 2 };
    }
    lines.join("\n") + "\n"
}

const STATES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A channel: its name, its capacity, and how many values a message has.
#[derive(Clone, Copy)]
struct Channel {
    name: &'static str,
    capacity: usize,
    values: usize,
    /// Its messages may hold values that do not fit a byte.
    wide: bool,
}

struct Writer {
    random: Random,
    out: Vec<String>,
    commits: bool,
    asserts: bool,
    channels: Vec<Channel>,
}

impl Writer {
    fn line(&mut self, text: impl Into<String>) {
        self.out.push(text.into());
    }

    fn system(&mut self) {
        self.commits = self.random.chance(50);
        self.asserts = self.random.chance(20);
        let x = self.random.between(0, 3);
        self.line("const byte two = 2;");
        self.line(format!("byte x = {x};"));
        self.line("byte y;");
        let low = if self.random.chance(20) { "-" } else { "" };
        self.line(format!("int z = {low}1;"));
        self.line("byte f[3] = {0, 1};");
        self.declare_channels();
        let processes = 2 + self.random.weighted(&[3, 4, 1]).unwrap_or(0);
        let mut bodies: Vec<Vec<String>> = Vec::new();
        for number in 0..processes {
            let copied = self.random.chance(35).then(|| self.random.pick(&bodies).cloned()).flatten();
            let body = copied.unwrap_or_else(|| {
                let start = self.out.len();
                self.body(processes);
                self.out.split_off(start)
            });
            self.line(format!("process P{number} {{"));
            self.out.extend(body.clone());
            self.line("}");
            bodies.push(body);
        }
        if self.random.chance(40) {
            self.property(processes);
            self.line("system async property W;");
        } else {
            self.line("system async;");
        }
    }

    fn declare_channels(&mut self) {
        for (name, capacity, values) in [("s", 0, 0), ("v", 0, 1), ("q", 1, 1), ("r", 2, 1), ("w", 0, 2)] {
            if !self.random.chance(if values == 1 { 60 } else { 40 }) {
                continue;
            }
            let wide = match name {
                "s" | "v" => {
                    self.line(format!("channel {name};"));
                    self.random.chance(40)
                }
                "w" => {
                    self.line("channel {byte, int} w[0];");
                    true
                }
                name => {
                    let wide = self.random.chance(30);
                    let ty = if wide { "int" } else { "byte" };
                    self.line(format!("channel {{{ty}}} {name}[{capacity}];"));
                    wide
                }
            };
            self.channels.push(Channel { name, capacity, values, wide });
        }
    }

    fn body(&mut self, processes: usize) {
        let states = 2 + self.random.below(4);
        let init = self.random.between(0, 2);
        self.line(format!("byte l = {init};"));
        self.line("byte m;");
        self.line("int k;");
        self.line(format!("state {};", STATES[..states].join(", ")));
        let first = STATES[self.random.below(states)];
        self.line(format!("init {first};"));
        if self.commits && self.random.chance(60) {
            let state = STATES[self.random.below(states)];
            self.line(format!("commit {state};"));
        }
        if self.asserts && self.random.chance(50) {
            let (state, e) = (STATES[self.random.below(states)], self.condition(processes));
            self.line(format!("assert {state}: {e};"));
        }
        self.line("trans");
        let count = states + self.random.below(4);
        for number in 0..count {
            // Most states have a way on.
            let from = if number < states { number } else { self.random.below(states) };
            let to = self.random.below(states);
            let text = self.transition(STATES[from], STATES[to], processes);
            self.line(format!("  {text},"));
        }
        let text = self.transition(STATES[0], STATES[states - 1], processes);
        self.line(format!("  {text};"));
    }

    fn transition(&mut self, from: &str, to: &str, processes: usize) -> String {
        let guard = if self.random.chance(45) {
            format!(" guard {};", self.condition(processes))
        } else {
            String::new()
        };
        let mut sync = String::new();
        let mut effects: Vec<String> = Vec::new();
        // Variables that the effect must leave alone, because the message uses them.
        let mut used: Vec<&str> = Vec::new();
        if self.random.chance(50)
            && let Some(channel) = self.random.pick(&self.channels).copied()
        {
            let send = self.random.chance(50);
            let values: Vec<String> = (0..channel.values)
                .map(|field| match send {
                    // Typed channels make anything fit; in the others only `k` takes what does not fit a byte.
                    true if channel.wide || channel.capacity > 0 => self.large(),
                    true => self.value(),
                    false if channel.wide && field + 1 == channel.values => "k".to_owned(),
                    false => ["l", "m"][field].to_owned(),
                })
                .collect();
            let values =
                if values.len() > 1 { format!("{{{}}}", values.join(", ")) } else { values.concat() };
            sync = format!(" sync {}{}{values};", channel.name, if send { '!' } else { '?' });
            if channel.capacity > 0 {
                used = vec!["l", "m", "x", "y", "z", "f"];
            } else if !send {
                // Two that meet must not change the same global: only senders do.
                used = vec!["x", "y", "z", "f"];
                if self.random.chance(50) {
                    effects.push(format!("m = {}", ["x", "y"][self.random.below(2)]));
                }
            } else if self.random.chance(50) {
                let global = ["x", "y"][self.random.below(2)];
                effects.push(format!("{global} = ({global} + 1) % 3"));
            }
        }
        for _ in 0..self.random.weighted(&[3, 4, 2]).unwrap_or(0) {
            let targets: Vec<&str> =
                ["x", "y", "z", "f", "l", "m"].into_iter().filter(|t| !used.contains(t)).collect();
            if let Some(target) = self.random.pick(&targets).copied() {
                effects.push(self.effect(target));
            }
        }
        if sync.is_empty() && self.random.chance(8) {
            let (process, state) = (self.random.below(processes), STATES[self.random.below(2)]);
            effects.push(format!("m = 2 * P{process}.{state}"));
        }
        // `y` may change beside a message that does not use it.
        if used.len() == 6 && !sync.contains('y') && self.random.chance(40) {
            effects.push(format!("y = {}", self.random.below(3)));
        }
        let effect =
            if effects.is_empty() { String::new() } else { format!(" effect {};", effects.join(", ")) };
        format!("{from} -> {to} {{{guard}{sync}{effect} }}")
    }

    /// An assignment, mostly one that fits.
    fn effect(&mut self, target: &str) -> String {
        let value = self.value();
        let bound = 2 + self.random.below(3);
        let value = match self.random.weighted(&[6, 3, 1]) {
            Some(0) => format!("({value}) % {bound}"),
            Some(1) => self.random.below(3).to_string(),
            _ => value,
        };
        match target {
            "f" => match self.random.weighted(&[3, 3, 1]) {
                Some(0) => format!("f[{}] = {value}", self.random.below(3)),
                Some(1) => format!("f[l % 3] = {value}"),
                _ => format!("f[l] = {value}"),
            },
            target => format!("{target} = {value}"),
        }
    }

    fn variable(&mut self) -> String {
        let choices = ["x", "y", "z", "l", "m", "two", "f[0]", "f[1]", "f[m % 3]", "f[x]"];
        self.random.pick(&choices).map_or_else(String::new, |v| (*v).to_owned())
    }

    fn value(&mut self) -> String {
        let a = self.variable();
        match self.random.weighted(&[4, 3, 3, 1, 1, 1]) {
            Some(0) => a,
            Some(1) => self.random.below(4).to_string(),
            Some(2) => format!("{a} + {}", 1 + self.random.below(2)),
            Some(3) => format!("{a} - 1"),
            Some(4) => format!("{a} * {}", self.variable()),
            _ => format!("4 / {a}"),
        }
    }

    /// A value that often does not fit a byte.
    fn large(&mut self) -> String {
        match self.random.weighted(&[2, 3, 3, 2, 1]) {
            Some(0) => self.value(),
            Some(1) => "300".to_owned(),
            Some(2) => "255 + l".to_owned(),
            Some(3) => "l - 2".to_owned(),
            _ => "40000".to_owned(),
        }
    }

    fn condition(&mut self, processes: usize) -> String {
        let a = self.variable();
        let value = self.random.below(3);
        match self.random.weighted(&[4, 3, 2, 2, 2, 1, 2]) {
            Some(6) => ["k > 200", "k < 0", "k == 44", "l > 200"][self.random.below(4)].to_owned(),
            Some(0) => format!("{a} == {value}"),
            Some(1) => format!("{a} <= {}", self.value()),
            Some(2) => {
                let process = self.random.below(processes);
                // Every process has at least these states.
                format!("P{process}.{}", STATES[self.random.below(2)])
            }
            Some(3) => {
                let (left, right) = (self.condition(processes), self.condition(processes));
                let op = ["and", "or", "imply", "&&"][self.random.below(4)];
                format!("({left}) {op} ({right})")
            }
            Some(4) => format!("not ({a} > {value})"),
            _ => format!("({a} & 1) != 0"),
        }
    }

    fn property(&mut self, processes: usize) {
        let states = 1 + self.random.below(3);
        self.line("process W {");
        self.line(format!("state {};", STATES[..states].join(", ")));
        self.line("init a;");
        self.line(format!("accept {};", STATES[states - 1]));
        self.line("trans");
        for number in 0..states + 1 {
            let (from, to) = (STATES[number % states], STATES[(number + self.random.below(2)) % states]);
            let watched = match self.random.chance(50) {
                true => format!("P{}.{}", self.random.below(processes), STATES[self.random.below(2)]),
                false => format!("{} == {}", ["x", "y", "f[1]"][self.random.below(3)], self.random.below(3)),
            };
            let not = if self.random.chance(50) { "not " } else { "" };
            let guard =
                if self.random.chance(70) { format!(" guard {not}({watched});") } else { String::new() };
            self.line(format!("  {from} -> {to} {{{guard} }},"));
        }
        let to = STATES[states - 1];
        self.line(format!("  a -> {to} {{ }};"));
        self.line("}");
    }
}
