/* A bounded queue for many producers and consumers, with a sequence number in every cell (Vyukov).
 */

// quotient: holds, executions 78


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef FILLED
#define FILLED memory_order_release
#endif
#define SIZE 2

static struct {
    atomic_uint turn;
    int value;
} cells[SIZE];
static atomic_uint in, out;

static int put(int value) {
    unsigned at = atomic_load_explicit(&in, memory_order_relaxed);
    for (int attempt = 0; attempt < 2; attempt++) {
        unsigned turn = atomic_load_explicit(&cells[at % SIZE].turn, memory_order_acquire);
        if (turn != at) return 0;
        if (atomic_compare_exchange_strong_explicit(&in, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
            cells[at % SIZE].value = value;
            atomic_store_explicit(&cells[at % SIZE].turn, at + 1, FILLED);
            return 1;
        }
    }
    return 0;
}

static int get(void) {
    unsigned at = atomic_load_explicit(&out, memory_order_relaxed);
    unsigned turn = atomic_load_explicit(&cells[at % SIZE].turn, memory_order_acquire);
    if (turn != at + 1) return 0;
    if (!atomic_compare_exchange_strong_explicit(&out, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) return 0;
    int value = cells[at % SIZE].value;
    atomic_store_explicit(&cells[at % SIZE].turn, at + SIZE, memory_order_release);
    return value;
}

static void *producer(void *unused) {
    put(7);
    return unused;
}

static void *consumer(void *unused) {
    int value = get();
    assert(value == 0 || value == 7);
    return unused;
}

int main(void) {
    pthread_t t[4];
    for (unsigned k = 0; k < SIZE; k++) atomic_init(&cells[k].turn, k);
    for (int k = 0; k < 4; k++) pthread_create(&t[k], 0, k < 2 ? producer : consumer, 0);
    for (int k = 0; k < 4; k++) pthread_join(t[k], 0);
    return 0;
}
