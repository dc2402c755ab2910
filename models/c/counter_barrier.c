/* A barrier made of a counter and a phase that waiting threads read.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 2 };
static atomic_int arrived, phase;
static int part[THREADS];

static void barrier(void) {
    int now = atomic_load(&phase);
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&phase, now + 1);
    } else {
        while (atomic_load(&phase) == now) sched_yield();
    }
}

static void *worker(void *mine) {
    *(int *)mine = 1;
    barrier();
    assert(part[0] == 1 && part[1] == 1);
    barrier();
    *(int *)mine = 2;
    return 0;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, &part[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    return 0;
}
