/* A mutex destroyed by who has joined everybody who used it.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    finished++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    int error = pthread_mutex_destroy(&mutex);
    assert(error == 0 && finished == 2);
    return 0;
}
