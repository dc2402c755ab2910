/* A worker that is cancelled while it waits has taken its mutex again, and has no cleanup handler that would give it back: who
 * locks it next waits for ever.
 */
// quotient: violated deadlock

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int jobs, done;

static void *worker(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (jobs == 0) pthread_cond_wait(&not_empty, &mutex);
        jobs--;
        done++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_mutex_lock(&mutex);
    jobs++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
    pthread_cancel(thread);
    pthread_join(thread, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
