//! Random programs whose symmetry is known: one process at random, the others its images.
//!
//! A process works on a flag and a channel of its own, asks for the flags of all others, and takes, compares, sends and receives
//! its id; ids and numbers share a field of messages, told apart by a tag. The processes are written as proctypes of their own, with options, operands and independent assignments shuffled in each; as
//! one proctype that `init` runs with arguments; or as `active [N]`. So every permutation of them is a symmetry. In a quarter of the
//! programs one token is changed afterwards: then nothing is known, and whatever is found must be right.

use quotient_testing::Random;

/// How processes are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Proctypes,
    Arguments,
    Numbered,
}

/// A program, and how many renamings it has at least.
pub struct Planted {
    /// The program.
    pub text: String,
    /// How many renamings there are at least; none where a token was changed.
    pub order: Option<f64>,
}

/// A statement of a process, before it is written for one of them.
#[derive(Clone)]
enum Statement {
    SetFlag(usize, i32),
    SetBoth(i32, i32),
    OthersFlag(bool, usize, i32),
    Take,
    GiveBack,
    Keep,
    Send,
    Receive,
    Announce,
    Hear,
    Count(bool),
    Step(i32, i32),
    Claim(i32),
    Sum(i32),
    /// Each of the others has more.
    Less,
    /// The first of several.
    Pick(i32),
    /// To the channel of whoever has taken the turn: what was kept, or the process's own id.
    Deliver,
    DeliverId,
    /// A loop over the flags of all, in one step: a sum, a count, a conjunction, a disjunction, stores.
    Scan(usize, i32),
    /// A field that holds ids under one tag and numbers under another.
    TellId,
    HearId,
    TellNumber,
    HearNumber,
    /// Whatever it is: then ids and numbers are the same.
    HearAny,
    /// Is there one with the process's own id?
    Waits,
}

struct Writer {
    random: Random,
    style: Style,
    processes: usize,
    /// This one asks in another order where the first answer counts.
    reversed: Option<usize>,
}

impl Writer {
    fn flag(&self, which: usize, process: usize, other: usize) -> String {
        let name = ["f", "g"][which];
        match self.style {
            Style::Proctypes => format!("{name}{}", (process + other) % self.processes),
            Style::Arguments if other == 0 => format!("{name}[me]"),
            Style::Arguments => format!("{name}[o{other}]"),
            Style::Numbered if other == 0 => format!("{name}[_pid]"),
            Style::Numbered => format!("{name}[(_pid + {other}) % {}]", self.processes),
        }
    }

    fn id(&self, process: usize) -> String {
        match self.style {
            Style::Proctypes => format!("{}", 3 + process),
            Style::Arguments => "me".into(),
            Style::Numbered => "_pid".into(),
        }
    }

    fn channel(&self, process: usize) -> String {
        match self.style {
            Style::Proctypes => format!("c{process}"),
            Style::Arguments => "c".into(),
            Style::Numbered => "cs[_pid]".into(),
        }
    }

    /// In any order: only where each process has a text of its own.
    fn shuffled(&mut self, mut parts: Vec<String>) -> Vec<String> {
        if self.style == Style::Proctypes {
            for at in (1..parts.len()).rev() {
                let other = self.random.below(at + 1);
                parts.swap(at, other);
            }
        }
        parts
    }

    fn equal(&mut self, a: String, b: String) -> String {
        let sides = self.shuffled(vec![a, b]);
        format!("{} == {}", sides[0], sides[1])
    }

