/* Two locks, always taken in the same order.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void both(pthread_mutex_t *one, pthread_mutex_t *other) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(other);
    shared++;
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}

static void *first(void *unused) {
    both(&left, &right);
    return unused;
}

static void *second(void *unused) {
    both(&left, &right);
    return unused;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(shared == 2);
    return 0;
}
