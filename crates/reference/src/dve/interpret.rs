//! One state at a time.

use std::collections::HashMap;

use quotient_dve::ast::{
    Binary, Effect, Expr, ExprKind, Init, Process, System, Transition, Type, Unary, Variable,
};

/// A state of the processes, without the property process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The state of each process, by position in its list.
    pub control: Vec<usize>,
    /// All variables, one after the other.
    values: Vec<i32>,
    /// The messages of each channel.
    queues: Vec<Vec<Vec<i32>>>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To a state.
    To(State),
    /// Something has no value.
    Fault,
}

/// An expression without a value, or a value that does not fit.
#[derive(Clone, Copy, Debug)]
pub struct Fault;

#[derive(Clone, Copy)]
struct Slot {
    at: usize,
    length: usize,
    ty: Type,
}

/// A system with tables of its names.
pub struct Interpreter<'a> {
    system: &'a System,
    /// All processes but the property process, in order.
    processes: Vec<&'a Process>,
    /// Variables and constants by process (-1 for globals) and name.
    slots: HashMap<(i32, &'a str), Slot>,
    initial: Vec<i32>,
    channels: HashMap<&'a str, usize>,
}

impl<'a> Interpreter<'a> {
    /// Makes the tables of a correct system.
    pub fn new(system: &'a System) -> Interpreter<'a> {
        let property = system.property.as_ref().map(|p| p.text.clone());
        let watched = |p: &&Process| property.as_ref().is_none_or(|name| *name != p.name.text);
        let mut interpreter = Interpreter {
            system,
            processes: system.processes.iter().filter(watched).collect(),
            slots: HashMap::new(),
            initial: Vec::new(),
            channels: system.channels.iter().enumerate().map(|(i, c)| (&*c.name.text, i)).collect(),
        };
        system.variables.iter().for_each(|v| interpreter.declare(-1, v));
        for (number, process) in interpreter.processes.clone().into_iter().enumerate() {
            process.variables.iter().for_each(|v| interpreter.declare(number as i32, v));
        }
        interpreter
    }

    fn declare(&mut self, owner: i32, variable: &'a Variable) {
        // Initial values and lengths use what was declared before.
        let so_far = State { control: Vec::new(), values: self.initial.clone(), queues: Vec::new() };
        let number = |e: &Expr| self.eval(e, owner, &so_far).unwrap_or(0);
        let length = variable.length.as_ref().map_or(1, number) as usize;
        let mut values: Vec<i32> = match &variable.init {
            None => Vec::new(),
            Some(Init::One(e)) => vec![number(e)],
            Some(Init::List(list)) => list.iter().map(number).collect(),
        };
        values.resize(length, 0);
        let slot = Slot { at: self.initial.len(), length, ty: variable.ty };
        self.slots.insert((owner, &variable.name.text), slot);
        self.initial.extend(values);
    }

    /// Where everything starts.
    pub fn initial(&self) -> State {
        let start = |p: &&Process| {
            p.states.iter().position(|s| p.init.as_ref().is_some_and(|i| i.text == s.text)).unwrap_or(0)
        };
        State {
            control: self.processes.iter().map(start).collect(),
            values: self.initial.clone(),
            queues: vec![Vec::new(); self.system.channels.len()],
        }
    }

    fn at(&self, process: usize, state: &State, name: &str) -> bool {
        &*self.processes[process].states[state.control[process]].text == name
    }

    fn slot(&self, name: &str, owner: i32) -> Slot {
        let found = self.slots.get(&(owner, name)).or_else(|| self.slots.get(&(-1, name)));
        *found.unwrap_or_else(|| panic!("the system was checked, and `{name}` is declared"))
    }

    fn element(&self, slot: Slot, index: Option<&Expr>, owner: i32, state: &State) -> Result<usize, Fault> {
        let index = index.map_or(Ok(0), |e| self.eval(e, owner, state))?;
        if index < 0 || index as usize >= slot.length { Err(Fault) } else { Ok(slot.at + index as usize) }
    }

    /// The value of an expression of a process (or -1: of the property process).
    pub fn eval(&self, e: &Expr, owner: i32, state: &State) -> Result<i32, Fault> {
        let process = |name: &str| self.processes.iter().position(|p| &*p.name.text == name).unwrap_or(0);
        Ok(match &e.kind {
            ExprKind::Number(value) => *value,
            ExprKind::Name(name) => state.values[self.slot(&name.text, owner).at],
            ExprKind::Index(name, index) => {
                state.values[self.element(self.slot(&name.text, owner), Some(index), owner, state)?]
            }
            ExprKind::Of(p, s) => i32::from(self.at(process(&p.text), state, &s.text)),
            ExprKind::Foreign(p, x, index) => {
                let slot = self.slot(&x.text, process(&p.text) as i32);
                state.values[self.element(slot, index.as_deref(), owner, state)?]
            }
            ExprKind::Unary(op, a) => {
                let a = self.eval(a, owner, state)?;
                match op {
                    Unary::Minus => 0i32.wrapping_sub(a),
                    Unary::Complement => -1 - a,
                    Unary::Not => i32::from(a == 0),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.eval(a, owner, state)?;
                // These three look at the right side only when the left one does not decide.
                match (op, a != 0) {
                    (Binary::And, false) => return Ok(0),
                    (Binary::Or, true) | (Binary::Imply, false) => return Ok(1),
                    _ => {}
                }
                let b = self.eval(b, owner, state)?;
                self.binary(*op, a, b)?
            }
        })
    }

    fn binary(&self, op: Binary, a: i32, b: i32) -> Result<i32, Fault> {
        let truth = i32::from;
        Ok(match op {
            Binary::And | Binary::Or | Binary::Imply => truth(b != 0),
            Binary::BitOr => a | b,
            Binary::BitAnd => a & b,
            Binary::BitXor => a ^ b,
            Binary::Eq => truth(a == b),
            Binary::Ne => truth(a != b),
            Binary::Lt => truth(a < b),
            Binary::Le => truth(a <= b),
            Binary::Gt => truth(a > b),
            Binary::Ge => truth(a >= b),
            Binary::Shl => a.wrapping_shl(b as u32),
            Binary::Shr => a.wrapping_shr(b as u32),
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div => a.checked_div(b).or((b == -1).then_some(a)).ok_or(Fault)?,
            Binary::Mod => a.checked_rem(b).or((b == -1).then_some(0)).ok_or(Fault)?,
        })
    }

    /// Stores a value where `target` says, looked up in `seen`.
    fn store(
        &self,
        target: &Expr,
        value: i32,
        owner: i32,
        seen: &State,
        to: &mut State,
    ) -> Result<(), Fault> {
        let (name, index) = match &target.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(name, index) => (name, Some(&**index)),
            _ => panic!("the system was checked: only variables are assigned"),
        };
        let slot = self.slot(&name.text, owner);
        let at = self.element(slot, index, owner, seen)?;
        let (low, high) = slot.ty.bounds();
        if value < low || value > high {
            return Err(Fault);
        }
        to.values[at] = value;
        Ok(())
    }

    /// A process goes where its transition leads and does its effects.
    fn go(&self, process: usize, t: &Transition, state: &mut State) -> Result<(), Fault> {
        let states = &self.processes[process].states;
        state.control[process] = states.iter().position(|s| s.text == t.to.text).unwrap_or(0);
        for Effect { target, value } in &t.effects {
            let value = self.eval(value, process as i32, state)?;
            let seen = state.clone();
            self.store(target, value, process as i32, &seen, state)?;
        }
        Ok(())
    }

    fn committed(&self, process: usize, state: &State) -> bool {
        self.processes[process].commit.iter().any(|c| self.at(process, state, &c.text))
    }

    /// Does the guard hold?
    fn passes(&self, process: usize, t: &Transition, state: &State) -> Result<bool, Fault> {
        t.guard.as_ref().map_or(Ok(true), |e| self.eval(e, process as i32, state).map(|v| v != 0))
    }

    /// What a typed channel makes of a value.
    fn typed(&self, channel: usize, field: usize, value: i32) -> i32 {
        match self.system.channels[channel].types.as_ref().map(|t| t[field]) {
            Some(Type::Byte) => value.rem_euclid(256),
            Some(Type::Int) => i32::from(value as i16),
            None => value,
        }
    }

    /// Everything that can happen next.
    pub fn steps(&self, state: &State) -> Vec<Step> {
        let all = 0..self.processes.len();
        let urgent = all.clone().any(|p| self.committed(p, state));
        let may: Vec<usize> = all.filter(|p| !urgent || self.committed(*p, state)).collect();
        let mut out = Vec::new();
        let result = |made: Result<State, Fault>| made.map_or(Step::Fault, Step::To);
        for &p in &may {
            for t in &self.processes[p].transitions {
                if !self.at(p, state, &t.from.text) {
                    continue;
                }
                match self.passes(p, t, state) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(Fault) => {
                        out.push(Step::Fault);
                        continue;
                    }
                }
                let Some(sync) = &t.sync else {
                    let mut to = state.clone();
                    out.push(result(self.go(p, t, &mut to).map(|()| to)));
                    continue;
                };
                let channel = self.channels[&*sync.channel.text];
                let capacity = self.system.channels[channel].capacity.unwrap_or(0) as usize;
                if capacity > 0 {
                    let made = match sync.send {
                        true if state.queues[channel].len() < capacity => self.put(p, t, channel, state),
                        false if !state.queues[channel].is_empty() => self.get(p, t, channel, state),
                        _ => continue,
                    };
                    out.push(result(made));
                } else if sync.send {
                    for &q in may.iter().filter(|q| **q != p) {
                        for other in &self.processes[q].transitions {
                            let takes = other
                                .sync
                                .as_ref()
                                .is_some_and(|s| !s.send && s.channel.text == sync.channel.text);
                            if !takes || !self.at(q, state, &other.from.text) {
                                continue;
                            }
                            match self.passes(q, other, state) {
                                Ok(true) => out.push(result(self.meet((p, t), (q, other), channel, state))),
                                Ok(false) => {}
                                Err(Fault) => out.push(Step::Fault),
                            }
                        }
                    }
                }
            }
        }
        out
    }

