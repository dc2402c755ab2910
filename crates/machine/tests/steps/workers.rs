//! Workers of one machine encode a state alike, in whatever order they meet it: one explores from the front of its queue, the other
//! from its back, on all models, and all programs of the corpus, that start processes while they run or have objects.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use quotient_bir::Bir;
use quotient_front_end::{FrontEnd, LoadOptions};
use quotient_machine::Machine;
use quotient_promela::Promela;
use quotient_seams::{Scope, Successors, System, Worker};
use quotient_source::SourceMap;

type State = Vec<u64>;

/// States explored by each worker, at most.
const MOST: usize = 4_000;

/// A worker with the states that it has found.
struct Explorer {
    machine: Machine,
    queue: VecDeque<State>,
    found: BTreeSet<State>,
}

impl Explorer {
    fn new(mut machine: Machine) -> Explorer {
        let mut out = Successors::new();
        machine.initial(&mut out).expect("small enough");
        let queue: VecDeque<State> = (0..out.len()).map(|i| out.state(i).to_vec()).collect();
        let found = queue.iter().cloned().collect();
        Explorer { machine, queue, found }
    }

    /// The states that follow; violations that end a path are empty.
    fn successors(&mut self, state: &[u64]) -> Vec<State> {
        let mut out = Successors::new();
        self.machine.successors(state, Scope::All, &mut out).expect("small enough");
        (0..out.len()).map(|i| out.state(i).to_vec()).collect()
    }

    /// Expands the state at the front or the back of the queue; `false` when there is none.
    fn expand(&mut self, front: bool) -> bool {
        let next = if front { self.queue.pop_front() } else { self.queue.pop_back() };
        let Some(state) = next else { return false };
        for next in self.successors(&state) {
            if !next.is_empty() && self.found.insert(next.clone()) {
                self.queue.push_back(next);
            }
        }
        true
    }

    /// Expands all states, or many; whether all.
    fn explore(&mut self, front: bool) -> bool {
        (0..MOST).any(|_| !self.expand(front))
    }
}

/// A machine of a model, if it can be read; `None` also if it has neither objects nor `run`.
fn machine(path: &Path) -> Option<Machine> {
    let text = std::fs::read_to_string(path).ok()?;
    let front_end: &dyn FrontEnd = match path.extension()?.to_str()? {
        "pml" => &Promela,
        "bir" => &Bir,
        _ => return None,
    };
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    let program = front_end.load(&mut sources, file, &LoadOptions::default()).ok()?.program;
    (program.features.dynamic || text.contains("run ")).then(|| Machine::new(program, &sources).ok())?
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut folders, mut files) = (vec![root.join("models"), root.join("tests/promela")], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
        let (inner, more): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
        folders.extend(inner);
        files.extend(more);
    }
    files.sort();
    files
}

#[test]
fn a_state_is_encoded_alike_by_all_workers() {
    let (mut checked, mut complete, mut apart) = (0, 0, 0);
    for path in files() {
        let name = path.display();
        let Some(first) = machine(&path) else { continue };
        checked += 1;
        let another = first.another();
        let (mut front, mut back) = (Explorer::new(first), Explorer::new(another));
        // In turn, so that each meets shapes that the other has not met yet.
        let mut all = false;
        for _ in 0..MOST {
            let ended = (!front.expand(true), !back.expand(false));
            all = ended.0 && ended.1;
            if all {
                break;
            }
        }
        if all {
            complete += 1;
            assert!(front.found == back.found, "{name}: {} and {}", front.found.len(), back.found.len());
            // Without a registry in common they would not agree.
            let mut alone = Explorer::new(machine(&path).expect("as before"));
            assert!(alone.explore(false), "{name}");
            assert_eq!(alone.found.len(), front.found.len(), "{name}");
            apart += usize::from(alone.found != front.found);
        }
        // What one has found means the same to the other.
        let sample: Vec<State> = front.found.iter().chain(&back.found).step_by(7).cloned().collect();
        for state in sample {
            assert_eq!(front.successors(&state), back.successors(&state), "{name}");
        }
    }
    println!(
        "{checked} models, {complete} to the end, {apart} depend on the order without a registry in common"
    );
    assert!(checked >= 40 && complete >= 30, "{checked} models, {complete} of them to the end");
    assert!(apart >= 2, "only {apart} models depend on the order in which shapes are met");
}

#[test]
fn workers_run_on_threads_of_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/worker_pool.pml");
    let first = machine(&path).expect("small enough");
    let workers = [first.another(), first.another(), first.another(), first];
    let found: Vec<BTreeSet<State>> = std::thread::scope(|scope| {
        let each = workers.into_iter().enumerate().map(|(number, machine)| {
            scope.spawn(move || {
                let mut explorer = Explorer::new(machine);
                assert!(explorer.explore(number % 2 == 0));
                explorer.found
            })
        });
        let threads: Vec<_> = each.collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    });
    assert!(found.iter().all(|states| *states == found[0]) && found[0].len() > 1_000);
}
