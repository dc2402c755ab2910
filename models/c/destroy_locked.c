/* A mutex destroyed while somebody may hold it.
 */
// quotient: violated misuse line 20

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int finished;

static void *first(void *unused) {
    pthread_mutex_lock(&mutex);
    atomic_store(&finished, 1);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *second(void *unused) {
    if (atomic_load(&finished)) pthread_mutex_destroy(&mutex);
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
