/* The next owner of a robust mutex unlocks it without saying that the data is consistent: nobody can lock it again.
 */
// quotient: violated assertion line 33
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int done;

static void *careless(void *argument) {
    pthread_mutex_lock(&lock);
    return argument; /* with the mutex locked */
}

static void *next(void *argument) {
    int status = pthread_mutex_lock(&lock);
    done++;
    if (status == 0 || status == EOWNERDEAD) pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &robust);
    pthread_t a, b;
    pthread_create(&a, 0, careless, 0);
    pthread_create(&b, 0, next, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pthread_mutex_lock(&lock) != ENOTRECOVERABLE);
    return 0;
}
