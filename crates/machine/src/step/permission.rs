//! Who may move at all, whatever its statements say: `provided` clauses, committed locations (DVE), priorities.

use crate::code::SiteAt;
use crate::machine::Machine;
use crate::state::shapes::Instance;
use crate::step::eval::Frame;

impl Machine {
    /// May this thread move at all (`provided`, committed locations, priorities)?
    #[inline(always)]
    pub(crate) fn may_move(&mut self, function: u32, frame: Frame) -> Result<bool, SiteAt> {
        if self.commits && !self.may_go_first(frame) {
            return Ok(false);
        }
        self.is_allowed(function, frame)
    }

    /// The same, whoever is committed.
    #[inline(always)]
    pub(crate) fn is_allowed(&mut self, function: u32, frame: Frame) -> Result<bool, SiteAt> {
        if let Some(provided) = self.code.functions[function as usize].provided
            && self.run(provided, frame)? == 0
        {
            return Ok(false);
        }
        if self.program.features.priorities {
            return self.is_highest(frame);
        }
        Ok(true)
    }

    /// Does this thread stand at a committed location, or nobody?
    pub(crate) fn may_go_first(&self, frame: Frame) -> bool {
        self.is_committed(frame) || !self.somebody_is_committed(frame.memory)
    }

    /// Does this thread stand at a committed location?
    pub(crate) fn is_committed(&self, frame: Frame) -> bool {
        let thread = self.shape_at(frame.memory).threads.get(frame.thread as usize);
        thread.is_some_and(|t| self.stands_committed(frame.memory, t))
    }

    /// Does anybody?
    pub(crate) fn somebody_is_committed(&self, memory: *const u8) -> bool {
        self.shape_at(memory).threads.iter().any(|t| self.stands_committed(memory, t))
    }

    fn stands_committed(&self, memory: *const u8, t: &Instance) -> bool {
        let location = self.location(memory, t.at, t.kind);
        self.code.functions[t.kind as usize].locations[location as usize].committed
    }

    /// No other thread with a higher priority can move.
    #[cold]
    fn is_highest(&mut self, frame: Frame) -> Result<bool, SiteAt> {
        let own = self.priority(frame.memory, frame.thread);
        let threads = self.shape_at(frame.memory).threads.len() as u32;
        for other in (0..threads).filter(|t| *t != frame.thread) {
            if self.priority(frame.memory, other) > own && self.can_move(frame.memory, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
