/* A worker is cancelled wherever it waits. Its cleanup handlers give back what it has: the mutex, which a wait on a condition
 * variable takes again before the handlers run.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int jobs, done, cleaned;

static void give_back(void *held) {
    cleaned++;
    pthread_mutex_unlock(held);
}

static void *worker(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push(give_back, &mutex);
        while (jobs == 0) pthread_cond_wait(&not_empty, &mutex);
        jobs--;
        done++;
        pthread_cleanup_pop(0);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, worker, 0);
    pthread_mutex_lock(&mutex);
    jobs++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&mutex);
    assert(cleaned == 1 && jobs + done == 1);
    pthread_mutex_unlock(&mutex);
    return 0;
}
