//! What a user chooses for a check: search, store, partial order reduction. Each has its names once, for options and reports.

/// In which order states are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchKind {
    /// Breadth-first; depth-first with the symmetry orders `pc` and `kbots`, whose papers count states that way.
    #[default]
    Usual,
    /// Nearest first: shortest counterexamples.
    BreadthFirst,
    /// Deepest first.
    DepthFirst,
    /// Runs at random, by all workers; nothing is stored.
    Random,
}

/// How states are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// Shared pairs: the smallest.
    #[default]
    Tree,
    /// As they are.
    Plain,
    /// Each compressed by itself.
    Gzip,
    /// Components kept once: globals, objects, threads.
    Collapse,
    /// A few bits of each; approximate.
    Bitstate,
    /// A hash of each; approximate.
    Hash,
}

impl StoreKind {
    /// Those that hold every state, the plain one first.
    pub const ALL: [StoreKind; 4] = [StoreKind::Plain, StoreKind::Gzip, StoreKind::Collapse, StoreKind::Tree];

    /// Each with its word in options and reports, and what it means.
    pub const NAMES: &[(StoreKind, &str, &str)] = &[
        (StoreKind::Tree, "tree", "Recursive indexing: about 8 to 14 bytes a state"),
        (StoreKind::Plain, "plain", "Whole states"),
        (StoreKind::Gzip, "gzip", "Every state compressed by itself: for comparison"),
        (StoreKind::Collapse, "collapse", "Globals, objects and threads kept once and shared"),
        (
            StoreKind::Bitstate,
            "bitstate",
            "Three bits a state, to look for errors: never holds (half of --max-memory, or 128 MiB)",
        ),
        (StoreKind::Hash, "hash", "64-bit hashes, to look for errors: never holds"),
    ];

    /// Whether it may take a state for another.
    pub fn is_approximate(self) -> bool {
        matches!(self, StoreKind::Bitstate | StoreKind::Hash)
    }

    /// The word for it in options and reports.
    pub fn name(self) -> &'static str {
        name(StoreKind::NAMES, self)
    }
}

impl SearchKind {
    /// Those that can be asked for, each with its word in options, and what it means.
    pub const NAMES: &[(SearchKind, &str, &str)] = &[
        (SearchKind::BreadthFirst, "bfs", "Breadth-first: shortest counterexamples (with --por off)"),
        (SearchKind::DepthFirst, "dfs", "Depth-first"),
        (SearchKind::Random, "random", "Runs at random by all workers, to look for errors: never holds"),
    ];
}

/// The name of a value in a table of all.
fn name<T: Copy + PartialEq>(names: &[(T, &'static str, &'static str)], value: T) -> &'static str {
    names.iter().find(|(known, ..)| *known == value).map_or("", |(_, name, _)| name)
}

/// Whether only representative interleavings are explored (partial order reduction).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialOrder {
    /// All interleavings.
    Off,
    /// Ample sets of independent steps.
    #[default]
    On,
    /// Ample sets; allocations of objects count as independent, since they commute up to renaming.
    SymmetricIndependence,
}

impl PartialOrder {
    /// Each with its word in options and reports, and what it means.
    pub const NAMES: &[(PartialOrder, &str, &str)] = &[
        (
            PartialOrder::SymmetricIndependence,
            "si",
            "Ample sets; allocations of objects are independent of each other",
        ),
        (PartialOrder::On, "on", "Ample sets"),
        (PartialOrder::Off, "off", "All interleavings"),
    ];

    /// The word for it in options and reports.
    pub fn name(self) -> &'static str {
        name(PartialOrder::NAMES, self)
    }
}
