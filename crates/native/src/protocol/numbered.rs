//! What is written into the block by number and shown to users by name.

/// Numbers an enum that is written into the block.
macro_rules! numbered {
    ($(#[$meta:meta])* $name:ident { $($(#[$item_meta:meta])* $item:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$item_meta])* $item),* }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$item),*];

            /// As users know it.
            pub fn text(self) -> &'static str {
                match self { $($name::$item => $text),* }
            }

            /// The one with this number.
            pub fn from_number(number: u8) -> Option<$name> {
                $name::ALL.get(number as usize).copied()
            }
        }
    };
}

numbered! {
    /// What went wrong.
    #[allow(missing_docs, reason = "the names say it")]
    FailureKind {
        None = "nothing",
        Deadlock = "deadlock",
        Assertion = "assertion failed",
        Race = "data race",
        Crash = "crash",
        Memory = "invalid memory access",
        Misuse = "misuse of a primitive",
        Leak = "thread leak",
        Refused = "not supported",
        Stuck = "no progress",
        Livelock = "livelock",
        /// A call of `reach_error` or `__VERIFIER_error`.
        Error = "error location reached",
    }
}

numbered! {
    /// A visible operation, as a trace calls it.
    #[allow(missing_docs, reason = "the names say it")]
    Op {
        None = "-",
        Load = "atomic load",
        Store = "atomic store",
        Update = "atomic update",
        CompareAndSwap = "compare and swap",
        Read = "read",
        Write = "write",
        Lock = "lock",
        TryLock = "trylock",
        TimedLock = "timed lock",
        Unlock = "unlock",
        ReadLock = "read lock",
        TryReadLock = "try read lock",
        WriteLock = "write lock",
        TryWriteLock = "try write lock",
        LockRelease = "rwlock unlock",
        Wait = "wait",
        TimedWait = "timed wait",
        Reacquire = "wake up, lock",
        TimeOut = "time out",
        Signal = "signal",
        Broadcast = "broadcast",
        SemaphoreWait = "semaphore wait",
        SemaphoreTry = "semaphore trywait",
        SemaphorePost = "semaphore post",
        SemaphoreValue = "semaphore value",
        Barrier = "barrier",
        BarrierLeave = "leave barrier",
        Create = "create thread",
        Join = "join",
        Once = "once",
        OnceDone = "once done",
        Choose = "choose",
        Yield = "yield",
        AtomicBegin = "atomic section",
        Cancel = "cancel",
        AwaitCancel = "wait to be cancelled",
        Point = "point of interruption",
        SendSignal = "send signal",
        SignalState = "change signal state",
        SignalWait = "wait for a signal",
        SignalResume = "go on after a signal",
        SignalReturn = "return from a signal handler",
        Accept = "accept",
        TryAccept = "try to accept",
        SocketState = "bind, listen, connect or close",
        Spin = "spin until changed",
        Destroy = "destroy",
        Exit = "exit",
        FutexWait = "futex wait",
        FutexResume = "go on",
        FutexWakeOne = "futex wake",
        FutexWake = "futex wake all",
        PipeRead = "read from pipe",
        PipeTryRead = "try to read from pipe",
        PipeWrite = "write to pipe",
        PipeTryWrite = "try to write to pipe",
        PipeClose = "close pipe",
        Poll = "poll",
        TryPoll = "poll with timeout",
        OpenSemaphore = "open semaphore",
        UnlinkSemaphore = "unlink semaphore",
        OwnerDies = "end as owner of",
        Call = "call",
        Initialise = "initialise",
        Fence = "fence",
    }
}

numbered! {
    /// Functions of the verification competition that a program may define itself.
    #[allow(missing_docs, reason = "the names say it")]
    Convention {
        Error = "error",
        Assume = "assume",
        Begin = "begin",
        End = "end",
    }
}

numbered! {
    /// What a program can take from outside.
    #[allow(missing_docs, reason = "the names say it")]
    Outside {
        Input = "standard input",
        Environment = "environment variables",
        Clock = "the clock",
        Random = "random numbers of the system",
        Machine = "what the system says of itself",
        Files = "files of this machine",
        Missing = "files that do not exist",
        Peers = "sockets to which it would connect",
        Listens = "sockets that it binds itself",
        Offers = "sockets at which it lets others connect",
        Connects = "sockets to which it connects itself",
        Unwritten = "values that nobody has written",
        Descriptors = "numbers of descriptors",
    }
}
