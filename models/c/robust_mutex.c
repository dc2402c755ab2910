/* A thread ends with a robust mutex locked; the next owner is told, repairs the data and says so.
 */
// quotient: holds
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int half, other_half;

static void *careless(void *argument) {
    if (pthread_mutex_lock(&lock) == EOWNERDEAD) {
        other_half = half;
        pthread_mutex_consistent(&lock);
    }
    half++;
    return argument; /* with the mutex locked */
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &robust);
    pthread_t a, b;
    pthread_create(&a, 0, careless, 0);
    pthread_create(&b, 0, careless, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int status = pthread_mutex_lock(&lock);
    assert(status == EOWNERDEAD && half == 2 && other_half == 1);
    pthread_mutex_consistent(&lock);
    pthread_mutex_unlock(&lock);
    assert(pthread_mutex_lock(&lock) == 0);
    pthread_mutex_unlock(&lock);
    return 0;
}
