//! The same threads as `with-loom`, under shuttle's depth-first scheduler, which tries every order of steps and reduces nothing: how many executions it takes.
//!
//! `cargo run --release --bin with-shuttle -- THREADS INCREMENTS`

use std::sync::atomic::{AtomicUsize as Plain, Ordering::Relaxed};
use std::time::Instant;

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

static EXECUTIONS: Plain = Plain::new(0);

fn main() {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<usize>().expect("a number"));
    let (threads, times) = (numbers.next().unwrap_or(2), numbers.next().unwrap_or(1));
    let start = Instant::now();
    shuttle::check_dfs(
        move || {
            EXECUTIONS.fetch_add(1, Relaxed);
            let counter = Arc::new(AtomicUsize::new(0));
            let all: Vec<_> = (0..threads)
                .map(|_| {
                    let counter = counter.clone();
                    thread::spawn(move || {
                        for _ in 0..times {
                            counter.fetch_add(1, SeqCst);
                        }
                    })
                })
                .collect();
            for thread in all {
                thread.join().unwrap();
            }
            assert_eq!(counter.load(SeqCst), threads * times);
        },
        None,
    );
    println!("{} executions, {:.2} s", EXECUTIONS.load(Relaxed), start.elapsed().as_secs_f64());
}
