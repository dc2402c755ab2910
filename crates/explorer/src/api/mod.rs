//! What the page is told, as types: the one definition of every answer. The page's types (`web/src/types.ts`) are made from it, by the test
//! `types_of_the_page_are_made_from_these` (`QUOTIENT_BLESS=1` writes the file).

pub mod told;

use std::collections::BTreeMap;

use quotient_outcome::{Event, Failed, Frame, Read, Value, Write};

pub use told::{Packed, Told};

told::words! {
    /// What others notice of a statement. A run names it by its place in this list.
    RowKind {
        Other = "other", Quiet = "quiet", Send = "send", Receive = "receive", Rendezvous = "rendezvous", Lock = "lock", Unlock = "unlock",
        Start = "start", End = "end", New = "new", Assert = "assert", Fails = "fails", Timeout = "timeout", Race = "race",
    }
    /// How a run ends; `more`: there is more to come, ask again; `not run`: a program that nobody has run to here.
    EndingKind {
        Open = "open", Violation = "violation", Deadlock = "deadlock", End = "end", Lost = "lost", More = "more", NotRun = "not run",
    }
    /// Where a value belongs.
    GroupKind { Global = "global", Channel = "channel", Lock = "lock", Process = "process", Object = "object" }
    /// How it is said why a statement cannot be executed: what is missing, what its thread waits to do, or that it comes only when nothing else can.
    WhyKind { Missing = "missing", Waits = "waits", Last = "last" }
    /// What is drawn in a heap.
    NodeKind { Root = "root", Object = "object" }
    /// What a state is like.
    StateKind { Open = "open", Violation = "violation", Deadlock = "deadlock", End = "end" }
}

