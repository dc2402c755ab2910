//! Locks: who holds one and how often lies in the object; who waits for one lies in the waiting thread's head.
//!
//! A thread waits for at most one lock at a time, so that waiting sets need no room in the lock: they are the threads whose
//! heads name it.

use quotient_program::{LockOperation, LockQuery};

use crate::machine::Machine;

/// A lock operation that must not be done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// Another thread holds it, or the running thread does not, or does not wait for it.
    NotYours,
    /// The reference is null or was deleted, or leads to something without a lock.
    NoLock,
}

/// A thread's head.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    lock: u16,
    count: u8,
    notified: u8,
}

impl Machine {
    /// Where the bytes of a lock are.
    fn lock_at(&self, memory: *const u8, reference: i32) -> Result<u32, Misuse> {
        match self.object_at(memory, reference) {
            Some((kind, at)) if self.layout.has_lock(kind) => Ok(at),
            _ => Err(Misuse::NoLock),
        }
    }

    /// Who holds a lock (the thread's number plus one), and how often.
    fn holder(memory: *const u8, at: u32) -> (u8, u8) {
        // SAFETY: a lock lies in the first bytes of its object.
        unsafe { (*memory.add(at as usize), *memory.add(at as usize + 1)) }
    }

    /// The thread that holds the lock of an object, as its number plus one; 0 when nobody does or it has none.
    pub(crate) fn lock_holder(&self, memory: *const u8, reference: i32) -> u8 {
        self.lock_at(memory, reference).map_or(0, |at| Machine::holder(memory, at).0)
    }

    fn set_holder(&mut self, at: u32, (thread, count): (u8, u8)) {
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        // SAFETY: as above.
        unsafe {
            *memory.add(at as usize) = thread;
            *memory.add(at as usize + 1) = count;
        }
        // The id of the holder may have been the last of an ended thread.
        self.heap.dirty = true;
    }

    fn head(&self, memory: *const u8, thread: u32) -> Head {
        if self.layout.head == 0 {
            return Head::default();
        }
        let at = self.shape_at(memory).heads[thread as usize] as usize;
        // SAFETY: a thread's head has four bytes.
        unsafe {
            Head {
                lock: memory.add(at).cast::<u16>().read_unaligned(),
                count: *memory.add(at + 2),
                notified: *memory.add(at + 3),
            }
        }
    }

    fn set_head(&mut self, thread: u32, head: Head) {
        if self.layout.head == 0 {
            return;
        }
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        let at = self.shape_at(memory).heads[thread as usize] as usize;
        // SAFETY: as above.
        unsafe {
            memory.add(at).cast::<u16>().write_unaligned(head.lock);
            *memory.add(at + 2) = head.count;
            *memory.add(at + 3) = head.notified;
        }
        self.heap.dirty = true;
    }

    /// Answers a question about a lock.
    pub(crate) fn lock_query(
        &self,
        query: LockQuery,
        memory: *const u8,
        reference: i32,
        thread: u32,
    ) -> Result<bool, Misuse> {
        let (holder, _) = Machine::holder(memory, self.lock_at(memory, reference)?);
        let own = holder == thread as u8 + 1;
        Ok(match query {
            LockQuery::Available => holder == 0 || own,
            LockQuery::Held => own,
            LockQuery::Notified => {
                let head = self.head(memory, thread);
                i32::from(head.lock) == reference && head.notified != 0
            }
        })
    }

    /// The threads that wait for a lock and have not been notified.
    fn waiting(&self, reference: i32) -> Vec<u32> {
        let memory = self.draft.as_ptr().cast::<u8>();
        let threads = self.shape_at(memory).threads.iter().enumerate();
        threads
            .filter(|(_, t)| self.layout.runs(t.kind))
            .map(|(t, _)| t as u32)
            .filter(|t| {
                let head = self.head(memory, *t);
                i32::from(head.lock) == reference && head.notified == 0
            })
            .collect()
    }

    /// Does something with a lock of the draft.
    pub(crate) fn lock_operation(
        &mut self,
        operation: LockOperation,
        reference: i32,
        thread: u32,
    ) -> Result<(), Misuse> {
        let memory = self.draft.as_ptr().cast::<u8>();
        let at = self.lock_at(memory, reference)?;
        let (holder, count) = Machine::holder(memory, at);
        let me = thread as u8 + 1;
        let own = if holder == me { Ok(()) } else { Err(Misuse::NotYours) };
        match operation {
            LockOperation::Lock => {
                if holder != 0 {
                    own?;
                }
                if count == u8::MAX {
                    self.exhausted = Some("a lock taken more than 255 times".to_owned().into());
                    return Ok(());
                }
                self.set_holder(at, (me, count + 1));
            }
            LockOperation::Unlock => {
                own?;
                self.set_holder(at, if count == 1 { (0, 0) } else { (me, count - 1) });
            }
            LockOperation::Wait => {
                own?;
                if self.head(memory, thread).lock != 0 {
                    return Err(Misuse::NotYours);
                }
                self.set_head(thread, Head { lock: reference as u16, count, notified: 0 });
                self.set_holder(at, (0, 0));
            }
            LockOperation::Unwait => {
                let head = self.head(memory, thread);
                if i32::from(head.lock) != reference || head.notified == 0 || holder != 0 {
                    return Err(Misuse::NotYours);
                }
                self.set_head(thread, Head::default());
                self.set_holder(at, (me, head.count));
            }
            LockOperation::Notify | LockOperation::NotifyAll => {
                own?;
                let mut waiting = self.waiting(reference);
                if operation == LockOperation::Notify && !waiting.is_empty() {
                    let pick = self.pick(waiting.len() as u32) as usize;
                    waiting = vec![waiting[pick]];
                }
                for other in waiting {
                    let head = self.head(self.draft.as_ptr().cast(), other);
                    self.set_head(other, Head { notified: 1, ..head });
                }
            }
        }
        Ok(())
    }
}
