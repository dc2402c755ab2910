//! What a model refers to across processes, found before anything is translated.

use super::parameter::OWN_ID;
use crate::ast::{
    ChannelInit, Choice, Declaration, DynamicStatement, Expr, ExprKind, Formula, FormulaKind, Initialiser,
    Model, NewObject, PointerValue, Property, PropertyKind, ReceiveArg, Reference, Sequence, Statement,
    StatementKind, Unit,
};

/// References across processes.
#[derive(Debug, Default)]
pub(super) struct Remote {
    /// Labels: (proctype, label).
    pub(super) labels: Vec<(String, String)>,
    /// Some variable of another process is read.
    pub(super) variables: bool,
    /// Priorities are given or set anywhere.
    pub(super) priorities: bool,
    /// Proctypes that some `run` starts.
    pub(super) started: Vec<String>,
    /// Proctypes that receive into `_pid`.
    pub(super) receives_own_id: Vec<String>,
    /// Proctypes whose `_pid` others read.
    pub(super) shows_own_id: Vec<String>,
    /// The proctype being looked at.
    process: String,
}

/// All references of a model.
pub(super) fn references(model: &Model, properties: &[Property]) -> Remote {
    let mut remote = Remote::default();
    for unit in &model.units {
        match unit {
            Unit::Proctype(p) => {
                remote.priorities |= p.priority.is_some();
                remote.process.clone_from(&p.name.name);
                p.provided.iter().for_each(|e| remote.expr(e));
                remote.sequence(&p.body);
            }
            Unit::Init(init) => {
                remote.priorities |= init.priority.is_some();
                remote.process = super::INIT.into();
                remote.sequence(&init.body);
            }
            Unit::Function(f) => remote.sequence(&f.body),
            Unit::Trace(trace) => remote.sequence(&trace.body),
            Unit::Never(never) => remote.sequence(&never.body),
            Unit::Ltl(ltl) => remote.formula(&ltl.formula),
            Unit::Typedef(_) | Unit::Mtype(_) | Unit::Declaration(_) => {}
        }
    }
    for property in properties {
        match &property.kind {
            PropertyKind::Ltl(formula) | PropertyKind::Ctl(formula) => remote.formula(formula),
            PropertyKind::Invariant(expr) => remote.expr(expr),
        }
    }
    remote
}

impl Remote {
    fn sequence(&mut self, sequence: &Sequence) {
        sequence.statements.iter().for_each(|s| self.statement(s));
    }

