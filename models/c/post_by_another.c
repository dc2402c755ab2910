/* What one thread locks and another unlocks is a semaphore, not a mutex.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t semaphore;
static int passed;

static void *first(void *unused) {
    sem_wait(&semaphore);
    passed++;
    return unused;
}

static void *second(void *unused) {
    sem_post(&semaphore);
    return unused;
}

int main(void) {
    pthread_t t, u;
    sem_init(&semaphore, 0, 0);
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(passed == 1);
    return 0;
}