told::answers! {
    /// What the page is about. Of a C or C++ program also how it is run.
    Info {
        file: String,
        model: String,
        /// Runs can be written to a trace file.
        has_trace: bool,
        has_objects: bool,
        defines: Vec<(String, String)>,
        checksum: String,
        sources: Vec<Source>,
        program: Option<ProgramInfo>,
        opening: OpeningInfo,
    }
    Source { name: String, text: String }
    /// The command that repeats a schedule, before it and behind it; the one that checks; how choices are meant; the memory model.
    ProgramInfo { again: String, behind: String, check: String, cells: String, memory: String, runs: u64 }
    /// Where the page opens: at which step of the run `~0`, and the sentence that the run was found for.
    OpeningInfo { step: Option<usize>, message: Option<String> }
    /// A run. Its statements are columns; those that the page has (`known`) are left out, as is the path then.
    Run {
        /// Names the run in further questions, as `~id`, for as long as the server keeps it.
        id: String,
        path: Option<String>,
        length: usize,
        /// How many steps at its end are repeated for ever.
        cycle: usize,
        /// The first of the statements that are told.
        from: usize,
        rows: Columns,
        /// File and line of each statement of the program.
        places: Vec<(u32, u32)>,
        processes: Vec<Process>,
        /// By place: the statements that wrote it, and whether its value changed. Of long runs not told.
        history: Option<BTreeMap<String, Vec<(usize, bool)>>>,
        locks: Locks,
        ending: Ending,
        /// The place that the question named by `at`, so that a step is one question.
        place: Option<Place>,
    }
    /// Statements of a run: which of the program, whose, of which kind (128 more where a step begins), and what it is linked with: of a rendezvous or a
    /// start the other process, of a receive the statement that sent, of an atomic read the one that wrote; -1 where there is nothing.
    Columns { statement: Packed, pid: Packed, kind: Packed, link: Packed }
    /// Locks that were held: object, process, the statement that took it, the one that gave it back or -1.
    Locks { objects: Vec<String>, held: Packed }
    Process { pid: u32, name: String }
    /// How a run ends.
    Ending {
        kind: EndingKind,
        headline: Option<String>,
        message: Option<String>,
        violation: Option<String>,
        at: Option<String>,
        parts: Vec<Part>,
        failed: Option<Failed>,
        /// What the statement read in which the run goes wrong.
        reads: Vec<Read>,
        step: Option<usize>,
        what: Option<String>,
        accesses: Vec<Accessed>,
    }
    /// A part of a sentence: plain text, code, or a value that can be asked about by its name.
    Part { text: Option<String>, code: Option<String>, value: Option<String>, full: Option<String> }
    Accessed { pid: u32, process: String, access: String, stack: Vec<Frame> }
    Steps { from: usize, to: usize, rows: Vec<Statement> }
    /// A statement of a run.
    Statement {
        row: usize,
        step: usize,
        pid: u32,
        kind: RowKind,
        link: Option<u32>,
        process: Option<String>,
        text: String,
        file: u32,
        line: u32,
        called_at: Option<String>,
        output: String,
        reads: Vec<Read>,
        writes: Vec<Write>,
        events: Vec<Event>,
        failed: Option<Failed>,
        stack: Vec<Frame>,
        /// Under weak memory: which write it saw, where that is not the last one, and why it may.
        saw: Option<String>,
    }
    /// A place in a run: what is true there, and what can happen next.
    Place { state: State, next: Next }
    State { row: usize, leaves: Vec<Leaf>, processes: Vec<Standing> }
    /// A value that can be set by itself; `before` where the last step changed it.
    Leaf {
        group: Group,
        variable: String,
        name: String,
        full: String,
        value: Value,
        before: Option<String>,
        set: Option<Setting>,
        unread: bool,
    }
    Group { kind: GroupKind, pid: Option<u32>, name: Option<String> }
    /// The statement that set a value, and its step.
    Setting { row: usize, step: usize }
    /// Where a process stands.
    Standing { pid: u32, name: String, file: u32, line: u32, ended: bool, valid_end: bool, stack: Vec<Frame> }
    /// Of a program it may not be known who can go on, until it is run to here.
    Next { choices: Vec<Choice>, waiting: Vec<Waiting>, over: bool, known: bool }
    Choice {
        r#move: String,
        pid: u32,
        process: String,
        statements: Vec<ChoiceStatement>,
        violation: Option<String>,
        taken: bool,
        explored: Option<bool>,
    }
    /// A statement that could be executed, and what it would do; of a program that is not known.
    ChoiceStatement {
        text: String,
        file: u32,
        line: u32,
        pid: u32,
        reads: Vec<Read>,
        writes: Vec<Write>,
        events: Vec<Event>,
    }
    Waiting {
        pid: u32,
        process: String,
        ended: bool,
        takes_part: bool,
        valid_end: bool,
        statements: Vec<WaitingFor>,
    }
    /// A statement that cannot be executed, and why.
    WaitingFor {
        text: String,
        file: u32,
        line: u32,
        why: String,
        kind: WhyKind,
        reads: Vec<ReadAndSet>,
        holder: Option<u32>,
        object: Option<String>,
        since: Option<usize>,
    }
    ReadAndSet { full: String, name: String, value: Value, set: Option<Who> }
    Who { step: usize, pid: u32 }
    /// Where a value comes from: the statement that set it, and what that one read; of a value that was received also what its sender read.
    Origin {
        full: String,
        name: Option<String>,
        value: Option<Value>,
        set: Option<Setter>,
        write: Option<Write>,
        sent_by: Option<Sender>,
        sent: Vec<Origin>,
        inputs: Vec<Origin>,
    }
    Setter { row: usize, step: usize, pid: u32, text: String }
    Sender { row: usize, step: usize, pid: u32 }
    /// An expression: its value, and where along the run it becomes another; or what is wrong with it.
    Evaluated { wrong: Option<String>, value: Option<String>, history: Option<Vec<(usize, String)>> }
    Found { step: Option<usize> }
    Walked { path: String }
    /// The nearest run that passes, and the step in which it has another choice; or why there is none.
    Passing { path: Option<String>, step: Option<usize>, why: Option<String> }
    Heap { nodes: Vec<HeapNode>, hidden: usize }
    HeapNode {
        id: String,
        name: String,
        kind: NodeKind,
        pid: Option<u32>,
        layer: usize,
        lock: Option<Process>,
        fields: Vec<HeapField>,
    }
    HeapField { name: String, text: String, to: Option<String>, changed: bool, before: Option<String> }
    /// The states that symmetry makes one of.
    Class {
        why: Option<String>,
        count: usize,
        more: bool,
        members: Vec<Member>,
        stored: Vec<(u32, u32)>,
        processes: Vec<Process>,
        /// The processes are on a ring, which can only be turned.
        ring: bool,
    }
    Member { path: String, here: bool, plays: Vec<(u32, u32)>, moved: Vec<u32> }
    /// States that a run comes to again, by step: the first step after which it was there, and who is who then.
    Same { repeats: Vec<Repeat> }
    Repeat { step: usize, of: usize, renaming: Vec<(u32, u32)> }
    Starved { starved: Option<Vec<Process>> }
    /// States around a place: after `at` steps of the run, or, if `whole`, all from the start on.
    Graph {
        nodes: Vec<GraphNode>,
        edges: Vec<GraphEdge>,
        whole: bool,
        at: usize,
        reduced: Option<u64>,
        /// States that differ only in which of the processes at their ends have ended are of one class.
        without_ends: bool,
    }
    GraphNode {
        id: usize,
        /// The same in every answer about this model.
        key: String,
        class: usize,
        layer: usize,
        here: bool,
        /// The first step of the run after which it is in this state.
        on_run: Option<usize>,
        /// The steps that lead to it from where the graph begins.
        moves: Vec<String>,
        kind: StateKind,
        expanded: bool,
    }
    /// A step; `ends`: the end of its process.
    GraphEdge { from: usize, to: usize, pid: u32, text: String, left_out: bool, ends: bool }
    Reductions { explored: Vec<Explored>, later: Vec<Explored>, why: String, symmetry: Option<SymmetryFound> }
    Explored { pid: u32, process: String, text: String, why: Option<String> }
    SymmetryFound { order: String, found: Vec<String>, limit: Option<String> }
    /// Has the model been edited, and does this run still work?
    Changed { changed: bool, works: bool, step: Option<usize>, wrong: Option<String> }
    Reloaded { checksum: String }
    Drawn { text: String }
    /// A check.
    Progress {
        running: bool,
        asked: bool,
        seconds: f64,
        states: u64,
        transitions: u64,
        depth: u64,
        verdict: Option<String>,
        message: Option<String>,
        symmetry: Option<String>,
        symmetry_found: Vec<String>,
        symmetry_limit: Option<String>,
        partial_order: Option<String>,
        report: Option<String>,
        /// How often statements were executed, by line, once a check has come to its end; never executed: 0.
        covered: Vec<Covered>,
        points: Vec<Point>,
        /// What each worker has done, where several work.
        shares: Vec<u64>,
        violations: Vec<Violation>,
    }
    Covered { file: String, line: u32, times: u64 }
    Point { seconds: f64, states: u64, waiting: u64, bytes: u64 }
    Violation { kind: String, message: String, at: Option<String>, position: Option<String>, cycle: usize }
}

