/* Treiber's stack (1986) of numbered nodes that are used again; the top carries a count, so that it is never the same twice.
 */

// quotient: holds, executions 20


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef PUSHED
#define PUSHED memory_order_release
#endif
#ifndef COUNTED
#define COUNTED 1
#endif

/* The low half of the top is the number of a node, 0 for none; the high half is the count. */
typedef unsigned long word;
static _Atomic word top;
static atomic_int next[4], owned[4];
static int value[4];

static word counted(word old, int node) { return ((old >> 32) + COUNTED) << 32 | (word)node; }

static void push(int node) {
    value[node] = node;
    word old = atomic_load_explicit(&top, memory_order_relaxed);
    for (int attempt = 0; attempt < 2; attempt++) {
        atomic_store_explicit(&next[node], (int)(old & 0xffffffff), memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&top, &old, counted(old, node), PUSHED, memory_order_relaxed)) return;
    }
}

static int pop(void) {
    word old = atomic_load_explicit(&top, memory_order_acquire);
    int node = (int)(old & 0xffffffff);
    if (!node) return 0;
    int below = atomic_load_explicit(&next[node], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &old, counted(old, below), memory_order_acq_rel, memory_order_relaxed)) return 0;
    assert(atomic_exchange_explicit(&owned[node], 1, memory_order_relaxed) == 0);
    assert(value[node] == node);
    return node;
}

static void give_back(int node) {
    if (!node) return;
    atomic_store_explicit(&owned[node], 0, memory_order_relaxed);
    push(node);
}

static void *one(void *unused) {
    pop();
    return unused;
}

static void *two(void *unused) {
    int a = pop();
    pop();
    give_back(a);
    pop();
    return unused;
}

int main(void) {
    pthread_t a, b;
    push(1);
    push(2);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pop();
    pop();
    return 0;
}
