//! How processes find each other: a list of hosts, connections with time-outs, a handshake on token and subject.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::Cluster;
use crate::secret::{proof, same};

const MAGIC: &[u8; 8] = b"QCLUST01";
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Between two attempts: first, and at most.
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Bytes of a subject, at most.
const MOST: u32 = 1 << 20;

/// What all must have in common: what it is called, and its value.
pub type Subject = Vec<(String, String)>;

/// Where a process is among others, and how it meets them.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The places of all, `name:port`.
    pub hosts: Vec<String>,
    /// Which of them this is.
    pub process: usize,
    /// The address to listen at, if not the loopback.
    pub listen: Option<IpAddr>,
    /// What strangers do not know.
    pub token: Vec<u8>,
    /// How long to wait for the others.
    pub wait: Duration,
    /// What to do when a process is lost: said after that.
    pub again: String,
}

/// Why processes did not meet.
#[derive(Debug)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// The hosts of a list, one `name:port` per line; `#` begins a comment.
pub fn hosts(text: &str) -> Result<Vec<String>, Refused> {
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let host = line.split('#').next().unwrap_or_default().trim();
        if host.is_empty() {
            continue;
        }
        let good = host.rsplit_once(':').is_some_and(|(name, port)| {
            !name.is_empty()
                && !name.contains(char::is_whitespace)
                && port.parse::<u16>().is_ok_and(|p| p > 0)
        });
        if !good {
            return Err(Refused(format!(
                "line {} of the list of hosts is `{host}`, which is not a name:port",
                number + 1
            )));
        }
        if hosts.iter().any(|known| known == host) {
            return Err(Refused(format!("line {} of the list of hosts names `{host}` again", number + 1)));
        }
        hosts.push(host.to_owned());
    }
    match hosts.len() {
        0 => Err(Refused(
            "the list of hosts is empty\nhelp: one name:port per line, the first one for process 0".into(),
        )),
        // More would not fit into the numbers of states.
        4096.. => Err(Refused("more than 4095 hosts".into())),
        _ => Ok(hosts),
    }
}

/// What became of a connection that came in.
enum Came {
    /// A process of ours.
    Process(usize),
    /// Somebody else.
    Stranger(String),
}

