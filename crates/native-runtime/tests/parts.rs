//! Parts of the runtime that work in any process, by themselves. The rest interposes the C library's functions and is tested by
//! checking programs (`crates/native/tests`).
//!
//! `cargo test -p quotient-native-runtime --config 'target.x86_64-unknown-linux-gnu.runner="valgrind -q --error-exitcode=1"'`
//! runs them under valgrind.

#[allow(dead_code, unused_imports, reason = "only a part of it is needed here")]
#[path = "../../native/src/protocol/mod.rs"]
mod protocol;

#[allow(dead_code, reason = "only a part of it is needed here")]
#[path = "../src/memory"]
mod memory {
    pub mod table;
}

#[allow(dead_code, reason = "only a part of it is needed here")]
#[path = "../src/exploration"]
mod exploration {
    pub mod clock;
    pub mod object;
}

#[allow(dead_code, reason = "only a part of it is needed here")]
#[path = "../src/threads"]
mod threads {
    pub mod context;
}

use std::collections::HashMap;

use exploration::clock::{Clock, clear, join, note_threads};
use exploration::object::Objects;
use memory::table::Table;
use protocol::THREADS;
use quotient_stateless::random::Random;
use threads::context::{Code, walk};

#[test]
fn a_table_is_a_map_that_can_be_emptied() {
    let mut random = Random(1);
    let (mut table, mut map) = (Table::<u32>::new(), HashMap::<usize, u32>::new());
    for _ in 0..20_000 {
        let most = if random.one_in(2) { 50 } else { 5_000 };
        let key = random.below(most) * 8;
        match random.below(1000) {
            0 => {
                table.clear();
                map.clear();
            }
            1..500 => {
                let value = random.next_number() as u32;
                *table.entry(key) = value;
                map.insert(key, value);
            }
            _ => assert_eq!(table.get(key), map.get(&key).copied()),
        }
    }
    let range = 80..4_000;
    let mut expected: Vec<usize> = map.keys().copied().filter(|key| range.contains(key)).collect();
    expected.sort_unstable();
    assert_eq!(table.keys(range.clone()), expected);
    assert_eq!(table.keys(0..1 << 40), {
        let mut all: Vec<usize> = map.keys().copied().collect();
        all.sort_unstable();
        all
    });
    let mut all: Vec<(usize, u32)> = table.iter().collect();
    let mut expected: Vec<(usize, u32)> = map.into_iter().collect();
    all.sort_unstable();
    expected.sort_unstable();
    assert_eq!(all, expected);
}

#[test]
fn clocks_are_joined_in_all_components_in_use() {
    let mut random = Random(2);
    for threads in [1, 8, 9, 33, THREADS] {
        note_threads(threads);
        let clock = |random: &mut Random| -> Clock {
            std::array::from_fn(|t| if t < threads { random.below(9) as u32 } else { 0 })
        };
        let (mut into, from) = (clock(&mut random), clock(&mut random));
        let expected: Clock = std::array::from_fn(|t| into[t].max(from[t]));
        join(&mut into, &from);
        assert_eq!(into, expected, "{threads} threads");
        clear(&mut into);
        assert_eq!(into, [0; THREADS], "{threads} threads");
    }
}

#[test]
fn objects_keep_their_numbers_and_lose_their_states() {
    let mut objects = Objects::new();
    let early = objects.number(0x1000);
    objects.state(early).value = 7;
    objects.set_baseline();
    let late = objects.number(0x2000);
    objects.state(late).value = 8;
    objects.state(early).value = 9;
    objects.restart();
    assert_eq!((objects.number(0x1000), objects.number(0x2000)), (early, late));
    assert_eq!(objects.peek(early).map(|o| o.value), Some(7), "as at the start");
    assert!(objects.peek(late).is_none(), "not used in this execution");
    assert_ne!(objects.state(late).value, 8);
    assert_eq!((objects.address(early), objects.address(late)), (0x1000, 0x2000));
}

#[test]
fn cells_that_overlap_become_one() {
    let mut objects = Objects::new();
    let (low, first) = objects.cell(0x100, 4);
    let (high, second) = objects.cell(0x104, 4);
    assert!(low != high && !first && !second);
    assert!(!objects.range_races(0x100, 8));
    assert!(objects.make_visible(0x104, 4) && !objects.make_visible(0x104, 4));
    assert!(objects.races_at(0x107) && !objects.races_at(0x103) && objects.range_races(0x100, 8));
    let (both, changed) = objects.cell(0x100, 8);
    assert!(changed, "two cells are one from now on");
    assert_eq!((objects.cell(0x100, 4).0, objects.cell(0x104, 4).0), (both, both));
    assert!(!objects.is_uniform(both) && objects.races_at(0x100));
    assert_eq!(objects.racing_cells(), [(0x100, 4), (0x104, 4)]);
}

#[test]
fn a_stack_is_walked_along_its_frame_pointers() {
    // Frames of the program, of this library, and of the program again; then one that points back.
    let mut stack = [0usize; 32];
    let base = stack.as_ptr() as usize;
    let at = |word: usize| base + 8 * word;
    let code = Code { own: 0x5000..0x6000, program: 0x7000..0x8000 };
    for (frame, next, address) in [(2, 6, 0x7100), (6, 12, 0x5100), (12, 20, 0x7200), (20, 4, 0x7300)] {
        (stack[frame], stack[frame + 1]) = (at(next), address);
    }
    let found = walk(at(2), base, at(32), &code);
    assert_eq!(found[..4], [0x7100, 0x7200, 0x7300, 0]);
    // Nothing outside of the stack is read.
    assert_eq!(walk(at(40), base, at(32), &code)[0], 0);
    assert_eq!(walk(at(2) + 4, base, at(32), &code)[0], 0);
}
