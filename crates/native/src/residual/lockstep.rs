//! Do two places go on with the same code, up to a renaming of bytes of their frames?
//!
//! Both are walked in lockstep. Instructions, registers, constants and addresses of globals must be equal (constant data may
//! lie elsewhere if it is equal); targets of jumps and bytes of the frames correspond one-to-one; called functions are
//! equal, or correspond themselves, which may be assumed while it is being shown (a difference would be found
//! anyway). A frame of which an address is given away or in which an index is used must be laid out alike, since nothing is
//! known about the extent of what lies there.

use std::collections::{HashMap, HashSet};

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::escape::analyse;
use super::image::Image;

/// Corresponding bytes of two frames.
#[derive(Default, Debug)]
pub struct Slots {
    identity: bool,
    /// Addresses of single variables may be taken.
    loose: bool,
    there: HashMap<i64, i64>,
    back: HashMap<i64, i64>,
}

impl Slots {
    /// Every byte corresponds to the one at the same place.
    pub fn identity() -> Slots {
        Slots { identity: true, ..Slots::default() }
    }

    /// The byte of the second frame.
    pub fn second(&self, first: i32) -> Option<i32> {
        if self.identity {
            return Some(first);
        }
        self.there.get(&first.into()).map(|second| *second as i32)
    }

    fn put(&mut self, first: i64, second: i64, size: usize) -> bool {
        if first != second && self.identity {
            return false;
        }
        (0..size.max(1) as i64).all(|k| {
            let (x, y) = (first + k, second + k);
            *self.there.entry(x).or_insert(y) == y && *self.back.entry(y).or_insert(x) == x
        })
    }

    /// From here on, and so far, every byte must correspond to the one at the same place.
    fn must_be_identity(&mut self) -> bool {
        self.identity = true;
        self.there.iter().all(|(x, y)| x == y)
    }
}

/// The bytes that correspond when code at `a` and at `b` is the same up to renaming.
///
/// # Errors
/// The first difference.
pub fn compare(image: &Image, a: u64, b: u64) -> Result<Slots, String> {
    let mut assumed = HashSet::new();
    let slots = walk(image, a, b, &mut assumed)?;
    Ok(slots)
}

fn walk(image: &Image, a: u64, b: u64, assumed: &mut HashSet<(u64, u64)>) -> Result<Slots, String> {
    let mut slots = Slots::default();
    let (mut there, mut back): (HashMap<u64, u64>, HashMap<u64, u64>) = Default::default();
    let mut left = vec![(a, b)];
    slots.loose = loose(image, a) && loose(image, b);
    while let Some((x, y)) = left.pop() {
        match (there.get(&x), back.get(&y)) {
            (Some(known), _) if *known == y => continue,
            (None, None) => {}
            _ => return Err(format!("jumps to {x:#x} and {y:#x} do not correspond")),
        }
        there.insert(x, y);
        back.insert(y, x);
        let (Some(i), Some(j)) = (image.decode(x), image.decode(y)) else {
            return Err(format!("no instruction at {x:#x} or {y:#x}"));
        };
        if i.mnemonic() == Mnemonic::Pop && i.op0_register() != Register::RBP {
            let saved = |place, i: &Instruction| {
                image
                    .function(place)
                    .and_then(|f| image.saved(f, i.op0_register()))
                    .ok_or("a register is popped")
            };
            if !slots.put(saved(x, &i)?, saved(y, &j)?, 8) {
                return Err("saved registers do not correspond".to_owned());
            }
        }
        same(image, &i, &j, &mut slots, assumed).map_err(|why| format!("{why} ({x:#x} and {y:#x})"))?;
        let (after, others) = (image.successors(&i)?, image.successors(&j)?);
        if after.len() != others.len() {
            return Err(format!("only one of them ends ({x:#x} and {y:#x})"));
        }
        left.extend(after.into_iter().zip(others));
    }
    Ok(slots)
}

