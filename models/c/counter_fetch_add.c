/* An atomic increment that gives each thread a number.
 */

// quotient: holds, executions 24

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *worker(void *unused) {
    assert(atomic_fetch_add(&counter, 1) < 4);
    return unused;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    assert(atomic_load(&counter) == 4);
    return 0;
}
