/* Read-copy-update with one flag per reader: an old version is freed when no reader can have it.
 */

// quotient: holds, executions 5


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef ENTER
#define ENTER memory_order_seq_cst
#endif

struct version {
    int a, b;
};
static _Atomic(struct version *) current;
static atomic_int reading;

static struct version *make(int value) {
    struct version *new = malloc(sizeof *new);
    new->a = new->b = value;
    return new;
}

static void *reader(void *unused) {
    atomic_store_explicit(&reading, 1, memory_order_relaxed);
    atomic_thread_fence(ENTER);
    struct version *seen = atomic_load_explicit(&current, memory_order_acquire);
    assert(seen->a == seen->b);
    atomic_store_explicit(&reading, 0, memory_order_release);
    return unused;
}

static void *updater(void *unused) {
    struct version *old = atomic_load_explicit(&current, memory_order_relaxed);
    atomic_store_explicit(&current, make(2), memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&reading, memory_order_acquire)) free(old);
    return unused;
}

int main(void) {
    pthread_t a, b;
    atomic_init(&current, make(1));
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, updater, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
