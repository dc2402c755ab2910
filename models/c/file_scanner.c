/* A file scanner: the main thread puts names of files on a bounded queue, workers take them off (the synchronisation of pfscan).
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

/* Nobody joins the workers: the last thing each of them does is to count itself out, and the main thread waits for that. */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef FILES
#define FILES 1
#endif
#define PLACES 2
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, less = PTHREAD_COND_INITIALIZER;
static int queue[PLACES], first, length, closed;
static pthread_mutex_t matches_mutex = PTHREAD_MUTEX_INITIALIZER;
static int matches;
static pthread_mutex_t active_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static int active = WORKERS;

static void put(int file) {
    pthread_mutex_lock(&queue_mutex);
    while (length == PLACES) pthread_cond_wait(&less, &queue_mutex);
    queue[(first + length++) % PLACES] = file;
    pthread_mutex_unlock(&queue_mutex);
    pthread_cond_signal(&more);
}

static void no_more_files(void) {
    pthread_mutex_lock(&queue_mutex);
    closed = 1;
    pthread_mutex_unlock(&queue_mutex);
    pthread_cond_broadcast(&more);
}

/* A file, or 0 if there will be none. */
static int get(void) {
    int file = 0;
    pthread_mutex_lock(&queue_mutex);
    while (length == 0 && !closed) pthread_cond_wait(&more, &queue_mutex);
    if (length > 0) {
        file = queue[first];
        first = (first + 1) % PLACES;
        length--;
    }
    pthread_mutex_unlock(&queue_mutex);
    if (file) pthread_cond_signal(&less);
    return file;
}

static void *worker(void *unused) {
    while (get()) {
        pthread_mutex_lock(&matches_mutex);
        matches++;
        pthread_mutex_unlock(&matches_mutex);
    }
#ifdef FORGET_LOCK
    active--;
#else
    pthread_mutex_lock(&active_mutex);
    active--;
    pthread_mutex_unlock(&active_mutex);
#endif
    pthread_cond_signal(&fewer);
    return unused;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&t, 0, worker, 0);
        pthread_detach(t);
    }
    for (int file = 1; file <= FILES; file++) put(file);
    no_more_files();
    pthread_mutex_lock(&active_mutex);
    while (active > 0) pthread_cond_wait(&fewer, &active_mutex);
    pthread_mutex_unlock(&active_mutex);
    pthread_mutex_lock(&matches_mutex);
    assert(matches == FILES);
    pthread_mutex_unlock(&matches_mutex);
    return 0;
}
