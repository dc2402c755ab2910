//! The coloured graph of a specialised program, whose automorphisms are renamings that the program cannot notice.
//!
//! Nodes are the parts of states (threads, channels, cells, locations), the names in them, classes of names, arrays, and the code: steps,
//! operations, actions, expressions. Equal expressions are one node, so an automorphism is known by what it does to parts and names. Operands and
//! options whose order does not matter have edges with one label. Constants are edges to names: they restrict, they do not
//! pin. Numbers are nodes of their own colours, and so stay.
//!
//! Why an automorphism `p` is a symmetry. Let `p(s)` be the state in which the cell `p(c)` holds `p(v)` where `c` holds `v` in `s`,
//! thread `p(t)` stands at `p(l)` where `t` stands at `l`, and channel `p(k)` holds the messages of `k`, each field renamed. By induction over
//! expressions, the value of `p(e)` in `p(s)` is `p` of the value of `e` in `s`:
//!
//! - a number is its own image, a name goes where `p` takes it, a channel too;
//! - a cell by definition; an element `a[i]` because the cell with index `i` of an array has edges to the array and to the name of
//!   `i`, so that `p` takes it to the cell of `p(a)` with index `p(i)`;
//! - `==`, because `p` is injective on the values of each class (names go to names of one class; a class holds every value
//!   there may be), and both sides are of one class;
//! - tables because their entries are nodes; other operators because what they compute with is numeric, and is the same;
//! - what asks for locations, threads and channels because these have edges to them.
//!
//! So an option of `t` at `l` can be taken in `s` exactly when its image can be taken by `p(t)` in `p(s)`: operations keep their kind,
//! `else` depends on the other options of its location, ranks and the order of options in a `d_step` are colours, a rendezvous has
//! both its partners. Its actions then do to `p(s)` what they do to `s`, in an order that differs at most where that does not matter
//! ([`mod@crate::layers`]), and are a fault in both or in neither. Capacity and types of channels, types of cells, labels for end, acceptance and
//! progress are colours. What is not understood is refused, before.

use std::collections::HashMap;

use quotient_program::{BinaryOp, Type, UnaryOp};
use quotient_symmetry::graph::Graph;

use crate::ground::{Act, Cell, Exp, Op, Pat, Ref, Setting, Step, Var, each, range};
use crate::layers::layers;
use crate::sorts::{ClassId, Key, Sorts};
use crate::specialise::Specialised;

/// A part of states, or a name in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A thread.
    Thread(u32),
    /// A channel, by its number.
    Channel(i32),
    /// A value of a class of names.
    Name(u32, i32),
    /// A scalar of a variable.
    Cell(Cell),
    /// A location of a thread.
    Location(u32, u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum What {
    Part(Part),
    Number(i32),
    Class(ClassId),
    Family(Var, Vec<u32>),
    /// By colour and children.
    Code(u32, Vec<(u32, u32)>),
}

/// Too large to be looked at.
pub(crate) const MOST_NODES: usize = 40_000;

/// The graph: parts first, in order, then everything else.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    pub(crate) parts: Vec<Part>,
}

pub(crate) struct Builder<'a> {
    setting: &'a Setting<'a>,
    of: &'a Specialised,
    sorts: &'a Sorts<'a>,
    colours: HashMap<String, u32>,
    nodes: HashMap<What, u32>,
    what: Vec<What>,
    colour: Vec<u32>,
    edges: Vec<Vec<(u32, u32)>>,
}

/// Builds the graph; none when it would be too large.
pub(crate) fn build(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>) -> Option<Built> {
    let mut builder = Builder {
        setting,
        of,
        sorts,
        colours: HashMap::new(),
        nodes: HashMap::new(),
        what: Vec::new(),
        colour: Vec::new(),
        edges: Vec::new(),
    };
    builder.threads();
    builder.channels();
    builder.locations();
    builder.code();
    (builder.what.len() <= MOST_NODES).then(|| builder.finish())
}

