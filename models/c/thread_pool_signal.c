/* A pool that wakes only one thread at shutdown.
 */
// quotient: violated deadlock

#include <assert.h>
#include <pthread.h>

#define WORKERS 2
#define JOBS 2
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int waiting_jobs, done_jobs, shutting_down;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (waiting_jobs == 0 && !shutting_down) pthread_cond_wait(&work, &mutex);
        if (waiting_jobs == 0) break;
        waiting_jobs--;
        pthread_mutex_unlock(&mutex);
        /* the job */
        pthread_mutex_lock(&mutex);
        done_jobs++;
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], 0, worker, 0);
    pthread_mutex_lock(&mutex);
    waiting_jobs = JOBS;
    shutting_down = 1;
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WORKERS; i++) pthread_join(t[i], 0);
    assert(done_jobs == JOBS);
    return 0;
}
