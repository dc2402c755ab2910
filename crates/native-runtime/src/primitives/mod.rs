//! Interposed primitives: each is visible operations on numbered objects.
//!
//! | module | what it does |
//! |---|---|
//! | [`mutex`] | mutexes of all kinds and spin locks |
//! | [`condition`] | condition variables |
//! | [`rwlock`] | reader-writer locks |
//! | [`semaphore`] | semaphores |
//! | [`barrier`] | barriers |
//! | [`once`] | `pthread_once`, static variables of C++ |
//! | [`c11`] | the names of C11 |
//! | [`futex`] | raw futexes |
//! | [`lifecycle`] | initialisation and destruction of primitives |
//! | [`section`] | atomic sections |
//! | [`verifier`] | functions of verifiers: `__VERIFIER_assume` and others |

pub mod barrier;
pub mod c11;
pub mod condition;
pub mod futex;
pub mod lifecycle;
pub mod mutex;
pub mod once;
pub mod rwlock;
pub mod section;
pub mod semaphore;
pub mod verifier;
