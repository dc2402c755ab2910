/* A downloader whose workers keep what they receive in memory of their own.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Which segment a worker fetches was said in the request for it: from then on a worker knows its connection and its buffer,
   and counts what it has received together with the others (the synchronisation of aget). */
#ifndef SEGMENTS
#define SEGMENTS 2
#endif
#define PIECES 3
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int received;

/* What the connection brings. */
static char receive(void) { return 'x'; }

static void *worker(void *unused) {
    char *buffer = malloc(PIECES);
    for (int i = 0; i < PIECES; i++) {
        buffer[i] = receive();
#ifdef FORGET_LOCK
        received++;
#else
        pthread_mutex_lock(&mutex);
        received++;
        pthread_mutex_unlock(&mutex);
#endif
    }
    free(buffer);
    return unused;
}

int main(void) {
    pthread_t t[SEGMENTS];
    for (int i = 0; i < SEGMENTS; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < SEGMENTS; i++) pthread_join(t[i], 0);
    assert(received == SEGMENTS * PIECES);
    return 0;
}
