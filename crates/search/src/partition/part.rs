//! An owner's work: expands states, looks up what is at home, sends the rest.

use quotient_seams::{Ample, Group, Known, Looked, Representative, Successors, System, Visited};

use crate::breadth_first::Rules;
use crate::expand::{Expander, Originals, Turn};
use crate::frontier::Frontier;
use crate::monitor::Watch;
use crate::open_level::OpenLevel;
use crate::spotted::{Spotted, Where};
use crate::{Cause, Statistics, Stop};

/// Successors generated, or letters read, before they are looked up.
const BATCH: usize = 128;

/// The step by which a state was found: from which state, by its number, and which choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By {
    pub(crate) from: u64,
    pub(crate) choice: u32,
}

/// A state that was found for another owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter<'l> {
    pub(crate) by: By,
    /// Whether it is in the next level is asked.
    pub(crate) asks: bool,
    pub(crate) state: &'l [u64],
}

/// Takes what an owner finds.
pub(crate) trait Post {
    /// The owner of a state, if it is not looked up at home.
    fn owner(&self, state: &[u64]) -> Option<usize>;

    fn send(&mut self, to: usize, letter: Letter<'_>) -> Result<(), Stop>;

    /// A state is new at home.
    fn found(&mut self, by: By, state: &[u64]) -> Result<(), Stop>;

    /// An expansion waits for answers to its letters; if they are all no, it goes on with this turn.
    fn defer(&mut self, number: u64, turn: Turn, state: &[u64]) -> Result<(), Stop>;

    /// A letter that asks is answered by yes.
    fn accept(&mut self, from: u64);

    /// Has the store of an owner become too large? Asked after each batch.
    fn is_over<V: Visited>(&mut self, home: &Home<V>) -> bool;

    /// From now on nothing is at home.
    fn leave_home(&mut self);

    /// What all have done, with what this one has.
    fn statistics(&self, done: Statistics) -> Statistics;
}

/// Where states to be expanded, or letters, come from.
pub(crate) trait Source<P, T> {
    /// The next one; its state is written to `state`.
    fn next(&mut self, post: &mut P, state: &mut Vec<u64>) -> Result<Option<T>, Stop>;
}

/// An owner's store, and which of its states are in the next level, if that matters.
#[derive(Debug, Default)]
pub(crate) struct Home<V> {
    pub(crate) store: V,
    pub(crate) next: Frontier,
    open: OpenLevel,
}

impl<V: Visited> Home<V> {
    pub(crate) fn of(store: V) -> Home<V> {
        Home { store, next: Frontier::default(), open: OpenLevel::default() }
    }

    /// The next level becomes the current one.
    pub(crate) fn next_level(&mut self) {
        self.open.clear(&self.next);
        self.next.clear();
    }

    fn is_open(&mut self, state: &[u64]) -> bool {
        self.open.contains(state, &self.next)
    }

    /// Adds a state; `false` if it is known.
    pub(crate) fn insert(&mut self, state: &[u64]) -> bool {
        let mut hint = vec![0; self.store.hint_len(state.len())];
        let loaded = self.store.load(state, None, &mut hint);
        let key = self.store.prepare(state, loaded, &mut hint);
        self.store.insert(key, state)
    }

    pub(crate) fn search_bytes(&self) -> u64 {
        self.next.bytes() + self.open.bytes()
    }
}

/// A state whose moves are explored.
#[derive(Clone, Copy, Debug)]
struct Member {
    number: u64,
    turn: Turn,
    /// Its words.
    start: usize,
    end: usize,
    /// Its successors.
    first: usize,
    last: usize,
}

/// Where the successor of a batch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    Nowhere,
    Home { new: bool },
    To(usize),
}

/// What does the work of owners.
pub(crate) struct Part<'a, S, R, A> {
    pub(crate) expander: Expander<'a, S, R, A>,
    pub(crate) rules: Rules,
    pub(crate) checks_open: bool,
    pub(crate) spotted: Spotted,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    successors: Successors,
    originals: Originals,
    looked: Looked,
    /// The states of the batch.
    members: Vec<Member>,
    words: Vec<u64>,
    /// States whose moves explored so far are not enough.
    again: Vec<(u64, Turn, Vec<u64>)>,
    /// The successors that are at home, and which entries they are.
    home: Successors,
    entries: Vec<usize>,
    went: Vec<Went>,
}

impl<'a, S: System, R: Representative<S>, A: Ample<S>> Part<'a, S, R, A> {
    pub(crate) fn new(expander: Expander<'a, S, R, A>, rules: Rules) -> Self {
        Part {
            checks_open: expander.needs_open(),
            expander,
            rules,
            spotted: Spotted::default(),
            transitions: 0,
            depth: 0,
            successors: Successors::new(),
            originals: Originals::new(false),
            looked: Looked::default(),
            members: Vec::new(),
            words: Vec::new(),
            again: Vec::new(),
            home: Successors::new(),
            entries: Vec::new(),
            went: Vec::new(),
        }
    }

