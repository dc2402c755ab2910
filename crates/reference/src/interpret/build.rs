//! From statements to elements: what SPIN's grammar actions do with each construct.

use super::DYNAMIC;
use super::elements::*;
use super::names::{Names, Type};
use super::resolved::*;
use quotient_promela::ast::{
    self, BinaryOp, Declaration, Expr, ExprKind, Reference, Statement, StatementKind,
};
use std::collections::HashMap;

/// A complete statement that has not become elements yet.
enum Node {
    Labelled(String, Box<Node>),
    Leaf(Shape),
    Print(Vec<Value>),
    Selection { choices: Vec<SequenceId>, exit: Option<String> },
    Unless(SequenceId, SequenceId),
}

/// The builder of one proctype's elements.
pub(super) struct Builder<'a> {
    names: &'a mut Names,
    pub elements: Elements,
    /// Initial values of locals, in order of declaration.
    pub initialise: Vec<Initialise>,
    open: Vec<SequenceId>,
    loops: Vec<String>,
    exits: usize,
    prints: Vec<ElementId>,
    /// No statement has been seen: declarations need no step of their own.
    at_start: bool,
}

impl<'a> Builder<'a> {
    /// Builds `body`; parameters are already declared in `names`. The result starts at sequence 0.
    pub fn build(names: &'a mut Names, body: &ast::Sequence) -> Result<Builder<'a>, String> {
        let mut builder = Builder {
            names,
            elements: Elements::default(),
            initialise: Vec::new(),
            open: Vec::new(),
            loops: Vec::new(),
            exits: 0,
            prints: Vec::new(),
            at_start: true,
        };
        builder.open();
        builder.at_start = true;
        builder.statements(body)?;
        builder.add(Node::Leaf(Shape::Basic(Basic::End)))?;
        builder.close()?;
        builder.elements.tie_ends();
        Ok(builder)
    }

    fn open(&mut self) {
        let sequence = self.elements.new_sequence();
        self.open.push(sequence);
        self.at_start = false;
    }

    fn close(&mut self) -> Result<SequenceId, String> {
        let sequence = self.open.pop().ok_or("no open sequence")?;
        self.elements.first(sequence)?;
        self.elements.sequences[sequence].extent = self.elements.sequences[sequence].last;
        Ok(sequence)
    }

    fn scoped(&mut self, body: &ast::Sequence) -> Result<(), String> {
        self.names.scopes.push(HashMap::new());
        let result = self.statements(body);
        self.names.scopes.pop();
        result
    }

    fn statements(&mut self, sequence: &ast::Sequence) -> Result<(), String> {
        for statement in &sequence.statements {
            if let Some(node) = self.statement(statement)? {
                self.add(node)?;
            }
        }
        Ok(())
    }

    /// Makes the elements of a node and appends them to the open sequence.
    fn add(&mut self, node: Node) -> Result<ElementId, String> {
        let (labels, node) = peel(node);
        let sequence = *self.open.last().ok_or("no open sequence")?;
        let element = match node {
            Node::Leaf(shape) => self.elements.new_element(shape),
            Node::Print(values) => {
                let element = self.elements.new_element(Shape::Basic(Basic::Print(values)));
                self.prints.push(element);
                element
            }
            Node::Selection { choices, exit } => self.add_selection(choices, exit, sequence)?,
            Node::Unless(main, escape) => self.add_unless(main, escape, sequence),
            // `peel` removed the labels.
            Node::Labelled(..) => return Err("label".to_string()),
        };
        let compound = matches!(self.elements.elements[element].shape, Shape::Selection | Shape::Unless);
        for label in labels {
            if self.elements.label(&label).is_ok() {
                return Err(format!("label {label} redeclared"));
            }
            self.elements.labels.push((label, element));
        }
        if !compound {
            self.elements.append(element, sequence);
        }
        Ok(element)
    }

    fn add_selection(
        &mut self,
        mut choices: Vec<SequenceId>,
        exit: Option<String>,
        sequence: SequenceId,
    ) -> Result<ElementId, String> {
        let head = self.elements.new_element(Shape::Selection);
        let mut join = self.elements.new_element(Shape::Join);
        let is_else = |elements: &Elements, choice: SequenceId| {
            elements.sequences[choice]
                .first
                .is_some_and(|first| matches!(elements.elements[first].shape, Shape::Else))
        };
        // `else` comes last, wherever it was written.
        let (elses, mut rest): (Vec<_>, Vec<_>) =
            choices.drain(..).partition(|choice| is_else(&self.elements, *choice));
        if elses.len() > 1 {
            return Err("duplicate else".to_string());
        }
        rest.extend(elses);
        for choice in &rest {
            self.elements.append(join, *choice);
        }
        self.elements.elements[head].choices = rest;
        if let Some(exit) = exit {
            self.elements.append(join, sequence);
            join = self.elements.new_element(Shape::Exit);
            self.elements.labels.push((exit, join));
        }
        self.elements.append(head, sequence);
        self.elements.append(join, sequence);
        Ok(head)
    }

    fn add_unless(&mut self, main: SequenceId, escape: SequenceId, sequence: SequenceId) -> ElementId {
        let head = self.elements.new_element(Shape::Unless);
        let join = self.elements.new_element(Shape::Join);
        self.elements.elements[head].choices = vec![main, escape];
        self.elements.append(join, main);
        self.elements.append(join, escape);
        self.elements.attach_escape(main, escape);
        self.elements.append(head, sequence);
        self.elements.append(join, sequence);
        head
    }

    fn push_loop(&mut self) -> String {
        let exit = format!(":b{}", self.exits);
        self.exits += 1;
        self.loops.push(exit.clone());
        exit
    }

    fn statement(&mut self, statement: &Statement) -> Result<Option<Node>, String> {
        let node = match &statement.kind {
            StatementKind::Declaration(declaration) => {
                self.declaration(declaration)?;
                None
            }
            StatementKind::Exclusive { .. } => None,
            kind => {
                let node = self.proper(kind)?;
                self.at_start = false;
                Some(node)
            }
        };
        match node {
            None if statement.labels.is_empty() => Ok(None),
            None => Err("label in front of a declaration".to_string()),
            Some(node) => {
                let labels = statement.labels.iter().rev();
                Ok(Some(labels.fold(node, |node, label| Node::Labelled(label.name.clone(), Box::new(node)))))
            }
        }
    }

    fn proper(&mut self, kind: &StatementKind) -> Result<Node, String> {
        let basic = |basic| Ok(Node::Leaf(Shape::Basic(basic)));
        match kind {
            StatementKind::Expr(e) => basic(Basic::Condition(self.names.value(e)?)),
            // Writing to `_` is allowed and does nothing.
            StatementKind::Assign(target, _) if target.parts[0].name.name == "_" => basic(Basic::Nothing),
            StatementKind::Assign(target, e) => {
                basic(Basic::Assign(self.names.place(target)?, self.names.value(e)?))
            }
            StatementKind::Increment(target) => basic(self.add_to(target, BinaryOp::Add)?),
            StatementKind::Decrement(target) => basic(self.add_to(target, BinaryOp::Sub)?),
            StatementKind::Send { channel, sorted, args } => basic(Basic::Send {
                channel: self.names.place(channel)?,
                sorted: *sorted,
                args: self.names.values(args)?,
            }),
            StatementKind::Receive { channel, any, peek, args } => basic(Basic::Receive {
                channel: self.names.place(channel)?,
                any: *any,
                peek: *peek,
                patterns: self.names.patterns(args)?,
            }),
            StatementKind::Printf(_, values) => Ok(Node::Print(self.names.values(values)?)),
            StatementKind::Printm(value) => Ok(Node::Print(vec![self.names.value(value)?])),
            StatementKind::Assert(e) => basic(Basic::Assert(self.names.value(e)?)),
            StatementKind::Else => Ok(Node::Leaf(Shape::Else)),
            StatementKind::Goto(label) => Ok(Node::Leaf(Shape::Goto(label.name.clone()))),
            StatementKind::Break => {
                let exit = self.loops.last().ok_or("misplaced break")?;
                Ok(Node::Leaf(Shape::Goto(exit.clone())))
            }
            StatementKind::If(choices) => Ok(Node::Selection { choices: self.choices(choices)?, exit: None }),
            StatementKind::Do(choices) => {
                let exit = self.push_loop();
                let choices = self.choices(choices)?;
                self.loops.pop();
                Ok(Node::Selection { choices, exit: Some(exit) })
            }
            StatementKind::Atomic(body) => {
                let inner = self.inner(body)?;
                self.elements.make_atomic(inner, false)?;
                Ok(Node::Leaf(Shape::Atomic(inner)))
            }
            StatementKind::DStep(body) => {
                let inner = self.inner(body)?;
                self.elements.make_atomic(inner, true)?;
                Ok(Node::Leaf(Shape::DStep(inner)))
            }
            StatementKind::Block(body) => Ok(Node::Leaf(Shape::Block(self.inner(body)?))),
            StatementKind::Unless(main, escape) => self.unless(main, escape),
            StatementKind::ForRange { variable, from, to, body } => {
                let (from, to) = (self.names.value(from)?, self.names.value(to)?);
                self.for_range(variable, from, to, body)
            }
            StatementKind::ForIn { variable, collection, body } => self.for_in(variable, collection, body),
            StatementKind::Select { variable, from, to, in_inline } => {
                self.select(variable, from, to, *in_inline)
            }
            StatementKind::Declaration(_) | StatementKind::Exclusive { .. } => Err("no step".to_string()),
            StatementKind::Dynamic(_) => Err(DYNAMIC.to_string()),
        }
    }

    fn inner(&mut self, body: &ast::Sequence) -> Result<SequenceId, String> {
        self.open();
        self.scoped(body)?;
        self.close()
    }

    fn choices(&mut self, choices: &[ast::Choice]) -> Result<Vec<SequenceId>, String> {
        let mut sequences = Vec::new();
        for choice in choices {
            self.open();
            self.statements(&choice.sequence)?;
            sequences.push(self.close()?);
        }
        for sequence in &sequences {
            self.elements.prune_skips(*sequence, &self.prints);
        }
        Ok(sequences)
    }

    fn add_to(&mut self, target: &Reference, op: BinaryOp) -> Result<Basic, String> {
        let place = self.names.place(target)?;
        let one = Box::new(Value::Number(1));
        Ok(Basic::Assign(place.clone(), Value::Binary(op, Box::new(Value::Place(place)), one)))
    }

    /// A block is taken as it is, anything else becomes a sequence of one; the escape is made first.
    fn unless(&mut self, main: &Statement, escape: &Statement) -> Result<Node, String> {
        if !main.labels.is_empty() || !escape.labels.is_empty() {
            return Err("labels on the parts of unless are not supported".to_string());
        }
        let main = self.statement(main)?.ok_or("declaration before unless")?;
        let escape = self.statement(escape)?.ok_or("declaration after unless")?;
        let escape = self.as_sequence(escape)?;
        let main = self.as_sequence(main)?;
        Ok(Node::Unless(main, escape))
    }

    fn as_sequence(&mut self, node: Node) -> Result<SequenceId, String> {
        if let Node::Leaf(Shape::Block(inner)) = node {
            return Ok(inner);
        }
        self.open();
        self.add(node)?;
        self.close()
    }

    fn for_range(
        &mut self,
        variable: &Reference,
        from: Value,
        to: Value,
        body: &ast::Sequence,
    ) -> Result<Node, String> {
        let place = self.names.place(variable)?;
        let exit = self.push_loop();
        self.add(Node::Leaf(Shape::Basic(Basic::Assign(place.clone(), from))))?;
        self.open();
        let in_range = compare(BinaryOp::Le, &place, to);
        self.add(Node::Leaf(Shape::Basic(Basic::Condition(in_range))))?;
        self.scoped(body)?;
        self.for_end(place, exit, true)
    }

    /// The increment that closes the loop's body, and the loop. `for` leaves by `else`, the general form
    /// of `select` by a jump that is always possible.
    fn for_end(&mut self, place: Place, exit: String, with_else: bool) -> Result<Node, String> {
        let one = Box::new(Value::Number(1));
        let next = Value::Binary(BinaryOp::Add, Box::new(Value::Place(place.clone())), one);
        self.add(Node::Leaf(Shape::Basic(Basic::Assign(place, next))))?;
        let again = self.close()?;
        self.open();
        if with_else {
            self.add(Node::Leaf(Shape::Else))?;
        }
        self.add(Node::Leaf(Shape::Goto(exit.clone())))?;
        let leave = self.close()?;
        self.loops.pop();
        Ok(Node::Selection { choices: vec![leave, again], exit: Some(exit) })
    }

    fn for_in(
        &mut self,
        variable: &Reference,
        collection: &Reference,
        body: &ast::Sequence,
    ) -> Result<Node, String> {
        let name = &variable.parts[0].name.name;
        let declared = self.names.find(name).ok_or_else(|| format!("undeclared variable {name}"))?;
        if matches!(declared.ty, Type::Scalar(_)) {
            let name = &collection.parts[0].name.name;
            let array = self.names.find(name).ok_or_else(|| format!("undeclared variable {name}"))?;
            let length = array.length.ok_or_else(|| format!("{name} is not an array"))?;
            let to = Value::Number(length as i32 - 1);
            return self.for_range(variable, Value::Number(0), to, body);
        }
        // The messages of a channel, rotated: a counter of its own, one per scope.
        let channel = self.names.place(collection)?;
        let fields = self.names.places(variable)?;
        let counter_name = ":messages";
        let scope = self.names.scopes.last().ok_or("no scope")?;
        let counter = match scope.get(counter_name) {
            Some(declared) => declared.clone(),
            None => self.names.declare_local(counter_name, Type::Scalar(Kind::Byte), None)?.0,
        };
        let counter =
            Place { store: Store::Local, base: counter.base, indices: Vec::new(), kind: Kind::Byte };
        let exit = self.push_loop();
        self.add(Node::Leaf(Shape::Basic(Basic::Assign(counter.clone(), Value::Number(0)))))?;
        self.open();
        let more = compare(BinaryOp::Lt, &counter, Value::Len(channel.clone()));
        self.add(Node::Leaf(Shape::Basic(Basic::Condition(more))))?;
        self.add(Node::Leaf(Shape::Basic(Basic::Receive {
            channel: channel.clone(),
            any: false,
            peek: false,
            patterns: fields.iter().cloned().map(Pattern::Store).collect(),
        })))?;
        let args = fields.into_iter().map(Value::Place).collect();
        self.add(Node::Leaf(Shape::Basic(Basic::Send { channel, sorted: false, args })))?;
        self.scoped(body)?;
        self.for_end(counter, exit, true)
    }

    /// `select` between two literal numbers is an `if` with one assignment for each value (SPIN rewrites
    /// the text so); in general it is a loop that counts up and may stop at any time.
    fn select(
        &mut self,
        variable: &Reference,
        from: &Expr,
        to: &Expr,
        in_inline: bool,
    ) -> Result<Node, String> {
        let place = self.names.place(variable)?;
        let literal = |e: &Expr| match e.kind {
            ExprKind::Number(n) if n >= 0 => Some(n),
            _ => None,
        };
        let plain = !in_inline
            && variable.parts.len() == 1
            && variable.parts[0].index.is_none()
            && variable.parts[0].name.name.chars().all(|c| c.is_ascii_alphanumeric());
        if plain && let (Some(low), Some(high)) = (literal(from), literal(to)) {
            if low > high || high - low > 32 {
                return Err("range of select".to_string());
            }
            let mut choices = Vec::new();
            for n in low..=high {
                self.open();
                self.add(Node::Leaf(Shape::Basic(Basic::Assign(place.clone(), Value::Number(n)))))?;
                choices.push(self.close()?);
            }
            return Ok(Node::Selection { choices, exit: None });
        }
        let (from, to) = (self.names.value(from)?, self.names.value(to)?);
        self.add(Node::Leaf(Shape::Basic(Basic::Assign(place.clone(), from))))?;
        self.open();
        let below = compare(BinaryOp::Lt, &place, to);
        self.add(Node::Leaf(Shape::Basic(Basic::Condition(below))))?;
        let exit = self.push_loop();
        self.for_end(place, exit, false)
    }

    /// Every variable exists from the creation of the process on. A declaration after the first
    /// statement, or in an inner sequence, is also a step that assigns the initial value.
    fn declaration(&mut self, declaration: &Declaration) -> Result<(), String> {
        for variable in &declaration.variables {
            let (ty, length) = self.names.typed(declaration, variable)?;
            let step = !self.at_start;
            // The initialiser may not mention the variable itself, but may mention all others.
            let with = self.names.initial(variable)?;
            let (declared, cells) = self.names.declare_local(&variable.name.name, ty.clone(), length)?;
            let base = declared.base;
            self.initialise.extend(self.names.field_values(&ty, length, base)?);
            let kind = match ty {
                Type::Scalar(kind) => kind,
                Type::Struct(_) if step => {
                    self.add(Node::Leaf(Shape::Basic(Basic::Nothing)))?;
                    continue;
                }
                Type::Struct(_) => continue,
            };
            let first = Place { store: Store::Local, base, indices: Vec::new(), kind };
            match (with, step) {
                (None, true) => {
                    self.add(Node::Leaf(Shape::Basic(Basic::Assign(first, Value::Number(0)))))?;
                }
                (Some(InitialValue::Value(value)), true) if length.is_none() => {
                    self.add(Node::Leaf(Shape::Basic(Basic::Assign(first, value))))?;
                }
                (Some(_), true) => {
                    return Err(format!("initialiser of {} in an inner sequence", variable.name.name));
                }
                (Some(with), false) => {
                    self.initialise.push(Initialise { base, kind, length: cells.len(), with });
                }
                (None, false) => {}
            }
        }
        Ok(())
    }
}

fn compare(op: BinaryOp, place: &Place, with: Value) -> Value {
    Value::Binary(op, Box::new(Value::Place(place.clone())), Box::new(with))
}

/// The labels of a node, innermost first, and what they stand in front of.
fn peel(node: Node) -> (Vec<String>, Node) {
    let mut labels = Vec::new();
    let mut node = node;
    while let Node::Labelled(label, inner) = node {
        labels.insert(0, label);
        node = *inner;
    }
    (labels, node)
}
