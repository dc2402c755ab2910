//! Which values are names.
//!
//! Every cell, every dimension of an array that is indexed by something that is not constant, and every field of a channel's messages has a
//! *class* of values; whatever is copied, compared for equality, sent, received or used as an index joins two of them, since
//! a renaming must treat both alike. A class is *numeric* if its values meet anything else (see [`mod@crate::tables`] for what is
//! still possible there): they stay what they are. The values of all other classes are *names*. A class of names holds every
//! value that its cells may ever have: what they have in the beginning, constants that flow there, what tables yield. A renaming may
//! exchange classes as a whole, so that a value that was forgotten here could become equal to another. Where what is there in the beginning is
//! not known, the class is *open*: unknown values stay, and it can only be exchanged with an open class that knows the same ones.

use std::collections::{BTreeMap, BTreeSet};

use quotient_program::{BinaryOp, Type, UnaryOp};
use quotient_source::Span;

use crate::fold::is_truth;
use crate::ground::{
    Act, Cell, Exp, Op, Pat, Ref, Setting, Values, Var, each, each_in_act, each_in_op, is_condition, range,
};
use crate::nodes::Map;
use crate::specialise::Specialised;
use crate::tables::Atom;
use crate::unions::Unions;

pub(crate) type ClassId = usize;

/// What a class belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    Cell(Cell),
    Array(Var, Vec<u32>),
    Dim(Var, Vec<u32>, usize),
    /// The thread ids asked for a label.
    Label(u32),
}

/// What an expression is a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Class(ClassId),
    Num(i32),
    Channel(i32),
    /// 0 or 1.
    Truth,
    Data,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    parent: ClassId,
    /// Its values are numbers, because of this line if one is known.
    pub(crate) numeric: Option<Option<Span>>,
    pub(crate) values: BTreeSet<i32>,
    pub(crate) open: bool,
    range: (i32, i32),
    channels: bool,
    fields: Vec<ClassId>,
    /// By tag and field, where a field is split.
    pub(crate) tagged: BTreeMap<(i32, usize), ClassId>,
}

pub(crate) struct Sorts<'a> {
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) list: Vec<Class>,
    keys: Map<Key, ClassId>,
    /// The class of each channel, from number 1.
    pub(crate) channel: Vec<ClassId>,
    /// Arrays indexed by something that is not constant.
    pub(crate) dynamic: BTreeSet<(Var, Vec<u32>)>,
    known: Map<Exp, Sort>,
    pub(crate) atoms: Vec<Atom>,
    /// By whether only its truth counts, and expression.
    pub(crate) atom_of: [Map<Exp, usize>; 2],
    /// Which fields of messages are split.
    pub(crate) unions: Option<Box<Unions<'a>>>,
    span: Option<Span>,
}