    /// Moves explored, those through states that were not stored as well.
    pub(crate) fn transitions(&self) -> u64 {
        self.transitions + self.expander.passed()
    }

    fn statistics<V: Visited>(&self, home: &Option<Home<V>>, post: &impl Post) -> Statistics {
        post.statistics(Statistics {
            transitions: self.transitions(),
            depth: self.depth,
            store_bytes: home.as_ref().map_or(0, |home| home.store.bytes()),
            search_bytes: home.as_ref().map_or(0, Home::search_bytes),
            ..Statistics::default()
        })
    }

    /// Ends the work where it must end.
    fn look_around<V: Visited>(
        &self,
        home: &Option<Home<V>>,
        post: &impl Post,
        watch: &mut impl Watch,
    ) -> Result<(), Stop> {
        if watch.due()
            && let Some(stop) = watch.check(&mut || self.statistics(home, post))
        {
            return Err(stop);
        }
        Ok(())
    }

    /// Expands states, each with how far it has come.
    pub(crate) fn expand<V: Visited, P: Post>(
        &mut self,
        source: &mut impl Source<P, (u64, Turn)>,
        home: &mut Option<Home<V>>,
        post: &mut P,
        watch: &mut impl Watch,
    ) -> Result<(), Stop> {
        let mut state = Vec::new();
        loop {
            self.successors.clear();
            self.originals.clear();
            self.members.clear();
            self.words.clear();
            for (number, turn, state) in std::mem::take(&mut self.again) {
                self.add(number, turn, &state)?;
            }
            while self.successors.len() < BATCH {
                let Some((number, turn)) = source.next(post, &mut state)? else { break };
                self.add(number, turn, &state)?;
                self.look_around(home, post, watch)?;
            }
            if self.members.is_empty() {
                return Ok(());
            }
            self.look_up(home, post)?;
            self.pass_on(home, post)?;
            if home.as_ref().is_some_and(|home| post.is_over(home)) {
                *home = None;
                post.leave_home();
            }
        }
    }

    /// Adds a state and its successors to the batch.
    fn add(&mut self, number: u64, mut turn: Turn, state: &[u64]) -> Result<(), Stop> {
        let (start, first) = (self.words.len(), self.successors.len());
        self.words.extend_from_slice(state);
        self.expander
            .expand(state, &mut turn, &mut self.successors, &mut self.originals)
            .map_err(|e| Stop::Incomplete(e.what))?;
        let (end, last) = (self.words.len(), self.successors.len());
        self.members.push(Member { number, turn, start, end, first, last });
        Ok(())
    }

    /// Looks up the successors that are at home.
    fn look_up<V: Visited>(&mut self, home: &mut Option<Home<V>>, post: &mut impl Post) -> Result<(), Stop> {
        self.home.clear();
        self.entries.clear();
        self.went.clear();
        for entry in 0..self.successors.len() {
            let state = self.successors.state(entry);
            let went = if state.is_empty() {
                Went::Nowhere
            } else {
                post.owner(state).map_or(Went::Home { new: false }, Went::To)
            };
            if let Went::Home { .. } = went {
                self.home.push(state);
                self.entries.push(entry);
            }
            self.went.push(went);
        }
        let Some(known) = home.as_mut().filter(|_| !self.entries.is_empty()) else { return Ok(()) };
        insert(&mut known.store, &self.home, &mut self.looked);
        if known.store.exhausted().is_some() {
            // What was inserted may have been lost. Nothing of it was noted: without a store it is sent like everything else.
            *home = None;
            post.leave_home();
            for &entry in &self.entries {
                let owner = post.owner(self.successors.state(entry));
                self.went[entry] = owner.map_or(Went::Nowhere, Went::To);
            }
            return Ok(());
        }
        for &new in &self.looked.new {
            self.went[self.entries[new as usize]] = Went::Home { new: true };
            if self.checks_open {
                known.next.push(self.home.state(new as usize), &[]);
            }
        }
        Ok(())
    }