impl Meeting {
    /// Meets the others, who must be about the same.
    pub fn meet(&self, subject: &Subject) -> Result<Cluster, Refused> {
        let own = self.hosts.get(self.process).ok_or_else(|| {
            Refused(format!(
                "there is no process {}: the list has {} hosts, from 0 on",
                self.process,
                self.hosts.len()
            ))
        })?;
        let port = own.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0);
        let address = SocketAddr::new(self.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), port);
        let listener = TcpListener::bind(address).map_err(|error| {
            let help = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "another program has this port: write another one into the list of hosts, on all machines"
                }
                _ => "--listen ADDRESS names the address of this machine to listen at",
            };
            Refused(format!("cannot listen at {address}: {error}\nhelp: {help}"))
        })?;
        self.meet_at(&listener, subject)
    }

    /// Meets the others at a place where this process listens already.
    pub fn meet_at(&self, listener: &TcpListener, subject: &Subject) -> Result<Cluster, Refused> {
        let system = |error: io::Error| Refused(format!("cannot listen: {error}"));
        listener.set_nonblocking(true).map_err(system)?;
        let deadline = Instant::now() + self.wait;
        let mut streams: Vec<Option<(TcpStream, String)>> = (0..self.hosts.len()).map(|_| None).collect();
        for (number, host) in self.hosts.iter().enumerate().take(self.process) {
            streams[number] = Some((self.go_to(number, host, subject, deadline)?, host.clone()));
        }
        let (mut strangers, mut pause) = (String::new(), PAUSE);
        loop {
            let missing = (self.process + 1..self.hosts.len()).find(|number| streams[*number].is_none());
            let Some(missing) = missing else { break };
            match listener.accept() {
                Ok((stream, from)) => match self.welcome(stream, subject)? {
                    (Came::Process(number), stream) if number > self.process => {
                        pause = PAUSE;
                        streams[number] = Some((stream, self.hosts[number].clone()));
                    }
                    (Came::Process(number), _) => {
                        return Err(Refused(format!("two processes say that they are number {number}")));
                    }
                    (Came::Stranger(why), _) => {
                        strangers = format!("\nnote: somebody at {from} was turned away: {why}")
                    }
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() > deadline {
                        return Err(Refused(format!(
                            "process {missing} ({}) did not come within {} s{strangers}\nhelp: start it there with the same command and --process {missing}; --wait says how long to wait",
                            self.hosts[missing],
                            self.wait.as_secs()
                        )));
                    }
                    rest(&mut pause);
                }
                Err(error) => return Err(system(error)),
            }
        }
        Cluster::over(self.process, streams, &self.again).map_err(system)
    }

    /// Connects to a process, as soon as it is there.
    fn go_to(
        &self,
        number: usize,
        host: &str,
        subject: &Subject,
        deadline: Instant,
    ) -> Result<TcpStream, Refused> {
        let mut pause = PAUSE;
        loop {
            let reached = host.to_socket_addrs().and_then(|addresses| {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for address in addresses {
                    match TcpStream::connect_timeout(&address, Duration::from_secs(2)) {
                        // Where nobody listens yet, the system may choose the very port to come from, and connect it to itself.
                        Ok(stream) if stream.local_addr().ok() == stream.peer_addr().ok() => {}
                        Ok(stream) => return Ok(stream),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            });
            match reached {
                Ok(stream) => return self.introduce(stream, number, host, subject),
                Err(error) if Instant::now() > deadline => {
                    return Err(Refused(format!(
                        "process {number} ({host}) cannot be reached: {error}\nhelp: start it there with the same command and --process {number}; on other machines it needs --listen ADDRESS; --wait says how long to wait"
                    )));
                }
                Err(_) => rest(&mut pause),
            }
        }
    }

    fn proof(&self, role: &[u8], nonces: &[u8]) -> [u8; 32] {
        proof(&self.token, &[MAGIC, role, nonces].concat())
    }

    /// The handshake of the one who comes.
    fn introduce(
        &self,
        mut stream: TcpStream,
        number: usize,
        host: &str,
        subject: &Subject,
    ) -> Result<TcpStream, Refused> {
        let broken =
            |error: io::Error| Refused(format!("process {number} ({host}) did not answer as one: {error}"));
        let wrong = || {
            Refused(format!(
                "process {number} ({host}) has another token\nhelp: the same QUOTIENT_TOKEN, or the same --token-file, is needed for all"
            ))
        };
        timed(&stream).map_err(broken)?;
        let mut nonces = [0; 32];
        nonces[..16].copy_from_slice(&nonce().map_err(broken)?);
        stream.write_all(&[&MAGIC[..], &nonces[..16]].concat()).map_err(broken)?;
        let mut magic = [0; 8];
        stream.read_exact(&mut magic).map_err(broken)?;
        if &magic != MAGIC {
            return Err(Refused(format!("{host} is not a process of quotient, or of another version")));
        }
        stream.read_exact(&mut nonces[16..]).map_err(broken)?;
        stream.write_all(&self.proof(b"comes", &nonces)).map_err(broken)?;
        let mut theirs = [0; 32];
        // Who has another token is turned away here.
        if stream.read_exact(&mut theirs).is_err() || !same(&theirs, &self.proof(b"waits", &nonces)) {
            return Err(wrong());
        }
        self.compare(&mut stream, number, subject).map_err(broken)??;
        Ok(stream)
    }

    /// The handshake of the one who waits.
    fn welcome(&self, mut stream: TcpStream, subject: &Subject) -> Result<(Came, TcpStream), Refused> {
        let proved = || -> io::Result<Option<String>> {
            let mut stream = &stream;
            stream.set_nonblocking(false)?;
            timed(stream)?;
            let (mut magic, mut nonces) = ([0; 8], [0; 32]);
            stream.read_exact(&mut magic)?;
            if &magic != MAGIC {
                return Ok(Some("it is not a process of quotient, or of another version".into()));
            }
            stream.read_exact(&mut nonces[..16])?;
            nonces[16..].copy_from_slice(&nonce()?);
            stream.write_all(&[&MAGIC[..], &nonces[16..]].concat())?;
            let mut theirs = [0; 32];
            stream.read_exact(&mut theirs)?;
            if !same(&theirs, &self.proof(b"comes", &nonces)) {
                return Ok(Some("it has another token".into()));
            }
            stream.write_all(&self.proof(b"waits", &nonces))?;
            Ok(None)
        };
        match proved() {
            Ok(None) => {}
            Ok(Some(why)) => return Ok((Came::Stranger(why), stream)),
            Err(error) => return Ok((Came::Stranger(error.to_string()), stream)),
        }
        match self.compare(&mut stream, usize::MAX, subject) {
            Ok(number) => Ok((Came::Process(number?), stream)),
            Err(error) => Ok((Came::Stranger(error.to_string()), stream)),
        }
    }

    /// Tells the other one what this is about, and compares; gives its number.
    fn compare(
        &self,
        stream: &mut TcpStream,
        expected: usize,
        subject: &Subject,
    ) -> io::Result<Result<usize, Refused>> {
        let mut own = vec![self.process.to_string(), self.hosts.join(" ")];
        own.extend(subject.iter().map(|(_, value)| value.clone()));
        let text = own.join("\0");
        stream.write_all(&(text.len() as u32).to_le_bytes())?;
        stream.write_all(text.as_bytes())?;
        let mut size = [0; 4];
        stream.read_exact(&mut size)?;
        let size = u32::from_le_bytes(size);
        if size > MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "too much to say"));
        }
        let mut text = Vec::new();
        stream.take(u64::from(size)).read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let theirs: Vec<&str> = text.split('\0').collect();
        let number = theirs.first().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX);
        let names = ["the number", "the list of hosts"].into_iter();
        let names = names.chain(subject.iter().map(|(name, _)| name.as_str()));
        for (at, name) in names.enumerate().skip(1) {
            let other = theirs.get(at).copied().unwrap_or("nothing");
            if own[at] != other {
                return Ok(Err(Refused(format!(
                    "{name} of process {number} differs: there {other}, here {}\nhelp: all processes need the same program, options, model and list of hosts",
                    own[at]
                ))));
            }
        }
        if number >= self.hosts.len()
            || number == self.process
            || expected != usize::MAX && number != expected
        {
            return Ok(Err(Refused(format!(
                "a process says that it is number {number}, which it cannot be"
            ))));
        }
        Ok(Ok(number))
    }
}

/// Before the next attempt: processes that are started together meet soon, and who waits for long wakes seldom.
fn rest(pause: &mut Duration) {
    std::thread::sleep(*pause);
    *pause = (*pause * 2).min(LONGEST_PAUSE);
}

fn timed(stream: &TcpStream) -> io::Result<()> {
    // What is written in two parts would wait for an acknowledgement in between.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HANDSHAKE))?;
    stream.set_write_timeout(Some(HANDSHAKE))
}

/// Bytes that nobody has seen before.
fn nonce() -> io::Result<[u8; 16]> {
    let mut nonce = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut nonce)?;
    Ok(nonce)
}