impl<'a> Sorts<'a> {
    pub(crate) fn new(setting: &'a Setting<'a>, of: &Specialised) -> Sorts<'a> {
        Sorts::with(setting, of, None)
    }

    /// With fields of messages split.
    pub(crate) fn with(
        setting: &'a Setting<'a>,
        of: &Specialised,
        unions: Option<Box<Unions<'a>>>,
    ) -> Sorts<'a> {
        let mut sorts = Sorts {
            setting,
            list: Vec::new(),
            keys: Map::default(),
            channel: Vec::new(),
            dynamic: dynamic(setting, of),
            known: Map::default(),
            atoms: Vec::new(),
            atom_of: Default::default(),
            unions: None,
            span: None,
        };
        for (index, channel) in setting.channels.iter().enumerate() {
            let id = sorts.fresh(&Type::Channel);
            let types = &setting.program.channel_types[channel.kind.0 as usize].fields;
            sorts.list[id].fields = types.iter().map(|ty| sorts.fresh(ty)).collect();
            sorts.channel.push(id);
            if let Some(union) = unions.as_ref().and_then(|u| u.of_channel(index)) {
                for tag in &union.values {
                    for field in &union.fields {
                        let class = sorts.fresh(&types[*field]);
                        sorts.list[id].tagged.insert((*tag, *field), class);
                    }
                }
            }
        }
        sorts.unions = unions;
        sorts.code(of);
        sorts.beginning();
        sorts.settle();
        sorts
    }

    fn fresh(&mut self, ty: &Type) -> ClassId {
        let id = self.list.len();
        self.list.push(Class {
            parent: id,
            numeric: None,
            values: BTreeSet::new(),
            open: false,
            range: range(ty),
            channels: *ty == Type::Channel,
            fields: Vec::new(),
            tagged: BTreeMap::new(),
        });
        id
    }

    pub(crate) fn find(&self, mut class: ClassId) -> ClassId {
        while self.list[class].parent != class {
            class = self.list[class].parent;
        }
        class
    }

    pub(crate) fn get(&self, class: ClassId) -> &Class {
        &self.list[self.find(class)]
    }

    pub(crate) fn lookup(&self, key: &Key) -> Option<ClassId> {
        self.keys.get(key).map(|c| self.find(*c))
    }

    /// Are the values of the class names, or channels that may be renamed?
    pub(crate) fn is_names(&self, class: ClassId) -> bool {
        self.get(class).numeric.is_none()
    }

    pub(crate) fn holds_channels(&self, class: ClassId) -> bool {
        self.get(class).channels
    }

    /// The class of a field; of messages with this tag, where it is split by one.
    pub(crate) fn field(&self, channels: ClassId, field: usize, tag: Option<i32>) -> Option<ClassId> {
        let known = self.get(channels);
        let class = match tag {
            Some(tag) => known.tagged.get(&(tag, field)),
            None => known.fields.get(field),
        };
        class.map(|c| self.find(*c))
    }

    pub(crate) fn fields(&self, channels: ClassId) -> usize {
        self.get(channels).fields.len()
    }

    /// The class of an expression's values, if it has one.
    pub(crate) fn class_of(&self, e: &Exp) -> Option<ClassId> {
        match self.known.get(e) {
            Some(Sort::Class(class)) => Some(self.find(*class)),
            Some(Sort::Channel(number)) => Some(self.find(self.channel[*number as usize - 1])),
            _ => None,
        }
    }

    /// The class of a cell's values, if code touches it.
    pub(crate) fn cell_class(&self, cell: Cell, path: &[u32]) -> Option<ClassId> {
        self.lookup(&Key::Cell(cell)).or_else(|| self.lookup(&Key::Array(cell.0, path.to_vec()))).or_else(
            || {
                let Var::Local(thread, v) = cell.0 else { return None };
                let function = self.setting.threads[thread as usize].0;
                self.lookup(&Key::Array(Var::Remote(function, v), path.to_vec()))
            },
        )
    }

    pub(crate) fn make_numeric(&mut self, class: ClassId) -> bool {
        let class = self.find(class);
        let span = self.span;
        let new = self.list[class].numeric.is_none();
        self.list[class].numeric.get_or_insert(span);
        new
    }

    /// What has a class, with the class.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&Key, ClassId)> {
        self.keys.iter().map(|(key, class)| (key, self.find(*class)))
    }

    /// The values that every cell of a class can hold.
    pub(crate) fn range(&self, class: ClassId) -> (i32, i32) {
        self.get(class).range
    }

    /// One more value of a class.
    pub(crate) fn add_value(&mut self, class: ClassId, value: i32) {
        let class = self.find(class);
        self.list[class].values.insert(value);
    }

    /// Does every value fit into what it is stored in?
    pub(crate) fn fits(&self, class: ClassId) -> bool {
        let class = self.get(class);
        let (low, high) = class.range;
        let values = &class.values;
        values.iter().all(|v| (low..=high).contains(v)) && (!class.channels || values.iter().all(|v| *v == 0))
    }

    fn unify(&mut self, a: ClassId, b: ClassId) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let taken = self.list[b].clone();
        self.list[b].parent = a;
        let kept = &mut self.list[a];
        if kept.channels != taken.channels {
            // Channels are numbers here.
            kept.numeric.get_or_insert(self.span);
        }
        kept.channels |= taken.channels;
        kept.open |= taken.open;
        if let Some(why) = taken.numeric {
            kept.numeric.get_or_insert(why);
        }
        kept.values.extend(taken.values);
        kept.range = (kept.range.0.max(taken.range.0), kept.range.1.min(taken.range.1));
        let mine = kept.fields.clone();
        if mine.len() < taken.fields.len() {
            kept.fields.clone_from(&taken.fields);
        }
        let mut both: Vec<(ClassId, ClassId)> = mine.into_iter().zip(taken.fields).collect();
        for (key, class) in taken.tagged {
            match kept.tagged.get(&key) {
                Some(mine) => both.push((*mine, class)),
                None => {
                    kept.tagged.insert(key, class);
                }
            }
        }
        for (x, y) in both {
            self.unify(x, y);
        }
    }

    fn join(&mut self, a: Sort, b: Sort) {
        let class = |sorts: &Self, sort| match sort {
            Sort::Class(class) => Some(class),
            Sort::Channel(number) => Some(sorts.channel[number as usize - 1]),
            _ => None,
        };
        match (class(self, a), class(self, b)) {
            (Some(a), Some(b)) => self.unify(a, b),
            (Some(class), None) => self.put(class, b),
            (None, Some(class)) => self.put(class, a),
            (None, None) => {}
        }
    }

    /// A value that is not one of a class goes to a class.
    fn put(&mut self, class: ClassId, sort: Sort) {
        let class = self.find(class);
        match sort {
            Sort::Num(value) => self.list[class].values.extend([value]),
            Sort::Truth => self.list[class].values.extend([0, 1]),
            _ => {
                self.make_numeric(class);
            }
        }
    }

    fn key(&mut self, key: Key, ty: &Type) -> ClassId {
        match self.keys.get(&key) {
            Some(class) => *class,
            None => {
                let class = self.fresh(ty);
                self.keys.insert(key, class);
                class
            }
        }
    }

    /// The class of what a place holds; its indices become values of their dimensions.
    fn reference(&mut self, r: &Ref) -> ClassId {
        let array = (r.var, r.fields.clone());
        if !self.dynamic.contains(&array) {
            let index = r.constants().unwrap_or_default();
            return match self.setting.cell(r.var, &r.fields, &index) {
                Some(cell) => self.key(Key::Cell(cell), &r.ty),
                // Outside of its array: a fault.
                None => self.fresh(&r.ty),
            };
        }
        for (dimension, e) in r.index.iter().enumerate() {
            let sort = self.infer(e);
            let class = self.key(
                Key::Dim(r.var, r.fields.clone(), dimension),
                &Type::Int(quotient_program::IntType::INT),
            );
            self.join(Sort::Class(class), sort);
        }
        let class = self.key(Key::Array(r.var, r.fields.clone()), &r.ty);
        if let Var::Remote(function, v) = r.var {
            // The same cells as those that their threads know as their own.
            for thread in (0..self.setting.threads.len()).filter(|t| self.setting.threads[*t].0 == function) {
                let own = Var::Local(thread as u32, v);
                if self.dynamic.contains(&(own, r.fields.clone())) {
                    let other = self.key(Key::Array(own, r.fields.clone()), &r.ty);
                    self.unify(class, other);
                } else {
                    for (scalar, path) in self.setting.paths(own).into_iter().enumerate() {
                        if path == r.fields {
                            let other = self.key(Key::Cell((own, scalar as u32)), &r.ty);
                            self.unify(class, other);
                        }
                    }
                }
            }
        }
        class
    }

    /// What an expression is a value of; everything in it is joined with what it meets.
    pub(crate) fn infer(&mut self, e: &Exp) -> Sort {
        // Conditions have no class of their own: to walk over them again costs less than to remember them.
        let condition = is_condition(e);
        if !condition && let Some(sort) = self.known.get(e) {
            return *sort;
        }
        let sort = match e {
            Exp::Num(value) => Sort::Num(*value),
            Exp::Channel(number) => Sort::Channel(*number),
            Exp::Load(r) => Sort::Class(self.reference(r)),
            Exp::At(..) | Exp::Enabled(_) => Sort::Truth,
            Exp::Word(_) | Exp::Fault | Exp::LocationOf(_) if is_truth(e) => Sort::Truth,
            Exp::Word(_) | Exp::Fault | Exp::LocationOf(_) => Sort::Data,
            Exp::AtNamed(id, label) => {
                let sort = self.infer(id);
                let class = self.key(Key::Label(*label), &Type::Int(quotient_program::IntType::INT));
                self.join(Sort::Class(class), sort);
                let known = &self.setting.program.labels[*label as usize];
                let ids = self.setting.threads.iter().enumerate().filter(|(_, f)| **f == known.function);
                for id in ids.map(|(id, _)| id as i32).collect::<Vec<_>>() {
                    self.put(class, Sort::Num(id));
                }
                Sort::Truth
            }
            Exp::Unary(UnaryOp::Not, a) => {
                self.truth(a);
                Sort::Truth
            }
            Exp::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                let (a, b) = (self.infer(a), self.infer(b));
                self.join(a, b);
                Sort::Truth
            }
            Exp::Unary(..) | Exp::Binary(..) => self.arithmetic(e, false),
            Exp::All(list) | Exp::Any(list) => {
                list.iter().for_each(|e| self.truth(e));
                Sort::Truth
            }
            Exp::Count(list) => {
                list.iter().for_each(|e| self.truth(e));
                Sort::Data
            }
            Exp::If(c, a, b) => {
                self.truth(c);
                let class = self.fresh(&Type::Int(quotient_program::IntType::INT));
                let (a, b) = (self.infer(a), self.infer(b));
                let channels = [a, b].iter().any(|s| match s {
                    Sort::Channel(_) => true,
                    Sort::Class(c) => self.holds_channels(*c),
                    _ => false,
                });
                self.list[class].channels = channels;
                self.join(Sort::Class(class), a);
                self.join(Sort::Class(class), b);
                Sort::Class(class)
            }
            Exp::Of(what, channel) => {
                self.infer(channel);
                if *what == "len" { Sort::Data } else { Sort::Truth }
            }
            Exp::Poll(channel, _, patterns) => {
                self.message(channel, patterns);
                Sort::Truth
            }
        };
        if !condition {
            self.known.insert(e.clone(), sort);
        }
        sort
    }

    /// Only whether it is zero counts.
    pub(crate) fn truth(&mut self, e: &Exp) {
        match e {
            Exp::Load(_) => {
                self.arithmetic(e, true);
            }
            Exp::Unary(op, _) if *op != UnaryOp::Not => {
                self.arithmetic(e, true);
            }
            Exp::Binary(op, ..) if !matches!(op, BinaryOp::Eq | BinaryOp::Ne) => {
                self.arithmetic(e, true);
            }
            _ => {
                let sort = self.infer(e);
                if let Sort::Class(class) = sort {
                    self.make_numeric(class);
                }
            }
        }
    }

    /// Something is computed: a table if possible.
    fn arithmetic(&mut self, e: &Exp, truth: bool) -> Sort {
        let truth = truth || is_truth(e);
        if let Some(known) = self.atom_of[usize::from(truth)].get(e) {
            return self.atoms[*known]
                .result
                .map_or(if truth { Sort::Truth } else { Sort::Data }, Sort::Class);
        }
        let (mut leaves, mut data) = (Vec::new(), false);
        self.leaves(e, &mut leaves, &mut data);
        let classes: Vec<ClassId> = leaves.iter().filter_map(|leaf| self.class_of(leaf)).collect();
        if data || leaves.len() > 2 || leaves.is_empty() || classes.len() < leaves.len() {
            classes.into_iter().for_each(|class| {
                self.make_numeric(class);
            });
            return if truth { Sort::Truth } else { Sort::Data };
        }
        let result =
            (leaves.len() == 1 && !truth).then(|| self.fresh(&Type::Int(quotient_program::IntType::INT)));
        self.atom_of[usize::from(truth)].insert(e.clone(), self.atoms.len());
        let span = self.span;
        self.atoms.push(Atom { term: e.clone(), leaves, classes, truth, result, span });
        match result {
            Some(class) => Sort::Class(class),
            None if truth => Sort::Truth,
            None => Sort::Data,
        }
    }

    /// The places that arithmetic reads, each once; `data` if it reads anything else.
    fn leaves(&mut self, e: &Exp, leaves: &mut Vec<Exp>, data: &mut bool) {
        match e {
            Exp::Num(_) => {}
            Exp::Load(_) => {
                self.infer(e);
                if !leaves.contains(e) {
                    leaves.push(e.clone());
                }
            }
            Exp::Unary(_, a) => self.leaves(a, leaves, data),
            Exp::Binary(_, a, b) => {
                self.leaves(a, leaves, data);
                self.leaves(b, leaves, data);
            }
            _ => {
                *data = true;
                if let Sort::Class(class) = self.infer(e) {
                    self.make_numeric(class);
                }
                if let Exp::Channel(number) = e {
                    self.make_numeric(self.channel[*number as usize - 1]);
                }
            }
        }
    }

    fn message(&mut self, channel: &Exp, patterns: &[Pat]) {
        let Some(channels) = self.channels(channel) else { return };
        for (field, pattern) in patterns.iter().enumerate() {
            let sort = match pattern {
                Pat::Bind(r) => Sort::Class(self.reference(r)),
                Pat::Match(e) => self.infer(e),
                Pat::Ignore => continue,
            };
            let tag = self.tag_received(channel, field, patterns);
            self.meet(channels, (field, tag), sort);
        }
    }

    /// The class of the channels that an expression can name.
    fn channels(&mut self, channel: &Exp) -> Option<ClassId> {
        match self.infer(channel) {
            Sort::Class(class) => Some(class),
            Sort::Channel(number) => Some(self.channel[number as usize - 1]),
            _ => None,
        }
    }

    /// A field of the channels' messages meets a value.
    fn meet(&mut self, channels: ClassId, (field, tag): (usize, Option<i32>), sort: Sort) {
        let channels = self.find(channels);
        // Where no channel is known yet, the field is what is sent there.
        let names_channels = match sort {
            Sort::Channel(_) => true,
            Sort::Class(class) => self.holds_channels(class),
            _ => false,
        };
        let ty = if names_channels { Type::Channel } else { Type::Int(quotient_program::IntType::INT) };
        while self.list[channels].fields.len() <= field {
            let new = self.fresh(&ty);
            self.list[channels].fields.push(new);
        }
        let class = match tag {
            Some(tag) => match self.list[channels].tagged.get(&(tag, field)) {
                Some(class) => *class,
                None => {
                    let new = self.fresh(&ty);
                    self.list[channels].tagged.insert((tag, field), new);
                    new
                }
            },
            None => self.list[channels].fields[field],
        };
        self.join(Sort::Class(class), sort);
    }

    fn code(&mut self, of: &Specialised) {
        for thread in &of.threads {
            if let Some(e) = &thread.provided {
                self.truth(e);
            }
            for step in thread.locs.iter().flatten().flat_map(|l| &l.steps) {
                self.span = step.spans.first().copied();
                self.operation(&step.op);
                for act in &step.acts {
                    match act {
                        Act::Assign(r, e) => {
                            let (class, sort) = (self.reference(r), self.infer(e));
                            self.join(Sort::Class(class), sort);
                        }
                        Act::Assert(e) => self.truth(e),
                        Act::Evaluate(e) => {
                            self.infer(e);
                        }
                        Act::Forget(_) => {}
                    }
                }
            }
        }
        self.span = None;
        of.properties.iter().for_each(|e| self.truth(e));
    }

    fn operation(&mut self, op: &Op) {
        match op {
            Op::Always | Op::Else | Op::Enter | Op::Exit => {}
            Op::When(e) => self.truth(e),
            Op::Send { guard, channel, sorted, args } => {
                guard.iter().for_each(|e| self.truth(e));
                let sorts: Vec<Sort> = args.iter().map(|a| self.infer(a)).collect();
                let Some(channels) = self.channels(channel) else { return };
                // Fields without a value are zero.
                for field in 0..self.fields(channels).max(args.len()) {
                    let sort = sorts.get(field).copied().unwrap_or(Sort::Num(0));
                    let tag = self.tag_sent(channel, field, args);
                    self.meet(channels, (field, tag), sort);
                }
                if *sorted {
                    for field in 0..self.fields(channels) {
                        let class = self.list[self.find(channels)].fields[field];
                        self.make_numeric(class);
                    }
                }
            }
            Op::Receive { guard, channel, patterns, .. } => {
                guard.iter().for_each(|e| self.truth(e));
                self.message(channel, patterns);
            }
        }
    }

    /// What is there in the beginning.
    fn beginning(&mut self) {
        self.span = None;
        let unknown = Values::unknown();
        let setting = self.setting;
        let touched: BTreeSet<Var> = self
            .keys
            .keys()
            .filter_map(|key| match key {
                Key::Cell((var, _)) | Key::Array(var, _) => Some(*var),
                Key::Dim(..) | Key::Label(_) => None,
            })
            .collect();
        for var in setting.variables() {
            // As in [`Sorts::cell_class`]: what is known by another name.
            let remote = match var {
                Var::Local(thread, v) => Some(Var::Remote(setting.threads[thread as usize].0, v)),
                _ => None,
            };
            if !touched.contains(&var) && !remote.is_some_and(|remote| touched.contains(&remote)) {
                continue;
            }
            for (scalar, path) in setting.paths(var).into_iter().enumerate() {
                let cell = (var, scalar as u32);
                let Some(class) = self.cell_class(cell, &path) else { continue };
                self.begin(class, setting.before.cells.get(&cell).unwrap_or(&unknown));
                if setting.variable(var).scratch {
                    self.begin(class, &Values::one(0));
                }
            }
        }
        for (number, fields) in self.setting.before.messages.iter().enumerate() {
            for (field, values) in fields.iter().enumerate() {
                if let Some(class) = self.channel.get(number).and_then(|c| self.field(*c, field, None)) {
                    self.begin(class, values);
                }
            }
        }
    }

    fn begin(&mut self, class: ClassId, values: &Values) {
        for &value in &values.known {
            let named = usize::try_from(value - 1).ok().and_then(|at| self.channel.get(at)).copied();
            match named {
                Some(channel) if self.holds_channels(class) => self.unify(class, channel),
                _ => self.put(class, Sort::Num(value)),
            }
        }
        if values.any {
            let class = self.find(class);
            self.list[class].open = true;
            if self.list[class].channels {
                self.make_numeric(class);
                // It may be any channel: all of them keep their numbers.
                for at in 0..self.channel.len() {
                    let channel = self.find(self.channel[at]);
                    self.make_numeric(channel);
                }
            }
        }
    }
}

