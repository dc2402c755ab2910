//! Rendezvous: a send on a channel without capacity happens together with a receive, as one step of two threads.
//!
//! As in SPIN, the sender moves first (unless the program says that the receiver does, as in DVE); then somebody must take what
//! it offers, or the send was not possible. Takers are the
//! threads at a matching receive, and those at a `d_step` that can begin with one ([`crate::step::d_step`]). A `d_step` with several
//! ways in takes the first one that is possible, which need not be the receive that let it begin: then the message is still
//! offered, to all threads but this one, and nothing has happened if nobody takes it in the end.

use quotient_seams::Successors;

use crate::code::{Operation, SiteAt};
use crate::machine::Machine;
use crate::step::NOBODY;
use crate::step::d_step::Passage;
use crate::step::eval::Frame;

/// How many `d_step`s may follow one another while a message is offered.
const MOST_UNTAKEN: usize = 500;

/// A send that waits for somebody to take the message: its values are in `Machine::offered`, its channel in
/// `Machine::passing`.
#[derive(Clone, Copy)]
struct Offer {
    channel: i32,
    send: u32,
    sender: u32,
    /// Where the sender's variables are, and what it runs.
    base: u32,
    function: u32,
    /// Who moved last, and cannot take the message.
    last: u32,
    /// The sender's step left garbage (programs with objects).
    dirty: bool,
    /// Somebody stood at a committed location before the sender moved.
    committed: bool,
}

impl Machine {
    /// A send on a channel without capacity, together with each receive that is ready for it.
    pub(crate) fn rendezvous(
        &mut self,
        state: &[u64],
        number: u32,
        channel: i32,
        function: u32,
        frame: Frame,
        out: &mut Successors,
    ) -> bool {
        let Operation::Send(send) = self.code.transformations[number as usize].operation else {
            unreachable!("only sends meet")
        };
        let committed = self.commits && self.somebody_is_committed(frame.memory);
        if let Err(site) = self.evaluate_args(send, channel, frame) {
            // Where the receiver goes first, a message is only made for somebody who takes it.
            let wanted = !self.program.features.receiver_first || self.has_taker(channel, committed, frame);
            if wanted {
                self.violate_at(site, frame.thread, number, state, out);
            }
            return wanted;
        }
        let mut offered = std::mem::take(&mut self.values);
        if let Some(channel) = self.channel(frame.memory, channel) {
            // Also the values of a sorted send, which nobody sorts here.
            for (value, (_, cell)) in offered.iter_mut().zip(&channel.layout.fields) {
                *value = cell.wrap(*value);
            }
        }
        self.begin(state);
        if !self.failed_assertions.is_empty() {
            // Wrong with or without a partner; without one, nobody moves.
            self.record(frame.thread, number, None);
            let mut failed = std::mem::take(&mut self.failed_assertions);
            failed.drain(..).for_each(|site| self.remark(site, out));
            self.failed_assertions = failed;
            self.unrecord();
        }
        if !self.program.features.receiver_first
            && let Err(site) = self.send_half(number, function, frame.thread, frame.base)
        {
            self.violate_at(site, frame.thread, number, state, out);
            self.values = offered;
            return true;
        }
        let mut half = self.free.pop().unwrap_or_default();
        half.clone_from(&self.draft);
        self.passing = channel;
        self.offered = offered;
        let (sender, base, dirty) = (frame.thread, frame.base, self.heap.dirty);
        let offer = Offer { channel, send: number, sender, base, function, last: sender, dirty, committed };
        let met = self.offer(&half, offer, &mut Vec::new(), out);
        self.passing = 0;
        self.values = std::mem::take(&mut self.offered);
        self.free.push(half);
        if met {
            self.taken[number as usize] += 1;
        }
        met
    }

    /// What the sender does: its actions, and its move. Runs on the draft.
    fn send_half(&mut self, number: u32, function: u32, thread: u32, base: u32) -> Result<(), SiteAt> {
        self.actions(number, thread, base)?;
        let target = self.code.transformations[number as usize].target;
        self.set_location(base, function, target);
        Ok(())
    }

