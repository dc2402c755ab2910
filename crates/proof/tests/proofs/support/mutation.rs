//! Alterations of certificates, by meaning: bounds weakened, parts dropped, repeated, exchanged or taken from another place
//! or another certificate, references turned elsewhere, nodes repeated, numbers made extreme.
//!
//! They work on the JSON form, so that every field can be met.

use serde_json::Value;

use quotient_testing::Random;

/// A step into a JSON value.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    At(usize),
}

/// All values below one, with the way to each. The names of fields on the way say what kind of thing a value is.
fn places(value: &Value, way: &mut Vec<Step>, out: &mut Vec<Vec<Step>>) {
    out.push(way.clone());
    match value {
        Value::Array(list) => {
            for (at, v) in list.iter().enumerate() {
                way.push(Step::At(at));
                places(v, way, out);
                way.pop();
            }
        }
        Value::Object(map) => {
            for (key, v) in map {
                way.push(Step::Key(key.clone()));
                places(v, way, out);
                way.pop();
            }
        }
        _ => {}
    }
}

fn find<'v>(value: &'v mut Value, way: &[Step]) -> &'v mut Value {
    way.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::At(at) => &mut value[*at],
    })
}

/// The fields on the way, without positions: two places with the same kind can hold the same things.
fn kind(way: &[Step]) -> String {
    let names = way.iter().filter_map(|s| if let Step::Key(k) = s { Some(k.as_str()) } else { None });
    names.collect::<Vec<_>>().join(".")
}

fn pick<'l, T>(list: &'l [T], r: &mut Random) -> Option<&'l T> {
    if list.is_empty() { None } else { list.get(r.number(list.len() as u64) as usize) }
}

fn number(old: i64, r: &mut Random) -> Value {
    const EXTREME: [i64; 8] =
        [i64::MAX, i64::MIN, 1 << 61, -(1 << 61), 1 << 62, (1 << 31) + 1, u32::MAX as i64, 1 << 20];
    match r.number(10) {
        0..=2 => old.saturating_add(1).into(),
        3..=5 => old.saturating_sub(1).into(),
        6 => old.saturating_neg().into(),
        7 | 8 => (r.number(5) as i64).into(),
        _ => match r.number(9) {
            8 => u64::MAX.into(),
            n => EXTREME[n as usize].into(),
        },
    }
}

/// Makes an inequality say nothing, or something false, in the shape of a difference between a node and itself.
fn repeat_nodes(inequality: &mut Value, r: &mut Random) {
    let node = inequality["terms"][0][0].as_u64().unwrap_or(1);
    let bound = [-1, 0, 1, i64::MIN, -5][r.number(5) as usize];
    *inequality = serde_json::json!({"terms": [[node, 1], [node, -1]], "bound": bound});
}

/// One alteration; `other` lends parts.
pub fn alter(certificate: &mut Value, other: &mut Value, r: &mut Random) {
    // Rules and assertions are as interesting as the proofs, though proofs are longer.
    let part = ["program", "proofs", "proofs"][r.number(3) as usize];
    let mut all = Vec::new();
    places(&certificate[part], &mut vec![Step::Key(part.into())], &mut all);
    let is = |certificate: &mut Value, way: &[Step], what: fn(&Value) -> bool| what(find(certificate, way));
    let choose = |certificate: &mut Value, r: &mut Random, what: fn(&Value) -> bool| {
        let fitting: Vec<&Vec<Step>> = all.iter().filter(|w| is(certificate, w, what)).collect();
        pick(&fitting, r).map(|w| (*w).clone())
    };
    match r.number(12) {
        // Numbers: bounds, coefficients, nodes, references, depths, frames, values.
        0..=3 => {
            if let Some(way) = choose(certificate, r, Value::is_number) {
                let place = find(certificate, &way);
                *place = number(place.as_i64().unwrap_or(0), r);
            }
        }
        4 => {
            if let Some(way) = choose(certificate, r, Value::is_boolean) {
                let place = find(certificate, &way);
                *place = (!place.as_bool().unwrap_or(false)).into();
            }
        }
        // Lists: an element dropped, repeated, exchanged with another, all dropped.
        5 | 6 => {
            if let Some(way) = choose(certificate, r, |v| v.as_array().is_some_and(|l| !l.is_empty())) {
                let Some(list) = find(certificate, &way).as_array_mut() else { return };
                let (at, to) = (r.number(list.len() as u64) as usize, r.number(list.len() as u64) as usize);
                match r.number(8) {
                    0..=3 => drop(list.remove(at)),
                    4 | 5 => list.insert(to, list[at].clone()),
                    6 => list.swap(at, to),
                    _ => list.clear(),
                }
            }
        }
        7 => {
            if let Some(way) = choose(certificate, r, |v| v.get("terms").is_some()) {
                repeat_nodes(find(certificate, &way), r);
            }
        }
        // A part of the same kind, from here or from the other certificate.
        8..=10 => {
            let Some(way) = choose(certificate, r, |v| !v.is_string()) else { return };
            let lender = if r.number(2) == 0 { &mut *other } else { &mut certificate.clone() };
            let mut theirs = Vec::new();
            places(&lender[part], &mut vec![Step::Key(part.into())], &mut theirs);
            let own = kind(&way);
            let same: Vec<&Vec<Step>> =
                theirs.iter().filter(|w| w.len() == way.len() && kind(w) == own).collect();
            if let Some(&from) = pick(&same, r) {
                let lent = find(lender, from).clone();
                *find(certificate, &way) = lent;
            }
        }
        // Optional parts.
        _ => {
            let optional = |w: &&Vec<Step>| matches!(w.last(), Some(Step::Key(k)) if k == "right" || k == "direct" || k == "inverse");
            let ways: Vec<&Vec<Step>> = all.iter().filter(optional).collect();
            if let Some(&way) = pick(&ways, r) {
                *find(certificate, way) = Value::Null;
            }
        }
    }
}