    fn write(&mut self, statement: &Statement, process: usize) -> String {
        let (id, channel) = (self.id(process), self.channel(process));
        let others = 1..self.processes;
        match statement {
            Statement::SetFlag(which, v) => format!("{} = {v}", self.flag(*which, process, 0)),
            Statement::SetBoth(v, w) => {
                let f = format!("{} = {v}", self.flag(0, process, 0));
                let g = format!("{} = {w}", self.flag(1, process, 0));
                let both = self.shuffled(vec![f, g, "l = 9".into()]);
                format!("atomic {{ {} }}", both.join("; "))
            }
            Statement::OthersFlag(all, which, v) => {
                let mut parts = Vec::new();
                for other in others {
                    let flag = self.flag(*which, process, other);
                    let equal = self.equal(flag, v.to_string());
                    parts.push(format!("({equal})"));
                }
                let parts = self.shuffled(parts);
                format!("({})", parts.join(if *all { " && " } else { " || " }))
            }
            Statement::Take => format!("atomic {{ owner == 99 -> owner = {id} }}"),
            Statement::GiveBack => {
                let equal = self.equal("owner".into(), id);
                format!("atomic {{ {equal} -> owner = 99 }}")
            }
            Statement::Keep => format!("l = {id}"),
            Statement::Send => format!("{channel}!l"),
            Statement::Receive => format!("{channel}?l"),
            Statement::Announce => format!("q!{id}"),
            Statement::Hear => "q?l".into(),
            Statement::Count(true) => "atomic { n < 2 -> n = n + 1 }".into(),
            Statement::Count(false) => "atomic { n > 0 -> n = n - 1 }".into(),
            Statement::Step(from, to) => format!("atomic {{ k == {from} -> k = {to} }}"),
            Statement::Claim(v) => {
                let mut parts = vec![format!("{} == {v}", self.flag(0, process, 0))];
                for other in others {
                    parts.push(format!("{} == {v}", self.flag(0, process, other)));
                }
                let parts = self.shuffled(parts);
                format!("assert(!({}))", parts.join(" && "))
            }
            Statement::Less => {
                let own = self.flag(1, process, 0);
                let mut parts = Vec::new();
                for other in others {
                    parts.push(format!("({own} < {})", self.flag(1, process, other)));
                }
                let parts = self.shuffled(parts);
                format!("({})", parts.join(" && "))
            }
            Statement::Pick(v) => {
                let mut options =
                    [format!(":: {} == {v} -> k = 1", self.flag(0, process, 0)), ":: l == 9 -> k = 2".into()];
                if self.reversed == Some(process) {
                    options.reverse();
                }
                format!("d_step {{ if {} :: k = 0 fi }}", options.join(" "))
            }
            Statement::Deliver | Statement::DeliverId => {
                let what = if matches!(statement, Statement::Deliver) { "l".into() } else { id };
                match self.style {
                    Style::Numbered => format!("atomic {{ owner != 99 -> cs[owner]!{what} }}"),
                    _ => format!("{channel}!{what}"),
                }
            }
            Statement::TellId => format!("u!ident,{id}"),
            Statement::HearId => "u?ident,l".into(),
            Statement::TellNumber => "atomic { n < 2 -> u!number,n + 1 }".into(),
            Statement::HearNumber => "u?number,n".into(),
            Statement::HearAny => "u?_,l".into(),
            Statement::Waits => format!("u?[ident,eval({id})]"),
            Statement::Scan(kind, v) => self.scan(*kind, *v, process),
            Statement::Sum(v) => {
                let mut parts = Vec::new();
                for other in 0..self.processes {
                    parts.push(self.flag(1, process, other));
                }
                let parts = self.shuffled(parts);
                format!("({} < {v})", parts.join(" + "))
            }
        }
    }
}

impl Writer {
    /// As a loop where flags are arrays; otherwise written out.
    fn scan(&mut self, kind: usize, v: i32, process: usize) -> String {
        if self.style != Style::Proctypes {
            let (first, body) = match kind {
                0 => ("n = 0".into(), "n = n + g[i]".into()),
                1 => ("k = 0".into(), format!("if :: f[i] == {v} -> k = k + 1 :: else fi")),
                2 => ("k = 1".into(), format!("if :: f[i] == {v} -> k = 0 :: else fi")),
                3 => ("k = 0".into(), format!("k = k || g[i] == {v}")),
                _ => (format!("k = {v}"), "f[i] = g[i]".into()),
            };
            let step = ["d_step", "atomic"][v as usize];
            let all = self.processes;
            return format!(
                "{step} {{ {first}; i = 0; do :: i < {all} -> {body}; i++ :: else -> break od; i = 0 }}"
            );
        }
        let mut parts = Vec::new();
        for other in 0..self.processes {
            let (f, g) = (self.flag(0, process, other), self.flag(1, process, other));
            parts.push(match kind {
                0 => g,
                1 => format!("({f} == {v})"),
                2 => format!("{f} != {v}"),
                3 => format!("{g} == {v}"),
                _ => format!("{f} = {g}"),
            });
        }
        let parts = self.shuffled(parts);
        match kind {
            0 => format!("n = {}", parts.join(" + ")),
            1 => format!("k = {}", parts.join(" + ")),
            2 => format!("k = ({})", parts.join(" && ")),
            3 => format!("k = ({})", parts.join(" || ")),
            _ => format!("d_step {{ k = {v}; {} }}", parts.join("; ")),
        }
    }
}

