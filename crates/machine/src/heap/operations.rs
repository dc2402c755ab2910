//! Instructions that work on objects. Their operands come from the stack; those that change what exists work on the draft.

use quotient_program::{Allocation, LockOperation, LockQuery, Part};

use crate::code::SiteAt;
use crate::heap::locks::Misuse;
use crate::machine::Machine;
use crate::state::kind::{Kind, Object};
use crate::step::eval::Frame;
use crate::step::finish::{INTERRUPTED, Pending};

/// An instruction on objects.
#[derive(Clone, Debug)]
pub(crate) enum HeapOp {
    /// Lengths of array dimensions -> the reference.
    New {
        what: Allocation,
        negative: SiteAt,
    },
    /// A reference.
    Delete {
        null: SiteAt,
        dangling: SiteAt,
    },
    /// A reference.
    Lock {
        operation: LockOperation,
        misuse: SiteAt,
        no_lock: SiteAt,
    },
    /// A reference -> truth.
    LockQuery {
        query: LockQuery,
        no_lock: SiteAt,
    },
    /// A thread -> truth.
    Terminated {
        none: SiteAt,
    },
    /// A reference -> truth.
    InstanceOf {
        record: u32,
        exact: bool,
    },
    /// A reference -> the same.
    Cast {
        record: u32,
        wrong: SiteAt,
        dangling: SiteAt,
    },
    /// A reference -> the length.
    ArrayLength {
        null: SiteAt,
        dangling: SiteAt,
    },
    /// Two references -> truth.
    Reachable,
    /// A reference and arguments -> the result.
    Collection {
        operation: u32,
        args: u32,
        update: bool,
        null: SiteAt,
        refused: SiteAt,
    },
    /// Two bounds -> one of the integers between.
    PickRange,
    /// A reference -> the first scalar of a row.
    PickMember {
        null: SiteAt,
    },
    /// Arguments, below them the function for a call by value.
    Call {
        call: u32,
    },
    /// A value.
    Return,
    /// A reference. The sites of exceptions that nobody catches start at `unhandled`, one per record.
    Throw {
        null: SiteAt,
        unhandled: SiteAt,
    },
    /// A truth.
    Assume,
    EndThread,
    Halt,
}

impl HeapOp {
    /// How many operands it takes.
    pub(crate) fn operands(&self, calls: &[crate::code::calls::Call]) -> usize {
        match self {
            HeapOp::New { what: Allocation::Array(_, lengths), .. } => lengths.len(),
            HeapOp::New { .. } | HeapOp::EndThread | HeapOp::Halt => 0,
            HeapOp::Collection { args, .. } => *args as usize + 1,
            HeapOp::PickRange | HeapOp::Reachable => 2,
            HeapOp::Call { call } => calls[*call as usize].operands as usize,
            _ => 1,
        }
    }
}

impl Machine {
    /// Does an instruction on objects. `None` when it has no result.
    #[inline(never)]
    pub(crate) fn heap_operation(&mut self, index: u32, frame: Frame) -> Result<Option<i32>, SiteAt> {
        let operands = std::mem::take(&mut self.heap.operands);
        let result = self.heap_operation_on(index, &operands, frame);
        self.heap.operands = operands;
        result
    }