impl Builder<'_> {
    fn add(&mut self, what: What, colour: &str) -> u32 {
        if let Some(node) = self.nodes.get(&what) {
            return *node;
        }
        let colour = self.colour_of(colour);
        let node = self.what.len() as u32;
        self.nodes.insert(what.clone(), node);
        self.what.push(what);
        self.colour.push(colour);
        self.edges.push(Vec::new());
        node
    }

    fn colour_of(&mut self, colour: &str) -> u32 {
        if let Some(known) = self.colours.get(colour) {
            return *known;
        }
        let next = self.colours.len() as u32;
        self.colours.insert(colour.to_owned(), next);
        next
    }

    fn part(&self, part: Part) -> Option<u32> {
        self.nodes.get(&What::Part(part)).copied()
    }

    fn edge(&mut self, from: u32, label: u32, to: u32) {
        let edges = &mut self.edges[from as usize];
        if !edges.contains(&(label, to)) {
            edges.push((label, to));
        }
    }

    /// A node of code, one for all that look the same. Children with one label are unordered; how often a child occurs counts.
    fn code_node(&mut self, colour: &str, mut children: Vec<(u32, u32)>) -> u32 {
        children.sort_unstable();
        let colour = format!("{colour} {}", children.len());
        let colour_id = self.colour_of(&colour);
        let what = What::Code(colour_id, children.clone());
        if let Some(node) = self.nodes.get(&what) {
            return *node;
        }
        let node = self.add(what, &colour);
        for same in children.chunk_by(|a, b| a == b) {
            self.edges[node as usize].push((same[0].0 + 1_000 * (same.len() as u32 - 1), same[0].1));
        }
        node
    }

    fn number(&mut self, value: i32) -> u32 {
        self.add(What::Number(value), &format!("number {value}"))
    }

    /// The node of a class, with all its values.
    fn class(&mut self, class: ClassId) -> u32 {
        let class = self.sorts.find(class);
        if let Some(node) = self.nodes.get(&What::Class(class)) {
            return *node;
        }
        let known = self.sorts.get(class);
        let open = if known.open { format!(" open {:?}", known.values) } else { String::new() };
        let node = self.add(What::Class(class), &format!("class{open}"));
        for &value in &known.values {
            let name = self.add(What::Part(Part::Name(class as u32, value)), "name");
            self.edge(name, 0, node);
        }
        node
    }

    /// A constant among the values of a class.
    fn name(&mut self, class: Option<ClassId>, value: i32) -> u32 {
        match class {
            Some(class) if self.sorts.is_names(class) && !self.sorts.holds_channels(class) => {
                let node = self.class(class);
                let class = self.sorts.find(class);
                let name = self.add(What::Part(Part::Name(class as u32, value)), "name");
                self.edge(name, 0, node);
                name
            }
            _ => self.number(value),
        }
    }

    fn channel(&mut self, number: i32) -> u32 {
        match self.part(Part::Channel(number)) {
            Some(node) => node,
            None => self.number(number),
        }
    }

    fn cell(&mut self, cell: Cell, path: &[u32], ty: &Type) -> u32 {
        let class = self.sorts.cell_class(cell, path).filter(|c| self.sorts.is_names(*c));
        if let Some(value) = self.of.constants.get(&cell) {
            let value = match class {
                Some(class) if self.sorts.holds_channels(class) && *value != 0 => self.channel(*value),
                _ => self.name(class, *value),
            };
            return self.code_node("constant", vec![(0, value)]);
        }
        if let Some(node) = self.part(Part::Cell(cell)) {
            return node;
        }
        let local = matches!(cell.0, Var::Local(..));
        let node = self.add(What::Part(Part::Cell(cell)), &format!("cell {ty:?} {local}"));
        if let Var::Local(thread, _) = cell.0
            && let Some(thread) = self.part(Part::Thread(thread))
        {
            self.edge(node, 1, thread);
        }
        if let Some(class) = class.filter(|c| !self.sorts.holds_channels(*c)) {
            let class = self.class(class);
            self.edge(node, 2, class);
        }
        if self.setting.variable(cell.0).scratch {
            // Zero between steps, whatever the class says of zero.
            let zero = self.name(class, 0);
            self.edge(node, 3, zero);
        }
        node
    }

    /// An array that is indexed by what is not constant: its cells, each with the names of its indices.
    fn family(&mut self, var: Var, fields: &[u32]) -> u32 {
        let what = What::Family(var, fields.to_vec());
        if let Some(node) = self.nodes.get(&what) {
            return *node;
        }
        let family = self.add(what, "array");
        let (lengths, ty) = self.setting.dimensions(var, fields);
        let classes: Vec<Option<ClassId>> =
            (0..lengths.len()).map(|d| self.sorts.lookup(&Key::Dim(var, fields.to_vec(), d))).collect();
        // Where all values of an index are known, cells with others are never met.
        let indices: Vec<Vec<i32>> = lengths
            .iter()
            .zip(&classes)
            .map(|(length, class)| {
                let all = 0..*length as i32;
                match class.map(|c| self.sorts.get(c)) {
                    Some(class) if class.numeric.is_none() && !class.open => {
                        all.filter(|i| class.values.contains(i)).collect()
                    }
                    _ => all.collect(),
                }
            })
            .collect();
        let mut at = vec![0; lengths.len()];
        loop {
            let index: Option<Vec<i32>> = at.iter().zip(&indices).map(|(a, i)| i.get(*a).copied()).collect();
            let Some(index) = index else { return family };
            if let Some(cell) = self.setting.cell(var, fields, &index) {
                let mut children = vec![(0, family), (1, self.cell(cell, fields, &ty))];
                for (dimension, i) in index.iter().enumerate() {
                    children.push((2 + dimension as u32, self.name(classes[dimension], *i)));
                }
                self.code_node("element of", children);
            }
            let mut dimension = 0;
            while dimension < at.len() {
                at[dimension] += 1;
                if at[dimension] < indices[dimension].len() {
                    break;
                }
                at[dimension] = 0;
                dimension += 1;
            }
            if dimension == at.len() || self.what.len() > MOST_NODES {
                return family;
            }
        }
    }

    fn place(&mut self, r: &Ref) -> u32 {
        if self.sorts.dynamic.contains(&(r.var, r.fields.clone())) {
            self.family(r.var, &r.fields);
        }
        if let Some(index) = r.constants() {
            return match self.setting.cell(r.var, &r.fields, &index) {
                Some(cell) => self.cell(cell, &r.fields, &r.ty),
                None => self.code_node("fault", Vec::new()),
            };
        }
        let mut children = vec![(0, self.family(r.var, &r.fields))];
        for (dimension, e) in r.index.iter().enumerate() {
            let class = self.sorts.lookup(&Key::Dim(r.var, r.fields.clone(), dimension));
            children.push((1 + dimension as u32, self.value(e, class)));
        }
        self.code_node("element", children)
    }

    /// An expression whose value is one of this class, or a number.
    fn value(&mut self, e: &Exp, class: Option<ClassId>) -> u32 {
        match e {
            Exp::Num(value) => return self.name(class, *value),
            Exp::Channel(number) => return self.channel(*number),
            Exp::Load(r) => return self.place(r),
            Exp::If(c, a, b) => {
                let children = vec![(0, self.truth(c)), (1, self.value(a, class)), (2, self.value(b, class))];
                return self.code_node("if", children);
            }
            _ => {}
        }
        if crate::fold::is_truth(e) {
            let node = self.truth(e);
            return match class.filter(|c| self.sorts.is_names(*c)) {
                // Which names mean true and false.
                Some(class) => {
                    let children =
                        vec![(0, node), (1, self.name(Some(class), 1)), (2, self.name(Some(class), 0))];
                    self.code_node("truth", children)
                }
                None => node,
            };
        }
        if let Some(node) = self.table(e, false) {
            return node;
        }
        match e {
            Exp::Word(what) => self.code_node(what, Vec::new()),
            Exp::Fault => self.code_node("fault", Vec::new()),
            Exp::Unary(op, a) => {
                let a = self.value(a, None);
                self.code_node(&format!("{op:?}"), vec![(0, a)])
            }
            Exp::Binary(op, a, b) => self.binary(*op, a, b),
            Exp::Count(list) => {
                let children = list.iter().map(|e| (0, self.truth(e))).collect();
                self.code_node("count", children)
            }
            Exp::Of(what, channel) => {
                let channel = self.value(channel, None);
                self.code_node(what, vec![(0, channel)])
            }
            Exp::LocationOf(thread) => {
                let thread = self.part(Part::Thread(*thread)).into_iter();
                self.code_node("location of", thread.map(|t| (0, t)).collect())
            }
            // All others are truth values.
            _ => self.truth(e),
        }
    }

    /// An expression of which only the truth counts.
    fn truth(&mut self, e: &Exp) -> u32 {
        if let Some(node) = self.table(e, true) {
            return node;
        }
        match e {
            Exp::All(list) | Exp::Any(list) => {
                // Operands that may be a fault are evaluated in order.
                let ordered = list.iter().any(|e| self.may_fault(e));
                let mut children: Vec<(u32, u32)> = Vec::new();
                for (at, e) in list.iter().enumerate() {
                    children.push((if ordered { at as u32 } else { 0 }, self.truth(e)));
                }
                children.sort_unstable();
                children.dedup();
                self.code_node(if matches!(e, Exp::All(_)) { "all" } else { "any" }, children)
            }
            Exp::Unary(UnaryOp::Not, a) => {
                let a = self.truth(a);
                self.code_node("not", vec![(0, a)])
            }
            Exp::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                let class = self.sorts.class_of(a).or(self.sorts.class_of(b));
                let children = vec![(0, self.value(a, class)), (0, self.value(b, class))];
                self.code_node(&format!("{op:?}"), children)
            }
            Exp::Binary(op, a, b) => self.binary(*op, a, b),
            Exp::Of(what, channel) => {
                let channel = self.value(channel, None);
                self.code_node(what, vec![(0, channel)])
            }
            Exp::Poll(channel, any, patterns) => {
                self.message(&format!("poll {any}"), channel, patterns, Vec::new())
            }
            Exp::At(thread, location) => match self.part(Part::Location(*thread, *location)) {
                Some(location) => self.code_node("at", vec![(0, location)]),
                // It can never stand there.
                None => self.number(0),
            },
            Exp::AtNamed(id, label) => self.at_named(id, *label),
            Exp::Enabled(thread) => {
                let thread = self.part(Part::Thread(*thread)).into_iter();
                self.code_node("enabled", thread.map(|t| (0, t)).collect())
            }
            Exp::Word(what) => self.code_node(what, Vec::new()),
            _ => self.value(e, None),
        }
    }

    /// An operator on numbers. Sums and the like are flat and unordered.
    fn binary(&mut self, op: BinaryOp, a: &Exp, b: &Exp) -> u32 {
        let commutes = matches!(
            op,
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
        );
        let mut children = Vec::new();
        let mut open = vec![b, a];
        while let Some(e) = open.pop() {
            match e {
                Exp::Binary(inner, a, b) if commutes && *inner == op && self.table(e, false).is_none() => {
                    open.extend([&**b, &**a]);
                }
                e => children.push((if commutes { 0 } else { children.len() as u32 }, self.value(e, None))),
            }
        }
        self.code_node(&format!("{op:?}"), children)
    }

    /// A table, entry by entry, applied to its leaves.
    fn table(&mut self, e: &Exp, truth: bool) -> Option<u32> {
        let sorts = self.sorts;
        let atom = sorts.table(e, truth)?;
        let values = |at: usize| sorts.get(atom.classes[at]).values.iter().copied();
        let mut entries = Vec::new();
        let result = atom.result.filter(|r| sorts.is_names(*r));
        let yields = |builder: &mut Self, value: Option<i32>| match value {
            Some(value) => builder.name(result, value),
            None => builder.code_node("fault", Vec::new()),
        };
        // Which of two values belongs to which leaf is clear from their classes, or does not matter.
        let symmetric = |v: i32| values(0).all(|w| atom.value(&[v, w]) == atom.value(&[w, v]));
        let one_class = atom.leaves.len() == 2 && sorts.find(atom.classes[0]) == sorts.find(atom.classes[1]);
        let second = u32::from(one_class && !values(0).all(symmetric));
        if atom.leaves.len() == 1 {
            for v in values(0) {
                let of = self.name(Some(atom.classes[0]), v);
                let value = yields(self, atom.value(&[v]));
                entries.push((0, self.code_node("entry", vec![(0, of), (1, value)])));
            }
        } else {
            for v in values(0) {
                for w in values(1) {
                    let value = atom.value(&[v, w]);
                    // What is missing is zero.
                    if value != Some(0) {
                        let (a, b) =
                            (self.name(Some(atom.classes[0]), v), self.name(Some(atom.classes[1]), w));
                        let value = yields(self, value);
                        entries.push((0, self.code_node("entry", vec![(0, a), (second, b), (2, value)])));
                    }
                }
            }
        }
        let mut children = vec![(0, self.code_node(&format!("table {}", atom.leaves.len()), entries))];
        for (at, leaf) in atom.leaves.iter().enumerate() {
            children.push((1 + at as u32 * second, self.value(leaf, Some(atom.classes[at]))));
        }
        Some(self.code_node("apply", children))
    }

    /// The thread with this id stands at a label: the places of the threads that can, each with the thread's id.
    fn at_named(&mut self, id: &Exp, label: u32) -> u32 {
        let class = self.sorts.lookup(&Key::Label(label));
        let known = &self.setting.program.labels[label as usize];
        let mut places = Vec::new();
        for (thread, _) in self.setting.threads.iter().enumerate().filter(|(_, f)| **f == known.function) {
            if let Some(location) = self.part(Part::Location(thread as u32, known.location.0)) {
                let name = self.name(class, thread as i32);
                places.push((0, self.code_node("place", vec![(0, name), (1, location)])));
            }
        }
        let children = vec![(0, self.code_node("places", places)), (1, self.value(id, class))];
        self.code_node("at", children)
    }

    /// May evaluating it be a fault? As [`crate::ground::may_fault`], with what is known of names.
    fn may_fault(&self, e: &Exp) -> bool {
        let mut found = false;
        each(e, &mut |e| {
            found |= match e {
                Exp::Load(r) => self.outside(r),
                Exp::Fault => true,
                Exp::Binary(BinaryOp::Div | BinaryOp::Mod, _, b) => !matches!(**b, Exp::Num(v) if v != 0),
                Exp::Of(_, channel) | Exp::Poll(channel, ..) => !matches!(**channel, Exp::Channel(_)),
                _ => false,
            };
        });
        found
    }

    fn outside(&self, r: &Ref) -> bool {
        let (lengths, _) = self.setting.dimensions(r.var, &r.fields);
        let inside = |e: &Exp, length: u32| {
            let all = 0..length as i32;
            match e {
                Exp::Num(v) => all.contains(v),
                e => match self.sorts.class_of(e).map(|c| self.sorts.get(c)) {
                    Some(class) if class.numeric.is_none() && !class.open => {
                        class.values.iter().all(|v| all.contains(v))
                    }
                    _ => match e {
                        Exp::Load(r) => range(&r.ty).0 >= 0 && range(&r.ty).1 < length as i32,
                        _ => false,
                    },
                },
            }
        };
        matches!(r.var, Var::Remote(..)) || !r.index.iter().zip(lengths).all(|(e, length)| inside(e, length))
    }

    fn message(
        &mut self,
        colour: &str,
        channel: &Exp,
        patterns: &[Pat],
        mut children: Vec<(u32, u32)>,
    ) -> u32 {
        let channels = self.sorts.class_of(channel);
        children.push((0, self.value(channel, None)));
        for (field, pattern) in patterns.iter().enumerate() {
            let node = match pattern {
                Pat::Ignore => self.code_node("ignore", Vec::new()),
                Pat::Bind(r) => {
                    let place = self.place(r);
                    self.code_node("bind", vec![(0, place)])
                }
                Pat::Match(e) => {
                    let class = channels.and_then(|c| self.sorts.field(c, field));
                    let value = self.value(e, class);
                    self.code_node("match", vec![(0, value)])
                }
            };
            children.push((2 + field as u32, node));
        }
        self.code_node(colour, children)
    }

    fn operation(&mut self, op: &Op) -> u32 {
        match op {
            Op::Always => self.code_node("always", Vec::new()),
            Op::Else => self.code_node("else", Vec::new()),
            Op::Enter => self.code_node("enter", Vec::new()),
            Op::Exit => self.code_node("exit", Vec::new()),
            Op::When(e) => {
                let node = self.truth(e);
                self.code_node("when", vec![(0, node)])
            }
            Op::Send { guard, channel, sorted, args } => {
                let mut children: Vec<(u32, u32)> = guard.iter().map(|e| (1, self.truth(e))).collect();
                let channels = self.sorts.class_of(channel);
                children.push((0, self.value(channel, None)));
                let fields = channels.map_or(args.len(), |c| self.sorts.fields(c).max(args.len()));
                for field in 0..fields {
                    let class = channels.and_then(|c| self.sorts.field(c, field));
                    let value = match args.get(field) {
                        Some(arg) => self.value(arg, class),
                        None => self.name(class, 0),
                    };
                    children.push((2 + field as u32, value));
                }
                self.code_node(&format!("send {sorted}"), children)
            }
            Op::Receive { guard, channel, any, peek, patterns } => {
                let guard = guard.iter().map(|e| (1, self.truth(e))).collect();
                self.message(&format!("receive {any} {peek}"), channel, patterns, guard)
            }
        }
    }

    fn act(&mut self, act: &Act) -> Option<u32> {
        Some(match act {
            Act::Assign(r, e) => {
                let class = match r.constants().and_then(|index| self.setting.cell(r.var, &r.fields, &index))
                {
                    Some(cell) => self.sorts.cell_class(cell, &r.fields),
                    None => self.sorts.lookup(&Key::Array(r.var, r.fields.clone())),
                };
                let children = vec![(0, self.place(r)), (1, self.value(e, class))];
                self.code_node("assign", children)
            }
            Act::Assert(e) => {
                let node = self.truth(e);
                self.code_node("assert", vec![(0, node)])
            }
            Act::Evaluate(e) => {
                let node = self.value(e, None);
                self.code_node("evaluate", vec![(0, node)])
            }
            Act::Forget(var) => {
                // Only cells that code touches have a value to forget.
                let scalars = self.setting.program.scalars(&self.setting.variable(*var).ty) as u32;
                let cells = (0..scalars).filter_map(|s| self.part(Part::Cell((*var, s))));
                let cells: Vec<(u32, u32)> = cells.map(|cell| (0, cell)).collect();
                if cells.is_empty() {
                    return None;
                }
                self.code_node("forget", cells)
            }
        })
    }

    fn threads(&mut self) {
        for (thread, of) in self.of.threads.iter().enumerate() {
            // Only the youngest thread can end.
            let colour = if of.exits.is_some() { format!("thread {thread}") } else { "thread".into() };
            self.add(What::Part(Part::Thread(thread as u32)), &colour);
        }
    }

    fn channels(&mut self) {
        for (index, channel) in self.setting.channels.iter().enumerate() {
            let kind = &self.setting.program.channel_types[channel.kind.0 as usize];
            let class = self.sorts.channel[index];
            let number = index as i32 + 1;
            let pinned = if self.sorts.is_names(class) { String::new() } else { format!(" number {number}") };
            let colour = format!("channel {} {:?}{pinned}", kind.capacity, kind.fields);
            let node = self.add(What::Part(Part::Channel(number)), &colour);
            if let Some(owner) = channel.owner.and_then(|t| self.part(Part::Thread(t))) {
                self.edge(node, 0, owner);
            }
            for field in 0..kind.fields.len() {
                if let Some(class) = self.sorts.field(class, field)
                    && self.sorts.is_names(class)
                    && !self.sorts.holds_channels(class)
                {
                    let class = self.class(class);
                    self.edge(node, 1 + field as u32, class);
                }
            }
        }
    }

    fn locations(&mut self) {
        let mut numbered = false;
        self.of.properties.iter().for_each(|e| each(e, &mut |e| numbered |= matches!(e, Exp::LocationOf(_))));
        for (thread, of) in self.of.threads.iter().enumerate() {
            for (location, loc) in of.locs.iter().enumerate() {
                let Some(loc) = loc else { continue };
                // Where the numbers of locations are asked for, they stay.
                let number = if numbered { format!(" number {location}") } else { String::new() };
                let part = Part::Location(thread as u32, location as u32);
                let node = self.add(What::Part(part), &format!("location {}{number}", loc.flags));
                if let Some(thread) = self.part(Part::Thread(thread as u32)) {
                    self.edge(node, 0, thread);
                }
            }
        }
    }

    fn code(&mut self) {
        for (at, property) in self.of.properties.iter().enumerate() {
            let node = self.truth(property);
            self.code_node(&format!("property {at}"), vec![(0, node)]);
        }
        // Twice, since what a step forgets depends on which cells there are; a node that is there is not made again.
        for forgets in [false, true] {
            for (thread, of) in self.of.threads.iter().enumerate() {
                if let Some(e) = &of.provided {
                    let node = self.truth(e);
                    if let Some(thread) = self.part(Part::Thread(thread as u32)) {
                        self.edge(thread, 1, node);
                    }
                }
                for (location, loc) in of.locs.iter().enumerate() {
                    let Some(loc) = loc else { continue };
                    let mut known = Vec::new();
                    for (which, step) in loc.steps.iter().enumerate() {
                        if self.what.len() > MOST_NODES {
                            return;
                        }
                        // The first option of a d_step that can be taken is taken.
                        let order = (loc.deterministic && loc.steps.len() > 1).then_some(which);
                        self.step(thread as u32, location as u32, order, step, forgets, &mut known);
                    }
                }
            }
        }
    }

    /// A step; without `whole` only what it mentions. Options of a location that are alike, `known` so far, are counted.
    fn step(
        &mut self,
        thread: u32,
        location: u32,
        order: Option<usize>,
        step: &Step,
        whole: bool,
        known: &mut Vec<u32>,
    ) {
        let op = self.operation(&step.op);
        let mut children = vec![(1, op)];
        children.extend(self.part(Part::Location(thread, location)).map(|here| (0, here)));
        if let Some(target) = step.target {
            let to = self.part(Part::Location(thread, target));
            // A location where nobody can be: a step that leads back to starting others is refused before.
            let to = to.unwrap_or_else(|| self.number(target as i32));
            children.push((2, to));
        }
        for (act, layer) in step.acts.iter().zip(layers(self.setting, &step.acts)) {
            if whole || !matches!(act, Act::Forget(_)) {
                children.extend(self.act(act).map(|node| (10 + layer, node)));
            }
        }
        if whole {
            children.sort_unstable();
            children.dedup();
            let colour = format!("step {} {} {order:?} {}", step.keeps, step.rank, step.target.is_some());
            let mut node = self.code_node(&colour, children.clone());
            let mut copies = 1;
            while known.contains(&node) {
                node = self.code_node(&format!("{colour} again {copies}"), children.clone());
                copies += 1;
            }
            known.push(node);
        }
    }

    /// Numbers the parts first, in order.
    fn finish(self) -> Built {
        let mut order: Vec<u32> = (0..self.what.len() as u32).collect();
        let key = |node: &u32| match self.what[*node as usize] {
            What::Part(part) => (0, Some(part), *node),
            _ => (1, None, *node),
        };
        order.sort_by_key(key);
        let mut number = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            number[*old as usize] = new as u32;
        }
        let mut graph = Graph::new();
        let mut parts = Vec::new();
        for &old in &order {
            if let What::Part(part) = self.what[old as usize] {
                parts.push(part);
            }
            graph.object(self.colour[old as usize]);
            let edges = &self.edges[old as usize];
            let mut edges: Vec<(u32, u32)> =
                edges.iter().map(|(label, to)| (*label, number[*to as usize])).collect();
            edges.sort_unstable();
            edges.iter().for_each(|(label, to)| graph.edge(*label, *to));
        }
        Built { graph, parts }
    }
}
