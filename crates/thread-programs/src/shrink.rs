//! The smallest program that still fails.

use super::program::Program;

/// Takes away threads and instructions, one at a time, as long as `fails` says so.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    loop {
        let smaller = candidates(&smallest).into_iter().find(|candidate| fails(candidate));
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

fn candidates(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    // Threads are numbered, so only empty them, or drop the last one.
    for t in 0..program.threads.len() {
        if !program.threads[t].is_empty() {
            let mut smaller = program.clone();
            smaller.threads[t].clear();
            found.push(smaller);
        }
    }
    if let Some(last) = program.threads.len().checked_sub(1)
        && program.threads[last].is_empty()
        && !mentions(program, last)
    {
        let mut smaller = program.clone();
        smaller.threads.pop();
        found.push(smaller);
    }
    for t in 0..program.threads.len() {
        for location in 0..program.threads[t].len() {
            let mut smaller = program.clone();
            smaller.threads[t].remove(location);
            for instruction in &mut smaller.threads[t] {
                if let Some(target) = instruction.target_mut()
                    && *target as usize > location
                {
                    *target -= 1;
                }
            }
            found.push(smaller);
        }
    }
    found
}

fn mentions(program: &Program, thread: usize) -> bool {
    use super::program::Instruction::*;
    program.threads.iter().flatten().any(|i| match i {
        Create(t) => *t as usize == thread,
        Join(set) => set.contains(thread as u8),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Instruction;

    #[test]
    fn finds_the_one_instruction_that_matters() {
        let program = crate::generate::program(7, crate::generate::Shape::Synchronisation, 10);
        let count = |p: &Program| p.threads.iter().flatten().count();
        let wanted = program.threads[0][0];
        let small = shrink(&program, |p| p.threads[0].contains(&wanted));
        assert_eq!(count(&small), 1);
        assert_eq!(small.threads[0], [wanted] as [Instruction; 1]);
    }
}
