/* A thread looks again and again under a lock whether the other one is done.
 */

// quotient: holds, executions 1

#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done, result;

static void *worker(void *unused) {
    pthread_mutex_lock(&lock);
    result = 5;
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    for (int seen = 0; !seen; usleep(10)) {
        pthread_mutex_lock(&lock);
        seen = done;
        pthread_mutex_unlock(&lock);
    }
    assert(result == 5);
    pthread_join(t, 0);
    return 0;
}