/// The types of the page, as a file.
pub fn types() -> String {
    format!(
        "// What the server answers. Made from `explorer/src/api` by a test: `QUOTIENT_BLESS=1 cargo test -p quotient-explorer --test server types` writes it.\n\n\
         {}\n{}\n{}",
        told::GIVEN,
        all_words(),
        interfaces()
    )
}

impl Ending {
    /// An ending of this kind, of which nothing else is said.
    pub fn new(kind: EndingKind) -> Ending {
        Ending {
            kind,
            headline: None,
            message: None,
            violation: None,
            at: None,
            parts: Vec::new(),
            failed: None,
            reads: Vec::new(),
            step: None,
            what: None,
            accesses: Vec::new(),
        }
    }
}

impl Part {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Part {
        Part { text: Some(text.into()), code: None, value: None, full: None }
    }

    /// Code.
    pub fn code(code: impl Into<String>) -> Part {
        Part { text: None, code: Some(code.into()), value: None, full: None }
    }

    /// A value, and what it is called.
    pub fn value(value: impl Into<String>, full: &str) -> Part {
        Part { text: None, code: None, value: Some(value.into()), full: Some(full.to_owned()) }
    }
}

impl Columns {
    /// No statements.
    pub fn empty() -> Columns {
        Columns {
            statement: Packed::default(),
            pid: Packed::default(),
            kind: Packed::default(),
            link: Packed::default(),
        }
    }

    /// Adds a statement; `begins`: it is the first of its step.
    pub fn push(&mut self, statement: u32, pid: u32, kind: RowKind, begins: bool, link: Option<u32>) {
        self.statement.0.push(statement as i32);
        self.pid.0.push(pid as i32);
        self.kind.0.push(kind as i32 + if begins { 128 } else { 0 });
        self.link.0.push(link.map_or(-1, |link| link as i32));
    }
}

impl From<quotient_explain::RowKind> for RowKind {
    fn from(kind: quotient_explain::RowKind) -> RowKind {
        use quotient_explain::RowKind as Of;
        match kind {
            Of::Other => RowKind::Other,
            Of::Quiet => RowKind::Quiet,
            Of::Send => RowKind::Send,
            Of::Receive => RowKind::Receive,
            Of::Rendezvous => RowKind::Rendezvous,
            Of::Lock => RowKind::Lock,
            Of::Unlock => RowKind::Unlock,
            Of::Start => RowKind::Start,
            Of::End => RowKind::End,
            Of::New => RowKind::New,
            Of::Assert => RowKind::Assert,
            Of::Fails => RowKind::Fails,
            Of::Timeout => RowKind::Timeout,
        }
    }
}
