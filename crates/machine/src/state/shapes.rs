//! Shapes: which threads, channels and objects exist, and where each lies in the state.
//!
//! A state starts with the number of its shape. Within one shape every place is fixed, so that a step writes bytes in place; only a
//! step that changes what exists leads to another shape. A shape is found by its *description*: the threads in order, each with its
//! stack of functions, then the objects in order, each with its kind. A thread brings the channels of its body along; they come
//! and go with it, and need not be told.
//!
//! Number 0 is the *working* shape, in which a draft is before any thread exists and while a step changes what exists in a way that
//! moves bytes. Stored states have another, unless there are no threads at all. In an [open](Shape::open) shape nothing follows the threads and all of them run: there a thread is
//! added, and the youngest dropped, at the end of the draft, which has a normal shape all the time. All shapes of a program
//! without objects, calls and ends of threads other than the youngest are open.
//!
//! Descriptions are numbered once for all who work on the same states (the workers of a machine, representatives, stores), in a
//! registry that they share. Each has a view of it, [`Shapes`], with copies of the shapes it has met, which is brought up to date when it
//! meets a number that it does not know. So a number means the same to all of them, whoever met the shape first and in whatever order.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quotient_seams::Incomplete;

use super::kind::Kind;
use super::layout::Layout;

/// A frame, channel or object of a shape.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Instance {
    /// Index of its function or channel type, or the [kind](Kind) of the object.
    pub(crate) kind: u32,
    /// Its first byte.
    pub(crate) at: u32,
}

/// Which threads, channels and objects exist, and where.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Threads, each with its topmost frame.
    pub(crate) threads: Vec<Instance>,
    /// The frames below the topmost, the outermost first.
    pub(crate) stacks: Vec<Vec<Instance>>,
    /// Where each thread's head is.
    pub(crate) heads: Vec<u32>,
    /// Channels that belong to globals and threads, from number 1 on.
    pub(crate) channels: Vec<Instance>,
    /// The objects, from number 1 on.
    pub(crate) objects: Vec<Instance>,
    /// Threads that have not ended.
    pub(crate) alive: u32,
    /// Used bytes.
    pub(crate) bytes: u32,
    /// Words of a state.
    pub(crate) words: u32,
    /// Nothing lies after the threads, and all of them run.
    pub(crate) open: bool,
    /// The shape without the youngest thread, if that has been asked for, else 0.
    without_youngest: u32,
}

/// The number of the shape in which a draft is while a step changes what exists.
pub(crate) const WORKING: u32 = 0;

impl Shape {
    /// Nothing but globals, and the channels that belong to them.
    fn empty(layout: &Layout) -> Shape {
        let mut shape = Shape {
            threads: Vec::new(),
            stacks: Vec::new(),
            heads: Vec::new(),
            channels: Vec::new(),
            objects: Vec::new(),
            alive: 0,
            bytes: layout.fixed,
            words: 0,
            open: true,
            without_youngest: 0,
        };
        layout.initial_channels.iter().for_each(|(_, kind)| shape.add_channel(layout, kind.0));
        shape.words = shape.bytes.div_ceil(8);
        shape
    }

    /// Makes it a copy of another shape, to work with. Keeps the memory.
    pub(crate) fn work_on(&mut self, from: &Shape) {
        self.threads.clone_from(&from.threads);
        self.stacks.clone_from(&from.stacks);
        self.heads.clone_from(&from.heads);
        self.channels.clone_from(&from.channels);
        self.objects.clone_from(&from.objects);
        (self.alive, self.bytes, self.words) = (from.alive, from.bytes, from.words);
        (self.open, self.without_youngest) = (false, 0);
    }