/// The program of a seed.
pub fn planted(seed: u64) -> Planted {
    let mut random = Random::new(seed);
    let style = [Style::Proctypes, Style::Proctypes, Style::Arguments, Style::Numbered][random.below(4)];
    let processes = 2 + random.below(2);
    let spoiled = random.below(4) == 0;
    let reversed = (spoiled && random.below(4) == 0).then(|| random.below(processes));
    let mut w = Writer { random, style, processes, reversed };
    let mut options: Vec<Vec<Statement>> = Vec::new();
    for _ in 0..2 + w.random.below(2) {
        let mut sequence = Vec::new();
        for _ in 0..1 + w.random.below(2) {
            let v = w.random.below(2) as i32;
            sequence.push(match w.random.below(25) {
                0 => Statement::SetFlag(w.random.below(2), v),
                1 => Statement::SetBoth(v, 1 - v),
                2 | 3 => Statement::OthersFlag(w.random.below(2) == 0, w.random.below(2), v),
                4 => Statement::Take,
                5 => Statement::GiveBack,
                6 => Statement::Keep,
                7 => Statement::Send,
                8 => Statement::Receive,
                9 => Statement::Announce,
                10 => Statement::Hear,
                11 => Statement::Count(v == 0),
                14 => Statement::Less,
                15 => Statement::Pick(v),
                16 => Statement::Deliver,
                17..=19 => Statement::Scan(w.random.below(5), v),
                20 => Statement::TellId,
                21 => Statement::HearId,
                22 => Statement::TellNumber,
                23 => Statement::HearNumber,
                24 => Statement::Waits,
                12 => Statement::Step(v, w.random.below(3) as i32),
                _ if w.random.below(2) == 0 => Statement::Claim(v),
                _ => Statement::Sum(1 + v),
            });
        }
        options.push(sequence);
    }
    options.extend(rare(seed, spoiled));
    let mut text = globals(style, processes);
    let bodies = if style == Style::Proctypes { processes } else { 1 };
    for process in 0..bodies {
        let written: Vec<String> = options
            .iter()
            .map(|sequence| {
                let statements: Vec<String> = sequence.iter().map(|s| w.write(s, process)).collect();
                format!("  :: {}\n", statements.join("; "))
            })
            .collect();
        let written = w.shuffled(written);
        let head = match style {
            Style::Proctypes => format!("active proctype P{process}()"),
            Style::Arguments => {
                let others: Vec<String> = (1..processes).map(|o| format!("; byte o{o}")).collect();
                format!("proctype P(byte me; chan c{})", others.concat())
            }
            Style::Numbered => format!("active [{processes}] proctype P()"),
        };
        text += &format!("{head} {{\n byte l, k, i;\n do\n{} od\n}}\n", written.concat());
    }
    if style == Style::Arguments {
        text += "init { atomic {";
        for process in 0..processes {
            let others: Vec<String> =
                (1..processes).map(|o| format!(", {}", (process + o) % processes)).collect();
            text += &format!(" run P({process}, c{process}{});", others.concat());
        }
        text += " } }\n";
    }
    let mut order = Some((1..=processes).map(|n| n as f64).product());
    if spoiled {
        order = None;
    }
    if spoiled && reversed.is_none() {
        change_a_token(&mut text, &mut w.random);
    }
    Planted { text, order }
}

/// What belongs together and seldom comes together by chance, in some of the programs: ids through channels that are chosen by an id, and a field of
/// ids and numbers, which in programs of which nothing is known is also read without asking for the tag.
fn rare(seed: u64, spoiled: bool) -> Vec<Vec<Statement>> {
    match (seed % 7, spoiled) {
        (1, _) => vec![vec![Statement::Take], vec![Statement::DeliverId, Statement::Receive]],
        (5, true) => vec![vec![Statement::TellId], vec![Statement::TellNumber], vec![Statement::HearAny]],
        (5, false) => vec![vec![Statement::TellId, Statement::HearId], vec![Statement::TellNumber]],
        _ => Vec::new(),
    }
}

fn globals(style: Style, processes: usize) -> String {
    let mut text = String::from(
        "mtype = { ident, number };\nbyte owner = 99, n;\nchan q = [1] of { byte };\nchan u = [1] of { mtype, byte };\n",
    );
    let each = |what: &dyn Fn(usize) -> String| (0..processes).map(what).collect::<String>();
    match style {
        Style::Proctypes => {
            text += &each(&|p| format!("byte f{p}, g{p};\nchan c{p} = [1] of {{ byte }};\n"));
        }
        Style::Arguments => {
            text += &format!("byte f[{processes}], g[{processes}];\n");
            text += &each(&|p| format!("chan c{p} = [1] of {{ byte }};\n"));
        }
        Style::Numbered => {
            text +=
                &format!("byte f[{processes}], g[{processes}];\nchan cs[{processes}] = [1] of {{ byte }};\n");
        }
    }
    text
}

/// Exchanges one token for another of its kind.
fn change_a_token(text: &mut String, random: &mut Random) {
    let changes = [
        ("== 0", "== 1"),
        ("= 1", "= 0"),
        ("&&", "||"),
        ("<", ">"),
        ("  :: ", "  :: else -> "),
        ("?l", "??l"),
        ("?ident,", "?_,"),
        ("!number,", "!ident,"),
        ("l = 9", "l = 1"),
        (" + ", " - "),
        ("[1] of", "[2] of"),
    ];
    let proctypes = text.find("proctype").unwrap_or(0);
    for _ in 0..20 {
        let (from, to) = changes[random.below(changes.len())];
        let start = if from.contains("of") { 0 } else { proctypes };
        let places: Vec<usize> =
            text.match_indices(from).map(|(at, _)| at).filter(|at| *at > start).collect();
        if !places.is_empty() {
            let at = places[random.below(places.len())];
            text.replace_range(at..at + from.len(), to);
            return;
        }
    }
}
