//! Rendezvous: a send on a channel without capacity happens together with a receive, as one step of two threads.

use quotient_system::Successors;

use crate::code::Operation;
use crate::eval::Frame;
use crate::machine::Machine;

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
        if let Err(site) = self.evaluate_args(send, channel, frame) {
            self.violate_at(site, frame.thread, number, state, out);
            return true;
        }
        let mut offered = std::mem::take(&mut self.values);
        if let Some(channel) = self.channel(frame.memory, channel) {
            // Also the values of a sorted send, which nobody sorts here.
            for (value, (_, cell)) in offered.iter_mut().zip(&channel.layout.fields) {
                *value = cell.wrap(*value);
            }
        }
        let mut met = false;
        self.passing = channel;
        let threads = self.shape_at(frame.memory).threads.len() as u32;
        for partner in (0..threads).filter(|p| *p != frame.thread) {
            let instance = self.shape_at(frame.memory).threads[partner as usize];
            let theirs = Frame { base: instance.at, thread: partner, ..frame };
            let location = self.location(frame.memory, instance.at, instance.kind);
            let location = &self.code.functions[instance.kind as usize].locations[location as usize];
            let (first, end) = (location.first, location.end);
            let mut rank = None;
            let mut asked = false;
            for other in first..end {
                let t = &self.code.transformations[other as usize];
                let t_rank = t.rank;
                if rank.is_some_and(|r| r != t_rank) {
                    break;
                }
                let Operation::Receive(receive) = t.operation else { continue };
                if !asked {
                    asked = true;
                    match self.may_move(instance.kind, theirs) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(site) => {
                            self.violate_at(site, partner, other, state, out);
                            met = true;
                            break;
                        }
                    }
                }
                let code = self.code.receives[receive as usize].channel;
                let matched = self.run(code, theirs).and_then(|their_channel| {
                    if their_channel != channel {
                        return Ok(false);
                    }
                    let fields = self.code.receives[receive as usize].patterns.len();
                    if fields > offered.len() {
                        return Err(self.code.receives[receive as usize].too_many);
                    }
                    if self.dynamic {
                        self.check_sorts(receive, frame.memory, channel)?;
                    }
                    self.matches(receive, theirs, |_, field| offered[field])
                });
                match matched {
                    Ok(false) => {}
                    Ok(true) => {
                        rank = Some(t_rank);
                        met = true;
                        let parties = (number, other, receive, channel);
                        self.meet(state, parties, function, frame, theirs, instance.kind, &offered, out);
                    }
                    Err(site) => {
                        rank = Some(t_rank);
                        met = true;
                        self.violate_at(site, partner, other, state, out);
                    }
                }
            }
        }
        self.passing = 0;
        self.values = offered;
        met
    }

    /// One rendezvous: the sender moves, then the receiver, in one step. The receiver decides who goes on.
    fn meet(
        &mut self,
        state: &[u64],
        (send, receive, receive_index, channel): (u32, u32, u32, i32),
        sender_function: u32,
        sender: Frame,
        receiver: Frame,
        receiver_function: u32,
        offered: &[i32],
        out: &mut Successors,
    ) {
        self.begin(state);
        self.taken[send as usize] = true;
        let sent = self.actions(send, sender.thread, sender.base);
        let target = self.code.transformations[send as usize].target;
        self.set_location(sender.base, sender_function, target);
        self.record(sender.thread, send, Some(receiver.thread));
        let performed = sent
            .and_then(|()| self.observe(true, channel, offered))
            .and_then(|()| self.observe(false, channel, offered))
            .and_then(|()| self.bind(receive_index, receiver.thread, receiver.base, offered))
            .and_then(|()| self.actions(receive, receiver.thread, receiver.base));
        self.finish(
            performed,
            receive,
            receiver_function,
            receiver.thread,
            receiver.base,
            sender.thread,
            out,
        );
        self.unrecord();
    }
}
