//! Several processes that search together ([`quotient_search::Peers`]): who they are, that they mean the same, what they send each other, and that they live.
//!
//! There is a connection between any two. [`connect`] makes them: each process listens at its own place, and goes to those before it in the list. Both ends prove that they know the token without
//! sending it, and compare what they are about to search. Nothing is encrypted. [`Cluster`] is what a search sees. A thread for each connection reads, another one writes; who has
//! nothing to say gives a sign of life, and who gives none is lost. What is lost stays lost: the search ends.

mod connect;
mod secret;

pub use connect::{Meeting, Refused, Subject, hosts};

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quotient_search::Peers;

/// Says how shapes are numbered: those after the first `have`, after this one, if any, has got a number. `None` if there are too many.
pub type Book = Box<dyn Fn(usize, Option<&[u32]>) -> Option<Vec<Vec<u32>>> + Send>;

/// Kinds of frames.
const BEAT: u8 = 0;
const MESSAGE: u8 = 1;
const ASK: u8 = 2;
const REPLY: u8 = 3;
const FINISHED: u8 = 4;
const MISSED: u8 = 5;

/// A sign of life after so long without anything else, and how long to wait for one.
const BEATS: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(10);
/// Bytes of a frame, at most: more is none of ours.
const MOST: usize = 1 << 28;

/// What the threads of a process share.
#[derive(Default)]
struct Common {
    /// The first process that was lost, and why: a sentence.
    lost: Mutex<Option<String>>,
    /// What to do then.
    again: String,
    /// Those that have finished, with their names.
    finished: Mutex<Vec<(usize, String)>>,
    /// Somebody has finished or is lost.
    left: Condvar,
    /// How shapes are numbered in each search, by its number: others may still ask about one that has ended here.
    books: Mutex<Vec<(u64, Book)>>,
    opened: Condvar,
    /// What the first process has answered.
    reply: Mutex<Option<Vec<Vec<u32>>>>,
    replied: Condvar,
    /// Bytes sent.
    sent: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection to another process.
struct Peer {
    out: Sender<Vec<u8>>,
    waiting: Arc<AtomicU64>,
}

/// The processes that search together.
pub struct Cluster {
    me: usize,
    peers: Vec<Option<Peer>>,
    /// Who sent it, the number of the search it belongs to, the message.
    inbox: Receiver<(usize, u64, Vec<u8>)>,
    common: Arc<Common>,
    /// Searches begun.
    search: u64,
    /// Messages of a search that others have begun already.
    early: VecDeque<(usize, u64, Vec<u8>)>,
    writers: Vec<std::thread::JoinHandle<()>>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("me", &self.me).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Those whose connections were made, each by the number of its process.
    fn over(me: usize, streams: Vec<Option<(TcpStream, String)>>, again: &str) -> io::Result<Cluster> {
        let (into, inbox) = channel();
        let common = Arc::new(Common { again: again.to_owned(), ..Common::default() });
        let (mut peers, mut writers) = (Vec::new(), Vec::new());
        for (number, stream) in streams.into_iter().enumerate() {
            let Some((stream, name)) = stream else {
                peers.push(None);
                continue;
            };
            stream.set_read_timeout(Some(SILENCE))?;
            stream.set_write_timeout(Some(SILENCE))?;
            let (out, queue) = channel();
            let waiting = Arc::new(AtomicU64::new(0));
            let name = format!("process {number} ({name})");
            let reading = Reading {
                stream: stream.try_clone()?,
                number,
                name: name.clone(),
                common: common.clone(),
                into: into.clone(),
                out: out.clone(),
            };
            std::thread::Builder::new().name(format!("reads {number}")).spawn(move || reading.run())?;
            let (shared, count) = (common.clone(), waiting.clone());
            let write = move || write(stream, &queue, &count, &shared, &name);
            writers.push(std::thread::Builder::new().name(format!("writes {number}")).spawn(write)?);
            peers.push(Some(Peer { out, waiting }));
        }
        Ok(Cluster { me, peers, inbox, common, search: 0, early: VecDeque::new(), writers })
    }

    /// Another search begins, in which shapes are numbered so; needed of the first process.
    pub fn begin(&mut self, book: Option<Book>) {
        self.search += 1;
        if let Some(book) = book {
            lock(&self.common.books).push((self.search, book));
            self.common.opened.notify_all();
        }
    }

