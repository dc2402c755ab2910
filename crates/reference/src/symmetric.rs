//! Random programs with processes that may be symmetric, and with everything that may spoil it.
//!
//! Several instances of one proctype work on arrays indexed by their ids, by neighbours, by data and by ids they were told;
//! ids are stored, sent, compared with each other, with constants, and computed with; initial values may differ. Each program
//! uses a few of these, so that some have all permutations, some have rotations, some have nothing. For tests of symmetry
//! reduction: a wrong verdict hides in a program of this kind.

use std::fmt::Write;

use quotient_testing::Random;

/// What the statements of one program may use.
struct Features {
    processes: usize,
    /// First process id of the symmetric processes.
    first: usize,
    neighbours: bool,
    arithmetic: bool,
    data_index: bool,
    constants: bool,
    channels: bool,
    channel_array: bool,
    order: bool,
    remote: bool,
    matrix: bool,
    stored_ids: bool,
    /// The processes get numbers as parameters and are started by `init`.
    run: bool,
    ends: bool,
}

struct Writer {
    random: Random,
    f: Features,
}

/// The program of a seed, as text.
pub fn symmetric(seed: u64) -> String {
    let mut random = Random::new(seed);
    let run = random.chance(25);
    let processes = if random.chance(30) { 2 } else { 3 };
    let other_first = !run && random.chance(20);
    let f = Features {
        processes,
        first: usize::from(other_first || run),
        neighbours: random.chance(35),
        arithmetic: random.chance(15),
        data_index: random.chance(15),
        constants: random.chance(20),
        channels: random.chance(35),
        channel_array: random.chance(25),
        order: random.chance(12),
        remote: random.chance(15),
        matrix: random.chance(20),
        stored_ids: random.chance(60),
        run,
        ends: random.chance(50),
    };
    let mut w = Writer { random, f };
    w.program(other_first)
}

impl Writer {
    fn program(&mut self, other_first: bool) -> String {
        let n = self.f.processes;
        let length = n + self.f.first;
        let mut out = String::new();
        let _ = writeln!(out, "byte x; byte owner; byte a[{length}]; bit b[{length}];");
        if self.f.matrix {
            let _ = writeln!(out, "typedef Row {{ bit cell[{length}] }};\nRow row[{length}];");
        }
        if self.random.chance(15) {
            let value = self.random.below(3);
            let _ = writeln!(out, "byte start = {value};");
        } else {
            let _ = writeln!(out, "byte start;");
        }
        if self.f.channels {
            let _ = writeln!(out, "chan c = [{}] of {{ byte }};", self.random.below(3));
        }
        if self.f.channel_array {
            let _ = writeln!(out, "chan d[{length}] = [1] of {{ byte }};");
        }
        if other_first {
            let _ = writeln!(out, "active proctype other() {{ {} }}", self.other());
        }
        let body = self.body();
        if self.f.run {
            let _ = writeln!(out, "proctype P(byte id) {{ byte l; byte t; {body} }}");
            let starts: Vec<String> = (0..n).map(|i| format!("run P({})", i + 1)).collect();
            let _ = writeln!(out, "init {{ atomic {{ {} }} }}", starts.join("; "));
        } else {
            let init = if self.random.chance(20) { " = _pid" } else { "" };
            let _ = writeln!(out, "active [{n}] proctype P() {{ byte l{init}; byte t; {body} }}");
        }
        if !other_first && !self.f.run && self.random.chance(30) {
            let _ = writeln!(out, "active proctype other() {{ {} }}", self.other());
        }
        out
    }

    fn body(&mut self) -> String {
        let count = 2 + self.random.below(4);
        let statements: Vec<String> = (0..count).map(|_| self.statement(2)).collect();
        if self.f.ends {
            statements.join(";\n  ")
        } else {
            format!("do\n  :: {}\n  od", statements.join(";\n     "))
        }
    }

    /// A process of its own, which may look at a particular one of the others.
    fn other(&mut self) -> String {
        let id = self.f.first + self.random.below(self.f.processes);
        let which = self.random.below(5);
        match which {
            0 => "x == 1 -> x = 2".into(),
            1 => format!("a[{id}] == 1 -> assert(x != 2)"),
            2 => format!("owner == {id} -> owner = 0"),
            3 => "byte k; k = owner; (x > 0) -> assert(k == owner)".into(),
            _ => "do :: x > 1 -> x = 0 od".into(),
        }
    }

