/* pthread_exit runs the handlers of pthread_cleanup_push.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int entered;

static void give_back(void *held) { pthread_mutex_unlock(held); }

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(give_back, &mutex);
    entered++;
    pthread_exit((void *)7);
    pthread_cleanup_pop(1);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(t[i], &result);
        assert(result == (void *)7);
    }
    assert(entered == 2);
    return 0;
}
