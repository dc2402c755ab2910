/* A parallel directory scanner with a work queue.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

/* Directories are numbers; directory d contains 2d and 2d + 1, up to LARGEST. Every worker takes a directory off the queue,
   puts what is in it on the queue, and counts it. Who finds the queue empty while nobody is at work ends. */
#define LARGEST 3
#ifndef WORKERS
#define WORKERS 2
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queue[LARGEST + 1], length, busy, matches;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (length == 0 && busy > 0) pthread_cond_wait(&changed, &mutex);
        if (length == 0) break;
        int directory = queue[--length];
        busy++;
        pthread_mutex_unlock(&mutex);
        int children[2], count = 0;
        for (int child = 2 * directory; child <= 2 * directory + 1; child++) {
            if (child <= LARGEST) children[count++] = child;
        }
        pthread_mutex_lock(&mutex);
        matches++;
        for (int i = 0; i < count; i++) queue[length++] = children[i];
        busy--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[WORKERS];
    queue[length++] = 1;
    for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < WORKERS; i++) pthread_join(t[i], 0);
    assert(matches == LARGEST);
    return 0;
}
