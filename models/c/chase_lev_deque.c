/* A work-stealing deque (Chase, Lev 2005) with the memory orders of Lê, Pop, Cohen and Nardelli (2013): no task is taken twice.
 */

// quotient: holds, executions 29


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef TAKE_FENCE
#define TAKE_FENCE memory_order_seq_cst
#endif

static atomic_int top, bottom, tasks[4], taken[4];

static void push(int task) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&tasks[b], task, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    atomic_thread_fence(TAKE_FENCE);
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    int task = 0;
    if (t <= b) {
        task = atomic_load_explicit(&tasks[b], memory_order_relaxed);
        if (t < b) return task;
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) task = 0;
    }
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    return task;
}

static int steal(void) {
    int t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b) return 0;
    int task = atomic_load_explicit(&tasks[t], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) return 0;
    return task;
}

static void done(int task) {
    if (task) assert(atomic_fetch_add_explicit(&taken[task], 1, memory_order_relaxed) == 0);
}

static void *owner(void *unused) {
    push(1);
    push(2);
    done(take());
    return unused;
}

static void *thief(void *unused) {
    done(steal());
    done(steal());
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, thief, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
