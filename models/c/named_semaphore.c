/* Two threads meet through named semaphores that either may be the first to open.
 */
// quotient: holds
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

static int ball;

static void *player(void *argument) {
    int first = *(int *)argument;
    sem_t *ping = sem_open("/ping", O_CREAT, 0600, 1);
    sem_t *pong = sem_open("/pong", O_CREAT, 0600, 0);
    assert(ping && pong);
    sem_wait(first ? ping : pong);
    assert(ball == (first ? 0 : 1));
    ball++;
    sem_post(first ? pong : ping);
    sem_close(ping);
    sem_close(pong);
    return 0;
}

int main(void) {
    pthread_t a, b;
    int yes = 1, no = 0;
    pthread_create(&a, 0, player, &yes);
    pthread_create(&b, 0, player, &no);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(ball == 2);
    return 0;
}
