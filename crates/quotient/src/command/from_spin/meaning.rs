//! What command lines of SPIN ask for, and the command line here that asks for the same.

/// What is to be done with the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Job {
    /// It is run once: what `spin` does without `-a`.
    #[default]
    Simulate,
    /// A trail is shown: `spin -t`.
    Replay,
    /// It is checked.
    Check,
}

/// What happens to a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Options here that say the same.
    As(String),
    /// Nothing needs to be said, for a reason.
    Nothing(&'static str),
    /// It cannot be said here: the answer would be one to another question.
    Refused(String),
}

/// Which trail is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Trail {
    /// The one that is named after the model.
    #[default]
    First,
    /// The one with this number.
    Number(String),
    /// That of a file.
    File(String),
}

impl Trail {
    /// The file of a model's trail.
    pub(super) fn file(&self, model: &str) -> String {
        match self {
            Trail::First => format!("{model}.trail"),
            Trail::Number(number) => format!("{model}{number}.trail"),
            Trail::File(file) => file.clone(),
        }
    }
}

/// What a user of SPIN asks for.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    pub(super) job: Job,
    pub(super) model: Option<String>,
    pub(super) definitions: Vec<String>,
    /// Formulas that all runs must satisfy: the negations of what `spin -f` was given.
    pub(super) formulas: Vec<String>,
    pub(super) claim: Option<String>,
    /// `-DNOCLAIM`, `-noclaim`.
    pub(super) without_claims: bool,
    pub(super) acceptance: bool,
    pub(super) progress: bool,
    pub(super) fair: bool,
    pub(super) all: bool,
    pub(super) no_deadlock: bool,
    pub(super) shortest: bool,
    pub(super) no_partial_order: bool,
    /// Which of `-o1`, `-o2`, `-o3` were given.
    pub(super) optimisations_off: [bool; 3],
    pub(super) store: Option<&'static str>,
    pub(super) random: bool,
    pub(super) workers: Option<String>,
    pub(super) max_memory: Option<String>,
    pub(super) max_time: Option<String>,
    pub(super) seed: Option<String>,
    pub(super) steps: Option<String>,
    pub(super) interactive: bool,
    /// A simulation shows what it does, not only what the model prints.
    pub(super) shows_statements: bool,
    /// `-t`, `-k`: a trail is shown.
    pub(super) replays: bool,
    /// `-k FILE`, `-tN`: not the trail that SPIN writes first.
    pub(super) trail: Trail,
    /// What became of each word.
    pub(super) told: Vec<(String, Told)>,
}

impl Meaning {
    /// Notes what became of a word.
    pub(super) fn tell(&mut self, word: &str, told: Told) {
        if !self.told.iter().any(|(known, before)| known == word && *before == told) {
            self.told.push((word.to_owned(), told));
        }
    }

    /// The word is said by these options.
    pub(super) fn same(&mut self, word: &str, options: &str) {
        self.tell(word, Told::As(options.to_owned()));
    }

    /// Nothing needs to be said.
    pub(super) fn needless(&mut self, word: &str, why: &'static str) {
        self.tell(word, Told::Nothing(why));
    }

    /// It cannot be said here.
    pub(super) fn refuse(&mut self, word: &str, why: impl Into<String>) {
        self.tell(word, Told::Refused(why.into()));
    }

    /// Is there something that cannot be said?
    pub(super) fn has_refused(&self) -> bool {
        self.told.iter().any(|(_, told)| matches!(told, Told::Refused(_)))
    }

    /// All of SPIN's reductions are off: its counts are those of `--raw`.
    fn is_raw(&self) -> bool {
        self.no_partial_order && self.optimisations_off == [true; 3]
    }

    /// The command line after `quotient`. `has_claims`: the model has claims of its own, where that is known.
    pub(super) fn words(&self, has_claims: Option<bool>) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut say = |all: &[&str]| words.extend(all.iter().map(|&word| word.to_owned()));
        let model = self.model.as_deref().unwrap_or("MODEL.pml");
        match self.job {
            Job::Simulate => say(&["simulate", model]),
            Job::Replay => say(&["replay", model, &self.trail.file(model)]),
            Job::Check => say(&["check", model]),
        }
        for definition in &self.definitions {
            say(&["-D", definition]);
        }
        if self.job == Job::Replay {
            return words;
        }
        if self.job == Job::Simulate {
            for (option, value) in [("--seed", &self.seed), ("--steps", &self.steps)] {
                if let Some(value) = value {
                    say(&[option, value]);
                }
            }
            for (option, given) in [
                ("--interactive", self.interactive),
                ("--output-only", !self.shows_statements && !self.interactive),
            ] {
                if given {
                    say(&[option]);
                }
            }
            return words;
        }
        for formula in &self.formulas {
            say(&["--ltl", formula]);
        }
        if let Some(claim) = &self.claim {
            say(&["--claim", claim]);
        }
        let by_labels =
            self.acceptance && self.formulas.is_empty() && (self.without_claims || has_claims != Some(true));
        let lossy_or_other = self.store.map(|store| ["--store", store]);
        let flags: [(bool, &[&str]); 9] = [
            (self.without_claims && has_claims != Some(false), &["--safety"]),
            (by_labels, &["--acceptance"]),
            (self.progress, &["--progress"]),
            (self.fair && (self.acceptance || self.progress), &["--fair"]),
            (self.no_deadlock, &["--no-deadlock"]),
            (self.all, &["--all"]),
            (self.is_raw(), &["--raw"]),
            (!self.is_raw() && (self.no_partial_order || self.shortest), &["--por", "off"]),
            (self.random, &["--search", "random"]),
        ];
        for (given, option) in flags {
            if given {
                say(option);
            }
        }
        if let Some(store) = lossy_or_other {
            say(&store);
        }
        let limits = [
            ("--workers", &self.workers),
            ("--max-memory", &self.max_memory),
            ("--max-time", &self.max_time),
        ];
        for (option, value) in limits {
            if let Some(value) = value {
                say(&[option, value]);
            }
        }
        words
    }
}

/// The formula whose violation a claim made from `formula` finds: its negation.
pub(super) fn negated(formula: &str) -> String {
    let formula = formula.trim();
    if let Some(rest) = formula.strip_prefix('!') {
        let rest = rest.trim_start();
        let atom =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let after_operators = rest.trim_start_matches(['[', ']', '<', '>', '!', ' ']);
        if is_enclosed(rest) {
            return rest[1..rest.len() - 1].trim().to_owned();
        }
        if atom(after_operators) || is_enclosed(after_operators) {
            return rest.to_owned();
        }
    }
    format!("!({formula})")
}

/// Is this one pair of parentheses with everything inside of it?
fn is_enclosed(text: &str) -> bool {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return letter == ')' && at + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_negations() {
        assert_eq!(negated("!([] p)"), "[] p");
        assert_eq!(negated("![]<>p"), "[]<>p");
        assert_eq!(negated("! <> (p && q)"), "<> (p && q)");
        assert_eq!(negated("<> !p"), "!(<> !p)");
        assert_eq!(negated("!([] p) || (q)"), "!(!([] p) || (q))");
        assert_eq!(negated("![] p -> q"), "!(![] p -> q)");
    }
}