    fn put(&self, p: usize, t: &Transition, channel: usize, state: &State) -> Result<State, Fault> {
        let values = t.sync.iter().flat_map(|s| &s.values).enumerate();
        let message: Result<Vec<i32>, Fault> =
            values.map(|(i, e)| Ok(self.typed(channel, i, self.eval(e, p as i32, state)?))).collect();
        let mut to = state.clone();
        to.queues[channel].push(message?);
        self.go(p, t, &mut to)?;
        Ok(to)
    }

    fn get(&self, p: usize, t: &Transition, channel: usize, state: &State) -> Result<State, Fault> {
        let mut to = state.clone();
        let message = to.queues[channel].remove(0);
        for (target, value) in t.sync.iter().flat_map(|s| &s.values).zip(message) {
            self.store(target, value, p as i32, state, &mut to)?;
        }
        self.go(p, t, &mut to)?;
        Ok(to)
    }

    fn meet(
        &self,
        (p, sends): (usize, &Transition),
        (q, receives): (usize, &Transition),
        channel: usize,
        state: &State,
    ) -> Result<State, Fault> {
        let mut to = state.clone();
        let sent = sends.sync.iter().flat_map(|s| &s.values);
        let received = receives.sync.iter().flat_map(|s| &s.values);
        let mut message = Vec::new();
        for (i, e) in sent.enumerate() {
            message.push(self.typed(channel, i, self.eval(e, p as i32, state)?));
        }
        for (target, value) in received.zip(message) {
            self.store(target, value, q as i32, state, &mut to)?;
        }
        self.go(q, receives, &mut to)?;
        self.go(p, sends, &mut to)?;
        Ok(to)
    }

    /// Is an assertion of a state of some process wrong?
    pub fn violates(&self, state: &State) -> bool {
        self.processes.iter().enumerate().any(|(p, process)| {
            let here = process.asserts.iter().filter(|(s, _)| self.at(p, state, &s.text));
            here.into_iter().any(|(_, e)| self.eval(e, p as i32, state).is_ok_and(|v| v == 0))
        })
    }
}
