/* A mutex unlocked by a thread that has not locked it.
 */
// quotient: violated misuse line 16

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_unlock(&mutex);
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
