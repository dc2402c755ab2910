//! Writing rules of processes with program counters `P1…Pn` and named variables.

use super::join;

/// Collects the text of a model.
pub(super) struct Builder {
    processes: usize,
    variables: Vec<String>,
    /// The text so far.
    pub(super) text: String,
}

impl Builder {
    pub(super) fn new(comment: &str, processes: usize, variables: &[String]) -> Builder {
        let mut text = String::new();
        for line in comment.lines() {
            text.push_str(&format!("% {line}\n"));
        }
        text.push('\n');
        Builder { processes, variables: variables.to_vec(), text }
    }

    fn atom(&self, counters: &[String], variables: &[String]) -> String {
        let tail = if variables.is_empty() { String::new() } else { format!(",{}", variables.join(",")) };
        format!("p([{}]{tail})", counters.join(","))
    }

    fn counters(&self) -> Vec<String> {
        (1..=self.processes).map(|i| format!("P{i}")).collect()
    }

    /// The state with every column a variable.
    pub(super) fn state(&self) -> String {
        self.atom(&self.counters(), &self.variables)
    }

    /// The initial state: all processes at 0 and the given values.
    pub(super) fn initial(&mut self, values: &[i64]) {
        let counters = vec!["0".to_string(); self.processes];
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        let line = format!("{}.\n", self.atom(&counters, &values));
        self.text.push_str(&line);
    }

    /// A comment line.
    pub(super) fn comment(&mut self, text: &str) {
        self.text.push_str(&format!("\n% {text}\n"));
    }

    /// Process `i` goes `from` one place `to` another under `guard`, with assignments.
    pub(super) fn step(&mut self, i: usize, from: usize, to: usize, guard: &str, assign: &[(&str, &str)]) {
        let place = |pc: usize| -> Vec<String> {
            let mut counters = self.counters();
            counters[i - 1] = pc.to_string();
            counters
        };
        let after: Vec<String> = self
            .variables
            .iter()
            .map(|v| assign.iter().find(|a| a.0 == v).map_or(v.clone(), |a| a.1.to_string()))
            .collect();
        let guard = if guard.is_empty() { String::new() } else { format!(", {guard}") };
        let line = format!(
            "{} :- {}{guard}.\n",
            self.atom(&place(to), &after),
            self.atom(&place(from), &self.variables)
        );
        self.text.push_str(&line);
    }

    /// Any other line.
    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }
}

/// `a, b, c` for the processes other than `i`.
pub(super) fn others(n: usize, i: usize, part: impl Fn(usize) -> String) -> String {
    join(", ", (1..=n).filter(|&j| j != i).map(part))
}
