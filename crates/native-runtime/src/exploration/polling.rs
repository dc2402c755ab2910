//! Loops that poll plain memory (`while (!ready);` with a volatile or plain `ready`).
//!
//! Plain accesses are not steps, so a thread in such a loop never gives way to the one that would end it, and no execution shows
//! the data race that the loop is. So a thread that has made very many plain accesses without a visible operation is looked at: if a
//! stretch of them writes nothing that others can see and reads a few variables over and over, accesses to these
//! variables become visible, and the exploration starts again. More visible operations are always right: they are only more
//! orders to explore. Then the race is found, or, where races are allowed, the loop is one that waits (`waiting_loop`).
//!
//! A loop that computes either writes, or reads more than a few variables in such a stretch.

use crate::exploration::race::How;
use crate::exploration::world::World;

/// How often a thread is let go on before it is looked at: a long computation ends.
const PATIENCE: u32 = 8;
/// Accesses that are looked at.
const STRETCH: u32 = 1 << 12;
/// The most variables that a loop polls.
const MOST: usize = 16;

/// What is known of the thread that runs.
#[derive(Default)]
pub struct Polling {
    /// Where the exploration was when the look began: execution, step.
    began: (u64, u32),
    /// How often it was found to have made no visible operation for long.
    rounds: u32,
    /// Accesses still to be looked at.
    left: u32,
    /// What was read: addresses and sizes.
    read: Vec<(usize, usize)>,
}

impl World {
    /// The running thread has made no visible operation for very long: looks at what it does next.
    pub fn begin_look_at_polling(&mut self, first: bool) {
        self.polling.rounds = if first { 0 } else { self.polling.rounds + 1 };
        if self.threaded && self.polling.rounds >= PATIENCE {
            let now = (self.restarts_made, self.shared.schedule_length);
            (self.polling.began, self.polling.left) = (now, STRETCH);
            self.polling.read.clear();
        }
    }

    /// Is this access to be looked at?
    #[inline]
    pub fn is_polling_looked_at(&self) -> bool {
        self.polling.left > 0
    }

    /// Looks at an access of the running thread; says whether something more is visible now, so that everything starts again.
    pub fn look_at_polling(&mut self, address: usize, size: usize, how: How) -> bool {
        let now = (self.restarts_made, self.shared.schedule_length);
        let own = crate::threads::stack::owner(address) == Some(self.current);
        let polling = &mut self.polling;
        polling.left -= 1;
        if polling.began != now || how.write && !own {
            polling.left = 0;
            return false;
        }
        if !own && !polling.read.contains(&(address, size)) {
            polling.read.push((address, size));
        }
        if polling.read.len() > MOST {
            polling.left = 0;
        } else if polling.left == 0 && !polling.read.is_empty() {
            let read = std::mem::take(&mut polling.read);
            let mut new = false;
            for (address, size) in read {
                new |= self.objects.make_visible(address, size);
            }
            self.grown |= new;
            return new;
        }
        false
    }
}
