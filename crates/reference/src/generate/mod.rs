//! Random Promela programs, named by a seed.
//!
//! The programs are small and meant to be finite: values are kept in small ranges, processes are started
//! only in straight-line code, loops inside atomic sequences count. They cover the language widely, but
//! stay clear of what SPIN itself gets wrong, because SPIN is the judge of the reference interpreter:
//!
//! - no index that reads the array it indexes, no receive that writes a variable it also reads (an index,
//!   the channel, an `eval`), no receive into a variable narrower than the field: SPIN restores these
//!   wrongly when it backtracks;
//! - `hidden` variables are written but never read: SPIN gives them the value of the path, not of the state;
//! - a `d_step` begins with a condition, an assignment, a receive that removes its message, or a selection
//!   guarded by conditions: SPIN computes its executability only from those, and generates C that does
//!   not compile when it begins with a receive in `<…>`;
//! - remote references only to processes that never end: SPIN reads the memory of a dead process;
//! - channels are sent in messages only if their owner never ends, for the same reason;
//! - divisors are constants other than 0, shifts are by constants: SPIN's verifier dies of these.
//!
//! `wild_index` and `d_step_blocks` let a few programs have faults.

mod expressions;
mod knobs;
mod labels;
mod messages;
mod scope;
mod statements;

pub use knobs::Knobs;

use crate::construct::*;
use crate::interpret::accepts;
use labels::labelable;
use messages::carried;
use quotient_promela::ast::*;
use quotient_testing::Random;
use scope::*;

/// The program of `seed`, with about `size` statements in each process. Every third one uses variables as locks.
pub fn generate(seed: u64, size: usize) -> Model {
    let lock = if seed % 3 == 2 { 25 } else { 0 };
    generate_with(seed, &Knobs { size, lock, ..Knobs::default() })
}

/// The program of `seed` under the given knobs. Candidates that SPIN would refuse (for example for an
/// unconditional self-loop) are passed over.
pub fn generate_with(seed: u64, knobs: &Knobs) -> Model {
    let mut random = Random::new(seed);
    let mut model = Model::default();
    for _ in 0..1000 {
        let mut generator = Generator::new(Random::new(random.bits()), knobs.clone());
        model = generator.model();
        if accepts(&model) {
            break;
        }
    }
    model
}

/// Where a statement stands.
#[derive(Clone, Copy, Debug)]
struct Where {
    /// How deep compound statements may still nest.
    depth: usize,
    atomic: bool,
    d_step: bool,
    looping: bool,
    /// `break` is possible.
    breaks: bool,
    /// `goto` is possible.
    gotos: bool,
}

/// Where nothing compound is.
const NOWHERE: Where =
    Where { depth: 0, atomic: true, d_step: true, looping: false, breaks: false, gotos: false };

/// The state of generation.
struct Generator {
    random: Random,
    knobs: Knobs,
    struct_names: Vec<String>,
    /// Loop counters of the proctype that are not in use.
    counters: Vec<String>,
    used_labels: Vec<String>,
    names: usize,
}

