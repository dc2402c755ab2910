//! Every instruction that the assembler can emit, with every register and every shape of operand, as iced-x86 reads it.
//!
//! Expectations are written as Intel syntax from the operands alone; iced knows nothing of our encoder and we nothing of its
//! tables. Displacements and constants are tried at the ends of their ranges.

use iced_x86::{Decoder, DecoderOptions, FastFormatter, Instruction};

use super::assembler::{Alu, Assembler, Cond, Mem, Reg};

const REGS: [Reg; 11] = [
    Reg::Rax,
    Reg::Rcx,
    Reg::Rdx,
    Reg::Rbx,
    Reg::Rsi,
    Reg::Rdi,
    Reg::R8,
    Reg::R9,
    Reg::R10,
    Reg::R11,
    Reg::R12,
];
const ALUS: [(Alu, &str); 6] = [
    (Alu::Add, "add"),
    (Alu::Or, "or"),
    (Alu::And, "and"),
    (Alu::Sub, "sub"),
    (Alu::Xor, "xor"),
    (Alu::Cmp, "cmp"),
];
const CONDS: [(Cond, &str); 7] = [
    (Cond::AboveOrEqual, "ae"),
    (Cond::Equal, "e"),
    (Cond::NotEqual, "ne"),
    (Cond::Less, "l"),
    (Cond::GreaterOrEqual, "ge"),
    (Cond::LessOrEqual, "le"),
    (Cond::Greater, "g"),
];
const CONSTANTS: [i32; 7] = [0, 1, -1, 127, -128, i32::MAX, i32::MIN];

/// The name of a register with so many bytes.
fn name(reg: Reg, size: u32) -> String {
    let number = reg as usize;
    if number >= 8 {
        let suffix = ["l", "w", "d", ""][size.trailing_zeros() as usize];
        return format!("r{number}{suffix}");
    }
    let low = ["al", "cl", "dl", "bl", "?", "?", "?", "?"];
    let word = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];
    match size {
        1 => low[number].into(),
        2 => word[number].into(),
        4 => format!("e{}", word[number]),
        _ => format!("r{}", word[number]),
    }
}

/// Hexadecimal with sign, as [`text`] writes the decoder's numbers.
fn hex(value: i64) -> String {
    if value < 0 { format!("-{:x}", value.unsigned_abs()) } else { format!("{value:x}") }
}

fn place(mem: Mem) -> String {
    let index = mem.index.map_or(String::new(), |(reg, scale)| format!("+{}*{scale}", name(reg, 8)));
    format!("[{}{index}{:+}]", name(mem.base, 8), mem.at)
}

/// Every shape of memory operand. `r12` is never a base by itself: it would need another form, which the assembler refuses.
fn places() -> Vec<Mem> {
    let mut all = Vec::new();
    for base in REGS {
        for at in [0, 8, -8, i32::MAX, i32::MIN] {
            if base != Reg::R12 {
                all.push(Mem { base, index: None, at });
            }
            for index in REGS {
                for scale in [1, 2, 4, 8] {
                    all.push(Mem { base, index: Some((index, scale)), at });
                }
            }
        }
    }
    all
}

/// What iced reads, one line for each instruction.
fn text(code: &[u8]) -> Vec<String> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut lines = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        assert!(!instruction.is_invalid(), "{code:02x?}");
        lines.push(line(&instruction));
    }
    lines
}

/// One instruction: mnemonic and operands, numbers in hexadecimal with their signs.
fn line(instruction: &Instruction) -> String {
    use iced_x86::OpKind;
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let mut operands = Vec::new();
    for op in 0..instruction.op_count() {
        operands.push(match instruction.op_kind(op) {
            OpKind::Register => format!("{:?}", instruction.op_register(op)).to_lowercase(),
            OpKind::Memory => memory(instruction),
            OpKind::NearBranch64 => format!("to {:x}", instruction.near_branch64()),
            OpKind::Immediate8 => hex(i64::from(instruction.immediate8())),
            OpKind::Immediate8to64 => hex(instruction.immediate8to64()),
            OpKind::Immediate16 => hex(i64::from(instruction.immediate16())),
            OpKind::Immediate64 => format!("{:x}", instruction.immediate64()),
            _ => hex(i64::from(instruction.immediate32() as i32)),
        });
    }
    let line = format!("{mnemonic} {}", operands.join(", "));
    // The formatter must agree on the mnemonic: prefixes that change nothing would show here.
    let mut formatted = String::new();
    FastFormatter::new().format(instruction, &mut formatted);
    assert!(formatted.starts_with(&mnemonic), "{formatted} is not {mnemonic}");
    line.trim_end().into()
}

