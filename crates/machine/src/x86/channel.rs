//! Sends and receives on channels that hold messages. Which channel it is, is known only at run time; its kind is that of
//! the example state, and the code gives up if it is another one.

use quotient_program::{Expr, Pattern, Type};

use super::assembler::{Alu, Cond, Label, Mem, Reg};
use super::expression::{VALUES, scalar};
use super::location::{On, Translator};
use crate::state::cell::Cell;
use crate::state::layout::ChannelLayout;
use crate::state::shapes::Instance;

/// Longer queues are moved by the interpreter.
const MOST_BYTES: u32 = 512;

impl<'a> Translator<'a> {
    /// Computes where a channel lies into the register of `depth`. Gives its layout.
    fn channel(&mut self, channel: &Expr, on: On, depth: usize) -> Option<&'a ChannelLayout> {
        let reg = *VALUES.get(depth)?;
        let kinds = &self.shape.channels;
        let kind = kinds.first()?.kind;
        if kinds.iter().any(|c| c.kind != kind) {
            return self.channel_of_several(channel, on, depth);
        }
        self.channel_number(channel, on, depth)?;
        self.asm.load(reg, entry(reg, std::mem::offset_of!(Instance, at)), 4, false);
        self.buffered(kind)
    }

    /// As above, where channels of several kinds exist.
    fn channel_of_several(&mut self, channel: &Expr, on: On, depth: usize) -> Option<&'a ChannelLayout> {
        let reg = VALUES[depth];
        let kind = self.example_kind(channel)?;
        self.channel_number(channel, on, depth)?;
        self.asm.compare_mem(entry(reg, std::mem::offset_of!(Instance, kind)), kind as i32);
        self.asm.jump_if(Cond::NotEqual, self.give_up);
        self.asm.load(reg, entry(reg, std::mem::offset_of!(Instance, at)), 4, false);
        self.buffered(kind)
    }

    /// The number of a channel, counted from 0.
    fn channel_number(&mut self, channel: &Expr, on: On, depth: usize) -> Option<()> {
        self.value(channel, on, depth)?;
        self.asm.alu_constant(Alu::Sub, VALUES[depth], 1);
        self.asm.alu_constant(Alu::Cmp, VALUES[depth], self.shape.channels.len() as i32);
        self.asm.jump_if(Cond::AboveOrEqual, self.give_up);
        Some(())
    }

    fn buffered(&self, kind: u32) -> Option<&'a ChannelLayout> {
        let layout = &self.layout.channels[kind as usize];
        (layout.capacity > 0 && layout.length_size == 1).then_some(layout)
    }

    /// The kind of the channel in the example state, if the channel is a variable or an element of an array.
    fn example_kind(&self, channel: &Expr) -> Option<u32> {
        let place = match channel {
            Expr::Spanned(inner, _) => return self.example_kind(inner),
            Expr::Load(place) => place,
            _ => return None,
        };
        scalar(&place.ty)?;
        let at = self.first_byte(place)?;
        let bytes = self.example.get(at as usize / 8)?.to_le_bytes();
        let number = u32::from(bytes[at as usize % 8]);
        Some(self.shape.channels.get((number as usize).checked_sub(1)?)?.kind)
    }

    /// Loads the length of a channel into the register of `depth`; gives the capacity.
    pub(super) fn length(&mut self, channel: &Expr, on: On, depth: usize) -> Option<u32> {
        let reg = *VALUES.get(depth)?;
        let layout = self.channel(channel, on, depth)?;
        self.asm.load(reg, Mem { base: on.register(), index: Some((reg, 1)), at: 0 }, 1, false);
        Some(layout.capacity)
    }

    /// Tests for room, copies the state unless that was done, and adds a message.
    pub(super) fn send(&mut self, channel: &Expr, args: &[Expr], on: On, next: Label) -> Option<()> {
        let layout = self.channel(channel, on, 0)?;
        if args.len() != layout.fields.len() {
            return None;
        }
        self.asm.copy(Reg::R11, Reg::Rax);
        self.asm.load(Reg::Rax, in_channel(on.register(), 0), 1, false);
        self.asm.alu_constant(Alu::Cmp, Reg::Rax, layout.capacity as i32);
        self.asm.jump_if(Cond::AboveOrEqual, next);
        if on == On::State {
            self.copy_state();
        }
        // Where the message goes, in `rax`, while the fields are computed in the other registers.
        self.asm.multiply_constant(Reg::Rax, layout.message_size as i32);
        self.asm.alu(Alu::Add, Reg::Rax, Reg::R11);
        for (arg, (offset, cell)) in args.iter().zip(&layout.fields) {
            self.value(arg, on, 1)?;
            let at = (layout.length_size + offset) as i32;
            self.store(Mem { base: Reg::Rsi, index: Some((Reg::Rax, 1)), at }, VALUES[1], *cell);
        }
        self.asm.alu_byte(Alu::Add, in_channel(Reg::Rsi, 0), 1);
        Some(())
    }

    /// Tests for a matching message, copies the state unless that was done, takes the message out and stores its fields.
    pub(super) fn receive(
        &mut self,
        channel: &Expr,
        peek: bool,
        patterns: &[Pattern],
        on: On,
        next: Label,
    ) -> Option<()> {
        let layout = self.channel(channel, on, 0)?;
        if patterns.len() != layout.fields.len() || layout.capacity * layout.message_size > MOST_BYTES {
            return None;
        }
        self.asm.copy(Reg::R11, Reg::Rax);
        self.asm.load(Reg::Rax, in_channel(on.register(), 0), 1, false);
        self.asm.test(Reg::Rax);
        self.asm.jump_if(Cond::Equal, next);
        let field = |offset: u32| in_channel(on.register(), layout.length_size + offset);
        for (pattern, (offset, cell)) in patterns.iter().zip(&layout.fields) {
            if let Pattern::Match(wanted) = pattern {
                self.value(wanted, on, 0)?;
                self.asm.load(Reg::Rcx, field(*offset), cell.size(), *cell == Cell::I16);
                self.asm.alu(Alu::Cmp, Reg::Rax, Reg::Rcx);
                self.asm.jump_if(Cond::NotEqual, next);
            }
        }
        if on == On::State {
            self.copy_state();
            if !peek {
                self.remove_first(layout, on);
            }
        }
        for (pattern, (offset, cell)) in patterns.iter().zip(&layout.fields) {
            if let Pattern::Bind(place) = pattern {
                // The bounds of a range are left to the interpreter.
                let to = scalar(&place.ty).filter(|_| !matches!(place.ty, Type::Range(_)))?;
                // The message is still there. The place may have an index, computed in the other registers: of the successor without the message.
                self.asm.load(VALUES[0], field(*offset), cell.size(), *cell == Cell::I16);
                let mem = self.place(place, On::Draft, 1)?;
                if on == On::Draft && mem.index.is_some() {
                    return None;
                }
                self.store(mem, VALUES[0], to);
            }
        }
        if on == On::Draft && !peek {
            self.remove_first(layout, on);
        }
        Some(())
    }

    /// Moves all messages but the first one up, from the front on, so that it can be done in place. What lies after the last one is zero, so all places can be moved.
    fn remove_first(&mut self, layout: &ChannelLayout, on: On) {
        let mut bytes = (layout.capacity - 1) * layout.message_size;
        let mut done = 0;
        while bytes > 0 {
            let to = in_channel(Reg::Rsi, layout.length_size + done);
            let from = in_channel(on.register(), layout.length_size + layout.message_size + done);
            let size = match bytes {
                16.. => {
                    self.asm.copy_16(to, from);
                    16
                }
                8.. => {
                    self.asm.load_wide(Reg::Rdx, from);
                    self.asm.store_wide(to, Reg::Rdx);
                    8
                }
                _ => {
                    let size = if bytes >= 4 {
                        4
                    } else if bytes >= 2 {
                        2
                    } else {
                        1
                    };
                    self.asm.load(Reg::Rdx, from, size, false);
                    self.asm.store(to, Reg::Rdx, size);
                    size
                }
            };
            done += size;
            bytes -= size;
        }
        self.clear(in_channel(Reg::Rsi, layout.length_size + done), layout.message_size);
        self.asm.alu_byte(Alu::Sub, in_channel(Reg::Rsi, 0), 1);
    }
}

/// A byte of the channel that `r11` leads to.
fn in_channel(base: Reg, at: u32) -> Mem {
    Mem { base, index: Some((Reg::R11, 1)), at: at as i32 }
}

/// A field of the list's entry with the number in a register.
fn entry(number: Reg, field: usize) -> Mem {
    Mem { base: Reg::Rbx, index: Some((number, 8)), at: field as i32 }
}
