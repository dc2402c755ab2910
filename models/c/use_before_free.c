/* The last one to use the block frees it: they count themselves out under the lock.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *block, users = 2;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    *block = 1;
    if (--users == 0) free(block);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[2];
    block = malloc(sizeof *block);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(users == 0);
    return 0;
}
