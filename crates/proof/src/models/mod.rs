//! Generators of the example systems, for any number of processes, as `.clp` text, some as `.await` text as well.
//!
//! The systems are those of Jaffar, Santosa and Voicu's tables, written from their figures and
//! descriptions, with the corrections our own explicit search showed to be needed (see the comment
//! at the head of each generated file).

mod awaits;
mod bakery;
mod builder;
mod mutex;
mod others;

/// A generator.
pub struct Model {
    /// Name on the command line.
    pub name: &'static str,
    /// What `n` counts, and what the model is.
    pub about: &'static str,
    /// Smallest `n`.
    pub least: usize,
    /// Largest `n`: beyond it the text would be unreasonably large.
    pub most: usize,
    /// The text for `n`.
    pub generate: fn(usize) -> String,
}

/// Every generator.
pub const MODELS: &[Model] = &[
    Model {
        name: "bakery",
        about: "Lamport's bakery with n processes, tickets unbounded, the await one atomic step",
        least: 2,
        most: 12,
        generate: bakery::bakery,
    },
    Model {
        name: "bakery-paper",
        about: "the bakery fitted to the counts of the paper's second table (rule order, ties, the sign of tickets)",
        least: 2,
        most: 8,
        generate: bakery::bakery_paper,
    },
    Model {
        name: "peterson",
        about: "Peterson's algorithm with n processes",
        least: 2,
        most: 6,
        generate: mutex::peterson,
    },
    Model {
        name: "lamport",
        about: "Lamport's fast mutual exclusion with n processes",
        least: 2,
        most: 6,
        generate: mutex::lamport,
    },
    Model {
        name: "szymanski",
        about: "Szymanski's algorithm with n processes",
        least: 2,
        most: 5,
        generate: mutex::szymanski,
    },
    Model {
        name: "priority",
        about: "mutual exclusion with priority, two processes",
        least: 2,
        most: 2,
        generate: mutex::priority,
    },
    Model {
        name: "fischer",
        about: "Fischer's timed mutual exclusion with n processes",
        least: 2,
        most: 6,
        generate: mutex::fischer,
    },
    Model {
        name: "philosophers",
        about: "n dining philosophers with n - 1 tickets",
        least: 3,
        most: 9,
        generate: others::philosophers,
    },
    Model {
        name: "producer-consumer",
        about: "producer and consumer of n items",
        least: 1,
        most: 120,
        generate: others::producer_consumer,
    },
    Model {
        name: "producer-consumer-paper",
        about: "producer and consumer as the paper's second table ran it (figure 8, the claim where both are done)",
        least: 1,
        most: 120,
        generate: others::producer_consumer_paper,
    },
    Model {
        name: "readers-writers",
        about: "n processes that read and write",
        least: 2,
        most: 8,
        generate: others::readers_writers,
    },
    Model {
        name: "bakery.await",
        about: "the bakery as a while/await program",
        least: 2,
        most: 12,
        generate: awaits::bakery,
    },
    Model {
        name: "peterson.await",
        about: "Peterson's algorithm as a while/await program",
        least: 2,
        most: 6,
        generate: awaits::peterson,
    },
    Model {
        name: "lamport.await",
        about: "Lamport's fast mutual exclusion as a while/await program",
        least: 2,
        most: 6,
        generate: awaits::lamport,
    },
    Model {
        name: "philosophers.await",
        about: "the philosophers as a while/await program",
        least: 2,
        most: 9,
        generate: awaits::philosophers,
    },
    Model {
        name: "priority.await",
        about: "mutual exclusion with priority as a while/await program",
        least: 2,
        most: 2,
        generate: awaits::priority,
    },
    Model {
        name: "szymanski.await",
        about: "Szymanski's algorithm as a while/await program",
        least: 2,
        most: 5,
        generate: awaits::szymanski,
    },
    Model {
        name: "producer-consumer.await",
        about: "producer and consumer as a while/await program",
        least: 1,
        most: 120,
        generate: awaits::producer_consumer,
    },
];

/// The text of a model, or what is wrong with the request.
pub fn generate(name: &str, n: usize) -> Result<String, String> {
    let Some(model) = MODELS.iter().find(|m| m.name == name) else {
        let names: Vec<&str> = MODELS.iter().map(|m| m.name).collect();
        return Err(format!("there is no model `{name}`; known are {}", names.join(", ")));
    };
    if n < model.least || n > model.most {
        return Err(format!("`{name}` needs n between {} and {}", model.least, model.most));
    }
    Ok((model.generate)(n))
}

/// `X1,X2,X3`.
pub(crate) fn row(prefix: &str, n: usize) -> String {
    join(",", (1..=n).map(|i| format!("{prefix}{i}")))
}

/// The row with the entry at `at` (from 1) replaced.
pub(crate) fn row_with(prefix: &str, n: usize, at: usize, value: &str) -> String {
    join(",", (1..=n).map(|i| if i == at { value.to_string() } else { format!("{prefix}{i}") }))
}

pub(crate) fn join(separator: &str, parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(separator)
}

/// `{(P1,T1),(P2,T2)}` for blocks made of the given prefixes.
pub(crate) fn blocks(prefixes: &[&str], n: usize) -> String {
    let block = |i: usize| format!("({})", join(",", prefixes.iter().map(|p| format!("{p}{i}"))));
    format!("{{{}}}", join(",", (1..=n).map(block)))
}

/// `(P1 = c, P2 = c ; P1 = c, P3 = c ; …)`: two processes at the same place.
pub(crate) fn two_at(place: &str, n: usize) -> String {
    let mut pairs = Vec::new();
    for i in 1..=n {
        for j in i + 1..=n {
            pairs.push(format!("P{i} = {place}, P{j} = {place}"));
        }
    }
    format!("({})", pairs.join(" ; "))
}
