//! Random BIR programs, named by a seed: two or three threads that share a few variables, objects, locks and exceptions.
//!
//! Programs are made as text, one piece a line, so that [`shrink`] can remove lines: what is left is tried if it is
//! still a correct program.

use quotient_source::SourceMap;

use quotient_testing::Random;

/// A random program.
pub fn generate(seed: u64) -> String {
    let mut writer =
        Writer { random: Random::new(seed), out: Vec::new(), depth: 1, budget: 0, atomic: false };
    writer.system();
    writer.out.join("\n") + "\n"
}

/// A smaller program that still `fails`: lines are removed, many at once and then one by one, as long as what is left is a
/// correct program that fails.
pub fn shrink(text: &str, fails: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut chunk = lines.len() / 2;
    while chunk > 0 {
        let mut at = 0;
        let mut removed = false;
        while at + chunk <= lines.len() {
            let mut fewer = lines.clone();
            fewer.drain(at..at + chunk);
            let candidate = fewer.join("\n") + "\n";
            if is_correct(&candidate) && fails(&candidate) {
                lines = fewer;
                removed = true;
            } else {
                at += 1;
            }
        }
        // What has become possible by removing little is tried again with more.
        chunk = if removed && chunk < 4 {
            8.min(lines.len() / 2)
        } else if chunk <= 8 {
            chunk - 1
        } else {
            chunk / 2
        };
    }
    lines.join("\n") + "\n"
}

/// What the front end says against a text; nothing for a correct program.
pub fn mistakes(text: &str) -> Vec<String> {
    let mut map = SourceMap::new();
    let parsed = quotient_bir::parse_text(&mut map, "candidate.bir", text);
    let mut diagnostics = parsed.diagnostics;
    if let Some(system) = parsed.system
        && !diagnostics.has_errors()
    {
        diagnostics
            .extend(quotient_bir::lower(&system, &map, &quotient_bir::LowerOptions::default()).diagnostics);
    }
    diagnostics.iter().map(|d| quotient_source::render(&map, d, false)).collect()
}

/// Whether the front end accepts a text.
pub fn is_correct(text: &str) -> bool {
    mistakes(text).is_empty()
}

struct Writer {
    random: Random,
    out: Vec<String>,
    depth: usize,
    /// Statements left for the body at hand.
    budget: usize,
    atomic: bool,
}

const GLOBAL_NODES: &[&str] = &["shared", "other"];
const LOCAL_NODES: &[&str] = &["x", "y"];

