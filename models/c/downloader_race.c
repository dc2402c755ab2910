/* The downloader counts its progress without a lock.
 */
// quotient: violated race line 23

#include <assert.h>
#include <pthread.h>
#include <string.h>

/* Every worker fetches its segment of a file, piece by piece; progress is counted together. The transfer is over when
   everything is there. */
#define SEGMENTS 2
#define PIECES 2
static const char remote[SEGMENTS * PIECES + 1] = "abcd";
static char local[SEGMENTS * PIECES + 1];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int received;

static void *worker(void *number) {
    int segment = (int)(long)number;
    for (int i = 0; i < PIECES; i++) {
        int offset = segment * PIECES + i;
        memcpy(local + offset, remote + offset, 1);
        received++;
    }
    return 0;
}

int main(void) {
    pthread_t t[SEGMENTS];
    for (long i = 0; i < SEGMENTS; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < SEGMENTS; i++) pthread_join(t[i], 0);
    assert(received == SEGMENTS * PIECES && strcmp(local, remote) == 0);
    return 0;
}