    /// Notes what is new at home, sends the rest, and looks at what is wrong.
    fn pass_on<V: Visited>(&mut self, home: &mut Option<Home<V>>, post: &mut impl Post) -> Result<(), Stop> {
        for index in 0..self.members.len() {
            let Member { number, turn, start, end, first, last } = self.members[index];
            // Is there a successor that is still to be expanded, if there has to be one?
            let mut asks = false;
            if self.checks_open && turn.is_proposal() {
                let accepted = (first..last).any(|entry| match self.went[entry] {
                    Went::Home { new } => {
                        new || home.as_mut().is_some_and(|home| home.is_open(self.successors.state(entry)))
                    }
                    Went::Nowhere | Went::To(_) => false,
                });
                asks = !accepted && self.went[first..last].iter().any(|went| matches!(went, Went::To(_)));
                let state = &self.words[start..end];
                if asks {
                    post.defer(number, turn.explored(), state)?;
                } else if !accepted {
                    self.again.push((number, turn.explored(), state.to_vec()));
                }
            }
            for entry in first..last {
                let by =
                    By { from: number, choice: Expander::<S, R, A>::choice((entry - first) as u32, turn) };
                let state = self.successors.state(entry);
                match self.went[entry] {
                    Went::Home { new: true } => post.found(by, state)?,
                    Went::To(owner) => post.send(owner, Letter { by, asks, state })?,
                    Went::Home { new: false } | Went::Nowhere => {}
                }
                if let Some(code) = self.successors.entry(entry).violation {
                    let at = Where::Expanded { number, choice: Some(by.choice) };
                    self.spotted.record(Cause::Violation(code), at, self.depth, true);
                }
                self.transitions += u64::from(!state.is_empty());
            }
            if turn.is_whole()
                && self.rules.deadlocks
                && self.successors.is_still(first..last)
                && !self.expander.system.is_valid_end(&self.words[start..end])
            {
                let at = Where::Expanded { number, choice: None };
                self.spotted.record(Cause::Deadlock, at, self.depth, true);
            }
        }
        Ok(())
    }

    /// Takes letters for an owner: what is new is in its next level if `answers`, else in the level that is about to be expanded. `false`
    /// if the store has become too large: then nothing is at home, and all letters must be taken once more. That does no harm: those that were taken are known then,
    /// and are answered alike.
    pub(crate) fn take<V: Visited, P: Post>(
        &mut self,
        source: &mut impl Source<P, (By, bool)>,
        answers: bool,
        home: &mut Option<Home<V>>,
        post: &mut P,
        watch: &mut impl Watch,
    ) -> Result<bool, Stop> {
        let (mut state, mut letters) = (Vec::new(), Vec::new());
        loop {
            self.home.clear();
            letters.clear();
            while self.home.len() < BATCH
                && let Some(letter) = source.next(post, &mut state)?
            {
                self.home.push(&state);
                letters.push(letter);
            }
            let Some(known) = home.as_mut() else { return Ok(false) };
            if letters.is_empty() {
                return Ok(true);
            }
            insert(&mut known.store, &self.home, &mut self.looked);
            if known.store.exhausted().is_some() {
                *home = None;
                post.leave_home();
                return Ok(false);
            }
            for &new in &self.looked.new {
                let state = self.home.state(new as usize);
                post.found(letters[new as usize].0, state)?;
                if answers && self.checks_open {
                    known.next.push(state, &[]);
                }
            }
            if answers {
                for (letter, (by, asks)) in letters.iter().enumerate() {
                    if *asks && known.is_open(self.home.state(letter)) {
                        post.accept(by.from);
                    }
                }
            }
            if post.is_over(known) {
                *home = None;
                post.leave_home();
                return Ok(false);
            }
            self.look_around(home, post, watch)?;
        }
    }

    /// Fills a store with states that were found before; those of which `source` says so are in the next level. `false` if it becomes too large.
    pub(crate) fn fill<V: Visited, P: Post>(
        &mut self,
        source: &mut impl Source<P, bool>,
        home: &mut Home<V>,
        post: &mut P,
        watch: &mut impl Watch,
    ) -> Result<bool, Stop> {
        let mut state = Vec::new();
        loop {
            self.home.clear();
            while self.home.len() < BATCH
                && let Some(next) = source.next(post, &mut state)?
            {
                self.home.push(&state);
                if next && self.checks_open {
                    home.next.push(&state, &[]);
                }
            }
            if self.home.is_empty() {
                return Ok(true);
            }
            insert(&mut home.store, &self.home, &mut self.looked);
            if home.store.exhausted().is_some() || post.is_over(home) {
                return Ok(false);
            }
            if watch.due()
                && let Some(stop) = watch.check(&mut || self.statistics::<V>(&None, post))
            {
                return Err(stop);
            }
        }
    }
}

/// Adds states of which no predecessor is known.
fn insert<V: Visited>(store: &mut V, states: &Successors, looked: &mut Looked) {
    let parent = Known { state: &[], hint: &[] };
    let group = Group { parent, first: 0, end: states.len() };
    store.insert_batch(states, states.len(), &[group], looked);
}
