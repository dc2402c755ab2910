//! Rounds of several processes: each does its part and sends what it likes; then all say that they have ended, and what they have.
//!
//! Who has heard the end of all others has had all messages of the round, since a connection keeps their order. Messages of a process that is a round ahead are held back.

use std::collections::VecDeque;
use std::time::Duration;

use quotient_seams::Incomplete;

use super::machines::Peers;
use super::town::{MOST_WAITING, TURN, foreign, lost};
use crate::monitor::Watch;
use crate::restart::{Reader, Writer};
use crate::{Statistics, Stop};

/// A message of a round.
const MESSAGE: u8 = 1;
/// The end of a round.
const END: u8 = 2;
/// Somebody must stop.
const STOP: u8 = 3;

/// What is taken from others.
pub(super) trait Takes {
    /// A message of another process.
    fn take(&mut self, from: usize, message: &[u8]) -> Option<()>;
}

/// The processes, in rounds.
pub(super) struct Rounds<'p> {
    peers: &'p mut dyn Peers,
    pub(super) count: usize,
    pub(super) me: usize,
    /// What each has said at its end of the round.
    ended: Vec<Option<Vec<u64>>>,
    /// Why others must stop, as they have said at their ends of the round.
    stops: Option<String>,
    held: VecDeque<(usize, Vec<u8>)>,
    /// Why this process must stop, or another one: all end with the next round whose end somebody says that at.
    pub(super) stop: Option<Stop>,
    /// All end for the same reason.
    pub(super) agreed: bool,
}

impl<'p> Rounds<'p> {
    pub(super) fn new(peers: &'p mut dyn Peers) -> Rounds<'p> {
        let (count, me) = peers.places();
        Rounds {
            peers,
            count,
            me,
            ended: vec![None; count],
            stops: None,
            held: VecDeque::new(),
            stop: None,
            agreed: false,
        }
    }

    /// Sends a message as it is.
    pub(super) fn tell(&mut self, to: usize, message: Vec<u8>) -> Result<(), Stop> {
        self.peers.send(to, message).map_err(lost)
    }

    pub(super) fn tell_all(&mut self, message: &[u8]) -> Result<(), Stop> {
        let me = self.me;
        (0..self.count).filter(|peer| *peer != me).try_for_each(|peer| self.tell(peer, message.to_vec()))
    }

    /// The next message as it is, whoever sent it; first those that came while others still ended the last round.
    pub(super) fn hear(&mut self, watch: &mut impl Watch) -> Result<(usize, Vec<u8>), Stop> {
        if let Some(message) = self.held.pop_front() {
            return Ok(message);
        }
        loop {
            if let Some(message) = self.peers.receive(TURN).map_err(lost)? {
                return Ok(message);
            }
            if watch.due()
                && let Some(stop) = watch.check(&mut Statistics::default)
            {
                return Err(stop);
            }
        }
    }

    /// Holds messages back until rounds have begun.
    pub(super) fn hold(&mut self, messages: Vec<(usize, Vec<u8>)>) {
        self.held.extend(messages);
    }

    /// Sends a message of this round.
    pub(super) fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Stop> {
        self.tell(to, [&[MESSAGE], message].concat())
    }

    /// This process must stop: so must all, at the end of the round.
    pub(super) fn must_stop(&mut self, why: Stop) -> Result<(), Stop> {
        if self.stop.is_some() {
            return Ok(());
        }
        let said = self.reason(&why);
        self.stop = Some(why);
        self.tell_all(&[&[STOP], said.as_bytes()].concat())
    }

    /// A reason as others tell it.
    fn reason(&self, why: &Stop) -> String {
        match why {
            // That came from another process.
            Stop::Incomplete(Incomplete::Stopped(why)) => why.clone(),
            Stop::Incomplete(why) => format!("process {}: {why}", self.me),
            _ => format!("process {} had to stop", self.me),
        }
    }

    fn handle(&mut self, from: usize, message: Vec<u8>, takes: &mut impl Takes) -> Result<(), Stop> {
        if self.ended[from].is_some() {
            self.held.push_back((from, message));
            return Ok(());
        }
        let read = match message.split_first() {
            Some((&MESSAGE, rest)) => takes.take(from, rest),
            Some((&END, rest)) => self.read_end(from, rest),
            Some((&STOP, why)) => {
                self.stop.get_or_insert(lost(String::from_utf8_lossy(why).into_owned()));
                Some(())
            }
            _ => None,
        };
        read.ok_or_else(|| foreign(from))
    }

    fn read_end(&mut self, from: usize, rest: &[u8]) -> Option<()> {
        let mut reader = Reader(rest);
        self.ended[from] = Some(reader.numbers()?.collect());
        let why = String::from_utf8_lossy(reader.bytes()?).into_owned();
        if !why.is_empty() {
            self.stops.get_or_insert(why);
        }
        reader.end()
    }

    /// Looks whether this process must stop.
    pub(super) fn look(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        match watch.due().then(|| watch.check(&mut Statistics::default)).flatten() {
            Some(stop) => self.must_stop(stop),
            None => Ok(()),
        }
    }

    /// Takes what has come; where too much waits to be sent, until that is less.
    pub(super) fn read(&mut self, takes: &mut impl Takes, watch: &mut impl Watch) -> Result<(), Stop> {
        for (from, message) in std::mem::take(&mut self.held) {
            self.handle(from, message, takes)?;
        }
        while let Some((from, message)) = self.peers.receive(Duration::ZERO).map_err(lost)? {
            self.handle(from, message, takes)?;
        }
        while self.peers.waiting() > MOST_WAITING {
            self.wait(takes, watch)?;
        }
        Ok(())
    }

    fn wait(&mut self, takes: &mut impl Takes, watch: &mut impl Watch) -> Result<(), Stop> {
        if let Some((from, message)) = self.peers.receive(TURN).map_err(lost)? {
            return self.handle(from, message, takes);
        }
        self.look(watch)
    }

    /// Ends the round: what all have said, the sums of it. `Err` where somebody must stop: then all do.
    pub(super) fn end<const N: usize>(
        &mut self,
        said: [u64; N],
        takes: &mut impl Takes,
        watch: &mut impl Watch,
    ) -> Result<[u64; N], Stop> {
        // Those of the last round's end are of this one.
        for (from, message) in std::mem::take(&mut self.held) {
            self.handle(from, message, takes)?;
        }
        // What all decide on is what all have said; who must stop later says so at the end of the next round.
        let own = self.stop.clone();
        let why = own.as_ref().map_or(String::new(), |why| self.reason(why));
        let mut out = Writer::of(END);
        out.numbers(said.iter().copied());
        out.bytes(why.as_bytes());
        self.tell_all(&out.0)?;
        let me = self.me;
        while self.ended.iter().enumerate().any(|(peer, ended)| peer != me && ended.is_none()) {
            self.wait(takes, watch)?;
        }
        let mut sums = said;
        for (peer, ended) in self.ended.iter_mut().enumerate() {
            let Some(theirs) = ended.take() else { continue };
            let theirs: [u64; N] = theirs.try_into().map_err(|_| foreign(peer))?;
            sums.iter_mut().zip(theirs).for_each(|(sum, theirs)| *sum = sum.wrapping_add(theirs));
        }
        match own.or(self.stops.take().map(lost)) {
            Some(stop) => {
                self.agreed = true;
                Err(stop)
            }
            None => Ok(sums),
        }
    }
}