    /// The normal shape with a description.
    fn build(description: &[u32], layout: &Layout) -> Shape {
        let mut shape = Shape::empty(layout);
        let mut rest = description.iter().copied();
        let mut next = || rest.next().unwrap_or(0);
        for _ in 0..next() {
            let below = next();
            shape.heads.push(shape.bytes);
            shape.bytes += layout.head;
            let mut frame = |kind: u32| {
                let instance = Instance { kind, at: shape.bytes };
                shape.bytes += layout.threads[kind as usize].size;
                instance
            };
            let frames: Vec<Instance> = (0..below).map(|_| frame(next())).collect();
            let top = frame(next());
            let body = frames.first().unwrap_or(&top).kind;
            shape.stacks.push(frames);
            shape.threads.push(top);
            let channels = layout.threads[body as usize].channels.iter();
            channels.for_each(|(_, kind)| shape.add_channel(layout, kind.0));
        }
        for kind in rest {
            shape.objects.push(Instance { kind, at: shape.bytes });
            shape.bytes += layout.object_size(Kind(kind));
        }
        shape.words = shape.bytes.div_ceil(8);
        shape.alive = shape.threads.iter().filter(|t| layout.runs(t.kind)).count() as u32;
        shape.open = shape.objects.is_empty() && shape.alive as usize == shape.threads.len();
        shape
    }

    fn add_channel(&mut self, layout: &Layout, kind: u32) {
        self.channels.push(Instance { kind, at: self.bytes });
        self.bytes += layout.channels[kind as usize].size;
    }

    /// Threads with the frames below the topmost.
    pub(crate) fn stacked(&self) -> impl ExactSizeIterator<Item = (&[Instance], Instance)> {
        self.stacks.iter().zip(&self.threads).map(|(below, top)| (&below[..], *top))
    }

    /// The variables that the channels belong to, in the order of the channels' numbers: each with its thread, if it is a local, and
    /// its byte.
    pub(crate) fn channel_variables(&self, layout: &Layout) -> impl Iterator<Item = (Option<usize>, u32)> {
        let globals = layout.initial_channels.iter().map(|(at, _)| (None, *at));
        let locals = self.threads.iter().enumerate().flat_map(|(id, thread)| {
            let own = layout.threads[thread.kind as usize].channels.iter();
            own.map(move |(at, _)| (Some(id), thread.at + at))
        });
        globals.chain(locals)
    }

    /// Why there can be no state of this shape.
    fn too_large(&self) -> Option<String> {
        if self.threads.len() > MOST_THREADS {
            return Some(format!("more than {MOST_THREADS} processes at once"));
        }
        if self.channels.len() > MOST_CHANNELS {
            return Some(format!("more than {MOST_CHANNELS} channels at once"));
        }
        (self.bytes > MOST_BYTES).then(|| format!("a state of more than {} MiB", MOST_BYTES >> 20))
    }
}

/// Ids of threads and channels are bytes, as in SPIN.
pub(crate) const MOST_THREADS: usize = 255;
pub(crate) const MOST_CHANNELS: usize = 255;
/// Most bytes of a state. (A thread with its channels is far from another 4 GiB: front ends see to that.)
const MOST_BYTES: u32 = 1 << 30;

/// Writes the description of a shape: of the threads, of the objects with the kinds given.
pub(crate) fn describe<'a>(
    threads: impl ExactSizeIterator<Item = (&'a [Instance], Instance)>,
    kinds: impl Iterator<Item = Kind>,
    out: &mut Vec<u32>,
) {
    out.clear();
    out.push(threads.len() as u32);
    for (below, top) in threads {
        out.push(below.len() as u32);
        out.extend(below.iter().map(|f| f.kind));
        out.push(top.kind);
    }
    out.extend(kinds.map(|k| k.0));
}

/// A quick hash for descriptions, which nobody chooses with bad intentions.
#[derive(Clone, Copy, Debug, Default)]
struct Quick(u64);

impl Hasher for Quick {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(last));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

type Numbers<K> = HashMap<K, u32, BuildHasherDefault<Quick>>;

/// Asks who numbers descriptions for several processes: for those after the first `have`, after this one, if any, has got a number. Does not come back without an answer.
pub type NumberedElsewhere = Box<dyn Fn(usize, Option<&[u32]>) -> Vec<Vec<u32>> + Send>;

/// The numbers of descriptions.
#[derive(Default)]
struct Registry {
    /// Another process numbers them, and this is a copy of what it has.
    elsewhere: Option<NumberedElsewhere>,
    numbers: Numbers<Arc<[u32]>>,
    /// The description with number `n + 1`.
    descriptions: Vec<Arc<[u32]>>,
    /// How many of them an earlier run had, as far as that is known.
    restored: u32,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("descriptions", &self.descriptions).finish_non_exhaustive()
    }
}

