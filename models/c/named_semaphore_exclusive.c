/* Both threads want to create the semaphore: the slower one is refused it, and does not look.
 */
// quotient: violated misuse line 10
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

static void *worker(void *argument) {
    sem_t *turn = sem_open("/turn", O_CREAT | O_EXCL, 0600, 1);
    sem_wait(turn);
    sem_post(turn);
    return argument;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