    fn formula(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::Atom(e) => self.expr(e),
            FormulaKind::Not(a)
            | FormulaKind::Always(a)
            | FormulaKind::Eventually(a)
            | FormulaKind::Exists(a)
            | FormulaKind::All(a)
            | FormulaKind::Next(a) => self.formula(a),
            FormulaKind::And(a, b)
            | FormulaKind::Or(a, b)
            | FormulaKind::Implies(a, b)
            | FormulaKind::Equivalent(a, b)
            | FormulaKind::Until(a, b)
            | FormulaKind::WeakUntil(a, b)
            | FormulaKind::Release(a, b) => {
                self.formula(a);
                self.formula(b);
            }
        }
    }

    fn choices(&mut self, choices: &[Choice]) {
        choices.iter().for_each(|c| self.sequence(&c.sequence));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Declaration(d) => self.declaration(d),
            StatementKind::Expr(e) | StatementKind::Printm(e) | StatementKind::Assert(e) => self.expr(e),
            StatementKind::Assign(r, e) => {
                self.priorities |= r.parts[0].name.name == "_priority";
                self.reference(r);
                self.expr(e);
            }
            StatementKind::Increment(r) | StatementKind::Decrement(r) => {
                self.priorities |= r.parts[0].name.name == "_priority";
                self.reference(r);
            }
            StatementKind::Send { channel, args, .. } => {
                self.reference(channel);
                args.iter().for_each(|e| self.expr(e));
            }
            StatementKind::Receive { channel, args, .. } => {
                self.reference(channel);
                self.receive_args(args);
                let own_id =
                    |a: &ReceiveArg| matches!(a, ReceiveArg::Variable(r) if r.parts[0].name.name == OWN_ID);
                if args.iter().any(own_id) && self.receives_own_id.last() != Some(&self.process) {
                    self.receives_own_id.push(self.process.clone());
                }
            }
            StatementKind::If(choices) | StatementKind::Do(choices) => self.choices(choices),
            StatementKind::ForRange { variable, from, to, body } => {
                self.reference(variable);
                self.expr(from);
                self.expr(to);
                self.sequence(body);
            }
            StatementKind::ForIn { variable, collection, body } => {
                self.reference(variable);
                self.reference(collection);
                self.sequence(body);
            }
            StatementKind::Select { variable, from, to, .. } => {
                self.reference(variable);
                self.expr(from);
                self.expr(to);
            }
            StatementKind::Atomic(s) | StatementKind::DStep(s) | StatementKind::Block(s) => self.sequence(s),
            StatementKind::Unless(a, b) => {
                self.statement(a);
                self.statement(b);
            }
            StatementKind::Printf(_, args) => args.iter().for_each(|e| self.expr(e)),
            StatementKind::Exclusive { channels, .. } => channels.iter().for_each(|r| self.reference(r)),
            StatementKind::Dynamic(d) => self.dynamic(d),
            StatementKind::Else | StatementKind::Break | StatementKind::Goto(_) => {}
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        for variable in &declaration.variables {
            match &variable.init {
                Some(Initialiser::Expr(e)) => self.expr(e),
                Some(Initialiser::List(es, _)) => es.iter().for_each(|e| self.expr(e)),
                Some(Initialiser::Channel(ChannelInit { capacity, .. })) => self.expr(capacity),
                None => {}
            }
        }
    }

    fn dynamic(&mut self, statement: &DynamicStatement) {
        match statement {
            DynamicStatement::Point(r, value) => {
                self.reference(r);
                match value {
                    PointerValue::Expr(e)
                    | PointerValue::New(NewObject::Elements { length: Some(e), .. }) => {
                        self.expr(e);
                    }
                    PointerValue::New(_) => {}
                }
            }
            DynamicStatement::Delete(e) => self.expr(e),
            DynamicStatement::Call { callee, args, result } => {
                self.reference(callee);
                args.iter().for_each(|e| self.expr(e));
                result.iter().for_each(|t| self.reference(&t.reference));
            }
            DynamicStatement::Return(e) => e.iter().for_each(|e| self.expr(e)),
        }
    }

    fn receive_args(&mut self, args: &[ReceiveArg]) {
        for arg in args {
            match arg {
                ReceiveArg::Variable(r) | ReceiveArg::Pointer(r) => self.reference(r),
                ReceiveArg::Constant(e) | ReceiveArg::Eval(e, _) => self.expr(e),
                ReceiveArg::Ignore(_) => {}
            }
        }
    }

    fn reference(&mut self, r: &Reference) {
        r.parts.iter().filter_map(|p| p.index.as_deref()).for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Number(_) | ExprKind::Timeout => {}
            ExprKind::Reference(r)
            | ExprKind::Address(r)
            | ExprKind::Len(r)
            | ExprKind::Full(r)
            | ExprKind::Empty(r)
            | ExprKind::Nfull(r)
            | ExprKind::Nempty(r) => self.reference(r),
            ExprKind::Unary(_, a)
            | ExprKind::Enabled(a)
            | ExprKind::PcValue(a)
            | ExprKind::GetPriority(a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::SetPriority(a, b) => {
                self.priorities = true;
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            ExprKind::Run { proctype, args, priority } => {
                self.started.push(proctype.name.clone());
                self.priorities |= priority.is_some();
                args.iter().chain(priority.as_deref()).for_each(|e| self.expr(e));
            }
            ExprKind::Poll { channel, args, .. } => {
                self.reference(channel);
                self.receive_args(args);
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                self.labels.push((proctype.name.clone(), label.name.clone()));
                pid.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Reachable(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Quantified { body, .. } => self.expr(body),
            ExprKind::RemoteVariable { proctype, pid, variable } => {
                self.variables = true;
                if variable.parts[0].name.name == OWN_ID {
                    self.shows_own_id.push(proctype.name.clone());
                }
                pid.iter().for_each(|e| self.expr(e));
                self.reference(variable);
            }
        }
    }
}
