/* A transfer must not be interrupted half-way: the thread disables its cancellation meanwhile.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t granted;
static int from = 1, to;

static void *transfer(void *unused) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    from--;
    sem_wait(&granted);
    to++;
    pthread_setcancelstate(before, 0);
    pthread_testcancel();
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    sem_init(&granted, 0, 0);
    pthread_create(&thread, 0, transfer, 0);
    pthread_cancel(thread);
    sem_post(&granted);
    pthread_join(thread, &result);
    assert(from + to == 1);
    assert(result == PTHREAD_CANCELED);
    return 0;
}