fn same(
    image: &Image,
    i: &Instruction,
    j: &Instruction,
    slots: &mut Slots,
    assumed: &mut HashSet<(u64, u64)>,
) -> Result<(), String> {
    let different = |what: &str| Err(what.to_owned());
    if i.code() != j.code() && !(jumps(i) && i.mnemonic() == j.mnemonic()) && !resizes(i, j) {
        return different("different instructions");
    }
    let prefixes = |i: &Instruction| (i.has_lock_prefix(), i.has_rep_prefix(), i.has_repne_prefix());
    if prefixes(i) != prefixes(j) || i.op_count() != j.op_count() {
        return different("different instructions");
    }
    if jumps(i) || resizes(i, j) {
        return Ok(());
    }
    for operand in 0..i.op_count() {
        let kind = i.op_kind(operand);
        if kind != j.op_kind(operand) {
            return different("different operands");
        }
        match kind {
            OpKind::Register if i.op_register(operand) == j.op_register(operand) => {}
            OpKind::Register => return different("different registers"),
            OpKind::Memory => memory(image, i, j, slots)?,
            OpKind::NearBranch64 => {
                let (x, y) = (i.near_branch_target(), j.near_branch_target());
                if x != y && assumed.insert((x, y)) {
                    if image.function(x).is_none() || image.function(y).is_none() {
                        return different("different functions are called");
                    }
                    walk(image, x, y, assumed).map_err(|why| format!("called functions differ: {why}"))?;
                }
            }
            _ if i.immediate(operand) == j.immediate(operand) => {}
            _ => return different("different constants"),
        }
    }
    Ok(())
}

/// Do addresses within the frame of this function go nowhere but to hooks, which only take note of them?
fn loose(image: &Image, place: u64) -> bool {
    let Some(function) = image.function(place) else { return false };
    let Ok(code) = image.instructions(function) else { return false };
    let called = |i: &Instruction| matches!(i.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
    let writes_behind = |i: &Instruction| {
        image.called(i).is_some_and(|name| name.contains("compare_exchange") || name.starts_with("pthread_"))
    };
    !code.values().any(|(i, _)| called(i) && writes_behind(i)) && !analyse(image, function, &code).escapes
}

fn jumps(i: &Instruction) -> bool {
    matches!(i.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
}

/// Do both reserve or give back a part of the stack? Frames may have different sizes.
fn resizes(i: &Instruction, j: &Instruction) -> bool {
    let resizes = |i: &Instruction| {
        matches!(i.mnemonic(), Mnemonic::Sub | Mnemonic::Add)
            && i.op0_register() == Register::RSP
            && !matches!(i.op1_kind(), OpKind::Register | OpKind::Memory)
    };
    resizes(i) && resizes(j) && i.mnemonic() == j.mnemonic()
}

fn memory(image: &Image, i: &Instruction, j: &Instruction, slots: &mut Slots) -> Result<(), String> {
    let shape = |i: &Instruction| {
        let parts = (i.memory_base(), i.memory_index(), i.memory_index_scale());
        (parts, i.memory_size(), i.segment_prefix())
    };
    if shape(i) != shape(j) {
        return Err("different accesses to memory".to_owned());
    }
    let size = i.memory_size().size();
    if i.is_ip_rel_memory_operand() {
        let (x, y) = (i.ip_rel_memory_address(), j.ip_rel_memory_address());
        let constant = i.mnemonic() != Mnemonic::Lea
            && image.constant(x, size).is_some_and(|bytes| image.constant(y, size) == Some(bytes));
        return if x == y || constant { Ok(()) } else { Err("different globals".to_owned()) };
    }
    let (x, y) = (i.memory_displacement64() as i64, j.memory_displacement64() as i64);
    if i.memory_base() != Register::RBP {
        return if x == y { Ok(()) } else { Err("different offsets".to_owned()) };
    }
    let whole = i.mnemonic() == Mnemonic::Lea && !slots.loose || i.memory_index() != Register::None;
    if whole && !slots.must_be_identity() || !slots.put(x, y, size) {
        return Err("places in the frames do not correspond one-to-one".to_owned());
    }
    Ok(())
}