    /// Asks the first process how shapes are numbered; can be used by any thread. `None` when it is lost.
    pub fn asker(&self) -> impl Fn(usize, Option<&[u32]>) -> Option<Vec<Vec<u32>>> + Send + Sync + use<> {
        let (common, search) = (self.common.clone(), self.search);
        let out = Mutex::new(self.peers.first().and_then(Option::as_ref).map(|peer| peer.out.clone()));
        move |have, description| {
            // One question at a time.
            let out = lock(&out);
            let mut frame = vec![ASK];
            frame.extend(search.to_le_bytes());
            frame.extend((have as u64).to_le_bytes());
            frame.push(u8::from(description.is_some()));
            frame.extend(description.unwrap_or_default().iter().flat_map(|word| word.to_le_bytes()));
            out.as_ref()?.send(frame).ok()?;
            let (mut reply, asked) = (lock(&common.reply), Instant::now());
            loop {
                if let Some(reply) = reply.take() {
                    return Some(reply);
                }
                if lock(&common.lost).is_some() || asked.elapsed() > 3 * SILENCE {
                    return None;
                }
                let waited = common.replied.wait_timeout(reply, Duration::from_millis(50));
                reply = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Tells all what the first process says, before a search has begun; gives it.
    pub fn share(&mut self, text: &str) -> Result<String, String> {
        let (count, me) = self.places();
        if me == 0 {
            (1..count).try_for_each(|peer| self.send(peer, text.as_bytes().to_vec()))?;
            return Ok(text.to_owned());
        }
        loop {
            if let Some((0, said)) = self.receive(Duration::from_millis(50))? {
                return Ok(String::from_utf8_lossy(&said).into_owned());
            }
        }
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.places().0
    }

    /// Leaves the others, who need not miss this process. Where it leaves because another one is lost, all learn which: they may see this one leave before they miss that one.
    pub fn finish(&mut self) {
        let peers: Vec<Peer> = self.peers.iter_mut().filter_map(Option::take).collect();
        let missed = lock(&self.common.lost).clone();
        for peer in &peers {
            if let Some(why) = &missed {
                let _ = peer.out.send([&[MISSED], why.as_bytes()].concat());
            }
            let _ = peer.out.send(vec![FINISHED]);
        }
        // They may still ask the first process how shapes are numbered.
        if self.me == 0 {
            let stay =
                |finished: &mut Vec<_>| finished.len() < peers.len() && lock(&self.common.lost).is_none();
            drop(self.common.left.wait_timeout_while(lock(&self.common.finished), SILENCE, stay));
        }
        for peer in &peers {
            let _ = peer.out.send(Vec::new());
        }
        for writer in self.writers.drain(..) {
            let _ = writer.join();
        }
    }

    /// Bytes sent to all others.
    pub fn sent(&self) -> u64 {
        self.common.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Peers for Cluster {
    fn places(&self) -> (usize, usize) {
        (self.peers.len(), self.me)
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), String> {
        if let Some(why) = &*lock(&self.common.lost) {
            return Err(why.clone());
        }
        let Some(Some(peer)) = self.peers.get(to) else { return Err(format!("there is no process {to}")) };
        let mut frame = Vec::with_capacity(message.len() + 9);
        frame.push(MESSAGE);
        frame.extend(self.search.to_le_bytes());
        frame.extend(message);
        peer.waiting.fetch_add(frame.len() as u64, Ordering::Relaxed);
        peer.out.send(frame).map_err(|_| format!("process {to} is lost"))
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<(usize, Vec<u8>)>, String> {
        if let Some(at) = self.early.iter().position(|early| early.1 <= self.search) {
            return Ok(self.early.remove(at).map(|(from, _, message)| (from, message)));
        }
        loop {
            match self.inbox.recv_timeout(wait) {
                // A search that has ended.
                Ok((_, search, _)) if search < self.search => {}
                Ok(early) if early.1 > self.search => self.early.push_back(early),
                Ok((from, _, message)) => return Ok(Some((from, message))),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    // What was said before somebody was lost counts.
                    if let Some(why) = &*lock(&self.common.lost) {
                        return Err(why.clone());
                    }
                    // The first process needs all others, and they need it.
                    let finished = lock(&self.common.finished);
                    let missed = finished.iter().find(|(number, _)| self.me == 0 || *number == 0);
                    return match missed {
                        Some((_, name)) => Err(format!("{name} has ended; {}", self.common.again)),
                        None => Ok(None),
                    };
                }
            }
        }
    }

    fn waiting(&self) -> u64 {
        self.peers.iter().flatten().map(|peer| peer.waiting.load(Ordering::Relaxed)).max().unwrap_or(0)
    }
}

/// Sends what there is to send, or a sign of life.
fn write(mut stream: TcpStream, queue: &Receiver<Vec<u8>>, waiting: &AtomicU64, common: &Common, name: &str) {
    loop {
        let frame = match queue.recv_timeout(BEATS) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Timeout) => vec![BEAT],
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // The end.
        if frame.is_empty() {
            return;
        }
        let size = (frame.len() as u32).to_le_bytes();
        if let Err(error) = stream.write_all(&size).and_then(|()| stream.write_all(&frame)) {
            // Who has finished may be gone when the next sign of life is sent there.
            if !lock(&common.finished).iter().any(|(_, finished)| finished == name) {
                miss(common, name, &error.to_string());
            }
            return;
        }
        common.sent.fetch_add(frame.len() as u64 + 4, Ordering::Relaxed);
        if frame.first() == Some(&MESSAGE) {
            waiting.fetch_sub(frame.len() as u64, Ordering::Relaxed);
        }
    }
}

/// A process is lost.
fn miss(common: &Common, name: &str, why: &str) {
    learn(common, || format!("{name} is lost: {why}; {}", common.again));
}

/// Why a process is lost, unless another one was before.
fn learn(common: &Common, why: impl FnOnce() -> String) {
    lock(&common.lost).get_or_insert_with(why);
    common.replied.notify_all();
    common.opened.notify_all();
    // Who looks at both has the second one locked.
    drop(lock(&common.finished));
    common.left.notify_all();
}

/// Reads what a process sends.
struct Reading {
    stream: TcpStream,
    number: usize,
    name: String,
    common: Arc<Common>,
    into: Sender<(usize, u64, Vec<u8>)>,
    out: Sender<Vec<u8>>,
}

impl Reading {
    fn run(mut self) {
        let why = match self.read() {
            // Who has finished may go.
            Err(_) if lock(&self.common.finished).iter().any(|(number, _)| *number == self.number) => return,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                format!("no sign of life for {} s", SILENCE.as_secs())
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                "its connection was closed".to_owned()
            }
            Err(error) => error.to_string(),
        };
        miss(&self.common, &self.name, &why);
    }

    /// Until the connection ends.
    fn read(&mut self) -> io::Result<Infallible> {
        let foreign = || io::Error::new(io::ErrorKind::InvalidData, "what it has sent is not a frame");
        loop {
            let mut size = [0; 4];
            self.stream.read_exact(&mut size)?;
            let size = u32::from_le_bytes(size) as usize;
            if size == 0 || size > MOST {
                return Err(foreign());
            }
            let mut frame = Vec::new();
            (&mut self.stream).take(size as u64).read_to_end(&mut frame)?;
            if frame.len() < size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match frame[0] {
                BEAT => {}
                MESSAGE => {
                    let (search, message) = frame[1..].split_first_chunk().ok_or_else(foreign)?;
                    let message = (self.number, u64::from_le_bytes(*search), message.to_vec());
                    // Nobody listens any longer: this process ends.
                    let _ = self.into.send(message);
                }
                ASK => {
                    let reply = self.answer(&frame[1..]).ok_or_else(foreign)?;
                    let _ = self.out.send(reply);
                }
                REPLY => {
                    let mut words = frame[1..].as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
                    let mut reply = Vec::new();
                    while let Some(len) = words.next() {
                        reply.push(words.by_ref().take(len as usize).collect());
                    }
                    *lock(&self.common.reply) = Some(reply);
                    self.common.replied.notify_all();
                }
                MISSED => learn(&self.common, || String::from_utf8_lossy(&frame[1..]).into_owned()),
                // It may still answer.
                FINISHED => {
                    lock(&self.common.finished).push((self.number, self.name.clone()));
                    self.common.left.notify_all();
                }
                _ => return Err(foreign()),
            }
        }
    }

    /// How shapes are numbered, once the search in question has begun.
    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (search, rest) = question.split_first_chunk()?;
        let (have, rest) = rest.split_first_chunk()?;
        let (has, words) = rest.split_first()?;
        let (search, have) = (u64::from_le_bytes(*search), u64::from_le_bytes(*have) as usize);
        let words: Vec<u32> = words.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let mut books = lock(&self.common.books);
        loop {
            if let Some((_, book)) = books.iter().find(|(open, _)| *open == search) {
                let since = book(have, (*has == 1).then_some(&words[..]))?;
                let mut reply = vec![REPLY];
                for description in since {
                    reply.extend((description.len() as u32).to_le_bytes());
                    reply.extend(description.iter().flat_map(|word| word.to_le_bytes()));
                }
                return Some(reply);
            }
            if lock(&self.common.lost).is_some() {
                return None;
            }
            let waited = self.common.opened.wait_timeout(books, Duration::from_millis(50));
            books = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let there = TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        (listener.accept().expect("somebody has come").0, there)
    }

    /// Why somebody is missed.
    fn missed(cluster: &mut Cluster) -> String {
        let began = Instant::now();
        loop {
            match cluster.receive(Duration::from_millis(10)) {
                Ok(_) => assert!(began.elapsed() < Duration::from_secs(8), "nobody is missed"),
                Err(why) => return why,
            }
        }
    }

    /// The connection of the second process to the third ends, and the first one sees the second one leave before it misses the third: it blames the third.
    #[test]
    fn who_leaves_says_who_is_lost() {
        let ((first, to_first), (second, to_second)) = (connection(), connection());
        let (third, open) = connection();
        let named = |stream, name: &str| Some((stream, name.to_owned()));
        let mut one =
            Cluster::over(0, vec![None, named(first, "b:2"), named(third, "c:3")], "go on").expect("it runs");
        let mut two = Cluster::over(1, vec![named(to_first, "a:1"), None, named(second, "c:3")], "go on")
            .expect("it runs");
        drop(to_second);
        let why = missed(&mut two);
        assert_eq!(why, "process 2 (c:3) is lost: its connection was closed; go on");
        drop(two);
        assert_eq!(missed(&mut one), why);
        drop(open);
    }
}
