//! Extension types: collections whose contents vary in length, with operations of their own.
//!
//! A state keeps the contents of a collection as rows of scalars ([`crate::CollectionType::columns`]). An [`Extension`]
//! says what the operations do to the rows; everything else (encoding, references inside, garbage, renaming) follows from
//! the columns' types and from whether the order of the rows means anything. The rows of an unordered collection are kept
//! sorted, so that equal contents are equal states.
//!
//! [`Set`], [`Bag`], [`Map`] and [`Queue`] are built in; a user's own type implements the trait and is put into a
//! [`crate::CollectionType`] like them. (After Robby, Dwyer, Hatcliff, Iosif: "Space-Reduction Strategies for Model
//! Checking Dynamic Software", section 3.5; there an extension is a Java class.)

use std::fmt;

/// What an operation of an extension works on: rows of `width` scalars, one after the other.
#[derive(Debug)]
pub struct Rows<'a> {
    /// The scalars.
    pub cells: &'a mut Vec<i32>,
    /// Scalars of a row.
    pub width: usize,
}

impl Rows<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The first row that starts with these scalars.
    pub fn find(&self, start: &[i32]) -> Option<usize> {
        (0..self.len()).find(|row| self.cells[row * self.width..].starts_with(start))
    }

    /// Takes a row out.
    pub fn remove(&mut self, row: usize) {
        self.cells.drain(row * self.width..(row + 1) * self.width);
    }
}

/// An operation that cannot be done: a fault, with what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub &'static str);

/// What a collection can do. Operations must be functions of the rows and the arguments. For an unordered collection they
/// must not depend on the order of the rows, and they must treat references as opaque: equality only.
pub trait Extension: fmt::Debug + Send + Sync {
    /// Its name, as in BIR's `extension … for Name`.
    fn name(&self) -> &'static str;

    /// Whether the order of the rows means anything.
    fn ordered(&self) -> bool;

    /// The number of an operation, and how many arguments it takes.
    fn operation(&self, name: &str) -> Option<(u32, usize)>;

    /// Does an operation, which may change the rows. Gives its value (0 when it has none).
    fn apply(&self, operation: u32, rows: &mut Rows<'_>, args: &[i32]) -> Result<i32, Refused>;

    /// Whether an operation only looks, so that it may stand in an expression.
    fn is_query(&self, operation: u32) -> bool;
}

/// `add`, `remove`, `contains`, `size`, `isEmpty`; at most one of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set;

/// Like [`Set`], with any number of each, and `count`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

/// `put` (key, value), `get`, `remove`, `contains` (by key), `size`, `isEmpty`. `get` of a missing key is a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Map;

/// `enqueue`, `dequeue`, `peek`, `contains`, `size`, `isEmpty`; first in, first out. `dequeue` and `peek` of an empty queue are faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue;

const ADD: u32 = 0;
const REMOVE: u32 = 1;
const CONTAINS: u32 = 2;
const SIZE: u32 = 3;
const IS_EMPTY: u32 = 4;
const COUNT: u32 = 5;
const GET: u32 = 6;
const PEEK: u32 = 7;

fn shared(name: &str) -> Option<(u32, usize)> {
    Some(match name {
        "contains" => (CONTAINS, 1),
        "size" => (SIZE, 0),
        "isEmpty" => (IS_EMPTY, 0),
        _ => return None,
    })
}

fn shared_apply(operation: u32, rows: &Rows<'_>, args: &[i32]) -> Result<i32, Refused> {
    match operation {
        CONTAINS => Ok(i32::from(rows.find(args).is_some())),
        SIZE => Ok(rows.len() as i32),
        IS_EMPTY => Ok(i32::from(rows.is_empty())),
        _ => Err(Refused("no such operation")),
    }
}

impl Extension for Set {
    fn name(&self) -> &'static str {
        "Set"
    }

    fn ordered(&self) -> bool {
        false
    }

    fn operation(&self, name: &str) -> Option<(u32, usize)> {
        match name {
            "add" => Some((ADD, 1)),
            "remove" => Some((REMOVE, 1)),
            _ => shared(name),
        }
    }

    fn apply(&self, operation: u32, rows: &mut Rows<'_>, args: &[i32]) -> Result<i32, Refused> {
        match operation {
            ADD => {
                if rows.find(args).is_none() {
                    rows.cells.extend_from_slice(args);
                }
                Ok(0)
            }
            REMOVE => {
                if let Some(row) = rows.find(args) {
                    rows.remove(row);
                }
                Ok(0)
            }
            _ => shared_apply(operation, rows, args),
        }
    }

    fn is_query(&self, operation: u32) -> bool {
        !matches!(operation, ADD | REMOVE)
    }
}

/// A bag is a set that keeps every copy.
impl Extension for Bag {
    fn name(&self) -> &'static str {
        "Bag"
    }

    fn ordered(&self) -> bool {
        Set.ordered()
    }

    fn operation(&self, name: &str) -> Option<(u32, usize)> {
        if name == "count" { Some((COUNT, 1)) } else { Set.operation(name) }
    }

    fn apply(&self, operation: u32, rows: &mut Rows<'_>, args: &[i32]) -> Result<i32, Refused> {
        match operation {
            ADD => {
                rows.cells.extend_from_slice(args);
                Ok(0)
            }
            COUNT => {
                Ok(rows.cells.chunks(rows.width.max(1)).filter(|row| row.starts_with(args)).count() as i32)
            }
            _ => Set.apply(operation, rows, args),
        }
    }

    fn is_query(&self, operation: u32) -> bool {
        Set.is_query(operation)
    }
}