/// The arrays that are indexed by something that is not constant, and variables of threads that are not known.
fn dynamic(setting: &Setting<'_>, of: &Specialised) -> BTreeSet<(Var, Vec<u32>)> {
    let mut out = BTreeSet::new();
    let mut place = |r: &Ref| {
        if r.constants().is_none() || (matches!(r.var, Var::Remote(..)) && !r.index.is_empty()) {
            out.insert((r.var, r.fields.clone()));
        }
    };
    let bound = |patterns: &[Pat], place: &mut dyn FnMut(&Ref)| {
        patterns.iter().for_each(|p| {
            if let Pat::Bind(r) = p {
                place(r);
            }
        });
    };
    let mut look = |e: &Exp| match e {
        Exp::Load(r) => place(r),
        Exp::Poll(_, _, patterns) => bound(patterns, &mut place),
        _ => {}
    };
    of.properties.iter().for_each(|e| each(e, &mut look));
    for thread in &of.threads {
        thread.provided.iter().for_each(|e| each(e, &mut look));
        for step in thread.locs.iter().flatten().flat_map(|l| &l.steps) {
            each_in_op(&step.op, &mut look);
            step.acts.iter().for_each(|act| each_in_act(act, &mut look));
        }
    }
    for step in of.threads.iter().flat_map(|t| t.locs.iter().flatten()).flat_map(|l| &l.steps) {
        if let Op::Receive { patterns, .. } = &step.op {
            bound(patterns, &mut place);
        }
        for act in &step.acts {
            if let Act::Assign(r, _) = act {
                place(r);
            }
        }
    }
    debug_assert!(out.iter().all(|(var, _)| !setting.variable(*var).name.is_empty()));
    out
}
