//! Shapes: which threads, channels and objects exist, and where each lies in the state.
//!
//! A state starts with the number of its shape. Within one shape every place is fixed, so that a step writes bytes in place; only a
//! step that changes what exists leads to another shape. A shape is found by its *description*: the functions of the threads in
//! the order of their creation, or, of a dynamic program, the threads with their stacks of functions and the objects with their
//! kinds ([`crate::dynamic::shapes`]).
//!
//! Descriptions are numbered once for all who work on the same states (the workers of a machine, representatives, stores), in a
//! registry that they share. Each has a view of it, [`Shapes`], with copies of the shapes it has met, which is brought up to date when it
//! meets a number that it does not know. So a number means the same to all of them, whoever met the shape first and in whatever order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quotient_program::{ChannelTypeId, FunctionId};
use quotient_seams::Incomplete;

use crate::dynamic::segments::Segments;
use crate::dynamic::shapes::build_dynamic;
use crate::layout::Layout;

/// A thread or channel of a shape.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Instance {
    /// Index of its function or channel type.
    pub(crate) kind: u32,
    /// Its first byte.
    pub(crate) at: u32,
}

/// Which threads, channels and objects exist, and where.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Threads, each with its topmost frame.
    pub(crate) threads: Vec<Instance>,
    pub(crate) channels: Vec<Instance>,
    /// Of a dynamic program: the frames below the topmost, the outermost first.
    pub(crate) stacks: Vec<Vec<Instance>>,
    /// Of a dynamic program: where each thread's head is.
    pub(crate) heads: Vec<u32>,
    /// Of a dynamic program: the objects, from number 1 on.
    pub(crate) objects: Vec<Instance>,
    /// Threads that have not ended.
    pub(crate) alive: u32,
    /// Used bytes.
    pub(crate) bytes: u32,
    /// Words of a state.
    pub(crate) words: u32,
    /// Of a static program: the shape without the youngest thread.
    pub(crate) parent: u32,
}

impl Clone for Shape {
    fn clone(&self) -> Shape {
        let mut copy = Shape::empty(self.bytes);
        copy.clone_from(self);
        copy
    }

    /// Keeps the memory.
    fn clone_from(&mut self, from: &Shape) {
        self.threads.clone_from(&from.threads);
        self.channels.clone_from(&from.channels);
        self.stacks.clone_from(&from.stacks);
        self.heads.clone_from(&from.heads);
        self.objects.clone_from(&from.objects);
        (self.alive, self.bytes, self.words, self.parent) = (from.alive, from.bytes, from.words, from.parent);
    }
}

impl Shape {
    /// Nothing but globals, which take this many bytes.
    pub(crate) fn empty(bytes: u32) -> Shape {
        Shape {
            threads: Vec::new(),
            channels: Vec::new(),
            stacks: Vec::new(),
            heads: Vec::new(),
            objects: Vec::new(),
            alive: 0,
            bytes,
            words: bytes.div_ceil(8),
            parent: 0,
        }
    }

    fn add_channel(&mut self, layout: &Layout, kind: ChannelTypeId) {
        self.channels.push(Instance { kind: kind.0, at: self.bytes });
        self.bytes += layout.channels[kind.0 as usize].size;
    }

    /// Adds a thread of a static program, with its channels.
    fn add_thread(&mut self, layout: &Layout, function: u32) {
        self.threads.push(Instance { kind: function, at: self.bytes });
        self.alive += 1;
        self.bytes += layout.threads[function as usize].size;
        layout.threads[function as usize]
            .channels
            .iter()
            .for_each(|(_, kind)| self.add_channel(layout, *kind));
        self.words = self.bytes.div_ceil(8);
    }

    /// Why there can be no state of this shape of a static program.
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

/// The numbers of descriptions.
#[derive(Debug, Default)]
struct Registry {
    numbers: HashMap<Arc<[u32]>, u32>,
    /// The description with number `n + 1`. Number 0 is the shape before any thread.
    descriptions: Vec<Arc<[u32]>>,
}

/// One user's view of the shapes that all have met.
#[derive(Debug)]
pub(crate) struct Shapes {
    layout: Arc<Layout>,
    /// Of a dynamic program.
    segments: Option<Arc<Segments>>,
    registry: Arc<Mutex<Registry>>,

