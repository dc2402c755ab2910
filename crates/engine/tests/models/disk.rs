//! A check that keeps its states on disk gives the answers of one in memory, on all models and on random programs, with reductions and without; few states of each part in
//! memory, so that small models are divided.
//!
//! `QUOTIENT_DISK_STATES` sets how large models may be, `QUOTIENT_DISK_PROGRAMS` how many random programs there are.

use std::sync::Mutex;

use quotient_checkpoint::DiskFolder;
use quotient_engine::{
    Check, CheckError, Disk, LoadOptions, Model, PartialOrder, SearchKind, StoreKind, Verdict,
};
use quotient_reference::{generate, print};
use quotient_search::Limits;
use quotient_testing::{Folder, models, setting};

use crate::workers::{told, workers};

/// Compares the disk with memory; `None` if the model is too large or not to be checked, else how often there was more than one part.
fn compare(name: &str, model: &Model) -> Option<usize> {
    let states = Some(setting("QUOTIENT_DISK_STATES", 1_500));
    let limited = Check {
        limits: Limits { states, ..Limits::default() },
        safety_only: true,
        workers: workers(1),
        ..Check::default()
    };
    match model.check(&Check { raw: true, all: true, ..limited }) {
        Ok(outcome) if outcome.second_look.is_none() && Some(outcome.statistics.states) < states => {}
        _ => return None,
    }
    let mut divided = 0;
    for (raw, partial_order) in
        [(true, PartialOrder::Off), (false, PartialOrder::Off), (false, PartialOrder::On)]
    {
        for all in [false, true] {
            let check = Check { raw, partial_order, all, limits: Limits::default(), ..limited };
            let reduced = partial_order != PartialOrder::Off;
            let said = |check: &Check<'_>| match model.check(check) {
                Ok(outcome) => (told(&outcome, reduced), outcome),
                Err(error) => panic!("{name}: {error}"),
            };
            let (one, outcome) = said(&check);
            let folder = Folder::new();
            let disk = DiskFolder::create(folder.path()).expect("it can be made");
            let disk = Mutex::new(disk);
            let most = Some(outcome.statistics.states / 5);
            let disk = Disk { folder: &disk, from: 0, most };
            let (on_disk, outcome) = said(&Check { disk: Some(disk), ..check });
            assert_eq!(on_disk, one, "{name}: raw {raw}, {partial_order:?}, all {all}");
            divided +=
                usize::from(outcome.notes.iter().any(|n| n.contains("part(s)") && !n.contains(" 1 part")));
        }
    }
    Some(divided)
}

#[test]
fn models_on_disk() {
    let (paths, mut compared, mut divided) = (models(), 0, 0);
    for path in &paths {
        if let Ok(model) = Model::load(path, &LoadOptions::default())
            && let Some(times) = compare(&path.display().to_string(), &model)
        {
            (compared, divided) = (compared + 1, divided + times);
        }
    }
    assert!(compared >= 150, "only {compared} of {} models", paths.len());
    assert!(divided >= 3 * compared, "only {divided} divided searches of {compared} models");
}

#[test]
fn random_programs_on_disk() {
    let (count, seed) = (setting("QUOTIENT_DISK_PROGRAMS", 60), setting("QUOTIENT_SEED", 290_000));
    let mut compared = 0;
    for seed in seed..seed + count {
        let text = print(&generate(seed, 1 + (seed % 12) as usize));
        if let Ok(model) = Model::from_text("random.pml", &text) {
            compared += u64::from(compare(&format!("seed {seed}\n{text}"), &model).is_some());
        }
    }
    assert!(compared * 2 >= count, "only {compared} of {count} programs");
}

#[test]
fn what_the_disk_does_not_serve_is_refused() {
    let text = "bit x;\nactive proctype P() { do :: x = 1 - x od }\nltl a { []<> (x == 1) }\n";
    let model = Model::from_text("claims.pml", text).expect("loads");
    let folder = Folder::new();
    let disk = Mutex::new(DiskFolder::create(folder.path()).expect("it can be made"));
    let disk = Some(Disk::new(&disk));
    let refused = |check: Check<'_>| match model.check(&Check { disk, ..check }) {
        Err(CheckError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    };
    let safety = Check { safety_only: true, ..Check::default() };
    assert!(refused(Check::default()).contains("infinite runs"));
    assert!(refused(Check { search: SearchKind::DepthFirst, ..safety }).contains("level by level"));
    assert!(refused(Check { search: SearchKind::Random, ..safety }).contains("level by level"));
    assert!(refused(Check { store: StoreKind::Gzip, ..safety }).contains("gzip"));
    assert!(refused(Check { workers: workers(2), ..safety }).contains("--disk has one worker"));
    assert_eq!(model.check(&Check { disk, ..safety }).expect("checked").verdict, Verdict::Holds);
}
