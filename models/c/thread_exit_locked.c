/* A thread that ends by pthread_exit with the mutex locked, and without a handler that gives it back.
 */
// quotient: violated deadlock

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int entered;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    if (entered++ == 0) pthread_exit((void *)7);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(entered == 2);
    return 0;
}