fn memory(instruction: &Instruction) -> String {
    let base = format!("{:?}", instruction.memory_base()).to_lowercase();
    let index = match instruction.memory_index() {
        iced_x86::Register::None => String::new(),
        index => format!("+{}*{}", format!("{index:?}").to_lowercase(), instruction.memory_index_scale()),
    };
    let size = instruction.memory_size().size();
    format!("{size} bytes at [{base}{index}{:+}]", instruction.memory_displacement64() as i64)
}

fn expect(write: impl FnOnce(&mut Assembler), expected: &[String]) {
    let mut assembler = Assembler::default();
    write(&mut assembler);
    let code = assembler.finish();
    assert_eq!(text(&code), expected, "{code:02x?}");
}

fn sized(mem: Mem, size: u32) -> String {
    format!("{size} bytes at {}", place(mem))
}

#[test]
fn loads_and_stores() {
    for mem in places() {
        for reg in REGS {
            let (to, wide) = (name(reg, 4), name(reg, 8));
            expect(|a| a.load(reg, mem, 1, false), &[format!("movzx {to}, {}", sized(mem, 1))]);
            expect(|a| a.load(reg, mem, 2, false), &[format!("movzx {to}, {}", sized(mem, 2))]);
            expect(|a| a.load(reg, mem, 2, true), &[format!("movsx {to}, {}", sized(mem, 2))]);
            expect(|a| a.load(reg, mem, 4, false), &[format!("mov {to}, {}", sized(mem, 4))]);
            expect(|a| a.load_wide(reg, mem), &[format!("mov {wide}, {}", sized(mem, 8))]);
            expect(|a| a.store_wide(mem, reg), &[format!("mov {}, {wide}", sized(mem, 8))]);
            for size in [1, 2, 4] {
                if size > 1 || has_low_byte(reg) {
                    let expected = format!("mov {}, {}", sized(mem, size), name(reg, size));
                    expect(|a| a.store(mem, reg, size), &[expected]);
                }
            }
        }
        expect(|a| a.jump_through(mem), &[format!("jmp {}", sized(mem, 8))]);
    }
}

/// Without a prefix, the byte registers numbered 4 to 7 are others than the low bytes of `rsi` and `rdi`.
fn has_low_byte(reg: Reg) -> bool {
    !matches!(reg, Reg::Rsi | Reg::Rdi)
}

#[test]
fn constants_in_memory() {
    for mem in places() {
        for value in CONSTANTS {
            let (byte, word) = (hex(i64::from(value as u8)), hex(i64::from(value as u16)));
            let long = hex(i64::from(value));
            expect(|a| a.store_constant(mem, value, 1), &[format!("mov {}, {byte}", sized(mem, 1))]);
            expect(|a| a.store_constant(mem, value, 2), &[format!("mov {}, {word}", sized(mem, 2))]);
            expect(|a| a.store_constant(mem, value, 4), &[format!("mov {}, {long}", sized(mem, 4))]);
            expect(|a| a.store_constant_wide(mem, value), &[format!("mov {}, {long}", sized(mem, 8))]);
            expect(|a| a.compare_mem(mem, value), &[format!("cmp {}, {long}", sized(mem, 4))]);
            for (alu, op) in ALUS {
                expect(|a| a.alu_byte(alu, mem, value as u8), &[format!("{op} {}, {byte}", sized(mem, 1))]);
                let small = hex(i64::from(value as i8));
                expect(
                    |a| a.alu_mem_wide(alu, mem, value as i8),
                    &[format!("{op} {}, {small}", sized(mem, 8))],
                );
            }
        }
        for to in [Mem { base: Reg::Rsi, index: None, at: 16 }, mem] {
            let expected =
                [format!("movups xmm0, {}", sized(mem, 16)), format!("movups {}, xmm0", sized(to, 16))];
            expect(|a| a.copy_16(to, mem), &expected);
        }
    }
}