    /// Something that names a process.
    fn id(&mut self) -> String {
        let own = if self.f.run && self.random.chance(50) { "id" } else { "_pid" };
        let length = self.f.processes + self.f.first;
        match self.random.below(10) {
            0 | 1 if self.f.neighbours && self.f.first == 0 => format!("(({own} + 1) % {length})"),
            0 | 1 if self.f.neighbours => {
                format!("(({own} % {}) + 1)", self.f.processes)
            }
            2 if self.f.arithmetic => format!("({length} - 1 - {own})"),
            3 if self.f.constants => format!("{}", self.random.below(length)),
            4 | 5 if self.f.stored_ids => "l".into(),
            6 if self.f.stored_ids => "owner".into(),
            _ => own.into(),
        }
    }

    fn index(&mut self) -> String {
        if self.f.data_index && self.random.chance(30) { "x".into() } else { self.id() }
    }

    /// A small number.
    fn data(&mut self) -> String {
        match self.random.below(6) {
            0 => "x".into(),
            1 => "t".into(),
            2 => format!("a[{}]", self.index()),
            3 => format!("b[{}]", self.index()),
            _ => format!("{}", self.random.below(2)),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(13) {
            0 => format!("a[{}] == {}", self.index(), self.data()),
            1 => format!("b[{}] == 0", self.index()),
            2 if self.f.stored_ids => format!("owner == {}", self.id()),
            3 if self.f.stored_ids => format!("l != {}", self.id()),
            4 if self.f.order => format!("l <= {}", self.id()),
            5 if self.f.order => format!("{} < {}", self.id(), self.data()),
            6 if self.f.constants => {
                format!("_pid == {}", self.f.first + self.random.below(self.f.processes))
            }
            7 if self.f.remote => format!("P[{}]:t == 0", self.id_of_a_process()),
            8 if self.f.matrix => format!("row[{}].cell[{}] == 0", self.index(), self.index()),
            9 if self.f.channels => "nempty(c)".into(),
            10 if self.f.channel_array => format!("len(d[{}]) == 0", self.id()),
            11 => format!("(b[{}] -> x == 0 : t < 2)", self.index()),
            _ => format!("x < {}", 1 + self.random.below(2)),
        }
    }

    fn id_of_a_process(&mut self) -> String {
        if self.f.constants { format!("{}", self.f.first) } else { "_pid".into() }
    }

    fn statement(&mut self, depth: usize) -> String {
        let compound = if depth == 0 { 0 } else { 4 };
        match self.random.below(14 + compound) {
            0 | 1 => format!("a[{}] = ({}) % 3", self.index(), self.data()),
            2 => format!("b[{}] = {}", self.index(), self.random.below(2)),
            3 if self.f.stored_ids => format!("owner = {}", self.id()),
            4 if self.f.stored_ids => format!("l = {}", self.id()),
            5 => format!("t = ({}) % 3", self.data()),
            6 if self.f.channels => format!("c!{}", self.id()),
            7 if self.f.channels && self.random.chance(30) => "d_step { c?l; t = l % 2 }".into(),
            7 if self.f.channels => "c?l".into(),
            8 if self.f.channels && self.random.chance(30) => {
                format!(
                    "d_step {{ if :: c?eval({}) -> x = 1 :: {} -> x = 2 fi; t = x % 2 }}",
                    self.id(),
                    self.condition()
                )
            }
            8 if self.f.channels => format!("c?eval({})", self.id()),
            9 if self.f.channel_array => format!("d[{}]!{}", self.id(), self.id()),
            10 if self.f.channel_array => format!("d[{}]?l", self.id()),
            11 if self.f.matrix => {
                format!("row[{}].cell[{}] = {}", self.index(), self.index(), self.random.below(2))
            }
            12 => format!("assert({})", self.condition()),
            13 => "x = (x + 1) % 3".into(),
            14 => {
                let (a, b) = (self.statement(depth - 1), self.statement(depth - 1));
                format!("if :: {} -> {a} :: else -> {b} fi", self.condition())
            }
            15 => format!("atomic {{ {} -> {} }}", self.condition(), self.statement(depth - 1)),
            16 => {
                let (a, b) = (self.statement(depth - 1), self.statement(depth - 1));
                format!("if :: {a} :: {b} fi")
            }
            _ => format!("({})", self.condition()),
        }
    }
}
