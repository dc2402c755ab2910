/* Nobody looks whether the lock was got: who did not get it unlocks it for the other one.
 */
// quotient: violated misuse line 15

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int entered;

static void *worker(void *unused) {
    pthread_mutex_trylock(&mutex);
    atomic_fetch_add(&entered, 1);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(atomic_load(&entered) == 2);
    return 0;
}
