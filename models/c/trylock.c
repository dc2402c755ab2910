/* Who does not get the lock does without.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int got, missed;

static void *worker(void *unused) {
    if (pthread_mutex_trylock(&mutex) == 0) {
        atomic_fetch_add(&got, 1);
        pthread_mutex_unlock(&mutex);
    } else {
        atomic_fetch_add(&missed, 1);
    }
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(atomic_load(&got) + atomic_load(&missed) == 2 && atomic_load(&got) >= 1);
    return 0;
}
