//! Files of a search that has more states than fit in memory (`search/partition/disk`): blocks as in a [log](crate::log), packed, each with a checksum, in a
//! folder that was empty. They are of no use after the search, and are removed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use quotient_search::Spool;

use crate::Unusable;
use crate::log::{Block, HEADER, LEVEL};

/// A folder for the states of a search.
#[derive(Debug)]
pub struct DiskFolder {
    folder: PathBuf,
    /// Whether it was made for this.
    made: bool,
    /// Length of each file and its number of blocks; `None` for those that were removed.
    files: Vec<Option<u64>>,
    /// The file written to last, and the one read last.
    writes: Option<(u32, File)>,
    reads: Option<(u32, File)>,
    /// Bytes that all files have, the most they had, and all that was written and read.
    bytes: u64,
    most: u64,
    written: u64,
    read: u64,
    /// Parts that the states were divided into by the search before.
    parts: Option<usize>,
    packed: Vec<u8>,
}

/// What a search has done with its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskUse {
    /// Parts that the states were divided into.
    pub parts: usize,
    /// Bytes on disk, at most.
    pub most: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes read.
    pub read: u64,
}

impl DiskFolder {
    /// A folder that does not exist or is empty.
    pub fn create(folder: &Path) -> Result<DiskFolder, Unusable> {
        let system = |error| Unusable::System(folder.to_owned(), error);
        let made = !folder.exists();
        fs::create_dir_all(folder).map_err(system)?;
        if fs::read_dir(folder).map_err(system)?.next().is_some() {
            return Err(Unusable::NotEmpty(folder.to_owned()));
        }
        Ok(DiskFolder {
            folder: folder.to_owned(),
            made,
            files: Vec::new(),
            writes: None,
            reads: None,
            bytes: 0,
            most: 0,
            written: 0,
            read: 0,
            parts: None,
            packed: Vec::new(),
        })
    }

    /// Begins another search: what the last one left is removed.
    pub fn clear(&mut self) {
        for number in 0..self.files.len() as u32 {
            // What cannot be removed stays, and is in nobody's way: numbers go on.
            let _ = self.remove(number);
        }
    }

    /// What the last search has done with it.
    pub fn take_use(&mut self) -> Option<DiskUse> {
        let DiskFolder { most, written, read, .. } = *self;
        let parts = self.parts.take()?;
        (self.most, self.written, self.read) = (self.bytes, 0, 0);
        Some(DiskUse { parts, most, written, read })
    }

    fn path(&self, file: u32) -> PathBuf {
        self.folder.join(format!("states-{file}.part"))
    }

    fn said(&self, file: u32, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.path(file).display())
    }
}

impl Drop for DiskFolder {
    fn drop(&mut self) {
        self.clear();
        if self.made {
            // Where something of somebody else's is in it, it stays.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

impl Spool for DiskFolder {
    fn create(&mut self) -> Result<u32, String> {
        self.files.push(Some(0));
        Ok(self.files.len() as u32 - 1)
    }

    fn append(&mut self, file: u32, record: &[u8]) -> Result<u64, String> {
        let said = |folder: &Self, error: std::io::Error| folder.said(file, error);
        let Some(Some(len)) = self.files.get(file as usize).copied() else {
            return Err(self.said(file, "was removed"));
        };
        if self.writes.as_ref().is_none_or(|(number, _)| *number != file) {
            // What is there was not written by this search.
            let path = self.path(file);
            let opened = match len {
                0 => File::options().write(true).create_new(true).open(path),
                _ => File::options().append(true).open(path),
            };
            self.writes = Some((file, opened.map_err(|e| said(self, e))?));
        }
        self.packed.resize(zstd::zstd_safe::compress_bound(record.len()), 0);
        let bytes =
            zstd::bulk::compress_to_buffer(record, &mut self.packed, LEVEL).map_err(|e| said(self, e))?;
        // Where a block stands is its number: one that was read from elsewhere is told.
        let header = Block::header(0, len as u32, record.len(), &self.packed[..bytes]);
        if let Some((_, to)) = &mut self.writes {
            let wrote = to.write_all(&header).and_then(|()| to.write_all(&self.packed[..bytes]));
            wrote.map_err(|e| self.said(file, e))?;
        }
        let added = (HEADER + bytes) as u64;
        (self.bytes, self.written) = (self.bytes + added, self.written + added);
        self.most = self.most.max(self.bytes);
        self.files[file as usize] = Some(len + added);
        Ok(len + added)
    }

    fn read(&mut self, file: u32, place: u64, record: &mut Vec<u8>) -> Result<u64, String> {
        if self.reads.as_ref().is_none_or(|(number, _)| *number != file) {
            let opened = File::open(self.path(file)).map_err(|e| self.said(file, e))?;
            self.reads = Some((file, opened));
        }
        let Some((_, from)) = &mut self.reads else { return Err(self.said(file, "is not open")) };
        let read = std::io::Seek::seek(from, std::io::SeekFrom::Start(place))
            .map_err(|e| e.to_string())
            .and_then(|_| {
                Block::read(from, place as u32, &mut self.packed)
                    .map_err(|damage| format!("the block at byte {place} {damage}"))
            });
        let block = match read {
            Ok(Some(block)) => block,
            Ok(None) => return Err(self.said(file, "has become shorter")),
            Err(why) => return Err(self.said(file, why)),
        };
        record.resize(block.unpacked, 0);
        let unpacked =
            zstd::bulk::decompress_to_buffer(&self.packed, record).map_err(|e| self.said(file, e))?;
        record.truncate(unpacked);
        let bytes = (HEADER + block.bytes) as u64;
        self.read += bytes;
        Ok(place + bytes)
    }

    fn remove(&mut self, file: u32) -> Result<(), String> {
        if self.writes.as_ref().is_some_and(|(number, _)| *number == file) {
            self.writes = None;
        }
        if self.reads.as_ref().is_some_and(|(number, _)| *number == file) {
            self.reads = None;
        }
        match self.files.get_mut(file as usize).and_then(Option::take) {
            // One that was never written to is not there.
            None | Some(0) => Ok(()),
            Some(len) => {
                self.bytes -= len;
                fs::remove_file(self.path(file)).map_err(|e| self.said(file, e))
            }
        }
    }

    fn ended(&mut self, owners: usize) {
        self.parts = Some(owners);
    }
}
