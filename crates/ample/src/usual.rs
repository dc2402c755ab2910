//! The usual case of looking for ample sets: the state has the shape of the one before, every thread's table depends on nothing
//! but who it is, nobody's future has changed, and what is known does not depend on what channels hold. Then the proposals
//! are read off the threads' locations.

/// What is known of an entry of the tables, whatever the channels hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The version of the futures it was found with; 0 before that.
    pub(crate) version: u64,
    /// Threads that can get in the way of the next step.
    pub(crate) in_the_way: u64,
    /// All that the thread may still touch: a number in the tables.
    pub(crate) future: u32,
    /// May be in an ample set.
    pub(crate) eligible: bool,
    /// What a look at the state must add: channels, or whether the thread is the youngest.
    pub(crate) depends: bool,
}

/// A thread of the shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualThread {
    /// The byte of the state that is its location.
    pub(crate) at: u32,
    /// The entry of its first location.
    pub(crate) first: u32,
    /// Its future, as in [`Known`].
    pub(crate) future: u32,
}

/// The threads of the shape met last.
#[derive(Debug, Default)]
pub(crate) struct Usual {
    shape: Option<u32>,
    threads: Vec<UsualThread>,
}

impl Usual {
    /// Remembers the threads of a shape; with `None` for one of them that there is nothing usual about it.
    pub(crate) fn remember(&mut self, shape: u32, threads: impl Iterator<Item = Option<UsualThread>>) {
        self.threads.clear();
        self.shape = Some(shape);
        for thread in threads {
            match thread {
                Some(thread) => self.threads.push(thread),
                None => self.shape = None,
            }
        }
    }

    /// In the usual case: which threads may be in an ample set, and which of them nobody gets in the way of. Who does get in
    /// the way goes to `in_the_way`.
    #[inline(always)]
    pub(crate) fn look(
        &self,
        shape: u32,
        state: &[u64],
        known: &[Known],
        version: u64,
        in_the_way: &mut [u64],
    ) -> Option<(u64, u64)> {
        if self.shape != Some(shape) {
            return None;
        }
        let (mut usual, mut eligible, mut free) = (true, 0, 0);
        for (thread, (usually, blockers)) in self.threads.iter().zip(in_the_way).enumerate() {
            // States are little-endian; see the search's frontier.
            let location = (state.get(usually.at as usize / 8)? >> (8 * (usually.at % 8))) as u8;
            let known = known.get(usually.first as usize + usize::from(location))?;
            usual &= known.version == version && known.future == usually.future && !known.depends;
            *blockers = known.in_the_way & !(1 << thread);
            eligible |= u64::from(known.eligible) << thread;
            free |= u64::from(*blockers == 0) << thread;
        }
        usual.then_some((eligible, free))
    }
}
