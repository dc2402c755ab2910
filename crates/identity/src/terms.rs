//! Expressions, places, operations and actions as nodes of the program's graph.
//!
//! Equal ones are one node. An expression is made for the class that its value belongs to, since a constant there is a name or a
//! number; why this is enough is said in [`mod@crate::build`].

use quotient_program::{BinaryOp, Type, UnaryOp};

use crate::build::{Builder, MOST_NODES, Part};
use crate::ground::{Act, Cell, Exp, Op, Pat, Ref, Var, each, range};
use crate::nodes::{Colour, Detail, What};
use crate::sorts::{ClassId, Key};

impl Builder<'_> {
    pub(crate) fn number(&mut self, value: i32) -> u32 {
        self.nodes.add(What::Number(value), Colour::with("number", value as u32))
    }

    /// The node of a class, with all its values.
    pub(crate) fn class(&mut self, class: ClassId) -> u32 {
        let class = self.sorts.find(class);
        if let Some(node) = self.nodes.get(&What::Class(class)) {
            return node;
        }
        let known = self.sorts.get(class);
        let open = match known.open {
            true => self.nodes.detail(Detail::Values(known.values.iter().copied().collect())),
            false => 0,
        };
        let node = self.nodes.add(What::Class(class), Colour::with("class", open));
        for &value in &known.values {
            let name = self.nodes.add(What::Part(Part::Name(class as u32, value)), "name");
            self.nodes.edge(name, 0, node);
        }
        node
    }

    /// A constant among the values of a class.
    pub(crate) fn name(&mut self, class: Option<ClassId>, value: i32) -> u32 {
        match class {
            Some(class) if self.sorts.is_names(class) && !self.sorts.holds_channels(class) => {
                let node = self.class(class);
                let class = self.sorts.find(class);
                let name = self.nodes.add(What::Part(Part::Name(class as u32, value)), "name");
                self.nodes.edge(name, 0, node);
                name
            }
            _ => self.number(value),
        }
    }

    fn channel(&mut self, number: i32) -> u32 {
        match self.nodes.part(Part::Channel(number)) {
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
            return self.nodes.code("constant", vec![(0, value)]);
        }
        if let Some(node) = self.nodes.part(Part::Cell(cell)) {
            return node;
        }
        let local = matches!(cell.0, Var::Local(..));
        let ty = self.nodes.detail(Detail::Type(ty.clone()));
        let node =
            self.nodes.add(What::Part(Part::Cell(cell)), Colour::with_all("cell", [ty, u32::from(local), 0]));
        if let Var::Local(thread, _) = cell.0
            && let Some(thread) = self.nodes.part(Part::Thread(thread))
        {
            self.nodes.edge(node, 1, thread);
        }
        if let Some(class) = class.filter(|c| !self.sorts.holds_channels(*c)) {
            let class = self.class(class);
            self.nodes.edge(node, 2, class);
        }
        if self.setting.variable(cell.0).scratch {
            // Zero between steps, whatever the class says of zero.
            let zero = self.name(class, 0);
            self.nodes.edge(node, 3, zero);
        }
        node
    }

    /// An array that is indexed by what is not constant: its cells, each with the names of its indices.
    fn family(&mut self, var: Var, fields: &[u32]) -> u32 {
        let what = What::Family(var, fields.to_vec());
        if let Some(node) = self.nodes.get(&what) {
            return node;
        }
        let family = self.nodes.add(what, "array");
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
                self.nodes.code("element of", children);
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
            if dimension == at.len() || self.nodes.len() > MOST_NODES {
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
                None => self.nodes.code("fault", Vec::new()),
            };
        }
        let mut children = vec![(0, self.family(r.var, &r.fields))];
        for (dimension, e) in r.index.iter().enumerate() {
            let class = self.sorts.lookup(&Key::Dim(r.var, r.fields.clone(), dimension));
            children.push((1 + dimension as u32, self.value(e, class)));
        }
        self.nodes.code("element", children)
    }

    /// An expression whose value is one of this class, or a number.
    fn value(&mut self, e: &Exp, class: Option<ClassId>) -> u32 {
        match e {
            Exp::Num(value) => return self.name(class, *value),
            Exp::Channel(number) => return self.channel(*number),
            Exp::Load(r) => return self.place(r),
            Exp::If(c, a, b) => {
                let children = vec![(0, self.truth(c)), (1, self.value(a, class)), (2, self.value(b, class))];
                return self.nodes.code("if", children);
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
                    self.nodes.code("truth", children)
                }
                None => node,
            };
        }
        if let Some(node) = self.table(e, false) {
            return node;
        }
        match e {
            Exp::Word(what) => self.nodes.code(*what, Vec::new()),
            Exp::Fault => self.nodes.code("fault", Vec::new()),
            Exp::Unary(op, a) => {
                let a = self.value(a, None);
                self.nodes.code(Colour::with("unary", *op as u32), vec![(0, a)])
            }
            Exp::Binary(op, a, b) => self.binary(*op, a, b),
            Exp::Count(list) => {
                let children = list.iter().map(|e| (0, self.truth(e))).collect();
                self.nodes.code("count", children)
            }
            Exp::Of(what, channel) => {
                let channel = self.value(channel, None);
                self.nodes.code(*what, vec![(0, channel)])
            }
            Exp::LocationOf(thread) => {
                let thread = self.nodes.part(Part::Thread(*thread)).into_iter();
                self.nodes.code("location of", thread.map(|t| (0, t)).collect())
            }
            // All others are truth values.
            _ => self.truth(e),
        }
    }

    /// An expression of which only the truth counts.
    pub(crate) fn truth(&mut self, e: &Exp) -> u32 {
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
                self.nodes.code(if matches!(e, Exp::All(_)) { "all" } else { "any" }, children)
            }
            Exp::Unary(UnaryOp::Not, a) => {
                let a = self.truth(a);
                self.nodes.code("not", vec![(0, a)])
            }
            Exp::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                let class = self.sorts.class_of(a).or(self.sorts.class_of(b));
                let children = vec![(0, self.value(a, class)), (0, self.value(b, class))];
                self.nodes.code(Colour::with("binary", *op as u32), children)
            }
            Exp::Binary(op, a, b) => self.binary(*op, a, b),
            Exp::Of(what, channel) => {
                let channel = self.value(channel, None);
                self.nodes.code(*what, vec![(0, channel)])
            }
            Exp::Poll(channel, any, patterns) => {
                self.message(Colour::with("poll", u32::from(*any)), channel, patterns, Vec::new())
            }
            Exp::At(thread, location) => match self.nodes.part(Part::Location(*thread, *location)) {
                Some(location) => self.nodes.code("at", vec![(0, location)]),
                // It can never stand there.
                None => self.number(0),
            },
            Exp::AtNamed(id, label) => self.at_named(id, *label),
            Exp::Enabled(thread) => {
                let thread = self.nodes.part(Part::Thread(*thread)).into_iter();
                self.nodes.code("enabled", thread.map(|t| (0, t)).collect())
            }
            Exp::Word(what) => self.nodes.code(*what, Vec::new()),
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
        self.nodes.code(Colour::with("binary", op as u32), children)
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
            None => builder.nodes.code("fault", Vec::new()),
        };
        // Which of two values belongs to which leaf is clear from their classes, or does not matter.
        let symmetric = |v: i32| values(0).all(|w| atom.value(&[v, w]) == atom.value(&[w, v]));
        let one_class = atom.leaves.len() == 2 && sorts.find(atom.classes[0]) == sorts.find(atom.classes[1]);
        let second = u32::from(one_class && !values(0).all(symmetric));
        if atom.leaves.len() == 1 {
            for v in values(0) {
                let of = self.name(Some(atom.classes[0]), v);
                let value = yields(self, atom.value(&[v]));
                entries.push((0, self.nodes.code("entry", vec![(0, of), (1, value)])));
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
                        entries.push((0, self.nodes.code("entry", vec![(0, a), (second, b), (2, value)])));
                    }
                }
            }
        }
        let mut children =
            vec![(0, self.nodes.code(Colour::with("table", atom.leaves.len() as u32), entries))];
        for (at, leaf) in atom.leaves.iter().enumerate() {
            children.push((1 + at as u32 * second, self.value(leaf, Some(atom.classes[at]))));
        }
        Some(self.nodes.code("apply", children))
    }

    /// The thread with this id stands at a label: the places of the threads that can, each with the thread's id.
    fn at_named(&mut self, id: &Exp, label: u32) -> u32 {
        let class = self.sorts.lookup(&Key::Label(label));
        let known = &self.setting.program.labels[label as usize];
        let mut places = Vec::new();
        for (thread, _) in self.setting.threads.iter().enumerate().filter(|(_, f)| **f == known.function) {
            if let Some(location) = self.nodes.part(Part::Location(thread as u32, known.location.0)) {
                let name = self.name(class, thread as i32);
                places.push((0, self.nodes.code("place", vec![(0, name), (1, location)])));
            }
        }
        let children = vec![(0, self.nodes.code("places", places)), (1, self.value(id, class))];
        self.nodes.code("at", children)
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
        colour: Colour,
        channel: &Exp,
        patterns: &[Pat],
        mut children: Vec<(u32, u32)>,
    ) -> u32 {
        let channels = self.sorts.class_of(channel);
        children.push((0, self.value(channel, None)));
        for (field, pattern) in patterns.iter().enumerate() {
            let node = match pattern {
                Pat::Ignore => self.nodes.code("ignore", Vec::new()),
                Pat::Bind(r) => {
                    let place = self.place(r);
                    self.nodes.code("bind", vec![(0, place)])
                }
                Pat::Match(e) => {
                    let tag = self.sorts.tag_received(channel, field, patterns);
                    let class = channels.and_then(|c| self.sorts.field(c, field, tag));
                    let value = self.value(e, class);
                    self.nodes.code("match", vec![(0, value)])
                }
            };
            children.push((2 + field as u32, node));
        }
        self.nodes.code(colour, children)
    }

    pub(crate) fn operation(&mut self, op: &Op) -> u32 {
        match op {
            Op::Always => self.nodes.code("always", Vec::new()),
            Op::Else => self.nodes.code("else", Vec::new()),
            Op::Enter => self.nodes.code("enter", Vec::new()),
            Op::Exit => self.nodes.code("exit", Vec::new()),
            Op::When(e) => {
                let node = self.truth(e);
                self.nodes.code("when", vec![(0, node)])
            }
            Op::Send { guard, channel, sorted, args } => {
                let mut children: Vec<(u32, u32)> = guard.iter().map(|e| (1, self.truth(e))).collect();
                let channels = self.sorts.class_of(channel);
                children.push((0, self.value(channel, None)));
                let fields = channels.map_or(args.len(), |c| self.sorts.fields(c).max(args.len()));
                for field in 0..fields {
                    let tag = self.sorts.tag_sent(channel, field, args);
                    let class = channels.and_then(|c| self.sorts.field(c, field, tag));
                    let value = match args.get(field) {
                        Some(arg) => self.value(arg, class),
                        None => self.name(class, 0),
                    };
                    children.push((2 + field as u32, value));
                }
                self.nodes.code(Colour::with("send", u32::from(*sorted)), children)
            }
            Op::Receive { guard, channel, any, peek, patterns } => {
                let guard = guard.iter().map(|e| (1, self.truth(e))).collect();
                self.message(
                    Colour::with_all("receive", [u32::from(*any), u32::from(*peek), 0]),
                    channel,
                    patterns,
                    guard,
                )
            }
        }
    }

    pub(crate) fn act(&mut self, act: &Act) -> Option<u32> {
        Some(match act {
            Act::Assign(r, e) => {
                let class = match r.constants().and_then(|index| self.setting.cell(r.var, &r.fields, &index))
                {
                    Some(cell) => self.sorts.cell_class(cell, &r.fields),
                    None => self.sorts.lookup(&Key::Array(r.var, r.fields.clone())),
                };
                let children = vec![(0, self.place(r)), (1, self.value(e, class))];
                self.nodes.code("assign", children)
            }
            Act::Assert(e) => {
                let node = self.truth(e);
                self.nodes.code("assert", vec![(0, node)])
            }
            Act::Evaluate(e) => {
                let node = self.value(e, None);
                self.nodes.code("evaluate", vec![(0, node)])
            }
            Act::Forget(var) => {
                // Only cells that code touches have a value to forget.
                let scalars = self.setting.program.scalars(&self.setting.variable(*var).ty) as u32;
                let cells = (0..scalars).filter_map(|s| self.nodes.part(Part::Cell((*var, s))));
                let cells: Vec<(u32, u32)> = cells.map(|cell| (0, cell)).collect();
                if cells.is_empty() {
                    return None;
                }
                self.nodes.code("forget", cells)
            }
        })
    }
}