impl Registry {
    /// Brings the copy up to date, if it is one.
    fn copy(&mut self, description: Option<&[u32]>) {
        let Some(elsewhere) = &self.elsewhere else { return };
        for description in elsewhere(self.descriptions.len(), description) {
            let owned: Arc<[u32]> = description.into();
            self.descriptions.push(owned.clone());
            self.numbers.insert(owned, self.descriptions.len() as u32);
        }
    }

    /// The number of a description, which may be new.
    fn number(&mut self, description: &[u32], most: u32) -> Result<u32, Incomplete> {
        if let Some(number) = self.numbers.get(description) {
            return Ok(*number);
        }
        self.copy(Some(description));
        if let Some(number) = self.numbers.get(description) {
            return Ok(*number);
        }
        let number = self.descriptions.len() as u64 + 1;
        if number > u64::from(most) || self.elsewhere.is_some() {
            return Err(match most {
                u32::MAX => "more than four billion combinations of threads and objects".to_owned().into(),
                _ => Incomplete::TooManyShapes,
            });
        }
        let owned: Arc<[u32]> = description.into();
        self.descriptions.push(owned.clone());
        self.numbers.insert(owned, number as u32);
        Ok(number as u32)
    }
}

/// One user's view of the shapes that all have met.
#[derive(Debug)]
pub(crate) struct Shapes {
    layout: Arc<Layout>,
    registry: Arc<Mutex<Registry>>,

    /// By number. The list of a shape's threads or channels stays where it is when shapes are added.
    pub(crate) list: Vec<Shape>,
    known: Numbers<Arc<[u32]>>,
    /// The shapes after a thread with some function was started in an open one.
    started: Numbers<(u32, u32)>,
    description: Vec<u32>,
}

impl Shapes {
    pub(crate) fn new(layout: Arc<Layout>) -> Result<Shapes, Incomplete> {
        match Shape::empty(&layout).too_large() {
            Some(what) => Err(what.into()),
            None => Ok(Shapes::over(layout, Arc::default())),
        }
    }

    /// Makes the working shape that of a draft before any thread exists.
    pub(crate) fn begin(&mut self) -> &Shape {
        self.list[WORKING as usize] = Shape::empty(&self.layout);
        &self.list[WORKING as usize]
    }

    /// Another view of the same shapes.
    pub(crate) fn share(&self) -> Shapes {
        Shapes::over(self.layout.clone(), self.registry.clone())
    }

    fn over(layout: Arc<Layout>, registry: Arc<Mutex<Registry>>) -> Shapes {
        Shapes {
            list: vec![Shape::empty(&layout)],
            layout,
            registry,
            known: Numbers::default(),
            started: Numbers::default(),
            description: Vec::new(),
        }
    }

    fn lock(registry: &Mutex<Registry>) -> MutexGuard<'_, Registry> {
        // Nothing is left half done by a thread that panics while it holds the lock.
        registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the shape with this description.
    pub(crate) fn find(&mut self, description: &[u32]) -> Result<u32, Incomplete> {
        match self.known.get(description) {
            Some(number) => Ok(*number),
            None => self.find_new(description),
        }
    }

    #[cold]
    fn find_new(&mut self, description: &[u32]) -> Result<u32, Incomplete> {
        let shape = Shape::build(description, &self.layout);
        if let Some(what) = shape.too_large() {
            return Err(what.into());
        }
        let most = if self.layout.shape_size == 2 { u32::from(u16::MAX) } else { u32::MAX };
        let number = Shapes::lock(&self.registry).number(description, most)?;
        if number as usize == self.list.len() {
            self.known.insert(description.into(), number);
            self.list.push(shape);
        }
        self.meet(number);
        Ok(number)
    }