impl Extension for Map {
    fn name(&self) -> &'static str {
        "Map"
    }

    fn ordered(&self) -> bool {
        false
    }

    fn operation(&self, name: &str) -> Option<(u32, usize)> {
        match name {
            "put" => Some((ADD, 2)),
            "get" => Some((GET, 1)),
            "remove" => Some((REMOVE, 1)),
            _ => shared(name),
        }
    }

    fn apply(&self, operation: u32, rows: &mut Rows<'_>, args: &[i32]) -> Result<i32, Refused> {
        let found = args.first().and_then(|key| rows.find(&[*key]));
        match operation {
            ADD => {
                if let Some(row) = found {
                    rows.remove(row);
                }
                rows.cells.extend_from_slice(args);
                Ok(0)
            }
            REMOVE => {
                if let Some(row) = found {
                    rows.remove(row);
                }
                Ok(0)
            }
            GET => {
                let row = found.ok_or(Refused("the map has no such key"))?;
                Ok(rows.cells.get(row * rows.width + 1).copied().unwrap_or(0))
            }
            _ => shared_apply(operation, rows, args),
        }
    }

    fn is_query(&self, operation: u32) -> bool {
        Set.is_query(operation)
    }
}

impl Extension for Queue {
    fn name(&self) -> &'static str {
        "Queue"
    }

    fn ordered(&self) -> bool {
        true
    }

    fn operation(&self, name: &str) -> Option<(u32, usize)> {
        match name {
            "enqueue" => Some((ADD, 1)),
            "dequeue" => Some((REMOVE, 0)),
            "peek" => Some((PEEK, 0)),
            _ => shared(name),
        }
    }

    fn apply(&self, operation: u32, rows: &mut Rows<'_>, args: &[i32]) -> Result<i32, Refused> {
        let first = || rows.cells.first().copied().ok_or(Refused("the queue is empty"));
        match operation {
            ADD => {
                rows.cells.extend_from_slice(args);
                Ok(0)
            }
            REMOVE => {
                let value = first()?;
                rows.remove(0);
                Ok(value)
            }
            PEEK => first(),
            _ => shared_apply(operation, rows, args),
        }
    }

    fn is_query(&self, operation: u32) -> bool {
        Set.is_query(operation)
    }
}

/// The built-in extension with this name.
pub fn built_in(name: &str) -> Option<std::sync::Arc<dyn Extension>> {
    Some(match name {
        "Set" => std::sync::Arc::new(Set),
        "Bag" => std::sync::Arc::new(Bag),
        "Map" => std::sync::Arc::new(Map),
        "Queue" => std::sync::Arc::new(Queue),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Extension, Rows, built_in};

    fn run(
        extension: &dyn Extension,
        cells: &mut Vec<i32>,
        width: usize,
        name: &str,
        args: &[i32],
    ) -> Option<i32> {
        let (operation, arity) = extension.operation(name)?;
        assert_eq!(arity, args.len());
        extension.apply(operation, &mut Rows { cells, width }, args).ok()
    }

    #[test]
    fn the_built_in_collections() {
        let set = built_in("Set").expect("built in");
        let mut cells = vec![];
        run(&*set, &mut cells, 1, "add", &[3]);
        run(&*set, &mut cells, 1, "add", &[3]);
        assert_eq!((cells.len(), run(&*set, &mut cells, 1, "contains", &[3])), (1, Some(1)));
        let bag = built_in("Bag").expect("built in");
        run(&*bag, &mut cells, 1, "add", &[3]);
        assert_eq!(run(&*bag, &mut cells, 1, "count", &[3]), Some(2));
        run(&*bag, &mut cells, 1, "remove", &[3]);
        assert_eq!(run(&*bag, &mut cells, 1, "size", &[]), Some(1));
        let map = built_in("Map").expect("built in");
        let mut cells = vec![];
        run(&*map, &mut cells, 2, "put", &[1, 10]);
        run(&*map, &mut cells, 2, "put", &[2, 20]);
        run(&*map, &mut cells, 2, "put", &[1, 11]);
        assert_eq!(run(&*map, &mut cells, 2, "get", &[1]), Some(11));
        assert_eq!(run(&*map, &mut cells, 2, "get", &[9]), None, "a missing key is refused");
        assert_eq!(run(&*map, &mut cells, 2, "size", &[]), Some(2));
        let queue = built_in("Queue").expect("built in");
        let mut cells = vec![];
        run(&*queue, &mut cells, 1, "enqueue", &[7]);
        run(&*queue, &mut cells, 1, "enqueue", &[5]);
        assert_eq!(run(&*queue, &mut cells, 1, "dequeue", &[]), Some(7));
        assert_eq!(run(&*queue, &mut cells, 1, "peek", &[]), Some(5));
        assert!(built_in("Heap").is_none());
    }
}
