/* Initialisation behind a flag that is tested and then set: it can be done twice.
 */
// quotient: violated assertion line 16

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int done, initialised;

static void *worker(void *unused) {
    if (!atomic_load(&done)) {
        atomic_fetch_add(&initialised, 1);
        atomic_store(&done, 1);
    }
    assert(atomic_load(&initialised) == 1);
    return unused;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
