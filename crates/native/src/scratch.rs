//! Directories that vanish.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Those that exist.
static EXISTING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A new directory, removed with everything in it when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> std::io::Result<Scratch> {
        Scratch::new_in(&std::env::temp_dir())
    }

    pub(crate) fn new_in(base: &Path) -> std::io::Result<Scratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("quotient-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    EXISTING.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
                    return Ok(Scratch { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays: nothing depends on it.
        let _ = std::fs::remove_dir_all(&self.path);
        EXISTING.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
    }
}

/// Removes all directories that this process has made and still uses: for a process that ends at once. Nothing is done while one is
/// being made or removed; does not wait.
pub fn remove_scratch_directories() {
    if let Ok(existing) = EXISTING.try_lock() {
        existing.iter().for_each(|path| {
            let _ = std::fs::remove_dir_all(path);
        });
    }
}