    fn heap_operation_on(
        &mut self,
        index: u32,
        operands: &[i32],
        frame: Frame,
    ) -> Result<Option<i32>, SiteAt> {
        let first = operands.first().copied().unwrap_or(0);
        match self.code.operations[index as usize] {
            HeapOp::New { ref what, negative } => {
                let what = what.clone();
                match self.allocate(&what, operands, frame) {
                    Some(reference) => reference.map(Some),
                    None => Err(negative),
                }
            }
            HeapOp::Delete { null, dangling } => {
                self.note(first, Part::Existence);
                self.existing(frame.memory, first, null, dangling)?;
                self.delete_object(first);
                Ok(None)
            }
            HeapOp::Lock { operation, misuse, no_lock } => {
                self.note(first, Part::Lock);
                self.lock_operation(operation, first, frame.thread).map_err(|m| match m {
                    Misuse::NotYours => misuse,
                    Misuse::NoLock => no_lock,
                })?;
                Ok(None)
            }
            HeapOp::LockQuery { query, no_lock } => {
                self.note(first, Part::Lock);
                let answer = self.lock_query(query, frame.memory, first, frame.thread);
                answer.map(|a| Some(i32::from(a))).map_err(|_| no_lock)
            }
            HeapOp::Terminated { none } => {
                let threads = &self.shape_at(frame.memory).threads;
                let thread = threads.get((first as usize).wrapping_sub(1)).ok_or(none)?;
                Ok(Some(i32::from(!self.layout.runs(thread.kind))))
            }
            HeapOp::InstanceOf { record, exact } => {
                self.note(first, Part::Existence);
                let is = match self.object_at(frame.memory, first).map(|(kind, _)| kind.object()) {
                    Some(Object::Record(id)) if exact => id.0 == record,
                    Some(Object::Record(id)) => self.layout.objects.extends[id.0 as usize][record as usize],
                    _ => false,
                };
                Ok(Some(i32::from(is)))
            }
            HeapOp::Cast { record, wrong, dangling } => {
                self.note(first, Part::Existence);
                match self.object_at(frame.memory, first).map(|(kind, _)| kind.object()) {
                    Some(Object::Deleted) => Err(dangling),
                    Some(Object::Record(id))
                        if self.layout.objects.extends[id.0 as usize][record as usize] =>
                    {
                        Ok(Some(first))
                    }
                    None => Ok(Some(first)),
                    Some(_) => Err(wrong),
                }
            }
            HeapOp::ArrayLength { null, dangling } => {
                self.note(first, Part::Existence);
                match self.existing(frame.memory, first, null, dangling)?.0.object() {
                    Object::Array(_, length) => Ok(Some(length as i32)),
                    _ => Err(null),
                }
            }
            HeapOp::Collection { operation, update, null, refused, .. } => {
                self.note_rows(frame.memory, first);
                match self.collection_operation(frame.memory, first, operation, &operands[1..], update) {
                    None => Err(null),
                    Some(Err(_)) => Err(refused),
                    Some(Ok(value)) => Ok(Some(value)),
                }
            }
            HeapOp::Reachable => {
                let to = operands.get(1).copied().unwrap_or(0);
                Ok(Some(i32::from(self.leads_to(frame.memory, first, to))))
            }
            HeapOp::PickRange => {
                let (low, high) = (i64::from(first), i64::from(operands[1]));
                let count = high - low + 1;
                if count <= 0 {
                    return self.interrupt(Pending::Blocked);
                }
                if count > i64::from(u32::MAX) {
                    self.exhausted = Some("a choice of more than four billion values".to_owned().into());
                    return Ok(Some(first));
                }
                Ok(Some((low + i64::from(self.pick(count as u32))) as i32))
            }
            HeapOp::PickMember { null } => {
                self.note_rows(frame.memory, first);
                let mut rows = std::mem::take(&mut self.heap.rows);
                let id = self.read_rows(frame.memory, first, &mut rows).ok_or(null)?;
                let width = self.program.collection_types[id.0 as usize].columns.len().max(1);
                let count = rows.len() / width;
                let picked = (count > 0).then(|| rows[self.pick(count as u32) as usize * width]);
                self.heap.rows = rows;
                picked.map_or_else(|| self.interrupt(Pending::Blocked), |value| Ok(Some(value)))
            }
            HeapOp::Call { call } => {
                // The type of the first argument may decide what is called.
                self.note(first, Part::Existence);
                let function = self.callee(call, operands)?;
                self.heap.pending = Pending::Call { call, function };
                Ok(None)
            }
            HeapOp::Return => {
                self.heap.pending = Pending::Return(first);
                Ok(None)
            }
            HeapOp::Throw { null, unhandled } => {
                self.note(first, Part::Existence);
                self.existing(frame.memory, first, null, null)?;
                self.interrupt(Pending::Throw { reference: first, unhandled })
            }
            HeapOp::Assume if first == 0 => self.interrupt(Pending::Cut),
            HeapOp::Assume => Ok(None),
            HeapOp::EndThread => {
                self.heap.pending = Pending::EndThread;
                Ok(None)
            }
            HeapOp::Halt => {
                self.heap.pending = Pending::Halt;
                Ok(None)
            }
        }
    }

    fn interrupt<T>(&mut self, pending: Pending) -> Result<T, SiteAt> {
        self.heap.pending = pending;
        Err(INTERRUPTED)
    }

    /// The object that a reference leads to, or the site of the fault.
    #[inline]
    pub(crate) fn existing(
        &self,
        memory: *const u8,
        reference: i32,
        null: SiteAt,
        dangling: SiteAt,
    ) -> Result<(Kind, u32), SiteAt> {
        match self.object_at(memory, reference) {
            Some(found) if found.0.exists() => Ok(found),
            Some(_) => Err(dangling),
            None => Err(null),
        }
    }

    /// Which function a call means; its arguments are put aside.
    fn callee(&mut self, call: u32, operands: &[i32]) -> Result<u32, SiteAt> {
        use crate::code::calls::Target;
        let site = &self.code.calls[call as usize];
        let (by_value, none, arguments) = (matches!(site.callee, Target::Value), site.none, site.arguments);
        let args = if by_value { &operands[1..] } else { operands };
        let function = match site.callee {
            Target::Function(function) => Some(function),
            Target::Value => operands.first().and_then(|f| (*f as u32).checked_sub(1)),
            Target::Virtual(table) => self.resolve(table, args.first().copied().unwrap_or(0)),
        };
        let function = function.filter(|f| self.layout.runs(*f)).ok_or(none)?;
        if self.code.functions[function as usize].params.len() != args.len() {
            return Err(arguments);
        }
        self.heap.args.clear();
        self.heap.args.extend_from_slice(args);
        Ok(function)
    }
}
