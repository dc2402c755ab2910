//! Where nobody can go on: who waits for whom, as a sentence. It says what the reasons prove: of a ring only where each in it has one
//! thing to wait for, which the next one has, or set last.

use crate::api::{Part, Waiting, WhyKind};

/// Of those that are in no ring, so many are told one by one; a ring may have one more.
const TOLD: usize = 2;

/// The sentence after "Nobody can go on:"; nothing where nothing is known of anybody.
pub(crate) fn sentence(waiting: &[Waiting], name: &dyn Fn(u32) -> String) -> Vec<Part> {
    let stuck: Vec<&Waiting> = waiting
        .iter()
        .filter(|w| !w.ended && !w.valid_end && !w.takes_part && !w.statements.is_empty())
        .collect();
    if let Some(ring) = ring(&stuck) {
        return told_of(&ring, name);
    }
    let mut parts = Vec::new();
    for (index, one) in stuck.iter().take(TOLD).enumerate() {
        if index > 0 {
            parts.push(Part::text(", "));
        }
        let mut whys: Vec<(WhyKind, &str)> = Vec::new();
        for why in one.statements.iter().map(|s| (s.kind, s.why.as_str())) {
            // What comes when nothing else does says nothing of what is missing.
            if !whys.contains(&why) && why.0 != WhyKind::Last {
                whys.push(why);
            }
        }
        let who = name(one.pid);
        match whys[..] {
            [(WhyKind::Waits, why)] => parts.push(Part::text(format!("{who} {why}"))),
            [(_, why)] => parts.push(Part::text(format!("{who} waits ({why})"))),
            [(_, first), (_, second)] => {
                parts.push(Part::text(format!("{who} waits ({first}, and {second})")))
            }
            _ => parts.push(Part::text(format!("{who} waits"))),
        }
    }
    match stuck.len().saturating_sub(TOLD) {
        0 => {}
        1 => parts.push(Part::text(", and one more waits")),
        more => parts.push(Part::text(format!(", and {more} more wait"))),
    }
    parts
}

/// For whom somebody waits, where that is certain.
fn waits_for(one: &Waiting) -> Option<u32> {
    let [only] = &one.statements[..] else { return None };
    let own = format!("{}.", one.process);
    let set = only.reads.iter().filter(|r| !r.full.starts_with(&own)).find_map(|r| Some(r.set.as_ref()?.pid));
    only.holder.or(set).filter(|other| *other != one.pid)
}

/// Those who wait for each other, each for the next and the last for the first; it begins with the one that has the lowest number.
fn ring<'a>(stuck: &[&'a Waiting]) -> Option<Vec<&'a Waiting>> {
    let of = |pid: u32| stuck.iter().find(|w| w.pid == pid).copied();
    stuck.iter().find_map(|first| {
        let mut ring = vec![*first];
        loop {
            let next = of(waits_for(ring[ring.len() - 1])?)?;
            if next.pid == first.pid {
                return Some(ring);
            }
            if next.pid < first.pid || ring.iter().any(|w| w.pid == next.pid) {
                return None;
            }
            ring.push(next);
        }
    })
}

fn told_of(ring: &[&Waiting], name: &dyn Fn(u32) -> String) -> Vec<Part> {
    let after = |index: usize| ring[(index + 1) % ring.len()].pid;
    let object = |w: &Waiting| w.statements[0].object.clone().filter(|object| !object.is_empty());
    let objects: Vec<String> = ring.iter().filter_map(|w| object(w)).collect();
    let mut parts = Vec::new();
    if objects.len() == ring.len() && ring.len() <= TOLD + 1 {
        for (index, (one, object)) in ring.iter().zip(objects).enumerate() {
            let (who, waits) = (name(one.pid), if index == 0 { " waits for " } else { " for " });
            parts.push(Part::text(format!("{}{who}{waits}", if index == 0 { "" } else { ", " })));
            parts.push(Part::code(object));
            parts.push(Part::text(format!(", which {} holds", name(after(index)))));
        }
        return parts;
    }
    if ring.len() > TOLD + 1 {
        let (first, second) = (name(ring[0].pid), name(after(0)));
        let said = format!("{} wait for each other in a ring, {first} for {second} and so on", ring.len());
        return vec![Part::text(said)];
    }
    let mut said = format!("{} waits for {}", name(ring[0].pid), name(after(0)));
    for index in 1..ring.len() {
        said.push_str(&format!(", which waits for {}", name(after(index))));
    }
    vec![Part::text(said)]
}
