//! The draft while a step changes what exists: new objects, new segments, deleted objects.

use quotient_program::{Allocation, ArrayTypeId};

use crate::machine::Machine;
use crate::state::kind::{Kind, LONGEST, Object};
use crate::state::shapes::{Instance, Shape, WORKING};
use crate::step::eval::Frame;

/// Most objects: references are 16 bits.
pub(crate) const MOST_OBJECTS: usize = u16::MAX as usize;

impl Machine {
    /// Gives the draft the working shape, where segments can be added and dropped.
    pub(crate) fn work(&mut self) -> &mut Shape {
        let number = self.shape_number(self.draft.as_ptr().cast()) as usize;
        if number != WORKING as usize {
            let (working, rest) = self.shapes.list.split_at_mut(1);
            working[0].work_on(&rest[number - 1]);
            self.set_shape_number(WORKING);
        }
        self.heap.dirty = true;
        let working = &mut self.shapes.list[WORKING as usize];
        working.open = false;
        working
    }

    /// Adds a zeroed segment at the end of the draft, which must be in the working shape.
    pub(crate) fn append(&mut self, size: u32) -> u32 {
        let shape = &mut self.shapes.list[WORKING as usize];
        let at = shape.bytes;
        shape.bytes += size;
        shape.words = shape.bytes.div_ceil(8);
        self.draft.resize(shape.words as usize, 0);
        at
    }

    /// The object that a reference leads to; `None` for null.
    #[inline]
    pub(crate) fn object_at(&self, memory: *const u8, reference: i32) -> Option<(Kind, u32)> {
        let objects = &self.shape_at(memory).objects;
        objects.get((reference as usize).wrapping_sub(1)).map(|o| (Kind(o.kind), o.at))
    }

    /// Adds an object with zero contents; gives the reference, or notes that there is no room and gives null.
    pub(crate) fn add_object(&mut self, kind: Kind) -> i32 {
        let size = self.layout.object_size(kind);
        self.work();
        let at = self.append(size);
        let objects = &mut self.shapes.list[WORKING as usize].objects;
        let instance = Instance { kind: kind.0, at };
        match objects.iter().position(|o| Kind(o.kind) == Kind::FREE) {
            Some(free) => {
                objects[free] = instance;
                free as i32 + 1
            }
            None if objects.len() < MOST_OBJECTS => {
                objects.push(instance);
                objects.len() as i32
            }
            None => {
                self.exhausted = Some(format!("more than {MOST_OBJECTS} objects at once").into());
                0
            }
        }
    }

    /// Makes what an allocation says. `lengths` are those of array dimensions; a negative one gives `None`.
    pub(crate) fn allocate(
        &mut self,
        what: &Allocation,
        lengths: &[i32],
        frame: Frame,
    ) -> Option<Result<i32, u32>> {
        match what {
            Allocation::Record(id) => {
                let reference = self.add_object(Kind::record(*id));
                let init = self.code.record_inits[id.0 as usize];
                Some(self.initialise(reference, 0, init, frame))
            }
            Allocation::Array(id, _) => self.allocate_array(*id, lengths, frame),
            Allocation::Channel(id) => Some(Ok(self.add_object(Kind::channel(*id)))),
            Allocation::Lock => Some(Ok(self.add_object(Kind::LOCK))),
            Allocation::Collection(id) => Some(Ok(self.add_object(Kind::collection(*id, 0)))),
        }
    }

    /// Runs code that gives initial values, with `offset` bytes into the object as its base.
    fn initialise(
        &mut self,
        reference: i32,
        offset: u32,
        init: Option<u32>,
        frame: Frame,
    ) -> Result<i32, u32> {
        let Some(init) = init else { return Ok(reference) };
        let Some((_, at)) = self.object_at(self.draft.as_ptr().cast(), reference) else {
            return Ok(reference);
        };
        let memory = self.draft.as_mut_ptr().cast();
        self.run(init, Frame { memory, base: at + offset, ..frame })?;
        Ok(reference)
    }

    fn allocate_array(&mut self, id: ArrayTypeId, lengths: &[i32], frame: Frame) -> Option<Result<i32, u32>> {
        let (&length, inner) = lengths.split_first()?;
        let length = u32::try_from(length).ok()?;
        if length > LONGEST {
            self.exhausted = Some(format!("an array of more than {LONGEST} elements").into());
            return Some(Ok(0));
        }
        let reference = self.add_object(Kind::array(id, length));
        let layout = &self.layout.objects.arrays[id.0 as usize];
        let (header, stride) = (layout.header, layout.size);
        let init = self.code.element_inits[id.0 as usize];
        for index in 0..length {
            if self.exhausted.is_some() {
                break;
            }
            let offset = header + index * stride;
            if let Err(site) = self.initialise(reference, offset, init, frame) {
                return Some(Err(site));
            }
            let next = match self.program.array_types[id.0 as usize].element {
                quotient_program::Type::Reference(quotient_program::Referent::Array(next))
                    if !inner.is_empty() =>
                {
                    next
                }
                _ => continue,
            };
            let element = match self.allocate_array(next, inner, frame)? {
                Ok(element) => element,
                fault => return Some(fault),
            };
            let memory = self.draft.as_mut_ptr().cast::<u8>();
            if let Some((_, at)) = self.object_at(memory, reference) {
                // SAFETY: the element, a reference, lies inside the array.
                unsafe { memory.add((at + offset) as usize).cast::<u16>().write_unaligned(element as u16) };
            }
        }
        Some(Ok(reference))
    }

    /// Ends an object that exists. Its number stays taken as long as there are references to it.
    pub(crate) fn delete_object(&mut self, reference: i32) {
        let shape = self.work();
        if let Some(object) = shape.objects.get_mut((reference as usize).wrapping_sub(1)) {
            object.kind = Kind::DELETED.0;
        }
    }

    /// Gives a collection another number of rows: a new segment, zeroed. Gives its first byte.
    pub(crate) fn resize_collection(&mut self, reference: i32, rows: u32) -> Option<u32> {
        let (kind, at) = self.object_at(self.draft.as_ptr().cast(), reference)?;
        let Object::Collection(id, old) = kind.object() else { return None };
        if old == rows {
            return Some(at);
        }
        if rows > LONGEST {
            self.exhausted = Some(format!("a collection of more than {LONGEST} rows").into());
            return Some(at);
        }
        let kind = Kind::collection(id, rows);
        let size = self.layout.object_size(kind);
        self.work();
        let at = self.append(size);
        self.shapes.list[WORKING as usize].objects[reference as usize - 1] = Instance { kind: kind.0, at };
        Some(at)
    }
}
