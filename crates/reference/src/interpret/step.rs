//! What one step does: basic statements, and `d_step` as a whole.

use super::Fault;
use super::elements::{ElementId, SequenceId, Shape};
use super::resolved::*;
use super::state::Context;

/// Steps a `d_step` may take before it is taken to be endless.
const D_STEP_LIMIT: usize = 100_000;

/// What executing an element did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Not executable; the state may be half changed and must be dropped.
    Blocked,
    Done,
    /// Done, and this many assertions were violated on the way.
    Violated(usize),
}

/// What becomes of a message that is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Afterwards {
    Leaves,
    /// It is only looked at: `c?<x>`.
    Stays,
}

impl Context<'_> {
    /// Executes `shape`. `others` says whether the process has another step (for `else`).
    pub fn execute(&mut self, shape: &Shape, others: bool) -> Result<Effect, Fault> {
        let handshake = self.state.handshake.is_some();
        match shape {
            Shape::Basic(basic @ Basic::Receive { .. }) => self.basic(basic),
            Shape::DStep(inner) => self.d_step(*inner, others),
            // During a hand-shake only the receive that completes it can happen.
            _ if handshake => Ok(Effect::Blocked),
            Shape::Basic(basic) => self.basic(basic),
            Shape::Else if others => Ok(Effect::Blocked),
            _ => Ok(Effect::Done),
        }
    }

    fn basic(&mut self, basic: &Basic) -> Result<Effect, Fault> {
        let done = |executable| if executable { Effect::Done } else { Effect::Blocked };
        Ok(match basic {
            Basic::Condition(value) => done(self.truth(value)?),
            Basic::Assign(place, value) => {
                let value = self.value(value)?;
                self.write(place, value)?;
                Effect::Done
            }
            Basic::Nothing => Effect::Done,
            Basic::Print(values) => {
                values.iter().try_for_each(|value| self.truth(value).map(|_| ()))?;
                Effect::Done
            }
            Basic::Assert(value) => {
                if self.truth(value)? {
                    Effect::Done
                } else {
                    Effect::Violated(1)
                }
            }
            Basic::Send { channel, sorted, args } => done(self.send(channel, *sorted, args)?),
            Basic::Receive { channel, any, peek, patterns } => {
                let afterwards = if *peek { Afterwards::Stays } else { Afterwards::Leaves };
                done(self.receive(channel, *any, afterwards, patterns)?)
            }
            Basic::End => done(self.die()),
        })
    }

    fn send(&mut self, channel: &Place, sorted: bool, args: &[Value]) -> Result<bool, Fault> {
        let channel = self.channel(channel)?;
        if self.is_full(channel) {
            return Ok(false);
        }
        let ChannelType { capacity, fields } = self.channel_type(channel).clone();
        if fields.len() < args.len() {
            return Err(Fault::WrongNumberOfFields);
        }
        let mut raw = Vec::new();
        for arg in args {
            raw.push(self.value(arg)?);
        }
        if raw.len() < fields.len() {
            self.state.noted.push(Fault::FewerSent);
            raw.resize(fields.len(), 0);
        }
        let message: Vec<i32> = fields.iter().zip(&raw).map(|(kind, value)| kind.wrap(*value)).collect();
        let messages = &mut self.state.stored.channels[channel].messages;
        // A sorted send goes after the last message that is not greater. SPIN compares the value as
        // sent, before it is cut down to the field.
        let slot = if sorted {
            messages.iter().position(|m| raw < *m).unwrap_or(messages.len())
        } else {
            messages.len()
        };
        messages.insert(slot, message);
        if capacity == 0 {
            self.state.handshake = Some(channel);
        }
        Ok(true)
    }

    fn receive(
        &mut self,
        channel: &Place,
        any: bool,
        afterwards: Afterwards,
        patterns: &[Pattern],
    ) -> Result<bool, Fault> {
        let channel = self.channel(channel)?;
        let rendezvous = self.channel_type(channel).capacity == 0;
        let stays = afterwards == Afterwards::Stays;
        if rendezvous && stays {
            // While others shake hands nobody looks at it; SPIN does, also where an escape would have come first.
            return if self.state.handshake.is_some() { Ok(false) } else { Err(Fault::PolledRendezvous) };
        }
        let expected = if rendezvous { Some(channel) } else { None };
        if self.state.handshake != expected {
            return Ok(false);
        }
        let Some(slot) = self.matching(channel, any, patterns)? else { return Ok(false) };
        let message = if stays {
            self.state.stored.channels[channel].messages[slot].clone()
        } else {
            self.state.stored.channels[channel].messages.remove(slot)
        };
        if !stays && patterns.len() < message.len() {
            self.state.noted.push(Fault::FewerReceived);
        }
        for (pattern, field) in patterns.iter().zip(message) {
            if let Pattern::Store(place) = pattern {
                self.write(place, field)?;
            }
        }
        if rendezvous {
            self.state.handshake = None;
        }
        Ok(true)
    }

    /// Only the youngest process can die; its channels go with it.
    fn die(&mut self) -> bool {
        if self.me + 1 != self.state.stored.processes.len() {
            return false;
        }
        if let Some(process) = self.state.stored.processes.pop() {
            self.state.stored.channels.truncate(process.first_channel);
        }
        true
    }

    /// One indivisible, deterministic step: executable if its first statement is, and from there on the
    /// first executable option is taken and nothing may block. During a hand-shake it is executable if it can
    /// begin with the receive that completes it; from there on statements do not care about the hand-shake,
    /// so that it may also end without having completed it.
    fn d_step(&mut self, sequence: SequenceId, others: bool) -> Result<Effect, Fault> {
        let proctype = self.state.stored.processes[self.me].proctype;
        let program = self.program;
        let elements = &program.proctypes[proctype].table.elements;
        if self.state.handshake.is_some() && !self.completes(elements.sequences[sequence].first)? {
            return Ok(Effect::Blocked);
        }
        let mut violated = 0;
        let mut current = elements.sequences[sequence].first;
        let mut guard = true;
        for _ in 0..D_STEP_LIMIT {
            let Some(id) = current.filter(|id| elements.elements[*id].in_d_step) else {
                return Ok(if violated > 0 { Effect::Violated(violated) } else { Effect::Done });
            };
            let element = &elements.elements[id];
            current = match &element.shape {
                Shape::Goto(label) => elements.label(label).ok(),
                Shape::Join | Shape::Exit => element.next,
                Shape::Block(inner) => elements.sequences[*inner].first,
                Shape::Selection => match self.first_executable(&element.choices, &mut violated)? {
                    Some(after) => after,
                    None if guard => return Ok(Effect::Blocked),
                    None => return Err(Fault::BlockedInDStep),
                },
                shape => {
                    match self.inside_d_step(shape, others)? {
                        Effect::Blocked if guard => return Ok(Effect::Blocked),
                        Effect::Blocked => return Err(Fault::BlockedInDStep),
                        Effect::Done => {}
                        Effect::Violated(n) => violated += n,
                    }
                    element.next
                }
            };
            guard &= matches!(element.shape, Shape::Join | Shape::Block(_));
        }
        Err(Fault::EndlessDStep)
    }

    /// Is one of the statements that can be the first from this element on the receive that completes the
    /// hand-shake?
    fn completes(&mut self, first: Option<ElementId>) -> Result<bool, Fault> {
        let proctype = self.state.stored.processes[self.me].proctype;
        let program = self.program;
        let elements = &program.proctypes[proctype].table.elements;
        let mut open: Vec<ElementId> = first.into_iter().collect();
        while let Some(id) = open.pop() {
            let Ok(start) = elements.start(id) else { continue };
            let element = &elements.elements[start];
            match &element.shape {
                Shape::Block(inner) => open.extend(elements.sequences[*inner].first),
                Shape::Selection => {
                    open.extend(element.choices.iter().filter_map(|c| elements.sequences[*c].first));
                }
                Shape::Basic(basic @ Basic::Receive { peek: false, .. }) => {
                    let mut tried = self.state.clone();
                    let (me, timeout) = (self.me, self.timeout);
                    let effect = Context { program, state: &mut tried, me, timeout }.basic(basic)?;
                    if effect != Effect::Blocked {
                        return Ok(true);
                    }
                }
                _ => {}
            }
        }
        Ok(false)
    }

    /// Executes a statement of a `d_step`, which a hand-shake does not keep from happening.
    fn inside_d_step(&mut self, shape: &Shape, others: bool) -> Result<Effect, Fault> {
        let before = self.state.handshake;
        let effect = match shape {
            Shape::Basic(basic) => self.basic(basic)?,
            Shape::Else if others => Effect::Blocked,
            _ => Effect::Done,
        };
        let offers = matches!(shape, Shape::Basic(Basic::Send { .. }))
            && effect != Effect::Blocked
            && self.state.handshake.is_some()
            && self.state.handshake != before;
        if offers { Err(Fault::RendezvousInDStep) } else { Ok(effect) }
    }

    /// Executes the first statement of the first option where that is possible; where it goes on.
    fn first_executable(
        &mut self,
        choices: &[SequenceId],
        violated: &mut usize,
    ) -> Result<Option<Option<ElementId>>, Fault> {
        let proctype = self.state.stored.processes[self.me].proctype;
        let program = self.program;
        let elements = &program.proctypes[proctype].table.elements;
        for choice in choices {
            let Some(first) = elements.sequences[*choice].first else { continue };
            let Ok(start) = elements.start(first) else { continue };
            let element = &elements.elements[start];
            match &element.shape {
                Shape::Goto(_) | Shape::Selection | Shape::Block(_) => return Ok(Some(Some(start))),
                Shape::Else => return Ok(Some(element.next)),
                shape => {
                    let before = self.state.clone();
                    match self.inside_d_step(shape, false)? {
                        Effect::Blocked => *self.state = before,
                        Effect::Done => return Ok(Some(element.next)),
                        Effect::Violated(n) => {
                            *violated += n;
                            return Ok(Some(element.next));
                        }
                    }
                }
            }
        }
        Ok(None)
    }
}
