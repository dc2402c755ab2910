//! Processes that this one has started: compilers, checked programs and what they started in turn.

use std::path::Path;
use std::time::Duration;

/// Rounds of ending processes, and the time between two.
const ROUNDS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(5);

/// Ends all of them. Those that are started meanwhile, or take their time, are met in the next round; what the system does not tell
/// is left alone.
pub(super) fn end_all() {
    for _ in 0..ROUNDS {
        let mut found = Vec::new();
        descendants(std::process::id(), &mut found);
        if found.is_empty() {
            return;
        }
        for child in found {
            // SAFETY: sends a signal to a process that is a descendant of this one: its parent has not taken note of its end, or
            // it would not be listed, so its number was not given to another process.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        // SAFETY: asks for children that have ended, without waiting.
        while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
        std::thread::sleep(PAUSE);
    }
}

/// Are there none?
pub(super) fn none() -> bool {
    let mut found = Vec::new();
    descendants(std::process::id(), &mut found);
    found.is_empty()
}

fn descendants(process: u32, found: &mut Vec<i32>) {
    let Ok(tasks) = std::fs::read_dir(Path::new("/proc").join(process.to_string()).join("task")) else {
        return;
    };
    for task in tasks.flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()) {
            if let Ok(number) = i32::try_from(child) {
                descendants(child, found);
                found.push(number);
            }
        }
    }
}
