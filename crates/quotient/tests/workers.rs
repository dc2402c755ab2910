//! Workers of one machine encode a state alike, in whatever order they meet it: one explores from the front of its queue, the other
//! from its back, on all models, and all programs of the corpus, that start processes while they run or have objects.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use quotient::machine::Machine;
use quotient::seams::{Scope, Successors, System, Worker};
use quotient::{LoadOptions, Model};

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

fn models() -> Vec<(PathBuf, Model)> {
    let mut out = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("models"), root.join("tests/promela")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "pml" || e == "bir")
                && let Ok(model) = Model::load(&path, &LoadOptions::default())
            {
                out.push((path, model));
            }
        }
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

fn starts_or_has_objects(path: &Path, model: &Model) -> bool {
    let text = std::fs::read_to_string(path).expect("a model");
    model.program.features.dynamic || text.contains("run ")
}

#[test]
fn a_state_is_encoded_alike_by_all_workers() {
    let (mut checked, mut complete, mut apart) = (0, 0, 0);
    for (path, model) in models().iter().filter(|(path, model)| starts_or_has_objects(path, model)) {
        let name = path.display();
        let Ok((machine, _)) = model.machine(quotient::Compile::AS_WRITTEN) else { continue };
        checked += 1;
        let another = machine.another();
        let (mut front, mut back) = (Explorer::new(machine), Explorer::new(another));
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
            let (machine, _) = model.machine(quotient::Compile::AS_WRITTEN).expect("as before");
            let mut alone = Explorer::new(machine);
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
    assert!(checked >= 20 && complete >= 10, "{checked} models, {complete} of them to the end");
    assert!(apart >= 3, "only {apart} models depend on the order in which shapes are met");
}

#[test]
fn workers_run_on_threads_of_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/worker_pool.pml");
    let model = Model::load(&path, &LoadOptions::default()).expect("loads");
    let (machine, _) = model.machine(quotient::Compile::AS_WRITTEN).expect("small enough");
    let workers = [machine.another(), machine.another(), machine.another(), machine];
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
