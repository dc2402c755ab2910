//! Operations of the built-in collections, on rows of plain values.

use super::state::{Class, Fault, Object, Value};

/// Does an operation; `Err(None)` when there is no such operation.
pub(super) fn apply(
    class: Class,
    object: &mut Object,
    name: &str,
    args: &[Value],
) -> Result<Value, Option<Fault>> {
    let width = if class == Class::Map { 2 } else { 1 };
    let rows = &mut object.cells;
    let count = rows.len() / width;
    let found = args.first().and_then(|key| (0..count).find(|r| rows[r * width] == *key));
    let done = Ok(Value::Int(0));
    match (class, name) {
        (_, "size") => Ok(Value::Int(count as i32)),
        (_, "isEmpty") => Ok(Value::Bool(count == 0)),
        (_, "contains") => Ok(Value::Bool(found.is_some())),
        (Class::Bag, "count") => {
            Ok(Value::Int(rows.iter().filter(|v| Some(*v) == args.first()).count() as i32))
        }
        (Class::Set, "add") if found.is_some() => done,
        (Class::Set | Class::Bag, "add") => {
            rows.push(args[0].clone());
            rows.sort();
            done
        }
        (Class::Set | Class::Bag, "remove") => {
            if let Some(row) = found {
                rows.remove(row);
            }
            done
        }
        (Class::Map, "put") => {
            match found {
                Some(row) => rows[row * 2 + 1] = args[1].clone(),
                None => rows.extend_from_slice(args),
            }
            let mut pairs: Vec<Vec<Value>> = rows.chunks(2).map(<[Value]>::to_vec).collect();
            pairs.sort();
            *rows = pairs.concat();
            done
        }
        (Class::Map, "remove") => {
            if let Some(row) = found {
                rows.drain(row * 2..row * 2 + 2);
            }
            done
        }
        (Class::Map, "get") => match found {
            Some(row) => Ok(rows[row * 2 + 1].clone()),
            None => Err(Some(Fault("collection"))),
        },
        (Class::Queue, "enqueue") => {
            rows.push(args[0].clone());
            done
        }
        (Class::Queue, "dequeue") if !rows.is_empty() => Ok(rows.remove(0)),
        (Class::Queue, "peek") if !rows.is_empty() => Ok(rows[0].clone()),
        (Class::Queue, "dequeue" | "peek") => Err(Some(Fault("collection"))),
        _ => Err(None),
    }
}
