/* A mutex that is taken twice by its owner, and may be.
 */
// quotient: holds

#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int depth;

static void enter(int times) {
    if (times == 0) return;
    pthread_mutex_lock(&mutex);
    depth++;
    enter(times - 1);
    depth--;
    pthread_mutex_unlock(&mutex);
}

static void *worker(void *unused) {
    enter(2);
    return unused;
}

int main(void) {
    pthread_t t[2];
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &kind);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(depth == 0);
    pthread_mutex_destroy(&mutex);
    return 0;
}
