//! Programs of `n` like threads with known numbers of traces and of orbits of traces.

use quotient_stateless::threads::ThreadId;

use super::program::{Instruction, Program, Value};

/// Each thread: `r = x; x = r + 1`. `(n!)^2` traces, `n!` orbits.
pub fn load_store(n: usize) -> Program {
    let code = vec![
        Instruction::Load { register: 0, variable: 0 },
        Instruction::Store { variable: 0, value: Value::Sum(0, 1) },
    ];
    Program::new(vec![code; n], 1)
}

/// Each thread: `r = x; cas(x, r, r + 1)`. 27, 280, 4025, 75876 traces and 5, 14, 43, 143 orbits for
/// 3 to 6 threads.
pub fn load_compare_and_swap(n: usize) -> Program {
    let code = vec![
        Instruction::Load { register: 0, variable: 0 },
        Instruction::CompareAndSwap {
            register: 1,
            variable: 0,
            expected: Value::Register(0),
            new: Value::Sum(0, 1),
        },
    ];
    Program::new(vec![code; n], 1)
}

/// Each thread: `lock; r = x; x = r + 1; unlock`. `n!` traces, 1 orbit.
pub fn lock_increment_unlock(n: usize) -> Program {
    let code = vec![
        Instruction::Lock(0),
        Instruction::Load { register: 0, variable: 0 },
        Instruction::Store { variable: 0, value: Value::Sum(0, 1) },
        Instruction::Unlock(0),
    ];
    Program { mutexes: 1, ..Program::new(vec![code; n], 1) }
}

/// Each thread: `fetch_add(x, 1)`. `n!` traces, 1 orbit.
pub fn fetch_add(n: usize) -> Program {
    let code = vec![Instruction::FetchAdd { register: 0, variable: 0, amount: 1 }];
    Program::new(vec![code; n], 1)
}

/// The same program, whose threads are created one after the other by another thread, which joins them. The same
/// numbers of traces and orbits: creations and joins do not race.
pub fn created_in_a_loop(program: Program) -> Program {
    let n = program.threads.len();
    let children = || (1..=n).map(|t| t as ThreadId);
    let mut main: Vec<Instruction> = children().map(Instruction::Create).collect();
    main.push(Instruction::Join(children().collect()));
    Program { threads: std::iter::once(main).chain(program.threads).collect(), ..program }
}

/// One writer of `n` cells, `n` readers of one cell each: `2^n` traces.
pub fn writer_and_readers(n: usize) -> Program {
    let writer =
        (0..n as u8).map(|v| Instruction::Store { variable: v, value: Value::Constant(1) }).collect();
    let mut threads = vec![writer];
    threads.extend((0..n as u8).map(|v| vec![Instruction::Load { register: 0, variable: v }]));
    Program::new(threads, n)
}
