//! Random programs from a seed, small enough for brute force.

use super::program::{Comparison, Condition, Instruction, Program, Value};
use quotient_stateless::random::Random;
use quotient_stateless::threads::{ThreadId, ThreadSet};

/// What kind of program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Some threads of the same code, beside others; shared memory only.
    Memory,
    /// Threads with different beginnings and the same end.
    CommonEnd,
    /// Mutexes, condition variables, semaphores, reader-writer locks, barriers, choices.
    Synchronisation,
    /// A main thread that creates the others and may join them.
    Created,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 4] = [Shape::Memory, Shape::CommonEnd, Shape::Synchronisation, Shape::Created];
}

/// A random program of at most `max_operations` visible instructions; threads get longer above ten.
pub fn program(seed: u64, shape: Shape, max_operations: usize) -> Program {
    let mut random = Random(seed);
    let longer = max_operations.saturating_sub(10) / 3;
    loop {
        let program = attempt(&mut random, shape, longer);
        if program.visible_instructions() <= max_operations {
            return program;
        }
    }
}

fn attempt(random: &mut Random, shape: Shape, longer: usize) -> Program {
    let mut threads = Vec::new();
    match shape {
        Shape::Memory => {
            let alike = 2 + usize::from(random.one_in(3));
            let others = random.below(if alike == 2 { 3 } else { 2 });
            let most = longer + if alike + others <= 3 { 3 } else { 2 };
            threads = vec![memory_code(random, most); alike];
            threads.extend((0..others).map(|_| memory_code(random, most)));
        }
        Shape::CommonEnd => {
            let end = memory_code(random, 2 + longer);
            for _ in 0..2 + random.below(2) {
                let mut code = if random.one_in(2) { memory_code(random, 1) } else { Vec::new() };
                let shift = code.len() as u16;
                code.extend(end.iter().map(|i| {
                    let mut i = *i;
                    if let Some(target) = i.target_mut() {
                        *target += shift;
                    }
                    i
                }));
                threads.push(code);
            }
            if random.below(5) < 3 {
                threads.push(memory_code(random, 2));
            }
        }
        Shape::Synchronisation => {
            let alike = 1 + random.below(3);
            let others = if alike == 1 { 1 + random.below(2) } else { random.below(2) };
            let most = longer + if alike + others <= 2 { 4 } else { 3 };
            threads = vec![synchronised_code(random, most); alike];
            threads.extend((0..others).map(|_| synchronised_code(random, most)));
        }
        Shape::Created => {
            let children = 2 + random.below(2);
            let code = memory_code(random, 2 + longer);
            let mut main = Vec::new();
            for child in 1..=children {
                main.push(Instruction::Create(child as ThreadId));
                if random.one_in(3) {
                    main.push(memory_instruction(random));
                }
            }
            if random.one_in(2) {
                main.push(Instruction::Join(ThreadSet((1 << (children + 1)) - 2)));
                main.push(memory_instruction(random));
            } else if random.one_in(3) {
                main.push(Instruction::Join(ThreadSet::only(1 + random.below(children) as ThreadId)));
                main.push(memory_instruction(random));
            }
            threads.push(main);
            threads.extend(std::iter::repeat_n(code, children));
            if random.one_in(3) {
                threads[1] = memory_code(random, 2);
            }
        }
    }
    Program {
        mutexes: 2,
        locks: 1,
        conditions: 1,
        semaphores: vec![random.below(3) as i64],
        barriers: vec![2],
        registers_observed: shape != Shape::CommonEnd || random.one_in(2),
        ..Program::new(threads, 2)
    }
}

/// A random program of threads that count references in variable 0, and use variable 1 besides.
pub fn counting_program(seed: u64) -> Program {
    let mut random = Random(seed);
    loop {
        let program = attempt_to_count(&mut random);
        if program.visible_instructions() <= 10 {
            return program;
        }
    }
}

fn attempt_to_count(random: &mut Random) -> Program {
    let alike = 2 + random.below(2);
    let code = counting_code(random);
    let mut threads: Vec<Vec<Instruction>> = Vec::new();
    let created = random.one_in(2);
    if created {
        let mut main: Vec<Instruction> = (1..=alike).map(|t| Instruction::Create(t as ThreadId)).collect();
        if random.below(4) > 0 {
            main.push(Instruction::Join(ThreadSet((1 << (alike + 1)) - 2)));
        }
        let shift = main.len() as u16;
        main.extend(counting_code(random).into_iter().map(|mut instruction| {
            if let Some(target) = instruction.target_mut() {
                *target += shift;
            }
            instruction
        }));
        threads.push(main);
    }
    threads.extend(std::iter::repeat_n(code, alike));
    if random.one_in(3) {
        let last = threads.len() - 1;
        threads[last] = counting_code(random);
    }
    let mut program = Program::new(threads, 2);
    program.variables[0] = random.below(5) as i64;
    program
}