impl Generator {
    fn new(random: Random, knobs: Knobs) -> Self {
        Generator {
            random,
            knobs,
            struct_names: Vec::new(),
            counters: Vec::new(),
            used_labels: Vec::new(),
            names: 0,
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn scalar_type(&mut self) -> (TypeName, u32) {
        match self.random.below(10) {
            0 => (TypeName::Bit, 0),
            1 | 2 => (TypeName::Bool, 0),
            3..=5 => (TypeName::Byte, 0),
            6 => (TypeName::Short, 0),
            7 => (TypeName::Int, 0),
            8 => (TypeName::Pid, 0),
            _ => (TypeName::Unsigned, 1 + self.random.below(3) as u32),
        }
    }

    fn model(&mut self) -> Model {
        let mut units = Vec::new();
        let mut scope = Scope::default();
        self.mtypes(&mut units, &mut scope);
        self.typedefs(&mut units, &mut scope);
        self.globals(&mut units, &mut scope);
        self.channels(&mut units, &mut scope);
        let count = 2 + self.random.below(2);
        let mut runnable: Vec<Runnable> = Vec::new();
        let mut pids = 0;
        for index in 0..count {
            let name = format!("P{index}");
            let active = self.random.chance(60);
            let proctype = self.proctype(&name, active, &mut scope, &runnable, &mut pids, &mut units);
            if !active {
                runnable.push(proctype);
            }
        }
        if !runnable.is_empty() || pids == 0 || self.random.chance(15) {
            self.init(&scope, &runnable, &mut units);
        }
        Model { units, dynamic: false }
    }

    fn mtypes(&mut self, units: &mut Vec<Unit>, scope: &mut Scope) {
        let sets = self.random.below(3);
        for set in 0..sets {
            let count = 2 + self.random.below(2);
            let names: Vec<String> = (0..count).map(|n| format!("m{set}{n}")).collect();
            scope.mtypes.extend(names.iter().cloned());
            let named = set == 1 && self.random.chance(50);
            scope.mtype_sets.push(named.then(|| ident("set")));
            units.push(Unit::Mtype(Mtype {
                set: named.then(|| ident("set")),
                names: names.iter().map(|n| ident(n)).collect(),
                span: nowhere(),
            }));
        }
    }

    fn declaration(&mut self, ty: &TypeName, width: u32, name: &str, length: Option<usize>) -> Declaration {
        let mut declaration = declare(ty.clone(), name, length, None);
        if let TypeName::Unsigned = ty {
            declaration.variables[0].width = Some(number(width as i32));
        }
        declaration
    }

    /// Two typedefs at most: a flat one of bytes and bits, fit for messages, and one with arrays.
    fn typedefs(&mut self, units: &mut Vec<Unit>, scope: &mut Scope) {
        if self.random.chance(50) {
            return;
        }
        for level in 0..1 + self.random.below(2) {
            let mut fields = Vec::new();
            let mut declarations = Vec::new();
            for index in 0..1 + self.random.below(2) {
                let (ty, width) = match level {
                    0 => ([TypeName::Byte, TypeName::Bit][self.random.below(2)].clone(), 0),
                    _ => self.scalar_type(),
                };
                let bits = matches!(ty, TypeName::Unsigned);
                let length = (level == 1 && !bits && self.random.chance(40)).then_some(2);
                let name = format!("f{level}{index}");
                declarations.push(self.declaration(&ty, width, &name, length));
                fields.push(Field { name, ty: Type::Scalar(ty, width), length });
            }
            if level == 1 {
                let length = self.random.chance(50).then_some(2);
                declarations.push(declare(TypeName::Named(ident("T0")), "g", length, None));
                fields.push(Field { name: "g".to_string(), ty: Type::Struct(0), length });
            }
            let name = format!("T{level}");
            units.push(Unit::Typedef(Typedef { name: ident(&name), fields: declarations, span: nowhere() }));
            self.struct_names.push(name);
            scope.structs.push(fields);
        }
    }

    fn globals(&mut self, units: &mut Vec<Unit>, scope: &mut Scope) {
        let count = 2 + self.random.below(3);
        for index in 0..count {
            let name = format!("g{index}");
            if !self.struct_names.is_empty() && self.random.chance(25) {
                let structure = self.random.below(self.struct_names.len());
                let length = self.random.chance(40).then_some(2);
                let ty = TypeName::Named(ident(&self.struct_names[structure]));
                units.push(Unit::Declaration(declare(ty, &name, length, None)));
                let ty = Type::Struct(structure);
                scope.vars.push(Var { name, ty, length, readable: true, writable: true });
                continue;
            }
            let (ty, width) = if !scope.mtypes.is_empty() && self.random.chance(15) {
                (TypeName::Mtype(self.random.pick(&scope.mtype_sets).cloned().flatten()), 0)
            } else {
                self.scalar_type()
            };
            let bits = matches!(ty, TypeName::Unsigned);
            let length = (!bits && self.random.chance(20)).then(|| 2 + self.random.below(2));
            // SPIN refuses hidden bits.
            let bits = bits || matches!(ty, TypeName::Bit | TypeName::Bool);
            let hidden = length.is_none() && !bits && self.random.chance(10);
            let mut declaration = self.declaration(&ty, width, &name, length);
            if !hidden && self.random.chance(10) {
                let others = [Visibility::Show, Visibility::Local];
                declaration.visibility = others[self.random.below(2)];
            }
            if hidden {
                declaration.visibility = Visibility::Hidden;
            } else if self.random.chance(40) {
                let most = if matches!(ty, TypeName::Bit | TypeName::Bool) { 1 } else { 3 };
                declaration.variables[0].init = Some(match length {
                    Some(n) if self.random.chance(50) => {
                        let items = (0..n).map(|_| number(self.random.between(0, most)));
                        Initialiser::List(items.collect(), nowhere())
                    }
                    None if self.random.chance(20) => Initialiser::Expr(number(255)),
                    _ => Initialiser::Expr(number(self.random.between(0, most))),
                });
            }
            units.push(Unit::Declaration(declaration));
            let ty = Type::Scalar(ty, width);
            scope.vars.push(Var { name, ty, length, readable: !hidden, writable: true });
        }
    }

    fn message(&mut self, scope: &Scope) -> Vec<TypeName> {
        if !self.struct_names.is_empty() && self.random.chance(30) {
            return vec![TypeName::Named(ident("T0"))];
        }
        let count = 1 + self.random.below(2);
        (0..count)
            .map(|_| match self.random.below(8) {
                0 => TypeName::Bit,
                1 => TypeName::Short,
                2 => TypeName::Int,
                3 | 4 if !scope.mtypes.is_empty() => TypeName::Mtype(None),
                _ => TypeName::Byte,
            })
            .collect()
    }

    fn channel(&mut self, name: &str, fields: Vec<TypeName>, lasting: bool) -> (Declaration, Chan) {
        let capacity = if self.random.chance(40) { 0 } else { 1 + self.random.below(2) };
        let length = self.random.chance(15).then_some(2);
        let init = ChannelInit {
            capacity: number(capacity as i32),
            fields: fields.iter().map(|f| (f.clone(), nowhere())).collect(),
            span: nowhere(),
        };
        let declaration = declare(TypeName::Chan, name, length, Some(Initialiser::Channel(init)));
        (declaration, Chan { name: name.to_string(), length, capacity, fields, lasting })
    }

    fn channels(&mut self, units: &mut Vec<Unit>, scope: &mut Scope) {
        for index in 0..self.random.below(4) {
            let fields = if index == 2 { vec![TypeName::Chan] } else { self.message(scope) };
            let (declaration, chan) = self.channel(&format!("c{index}"), fields, true);
            units.push(Unit::Declaration(declaration));
            scope.chans.push(chan);
        }
    }

    fn proctype(
        &mut self,
        name: &str,
        active: bool,
        globals: &mut Scope,
        runnable: &[Runnable],
        pids: &mut usize,
        units: &mut Vec<Unit>,
    ) -> Runnable {
        let mut scope = globals.clone();
        let immortal = self.random.chance(40);
        let mut params = Vec::new();
        let mut signature = Runnable { name: name.to_string(), params: Vec::new() };
        for index in 0..self.random.below(3) {
            let parameter = format!("p{}{index}", name.to_lowercase());
            let model = carried(globals);
            if !active && !model.is_empty() && self.random.chance(40) {
                params.push(declare(TypeName::Chan, &parameter, None, None));
                scope.chans.push(Chan { name: parameter, length: None, lasting: false, ..model[0].clone() });
                signature.params.push(Parameter::Channel);
            } else {
                let ty = [TypeName::Byte, TypeName::Bit, TypeName::Short][self.random.below(3)].clone();
                params.push(declare(ty.clone(), &parameter, None, None));
                let ty = Type::Scalar(ty, 0);
                scope.vars.push(Var { name: parameter, ty, length: None, readable: true, writable: true });
                signature.params.push(Parameter::Number);
            }
        }
        let mut body = Vec::new();
        let variables = self.locals(&mut scope, &mut body, immortal);
        self.used_labels.clear();
        // Processes are started first, before any label, so that no loop starts them again.
        if !runnable.is_empty() && self.random.chance(15) {
            let run = self.run(&scope, runnable);
            body.push(run);
        }
        let start = body.len();
        let depth = if self.knobs.size > 5 { 3 } else { 2 };
        let place = Where { depth, atomic: false, d_step: false, looping: false, breaks: false, gotos: true };
        let server = self.random.chance(40);
        let count = 1 + self.random.below(if server { 2 } else { self.knobs.size.max(1) });
        body.extend(self.statements(&scope, place, count));
        if server {
            body.push(self.server(&scope, place));
        }
        if immortal {
            let mut rest = condition(number(0));
            rest.labels.push(ident("end9"));
            body.push(rest);
        }
        let mut labels = self.place_labels(&mut body, start);
        if self.random.chance(20) {
            let last = body.len() - 1;
            let at = start + self.random.below(last + 1 - start);
            if body[at].labels.is_empty()
                && !matches!(body[at].kind, StatementKind::Goto(_))
                && labelable(&body[at])
            {
                body[at].labels.push(ident("end1"));
            }
        }
        if self.random.chance(self.knobs.meaningful_labels) {
            self.mark(&mut body[start..]);
        }
        labels.retain(|label| label.starts_with('L'));
        let provided = self.random.chance(self.knobs.provided).then(|| self.comparison(globals, &[]));
        let count = self.random.chance(25).then(|| 1 + self.random.below(2) as i32);
        if active {
            let instances = count.unwrap_or(1) as usize;
            if immortal {
                for instance in 0..instances {
                    globals.remotes.push(Remote {
                        proctype: name.to_string(),
                        pid: *pids + instance,
                        only: instances == 1,
                        labels: labels.clone(),
                        variables: variables.clone(),
                    });
                }
            }
            *pids += instances;
        }
        units.push(Unit::Proctype(Proctype {
            active: active.then(|| crate::construct::active(count)),
            params,
            provided,
            ..proctype(name, body)
        }));
        signature
    }

    /// Locals at the start of a body; the names of those that remote references may mention.
    fn locals(&mut self, scope: &mut Scope, body: &mut Vec<Statement>, immortal: bool) -> Vec<String> {
        let mut remote = Vec::new();
        for _ in 0..self.random.below(3) {
            let variable = self.fresh("x");
            let (ty, width) = self.scalar_type();
            let bits = matches!(ty, TypeName::Unsigned);
            let length = (!bits && self.random.chance(15)).then_some(2);
            let mut declaration = self.declaration(&ty, width, &variable, length);
            if length.is_none() && self.random.chance(30) {
                let init = if self.random.chance(50) { self.constant() } else { value(name("_pid")) };
                declaration.variables[0].init = Some(Initialiser::Expr(init));
            }
            body.push(statement(StatementKind::Declaration(declaration)));
            if length.is_none() {
                remote.push(variable.clone());
            }
            let ty = Type::Scalar(ty, width);
            scope.vars.push(Var { name: variable, ty, length, readable: true, writable: true });
        }
        if !self.struct_names.is_empty() && self.random.chance(30) {
            let variable = self.fresh("s");
            let ty = TypeName::Named(ident(&self.struct_names[0]));
            body.push(statement(StatementKind::Declaration(declare(ty, &variable, None, None))));
            let ty = Type::Struct(0);
            scope.vars.push(Var { name: variable, ty, length: None, readable: true, writable: true });
        }
        let counter = self.fresh("i");
        if self.random.chance(70) {
            body.push(statement(StatementKind::Declaration(declare(TypeName::Byte, &counter, None, None))));
            self.counters = vec![counter.clone()];
            let ty = Type::Scalar(TypeName::Byte, 0);
            scope.vars.push(Var { name: counter, ty, length: None, readable: true, writable: false });
            if self.random.chance(20) {
                // For a loop inside a loop.
                let inner = self.fresh("i");
                body.push(statement(StatementKind::Declaration(declare(TypeName::Byte, &inner, None, None))));
                self.counters.push(inner);
            }
        } else {
            self.counters.clear();
        }
        if self.random.chance(25) {
            let fields = match carried(scope).first() {
                Some(chan) if self.random.chance(60) => chan.fields.clone(),
                _ => self.message(scope),
            };
            let local = self.fresh("l");
            let (declaration, chan) = self.channel(&local, fields, immortal);
            body.push(statement(StatementKind::Declaration(declaration)));
            scope.chans.push(chan);
        }
        let carriers = scope.chans.iter().any(|c| matches!(c.fields[..], [TypeName::Chan]));
        scope.chan_vars.clear();
        if carriers {
            let variable = self.fresh("q");
            body.push(statement(StatementKind::Declaration(declare(TypeName::Chan, &variable, None, None))));
            scope.chan_vars.push(variable);
        }
        remote
    }

    fn run(&mut self, scope: &Scope, runnable: &[Runnable]) -> Statement {
        let callee = runnable[self.random.below(runnable.len())].clone();
        let args = callee
            .params
            .iter()
            .map(|parameter| match parameter {
                Parameter::Number => self.expression(scope, 1, &[]),
                Parameter::Channel => {
                    let usable = carried(scope);
                    match self.random.pick(&usable).cloned() {
                        Some(chan) => value(scope.channel(&mut self.random, &chan)),
                        None => number(0),
                    }
                }
            })
            .collect();
        let run = expr(ExprKind::Run { proctype: ident(&callee.name), args, priority: None });
        let bytes = |v: &Var| {
            let byte = matches!(v.ty, Type::Scalar(TypeName::Byte | TypeName::Pid, _));
            byte && v.length.is_none() && v.writable
        };
        match scope.scalar(&mut self.random, &bytes, &mut |_, _, _| number(0)) {
            Some(chosen) if self.random.chance(20) => statement(StatementKind::Assign(chosen.reference, run)),
            _ => condition(run),
        }
    }

    fn init(&mut self, globals: &Scope, runnable: &[Runnable], units: &mut Vec<Unit>) {
        let mut scope = globals.clone();
        let mut body = Vec::new();
        self.used_labels.clear();
        self.locals(&mut scope, &mut body, false);
        let mut runs = Vec::new();
        for _ in 0..(1 + self.random.below(2)) {
            if !runnable.is_empty() {
                runs.push(self.run(&scope, runnable));
            }
        }
        if runs.len() > 1 && self.random.chance(50) {
            runs = vec![statement(StatementKind::Atomic(sequence(runs)))];
        }
        body.extend(runs);
        let place =
            Where { depth: 2, atomic: false, d_step: false, looping: false, breaks: false, gotos: false };
        let count = self.random.below(1 + self.knobs.size / 2);
        for _ in 0..count {
            let more = self.statement(&scope, place);
            body.extend(more);
        }
        if body.iter().all(|s| matches!(s.kind, StatementKind::Declaration(_))) {
            body.push(skip());
        }
        units.push(Unit::Init(Init {
            priority: None,
            body: sequence(body),
            span: nowhere(),
            end: nowhere(),
        }));
    }
}

/// A proctype that can be started.
#[derive(Clone, Debug)]
struct Runnable {
    name: String,
    params: Vec<Parameter>,
}

#[derive(Clone, Debug)]
enum Parameter {
    Number,
    Channel,
}
