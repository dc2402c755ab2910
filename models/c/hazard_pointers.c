/* Hazard pointers (Michael 2004): who has announced a node and found it still in place may use it.
 */

// quotient: holds, executions 8


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef ANNOUNCED
#define ANNOUNCED memory_order_seq_cst
#endif

struct node {
    int value;
};
static _Atomic(struct node *) shared, hazard;

static struct node *make(int value) {
    struct node *new = malloc(sizeof *new);
    new->value = value;
    return new;
}

static void *reader(void *unused) {
    struct node *seen = atomic_load_explicit(&shared, memory_order_relaxed);
    atomic_store_explicit(&hazard, seen, memory_order_relaxed);
    atomic_thread_fence(ANNOUNCED);
    if (atomic_load_explicit(&shared, memory_order_acquire) == seen) assert(seen->value > 0);
    atomic_store_explicit(&hazard, 0, memory_order_release);
    return unused;
}

static void *remover(void *unused) {
    struct node *old = atomic_exchange_explicit(&shared, make(2), memory_order_acq_rel);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&hazard, memory_order_acquire) != old) free(old);
    return unused;
}

int main(void) {
    pthread_t a, b;
    atomic_init(&shared, make(1));
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, remover, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