#[test]
fn registers() {
    for to in REGS {
        let (long, wide) = (name(to, 4), name(to, 8));
        for from in REGS {
            let (other, other_wide) = (name(from, 4), name(from, 8));
            for (alu, op) in ALUS {
                expect(|a| a.alu(alu, to, from), &[format!("{op} {long}, {other}")]);
                expect(|a| a.alu_wide(alu, to, from), &[format!("{op} {wide}, {other_wide}")]);
            }
            expect(|a| a.multiply(to, from), &[format!("imul {long}, {other}")]);
            expect(|a| a.copy(to, from), &[format!("mov {long}, {other}")]);
            expect(|a| a.copy_wide(to, from), &[format!("mov {wide}, {other_wide}")]);
        }
        expect(|a| a.negate(to), &[format!("neg {long}")]);
        expect(|a| a.complement(to), &[format!("not {long}")]);
        expect(|a| a.divide(to), &["cdq".into(), format!("idiv {long}")]);
        expect(|a| a.test(to), &[format!("test {long}, {long}")]);
        expect(|a| a.push(to), &[format!("push {wide}")]);
        expect(|a| a.pop(to), &[format!("pop {wide}")]);
        expect(|a| a.jump_to(to), &[format!("jmp {wide}")]);
        for by in 0..32 {
            expect(|a| a.shift_left(to, by), &[format!("shl {long}, {by:x}")]);
            expect(|a| a.shift_right(to, by), &[format!("sar {long}, {by:x}")]);
        }
        for value in CONSTANTS {
            let constant = hex(i64::from(value));
            for (alu, op) in ALUS {
                expect(|a| a.alu_constant(alu, to, value), &[format!("{op} {long}, {constant}")]);
                expect(|a| a.alu_constant_wide(alu, to, value), &[format!("{op} {wide}, {constant}")]);
            }
            expect(|a| a.multiply_constant(to, value), &[format!("imul {long}, {long}, {constant}")]);
            expect(|a| a.constant(to, value), &[format!("mov {long}, {constant}")]);
        }
        for address in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            expect(|a| a.address(to, address), &[format!("mov {wide}, {address:x}")]);
        }
        if has_low_byte(to) {
            for (cond, suffix) in CONDS {
                let low = name(to, 1);
                let expected = [format!("set{suffix} {low}"), format!("movzx {long}, {low}")];
                expect(|a| a.truth(cond, to), &expected);
            }
        }
    }
    expect(|a| a.ret(), &["ret".into()]);
}

#[test]
fn jumps_forwards_and_backwards() {
    // Five bytes each for jumps, six with a condition.
    expect(
        |a| {
            let (start, end) = (a.label(), a.label());
            a.bind(start);
            a.jump(end);
            a.jump(start);
            a.bind(end);
            a.jump(start);
        },
        &["jmp to a".into(), "jmp to 0".into(), "jmp to 0".into()],
    );
    for (cond, suffix) in CONDS {
        expect(
            |a| {
                let (start, end) = (a.label(), a.label());
                a.bind(start);
                a.jump_if(cond, end);
                a.jump_if(cond, start);
                a.bind(end);
                a.ret();
            },
            &[format!("j{suffix} to c"), format!("j{suffix} to 0"), "ret".into()],
        );
        if cond != Cond::AboveOrEqual {
            assert_eq!(
                cond as u8 ^ cond.negated() as u8,
                1,
                "the opposite of {suffix} differs in the last bit"
            );
        }
    }
}

#[test]
fn what_has_no_encoding_here_is_refused() {
    let alone = Mem { base: Reg::R12, index: None, at: 0 };
    assert!(std::panic::catch_unwind(|| Assembler::default().load_wide(Reg::Rax, alone)).is_err());
    let place = Mem { base: Reg::Rax, index: None, at: 0 };
    for reg in [Reg::Rsi, Reg::Rdi] {
        assert!(std::panic::catch_unwind(|| Assembler::default().store(place, reg, 1)).is_err());
        assert!(std::panic::catch_unwind(|| Assembler::default().truth(Cond::Equal, reg)).is_err());
    }
}
