//! A search with its states on disk, against one in memory: counts, depths, paths; owners that are divided; stores that refuse.

use quotient_seams::{All, Ample, Identity, Typed, Visited, Worker};
use quotient_search::{Disk, Limits, Options, Report, Seams, Spool, Stop, Workers, breadth_first_on_disk};
use quotient_visited::Tree;

use crate::refusing_store::Refusing;
use crate::workers::{Some1, Tangle, follow_paths, run_with, told};

/// Files in memory.
#[derive(Debug, Default)]
struct Files {
    files: Vec<Option<Vec<Vec<u8>>>>,
    /// How many more records can be written.
    room: Option<usize>,
    owners: usize,
    /// Every record from this one on is altered.
    altered: Option<usize>,
    reads: usize,
}

impl Spool for Files {
    fn create(&mut self) -> Result<u32, String> {
        self.files.push(Some(Vec::new()));
        Ok(self.files.len() as u32 - 1)
    }

    fn append(&mut self, file: u32, record: &[u8]) -> Result<u64, String> {
        if let Some(room) = &mut self.room {
            *room = room.checked_sub(1).ok_or("no room")?;
        }
        let file = self.files[file as usize].as_mut().expect("it was not removed");
        file.push(record.to_vec());
        Ok(file.len() as u64)
    }

    fn read(&mut self, file: u32, place: u64, record: &mut Vec<u8>) -> Result<u64, String> {
        record.clear();
        record.extend_from_slice(&self.files[file as usize].as_ref().expect("it is there")[place as usize]);
        self.reads += 1;
        if self.altered.is_some_and(|from| self.reads > from) {
            record.truncate(record.len() - 8);
        }
        Ok(place + 1)
    }

    fn remove(&mut self, file: u32) -> Result<(), String> {
        self.files[file as usize].take().expect("it is removed once");
        Ok(())
    }

    fn ended(&mut self, owners: usize) {
        self.owners = owners;
    }
}

fn run<A: Ample<Typed<Tangle>> + Worker, V: Visited + Default>(
    tangle: &Tangle,
    mut ample: A,
    disk: Disk,
    files: &mut Files,
    (all, limits): (bool, Limits),
) -> Report {
    let (mut system, mut visited) = (Typed::new(tangle.clone()), V::default());
    let seams = Seams {
        system: &mut system,
        representative: &mut Identity,
        ample: &mut ample,
        visited: &mut visited,
    };
    let options = &mut Options { all, limits, finish_levels_from: 0, ..Options::default() };
    let report = breadth_first_on_disk(seams, (disk, files), options);
    follow_paths(tangle, &mut system, &report);
    report
}

fn compare<A: Ample<Typed<Tangle>> + Worker + Clone>(tangle: &Tangle, ample: &A, all: bool, limits: Limits) {
    let options = &mut Options { all, limits, finish_levels_from: 0, ..Options::default() };
    let plain = told(&run_with(tangle, ample.clone(), Workers::new(1), options));
    for (from, most, owners) in
        [(0, None, 1..2), (0, Some(3_000), 2..12), (500, Some(900), 3..40), (0, Some(100), 10..400)]
    {
        let (disk, mut files) = (Disk { from, memory: u64::MAX, most }, Files::default());
        let report = run::<A, Tree>(tangle, ample.clone(), disk, &mut files, (all, limits));
        assert_eq!(told(&report), plain, "{disk:?}, all {all}, {limits:?}, {} owners", files.owners);
        // A violation may be found before there is anything to divide.
        if plain.1[0] > 10_000 {
            assert!(owners.contains(&files.owners), "{} owners, {disk:?}", files.owners);
        }
    }
}

#[test]
fn a_search_on_disk_finds_what_one_in_memory_finds() {
    let never: fn(u64) -> bool = |_| false;
    let some: fn(u64) -> bool = |state| state % 4_973 == 77;
    let far: fn(u64) -> bool = |state| state == 18_888;
    let ends: fn(u64) -> bool = |state| state % 7_011 == 5_000;
    for (wrong, ends) in [(never, never), (some, ends), (far, never), (never, ends)] {
        let tangle = Tangle { size: 20_000, wrong, ends };
        for all in [false, true] {
            let shallow = Limits { depth: Some(9), ..Limits::default() };
            for limits in [Limits::default(), shallow] {
                compare(&tangle, &All, all, limits);
                compare(&tangle, &Some1, all, limits);
            }
        }
    }
}

/// The limit of a store is one for each owner: what was lost when it was reached is looked up again.
#[test]
fn stores_of_2_16_states_hold_ten_times_as_many() {
    let tangle = Tangle { size: 655_360, wrong: |_| false, ends: |state| state == 600_001 };
    let options = &mut Options { all: true, finish_levels_from: 0, ..Options::default() };
    let plain = told(&run_with(&tangle, All, Workers::new(1), options));
    assert!(plain.1[0] > 6 << 16, "{plain:?}");
    let (disk, mut files) = (Disk { from: 0, memory: u64::MAX, most: None }, Files::default());
    let report = run::<All, Refusing>(&tangle, All, disk, &mut files, (true, Limits::default()));
    assert_eq!(told(&report), plain);
    assert!(files.owners >= 8, "{} owners", files.owners);
    let options = &mut Options { all: true, finish_levels_from: 0, ..Options::default() };
    let reduced = told(&run_with(&tangle, Some1, Workers::new(1), options));
    let report =
        run::<Some1, Refusing>(&tangle, Some1, disk, &mut Files::default(), (true, Limits::default()));
    assert_eq!(told(&report), reduced);
}

#[test]
fn a_disk_that_is_full_or_damaged_ends_the_search_undecided() {
    let tangle = Tangle { size: 20_000, wrong: |_| false, ends: |_| false };
    let disk = Disk { from: 0, memory: u64::MAX, most: Some(2_000) };
    for (room, altered) in
        [(Some(0), None), (Some(30), None), (Some(100), None), (None, Some(0)), (None, Some(60))]
    {
        let mut files = Files { room, altered, ..Files::default() };
        let report = run::<All, Tree>(&tangle, All, disk, &mut files, (false, Limits::default()));
        let Stop::Incomplete(why) = &report.stop else { panic!("{:?}", report.stop) };
        assert!(why.to_string().contains("the disk cannot be used"), "{why}");
    }
}

#[test]
fn limits_end_a_search_on_disk() {
    let tangle = Tangle { size: 1 << 40, wrong: |_| false, ends: |_| false };
    let disk = Disk { from: 0, memory: u64::MAX, most: Some(20_000) };
    let limits = Limits { states: Some(100_000), ..Limits::default() };
    let report = run::<All, Tree>(&tangle, All, disk, &mut Files::default(), (false, limits));
    assert!(matches!(report.stop, Stop::Incomplete(_)), "{:?}", report.stop);
    assert_eq!(report.statistics.states, 100_001);
    let limits = Limits { time: Some(std::time::Duration::from_millis(200)), ..Limits::default() };
    let started = std::time::Instant::now();
    let report = run::<All, Tree>(&tangle, All, disk, &mut Files::default(), (false, limits));
    assert!(matches!(report.stop, Stop::Incomplete(_)), "{:?}", report.stop);
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}