    /// Everybody who can takes the message, in a state where the sender has moved (or, if the receiver goes first, not yet);
    /// `false` if nobody can. `untaken` has the
    /// states that `d_step`s led to which did not take it.
    fn offer(
        &mut self,
        state: &[u64],
        offer: Offer,
        untaken: &mut Vec<Vec<u64>>,
        out: &mut Successors,
    ) -> bool {
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let mut met = false;
        let threads = self.shape_at(memory).threads.len() as u32;
        for partner in (0..threads).filter(|p| *p != offer.last) {
            let instance = self.shape_at(memory).threads[partner as usize];
            let theirs = Frame { memory, base: instance.at, thread: partner, received: 0 };
            let location = self.location(memory, instance.at, instance.kind);
            let location = &self.code.functions[instance.kind as usize].locations[location as usize];
            let (first, end) = (location.first, location.end);
            let mut rank = None;
            let mut asked = false;
            for other in first..end {
                let t = &self.code.transformations[other as usize];
                let (operation, t_rank, target) = (t.operation, t.rank, t.target);
                if rank.is_some_and(|r| r != t_rank) {
                    break;
                }
                if !matches!(operation, Operation::Receive(_) | Operation::Enter { .. }) {
                    continue;
                }
                if !asked {
                    asked = true;
                    if offer.committed && !self.is_committed(theirs) {
                        break;
                    }
                    match self.is_allowed(instance.kind, theirs) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(site) => {
                            self.violate_at(site, partner, other, state, out);
                            met = true;
                            break;
                        }
                    }
                }
                let accepted = match operation {
                    Operation::Receive(receive) => self.accepts(receive, theirs),
                    _ => self.opens_by_offer(target, instance.kind, theirs),
                };
                let taken = match (accepted, operation) {
                    (Ok(false), _) => continue,
                    (Ok(true), Operation::Receive(receive)) => {
                        self.meet(state, offer, (other, receive), instance.kind, theirs, out);
                        true
                    }
                    (Ok(true), _) => {
                        self.meet_d_step(state, offer, other, instance.kind, theirs, untaken, out)
                    }
                    (Err(site), _) => {
                        self.violate_at(site, partner, other, state, out);
                        true
                    }
                };
                met |= taken;
                rank = taken.then_some(t_rank);
            }
        }
        met
    }

    /// Would anybody take a message on this channel, whatever it is? A guard or channel without a value counts.
    #[cold]
    fn has_taker(&mut self, channel: i32, committed: bool, sender: Frame) -> bool {
        let memory = sender.memory;
        let fields = self.channel(memory, channel).map_or(0, |c| c.layout.fields.len());
        self.passing = channel;
        self.offered.clear();
        self.offered.resize(fields, 0);
        let mut found = false;
        let threads = self.shape_at(memory).threads.len() as u32;
        for partner in (0..threads).filter(|p| *p != sender.thread) {
            let instance = self.shape_at(memory).threads[partner as usize];
            let theirs = Frame { memory, base: instance.at, thread: partner, received: 0 };
            if committed && !self.is_committed(theirs) {
                continue;
            }
            let location = self.location(memory, instance.at, instance.kind);
            let location = &self.code.functions[instance.kind as usize].locations[location as usize];
            for other in location.first..location.end {
                let Operation::Receive(receive) = self.code.transformations[other as usize].operation else {
                    continue;
                };
                found |= self.is_allowed(instance.kind, theirs) != Ok(false)
                    && self.accepts(receive, theirs) != Ok(false);
            }
        }
        self.passing = 0;
        found
    }

    /// Does this receive take the message that is offered? A peek never does: it is a fault of the thread that stands there.
    pub(crate) fn accepts(&mut self, receive: u32, frame: Frame) -> Result<bool, SiteAt> {
        let code = &self.code.receives[receive as usize];
        if code.peek {
            return Ok(false);
        }
        if let Some(guard) = code.guard
            && self.run(guard, frame)? == 0
        {
            return Ok(false);
        }
        let code = &self.code.receives[receive as usize];
        let (channel, fields, too_many) = (code.channel, code.patterns.len(), code.too_many);
        if self.run(channel, frame)? != self.passing {
            return Ok(false);
        }
        if fields > self.offered.len() {
            return Err(too_many);
        }
        self.check_sorts(receive, frame.memory, self.passing)?;
        self.matches(receive, frame, |machine, field| machine.offered[field])
    }

    /// Starts the next state from one where the sender has moved.
    fn begin_half(&mut self, state: &[u64], offer: Offer, partner: u32) -> Result<(), SiteAt> {
        self.begin(state);
        self.heap.dirty |= offer.dirty;
        if offer.last != offer.sender {
            return Ok(());
        }
        self.record(offer.sender, offer.send, Some(partner));
        let offered = std::mem::take(&mut self.offered);
        let observed = self.observe(true, offer.channel, &offered);
        self.offered = offered;
        observed
    }

    /// What belongs to the sender was noted; its successors are complete.
    fn end_half(&mut self, offer: Offer) {
        if offer.last == offer.sender {
            self.unrecord();
        }
    }

    /// Stores the fields of the message that is offered. Runs on the draft.
    pub(crate) fn take_offer(&mut self, receive: u32, thread: u32, base: u32) -> Result<(), SiteAt> {
        let offered = std::mem::take(&mut self.offered);
        let code = &self.code.receives[receive as usize];
        if code.patterns.len() < offered.len() {
            self.failed_assertions.push(code.too_few);
        }
        let taken = self
            .observe(false, self.passing, &offered)
            .and_then(|()| self.bind(receive, thread, base, &offered));
        self.offered = offered;
        taken
    }

    /// One rendezvous: after the sender, the receiver moves, in the same step, or the other way round
    /// ([`quotient_program::Features::receiver_first`]). The receiver decides who goes on.
    fn meet(
        &mut self,
        state: &[u64],
        offer: Offer,
        (receive, receive_index): (u32, u32),
        function: u32,
        receiver: Frame,
        out: &mut Successors,
    ) {
        let (thread, base) = (receiver.thread, receiver.base);
        let performed = self
            .begin_half(state, offer, thread)
            .and_then(|()| self.take_offer(receive_index, thread, base))
            .and_then(|()| self.actions(receive, thread, base))
            .and_then(|()| match self.program.features.receiver_first {
                true => self.send_half(offer.send, offer.function, offer.sender, offer.base),
                false => Ok(()),
            });
        let also = if offer.sender == thread { NOBODY } else { offer.sender };
        self.finish(performed, receive, function, thread, base, also, out);
        self.end_half(offer);
    }

    /// The same with a `d_step` that begins by taking the message; `false` if it did not, and nobody else takes it then.
    fn meet_d_step(
        &mut self,
        state: &[u64],
        offer: Offer,
        entry: u32,
        function: u32,
        receiver: Frame,
        untaken: &mut Vec<Vec<u64>>,
        out: &mut Successors,
    ) -> bool {
        let (thread, base) = (receiver.thread, receiver.base);
        if let Err(site) = self.begin_half(state, offer, thread) {
            self.violate(site, out);
            self.end_half(offer);
            return true;
        }
        self.report_assertions(out);
        let met = match self.pass_d_step(entry, function, thread, base, out) {
            Passage::Closed => false,
            Passage::Faulted => true,
            Passage::Through(passed) => {
                let met = if self.passing == 0 {
                    let also = if offer.sender == thread { NOBODY } else { offer.sender };
                    self.leave_d_step(entry, thread, also, out);
                    true
                } else {
                    self.still_offered(Offer { last: thread, ..offer }, untaken, out)
                };
                self.unrecord_all(passed);
                met
            }
        };
        self.passing = offer.channel;
        self.end_half(offer);
        met
    }

    /// The draft is where a `d_step` ended that did not take the message: is there somebody else?
    fn still_offered(&mut self, offer: Offer, untaken: &mut Vec<Vec<u64>>, out: &mut Successors) -> bool {
        if untaken.contains(&self.draft) {
            return false;
        }
        if untaken.len() == MOST_UNTAKEN {
            self.exhausted =
                Some("a message is offered through too many d_step sequences that do not take it".into());
            return false;
        }
        let state = self.draft.clone();
        untaken.push(state.clone());
        let met = self.offer(&state, offer, untaken, out);
        untaken.pop();
        met
    }
}
