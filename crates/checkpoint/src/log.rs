//! The log of a search: blocks, one after the other, each with a checksum.
//!
//! A record that is large is a block of its own, packed by the worker that made it; small ones share a block. A *cut* is a block that says that the
//! search can go on from what is before it. A log is read in two passes: the first looks at checksums only, up to the first block that is torn or damaged, and
//! remembers the last cut before; the second gives the records up to there. What follows is cut off: the search finds it again.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use quotient_search::{Log, Statistics};

use crate::manifest::Reached;
use crate::{Checkpoint, SYNCS_EVERY, WRITES_EVERY};

const MAGIC: [u8; 4] = *b"QBLK";
/// Bytes before a block: magic, kind, number, bytes unpacked, bytes, checksum of all this and of the bytes.
pub(crate) const HEADER: usize = 24;
/// Several records, packed together.
const GROUP: u32 = 1;
/// One record, packed.
const RECORD: u32 = 2;
/// What is before can be gone on from.
const CUT: u32 = 3;

/// Records from this size on are packed by themselves.
const LARGE: usize = 1 << 16;
/// Bytes of small records that are packed together, at most.
const TOGETHER: usize = 1 << 20;
/// Bytes of a block, unpacked, at most: more is not ours.
const MOST: usize = 1 << 30;
/// The fastest level: more would cost more than it saves.
pub(crate) const LEVEL: i32 = 1;

/// First byte of a record that was made ready: packed, or as it is.
const PACKED: u8 = 1;
const AS_IT_IS: u8 = 0;

thread_local! {
    /// What a thread packs with: to make it anew for each block takes as long as to pack a small one.
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|compressor| {
        if compressor.is_none() {
            *compressor = Some(zstd::bulk::Compressor::new(LEVEL)?);
        }
        compressor.as_mut().map_or_else(|| zstd::bulk::compress(bytes, LEVEL), |c| c.compress(bytes))
    })
}

fn pack(record: &[u8]) -> Vec<u8> {
    let plain = || [&[AS_IT_IS], record].concat();
    if record.len() < LARGE {
        return plain();
    }
    match compress(record) {
        Ok(packed) => [&[PACKED], &(record.len() as u32).to_le_bytes()[..], &packed].concat(),
        Err(_) => plain(),
    }
}

/// The log of one search.
#[derive(Debug)]
pub struct SearchLog<'c> {
    checkpoint: &'c mut Checkpoint,
    /// Which search it is, from 1 on.
    number: usize,
    path: PathBuf,
    file: File,
    /// What is still to be read, if anything.
    reading: Option<Reading>,
    /// Records that wait to be packed together.
    together: Vec<u8>,
    /// Bytes and blocks written.
    bytes: u64,
    blocks: u32,
    /// Where the earlier run can be gone on from.
    cuts: Vec<Cut>,
    /// The last cut, if it is not written yet.
    waits: Option<Statistics>,
    last: Statistics,
    wrote: Instant,
    synced: Instant,
}

/// Where reading has come to.
#[derive(Debug)]
struct Reading {
    from: BufReader<File>,
    /// Blocks up to the last cut.
    left: u32,
    /// Records of a block that are not given yet.
    group: Vec<u8>,
    at: usize,
}

/// A block's header.
pub(crate) struct Block {
    kind: u32,
    number: u32,
    pub(crate) unpacked: usize,
    pub(crate) bytes: usize,
    checksum: u32,
}

impl Block {
    pub(crate) fn header(kind: u32, number: u32, unpacked: usize, bytes: &[u8]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        let fields = [kind, number, unpacked as u32, bytes.len() as u32];
        for (to, field) in header[4..20].chunks_exact_mut(4).zip(fields) {
            to.copy_from_slice(&field.to_le_bytes());
        }
        let checksum = checksum(&header, bytes);
        header[20..].copy_from_slice(&checksum.to_le_bytes());
        header
    }

    pub(crate) fn parse(header: &[u8; HEADER]) -> Option<Block> {
        let field =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (unpacked, bytes) = (field(12) as usize, field(16) as usize);
        let ours = header[..4] == MAGIC && unpacked <= MOST && bytes <= MOST;
        ours.then(|| Block { kind: field(4), number: field(8), unpacked, bytes, checksum: field(20) })
    }

    /// The next block with its bytes; `None` at the end, `Err` if it is torn or damaged.
    pub(crate) fn read(
        from: &mut impl Read,
        number: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Block>, Damage> {
        let mut header = [0; HEADER];
        match read_up_to(from, &mut header).map_err(Damage::System)? {
            0 => return Ok(None),
            HEADER => {}
            _ => return Err(Damage::Torn),
        }
        let Some(block) = Block::parse(&header) else { return Err(Damage::Flipped) };
        bytes.clear();
        // Not more memory than there are bytes to come.
        let read = from.take(block.bytes as u64).read_to_end(bytes).map_err(Damage::System)?;
        if read < block.bytes {
            return Err(Damage::Torn);
        }
        match block.number == number && checksum(&header, bytes) == block.checksum {
            true => Ok(Some(block)),
            false => Err(Damage::Flipped),
        }
    }
}

/// What is wrong with a block.
pub(crate) enum Damage {
    Torn,
    Flipped,
    System(io::Error),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Damage::Torn => f.write_str("was not written to its end"),
            Damage::Flipped => f.write_str("is damaged (its checksum is wrong)"),
            Damage::System(error) => error.fmt(f),
        }
    }
}

