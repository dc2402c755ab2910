//! A search that goes on from each cut of an earlier one ends as if it had never been interrupted.

use quotient_seams::{All, Ample, Typed, Worker};
use quotient_search::{Log, Options, Report, Statistics, Stop, Workers};

use crate::workers::{Some1, Tangle, run_with, told};

/// A log in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) all: Vec<Vec<u8>>,
    /// The level and how many records there were at each cut, and those of the earlier run.
    pub(crate) cuts: Vec<(u64, usize)>,
    earlier: Vec<(u64, usize)>,
    read: usize,
    /// How many more can be written.
    room: Option<usize>,
}

impl Records {
    /// What an earlier run had written when it was interrupted after a cut.
    pub(crate) fn until(&self, cut: usize) -> Records {
        let (end, cuts) = (self.cuts[cut].1, self.cuts[..=cut].to_vec());
        Records { all: self.all[..end].to_vec(), earlier: cuts.clone(), cuts, read: 0, room: None }
    }
}

impl Log for Records {
    fn pack(&self) -> fn(&[u8]) -> Vec<u8> {
        |record| record.iter().map(|byte| !byte).collect()
    }

    fn append(&mut self, packed: &[u8]) -> Result<(), String> {
        assert_eq!(self.read, self.all.len(), "what there is is read first");
        if let Some(room) = &mut self.room {
            *room = room.checked_sub(1).ok_or("no room")?;
        }
        self.all.push(packed.to_vec());
        self.read += 1;
        Ok(())
    }

    fn is_due(&self) -> bool {
        true
    }

    fn cut(&mut self, statistics: &Statistics, now: bool) -> Result<(), String> {
        assert!(now, "it is due");
        self.cuts.push((statistics.depth, self.all.len()));
        Ok(())
    }

    fn levels(&self) -> Vec<u64> {
        self.earlier.iter().map(|cut| cut.0).collect()
    }

    fn go_back(&mut self, level: Option<u64>) -> Result<(), String> {
        let cuts =
            level.map_or(0, |level| 1 + self.cuts.iter().position(|cut| cut.0 == level).expect("it has it"));
        self.cuts.truncate(cuts);
        self.all.truncate(self.cuts.last().map_or(0, |cut| cut.1));
        Ok(())
    }

    fn read(&mut self, record: &mut Vec<u8>) -> Result<bool, String> {
        let Some(packed) = self.all.get(self.read) else { return Ok(false) };
        self.read += 1;
        record.clear();
        record.extend(packed.iter().map(|byte| !byte));
        Ok(true)
    }
}

fn logged<A: Ample<Typed<Tangle>> + Worker>(
    tangle: &Tangle,
    ample: A,
    workers: Workers,
    all: bool,
    log: &mut Records,
) -> Report {
    let mut options = Options { all, finish_levels_from: 0, log: Some(log), ..Options::default() };
    run_with(tangle, ample, workers, &mut options)
}

fn goes_on<A: Ample<Typed<Tangle>> + Worker + Clone>(
    tangle: &Tangle,
    ample: &A,
    workers: Workers,
    all: bool,
) {
    let mut log = Records::default();
    let mut options = Options { all, finish_levels_from: 0, ..Options::default() };
    let plain = told(&run_with(tangle, ample.clone(), workers, &mut options));
    assert_eq!(
        told(&logged(tangle, ample.clone(), workers, all, &mut log)),
        plain,
        "writing changes nothing"
    );
    assert!(log.cuts.len() > 5, "{} cuts", log.cuts.len());
    for cut in 0..log.cuts.len() {
        let mut again = log.until(cut);
        let count = workers.count;
        assert_eq!(
            told(&logged(tangle, ample.clone(), workers, all, &mut again)),
            plain,
            "{count} workers, cut {cut}"
        );
        // And once more, from where the second run was a little later; with more workers, too.
        let later = (cut + 2).min(again.cuts.len() - 1);
        let mut third = again.until(later);
        let more = Workers { count: count + cut % 2, ..workers };
        assert_eq!(
            told(&logged(tangle, ample.clone(), more, all, &mut third)),
            plain,
            "{count} workers, cuts {cut}, {later}"
        );
    }
}

#[test]
fn a_search_goes_on_from_each_cut() {
    let never: fn(u64) -> bool = |_| false;
    let some: fn(u64) -> bool = |state| state % 4_973 == 77;
    let ends: fn(u64) -> bool = |state| state % 7_011 == 5_000;
    for (wrong, ends, all) in [(never, never, false), (some, ends, true), (never, ends, false)] {
        let tangle = Tangle { size: 20_000, wrong, ends };
        for workers in [
            Workers::new(1),
            Workers { count: 2, from: 0, narrow: 0 },
            // One begins alone, and does small levels alone.
            Workers { count: 3, from: 1_000, narrow: 2_000 },
        ] {
            goes_on(&tangle, &All, workers, all);
            goes_on(&tangle, &Some1, workers, all);
        }
    }
}

#[test]
fn a_log_that_is_full_or_foreign_ends_the_search_undecided() {
    let tangle = Tangle { size: 20_000, wrong: |_| false, ends: |_| false };
    for count in [1, 2] {
        let workers = Workers { count, from: 100, narrow: 0 };
        let mut full = Records { room: Some(20), ..Records::default() };
        let report = logged(&tangle, All, workers, false, &mut full);
        assert!(
            matches!(&report.stop, Stop::Incomplete(why) if why.to_string().contains("no room")),
            "{:?}",
            report.stop
        );
        // The same record twice: its states are not new.
        let mut log = Records::default();
        logged(&tangle, All, workers, false, &mut log);
        let mut twice = log.until(3);
        twice.all.push(twice.all[0].clone());
        let report = logged(&tangle, All, workers, false, &mut twice);
        assert!(
            matches!(&report.stop, Stop::Incomplete(why) if why.to_string().contains("was not written")),
            "{:?}",
            report.stop
        );
        // Any byte of a record cut off.
        let mut short = log.until(4);
        let last = short.all.last_mut().expect("there are records");
        last.pop();
        let report = logged(&tangle, All, workers, false, &mut short);
        assert!(matches!(report.stop, Stop::Incomplete(_)), "{:?}", report.stop);
    }
}
