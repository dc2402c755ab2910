// Interprets a litmus program, which is its argument: threads separated by ';', instructions as six numbers each (kind, location,
// value, new value, order, order of failure). So that thousands of programs need one binary; memory orders are constants.
// With a second argument, threads with the same code cannot be told apart, and only memory is shown.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void __quotient_observe_at_end(const void *, unsigned long);

enum { THREADS = 6, LENGTH = 16, READS = 8 };
enum { LOAD, STORE, ADD, SWAP, FENCE, IF, LOCK, UNLOCK, AWAIT, AWAIT_FENCED, AWAIT_LOCKED, AWAIT_SWAP };

struct instruction {
    long kind, location, value, new, order, failure;
};

static atomic_long x[2];
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long reads[THREADS][READS];
static struct instruction code[THREADS][LENGTH];
static long lengths[THREADS];
static int anonymous;

static long load(atomic_long *p, long order) {
    switch (order) {
    case 0: return atomic_load_explicit(p, memory_order_relaxed);
    case 1: return atomic_load_explicit(p, memory_order_acquire);
    default: return atomic_load_explicit(p, memory_order_seq_cst);
    }
}

static void store(atomic_long *p, long value, long order) {
    switch (order) {
    case 0: atomic_store_explicit(p, value, memory_order_relaxed); break;
    case 2: atomic_store_explicit(p, value, memory_order_release); break;
    default: atomic_store_explicit(p, value, memory_order_seq_cst); break;
    }
}

static long add(atomic_long *p, long value, long order) {
    switch (order) {
    case 0: return atomic_fetch_add_explicit(p, value, memory_order_relaxed);
    case 1: return atomic_fetch_add_explicit(p, value, memory_order_acquire);
    case 2: return atomic_fetch_add_explicit(p, value, memory_order_release);
    case 3: return atomic_fetch_add_explicit(p, value, memory_order_acq_rel);
    default: return atomic_fetch_add_explicit(p, value, memory_order_seq_cst);
    }
}

#define SWAPS(ORDER)                                                                                     \
    switch (failure) {                                                                                   \
    case 0: atomic_compare_exchange_strong_explicit(p, &e, new, ORDER, memory_order_relaxed); break;     \
    case 1: atomic_compare_exchange_strong_explicit(p, &e, new, ORDER, memory_order_acquire); break;     \
    default: atomic_compare_exchange_strong_explicit(p, &e, new, ORDER, memory_order_seq_cst); break;    \
    }                                                                                                    \
    return e

static long swap(atomic_long *p, long e, long new, long order, long failure) {
    switch (order) {
    case 0: SWAPS(memory_order_relaxed);
    case 1: SWAPS(memory_order_acquire);
    case 2: SWAPS(memory_order_release);
    case 3: SWAPS(memory_order_acq_rel);
    default: SWAPS(memory_order_seq_cst);
    }
}

static void fence(long order) {
    switch (order) {
    case 1: atomic_thread_fence(memory_order_acquire); break;
    case 2: atomic_thread_fence(memory_order_release); break;
    case 3: atomic_thread_fence(memory_order_acq_rel); break;
    default: atomic_thread_fence(memory_order_seq_cst); break;
    }
}

static void *run(void *me) {
    long t = (long)me, k = 0, r, own[READS];
    for (long at = 0; at < lengths[t]; at++) {
        struct instruction *i = &code[t][at];
        atomic_long *p = &x[i->location];
        switch (i->kind) {
        case LOAD: own[k++] = load(p, i->order); break;
        case STORE: store(p, i->value, i->order); break;
        case ADD: own[k++] = add(p, i->value, i->order); break;
        case SWAP: own[k++] = swap(p, i->value, i->new, i->order, i->failure); break;
        case FENCE: fence(i->order); break;
        case IF: at += !(k > 0 && own[k - 1] == i->value); break;
        case LOCK: pthread_mutex_lock(&m[i->location]); break;
        case UNLOCK: pthread_mutex_unlock(&m[i->location]); break;
        case AWAIT:
            while ((r = load(p, i->order)) != i->value);
            own[k++] = r;
            break;
        case AWAIT_FENCED:
            do {
                r = load(p, i->order);
                fence(i->failure);
            } while (r != i->value);
            own[k++] = r;
            break;
        case AWAIT_LOCKED:
            do {
                pthread_mutex_lock(&m[0]);
                r = load(p, i->order);
                pthread_mutex_unlock(&m[0]);
            } while (r != i->value);
            own[k++] = r;
            break;
        // Puts the value there that it has found, for as long as it is the one not wanted.
        case AWAIT_SWAP:
            while ((r = swap(p, i->value, i->value, i->order, i->failure)) == i->value);
            own[k++] = r;
            break;
        }
    }
    for (long j = 0; j < k && !anonymous; j++) reads[t][j] = own[j];
    return 0;
}

static long first_alike(long t) {
    for (long other = 0; anonymous && other < t; other++)
        if (lengths[other] == lengths[t] && !memcmp(code[other], code[t], sizeof code[t])) return other;
    return t;
}

int main(int argc, char **argv) {
    long threads = 0, locations = 2;
    char *text = argc > 1 ? argv[1] : "";
    locations = strtol(text, &text, 10);
    while (*text == ';') {
        text++;
        while (*text && *text != ';') {
            long *fields = &code[threads][lengths[threads]++].kind;
            for (int k = 0; k < 6; k++) fields[k] = strtol(text, &text, 10);
        }
        threads++;
    }
    for (long t = 0; t < threads; t++)
        for (int k = 0; k < READS; k++) reads[t][k] = -7;
    anonymous = argc > 2;
    if (!anonymous) __quotient_observe_at_end(reads, threads * sizeof reads[0]);
    if (locations > 0) __quotient_observe_at_end(x, locations * sizeof x[0]);
    long alike[THREADS];
    for (long t = 0; t < threads; t++) alike[t] = first_alike(t);
    for (long t = 0; t < threads; t++) {
        pthread_t handle;
        pthread_create(&handle, 0, run, (void *)alike[t]);
    }
    pthread_exit(0);
}