    /// The shape after a thread with this function starts in an open shape.
    pub(crate) fn start(&mut self, shape: u32, function: u32) -> Result<u32, Incomplete> {
        if let Some(next) = self.started.get(&(shape, function)) {
            return Ok(*next);
        }
        let mut description = std::mem::take(&mut self.description);
        describe(self.list[shape as usize].stacked(), std::iter::empty(), &mut description);
        description[0] += 1;
        description.extend([0, function]);
        let found = self.find(&description);
        self.description = description;
        self.started.insert((shape, function), found.clone()?);
        found
    }

    /// The shape after the youngest thread of an open shape has ended.
    pub(crate) fn end(&mut self, shape: u32) -> Result<u32, Incomplete> {
        let known = self.list[shape as usize].without_youngest;
        if known != 0 {
            return Ok(known);
        }
        let mut description = std::mem::take(&mut self.description);
        let left = self.list[shape as usize].threads.len() - 1;
        describe(self.list[shape as usize].stacked().take(left), std::iter::empty(), &mut description);
        let found = self.find(&description);
        self.description = description;
        self.list[shape as usize].without_youngest = found.clone()?;
        found
    }

    /// The descriptions after the first `have`, after this one has got a number, if there is one; for copies in other processes. `None` if there are too many.
    pub(crate) fn numbered(&self) -> impl Fn(usize, Option<&[u32]>) -> Option<Vec<Vec<u32>>> + Send + use<> {
        let most = if self.layout.shape_size == 2 { u32::from(u16::MAX) } else { u32::MAX };
        let registry = self.registry.clone();
        move |have, description| {
            let mut registry = Shapes::lock(&registry);
            if let Some(description) = description {
                // One that finds no room is missing from the answer, and who asks sees that.
                let _ = registry.number(description, most);
            }
            let since = registry.descriptions.get(have..)?;
            Some(since.iter().map(|description| description.to_vec()).collect())
        }
    }

    /// From now on another process numbers descriptions. `false` if it has numbered those known here otherwise.
    pub(crate) fn number_elsewhere(&mut self, elsewhere: NumberedElsewhere) -> bool {
        let mut registry = Shapes::lock(&self.registry);
        let there = elsewhere(0, None);
        let known = registry.descriptions.iter().map(|description| &description[..]);
        if registry.descriptions.len() > there.len()
            || !known.eq(there.iter().take(registry.descriptions.len()).map(|d| &d[..]))
        {
            return false;
        }
        registry.elsewhere = Some(elsewhere);
        registry.copy(None);
        true
    }

    /// Writes the descriptions from index `from` on, each after its length; gives the number of all.
    pub(crate) fn descriptions_since(&self, from: usize, out: &mut Vec<u32>) -> usize {
        let registry = Shapes::lock(&self.registry);
        for description in registry.descriptions.iter().skip(from) {
            out.push(description.len() as u32);
            out.extend_from_slice(description);
        }
        registry.descriptions.len()
    }

    /// Numbers descriptions as they were numbered before: the ones known by now must be the first of them, or follow those known. `false` if
    /// they get other numbers.
    pub(crate) fn describe_again(&mut self, mut written: &[u32]) -> bool {
        let most = if self.layout.shape_size == 2 { u32::from(u16::MAX) } else { u32::MAX };
        let mut registry = Shapes::lock(&self.registry);
        while let Some((&len, rest)) = written.split_first() {
            let Some((description, rest)) = rest.split_at_checked(len as usize) else { return false };
            written = rest;
            let expected = registry.restored + 1;
            if registry.number(description, most) != Ok(expected) {
                return false;
            }
            registry.restored = expected;
        }
        true
    }

    /// Makes sure that the shape with this number is known: another user of the registry may have met it first.
    #[inline]
    pub(crate) fn meet(&mut self, number: u32) {
        if number as usize >= self.list.len() {
            self.catch_up(number);
        }
    }

    #[cold]
    fn catch_up(&mut self, number: u32) {
        while self.list.len() <= number as usize {
            let mut registry = Shapes::lock(&self.registry);
            if registry.descriptions.len() < self.list.len() {
                registry.copy(None);
            }
            let description = registry.descriptions[self.list.len() - 1].clone();
            drop(registry);
            let shape = Shape::build(&description, &self.layout);
            self.known.insert(description, self.list.len() as u32);
            self.list.push(shape);
        }
    }
}