fn checksum(header: &[u8; HEADER], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..20]);
    hasher.update(bytes);
    hasher.finalize()
}

fn read_up_to(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < to.len() {
        match from.read(&mut to[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// Where a search can be gone on from.
#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    /// Bytes and blocks up to there.
    bytes: u64,
    blocks: u32,
    statistics: Statistics,
}

/// What is good of a log.
#[derive(Default)]
struct Good {
    cuts: Vec<Cut>,
    /// What ended it, if not its end: a sentence.
    damage: Option<String>,
}

impl Good {
    fn of(path: &Path, file: &File) -> io::Result<Good> {
        let mut from = BufReader::with_capacity(1 << 20, file);
        let (mut good, mut at, mut number, mut bytes) = (Good::default(), 0, 0, Vec::new());
        loop {
            match Block::read(&mut from, number, &mut bytes) {
                Ok(None) => return Ok(good),
                Ok(Some(block)) => {
                    number += 1;
                    at += (HEADER + block.bytes) as u64;
                    if block.kind == CUT
                        && let Some(statistics) = read_statistics(&bytes)
                    {
                        good.cuts.push(Cut { bytes: at, blocks: number, statistics });
                    }
                }
                Err(Damage::System(error)) => return Err(error),
                Err(damage) => {
                    good.damage = Some(format!("block {number} of {} at byte {at} {damage}", path.display()));
                    return Ok(good);
                }
            }
        }
    }
}

/// What a search does that goes on from there.
fn goes_on(cut: Option<&Cut>) -> String {
    match cut {
        None => "the search begins again".to_owned(),
        Some(cut) => format!("the search goes on after level {}", cut.statistics.depth),
    }
}

fn read_statistics(bytes: &[u8]) -> Option<Statistics> {
    let (fields, []) = bytes.as_chunks() else { return None };
    let [states, transitions, expanded, depth, waiting] = fields else { return None };
    let [states, transitions, expanded, depth, waiting] =
        [states, transitions, expanded, depth, waiting].map(|field| u64::from_le_bytes(*field));
    Some(Statistics { states, transitions, expanded, depth, waiting, ..Statistics::default() })
}

impl<'c> SearchLog<'c> {
    pub(crate) fn open(checkpoint: &'c mut Checkpoint, number: usize) -> Result<SearchLog<'c>, String> {
        let path = checkpoint.folder.join(format!("search-{number}.log"));
        let said = |error: io::Error| format!("{}: {error}", path.display());
        let known = checkpoint.manifest.searches.get(number - 1).copied();
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(said)?;
        let mut good = Good::default();
        if checkpoint.resumes {
            good = Good::of(&path, &file).map_err(said)?;
            let promised = known.map_or(0, |reached| reached.bytes);
            let short = good.cuts.last().map_or(0, |cut| cut.bytes) < promised;
            if let Some(damage) =
                good.damage.take().or(short.then(|| format!("{} is too short", path.display())))
            {
                let from = goes_on(good.cuts.last());
                checkpoint.notes.push(format!("{damage}: {from}"));
            }
        }
        file.seek(SeekFrom::Start(0)).map_err(said)?;
        let now = Instant::now();
        let last = good.cuts.last().copied();
        let mut log = SearchLog {
            checkpoint,
            number,
            path,
            file,
            reading: None,
            together: Vec::new(),
            bytes: 0,
            blocks: 0,
            cuts: good.cuts,
            waits: None,
            last: Statistics::default(),
            wrote: now,
            synced: now,
        };
        log.go_on_from(last).map_err(|e| log.said(e))?;
        Ok(log)
    }

    /// What was written up to there is read, and what follows is found again.
    fn go_on_from(&mut self, cut: Option<Cut>) -> io::Result<()> {
        let Cut { bytes, blocks, statistics } = cut.unwrap_or_default();
        self.reading = match blocks {
            0 => None,
            left => {
                let from = BufReader::with_capacity(1 << 20, File::open(&self.path)?);
                Some(Reading { from, left, group: Vec::new(), at: 0 })
            }
        };
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::End(0))?;
        (self.bytes, self.blocks, self.last) = (bytes, blocks, statistics);
        Ok(())
    }

    fn block(&mut self, kind: u32, unpacked: usize, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(&Block::header(kind, self.blocks, unpacked, bytes))?;
        self.file.write_all(bytes)?;
        self.blocks += 1;
        self.bytes += (HEADER + bytes.len()) as u64;
        Ok(())
    }

    /// Writes the small records that wait.
    fn write_together(&mut self) -> io::Result<()> {
        if self.together.is_empty() {
            return Ok(());
        }
        let packed = compress(&self.together)?;
        self.block(GROUP, self.together.len(), &packed)?;
        self.together.clear();
        Ok(())
    }

    /// Writes everything up to the last cut.
    fn write_cut(&mut self) -> io::Result<()> {
        let Some(statistics) = self.waits.take() else { return Ok(()) };
        self.write_together()?;
        let Statistics { states, transitions, expanded, depth, waiting, .. } = statistics;
        self.block(CUT, 0, &[states, transitions, expanded, depth, waiting].map(u64::to_le_bytes).concat())?;
        self.wrote = Instant::now();
        self.last = statistics;
        Ok(())
    }

    /// Waits for the disk and says in the manifest how far the log reaches.
    fn sync(&mut self) -> Result<(), String> {
        self.file.sync_data().map_err(|e| format!("{}: {e}", self.path.display()))?;
        let searches = &mut self.checkpoint.manifest.searches;
        if searches.len() < self.number {
            searches.resize(self.number, Reached::default());
        }
        searches[self.number - 1] = Reached::new(self.bytes, &self.last);
        self.checkpoint.save()?;
        self.synced = Instant::now();
        Ok(())
    }

    /// The search is over: writes what waits.
    pub fn finish(mut self) -> Result<(), String> {
        self.write_cut().map_err(|e| format!("{}: {e}", self.path.display()))?;
        self.sync()
    }

    fn said(&self, error: io::Error) -> String {
        format!("{}: {error}", self.path.display())
    }
}

impl Log for SearchLog<'_> {
    fn pack(&self) -> fn(&[u8]) -> Vec<u8> {
        pack
    }

    fn append(&mut self, packed: &[u8]) -> Result<(), String> {
        // What comes now belongs to the next cut: from here on the last one can only be told together with it.
        self.waits = None;
        let mut write = || match packed {
            [PACKED, a, b, c, d, packed @ ..] => {
                self.write_together()?;
                self.block(RECORD, u32::from_le_bytes([*a, *b, *c, *d]) as usize, packed)
            }
            [_, record @ ..] => {
                self.together.extend_from_slice(&(record.len() as u32).to_le_bytes());
                self.together.extend_from_slice(record);
                if self.together.len() >= TOGETHER { self.write_together() } else { Ok(()) }
            }
            [] => Ok(()),
        };
        write().map_err(|e| self.said(e))
    }

    fn is_due(&self) -> bool {
        self.wrote.elapsed() >= WRITES_EVERY
    }

    fn cut(&mut self, statistics: &Statistics, now: bool) -> Result<(), String> {
        self.waits = Some(*statistics);
        if !now {
            return Ok(());
        }
        self.write_cut().map_err(|e| self.said(e))?;
        if self.synced.elapsed() < SYNCS_EVERY { Ok(()) } else { self.sync() }
    }

    fn levels(&self) -> Vec<u64> {
        self.cuts.iter().map(|cut| cut.statistics.depth).collect()
    }

    fn go_back(&mut self, level: Option<u64>) -> Result<(), String> {
        let at = level.map(|level| self.cuts.iter().rposition(|cut| cut.statistics.depth == level));
        let cut = match at {
            None => None,
            Some(None) => return Err(format!("{} has no such level", self.path.display())),
            Some(Some(at)) => Some(self.cuts[at]),
        };
        let last = self.cuts.last().map(|cut| cut.bytes);
        if cut.map(|cut| cut.bytes) != last {
            let from = goes_on(cut.as_ref());
            self.checkpoint.notes.push(format!("another process has come less far: {from}"));
        }
        self.go_on_from(cut).map_err(|e| self.said(e))
    }

    fn read(&mut self, record: &mut Vec<u8>) -> Result<bool, String> {
        let path = self.path.display().to_string();
        let Some(reading) = &mut self.reading else { return Ok(false) };
        record.clear();
        loop {
            if let Some((len, rest)) = reading.group[reading.at..].split_first_chunk() {
                let len = u32::from_le_bytes(*len) as usize;
                let found =
                    rest.get(..len).ok_or_else(|| format!("{path}: a block of records is too short"))?;
                record.extend_from_slice(found);
                reading.at += 4 + len;
                return Ok(true);
            }
            if reading.left == 0 {
                self.reading = None;
                return Ok(false);
            }
            let (number, mut bytes) = (self.blocks - reading.left, Vec::new());
            let block = match Block::read(&mut reading.from, number, &mut bytes) {
                Ok(Some(block)) => block,
                Ok(None) => return Err(format!("{path} has become shorter")),
                Err(damage) => return Err(format!("block {number} of {path} {damage}")),
            };
            reading.left -= 1;
            let unpack = || {
                let unpacked = zstd::bulk::decompress(&bytes, block.unpacked);
                unpacked.map_err(|e| format!("block {number} of {path} cannot be unpacked: {e}"))
            };
            match block.kind {
                RECORD => {
                    *record = unpack()?;
                    return Ok(true);
                }
                GROUP => (reading.group, reading.at) = (unpack()?, 0),
                _ => {}
            }
        }
    }
}