fn counting_code(random: &mut Random) -> Vec<Instruction> {
    use Instruction::*;
    let mut code = Vec::new();
    for _ in 0..1 + random.below(3) {
        match random.below(12) {
            0..3 => code.push(Count { register: 0, variable: 0, amount: 1, watched: None }),
            3..8 => {
                let watched = Some(random.below(2) as u8);
                let amount = [-1, -1, -1, 1, -2][random.below(5)];
                let register = random.below(2) as u8;
                code.push(Count { register, variable: 0, amount, watched });
                if random.one_in(2) {
                    let condition = Condition { register, comparison: Comparison::Equal, constant: 0 };
                    code.push(Branch { condition, target: code.len() as u16 + 2 });
                    code.push(memory_of(random, 1));
                }
            }
            8 => code.push(memory_of(random, 0)),
            _ => code.push(memory_of(random, 1)),
        }
    }
    code
}

fn memory_of(random: &mut Random, variable: u8) -> Instruction {
    let mut instruction = memory_instruction(random);
    match &mut instruction {
        Instruction::Load { variable: of, .. }
        | Instruction::Store { variable: of, .. }
        | Instruction::FetchAdd { variable: of, .. }
        | Instruction::CompareAndSwap { variable: of, .. } => *of = variable,
        _ => {}
    }
    instruction
}

fn memory_instruction(random: &mut Random) -> Instruction {
    let variable = random.below(2) as u8;
    let register = random.below(2) as u8;
    match random.below(8) {
        0..3 => Instruction::Load { register, variable },
        3..5 => Instruction::Store { variable, value: Value::Constant(1 + random.below(2) as i64) },
        5 => Instruction::Store { variable, value: Value::Sum(register, 1) },
        6 => Instruction::FetchAdd { register, variable, amount: 1 },
        _ => Instruction::CompareAndSwap {
            register,
            variable,
            expected: if random.one_in(2) { Value::Register(register) } else { Value::Constant(0) },
            new: Value::Constant(1 + random.below(2) as i64),
        },
    }
}

/// A test of the register just written, followed by its consequence.
fn add_test(random: &mut Random, code: &mut Vec<Instruction>) {
    use Instruction::*;
    let Some(Load { register, .. } | FetchAdd { register, .. } | CompareAndSwap { register, .. }) =
        code.last().copied()
    else {
        return;
    };
    let comparison = if random.one_in(2) { Comparison::Equal } else { Comparison::NotEqual };
    let condition = Condition { register, comparison, constant: random.below(2) as i64 };
    match random.below(8) {
        // To the end of the thread, wherever that will be.
        0..2 => code.push(Branch { condition, target: u16::MAX }),
        2 => code.push(Branch { condition, target: code.len() as u16 + 2 }),
        3 if random.one_in(4) => code.push(Assert(condition)),
        _ => {}
    }
}

fn memory_code(random: &mut Random, most: usize) -> Vec<Instruction> {
    let mut code = Vec::new();
    for _ in 0..1 + random.below(most) {
        code.push(memory_instruction(random));
        add_test(random, &mut code);
    }
    for instruction in &mut code {
        if let Some(target) = instruction.target_mut() {
            // Far, but safe to shift.
            *target = (*target).min(1000);
        }
    }
    code
}

fn synchronised_code(random: &mut Random, most: usize) -> Vec<Instruction> {
    use Instruction::*;
    let mut code = Vec::new();
    let mut held = None;
    for _ in 0..1 + random.below(most) {
        let mutex = usize::from(random.one_in(4)) as u8;
        if random.one_in(6) {
            code.push(match random.below(5) {
                0 | 1 => ReadLock(0),
                2 => WriteLock(0),
                3 => TryWriteLock { register: 1, lock: 0 },
                _ => Release(0),
            });
            // Readers may lock again what they hold; who waits to write must wait for both.
            if matches!(code.last(), Some(ReadLock(_))) && random.one_in(3) {
                code.extend([ReadLock(0), memory_instruction(random)]);
                if random.one_in(2) {
                    code.push(Release(0));
                }
            }
            if random.one_in(2) && !matches!(code.last(), Some(Release(_))) {
                code.push(memory_instruction(random));
                code.push(Release(0));
            }
            continue;
        }
        match (random.below(12), held) {
            (0..4, None) => {
                code.push(Lock(mutex));
                held = Some(mutex);
            }
            (4, None) => {
                code.push(TryLock { register: 1, mutex });
                let condition = Condition { register: 1, comparison: Comparison::Equal, constant: 0 };
                code.push(Branch { condition, target: 1000 });
                held = Some(mutex);
            }
            (0..2, Some(mutex)) => code.push(Wait { condition: 0, mutex }),
            (2, Some(mutex)) => code.push(TimedWait { register: 0, condition: 0, mutex }),
            (3, Some(m)) if m != mutex => code.push(TryLock { register: 1, mutex }),
            (3..5, Some(mutex)) => {
                code.push(Unlock(mutex));
                held = None;
            }
            (5, _) => code.push(Signal(0)),
            (6, _) => code.push(if random.one_in(2) { Signal(0) } else { Broadcast(0) }),
            (7, _) => code.push(SemaphoreWait(0)),
            (8, _) => code.push(SemaphorePost(0)),
            (9, _) if random.one_in(2) => code.push(Barrier(0)),
            (9, _) => code.push(Choose { register: 0, choices: 2 }),
            _ => code.push(memory_instruction(random)),
        }
    }
    if let Some(mutex) = held
        && !random.one_in(5)
    {
        code.push(Unlock(mutex));
    }
    code
}
