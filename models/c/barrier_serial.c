/* At each meeting one thread, whichever it is, is told to do the work that is done once.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 2 };
static pthread_barrier_t barrier;
static atomic_int done[ROUNDS];

static void *worker(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        int result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&done[round], 1);
    }
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++) assert(atomic_load(&done[round]) == 1);
    return unused;
}

int main(void) {
    pthread_t t[THREADS];
    pthread_barrier_init(&barrier, 0, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    return 0;
}
