/* Peterson's algorithm, each thread trying once.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn, inside;

static void attempt(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    if (!atomic_load(&wants[1 - me]) || atomic_load(&turn) == me) {
        assert(atomic_fetch_add(&inside, 1) == 0);
        atomic_fetch_sub(&inside, 1);
    }
    atomic_store(&wants[me], 0);
}

static void *first(void *unused) {
    attempt(0);
    return unused;
}

static void *second(void *unused) {
    attempt(1);
    return unused;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