    /// By number. The list of a shape's threads or channels stays where it is when shapes are added.
    pub(crate) list: Vec<Shape>,
    known: HashMap<Arc<[u32]>, u32>,
    /// Of a static program: the shapes after a thread with some function was started.
    started: HashMap<(u32, u32), u32>,
}

impl Shapes {
    /// The shape before any thread: only the global channels.
    pub(crate) fn new(layout: Arc<Layout>, segments: Option<Arc<Segments>>) -> Result<Shapes, Incomplete> {
        let mut first = Shape::empty(layout.fixed);
        layout.initial_channels.iter().for_each(|(_, kind)| first.add_channel(&layout, *kind));
        first.words = first.bytes.div_ceil(8);
        match first.too_large() {
            Some(what) => Err(what.into()),
            None => Ok(Shapes {
                layout,
                segments,
                registry: Arc::default(),
                list: vec![first],
                known: HashMap::new(),
                started: HashMap::new(),
            }),
        }
    }

    /// Another view of the same shapes.
    pub(crate) fn share(&self) -> Shapes {
        Shapes {
            layout: self.layout.clone(),
            segments: self.segments.clone(),
            registry: self.registry.clone(),
            list: vec![self.list[0].clone()],
            known: HashMap::new(),
            started: HashMap::new(),
        }
    }

    fn lock(registry: &Mutex<Registry>) -> MutexGuard<'_, Registry> {
        // Nothing is left half done by a thread that panics while it holds the lock.
        registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the shape with this description.
    pub(crate) fn find(&mut self, description: &[u32]) -> Result<u32, Incomplete> {
        if let Some(number) = self.known.get(description) {
            return Ok(*number);
        }
        if self.segments.is_none()
            && let Some(what) = self.build(description).too_large()
        {
            return Err(what.into());
        }
        let number = {
            let mut registry = Shapes::lock(&self.registry);
            match registry.numbers.get(description) {
                Some(number) => *number,
                None => {
                    let number = registry.descriptions.len() as u64 + 1;
                    if self.layout.shape_size == 2 && number > u64::from(u16::MAX) {
                        return Err(Incomplete::TooManyShapes);
                    }
                    let Ok(number) = u32::try_from(number) else {
                        return Err("more than four billion combinations of threads and objects"
                            .to_owned()
                            .into());
                    };
                    let owned: Arc<[u32]> = description.into();
                    registry.descriptions.push(owned.clone());
                    registry.numbers.insert(owned, number);
                    number
                }
            }
        };
        self.catch_up(number);
        Ok(number)
    }

    /// Of a static program: the shape after a thread with this function starts.
    pub(crate) fn start(&mut self, shape: u32, function: FunctionId) -> Result<u32, Incomplete> {
        if let Some(next) = self.started.get(&(shape, function.0)) {
            return Ok(*next);
        }
        let threads = self.list[shape as usize].threads.iter().map(|t| t.kind);
        let description: Vec<u32> = threads.chain([function.0]).collect();
        let next = self.find(&description)?;
        self.started.insert((shape, function.0), next);
        Ok(next)
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
            let description = Shapes::lock(&self.registry).descriptions[self.list.len() - 1].clone();
            let shape = self.build(&description);
            self.known.insert(description, self.list.len() as u32);
            self.list.push(shape);
        }
    }

    /// The shape with a description.
    fn build(&self, description: &[u32]) -> Shape {
        if let Some(segments) = &self.segments {
            return build_dynamic(description, segments, &self.layout);
        }
        let Some((function, before)) = description.split_last() else { return self.list[0].clone() };
        // Who starts a thread stands in the shape before, which has a lower number.
        let parent = self.known.get(before).copied().unwrap_or(0);
        let mut shape = self.list[parent as usize].clone();
        shape.parent = parent;
        shape.add_thread(&self.layout, *function);
        shape
    }
}
