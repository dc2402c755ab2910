/* The same transfer without disabling cancellation: the thread can be cancelled while it waits, with one half done.
 */
// quotient: violated assertion line 26

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t granted;
static int from = 1, to;

static void *transfer(void *unused) {
    from--;
    sem_wait(&granted);
    to++;
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&granted, 0, 0);
    pthread_create(&thread, 0, transfer, 0);
    pthread_cancel(thread);
    sem_post(&granted);
    pthread_join(thread, 0);
    assert(from + to == 1);
    return 0;
}