impl Writer {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push(format!("{}{}", "  ".repeat(self.depth), text.as_ref()));
    }

    fn system(&mut self) {
        self.depth = 0;
        self.line("system Random {");
        self.depth = 1;
        for line in [
            "top record Object {}",
            "record Node extends Object { Node next; int wrap (0, 2) value; }",
            "record Special extends Node { boolean mark; }",
            "throwable record Error { Node about; }",
            "record Worse extends Error {}",
            "enum Mode { up, down }",
            "extension Set for Set { typedef type<`a>; actiondef add<`a>(Set.type<`a>, `a); actiondef remove<`a>(Set.type<`a>, `a); expdef boolean contains<`a>(Set.type<`a>, `a); expdef int size<`a>(Set.type<`a>); expdef `a any<`a>(Set.type<`a>); }",
            "extension Queue for Queue { typedef type<`a>; actiondef enqueue<`a>(Queue.type<`a>, `a); expdef `a dequeue<`a>(Queue.type<`a>); expdef boolean isEmpty<`a>(Queue.type<`a>); }",
            "extension Choose for Choose { expdef int range(int, int); expdef boolean flag(); expdef `a of<`a>(`a ...); }",
            "int wrap (0, 2) count;",
            "int (-1, 2) level;",
            "boolean flag;",
            "Mode mode;",
            "Node shared;",
            "Node other;",
            "lock mutex;",
            "tid helper;",
            "Set.type<Node> nodes;",
            "Queue.type<Node> queue;",
            "fun next(int v) returns int = (v + 1) % 3;",
        ] {
            self.line(line);
        }
        self.function("f", "Node n", "n");
        self.line("function g(Special n) returns Node { n.mark := !n.mark; return n; }");
        self.line("virtual v { Node -> f Special -> g }");
        self.line("virtual onMode on Mode { up -> turnOff down -> turnOn }");
        self.line("function turnOff(Mode m) { mode := Mode.down; }");
        self.line("function turnOn(Mode m) { loc a: do { mode := Mode.up; } return; }");
        let guests = self.random.chance(30);
        let workers = if guests { self.random.below(2) } else { 1 + self.random.below(2) };
        self.thread("thread Worker(Node x, boolean b)");
        if guests {
            self.guest();
        }
        if self.random.chance(40) {
            self.low_thread();
        }
        self.line("main thread Main() {");
        self.depth += 1;
        self.line("Node x;");
        self.line("Node y;");
        self.line("boolean b;");
        self.line("int (0, 3) i;");
        self.line("atomic");
        self.depth += 1;
        self.line("mutex := new lock;");
        for (percent, text) in [
            (70, "shared := new Node;"),
            (40, "other := new Special;"),
            (40, "nodes := new Set.type<Node>;"),
            (40, "queue := new Queue.type<Node>;"),
        ] {
            if self.random.chance(percent) {
                self.line(text);
            }
        }
        for _ in 0..workers {
            let argument = self.pick(&["shared", "null", "new Node", "other", "new Special"]);
            let flag = self.pick(&["true", "false"]);
            let result = if self.random.chance(30) { "helper := " } else { "" };
            self.line(format!("{result}start Worker({argument}, {flag});"));
        }
        if guests {
            self.line("start Guest(Mode.up);");
            self.line("start Guest(Mode.down);");
        }
        self.depth -= 1;
        self.line("end");
        self.budget = self.random.below(4);
        self.statements();
        if guests {
            self.line("lock(mutex);");
            for _ in 0..1 + self.random.below(2) {
                let wake = self.pick(&["notify(mutex);", "notify(mutex);", "notifyAll(mutex);"]);
                self.line(wake);
            }
            self.line("unlock(mutex);");
        }
        self.depth -= 1;
        self.line("}");
        self.depth = 0;
        self.line("}");
    }

    fn function(&mut self, name: &str, params: &str, result: &str) {
        self.line(format!("function {name}({params}) returns Node {{"));
        self.depth += 1;
        let what =
            ["count := next(count);", "if n == null do throw new Error; end", "level := level - 1;", "skip;"];
        let line = self.pick(&what);
        self.line(line);
        self.line(format!("return {result};"));
        self.depth -= 1;
        self.line("}");
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.random.below(items.len())]
    }

    fn thread(&mut self, header: &str) {
        self.line(format!("{header} {{"));
        self.depth += 1;
        self.line("Node y;");
        self.line("int (0, 3) i;");
        self.budget = 2 + self.random.below(5);
        self.statements();
        self.depth -= 1;
        self.line("}");
    }

    /// A thread that waits until it is woken; what it does then tells which one was. Several wait on the same lock at once.
    fn guest(&mut self) {
        self.line("thread Guest(Mode m) {");
        self.depth += 1;
        for text in ["lock(mutex);", "wait(mutex);", "unwait(mutex);", "mode := m;"] {
            self.line(text);
        }
        let also = self.pick(&["count := next(count);", "assert m == Mode.up;", "notify(mutex);", "skip;"]);
        self.line(also);
        self.line("unlock(mutex);");
        self.depth -= 1;
        self.line("}");
    }

    /// A second kind of thread, made of locations.
    fn low_thread(&mut self) {
        self.line("active thread Low() {");
        self.depth += 1;
        self.line("Node x;");
        self.line("Node y;");
        self.line("boolean b;");
        self.line("int (0, 3) i;");
        self.line("Error e;");
        let count = 2 + self.random.below(3);
        for l in 0..count {
            let last = l + 1 == count;
            for way in 0..1 + self.random.below(2) {
                let start = if way == 0 { format!("loc l{l}:") } else { String::new() };
                let guard = if self.random.chance(40) {
                    format!("when {} ", self.condition())
                } else {
                    String::new()
                };
                let jump = match self.random.below(4) {
                    0 if !last => format!("goto l{}", count - 1),
                    1 => "return".to_owned(),
                    _ if last => "return".to_owned(),
                    _ => format!("goto l{}", l + 1),
                };
                if self.random.chance(25) && jump != "return" {
                    self.line(format!("{start} {guard}x := invoke f(x) {jump};"));
                    continue;
                }
                let mut actions = String::new();
                for _ in 0..self.random.below(3) {
                    let action = self.action();
                    let throws = action.starts_with("throw") || action.starts_with("exit");
                    actions += &action;
                    actions += " ";
                    if throws {
                        break;
                    }
                }
                self.line(format!("{start} {guard}do {{ {actions}}} {jump};"));
            }
        }
        let to = self.random.below(count);
        let record = self.pick(&["Error", "Worse"]);
        self.line(format!("catch {record} e at l0, l1 goto l{to};"));
        self.depth -= 1;
        self.line("}");
    }

    /// Statements while the budget lasts, at least one.
    fn statements(&mut self) {
        loop {
            self.statement();
            if self.budget == 0 || self.random.chance(15) {
                return;
            }
        }
    }

    fn block(&mut self, header: &str) {
        self.line(header);
        self.depth += 1;
        self.statements();
        self.depth -= 1;
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let nested = self.depth < 6;
        match self.random.below(20) {
            0 if nested => {
                let condition = self.condition();
                self.block(&format!("if {condition} do"));
                if self.random.chance(40) {
                    self.block("else do");
                }
                self.line("end");
            }
            1 if nested => {
                // A bounded loop most of the time.
                self.line("i := 0;");
                self.line("while i < 2 do");
                self.depth += 1;
                self.line("i := i + 1;");
                self.statements();
                self.depth -= 1;
                self.line("end");
            }
            2 if nested && !self.atomic => {
                self.atomic = true;
                self.block("atomic");
                self.atomic = false;
                self.line("end");
            }
            3 if nested => {
                self.line("choose");
                for _ in 0..1 + self.random.below(2) {
                    let guard = if self.random.chance(70) {
                        format!("when <{}> ", self.condition())
                    } else {
                        String::new()
                    };
                    self.block(&format!("{guard}do"));
                }
                if self.random.chance(40) {
                    self.block("else do");
                }
                self.line("end");
            }
            4 if nested => {
                self.block("try");
                let record = self.pick(&["Error", "Worse"]);
                self.block(&format!("catch ({record} caught)"));
                self.line("end");
            }
            5 if !self.atomic => {
                let call = self.pick(&[
                    "y := f(x);",
                    "x := invoke virtual v(y);",
                    "x := invoke v(x);",
                    "invoke onMode(mode);",
                ]);
                self.line(call);
            }
            6 => {
                self.line("lock(mutex);");
                self.statement();
                let then = self.pick(&["", "notify(mutex);", "notifyAll(mutex);"]);
                if !then.is_empty() {
                    self.line(then);
                }
                self.line("unlock(mutex);");
            }
            7 if self.random.chance(50) => {
                self.line("lock(mutex);");
                self.line("wait(mutex);");
                self.line("unwait(mutex);");
                self.line("unlock(mutex);");
            }
            8 if self.random.chance(30) => self.line("return;"),
            9 if nested => {
                let node = self.node();
                self.line(format!("if {node} != null do"));
                self.depth += 1;
                let text = match self.random.below(3) {
                    0 => format!("{node}.value := {node}.value + 1;"),
                    1 => format!("{node}.next := {};", self.node()),
                    _ => format!("y := {node}.next;"),
                };
                self.line(text);
                self.depth -= 1;
                self.line("end");
            }
            _ => {
                let action = self.action();
                self.line(action);
            }
        }
    }

    fn node(&mut self) -> &'static str {
        if self.random.chance(50) { self.pick(GLOBAL_NODES) } else { self.pick(LOCAL_NODES) }
    }

    fn action(&mut self) -> String {
        let node = self.node();
        let from = self.node();
        match self.random.below(24) {
            0..=2 => "count := next(count);".into(),
            3 => format!("level := level {} 1;", self.pick(&["+", "-"])),
            4 | 5 => "flag := !flag;".into(),
            6 | 7 => format!("{node} := {from};"),
            8 | 9 => format!("{node} := new {};", self.pick(&["Node", "Special"])),
            10 => format!("{node}.next := {from};"),
            11 => format!("assert {};", self.condition()),
            12 => format!("assume {};", self.condition()),
            13 => format!("throw new {};", self.pick(&["Error", "Worse"])),
            14 => format!("Set.add(nodes, {from});"),
            15 => format!("Set.remove(nodes, {from});"),
            16 => format!("{node} := Set.any(nodes);"),
            17 => format!("Queue.enqueue(queue, {from});"),
            18 => format!("{node} := Queue.dequeue(queue);"),
            19 => "i := Choose.range(0, 1);".into(),
            20 => "b := Choose.flag();".into(),
            21 => format!("{node} := Choose.of(null, {from});"),
            22 if self.random.chance(20) => "exit;".into(),
            _ => format!("mode := Mode.{};", self.pick(&["up", "down"])),
        }
    }

    fn condition(&mut self) -> String {
        let node = self.node();
        let from = self.node();
        match self.random.below(12) {
            0 | 1 => "flag".into(),
            2 => "b".into(),
            3 => format!("count {} {}", self.pick(&["==", "<", "!="]), self.random.below(3)),
            4 => format!("{node} == {from}"),
            5 => format!("{node} != null"),
            6 => format!("{node} instanceof Special"),
            7 => format!("nodes == null || Set.contains(nodes, {node})"),
            8 => "queue == null || Queue.isEmpty(queue)".into(),
            9 => "mode == Mode.up => level > -1".into(),
            10 => "helper != null && threadTerminated(helper)".into(),
            _ => "lockAvailable(mutex) || hasLock(mutex)".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_correct_and_named_by_their_seed() {
        for seed in 0..300 {
            let text = generate(seed);
            assert!(is_correct(&text), "seed {seed}:\n{}", mistakes(&text).join("\n"));
            assert_eq!(text, generate(seed));
        }
    }

    #[test]
    fn shrinking_keeps_what_fails() {
        let fails = |text: &str| text.contains("mutex := new lock;");
        let small = shrink(&generate(7), &fails);
        assert!(fails(&small) && is_correct(&small));
        assert!(small.lines().count() < 20, "{small}");
    }
}
