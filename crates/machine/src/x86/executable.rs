//! Memory for code. It is never writable and executable at once.

/// Bytes taken from the operating system at a time.
const CHUNK: usize = 1 << 18;

/// Code of the program being checked.
#[derive(Debug, Default)]
pub(crate) struct Executable {
    chunks: Vec<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    start: *mut u8,
    used: usize,
}

// SAFETY: a chunk is owned by its `Executable`, and code in it is never changed once it can be called.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

impl Executable {
    /// Places code; gives its address. `None` when the system has no such memory for us.
    pub(crate) fn place(&mut self, code: &[u8]) -> Option<*const u8> {
        if code.len() > CHUNK {
            return None;
        }
        if self.chunks.last().is_none_or(|chunk| CHUNK - chunk.used < code.len()) {
            self.chunks.push(Chunk::new()?);
        }
        let chunk = self.chunks.last_mut()?;
        // SAFETY: the chunk is ours, `CHUNK` bytes long, and has room for the code. No code in it runs meanwhile: the caller
        // is not in it.
        unsafe {
            if libc::mprotect(chunk.start.cast(), CHUNK, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return None;
            }
            let at = chunk.start.add(chunk.used);
            at.copy_from_nonoverlapping(code.as_ptr(), code.len());
            // The next function starts at a multiple of 16.
            chunk.used = (chunk.used + code.len()).next_multiple_of(16).min(CHUNK);
            // If this fails, nothing in the chunk may be called any more; that would end the process anyway.
            assert!(
                libc::mprotect(chunk.start.cast(), CHUNK, libc::PROT_READ | libc::PROT_EXEC) == 0,
                "the system gave memory for code and took it back"
            );
            Some(at)
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK
    }
}

impl Chunk {
    fn new() -> Option<Chunk> {
        // SAFETY: a fresh anonymous mapping.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                CHUNK,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        (start != libc::MAP_FAILED).then_some(Chunk { start: start.cast(), used: 0 })
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody can call code in it any more.
        unsafe { libc::munmap(self.start.cast(), CHUNK) };
    }
}
