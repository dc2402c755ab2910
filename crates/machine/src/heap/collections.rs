//! Operations of collections: the rows are read out, the extension works on them, they are written back.

use quotient_program::{CollectionTypeId, Refused, Rows};

use crate::machine::Machine;
use crate::state::kind::Object;

impl Machine {
    /// Reads the rows of a collection; `None` when the reference leads to none.
    pub(crate) fn read_rows(
        &self,
        memory: *const u8,
        reference: i32,
        rows: &mut Vec<i32>,
    ) -> Option<CollectionTypeId> {
        let (kind, at) = self.object_at(memory, reference)?;
        let Object::Collection(id, count) = kind.object() else { return None };
        let layout = &self.layout.objects.collections[id.0 as usize];
        rows.clear();
        for row in 0..count {
            for (offset, cell) in &layout.cells {
                // SAFETY: the cell lies inside the collection's segment.
                rows.push(unsafe { cell.load(memory.add((at + row * layout.size + offset) as usize)) });
            }
        }
        Some(id)
    }

    /// Writes rows back to a collection of the draft. Those of an unordered one are sorted.
    pub(crate) fn write_rows(&mut self, id: CollectionTypeId, reference: i32, rows: &mut Vec<i32>) {
        let layout = self.layout.clone();
        let layout = &layout.objects.collections[id.0 as usize];
        let width = layout.cells.len();
        let count = rows.len() / width.max(1);
        for row in rows.chunks_mut(width.max(1)) {
            for (value, (_, cell)) in row.iter_mut().zip(&layout.cells) {
                *value = cell.wrap(*value);
            }
        }
        if !self.program.collection_types[id.0 as usize].extension.ordered() {
            sort_rows(rows, width);
        }
        let Some(at) = self.resize_collection(reference, count as u32) else { return };
        if self.exhausted.is_some() {
            return;
        }
        self.heap.dirty = true;
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        for (row, values) in rows.chunks(width.max(1)).enumerate() {
            for (value, (offset, cell)) in values.iter().zip(&layout.cells) {
                // SAFETY: the segment was given room for that many rows.
                unsafe { cell.store(memory.add((at + row as u32 * layout.size + offset) as usize), *value) };
            }
        }
    }

    /// Does an operation of a collection; `None` when the reference leads to none. Only an update is written back.
    pub(crate) fn collection_operation(
        &mut self,
        memory: *const u8,
        reference: i32,
        operation: u32,
        args: &[i32],
        update: bool,
    ) -> Option<Result<i32, Refused>> {
        let mut rows = std::mem::take(&mut self.heap.rows);
        let id = self.read_rows(memory, reference, &mut rows);
        let result = id.map(|id| {
            let ty = &self.program.collection_types[id.0 as usize];
            let (extension, width) = (ty.extension.clone(), ty.columns.len());
            let result = extension.apply(operation, &mut Rows { cells: &mut rows, width }, args);
            if update && result.is_ok() {
                self.write_rows(id, reference, &mut rows);
            }
            result
        });
        self.heap.rows = rows;
        result
    }
}

/// Sorts rows of `width` scalars.
pub(crate) fn sort_rows(rows: &mut Vec<i32>, width: usize) {
    if width <= 1 {
        rows.sort_unstable();
        return;
    }
    let mut list: Vec<Vec<i32>> = rows.chunks(width).map(<[i32]>::to_vec).collect();
    list.sort_unstable();
    rows.clear();
    list.iter().for_each(|row| rows.extend_from_slice(row));
}
